"""Overheads of messages by the place where they were measured: library, transport, placement, ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.models.overheads import Calls, overheads_of
from mpigauge.plan.patterns import default_mode
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

PLACE_OF_MESSAGES = ("mpi", "setting", "transport", "placement", "buffers", STATE)
"""Factors that messages share with a collective that is made of them."""

PLACE = (*PLACE_OF_MESSAGES, "ranks", FILE)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Overheads of messages of one library in one place.

    Attributes:
        label: Factors that distinguish it from other places; empty if there is only one.
        clock_s: Cost of reading the clock, which has been subtracted.
    """

    label: str
    sizes: Sequence[Overheads]
    clock_s: float


def pattern_of(one: Series) -> Pattern:
    """Return the pattern of a series."""
    return one.source.patterns[one.rows[0].cell.pattern]


def places_of(series: Sequence[Series]) -> list[Place]:
    """Return the places where a call was measured alone, in the order of their series."""

    def place(one: Series) -> Key:
        return id(one.source), *(one.factors.get(name) for name in PLACE)

    groups = group_by(filter(_usual, series), place).values()
    found = [group for group in groups if any(pattern_of(one).overhead for one in group)]
    factors = [
        {name: group[0].factors[name] for name in PLACE if name in group[0].factors} for group in found
    ]
    return [_place(label, group) for label, group in zip(told_apart(factors), found, strict=True)]


def _usual(one: Series) -> bool:
    """Return whether a series is in its pattern's default mode, so that all parts are of the same calls."""
    return default_mode(pattern_of(one)) == one.rows[0].cell.mode


def _place(label: str, group: Sequence[Series]) -> Place:
    clock_s = _clock_s(group[0])
    windows = _rows(group, lambda pattern: pattern.windowed)
    calls = Calls(
        way=_times(_rows(group, lambda pattern: pattern.one_way)),
        send=_times(_rows(group, lambda pattern: pattern.overhead == "send")),
        receive=_times(receives := _rows(group, lambda pattern: pattern.overhead == "receive")),
        window=_times(windows),
        messages={row.cell.bytes: row.cell.window for row in windows},
        clock_s=clock_s,
        kept=frozenset(row.cell.bytes for row in receives if row.status == "blocked"),
    )
    return Place(label, overheads_of(calls), clock_s)


def _rows(group: Sequence[Series], keep: Callable[[Pattern], bool]) -> list[Row]:
    """Return the rows of some patterns, with the largest window last."""
    rows = [row for one in group if keep(pattern_of(one)) for row in one.rows]
    return sorted(rows, key=lambda row: row.cell.window)


def _times(rows: Sequence[Row]) -> Mapping[int, Timing]:
    return {row.cell.bytes: row.time for row in rows if row.time is not None and row.status == "ok"}


def _clock_s(one: Series) -> float:
    """Return the median clock cost of rank 0 over launches, in seconds: rank 0 takes the times."""
    job = one.rows[0].cell.job
    launches = [launch for launch in one.source.result.launches if launch.job == job and launch.ranks_at]
    costs = [launch.ranks_at[0].clock_cost_ns for launch in launches]
    return float(np.median(costs)) * NS if costs else 0.0
