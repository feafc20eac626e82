"""Intervals across launches, and how many launches a narrower one takes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from mpigauge.analysis.limits import LAUNCHES_COUNTABLE
from mpigauge.analysis.percentiles import LEVEL, median_of_few
from mpigauge.analysis.robust import pulled_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mpigauge.analysis.percentiles import Values

    Counts = NDArray[np.int64]

UNIFORM_VARIANCE = 1 / 12
"""Of a uniform distribution over one step."""

DISTANCE_MOST = 230.0
"""From the centre of an interval to its ends: a factor of 10^100. A file may claim a clock of any step."""

LAUNCHES_FOR_MEDIAN = 6
"""Of so many launches the median has an interval of 95 % without any assumption."""

LAUNCHES_FOR_RANGE = 5
"""Of so many the range holds the median in 94 %."""

_SPREAD_POINTS = (0.2, 0.8)


class Interval(NamedTuple):
    """What launches say of a number: its centre, and a 95 % interval whose sides need not be alike.

    Attributes:
        centre: In the unit of the values.
        low: Lower end; None where nothing can be said.
        high: Upper end; None with it.
    """

    centre: float
    low: float | None = None
    high: float | None = None

    @property
    def half_width(self) -> float | None:
        """Relative half-width: that of the larger side, by which a factor may be too small or too large."""
        if self.low is None or self.high is None or not self.low > 0:
            return None
        return max(self.high / self.centre, self.centre / self.low) - 1.0


def interval_of(times_s: Values, clock_step: float = 0.0) -> Interval:
    """Return the centre and the 95 % interval of positive numbers, one per launch.

    From 6 launches on the centre is their median, with order statistics interpolated to 95 %; of 5 it is the
    median with their range; of fewer the geometric mean with Student's t. All of it is of logarithms, so that
    a time and its rate have the same interval.

    Args:
        times_s: Shape ``(launches,)``, in seconds or any other unit.
        clock_step: The step of the clock over the time, which is added to each side in quadrature: all
            launches share it, so it is not divided by how many there are.

    Returns:
        No ends of a single launch, and none where a value is 0 (the clock stood still), which has no
        logarithm: then the median alone.

    Source:
        Hettmansperger and Sheather, Confidence intervals based on interpolated order statistics, Statistics &
        Probability Letters 4 (1986); docs/method.md#launches
    """
    if times_s.size == 1 or times_s.min() <= 0:
        return Interval(median_of_few(times_s))
    # Relative to the first, so that equal launches differ by exactly 0.
    first = float(times_s[0])
    centre, below, above = _sides(np.log(times_s / first))
    middle = first * math.exp(centre)
    return Interval(
        middle,
        middle / math.exp(with_step(below, clock_step)),
        middle * math.exp(with_step(above, clock_step)),
    )


def interval_of_amounts(values: Values, hidden: float = 0.0) -> Interval:
    """Return the same of numbers that may be 0 or negative, as they are: no logarithms are taken.

    Args:
        values: Shape ``(launches,)``, in any unit.
        hidden: What the steps of the clock hide of them, in that unit.
    """
    if values.size == 1:
        return Interval(float(values[0]))
    centre, below, above = _sides(values)
    return Interval(centre, centre - _with_hidden(below, hidden), centre + _with_hidden(above, hidden))


def difference_interval(values: Values, hidden: float = 0.0) -> Interval:
    """Return the winsorised mean of differences, with Student's interval of 95 %: as contrasts have it.

    Args:
        values: Shape ``(launches,)``, of any sign, in any unit.
        hidden: What the steps of the clock hide of them, in that unit.
    """
    if values.size == 1:
        return Interval(float(values[0]))
    known = pulled_in(values)
    mean, error = float(known.mean()), float(known.std(ddof=1)) / math.sqrt(known.size)
    half = _with_hidden(student(known.size - 1) * error, hidden)
    return Interval(mean, mean - half, mean + half)


def _sides(values: Values) -> tuple[float, float, float]:
    """The centre of two values or more, and how far it is to both ends of its interval."""
    count = values.size
    if count < LAUNCHES_FOR_RANGE:
        centre = float(values.mean())
        half = student(count - 1) * float(values.std(ddof=1)) / math.sqrt(count)
        return centre, half, half
    ordered, centre = np.sort(values), median_of_few(values)
    if count < LAUNCHES_FOR_MEDIAN:
        return centre, centre - float(ordered[0]), float(ordered[-1]) - centre
    outer, share = _interpolation(count)
    low = ordered[outer] + share * (ordered[outer + 1] - ordered[outer])
    high = ordered[-1 - outer] - share * (ordered[-1 - outer] - ordered[-2 - outer])
    return centre, centre - float(low), float(high) - centre


@lru_cache(maxsize=512)
def _interpolation(count: int) -> tuple[int, float]:
    """Place of the outer order statistic, from 0, and which share of the way to the next one the end lies."""
    inner = next(place for place in range(1, count) if _covers(count, place) < LEVEL)
    outside, inside = _covers(count, inner - 1), _covers(count, inner)
    part = (outside - LEVEL) / (outside - inside)
    share = (count - inner) * part / (inner + (count - 2 * inner) * part)
    return inner - 1, share


def _covers(count: int, place: int) -> float:
    """How often the order statistics at a place, from 0, and at its opposite have the median between them."""
    return 1 - 2 * float(special.bdtr(place, count, 0.5))


def with_step(distance: float, clock_step: float) -> float:
    """Return one side of an interval of a logarithm with, in quadrature, what a step of the clock hides."""
    return min(DISTANCE_MOST, _with_hidden(distance, clock_step))


def _with_hidden(distance: float, step: float) -> float:
    return math.sqrt(distance**2 + step**2 * UNIFORM_VARIANCE)


@lru_cache(maxsize=4096)
def student(freedom: float, level: float = LEVEL) -> float:
    """How many standard errors a two-sided t interval reaches."""
    return float(special.stdtrit(freedom, (1 + level) / 2))


def launches_needed(
    half_width: float, launches: int, precision: float, clock_step: float = 0.0
) -> tuple[int | None, int | None, int | None]:
    """How many launches would give an interval of the precision asked for.

    The standard deviation of launches follows from the interval; its own uncertainty is that of chi-square.

    Args:
        half_width: Relative, of the interval that there is.
        launches: It is of so many.
        precision: The relative half-width asked for.
        clock_step: The step of the clock over the time.

    Returns:
        The number, and between which two it most likely is: 20 and 80 % points. None for more than 1000, or
        if the step of the clock alone is wider.

    Source:
        docs/method.md#enough-launches
    """
    hidden = clock_step**2 * UNIFORM_VARIANCE
    wanted = math.log1p(precision) ** 2 - hidden
    freedom = launches - 1
    reach = max(0.0, math.log1p(half_width) ** 2 - hidden)
    deviation = math.sqrt(reach * launches) / student(freedom)
    low, high = (
        deviation * math.sqrt(freedom / float(special.chdtri(freedom, point))) for point in _SPREAD_POINTS
    )
    return _needed(deviation, wanted), _needed(low, wanted), _needed(high, wanted)


def _needed(deviation: float, wanted: float) -> int | None:
    """The fewest launches whose squared distance is at most `wanted`."""
    if wanted <= 0:
        return None
    counts, errors = _standard_errors()
    enough = np.flatnonzero((errors * deviation) ** 2 <= wanted)
    return int(counts[enough[0]]) if enough.size else None


@lru_cache(maxsize=1)
def _standard_errors() -> tuple[Counts, Values]:
    """Numbers of launches, and the half-width of an interval of each in standard deviations."""
    counts = np.arange(2, LAUNCHES_COUNTABLE + 1)
    return counts, special.stdtrit(counts - 1, (1 + LEVEL) / 2) / np.sqrt(counts)
