"""What is said of one cell: a central time with an interval across launches, and what its samples look like.

All times are in seconds. A cell is a sequence of launches, a launch a sequence of visits in time order, a
visit an array of the times of its rounds. The launch is the unit of replication: rounds of one launch share
its luck, so intervals come from one number a launch, never from pooled rounds (method 1.10).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import special

from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Values = npt.NDArray[np.float64]

LEVEL = 0.95
PERCENTS = {"median": 50, "p5": 5, "p25": 25, "p75": 75, "p95": 95, "p99": 99}
STATS = ("median", "mean", "min", "p5", "p25", "p75", "p95", "p99", "max")
"""The statistics that can stand for a launch."""

_LEAST_BEYOND = 20
_LEAST_FOR_RANKS = 6
_LEAST_FOR_KINDS = 4
_LEAST_FOR_CORRELATED = 30
_CORRELATED_SHARE = 0.1
_BLOCK = 8
_LEAST_BLOCKS = 4
_FENCE = 1.5
_LEAST_SPREAD = 0.01
_WARMUP_SHARE = 0.25
_KINDS_GAP = 0.02
_KINDS_RATIO = 3.0
_QUARTILES_OF_NORMAL = 1.349
_WIDTH_OF_NORMAL = 3.92


@dataclass(frozen=True, slots=True)
class LaunchSummary:
    """What is said of the rounds of one launch; the interval says nothing about the next launch.

    Attributes:
        count: How many rounds.
        median: The statistic that stands for the launch, s: the median unless another was chosen.
        low: Lower end of its 95 % interval within this launch, s; NaN where there is none.
        high: Its upper end.
        tau: Integrated autocorrelation time in rounds, at least 1.
        effective: How many independent rounds these are worth.
        round_variance: Variance of log t that one round adds to a median: pi/2 * robust variance * tau; NaN
            if a quartile is 0.
        warmup_visible: How many leading rounds look like warm-up; none of them is dropped.
        steady: Whether that is at most a quarter of the launch.
        correlated: Whether rounds depend so much on their neighbours that few independent ones remain.
    """

    count: int
    median: float
    low: float
    high: float
    tau: float
    effective: float
    round_variance: float
    warmup_visible: int
    steady: bool
    correlated: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is said of one cell. Times in seconds; None is what cannot be said.

    Attributes:
        estimate: Geometric mean of the launch medians; their median if one of them is 0.
        low: Lower end of the 95 % t interval on their logarithms; None for one launch or a median of 0.
        high: Its upper end.
        rank_low: Lower end of the order-statistics interval of the launch medians; None under 6 launches.
        rank_high: Its upper end.
        half_width: Relative half-width of the t interval, ``high / estimate - 1``.
        launches: How many launches have rounds.
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
        launch_share: Share of the variance of launch medians that more rounds a launch cannot remove, 0 to 1.
        launch_variance: That variance, of log t.
        round_variance: Variance of log t that one round adds to a launch median; the middle over launches.
        kinds: Centres of two groups of launches, if they fall into two.
        launch_medians: The statistic of each launch, in the order of launches.
        tau: Largest integrated autocorrelation time of a launch, in rounds.
        correlated_launches: How many launches are strongly correlated.
        unsteady_launches: How many launches are not steady.
    """

    estimate: float
    low: float | None
    high: float | None
    rank_low: float | None
    rank_high: float | None
    half_width: float | None
    launches: int
    samples: int
    mean: float
    stddev: float | None
    min: float
    p5: float | None
    p25: float
    median: float
    p75: float
    p95: float | None
    p99: float | None
    max: float
    launch_share: float | None
    launch_variance: float | None
    round_variance: float | None
    kinds: tuple[float, float] | None
    launch_medians: tuple[float, ...]
    tau: float
    correlated_launches: int
    unsteady_launches: int


def estimate(launches: Sequence[Sequence[Values]], stat: str = "median") -> Estimate:
    """Everything that is said of one cell.

    Args:
        launches: For each launch its visits in time order, for each visit the times of its rounds in seconds,
            shape ``(rounds,)``; a launch or visit without rounds is passed over.
        stat: One of STATS; it takes the place of the median of a launch.

    Raises:
        ValueError: If there is no round at all.

    Source:
        Method 1.8 to 1.10; Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013.
    """
    measured = [launch for launch in map(_with_rounds, launches) if launch]
    if not measured:
        raise ValueError("a cell without rounds")
    summaries = [summarise_launch(visits, stat) for visits in measured]
    medians = np.array([summary.median for summary in summaries])
    ordered = np.sort(np.concatenate([visit for visits in measured for visit in visits]))
    centre, low, high, half_width = launch_interval(medians)
    rank_low, rank_high = median_interval(medians)
    launch_share, launch_variance = _launch_effect(medians, summaries)
    return Estimate(
        estimate=centre,
        low=low,
        high=high,
        rank_low=_or_none(rank_low),
        rank_high=_or_none(rank_high),
        half_width=half_width,
        launches=len(summaries),
        samples=ordered.size,
        mean=float(ordered.mean()),
        stddev=float(ordered.std(ddof=1)) if ordered.size > 1 else None,
        min=float(ordered[0]),
        p5=_supported_percentile(ordered, 5),
        p25=_percentile(ordered, 25),
        median=_percentile(ordered, 50),
        p75=_percentile(ordered, 75),
        p95=_supported_percentile(ordered, 95),
        p99=_supported_percentile(ordered, 99),
        max=float(ordered[-1]),
        launch_share=launch_share,
        launch_variance=launch_variance,
        round_variance=_or_none(float(np.median([summary.round_variance for summary in summaries]))),
        kinds=two_kinds(medians),
        launch_medians=tuple(medians.tolist()),
        tau=max(summary.tau for summary in summaries),
        correlated_launches=sum(summary.correlated for summary in summaries),
        unsteady_launches=sum(not summary.steady for summary in summaries),
    )


def summarise_launch(visits: Sequence[Values], stat: str = "median") -> LaunchSummary:
    """What is said of one launch.

    Args:
        visits: In time order, the times of each visit's rounds in seconds, shape ``(rounds,)``.
        stat: One of STATS.

    Raises:
        ValueError: If there is no round at all.

    Source:
        Method 1.7 and 1.9.
    """
    visits = _with_rounds(visits)
    if not visits:
        raise ValueError("a launch without rounds")
    rounds = np.concatenate(visits)
    ordered = np.sort(rounds)
    tau = _correlation_time(visits, ordered)
    correlated = ordered.size >= _LEAST_FOR_CORRELATED and tau > _CORRELATED_SHARE * ordered.size
    low, high = _within_launch(ordered, stat, tau, visits if correlated else ())
    warmup = _warmup_visible(rounds)
    return LaunchSummary(
        count=ordered.size,
        median=_statistic(ordered, stat),
        low=low,
        high=high,
        tau=tau,
        effective=ordered.size / tau,
        round_variance=_round_variance(ordered, tau),
        warmup_visible=warmup,
        steady=warmup <= _WARMUP_SHARE * ordered.size,
        correlated=correlated,
    )


def median_interval(values: Values, level: float = LEVEL, tau: float = 1.0) -> tuple[float, float]:
    """Confidence interval of the median by order statistics; no distribution assumed.

    Args:
        values: Shape ``(n,)``, in any unit, independent or with the autocorrelation time `tau`.
        level: The least probability with which it covers the median.
        tau: Above 1 the exact distance of both ranks from the middle is multiplied by ``sqrt(tau)``. That
            distance grows as ``sqrt(n)``, so this is what replaces ``sqrt(n)`` by ``sqrt(n * tau)``.

    Returns:
        Both ends in the unit of the values, or NaN twice where there are too few values: 5 at 95 %.

    Source:
        Method 1.9; Le Boudec, Performance Evaluation of Computer and Communication Systems, EPFL Press 2010;
        here exact for every n.
    """
    return _percentile_interval(np.sort(values), 50, level, tau)


def launch_interval(medians: Values) -> tuple[float, float | None, float | None, float | None]:
    """Centre, interval and relative half-width of a cell: Student's t on the logarithms of launch medians.

    Args:
        medians: One number a launch, shape ``(launches,)``, in seconds.

    Returns:
        Geometric mean, low, high in seconds and ``high / centre - 1``. For one launch the last three are
        None. A median of 0 (the clock stood still) has no logarithm: then the median of the medians, and None
        thrice.

    Source:
        Method 1.10.
    """
    count = medians.size
    if count == 1 or medians.min() <= 0:
        return float(np.median(medians)), None, None, None
    # Relative to the first, so that equal launches differ by exactly 0.
    logs = np.log(medians / medians[0])
    centre = float(medians[0]) * math.exp(logs.mean())
    distance = _student(count - 1) * float(logs.std(ddof=1)) / math.sqrt(count)
    growth = math.exp(distance)
    return centre, centre / growth, centre * growth, growth - 1.0


def two_kinds(medians: Values) -> tuple[float, float] | None:
    """Centres of the two groups that launches fall into, or None if they do not.

    The largest gap between neighbouring logarithms must exceed 2 % and three times the median gap, with at
    least two launches on each side.

    Args:
        medians: One number a launch, shape ``(launches,)``, in seconds.

    Returns:
        Both geometric means in seconds; None also under 4 launches or if a median is 0.

    Source:
        Method 1.10.
    """
    if medians.size < _LEAST_FOR_KINDS or medians.min() <= 0:
        return None
    logs = np.sort(np.log(medians))
    gaps = np.diff(logs)
    split = int(gaps.argmax()) + 1
    too_small = gaps[split - 1] <= max(math.log1p(_KINDS_GAP), _KINDS_RATIO * float(np.median(gaps)))
    if too_small or min(split, logs.size - split) < 2:  # noqa: PLR2004 - one launch is not a kind
        return None
    return math.exp(logs[:split].mean()), math.exp(logs[split:].mean())


def rounds_per_launch_advice(
    seconds_per_launch: float, seconds_per_round: float, round_variance: float, launch_variance: float
) -> int | None:
    """How many rounds a launch give the narrowest interval in a given time.

    Args:
        seconds_per_launch: What a launch costs before its first round.
        seconds_per_round: What a round costs.
        round_variance: `Estimate.round_variance`.
        launch_variance: `Estimate.launch_variance`.

    Returns:
        At least 1; None if launches do not differ (then one launch with many rounds is as good) or a cost is
        not positive.

    Source:
        Method 1.11; Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013.
    """
    if min(seconds_per_launch, seconds_per_round, launch_variance) <= 0:
        return None
    ratio = seconds_per_launch / seconds_per_round * round_variance / launch_variance
    return max(1, math.ceil(math.sqrt(ratio))) if math.isfinite(ratio) else None


def correlation_time(visits: Sequence[Values]) -> float:
    """Integrated autocorrelation time of u = log t, clipped to [p1, p99]: how many rounds are worth one.

    Products are formed inside visits only, around the mean of the whole launch, and divided by the count of
    all rounds: so a visit that is slow as a whole counts as correlation, rounds of two visits as independent.

    Args:
        visits: The times of each visit's rounds in seconds, shape ``(rounds,)``. A time of 0 counts as the
            smallest one above 0.

    Returns:
        In rounds, at least 1; 1 if all times are alike or there are none.

    Source:
        Method 1.9; initial positive sequence: Geyer, Practical Markov Chain Monte Carlo, Statistical Science
        7(4) 1992.
    """
    visits = _with_rounds(visits)
    return _correlation_time(visits, np.sort(np.concatenate(visits))) if visits else 1.0


def _with_rounds(visits: Sequence[Values]) -> list[Values]:
    return [visit for visit in visits if visit.size]


def _correlation_time(visits: Sequence[Values], ordered: Values) -> float:
    low, high = max(_percentile(ordered, 1), _smallest_positive(ordered)), _percentile(ordered, 99)
    if high <= low:
        return 1.0
    mean = np.log(ordered.clip(low, high)).mean()
    products = np.zeros(max(visit.size for visit in visits))
    for stack in _stacks_of_equal_length(visits):
        products[: stack.shape[1]] += _lag_products(np.log(stack.clip(low, high)) - mean)
    return max(1.0, _positive_sequence(products / products[0]))


def _smallest_positive(ordered: Values) -> float:
    zeros = int(np.searchsorted(ordered, 0.0, side="right"))
    return float(ordered[zeros]) if zeros < ordered.size else math.inf


def _stacks_of_equal_length(visits: Sequence[Values]) -> Iterator[Values]:
    for length in {visit.size for visit in visits}:
        yield np.stack([visit for visit in visits if visit.size == length])


def _lag_products(stack: Values) -> Values:
    """Sum over visits of x_i x_(i+j) for every lag j; shape ``(visits, rounds)`` to ``(rounds,)``, by FFT."""
    length = stack.shape[1]
    padded = 1 << (2 * length - 1).bit_length()
    spectrum = np.fft.rfft(stack, padded, axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).sum(axis=0)
    products: Values = np.fft.irfft(power, padded)[:length]
    return products


def _positive_sequence(correlations: Values) -> float:
    """1 + 2 * sum of r_j for j > 0, up to the first pair r_2j + r_(2j+1) that is not positive."""
    padded = np.append(correlations, 0.0) if correlations.size % 2 else correlations
    pairs = padded[0::2] + padded[1::2]
    ends = np.flatnonzero(pairs <= 0)
    return 2.0 * float(pairs[: ends[0] if ends.size else None].sum()) - 1.0


def _warmup_visible(rounds: Values) -> int:
    """How many rounds end with the last block of 8 whose median leaves Tukey's fences of the last half.

    Quartiles are those of the rounds of the last half; an interquartile range under 1 % of the median counts
    as 1 %, because a coarse clock makes it 0.

    Returns:
        A count of rounds, all of them if the last block is outside; 0 under 32 rounds, too few to tell.

    Source:
        Method 1.7.
    """
    blocks = rounds.size // _BLOCK
    if blocks < _LEAST_BLOCKS:
        return 0
    last_half = np.sort(rounds[rounds.size // 2 :])
    lower, middle, upper = (_percentile(last_half, percent) for percent in (25, 50, 75))
    fence = _FENCE * max(upper - lower, _LEAST_SPREAD * middle)
    in_order = np.sort(rounds[: blocks * _BLOCK].reshape(blocks, _BLOCK), axis=1)
    medians = in_order[:, _BLOCK // 2 - 1 : _BLOCK // 2 + 1].mean(axis=1)
    outside = np.flatnonzero((medians < lower - fence) | (medians > upper + fence))
    return _BLOCK * (int(outside[-1]) + 1) if outside.size else 0


def _statistic(ordered: Values, stat: str) -> float:
    if stat in PERCENTS:
        return _percentile(ordered, PERCENTS[stat])
    if stat == "mean":
        return float(ordered.mean())
    if stat in {"min", "max"}:
        return float(ordered[0 if stat == "min" else -1])
    raise UsageError(f"no statistic is called {stat!r}", f"choose from {', '.join(STATS)}")


def _percentile(ordered: Values, percent: int) -> float:
    """Percentile of sorted values with linear interpolation, as `numpy.percentile` but without its cost."""
    whole, rest = divmod(percent * (ordered.size - 1), 100)
    lower, upper = float(ordered[whole]), float(ordered[min(whole + 1, ordered.size - 1)])
    return lower + (upper - lower) * (rest / 100)


def enough_for_percentile(count: int, percent: int) -> bool:
    """Whether at least 20 of so many values are expected beyond this percentile, on its thinner side.

    Source:
        Method 1.8.
    """
    return count * min(percent, 100 - percent) >= 100 * _LEAST_BEYOND


def _supported_percentile(ordered: Values, percent: int) -> float | None:
    return _percentile(ordered, percent) if enough_for_percentile(ordered.size, percent) else None


def _within_launch(
    ordered: Values, stat: str, tau: float, dependent_visits: Sequence[Values]
) -> tuple[float, float]:
    """95 % interval of a launch's statistic; NaN twice if there is none, as always for smallest and largest.

    Strongly correlated rounds are not to be counted: if they come in 6 visits or more, the interval of their
    median is that of the visit medians.
    """
    if stat == "median" and len(dependent_visits) >= _LEAST_FOR_RANKS:
        return median_interval(np.array([np.median(visit) for visit in dependent_visits]))
    if stat in PERCENTS:
        return _percentile_interval(ordered, PERCENTS[stat], LEVEL, tau)
    if stat == "mean" and ordered.size > 1:
        mean, error = float(ordered.mean()), float(ordered.std(ddof=1)) * math.sqrt(tau / ordered.size)
        return mean - _WIDTH_OF_NORMAL / 2 * error, mean + _WIDTH_OF_NORMAL / 2 * error
    return math.nan, math.nan


def _percentile_interval(ordered: Values, percent: int, level: float, tau: float) -> tuple[float, float]:
    count = ordered.size
    low = _low_rank(count, percent, level, tau)
    # The high rank of p is the low rank of 1 - p, counted from the other end.
    high = count + 1 - _low_rank(count, 100 - percent, level, tau)
    if low < 1 or high > count:
        return math.nan, math.nan
    return float(ordered[low - 1]), float(ordered[high - 1])


def _low_rank(count: int, percent: int, level: float, tau: float) -> int:
    """The rank k, from 1, of the lower end; below 1 if there is none."""
    rank = _exact_low_rank(count, percent, level)
    if tau <= 1:
        return rank
    middle = (count + 1) * percent / 100
    return math.floor(middle - (middle - rank) * math.sqrt(tau))


@lru_cache(maxsize=4096)
def _exact_low_rank(count: int, percent: int, level: float) -> int:
    """Largest k with ``P(Bin(count, p) <= k - 1) <= (1 - level) / 2``; 0 if there is none.

    The binomial sum is an incomplete beta function, so nothing overflows; the normal approximation only says
    where to begin looking.
    """
    p, tail = percent / 100, (1 - level) / 2
    deviation = math.sqrt(count * p * (1 - p))
    rank = max(0, math.floor(count * p + float(special.ndtri(tail)) * deviation))
    while rank > 0 and special.bdtr(rank - 1, count, p) > tail:
        rank -= 1
    while rank < count and special.bdtr(rank, count, p) <= tail:
        rank += 1
    return rank


def _round_variance(ordered: Values, tau: float) -> float:
    lower, upper = _percentile(ordered, 25), _percentile(ordered, 75)
    if lower <= 0:
        return math.nan
    deviation = math.log(upper / lower) / _QUARTILES_OF_NORMAL
    return math.pi / 2 * deviation**2 * tau


def _launch_effect(medians: Values, summaries: Sequence[LaunchSummary]) -> tuple[float | None, float | None]:
    """Share and variance (of log t) of what differs between launches beyond the noise of their rounds.

    Returns:
        None twice for one launch, for launches without an interval of their own, or for a time of 0; only the
        share is None if all launch medians are equal.

    Source:
        Method 1.10.
    """
    lows = np.array([summary.low for summary in summaries])
    highs = np.array([summary.high for summary in summaries])
    if medians.size == 1 or medians.min() <= 0 or not np.all(lows > 0):
        return None, None
    variance = float(np.log(medians / medians[0]).var(ddof=1))
    from_rounds = float(np.mean((np.log(highs / lows) / _WIDTH_OF_NORMAL) ** 2))
    beyond = max(0.0, variance - from_rounds)
    return (beyond / variance if variance > 0 else None), beyond


@lru_cache(maxsize=256)
def _student(freedom: int) -> float:
    return float(special.stdtrit(freedom, (1 + LEVEL) / 2))


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
