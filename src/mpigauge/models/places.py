"""Series by the place where their messages were measured, with the overheads of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.models.overheads import Calls, overheads_of
from mpigauge.plan.patterns import usual_mode
from mpigauge.query.series import FILE, told_apart
from mpigauge.rows.group import STATE
from mpigauge.sequences import group_by
from mpigauge.units import NS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mpigauge.models.overheads import Overheads
    from mpigauge.plan.patterns import Pattern
    from mpigauge.query.series import Series
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row

BETWEEN_TWO = ("mpi", "setting", "transport", "placement", "buffers", STATE)
"""What messages and a collective that is made of them have in common."""

PLACE = (*BETWEEN_TWO, "ranks", FILE)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """The overheads of messages of one library in one place.

    Attributes:
        label: What tells it from other places; empty if there is one only.
        clock_s: What reading the clock takes, which is not in them.
    """

    label: str
    sizes: Sequence[Overheads]
    clock_s: float


def pattern_of(one: Series) -> Pattern:
    """What a series is of."""
    return one.source.patterns[one.rows[0].cell.pattern]


def places_of(series: Sequence[Series]) -> list[Place]:
    """Places where a call was measured alone, in the order of their series."""

    def place(one: Series) -> Key:
        return id(one.source), *(one.factors.get(name) for name in PLACE)

    groups = group_by(filter(_usual, series), place).values()
    found = [mine for mine in groups if any(pattern_of(one).overhead for one in mine)]
    factors = [{name: mine[0].factors[name] for name in PLACE if name in mine[0].factors} for mine in found]
    return [_place(label, mine) for label, mine in zip(told_apart(factors), found, strict=True)]


def _usual(one: Series) -> bool:
    """In the mode that a pattern has unasked, so that all parts are of the same calls."""
    return usual_mode(pattern_of(one)) == one.rows[0].cell.mode


def _place(label: str, mine: Sequence[Series]) -> Place:
    clock_s = _clock_s(mine[0])
    windows = _rows(mine, lambda pattern: pattern.windowed)
    calls = Calls(
        way=_times(_rows(mine, lambda pattern: pattern.one_way)),
        send=_times(_rows(mine, lambda pattern: pattern.overhead == "send")),
        receive=_times(receives := _rows(mine, lambda pattern: pattern.overhead == "receive")),
        window=_times(windows),
        messages={row.cell.bytes: row.cell.window for row in windows},
        clock_s=clock_s,
        kept=frozenset(row.cell.bytes for row in receives if row.status == "blocked"),
    )
    return Place(label, overheads_of(calls), clock_s)


def _rows(mine: Sequence[Series], keep: Callable[[Pattern], bool]) -> list[Row]:
    """Of several windows the largest last."""
    rows = [row for one in mine if keep(pattern_of(one)) for row in one.rows]
    return sorted(rows, key=lambda row: row.cell.window)


def _times(rows: Sequence[Row]) -> Mapping[int, Timing]:
    return {row.cell.bytes: row.time for row in rows if row.time is not None and row.status == "ok"}


def _clock_s(one: Series) -> float:
    """Of one reading, in the middle of the first ranks of all launches: theirs are the times."""
    job = one.rows[0].cell.job
    launches = [launch for launch in one.source.result.launches if launch.job == job and launch.ranks_at]
    costs = [launch.ranks_at[0].clock_cost_ns for launch in launches]
    return float(np.median(costs)) * NS if costs else 0.0
