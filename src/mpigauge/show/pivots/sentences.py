"""What is computed from a table, in sentences: they belong to the kinds that show what they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.analysis import contrasts
from mpigauge.show.pivots.kinds import series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpigauge.analysis.contrasts import Curve
    from mpigauge.show.request import Request, Source
    from mpigauge.show.series import Series

SENTENCES: dict[str, tuple[Callable[[Sequence[Curve]], Iterator[str]], ...]] = {
    "latency": (contrasts.latencies_of_places,),
    "times": (contrasts.payoffs_of_places, contrasts.modes),
    "rates": (contrasts.payoffs_of_places, contrasts.modes),
    "summary": (
        contrasts.latencies_of_places,
        contrasts.payoffs_of_places,
        contrasts.libraries,
    ),
}


def sentences(request: Request) -> list[str]:
    """Of each result, about the series that its tables show."""
    found = series(request, everything=True)
    several = len(request.sources) > 1
    return [
        f"{source.name}: {sentence}" if several else sentence
        for source in request.sources
        for sentence in _of(request, source, [one for one in found if one.source is source])
    ]


def _of(request: Request, source: Source, found: Sequence[Series]) -> Iterator[str]:
    curves = contrasts.curves_of([one.rows for one in found], source.visits, request.stat)
    for say in SENTENCES.get(request.kind.name, ()):
        yield from say(curves)
