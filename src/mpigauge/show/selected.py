"""Results reduced to the cells that were asked for, by size and by series."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.show.pivots.kinds import series

if TYPE_CHECKING:
    from mpigauge.query.query import Query, Source


def selected(query: Query) -> list[Source]:
    """Return the sources of a query with its cells; probes and the instrument's floor stay for all sizes.

    Raises:
        UsageError: None of the selected cells was measured; names those that were.
    """
    if not query.sizes and not query.series:
        return query.sources
    kept = {id(row) for curve in series(query, everything=True) for row in curve.rows}
    return [_with(source, kept) for source in query.sources]


def _with(source: Source, kept: set[int]) -> Source:
    rows = [row for row in source.rows if id(row) in kept or _of_all_sizes(source, row.cell.pattern)]
    return replace(source, rows=rows)


def _of_all_sizes(source: Source, name: str) -> bool:
    pattern = source.patterns.get(name)
    return pattern is not None and (pattern.probes or pattern.is_floor)
