"""What is said of one launch, visit by visit and lag by lag: the same must be said of many at once."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.clock_resolution import VISIBLE
from mpigauge.stats.percentiles import PERCENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.percentiles import Values


def said_of(visits: Sequence[Values], stat: str, steps_s: Sequence[float]) -> dict[str, float]:
    """The fields of a `LaunchSummary`, NaN for None, of the times of rounds and the step of each visit."""
    rounds = np.concatenate(visits)
    ordered = in_order(visits, steps_s)
    tau = correlation_time(visits)
    medians = np.array([_middle([visit], [step]) for visit, step in zip(visits, steps_s, strict=True)])
    apart = (
        [visit / median for visit, median in zip(visits, medians, strict=True)] if medians.min() > 0 else []
    )
    return {
        "count": rounds.size,
        "median": _statistic(ordered, stat),
        "round_variance": math.pi / 2 * _robust_variance(ordered) * tau,
        "drift": _drift(rounds, max(steps_s)),
        "visit_variance": _visit_variance(medians),
        "within_variance": _robust_variance(np.concatenate(apart)) if apart else math.nan,
        "visits": len(visits),
    }


def in_order(visits: Sequence[Values], steps_s: Sequence[float]) -> Values:
    """Rounds in order; those of one class of a coarse clock lie evenly in it."""
    rounds = np.sort(np.concatenate(visits))
    if max(steps_s) <= VISIBLE * rounds[rounds.size // 2]:
        return rounds
    classes: dict[tuple[float, float], int] = defaultdict(int)
    for visit, step in zip(visits, steps_s, strict=True):
        for time in visit.tolist():
            classes[time, step if time > 0 else 0.0] += 1
    spread = [
        time + step * ((2 * rank + 1) / count - 1) / 2
        for (time, step), count in classes.items()
        for rank in range(count)
    ]
    return np.sort(spread)


def correlation_time(visits: Sequence[Values]) -> float:
    """1 + 2 * sum of r_j, the products formed one after the other."""
    rounds = np.concatenate(visits)
    if not (rounds > 0).any():
        return 1.0
    low, high = (
        max(float(np.percentile(rounds, 1)), float(rounds[rounds > 0].min())),
        np.percentile(rounds, 99),
    )
    if high <= low or math.log(high) <= math.log(low):
        return 1.0
    logs = [np.log(visit.clip(low, high)) for visit in visits]
    mean = np.concatenate(logs).mean()
    lags = max(visit.size for visit in visits)
    products = [
        sum(float((log[lag:] - mean) @ (log[: log.size - lag] - mean)) for log in logs if lag < log.size)
        for lag in range(lags)
    ]
    tau = -1.0
    for first in range(0, lags, 2):
        pair = sum(products[first : first + 2]) / products[0]
        if pair <= 0:
            break
        tau += 2 * pair
    return max(1.0, tau)


def _statistic(ordered: Values, stat: str) -> float:
    if stat in PERCENTS:
        return float(np.percentile(ordered, PERCENTS[stat]))
    return float({"mean": ordered.mean(), "min": ordered[0], "max": ordered[-1]}[stat])


def _middle(visits: Sequence[Values], steps_s: Sequence[float]) -> float:
    return float(np.median(in_order(visits, steps_s)))


def _robust_variance(values: Values) -> float:
    lower, upper = np.percentile(values, (25, 75))
    return float((math.log(upper / lower) / 1.349) ** 2) if lower > 0 else math.nan


def _visit_variance(medians: Values) -> float:
    return float(np.log(medians).var(ddof=1)) if medians.size > 1 and medians.min() > 0 else math.nan


def _drift(rounds: Values, step_s: float) -> float:
    if rounds.size < 32:
        return math.nan
    parts = rounds[: rounds.size // 4], rounds[rounds.size // 2 :]
    first, last = (_middle([part], [step_s]) for part in parts)
    return math.log(first / last) if min(first, last) > 0 else math.nan
