"""Intervals across launches, and how many launches a narrower one takes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats import special
from mpigauge.stats.limits import ENOUGH_LAUNCHES, LAUNCHES_COUNTABLE
from mpigauge.stats.percentiles import LEVEL, median_of_few
from mpigauge.stats.robust import winsorised

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

UNIFORM_VARIANCE = 1 / 12
"""Variance of a uniform distribution over one step."""

MAX_DISTANCE = 230.0
"""Largest distance from the centre of an interval to its ends: a factor of 10^100.

A file may claim any clock step.
"""

LAUNCHES_FOR_RANGE = 5
"""Launches whose range holds the median in 94 %."""

MEDIAN_REACH = 2.5
"""Half the length of the interval of a median, in standard deviations over the root of how many launches
there are: 2.4 to 2.6 in 20 000 simulations each of 6 to 30 normal ones."""

REACH_FREEDOM = 5
"""Degrees of freedom of a standard deviation that varies as that length does, for any number of launches."""

UNEVEN = 3.0
"""How many times as long as the other a side is of which half the length of both says nothing."""

BEYOND_LAUNCHES = 0.25
"""How far a widened side may reach beyond all launches that were made, in parts of their range: where the
machine takes a step, their serial correlation says nothing of times that no launch has had."""

_SPREAD_POINTS = (0.2, 0.8)


@dataclass(frozen=True, slots=True)
class Number:
    """A number over launches with its 95 % interval, whose sides may differ.

    Attributes:
        estimate: The centre of the interval, in the unit of the values.
        low: Lower end; None where nothing can be said.
        high: Upper end; None with it.
        launches: How many launches it is of, or sessions where each of these is one value; 0: not said.
    """

    estimate: float
    low: float | None = None
    high: float | None = None
    launches: int = 0

    @property
    def ends(self) -> tuple[float, float | None, float | None]:
        """The estimate, and both ends of the interval."""
        return self.estimate, self.low, self.high

    @property
    def half_width(self) -> float | None:
        """Relative half-width: half the length of the interval of logarithms, as a factor less 1."""
        if self.low is None or self.high is None or not self.low > 0:
            return None
        return math.sqrt(self.high / self.low) - 1.0

    @property
    def is_uneven(self) -> bool:
        """Whether one side is so much longer than the other that both ends must be seen."""
        if self.low is None or self.high is None or not 0 < self.low <= self.estimate <= self.high < math.inf:
            return False
        shorter, longer = sorted((math.log(self.estimate / self.low), math.log(self.high / self.estimate)))
        return longer > UNEVEN * shorter

    @property
    def precision(self) -> float | None:
        """The half-width that is held against the one asked for: of an uneven interval its longer side."""
        if not self.is_uneven or self.low is None or self.high is None:
            return self.half_width
        return max(self.high / self.estimate, self.estimate / self.low) - 1.0

    def holds(self, value: float) -> bool:
        """Return whether a value is in the interval; none is where nothing can be said."""
        return self.low is not None and self.high is not None and self.low <= value <= self.high

    def inverse(self, over: float = 1.0) -> Number:
        """Return something over it; an upper end may be infinite."""
        low, high = (
            None if end is None else over / end if end else math.inf for end in (self.high, self.low)
        )
        estimate = over / self.estimate if self.estimate else math.inf
        return Number(estimate, low, high, self.launches)


OPEN_FACTOR = 3.0
"""An interval whose ends are so many times apart leaves a number not known."""


def is_known(low: float | None, high: float | None) -> bool:
    """Return whether the interval of a positive number leaves no factor of three open."""
    return low is not None and high is not None and low > 0 and high < OPEN_FACTOR * low


def interval_of(
    times_s: Values,
    clock_step: float = 0.0,
    *,
    machine: float = 0.0,
    instrument: float = 0.0,
    widening: float = 1.0,
) -> Number:
    """Return the centre and the 95 % interval of positive numbers, one per launch.

    From 6 launches on the centre is their median, with order statistics interpolated to 95 %; of 5 it is the
    median with their range; of fewer the geometric mean with Student's t. All of it is of logarithms, so that
    a time and its rate have the same interval. A machine that changes slowly shows in its speeds and in the
    serial correlation of its launches, and is counted once: each side is the longer one of that of the
    launches with the speeds, in quadrature, and of the widened one.

    Args:
        times_s: Shape ``(launches,)``, in seconds or any other unit.
        clock_step: The step of the clock over the time, which is added to each side in quadrature: all
            launches share it, so it is not divided by how many there are.
        machine: Uncertainty of the machine's speed at other times, as a logarithm.
        instrument: What the instrument cannot promise, as a logarithm; added to each side in quadrature.
        widening: Factor on the part of the launches, for their serial correlation.

    Returns:
        No ends of a single launch, and none where a value is 0 (the clock stood still), which has no
        logarithm: then the median alone.

    Source:
        Hettmansperger and Sheather, Confidence intervals based on interpolated order statistics, Statistics &
        Probability Letters 4 (1986); docs/method-launches.md#launches
    """
    if times_s.size == 1 or times_s.min() <= 0:
        return Number(median_of_few(times_s), launches=times_s.size)
    # Relative to the first, so that equal launches differ by exactly 0.
    first = float(times_s[0])
    logs = np.log(times_s / first)
    centre, *sides = _sides(logs)
    middle, shared = first * math.exp(centre), with_clock_step(instrument, clock_step)
    reaches = (
        max(math.hypot(side, machine), side, min(widening * side, bound))
        for side, bound in zip(sides, _bounds(logs, centre), strict=True)
    )
    below, above = (math.exp(min(MAX_DISTANCE, math.hypot(reach, shared))) for reach in reaches)
    return Number(middle, middle / below, middle * above, times_s.size)


def _bounds(logs: Values, centre: float) -> tuple[float, float]:
    """Return how far the widened sides of an interval may reach from its centre: below, and above."""
    lowest, highest = float(logs.min()), float(logs.max())
    further = BEYOND_LAUNCHES * (highest - lowest)
    return centre - lowest + further, highest - centre + further


def p_value_beyond(
    times_s: Values,
    bound_s: float,
    clock_step: float = 0.0,
    *,
    machine: float = 0.0,
    instrument: float = 0.0,
    widening: float = 1.0,
    above: bool = True,
) -> float:
    """Return the chance that launches lie so far beyond a bound if it is their true centre.

    It is the level on one side at which the interval of these launches ends at the bound, so that it is at
    most 2.5 % where that of 95 % ends beyond it. Where no launch is on the bound's side, order statistics say
    no more than how rare that is; there it is also what Student's t of the winsorised mean says, if less.

    Args:
        times_s: Two or more positive numbers, one per launch, as those of `interval_of`.
        bound_s: Positive, in the same unit.
        above: Whether it is asked if their centre is above the bound; else whether it is below.

    Source:
        docs/numbers-verbs.md#check
    """
    logs = np.log(times_s / float(times_s[0])) * (1 if above else -1)
    bound = math.log(bound_s / float(times_s[0])) * (1 if above else -1)
    centre, *_ = _sides(logs)
    beyond = centre - bound
    if beyond <= 0:
        return 1.0
    # As far as launches alone are asked to account for it: beside the speeds of the machine, and widened.
    reach = math.sqrt(max(0.0, beyond**2 - with_clock_step(instrument, clock_step) ** 2))
    beside = math.sqrt(max(0.0, reach**2 - machine**2))
    widened = reach / widening if reach <= _bounds(logs, centre)[0] else reach
    return max(_one_sided(logs, centre - part) for part in (beside, widened))


def _one_sided(logs: Values, end: float) -> float:
    """Return the level on one side at which the interval of launches alone ends at a number below them."""
    if logs.size < LAUNCHES_FOR_RANGE:
        return _by_student(logs, end)
    ordered = np.sort(logs)
    if end >= ordered[0]:
        return _by_order(ordered, end)
    rarest = (1 - LEVEL) / 2 if logs.size < ENOUGH_LAUNCHES else 0.5**logs.size
    return min(rarest, _by_student(logs, end))


def _by_student(values: Values, end: float) -> float:
    """Return the chance that the winsorised mean is so far above a number, by Student's t."""
    mean, error = _mean_and_error(values)
    if error == 0:
        return 0.5 if end >= mean else 0.0
    return float(special.stdtr(values.size - 1, (end - mean) / error))


def _by_order(ordered: Values, end: float) -> float:
    """Return the level at which the median's interval ends at a number between minimum and median."""
    count = ordered.size
    place = min(int(np.searchsorted(ordered, end, side="right")), count - 1)
    gap = ordered[place] - ordered[place - 1]
    share = (end - ordered[place - 1]) / gap if gap > 0 else 1.0
    part = share * place / (count - place - share * (count - 2 * place))
    outside, inside = _coverage(count, place - 1), _coverage(count, place)
    return min(0.5, (1 - float(outside - part * (outside - inside))) / 2)


def interval_of_amounts(values: Values, clock_error: float = 0.0, *, machine: float = 0.0) -> Number:
    """Return the centre and 95 % interval of numbers that may be 0 or negative: without logarithms.

    Args:
        values: Shape ``(launches,)``, in any unit.
        clock_error: What the steps of the clock hide, in that unit.
        machine: Uncertainty of the machine and of the instrument, in that unit.
    """
    if values.size == 1:
        return Number(float(values[0]), launches=1)
    centre, below, above = _sides(values)
    down, up = (with_clock_step(math.hypot(side, machine), clock_error) for side in (below, above))
    return Number(centre, centre - down, centre + up, values.size)


def difference_interval(values: Values, clock_error: float = 0.0, *, machine: float = 0.0) -> Number:
    """Return the winsorised mean of differences with its 95 % interval by Student's t, as for contrasts.

    Args:
        values: Shape ``(launches,)``, of any sign, in any unit.
        clock_error: What the steps of the clock hide, in that unit.
        machine: Uncertainty of the machine and of the instrument, in that unit.
    """
    if values.size == 1:
        return Number(float(values[0]), launches=1)
    mean, error = _mean_and_error(values)
    half = with_clock_step(math.hypot(t_quantile(values.size - 1) * error, machine), clock_error)
    return Number(mean, mean - half, mean + half, values.size)


def _mean_and_error(values: Values) -> tuple[float, float]:
    """Return the winsorised mean of two values or more, and its standard error."""
    kept = winsorised(values)
    return float(kept.mean()), float(kept.std(ddof=1)) / math.sqrt(kept.size)


def with_machine(interval: Number, machine: float) -> Number:
    """Return an interval with, in quadrature on each side, what no number of launches makes narrower.

    Args:
        interval: That of a number that is not negative; an end may be 0 or infinite.
        machine: Uncertainty of the machine and of the instrument, as a logarithm.
    """
    centre, low, high = interval.ends
    if low is None or high is None or centre <= 0:
        return interval
    below = math.log(centre) - math.log(low) if low > 0 else math.inf
    above = math.log(high) - math.log(centre)
    sides = (min(MAX_DISTANCE, math.hypot(max(0.0, side), machine)) for side in (below, above))
    down, up = (math.exp(side) for side in sides)
    return replace(
        interval, low=centre / down if low > 0 else 0.0, high=centre * up if math.isfinite(high) else math.inf
    )


def _sides(values: Values) -> tuple[float, float, float]:
    """Return the centre of two values or more, and the distances to both ends of its interval."""
    count = values.size
    if count < LAUNCHES_FOR_RANGE:
        centre = float(values.mean())
        half = t_quantile(count - 1) * float(values.std(ddof=1)) / math.sqrt(count)
        return centre, half, half
    ordered, centre = np.sort(values), median_of_few(values)
    if count < ENOUGH_LAUNCHES:
        return centre, centre - float(ordered[0]), float(ordered[-1]) - centre
    outer, share = _interpolation(count)
    low = ordered[outer] + share * (ordered[outer + 1] - ordered[outer])
    high = ordered[-1 - outer] - share * (ordered[-1 - outer] - ordered[-2 - outer])
    return centre, centre - float(low), float(high) - centre


@lru_cache(maxsize=512)
def _interpolation(count: int) -> tuple[int, float]:
    """Return the place of the outer order statistic, from 0, and the share of the way to the next one."""
    inner = next(place for place in range(1, count) if _coverage(count, place) < LEVEL)
    outside, inside = _coverage(count, inner - 1), _coverage(count, inner)
    part = (outside - LEVEL) / (outside - inside)
    share = (count - inner) * part / (inner + (count - 2 * inner) * part)
    return inner - 1, share


def _coverage(count: int, place: int) -> float:
    """Return how often the order statistics at a place, from 0, and at its opposite enclose the median."""
    return 1 - 2 * float(special.bdtr(place, count, 0.5))


def with_clock_step(distance: float, clock_step: float) -> float:
    """Return one side of an interval with, in quadrature, what a step of the clock hides."""
    return math.sqrt(distance**2 + clock_step**2 * UNIFORM_VARIANCE)


@lru_cache(maxsize=4096)
def t_quantile(freedom: float, level: float = LEVEL) -> float:
    """Return how many standard errors a two-sided t interval reaches."""
    return float(special.stdtrit(freedom, (1 + level) / 2))


def launches_needed(
    half_width: float, launches: int, precision: float, clock_step: float = 0.0
) -> tuple[int | None, int | None, int | None]:
    """Return how many launches would give an interval of this precision.

    The half-width falls with the root of how many launches there are, from 5 on; what it is of so few is
    itself uncertain.

    Args:
        half_width: Relative, of what launches give of the interval that there is.
        launches: Launches behind it.
        precision: The relative half-width asked for.
        clock_step: The step of the clock over the time.

    Returns:
        The number, at least that of an interval that counts as precise, and between which two it most likely
        is: 20 and 80 % points. None for more than 1000, or if the step of the clock alone is wider.

    Source:
        docs/method-launches.md#enough-launches
    """
    hidden = clock_step**2 * UNIFORM_VARIANCE
    wanted = math.log1p(precision) ** 2 - hidden
    squared = max(0.0, math.log1p(half_width) ** 2 - hidden) * launches
    if launches < LAUNCHES_FOR_RANGE:
        squared *= (MEDIAN_REACH / t_quantile(launches - 1)) ** 2
    freedom = min(launches - 1, REACH_FREEDOM)
    low, high = (freedom / float(special.chdtri(freedom, point)) for point in _SPREAD_POINTS)
    return _needed(squared, wanted), _needed(low * squared, wanted), _needed(high * squared, wanted)


def _needed(squared: float, wanted: float) -> int | None:
    """Return the fewest launches by which `squared` can be divided to be at most `wanted`."""
    if wanted <= 0 or squared > wanted * LAUNCHES_COUNTABLE:
        return None
    return max(ENOUGH_LAUNCHES, math.ceil(squared / wanted * (1 - 1e-12)))
