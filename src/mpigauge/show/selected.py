"""Results with those of their cells alone that were asked for, by size and by series."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.show.pivots.kinds import series

if TYPE_CHECKING:
    from mpigauge.query.query import Query, Source


def selected(query: Query) -> list[Source]:
    """The sources of a query; probes and the instrument's floor stay, since they belong to all sizes.

    Raises:
        UsageError: Nothing of what was asked for was measured; says what there is.
    """
    if not query.sizes and not query.series:
        return query.sources
    kept = {id(row) for one in series(query, everything=True) for row in one.rows}
    return [_with(source, kept) for source in query.sources]


def _with(source: Source, kept: set[int]) -> Source:
    rows = [row for row in source.rows if id(row) in kept or _of_all_sizes(source, row.cell.pattern)]
    return replace(source, rows=rows)


def _of_all_sizes(source: Source, name: str) -> bool:
    pattern = source.patterns.get(name)
    return pattern is not None and (pattern.probes or pattern.is_floor)
