"""What is said of the rounds of one launch, which share its luck. All times are in seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.analysis.autocorrelation import correlation_time
from mpigauge.analysis.clock_steps import in_order, median_of
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
_LEAST_FOR_DRIFT = 32
_QUARTILES_OF_NORMAL = 1.349

WIDTH_OF_NORMAL = 3.92
"""Of a 95 % interval, in standard deviations."""

VARIANCE_OF_MEDIAN = math.pi / 2
"""Of many normal values, over that of their mean."""


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
        drift: ln of the median of the first quarter of the rounds over that of the last half; None under 32
            rounds.
        visit_variance: Variance of the logarithms of visit medians; NaN for a single visit or a median of 0.
        within_variance: Variance of log t of single rounds around the median of their visit, from quartiles;
            NaN if a median or a quartile is 0.
        visits: How many visits.
        correlated: Whether rounds depend so much on their neighbours that few independent ones remain.
    """

    count: int
    median: float
    low: float
    high: float
    tau: float
    effective: float
    round_variance: float
    drift: float | None
    visit_variance: float
    within_variance: float
    visits: int
    correlated: bool


def summarise_launch(
    visits: Sequence[Values], stat: str = "median", steps_s: Sequence[float] = ()
) -> LaunchSummary:
    """What is said of one launch.

    Args:
        visits: In time order, the times of each visit's rounds in seconds, shape ``(rounds,)``.
        stat: One of STATS.
        steps_s: Step of the clock in seconds of one operation, one a visit; none: a clock without steps.

    Raises:
        ValueError: If there is no round at all.

    Source:
        docs/method.md#enough-within-a-launch
    """
    steps_s = [step for visit, step in zip(visits, steps_s, strict=True) if visit.size] if steps_s else ()
    visits = [visit for visit in visits if visit.size]
    if not visits:
        raise ValueError("a launch without rounds")
    ordered = in_order(visits, steps_s)
    tau = correlation_time(visits)
    correlated = ordered.size >= _LEAST_FOR_CORRELATED and tau > _CORRELATED_SHARE * ordered.size
    low, high = _within_launch(ordered, stat, tau, visits if correlated else ())
    medians = _visit_medians(visits, steps_s)
    return LaunchSummary(
        count=ordered.size,
        median=_statistic(ordered, stat),
        low=low,
        high=high,
        tau=tau,
        effective=ordered.size / tau,
        round_variance=_round_variance(ordered, tau),
        drift=_drift(visits, steps_s),
        visit_variance=_visit_variance(medians),
        within_variance=_within_variance(visits, medians),
        visits=len(visits),
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
    return VARIANCE_OF_MEDIAN * _robust_variance(ordered) * tau


def _robust_variance(ordered: Values) -> float:
    """Of log t: that of the normal distribution with the same quartiles."""
    lower, upper = percentile(ordered, 25), percentile(ordered, 75)
    return (math.log(upper / lower) / _QUARTILES_OF_NORMAL) ** 2 if lower > 0 else math.nan


def _visit_medians(visits: Sequence[Values], steps_s: Sequence[float]) -> Values:
    steps = steps_s or [0.0] * len(visits)
    return np.array([median_of([visit], [step]) for visit, step in zip(visits, steps, strict=True)])


def _visit_variance(medians: Values) -> float:
    if medians.size == 1 or medians.min() <= 0:
        return math.nan
    return float(np.log(medians).var(ddof=1))


def _within_variance(visits: Sequence[Values], medians: Values) -> float:
    if medians.min() <= 0:
        return math.nan
    relative = [visit / median for visit, median in zip(visits, medians, strict=True)]
    return _robust_variance(np.sort(np.concatenate(relative)))


def _drift(visits: Sequence[Values], steps_s: Sequence[float]) -> float | None:
    """How much longer the first quarter of the rounds takes than the last half, as a logarithm.

    Source:
        docs/method.md#warm-up
    """
    rounds = np.concatenate(visits)
    if rounds.size < _LEAST_FOR_DRIFT:
        return None
    step = [max(steps_s)] if steps_s else []
    first, last = (
        median_of([part], step) for part in (rounds[: rounds.size // 4], rounds[rounds.size // 2 :])
    )
    return math.log(first / last) if min(first, last) > 0 else None
