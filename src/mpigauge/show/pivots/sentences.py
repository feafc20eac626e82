"""What is computed from a table, in sentences: they belong to the kinds that show what they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.analysis import comparisons
from mpigauge.show.pivots.kinds import series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpigauge.analysis.comparisons import Curve
    from mpigauge.show.query import Query, Source
    from mpigauge.show.series import Series

SENTENCES: dict[str, tuple[Callable[[Sequence[Curve]], Iterator[str]], ...]] = {
    "latency": (comparisons.latencies_of_places,),
    "times": (comparisons.payoffs_of_places, comparisons.modes),
    "rates": (comparisons.payoffs_of_places, comparisons.modes),
    "summary": (
        comparisons.latencies_of_places,
        comparisons.payoffs_of_places,
        comparisons.libraries,
    ),
}


def sentences(query: Query) -> list[str]:
    """Of each result, about the series that its tables show."""
    found = series(query, everything=True)
    several = len(query.sources) > 1
    return [
        f"{source.name}: {sentence}" if several else sentence
        for source in query.sources
        for sentence in _of(query, source, [one for one in found if one.source is source])
    ]


def _of(query: Query, source: Source, found: Sequence[Series]) -> Iterator[str]:
    curves = comparisons.curves_of([one.rows for one in found], source.visits, query.stat)
    for say in SENTENCES.get(query.kind.name, ()):
        yield from say(curves)
