"""What is said of the rounds of one launch, which share its luck. All times are in seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.analysis.autocorrelation import correlation_time, with_rounds
from mpigauge.analysis.percentiles import (
    LEVEL,
    PERCENTS,
    Values,
    median_interval,
    percentile,
    percentile_interval,
)
from mpigauge.errors import UsageError
from mpigauge.vocabulary import ENDS, STATS

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAST_FOR_RANKS = 6
_LEAST_FOR_CORRELATED = 30
_CORRELATED_SHARE = 0.1
_BLOCK = 8
_LEAST_BLOCKS = 4
_FENCE = 1.5
_LEAST_SPREAD = 0.01
_WARMUP_SHARE = 0.25
_QUARTILES_OF_NORMAL = 1.349

WIDTH_OF_NORMAL = 3.92
"""Of a 95 % interval, in standard deviations."""


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


def summarise_launch(visits: Sequence[Values], stat: str = "median") -> LaunchSummary:
    """What is said of one launch.

    Args:
        visits: In time order, the times of each visit's rounds in seconds, shape ``(rounds,)``.
        stat: One of STATS.

    Raises:
        ValueError: If there is no round at all.

    Source:
        docs/method.md#enough-within-a-launch
    """
    visits = with_rounds(visits)
    if not visits:
        raise ValueError("a launch without rounds")
    rounds = np.concatenate(visits)
    ordered = np.sort(rounds)
    tau = correlation_time(visits)
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


def _statistic(ordered: Values, stat: str) -> float:
    if stat in PERCENTS:
        return percentile(ordered, PERCENTS[stat])
    if stat == "mean":
        return float(ordered.mean())
    if stat in ENDS:
        return float(ordered[0 if stat == "min" else -1])
    raise UsageError(f"no statistic is called {stat!r}", f"choose from {', '.join(STATS)}")


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
        return percentile_interval(ordered, PERCENTS[stat], LEVEL, tau)
    if stat == "mean" and ordered.size > 1:
        mean, error = float(ordered.mean()), float(ordered.std(ddof=1)) * math.sqrt(tau / ordered.size)
        return mean - WIDTH_OF_NORMAL / 2 * error, mean + WIDTH_OF_NORMAL / 2 * error
    return math.nan, math.nan


def _round_variance(ordered: Values, tau: float) -> float:
    lower, upper = percentile(ordered, 25), percentile(ordered, 75)
    if lower <= 0:
        return math.nan
    deviation = math.log(upper / lower) / _QUARTILES_OF_NORMAL
    return math.pi / 2 * deviation**2 * tau


def _warmup_visible(rounds: Values) -> int:
    """How many rounds end with the last block of 8 whose median leaves Tukey's fences of the last half.

    Quartiles are those of the rounds of the last half; an interquartile range under 1 % of the median counts
    as 1 %, because a coarse clock makes it 0.

    Returns:
        A count of rounds, all of them if the last block is outside; 0 under 32 rounds, too few to tell.

    Source:
        docs/method.md#warm-up
    """
    blocks = rounds.size // _BLOCK
    if blocks < _LEAST_BLOCKS:
        return 0
    last_half = np.sort(rounds[rounds.size // 2 :])
    lower, middle, upper = (percentile(last_half, percent) for percent in (25, 50, 75))
    fence = _FENCE * max(upper - lower, _LEAST_SPREAD * middle)
    in_order = np.sort(rounds[: blocks * _BLOCK].reshape(blocks, _BLOCK), axis=1)
    medians = in_order[:, _BLOCK // 2 - 1 : _BLOCK // 2 + 1].mean(axis=1)
    outside = np.flatnonzero((medians < lower - fence) | (medians > upper + fence))
    return _BLOCK * (int(outside[-1]) + 1) if outside.size else 0
