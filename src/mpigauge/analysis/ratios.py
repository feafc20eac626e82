"""One time over another: paired where the same launches have both, else by how launches of each differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mpigauge.analysis.cache_levels import Ratio, paired_ratio
from mpigauge.analysis.percentiles import LEVEL
from mpigauge.analysis.samples import by_launch_number
from mpigauge.analysis.within_launch import summarise_launch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mpigauge.result.records import Visit

_LEAST = 2


def launch_times(visits: Iterable[Visit], stat: str = "median") -> dict[int, float]:
    """The statistic of each launch of one cell in seconds, by the launch's number."""
    launches = by_launch_number(visits)
    return {number: summarise_launch(mine, stat).median for number, mine in launches.items()}


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
