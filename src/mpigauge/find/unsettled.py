"""Which numbers of a campaign that goes on may not be quoted yet: other sizes have not been measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.find.answer import QUOTED_BYTES
from mpigauge.plan.factors import SIZE
from mpigauge.rows.group import cell_key, group_cells
from mpigauge.rows.rates import directions_of
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import Pattern

NEIGHBOURS = 2
"""Sizes on either side of the best that must have been measured: beside an eager limit, one may dip."""

PAIR = 2

Key = tuple[object, ...]


def unsettled(
    cells: Iterable[Cell],
    patterns: Mapping[str, Pattern],
    rates: Mapping[Cell, float],
    awaited: Collection[Cell],
) -> set[Cell]:
    """Return the cells whose rate may not be quoted as the best: a better one is still to be measured.

    Rates of two ranks are quoted as the best of all curves of a job with as many directions; others as the
    best of their curve.

    Args:
        cells: Those of the plan.
        rates: Bytes per second, of cells that have been measured.
        awaited: Cells whose turn has not come yet.
    """
    rated = (cell for cell in cells if patterns[cell.pattern].moves_bytes and cell.bytes)
    rivals = group_by(group_cells(rated, SIZE), lambda curve: _rivals(curve[0], patterns[curve[0].pattern]))
    return {cell for curves in rivals.values() for cell in _in(curves, rates, awaited)}


def untypical(cells: Iterable[Cell], awaited: Collection[Cell]) -> set[Cell]:
    """Return the cells that may not stand for their curve: a more typical size is still to be measured.

    Args:
        cells: Those of the plan.
        awaited: Cells whose turn has not come yet.
    """
    found: set[Cell] = set()
    for curve in group_cells(cells, SIZE):
        curve.sort(key=lambda cell: abs(cell.bytes - QUOTED_BYTES))
        first = next(
            (place for place, cell in enumerate(curve) if cell.bytes and cell in awaited), len(curve)
        )
        found.update(curve[first + 1 :])
    return found


def _rivals(cell: Cell, pattern: Pattern) -> Key:
    """Return what cells have in common of which one is quoted as the best."""
    if pattern.talks and pattern.family == "message" and pattern.active_ranks == PAIR:
        return cell.job, directions_of(cell, pattern)
    return cell_key(cell, SIZE)


def _in(
    curves: Iterable[Sequence[Cell]], rates: Mapping[Cell, float], awaited: Collection[Cell]
) -> Iterator[Cell]:
    mine = [sorted(curve, key=lambda cell: cell.bytes) for curve in curves]
    if any(_is_open(curve, rates, awaited) for curve in mine):
        yield from (cell for curve in mine for cell in curve)


def _is_open(curve: Sequence[Cell], rates: Mapping[Cell, float], awaited: Collection[Cell]) -> bool:
    """Return whether a size is still to come that may be the best of this curve."""
    known = [place for place, cell in enumerate(curve) if cell in rates]
    if not known:
        return any(cell in awaited for cell in curve)
    best = max(known, key=lambda place: rates[curve[place]])
    beside = curve[max(0, best - NEIGHBOURS) : best + NEIGHBOURS + 1]
    return any(cell in awaited for cell in beside)
