"""One time over another: paired where the same launches have both, else by how launches of each differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mpigauge.analysis.estimate import launch_interval
from mpigauge.analysis.percentiles import LEVEL
from mpigauge.analysis.samples import by_launch_number
from mpigauge.analysis.within_launch import summarise_launch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.result.records import Visit

_LEAST = 2


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as long one thing takes as another.

    Attributes:
        estimate: Geometric mean of the ratios, one per launch; of unpaired launches the ratio of their means.
        low: Lower end of the 95 % t interval on their logarithms; None for one launch.
        high: Its upper end.
        launches: How many launches have both.
    """

    estimate: float
    low: float | None
    high: float | None
    launches: int


def launch_times(visits: Iterable[Visit], stat: str = "median") -> dict[int, float]:
    """The statistic of each launch of one cell in seconds, by the launch's number."""
    launches = by_launch_number(visits)
    return {number: summarise_launch(mine, stat).median for number, mine in launches.items()}


def paired_ratio(over: Mapping[int, float], under: Mapping[int, float]) -> Ratio | None:
    """How many times as long one thing takes as another in the same launches.

    What a launch does to both cancels, so this is narrower than the ratio of two intervals.

    Args:
        over: Launch number to launch median in seconds.
        under: The same of what it is compared with.

    Returns:
        None if no launch has both or a median of a launch that has both is not positive and finite.

    Source:
        docs/method.md#ratios
    """
    common = sorted(over.keys() & under.keys())
    pairs = [(over[launch], under[launch]) for launch in common]
    if not pairs or not all(0 < median < math.inf for pair in pairs for median in pair):
        return None
    ratios = np.array([numerator / denominator for numerator, denominator in pairs])
    centre, low, high, _ = launch_interval(ratios)
    return Ratio(centre, low, high, len(pairs))


def ratio_of(over: Mapping[int, float], under: Mapping[int, float], *, paired: bool) -> Ratio | None:
    """How many times as long one thing takes as another.

    Args:
        over: Launch number to the launch's time in seconds.
        under: The same of what it is compared with.
        paired: Launches of one number belong together: those of one campaign.

    Returns:
        None if a time is not positive or one of them has no launch.

    Source:
        docs/method.md#ratios; not paired, Welch's interval on the logarithms of the times of launches.
    """
    if paired and over.keys() & under.keys():
        return paired_ratio(over, under)
    times = [np.array(list(launches.values())) for launches in (over, under)]
    if not all(one.size and one.min() > 0 and one.max() < math.inf for one in times):
        return None
    logs = [np.log(one) for one in times]
    centre = math.exp(logs[0].mean() - logs[1].mean())
    count = min(one.size for one in times)
    if count < _LEAST:
        return Ratio(centre, None, None, count)
    shares = [float(one.var(ddof=1)) / one.size for one in logs]
    error = sum(shares)
    if error == 0:
        return Ratio(centre, centre, centre, count)
    freedom = error**2 / sum(share**2 / (one.size - 1) for share, one in zip(shares, logs, strict=True))
    growth = math.exp(float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * math.sqrt(error))
    return Ratio(centre, centre / growth, centre * growth, count)


def below_from(sizes_bytes: Sequence[int], ratios: Sequence[float], limit: float) -> int | None:
    """The smallest size from which on the ratio of every measured size is below the limit.

    Args:
        sizes_bytes: In any order; size 0 does not count.
        ratios: One for each size; NaN is not below.
        limit: What they are to be below.

    Returns:
        None if the largest size is not below the limit, or there is none.

    Raises:
        ValueError: If there are not as many ratios as sizes.
    """
    measured = [(size, ratio) for size, ratio in zip(sizes_bytes, ratios, strict=True) if size > 0]
    last_above = max((size for size, ratio in measured if not ratio < limit), default=0)
    return min((size for size, _ in measured if size > last_above), default=None)
