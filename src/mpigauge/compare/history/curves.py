"""The curves of a history: the times of their cells in every session, like with like.

Sessions in which the ranks of a curve were not equally far apart are of another curve: such a difference is
the machine's. How far apart they were is itself a curve, which shows when that changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.compare.cells import CONTROLS
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
        rows: Rows by cell, per session; empty for a sign.
        cells: Keys of the columns, from the smallest size to the largest.
        sign: The sign of the machine; None for cells.
        at: How far apart the ranks were, if sessions differ in it; else None.
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
        """Return a cell's row of the last session up to a place, else of the first one after it."""
        key = self.cells[cell]
        places = [place for place, rows in enumerate(self.rows) if key in rows]
        return self.rows[max((place for place in places if place <= near), default=places[0])][key]


class _Placed(NamedTuple):
    """The part of a session that belongs to one curve, with the session's place (`member`)."""

    at: tuple[Distance, float] | None
    member: int
    part: Part


def curves_of(sessions: Sequence[SessionResult]) -> list[HistoryCurve]:
    """Return all curves in the order of the last session's plan, then signs of the machine.

    Args:
        sessions: In the order in which they were made, of one machine.
    """
    placed = [
        _Placed(part.at, place, part)
        for place, session in reversed(list(enumerate(sessions)))
        for part in session.parts
    ]
    groups = group_by(placed, lambda placed_part: placed_part.part.key).values()
    curves = [curve for parts in groups for curve in _curves(parts, len(sessions))]
    return [*curves, *_signs(sessions)]


def _curves(parts: Sequence[_Placed], sessions: int) -> Iterable[HistoryCurve]:
    groups = alike(parts)
    for group in groups:
        at = next((one.at for one in group if one.at is not None), None)
        yield _curve(group, sessions, at if len(groups) > 1 else None)


def _curve(parts: Sequence[_Placed], sessions: int, at: tuple[Distance, float] | None) -> HistoryCurve:
    cells = sorted({key for placed in parts for key in placed.part.rows})
    rows: list[dict[CellKey, Row]] = [{} for _ in range(sessions)]
    for placed in parts:
        rows[placed.member] |= placed.part.rows
    logs = np.full((sessions, len(cells)), np.nan)
    floor = np.zeros(len(cells))
    for place, by_key in enumerate(rows):
        for column, key in enumerate(cells):
            if key in by_key and (seconds := time_of(by_key[key])):
                logs[place, column] = np.log(seconds)
                floor[column] = max(floor[column], 2 * _step(by_key[key]) ** 2 * UNIFORM_VARIANCE)
    control = any(row.cell.pattern in CONTROLS for by_key in rows for row in by_key.values())
    return HistoryCurve(logs, floor, rows, cells, None, at, control)


def _step(row: Row) -> float:
    return row.time.step if row.time is not None else 0.0


def _signs(sessions: Sequence[SessionResult]) -> Iterable[HistoryCurve]:
    names = dict.fromkeys(name for session in sessions for name in session.signs)
    for name in names:
        known = [session.signs.get(name, np.nan) for session in sessions]
        yield HistoryCurve(np.log(np.array(known)[:, None]), np.zeros(1), sign=name)
