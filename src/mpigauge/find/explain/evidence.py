"""What conclusions rest on: the rows of a result, as curves and jobs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from mpigauge.compare.curves import rows_by_curve
from mpigauge.compare.within import Within
from mpigauge.plan.factors import PLACE, SIZE
from mpigauge.plan.groups import set_at_once
from mpigauge.plan.patterns import sampled_alike
from mpigauge.plan.rank_lists import members_of
from mpigauge.rows.clock_resolution import clock_resolution
from mpigauge.rows.group import STATE, each_state, in_one_state, row_key, same_state
from mpigauge.rows.ratios import compared, judged_together
from mpigauge.sequences import group_by
from mpigauge.stats.interval import Number, interval_of
from mpigauge.units import MAX_REACH
from mpigauge.vocabulary import POINT_TO_POINT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Mode, Pattern
    from mpigauge.result.reader import Result
    from mpigauge.rows.ratios import TimePair
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import Family


@dataclass(frozen=True, eq=False)
class Evidence:
    """A result and what is said of its cells, one row each.

    Attributes:
        rows: Of one state of the machine for each cell.
        gives_way: Of a kind of library the variables, with their values, that make its waiting ranks give way
            where they share cores; none where nobody knows.
        controls: Rows of control arms, which no conclusion is drawn from.
    """

    result: Result
    rows: Sequence[Row]
    gives_way: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    controls: Sequence[Row] = ()

    @cached_property
    def within(self) -> Within:
        """Comparisons within the result."""
        return Within(self.result, [*self.rows, *self.controls])

    @cached_property
    def patterns(self) -> Mapping[str, Pattern]:
        """The patterns by name, as the kernel of the result described them."""
        return {pattern.name: pattern for pattern in self.result.campaign.patterns}

    @cached_property
    def limits(self) -> Mapping[JobKey, int]:
        """The eager limit in bytes of every job that probed it."""
        return {row.cell.job: row.limit_bytes for row in self.rows if row.limit_bytes is not None}

    @cached_property
    def eager_at_least(self) -> Mapping[JobKey, int]:
        """The largest message that was probed and sent eagerly, of every job in which all of them were."""
        probes = (row for row in self.rows if row.limit_bytes is None and row.status == "ok")
        return {row.cell.job: row.cell.bytes for row in probes if self.patterns[row.cell.pattern].probes}

    @cached_property
    def clock_steps(self) -> Mapping[JobKey, float]:
        """The step of the clock of every job, in nanoseconds."""
        return clock_resolution(self.result.launches, self.result.visits)

    @cached_property
    def messages(self) -> frozenset[str]:
        """Patterns of messages, and of what probes them."""
        return frozenset(name for name, pattern in self.patterns.items() if pattern.family in POINT_TO_POINT)

    @cached_property
    def crowded(self) -> frozenset[JobKey]:
        """Jobs with more ranks than cores."""
        return frozenset(row.cell.job for row in self.rows if row.crowded)

    @cached_property
    def ranks_at_once(self) -> Mapping[Cell, int]:
        """How many ranks the groups of a set at once have together, by what its cells have in common."""
        sets = group_by((cell for cell in self.result.campaign.cells if cell.groups), set_at_once)
        return {whole: sum(len(members_of(cell.group)) for cell in cells) for whole, cells in sets.items()}

    @property
    def emulated(self) -> bool:
        """Whether the network is that of a lab, so that its delays and rates were put in."""
        return self.result.campaign.plan.lab is not None

    def mode_of(self, row: Row) -> Mode | None:
        """Return what the kernel says of the mode of a cell."""
        pattern = self.patterns.get(row.cell.pattern)
        return pattern.mode(row.cell.mode) if pattern is not None else None

    def curves(self, *families: Family) -> Iterator[list[Row]]:
        """Yield rows with a time that differ in size only, sizes rising.

        Args:
            families: Of these patterns only; none for all that ranks talk by.
        """
        kept = [row for row in self.rows if row.time is not None and self._is_of(row, families)]
        for curve in rows_by_curve(kept):
            yield sorted(curve, key=lambda row: row.cell.bytes)

    def by_job(self) -> Mapping[JobKey, list[Row]]:
        """Return rows with a time, by the launches that they are of."""
        return group_by((row for row in self.rows if row.time is not None), lambda row: row.cell.job)

    def _is_of(self, row: Row, families: Collection[Family]) -> bool:
        pattern = self.patterns.get(row.cell.pattern)
        if pattern is None:
            return False
        return pattern.family in families if families else pattern.talks


def measured(by_launch: Mapping[int, float]) -> Number:
    """Return the number of one launch or more.

    Source:
        docs/method-launches.md#launches
    """
    return interval_of(np.array(list(by_launch.values())))


def single_calls(evidence: Evidence) -> Iterator[list[Row]]:
    """Yield curves of talking ranks whose samples hold nothing but the operation, sizes rising."""
    for curve in evidence.curves():
        mode = evidence.mode_of(curve[0])
        if mode is None or not (mode.overlaps or mode.in_a_row):
            yield curve


def against_first(evidence: Evidence, factors: frozenset[str]) -> Iterator[tuple[list[Row], list[Row]]]:
    """Yield pairs of curves that differ in some factors alone: the first, or the nearest, with each other.

    Curves of one state of the machine are paired, and with those of no state, such as other hosts. A message
    one way is not held against the call that receives one.
    """
    groups = group_by(single_calls(evidence), lambda curve: row_key(curve[0], factors | SIZE | {STATE}))
    for curves in groups.values():
        pairs = {
            (id(base), id(other)): (base, other)
            for mine in _each_state(curves)
            for base, *others in [sorted(mine, key=_nearest) if factors == PLACE else mine]
            for other in others
            if _is_of_the_same(evidence, base[0].cell, other[0].cell)
        }
        yield from pairs.values()


def _is_of_the_same(evidence: Evidence, base: Cell, other: Cell) -> bool:
    return sampled_alike(evidence.patterns[base.pattern], base.mode, other.mode)


def _each_state(curves: Iterable[list[Row]]) -> list[list[list[Row]]]:
    """Return curves for each state of the machine that they are of, with those of no state in each."""
    by_first = {id(curve[0]): curve for curve in curves}
    firsts = each_state([curve[0] for curve in by_first.values()])
    return [[by_first[id(row)] for row in mine] for mine in firsts]


def _nearest(curve: Sequence[Row]) -> float:
    return curve[0].time.estimate if curve[0].time else math.inf


def is_narrow(estimate: float, low: float | None, high: float | None) -> bool:
    """Return whether an interval goes less than ten times beyond its number, on either side."""
    if low is None or high is None or not min(low, estimate) > 0:
        return False
    return estimate / low < MAX_REACH and high / estimate < MAX_REACH


def is_informative(ratio: Ratio | None) -> TypeGuard[Ratio]:
    """Return whether a ratio has an interval that says something: it leaves no factor of ten open."""
    return ratio is not None and is_narrow(ratio.estimate, ratio.low, ratio.high)


def of_one_launch(one: Row, other: Row) -> bool:
    """Return whether two rows are of the same launches, and of one state of the machine if they have any.

    What has no state, such as a copy by one rank, goes with each.
    """
    alike = one.cell.job == other.cell.job and in_one_state([one, other])
    return alike and not (one.cell.pair or other.cell.pair)


def launches_of(over: Row, under: Row) -> TimePair | None:
    """Return the times of launches that two rows have: those of a state of the machine, if one is of one."""
    if over.time is None or under.time is None:
        return None
    sides = [over.time.by_launch, under.time.by_launch]
    if not same_state(over, under):
        both = sides[0].keys() & sides[1].keys()
        sides = [{launch: side[launch] for launch in sorted(both)} for side in sides]
    return compared(sides[0], sides[1], paired=True, apart=over.time.in_parts | under.time.in_parts)


def clock_steps_of(over: Row, under: Row) -> float:
    """Return the steps of the clock over the times of two rows, in quadrature."""
    return math.hypot(*(row.time.step for row in (over, under) if row.time is not None))


def ratio_of_rows(over: Row, under: Row) -> Ratio | None:
    """Return how many times as long a row takes as another of its launches; None if that says nothing."""
    sides = launches_of(over, under)
    ratio = sides.ratio(clock_steps_of(over, under)) if sides is not None else None
    return ratio if is_informative(ratio) else None


def beside_others(sides: Sequence[Mapping[int, float]]) -> list[Ratio | None]:
    """Return the ratio of each of several to the geometric mean of the others, all of them judged together.

    Args:
        sides: The times of each by launch; launches that not all of them have do not count.
    """
    common = sorted(set[int].intersection(*(set(side) for side in sides)))
    pairs = [
        compared(
            {launch: side[launch] for launch in common},
            {launch: _mean(one[launch] for one in sides if one is not side) for launch in common},
            paired=True,
        )
        for side in sides
    ]
    return judged_together(pairs, [0.0] * len(pairs))


def _mean(values: Iterable[float]) -> float:
    """Return the geometric mean of some positive numbers."""
    return math.exp(fmean(map(math.log, values)))
