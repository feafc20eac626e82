"""Two cells that are compared: which of their launches form pairs."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from statistics import geometric_mean
from typing import TYPE_CHECKING

from mpigauge.rows.group import subject_of
from mpigauge.rows.machine.conditions import in_like_conditions
from mpigauge.rows.ratios import PAIRED_SHARE, TimePair
from mpigauge.rows.same_distance import ANYWHERE, distances_apart
from mpigauge.stats.interval import UNIFORM_VARIANCE
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.plan.model import Cell
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row


@dataclass(frozen=True, eq=False)
class Pair:
    """Two cells that differ in what is compared, and in nothing else, in one state of the machine.

    Attributes:
        base: What the other is compared with.
        same_place: Whether their ranks are to be equally far apart.
        interleaved: Whether launches of one number are of one moment: of one campaign.
        same_library: Whether both are of one library, under two labels or with its control arm: then any
            difference is chance.
        sessions: Number of sessions whose mean is the base; None if it is a single result.
    """

    base: Row
    other: Row
    same_place: bool = True
    interleaved: bool = True
    same_library: bool = False
    sessions: int | None = None

    @property
    def cell(self) -> Cell:
        """The cell of the base."""
        return self.base.cell

    @property
    def of(self) -> Subject:
        """The cell of the base, in the state of the machine that either is of."""
        return subject_of((self.base, self.other))

    @property
    def measured(self) -> bool:
        """Return whether either has a time."""
        return self.base.time is not None or self.other.time is not None

    @property
    def imported(self) -> bool:
        """Return whether either time was imported as one number, without launches."""
        return any(row.imported and row.time and not row.time.by_launch for row in (self.base, self.other))

    @cached_property
    def times(self) -> tuple[Mapping[int, float], Mapping[int, float]]:
        """Seconds by launch number of base and other, for launches in like conditions."""
        at = distances_apart(self.base, self.other) if self.same_place else ANYWHERE
        return in_like_conditions(_times(self.base), _times(self.other), *at)

    @cached_property
    def common_launches(self) -> list[int]:
        """Launches in which both were measured by the same processes."""
        base, other = self.times
        in_parts = {number for side in (self.base.time, self.other.time) if side for number in side.in_parts}
        return sorted(base.keys() & other.keys() - in_parts) if self.interleaved else []

    def time_s(self, side: int) -> float | None:
        """Return the time of the base (0) or the other (1), as in tables; None if it was not measured."""
        time = (self.base, self.other)[side].time
        return time.estimate if time is not None else None

    @property
    def paired(self) -> bool:
        """Return whether the two are compared launch by launch."""
        most = max(map(len, self.times))
        return len(self.common_launches) >= max(LAUNCHES_OF_A_VERDICT, PAIRED_SHARE * most)

    @property
    def sides(self) -> TimePair:
        """The launches that the ratio of the other to the base rests on."""
        base, other = self.times
        if self.paired:
            base, other = (
                {number: side[number] for number in self.common_launches} for side in (base, other)
            )
        return TimePair(other, base, self.paired)

    @property
    def judged(self) -> bool:
        """Return whether there are enough launches for a decision."""
        return self.paired or min(map(len, self.times)) >= LAUNCHES_OF_A_VERDICT

    @property
    def ranks_elsewhere(self) -> bool:
        """Return whether launches are too few only because ranks were not equally far apart."""
        launches = min(len(_times(row)) for row in (self.base, self.other))
        return not self.judged and launches >= LAUNCHES_OF_A_VERDICT

    @property
    def launches_in_any_state(self) -> int:
        """Launches of the side that has fewer, in whichever state of the machine."""
        return min(len(_launches_in_any_state(row)) for row in (self.base, self.other))

    @property
    def launches_needed(self) -> int:
        """Launches after which both sides will probably have enough in this state of the machine."""
        fewer = min(map(len, self.times))
        return math.ceil(1.5 * self.launches_in_any_state * LAUNCHES_OF_A_VERDICT / max(fewer, 1))

    @property
    def floor(self) -> float:
        """Variance of the logarithm of the ratio that the steps of the clock hide."""
        steps = [side.step for side in (self.base.time, self.other.time) if side is not None]
        return sum(step**2 for step in steps) * UNIFORM_VARIANCE


@dataclass(frozen=True, eq=False)
class StateMatchedPair(Pair):
    """Two cells compared in like states of the machine: a launch counts once, over all states of both.

    Attributes:
        by_state: A pair for every state that both were in; none if they share none.
    """

    by_state: tuple[Pair, ...] = ()

    @cached_property
    def times(self) -> tuple[Mapping[int, float], Mapping[int, float]]:
        """Seconds by launch number of both: geometric means over states, of launches in like conditions."""
        base: dict[int, list[float]] = defaultdict(list)
        other: dict[int, list[float]] = defaultdict(list)
        for part in self.by_state:
            for number in part.common_launches:
                base[number].append(part.times[0][number])
                other[number].append(part.times[1][number])
        return {n: geometric_mean(base[n]) for n in base}, {n: geometric_mean(other[n]) for n in other}

    def time_s(self, side: int) -> float | None:
        """Return the time of the base (0) or the other (1): of one state as in tables, else over launches.

        Over several states it is a mean: a median lies in one of them, and the two would be of other states.
        """
        if len(self.by_state) == 1:
            return self.by_state[0].time_s(side)
        times = self.times[side]
        return geometric_mean(times.values()) if times else super().time_s(side)


def _times(row: Row) -> dict[int, float]:
    """Return the seconds of a row by launch; empty if one of them has no logarithm."""
    times = dict(row.time.by_launch) if row.time is not None else {}
    return times if all(0 < time < math.inf for time in times.values()) else {}


def _launches_in_any_state(row: Row) -> set[int]:
    """Return the numbers of the launches that gave a time of a row's cell in any state of the machine."""
    known: list[Timing | None] = [row.time, *(one.time for one in row.states)]
    return {number for time in known if time is not None for number in time.by_launch}
