"""What is said of one cell: a central time with an interval across launches, and what its samples look like.

All times are in seconds. A cell is a sequence of launches, a launch a sequence of visits in time order, a
visit an array of the times of its rounds. The launch is the unit of replication: rounds of one launch share
its luck, so intervals come from one number a launch, never from pooled rounds (docs/method.md#launches).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mpigauge.analysis.autocorrelation import with_rounds
from mpigauge.analysis.percentiles import LEVEL, Values, median_interval, percentile, supported_percentile
from mpigauge.analysis.within_launch import WIDTH_OF_NORMAL, LaunchSummary, summarise_launch

if TYPE_CHECKING:
    from collections.abc import Sequence


_LEAST_FOR_KINDS = 4
_KINDS_GAP = 0.02
_KINDS_RATIO = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The time of an operation and what is known of its samples, in seconds; None is what cannot be said.

    Attributes:
        estimate: The number itself.
        low: Lower end of its 95 % interval.
        high: Its upper end.
        rank_low: Lower end of the order-statistics interval of the launch medians; None under 6 launches.
        rank_high: Its upper end.
        half_width: Relative half-width of the interval, ``high / estimate - 1``.
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
        launch_share: Share of the variance of launch medians that more rounds cannot remove, 0 to 1.
    """

    estimate: float
    low: float | None = None
    high: float | None = None
    rank_low: float | None = None
    rank_high: float | None = None
    half_width: float | None = None
    launches: int = 0
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed(Timing):
    """A time that others have published: a number, perhaps a mean and a deviation, but no samples.

    Attributes:
        statistic: What it is of their samples; empty if they do not say.
    """

    statistic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Timing):
    """A time that was measured.

    Attributes:
        estimate: Geometric mean of the launch medians; their median if one of them is 0.
        low: Lower end of the 95 % t interval on their logarithms; None for one launch or a median of 0.
        launch_variance: The variance that `launch_share` is a share of, of log t.
        round_variance: Variance of log t that one round adds to a launch median; the middle over launches.
        kinds: Centres of two groups of launches, if they fall into two.
        launch_medians: The statistic of each launch, in the order of launches.
        tau: Largest integrated autocorrelation time of a launch, in rounds.
        correlated_launches: How many launches are strongly correlated.
        unsteady_launches: How many launches are not steady.
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
        docs/method.md#launches; Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013.
    """
    measured = [launch for launch in map(with_rounds, launches) if launch]
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
        p5=supported_percentile(ordered, 5),
        p25=percentile(ordered, 25),
        median=percentile(ordered, 50),
        p75=percentile(ordered, 75),
        p95=supported_percentile(ordered, 95),
        p99=supported_percentile(ordered, 99),
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


def launch_interval(medians: Values) -> tuple[float, float | None, float | None, float | None]:
    """Centre, interval and relative half-width of a cell: Student's t on the logarithms of launch medians.

    Args:
        medians: One number a launch, shape ``(launches,)``, in seconds.

    Returns:
        Geometric mean, low, high in seconds and ``high / centre - 1``. For one launch the last three are
        None. A median of 0 (the clock stood still) has no logarithm: then the median of the medians, and None
        thrice.

    Source:
        docs/method.md#launches
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
        docs/method.md#launches
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
        docs/method.md#samples-or-launches; Kalibera and Jones, Rigorous Benchmarking in Reasonable Time,
        ISMM 2013.
    """
    if min(seconds_per_launch, seconds_per_round, launch_variance) <= 0:
        return None
    ratio = seconds_per_launch / seconds_per_round * round_variance / launch_variance
    return max(1, math.ceil(math.sqrt(ratio))) if math.isfinite(ratio) else None


def _launch_effect(medians: Values, summaries: Sequence[LaunchSummary]) -> tuple[float | None, float | None]:
    """Share and variance (of log t) of what differs between launches beyond the noise of their rounds.

    Returns:
        None twice for one launch, for launches without an interval of their own, or for a time of 0; only the
        share is None if all launch medians are equal.

    Source:
        docs/method.md#samples-or-launches
    """
    lows = np.array([summary.low for summary in summaries])
    highs = np.array([summary.high for summary in summaries])
    if medians.size == 1 or medians.min() <= 0 or not np.all(lows > 0):
        return None, None
    variance = float(np.log(medians / medians[0]).var(ddof=1))
    from_rounds = float(np.mean((np.log(highs / lows) / WIDTH_OF_NORMAL) ** 2))
    beyond = max(0.0, variance - from_rounds)
    return (beyond / variance if variance > 0 else None), beyond


@lru_cache(maxsize=256)
def _student(freedom: int) -> float:
    return float(special.stdtrit(freedom, (1 + LEVEL) / 2))


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
