"""What is said of one cell: a central time with an interval across launches, and what its samples look like.

All times are in seconds. A cell is a sequence of launches, a launch a sequence of visits in time order, a
visit an array of the times of its rounds. The launch is the unit of replication: rounds of one launch share
its luck, so intervals come from one number per launch, never from pooled rounds: docs/method-launches.md.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import islice
from statistics import geometric_mean
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from mpigauge.rows.clock_resolution import relative_step
from mpigauge.rows.within_launch import NO_SHARES, shares_of, summarise_launches
from mpigauge.stats.interval import (
    LAUNCHES_FOR_RANGE,
    Number,
    interval_of,
    p_value_beyond,
    with_clock_step,
)
from mpigauge.stats.launch_groups import outliers, two_kinds
from mpigauge.stats.limits import ENOUGH_LAUNCHES, PROMISED
from mpigauge.stats.percentiles import (
    Values,
    deviation_of,
    median_interval,
    median_of_few,
    percentile,
    supported_percentile,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.rows.within_launch import Launch, LaunchSummary

MEDIAN = "median"
"""Statistic that stands for a launch unless another is asked for, and that is quoted of launches."""

GEOMETRIC_MEAN = "geometric-mean"
"""Statistic that is quoted of fewer than 5 launches."""


def centre_of(launches: int) -> str:
    """Return what the estimate of so many launches is of the numbers that stand for them."""
    return MEDIAN if launches >= LAUNCHES_FOR_RANGE else GEOMETRIC_MEAN


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing(Number):
    """The time of an operation and what is known of its samples, in seconds; None is what cannot be said.

    Attributes:
        rank_low: Lower end of the order-statistics interval of the launch medians; None under 6 launches.
        rank_high: Its upper end.
        launches_half_width: What of it launches alone give, and more of them make narrower.
        machine_half_width: What of it other speeds of the cores and the instrument give, which no number of
            launches makes narrower.
        promised: What of the machine's part the instrument gives, as a logarithm.
        widening: How many times as wide that of the launches is, since neighbouring ones are alike.
        samples: How many rounds in all.
        mean: Of all rounds, as all that follow to `max`.
        stddev: None for one round.
        min: The smallest.
        p5: None under 400 rounds.
        p25: The lower quartile.
        median: The middle.
        p75: The upper quartile.
        p95: None under 400 rounds.
        p99: None under 2000 rounds.
        max: The largest.
        launch_share: Share of the variance of launch medians that only more launches average out, 0 to 1.
        visit_share: Share that more visits average out.
        round_share: Share that more rounds average out; the three add up to 1.
        by_launch: What stands for each launch, in seconds, by its number; nothing where none was measured.
        step: The step of the clock over the time; of a printed number, the unit of its last digit.
        in_parts: Launches that were started again on the way: cells of one may be of different processes.
    """

    rank_low: float | None = None
    rank_high: float | None = None
    launches_half_width: float | None = None
    machine_half_width: float | None = None
    promised: float = PROMISED
    widening: float = 1.0
    samples: int = 0
    mean: float | None = None
    stddev: float | None = None
    min: float | None = None
    p5: float | None = None
    p25: float | None = None
    median: float | None = None
    p75: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None
    launch_share: float | None = None
    visit_share: float | None = None
    round_share: float | None = None
    by_launch: Mapping[int, float] = field(default_factory=dict)
    step: float = 0.0
    in_parts: frozenset[int] = frozenset()

    @property
    def of_few_launches(self) -> bool:
        """Whether it has an interval that rests on too few launches to be counted as precise."""
        return self.low is not None and self.launches < ENOUGH_LAUNCHES

    @property
    def launches_precision(self) -> float | None:
        """The part of it that launches alone give, and more of them make narrower."""
        if self.half_width is None or not self.by_launch:
            return self.launches_half_width
        found = interval_of(self._times_s, self.step, widening=self.widening)
        return found.precision if found.is_uneven else self.launches_half_width

    def is_precise(self, precision: float) -> bool:
        """Return whether it has an interval of enough launches that is as narrow as asked for."""
        known = self.precision
        return known is not None and not self.of_few_launches and known <= precision

    def beyond_launches(self, widening: float, machine: float, promised: float) -> Self:
        """Return the same time with an interval that covers what its launches do not show.

        Args:
            widening: Factor on the part of the launches, for their serial correlation.
            machine: Uncertainty of the machine's speed at other times, as a logarithm.
            promised: What the instrument gives, as a logarithm.
        """
        if self.half_width is None or not self.by_launch:
            return self
        times_s = self._times_s
        found = interval_of(times_s, self.step, machine=machine, instrument=promised, widening=widening)
        return replace(
            self,
            low=found.low,
            high=found.high,
            launches_half_width=interval_of(times_s, self.step, widening=widening).half_width,
            machine_half_width=math.expm1(math.hypot(machine, promised)),
            promised=promised,
            widening=widening,
        )

    def chance_beyond(self, bound_s: float, *, above: bool) -> float | None:
        """Return how often chance takes it so far beyond a bound; None where it has no interval.

        Args:
            above: Whether it is asked if the time is longer than the bound; else whether it is shorter.
        """
        if self.low is None or not self.by_launch or bound_s <= 0:
            return None
        beyond = math.log1p(self.machine_half_width or 0.0)
        promised = min(self.promised, beyond)
        return p_value_beyond(
            self._times_s,
            bound_s,
            self.step,
            machine=math.sqrt(beyond**2 - promised**2),
            instrument=promised,
            widening=self.widening,
            above=above,
        )

    @property
    def _times_s(self) -> Values:
        return np.array([*self.by_launch.values()])

    @property
    def geometric_mean(self) -> float | None:
        """Return that of what stands for the launches, in seconds; None if that is 0 or not known."""
        known = self.by_launch.values()
        return geometric_mean(known) if known and min(known) > 0 else None

    @property
    def statistic(self) -> str:
        """Return what the estimate is of the numbers that stand for the launches."""
        return centre_of(self.launches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed(Timing):
    """A time that others have published: a number of one launch or of several, but no samples.

    Attributes:
        statistic: What it is of their samples; empty if they do not say.
    """

    statistic: str = ""

    @property
    def far_apart(self) -> bool:
        """Whether its launches differ by more than those of one command do: no centre stands for them."""
        times = self.by_launch.values()
        return len(times) > 1 and max(times) > FAR_APART * min(times)


FAR_APART = 1.5
"""Factor by which printed launches differ that are hardly of one command."""


def printed(
    times_s: Mapping[int, float], statistic: str, stddev_s: float | None = None, step: float = 0.0
) -> Printed:
    """Return what is said of numbers that others have printed.

    Args:
        times_s: Of each launch, by its number.
        statistic: What each is of their samples.
        stddev_s: Of the samples of a single launch, if that is printed.
        step: The unit of their last digit over the number: half of it is the least half-width.
    """
    if len(times_s) == 1:
        (time_s,) = times_s.values()
        mean = time_s if statistic == "mean" else None
        return Printed(estimate=time_s, mean=mean, stddev=stddev_s, statistic=statistic, step=step)
    half_digit = step / 2
    values = np.array(list(times_s.values()))
    found = interval_of(values, step, machine=math.log1p(half_digit))
    return Printed(
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        launches_half_width=interval_of(values, step).half_width,
        machine_half_width=half_digit or None,
        launches=len(times_s),
        statistic=statistic,
        by_launch=times_s,
        step=step,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Timing):
    """A time that was measured.

    Attributes:
        estimate: Median of the launch medians; their geometric mean of fewer than 5 launches.
        low: Lower end of its 95 % interval; None for one launch or a median of 0.
        launch_variance: Variance of the logarithm of a launch median that more rounds cannot remove.
        round_variance: Variance of log t that one round adds to a launch median; the middle over launches.
        kinds: Centres of two groups of launches, if they fall into two.
        outliers: Numbers of launches that are far from the others.
        drifts: Of each launch that tells, ln(first quarter / last half) of its rounds.
    """

    launches: int
    samples: int
    mean: float
    min: float
    p25: float
    median: float
    p75: float
    max: float
    launch_variance: float | None
    round_variance: float | None
    kinds: tuple[float, float] | None
    outliers: tuple[int, ...] = ()
    drifts: tuple[float, ...] = ()


class Launches(NamedTuple):
    """The launches of a cell.

    Attributes:
        numbers: Of each.
        visits: Of each its visits in time order, of each visit the times of its rounds in seconds, shape
            ``(rounds,)``; a launch or visit without rounds is passed over.
        steps_s: For each launch and visit the step of the clock in seconds of one operation; empty for a
            launch: a clock without steps.
        pooled: The array that all visits are views of, if there is one: it is put in order in the end, as a
            cell may be most of a result.
    """

    numbers: Sequence[int]
    visits: Sequence[Sequence[Values]]
    steps_s: Sequence[Sequence[float]]
    pooled: Values | None = None


def estimates(cells: Iterable[Launches], stat: str = "median") -> Iterator[Estimate]:
    """Yield everything that is said of each cell, in their order; as many as needed are asked for at once.

    Args:
        stat: One of STATS; it takes the place of the median of a launch.

    Raises:
        ValueError: If a cell has no round at all.

    Source:
        docs/method-launches.md#launches; Kalibera and Jones, Rigorous Benchmarking in Reasonable Time,
        ISMM 2013.
    """
    waiting: deque[Launches] = deque()

    def ahead() -> Iterator[Launch]:
        for cell in map(_measured, cells):
            waiting.append(cell)
            yield from zip(cell.visits, cell.steps_s, strict=True)

    summaries = summarise_launches(ahead(), stat)
    for first in summaries:
        # Not kept by itertools.tee, which lets go of 57 cells at once.
        cell = waiting.popleft()
        yield _estimate(cell, [first, *islice(summaries, len(cell.numbers) - 1)], stat)


def _measured(cell: Launches) -> Launches:
    """Return the launches that have rounds."""
    each = zip(cell.numbers, cell.visits, cell.steps_s, strict=True)
    known = [launch for launch in each if any(visit.size for visit in launch[1])]
    if not known:
        raise ValueError("a cell without rounds")
    numbers, visits, steps_s = zip(*known, strict=True)
    return Launches(numbers, visits, steps_s, cell.pooled)


def _estimate(cell: Launches, summaries: Sequence[LaunchSummary], stat: str) -> Estimate:
    medians = np.array([summary.median for summary in summaries])
    ordered = _in_order(cell)
    clock_step = relative_step(medians, [step for steps in cell.steps_s for step in steps])
    found = interval_of(medians, clock_step)
    rank_low, rank_high = _ranks_interval(medians, clock_step)
    shares = shares_of(medians, summaries) if stat == MEDIAN else NO_SHARES
    return Estimate(
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        rank_low=rank_low,
        rank_high=rank_high,
        launches_half_width=found.half_width,
        launches=len(summaries),
        samples=ordered.size,
        mean=float(ordered.mean()),
        min=float(ordered[0]),
        p5=supported_percentile(ordered, 5),
        p25=percentile(ordered, 25),
        median=percentile(ordered, 50),
        p75=percentile(ordered, 75),
        p95=supported_percentile(ordered, 95),
        p99=supported_percentile(ordered, 99),
        max=float(ordered[-1]),
        stddev=deviation_of(ordered) if ordered.size > 1 else None,
        launch_share=shares.launches,
        visit_share=shares.visits,
        round_share=shares.rounds,
        launch_variance=shares.beyond_rounds,
        round_variance=_round_variance(summaries) if stat == MEDIAN else None,
        kinds=two_kinds(medians, clock_step),
        by_launch=dict(zip(cell.numbers, medians.tolist(), strict=True)),
        outliers=tuple(cell.numbers[place] for place in outliers(medians, clock_step)),
        drifts=tuple(summary.drift for summary in summaries if summary.drift is not None),
        step=clock_step,
    )


def _in_order(cell: Launches) -> Values:
    """Return all rounds of a cell in ascending order, in an array that may be written to."""
    ordered = cell.pooled
    if ordered is None:
        ordered = np.concatenate([visit for visits in cell.visits for visit in visits])
    ordered.sort()
    return ordered


def _ranks_interval(medians: Values, clock_step: float) -> tuple[float, float] | tuple[None, None]:
    """Return the order-statistics interval of the median of launch medians, with what a clock step hides."""
    low, high = median_interval(medians)
    if math.isnan(low):
        return None, None
    middle = median_of_few(medians)
    if low <= 0:
        return low, high
    down, up = (with_clock_step(math.log(ratio), clock_step) for ratio in (middle / low, high / middle))
    return middle / math.exp(down), middle * math.exp(up)


def _round_variance(summaries: Sequence[LaunchSummary]) -> float | None:
    """Return the middle variance that a round adds; None of rounds without any, which tell nothing of it."""
    variance = float(np.median([summary.round_variance for summary in summaries]))
    return variance if variance > 0 else None


def rounds_per_launch_advice(
    seconds_per_launch: float, seconds_per_round: float, round_variance: float, launch_variance: float
) -> int | None:
    """Return how many rounds per launch give the narrowest interval in a given time.

    Args:
        seconds_per_launch: What a launch costs before its first round.
        seconds_per_round: What a round costs.
        round_variance: `Estimate.round_variance`.
        launch_variance: `Estimate.launch_variance`.

    Returns:
        At least 1; None if launches do not differ (then one launch with many rounds is as good) or a cost is
        not positive.

    Source:
        docs/method-launches.md#samples-or-launches; Kalibera and Jones, Rigorous Benchmarking in
        Reasonable Time, ISMM 2013.
    """
    if min(seconds_per_launch, seconds_per_round, launch_variance) <= 0:
        return None
    ratio = seconds_per_launch / seconds_per_round * round_variance / launch_variance
    return max(1, math.ceil(math.sqrt(ratio))) if math.isfinite(ratio) else None
