"""The statistics of docs/method.md once more, from their formulas and with the standard library alone."""

from __future__ import annotations

import math
from functools import cache
from statistics import fmean, median, stdev, variance
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LEVEL = 0.95
MARGIN = 0.05
STEP_SEEN = 0.002
PAIRED_SHARE = 0.8
ALIKE = 1.15


class Interval(NamedTuple):
    """A number with its 95 % interval; None of what cannot be said."""

    estimate: float
    low: Any = None
    high: Any = None
    launches: int = 0


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz (Numerical Recipes 6.4)."""
    tiny, c = 1e-300, 1.0
    d = 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    whole = d
    for m in range(1, 400):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            whole *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return whole


def beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


@cache
def student(freedom: float, level: float = LEVEL) -> float:
    """Student's t that is exceeded, on either side together, with probability 1 - level; by bisection."""
    low, high = 0.0, 1.0
    while beta(freedom / 2, 0.5, freedom / (freedom + high * high)) > 1 - level:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        beyond = beta(freedom / 2, 0.5, freedom / (freedom + middle * middle))
        low, high = (middle, high) if beyond > 1 - level else (low, middle)
    return (low + high) / 2


def reaching(distance: float, step: float) -> float:
    """A half-width of a logarithm, with what a step of the clock hides."""
    return math.sqrt(distance * distance + step * step / 12)


def over_launches(values: Sequence[float], step: float = 0.0) -> Interval:
    """Geometric mean, and Student's t on the logarithms."""
    if len(values) == 1 or min(values) <= 0:
        return Interval(median(values), launches=len(values))
    logs = [math.log(value) for value in values]
    error = stdev(logs) / math.sqrt(len(logs))
    growth = math.exp(reaching(student(len(logs) - 1) * error, step))
    centre = math.exp(fmean(logs))
    return Interval(centre, centre / growth, centre * growth, len(logs))


class Times(NamedTuple):
    """A number a launch, as ratios need them.

    Attributes:
        step: The step of the clock over the time.
        apart: How long the hand-over took in each launch, with what was handed over.
        parts: Launches that were started again.
    """

    by_launch: Mapping[int, float]
    step: float = 0.0
    apart: Mapping[int, tuple[str, float]] = {}
    parts: frozenset[int] = frozenset()


def ratio(over: Times, under: Times, *, paired: bool = True, alike: bool = False) -> Interval | None:
    """How many times as long; in pairs where four fifths of the larger side have both, else Welch's.

    Args:
        alike: Launches count only where the ranks of both were equally far apart.
    """
    first, second, together = sides(over, under, paired=paired, alike=alike)
    step = math.hypot(over.step, under.step)
    if together:
        return over_launches([first[n] / second[n] for n in sorted(first)], step)
    return _welch([*first.values()], [*second.values()], step)


def sides(
    over: Times, under: Times, *, paired: bool = True, alike: bool = False
) -> tuple[dict[int, float], dict[int, float], bool]:
    """The launches that a ratio rests on, of either, and whether it is formed launch by launch."""
    common = over.by_launch.keys() & under.by_launch.keys()
    unlike = {number for number in common if alike and _unlike(over.apart, under.apart, number)}
    first, second = ({n: v for n, v in one.by_launch.items() if n not in unlike} for one in (over, under))
    common -= unlike | over.parts | under.parts
    if not paired or len(common) < max(2, PAIRED_SHARE * max(len(first), len(second))):
        return first, second, False
    return {n: first[n] for n in common}, {n: second[n] for n in common}, True


def _unlike(
    one: Mapping[int, tuple[str, float]], other: Mapping[int, tuple[str, float]], number: int
) -> bool:
    if number not in one or number not in other or one[number][0] != other[number][0]:
        return False
    low, high = sorted((one[number][1], other[number][1]))
    return high >= ALIKE * low


def _welch(over: Sequence[float], under: Sequence[float], step: float) -> Interval | None:
    if not over or not under or min(*over, *under) <= 0:
        return None
    first, second = ([math.log(value) for value in side] for side in (over, under))
    centre, count = math.exp(fmean(first) - fmean(second)), min(len(first), len(second))
    if count < 2:
        return Interval(centre, launches=count)
    parts = [variance(side) / len(side) for side in (first, second)]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (len(first) - 1) + parts[1] ** 2 / (len(second) - 1))
    growth = math.exp(reaching(student(freedom) * math.sqrt(sum(parts)), step))
    return Interval(centre, centre / growth, centre * growth, count)


def difference(over: Times, under: Times, estimates: tuple[float, float]) -> Any:
    """Seconds beyond, launch by launch.

    Args:
        estimates: Of both, for what the steps of the clock hide.
    """
    common = over.by_launch.keys() & under.by_launch.keys() - over.parts - under.parts
    if len(common) < 2:
        return None
    beyond = [over.by_launch[n] - under.by_launch[n] for n in sorted(common)]
    hidden = math.hypot(over.step * estimates[0], under.step * estimates[1])
    half = reaching(student(len(beyond) - 1) * stdev(beyond) / math.sqrt(len(beyond)), hidden)
    return Interval(fmean(beyond), fmean(beyond) - half, fmean(beyond) + half, len(beyond))


def verdict(one: Interval | None) -> str:
    """What the interval of a ratio says."""
    if one is None or one.low is None or one.high is None:
        return "undecided"
    if one.low > 1 or one.high < 1:
        return "slower" if one.low > 1 else "faster"
    return "no difference" if small(one) else "undecided"


def small(one: Interval) -> bool:
    """Whether the interval lies within the margin."""
    return one.low is not None and one.low >= 1 / (1 + MARGIN) and (one.high or math.inf) <= 1 + MARGIN


def by_chance(one: Interval, sizes: int) -> bool:
    """Whether one of so many sizes would be as far from 1 (Bonferroni)."""
    if one.low is None or one.high is None:
        return True
    freedom = max(1, one.launches - 1)
    half = math.log(one.high / one.low) / 2
    return abs(math.log(one.estimate)) <= half * student(freedom, 1 - 0.05 / sizes) / student(freedom)


def launches_needed(one: Interval, precision: float = MARGIN) -> int | None:
    """Launches that would give an interval of this half-width, if they differ as these do."""
    if one.high is None or one.launches < 2:
        return None
    deviation = math.log(one.high / one.estimate) * math.sqrt(one.launches) / student(one.launches - 1)
    wanted = math.log1p(precision)
    return next((n for n in range(2, 1001) if student(n - 1) * deviation / math.sqrt(n) <= wanted), None)


def middle_of(visits: Iterable[tuple[Sequence[float], float]]) -> float:
    """The median of samples, each visit with its step of the clock; of grouped data where that is seen."""
    known = [one for one in visits if one[0]]
    ordered = sorted(value for values, _ in known for value in values)
    if max(step for _, step in known) > STEP_SEEN * ordered[len(ordered) // 2]:
        ordered = sorted(_spread(known))
    return median(ordered)


def _spread(visits: Iterable[tuple[Sequence[float], float]]) -> Iterable[float]:
    """Samples of one class of the clock, evenly over the width of the class."""
    classes: dict[tuple[float, float], int] = {}
    for values, step in visits:
        for value in values:
            classes[step, value] = classes.get((step, value), 0) + 1
    for (step, value), count in classes.items():
        width = step if value > 0 else 0.0
        yield from (value - width / 2 + width * (place + 0.5) / count for place in range(count))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Of samples in order, interpolated."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def standardised(medians: Mapping[int, float], numbers: Sequence[int]) -> list[float]:
    logs = {number: math.log(value) for number, value in medians.items()}
    centre, spread = fmean(logs.values()), stdev(logs.values())
    if not spread:
        return []
    return [max(-2.0, min(2.0, (logs.get(n, centre) - centre) / spread)) for n in numbers]
