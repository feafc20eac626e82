"""The statistics of docs/method.md once more, from their formulas and with the standard library alone."""

from __future__ import annotations

import math
from functools import cache
from statistics import fmean, median, stdev, variance
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LEVEL = 0.95
MARGIN = 0.03
INSTRUMENT = 0.01
ODD = 3.5
STEP_SEEN = 0.002
PAIRED_SHARE = 0.8
ALIKE = 1.15


class Interval(NamedTuple):
    """A number with its 95 % interval; None of what cannot be said."""

    estimate: float
    low: Any = None
    high: Any = None
    launches: int = 0
    freedom: float = 0.0

    @property
    def half_width(self) -> float | None:
        """Relative: half the length of the interval of logarithms."""
        if not self.high or not self.low:
            return None
        return math.expm1((math.log(self.high) - math.log(self.low)) / 2)


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


def over_launches(
    values: Sequence[float],
    step: float = 0.0,
    *,
    machine: float = 0.0,
    instrument: float = 0.0,
    factor: float = 1.0,
) -> Interval:
    """The median with order statistics interpolated to 95 %; of 5 the range, of fewer Student's t.

    Args:
        machine: What other speeds of the cores do, as a logarithm.
        instrument: What it cannot promise, as a logarithm.
        factor: By which the part of the launches grows, up to a quarter of their range beyond them.
    """
    if len(values) == 1 or min(values) <= 0:
        return Interval(median(values), launches=len(values))
    logs = sorted(math.log(value) for value in values)
    centre, *sides = _sides(logs)
    beyond = (logs[-1] - logs[0]) / 4
    down, up = (
        math.exp(
            math.hypot(
                max(math.hypot(side, machine), min(factor * side, farthest + beyond)),
                reaching(instrument, step),
            )
        )
        for side, farthest in zip(sides, (centre - logs[0], logs[-1] - centre), strict=True)
    )
    return Interval(math.exp(centre), math.exp(centre) / down, math.exp(centre) * up, len(logs))


def _sides(ordered: Sequence[float]) -> tuple[float, float, float]:
    """Centre of at least two values, and how far its ends are."""
    count = len(ordered)
    if count < 5:
        half = student(count - 1) * stdev(ordered) / math.sqrt(count)
        return fmean(ordered), half, half
    centre = median(ordered)
    if count == 5:
        return centre, centre - ordered[0], ordered[-1] - centre
    place = max(d for d in range(1, count // 2 + 1) if _held(count, d) >= LEVEL)
    share = (_held(count, place) - LEVEL) / (_held(count, place) - _held(count, place + 1))
    share = (count - place) * share / (place + (count - 2 * place) * share)
    low = (1 - share) * ordered[place - 1] + share * ordered[place]
    high = (1 - share) * ordered[count - place] + share * ordered[count - place - 1]
    return centre, centre - low, high - centre


def _held(count: int, place: int) -> float:
    """How often the order statistics of this rank from both ends have the median between them."""
    return 1 - float(2 * sum(math.comb(count, k) for k in range(place))) / 2.0**count


def pulled_in(values: Sequence[float]) -> list[float]:
    """Values without what is farther from the median than 3.5 times the distance that three quarters keep."""
    middle, count = median(values), len(values)
    usual = sorted(abs(value - middle) for value in values)[count - count // 4 - 1]
    if count < 6 or usual == 0:
        return [*values]
    return [min(max(value, middle - ODD * usual), middle + ODD * usual) for value in values]


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


def ratio(
    over: Times, under: Times, *, paired: bool = True, alike: bool = False, least: int = 2
) -> Interval | None:
    """How many times as long; in pairs where four fifths of the larger side have both, else Welch's.

    Args:
        alike: Launches count only where the ranks of both were equally far apart.
        least: The pairs that are enough: five where many cells are compared at once.
    """
    first, second, together = sides(over, under, paired=paired, alike=alike, least=least)
    step = math.hypot(over.step, under.step)
    if together:
        return _in_pairs([first[n] / second[n] for n in sorted(first)], step)
    return _welch([*first.values()], [*second.values()], step)


def sides(
    over: Times, under: Times, *, paired: bool = True, alike: bool = False, least: int = 2
) -> tuple[dict[int, float], dict[int, float], bool]:
    """The launches that a ratio rests on, of either, and whether it is formed launch by launch."""
    common = over.by_launch.keys() & under.by_launch.keys()
    unlike = {number for number in common if alike and _unlike(over.apart, under.apart, number)}
    first, second = ({n: v for n, v in one.by_launch.items() if n not in unlike} for one in (over, under))
    common -= unlike | over.parts | under.parts
    if not paired or len(common) < max(least, PAIRED_SHARE * max(len(first), len(second))):
        return first, second, False
    return {n: first[n] for n in common}, {n: second[n] for n in common}, True


def _unlike(
    one: Mapping[int, tuple[str, float]], other: Mapping[int, tuple[str, float]], number: int
) -> bool:
    if {one.get(number, ("",))[0], other.get(number, ("",))[0]} != {"line"}:
        return False
    low, high = sorted((one[number][1], other[number][1]))
    return high >= ALIKE * low


def _in_pairs(ratios: Sequence[float], step: float) -> Interval | None:
    """The winsorised mean of logarithms, with Student's t."""
    if min(ratios) <= 0:
        return None
    logs = pulled_in([math.log(one) for one in ratios])
    count = len(logs)
    error = math.sqrt(variance(logs) / count + step * step / 12)
    return _grown(fmean(logs), error, count - 1, count)


def _grown(centre: float, error: float, freedom: float, launches: int) -> Interval:
    growth = math.exp(min(230.0, student(freedom) * error))
    return Interval(math.exp(centre), math.exp(centre) / growth, math.exp(centre) * growth, launches, freedom)


def _welch(over: Sequence[float], under: Sequence[float], step: float) -> Interval | None:
    if not over or not under or min(*over, *under) <= 0:
        return None
    first, second = ([math.log(value) for value in side] for side in (over, under))
    count = min(len(first), len(second))
    if count < 2:
        return Interval(math.exp(fmean(first) - fmean(second)), launches=count)
    cut = [_cut(side) for side in (first, second)]
    freedom = sum(part for _, part, _ in cut) ** 2 / sum(part**2 / (left - 1) for _, part, left in cut)
    error = math.sqrt(sum(part for _, part, _ in cut) + step * step / 12)
    return _grown(cut[0][0] - cut[1][0], error, freedom, count)


def _cut(side: Sequence[float]) -> tuple[float, float, int]:
    """The mean without a tenth at each end, its squared error, and how many are left."""
    ordered, cut = sorted(side), len(side) // 10
    left = len(side) - 2 * cut
    kept = [min(max(value, ordered[cut]), ordered[-1 - cut]) for value in ordered]
    squares = sum((value - fmean(kept)) ** 2 for value in kept)
    return fmean(ordered[cut : len(side) - cut]), squares / (left * (left - 1)), left


def difference(over: Times, under: Times, estimates: tuple[float, float], promised: float = 0.0) -> Any:
    """Seconds beyond, launch by launch.

    Args:
        estimates: Of both, for what the steps of the clock hide.
        promised: What the instrument is off by at best, over either time.
    """
    common = over.by_launch.keys() & under.by_launch.keys() - over.parts - under.parts
    if len(common) < 2:
        return None
    beyond = [over.by_launch[n] - under.by_launch[n] for n in sorted(common)]
    hidden = math.hypot(over.step * estimates[0], under.step * estimates[1])
    known = pulled_in(beyond)
    error = student(len(known) - 1) * stdev(known) / math.sqrt(len(known))
    half = reaching(math.hypot(error, promised * math.hypot(*estimates)), hidden)
    return Interval(fmean(known), fmean(known) - half, fmean(known) + half, len(known))


def verdict(one: Interval | None) -> str:
    """What a ratio that is judged alone says."""
    if one is None or one.low is None or one.high is None or one.launches < 5:
        return "undecided"
    centre, half = abs(math.log(one.estimate)), math.log(one.high / one.estimate)
    error, alone = half / student(one.freedom), student(one.freedom, 0.9)
    if centre > half and centre >= math.log1p(MARGIN) and centre - alone * error >= math.log1p(INSTRUMENT):
        return "slower" if one.estimate > 1 else "faster"
    return "no difference" if centre + alone * error <= math.log1p(MARGIN) else "undecided"


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
