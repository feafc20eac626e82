"""The curves of a history: what every session says of their cells, like with like.

Sessions in which the ranks of a curve were not equally far apart are of another curve: such a difference is
the machine's. How far apart they were is itself a curve, which shows when that changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.compare.comparison import CONTROLS
from mpigauge.compare.history.session import time_of
from mpigauge.rows.machine.over_sessions import alike
from mpigauge.sequences import group_by
from mpigauge.stats.interval import UNIFORM_VARIANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.compare.history.session import CellKey, Part, SessionResult
    from mpigauge.rows.rows import Row
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import Distance, MachineSign


@dataclass(frozen=True, slots=True, eq=False)
class HistoryCurve:
    """Cells that differ in size alone, over all sessions; or one sign of the machine.

    Attributes:
        logs: Logarithms of their times in seconds, shape ``(sessions, cells)``; NaN where there is none.
        floor: Variance of the logarithm of a ratio that the steps of the clock hide, shape ``(cells,)``.
        rows: Of each session the rows that it has, by cell; none for a sign.
        cells: Keys of the columns, from the smallest size to the largest.
        sign: Of the machine; None for cells.
        at: How far apart the ranks were, where that tells sessions apart; else None.
    """

    logs: Values
    floor: Values
    rows: Sequence[Mapping[CellKey, Row]] = ()
    cells: Sequence[CellKey] = ()
    sign: MachineSign | None = None
    at: tuple[Distance, float] | None = None
    control: bool = field(default=True)

    @property
    def sessions(self) -> list[int]:
        """Places of the sessions that have a time of it."""
        return [int(place) for place in np.flatnonzero(np.isfinite(self.logs).any(axis=1))]

    def row(self, cell: int, near: int) -> Row:
        """Of a cell, that of the last session up to a place that has one, else of the first after it."""
        key = self.cells[cell]
        places = [place for place, rows in enumerate(self.rows) if key in rows]
        return self.rows[max((place for place in places if place <= near), default=places[0])][key]


class _Placed(NamedTuple):
    """A part of a session, by its place."""

    at: tuple[Distance, float] | None
    place: int
    part: Part


def curves_of(sessions: Sequence[SessionResult]) -> list[HistoryCurve]:
    """All curves, in the order of the last session's plan, then signs of the machine.

    Args:
        sessions: In the order in which they were made, of one machine.
    """
    placed = [
        _Placed(part.at, place, part)
        for place, session in reversed(list(enumerate(sessions)))
        for part in session.parts
    ]
    groups = group_by(placed, lambda one: one.part.key).values()
    curves = [curve for mine in groups for curve in _curves(mine, len(sessions))]
    return [*curves, *_signs(sessions)]


def _curves(parts: Sequence[_Placed], sessions: int) -> Iterable[HistoryCurve]:
    groups = alike(parts)
    for group in groups:
        at = next((one.at for one in group if one.at is not None), None)
        yield _curve(group, sessions, at if len(groups) > 1 else None)


def _curve(parts: Sequence[_Placed], sessions: int, at: tuple[Distance, float] | None) -> HistoryCurve:
    cells = sorted({key for one in parts for key in one.part.rows})
    rows: list[dict[CellKey, Row]] = [{} for _ in range(sessions)]
    for one in parts:
        rows[one.place] |= one.part.rows
    logs = np.full((sessions, len(cells)), np.nan)
    floor = np.zeros(len(cells))
    for place, mine in enumerate(rows):
        for column, key in enumerate(cells):
            if key in mine and (seconds := time_of(mine[key])):
                logs[place, column] = np.log(seconds)
                floor[column] = max(floor[column], 2 * _step(mine[key]) ** 2 * UNIFORM_VARIANCE)
    control = any(row.cell.pattern in CONTROLS for mine in rows for row in mine.values())
    return HistoryCurve(logs, floor, rows, cells, None, at, control)


def _step(row: Row) -> float:
    return row.time.step if row.time is not None else 0.0


def _signs(sessions: Sequence[SessionResult]) -> Iterable[HistoryCurve]:
    names = dict.fromkeys(name for session in sessions for name in session.signs)
    for name in names:
        known = [session.signs.get(name, np.nan) for session in sessions]
        yield HistoryCurve(np.log(np.array(known)[:, None]), np.zeros(1), sign=name)
