"""Sentences computed from a table: the comparisons that its kind shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.compare.curves import curves_of
from mpigauge.document.cell_names import varied_in
from mpigauge.find import comparisons
from mpigauge.find.comparisons import comparison, ranks_apart_finding
from mpigauge.find.warning_sentences import warning_findings
from mpigauge.show.pivots.kinds import series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpigauge.compare.curves import Curve
    from mpigauge.document.finding import Finding
    from mpigauge.find.comparisons import Comparison, RanksApart
    from mpigauge.query.query import Query, Source
    from mpigauge.show.pivots.grid import PivotGrid

COMPARISONS: dict[str, tuple[Callable[[Sequence[Curve]], Iterator[Comparison]], ...]] = {
    "latency": (comparisons.latencies_of_places,),
    "times": (comparisons.payoffs_of_places, comparisons.modes),
    "rates": (comparisons.payoffs_of_places, comparisons.modes),
    "summary": (
        comparisons.latencies_of_places,
        comparisons.payoffs_of_places,
        comparisons.libraries,
        comparisons.settings,
    ),
}

NOT_COMPARED: dict[str, tuple[Callable[[Sequence[Curve]], Iterator[RanksApart]], ...]] = {
    "times": (comparisons.modes_apart,),
    "rates": (comparisons.modes_apart,),
    "summary": (comparisons.libraries_apart,),
}
"""Comparisons that the same kinds cannot make, and why."""


def sentences(query: Query) -> list[str]:
    """Return the sentences on each result, about the series that its tables show."""
    several = len(query.sources) > 1
    return [
        f"{source.name}: {finding.text}" if several else finding.text
        for source, finding in _comparisons(query)
    ]


def findings(query: Query, grids: Sequence[PivotGrid]) -> Iterator[tuple[Source, Finding]]:
    """Return the comparisons as findings, and the warnings of all numbers that the tables show."""
    yield from _comparisons(query)
    shown = {(id(entry.source), entry.row.cell): entry for grid in grids for entry in grid.entries}
    for entry in shown.values():
        yield from ((entry.source, finding) for finding in warning_findings([entry.row]))


def _comparisons(query: Query) -> Iterator[tuple[Source, Finding]]:
    all_curves = series(query, everything=True)
    for source in query.sources:
        curves_of_result = [curve.rows for curve in all_curves if curve.source is source]
        curves = curves_of(curves_of_result, source.within)
        varied = varied_in(source.rows)
        for compare in COMPARISONS.get(query.kind.name, ()):
            yield from ((source, comparison(fact, varied, query.units)) for fact in compare(curves))
        for missing in NOT_COMPARED.get(query.kind.name, ()):
            yield from ((source, ranks_apart_finding(fact)) for fact in missing(curves))
