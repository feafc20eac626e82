"""Percentiles of sorted values, and their intervals by order statistics: no distribution is assumed."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from mpigauge.stats import special

Values = npt.NDArray[np.float64]
LEVEL = 0.95
PERCENTS = {"median": 50, "p5": 5, "p25": 25, "p75": 75, "p95": 95, "p99": 99}
_MIN_BEYOND = 20


def median_interval(values: Values, level: float = LEVEL) -> tuple[float, float]:
    """Confidence interval of the median by order statistics; no distribution assumed.

    Args:
        values: Shape ``(n,)``, in any unit, independent.
        level: The least probability with which it covers the median.

    Returns:
        Both ends in the unit of the values, or NaN twice where there are too few values: 5 at 95 %.

    Source:
        docs/method-launches.md#launches; Le Boudec, Performance Evaluation of Computer and
        Communication Systems, EPFL Press 2010; here exact for every n.
    """
    rank = _low_rank(values.size, level)
    if rank < 1:
        return math.nan, math.nan
    ordered = np.sort(values)
    return float(ordered[rank - 1]), float(ordered[-rank])


def percentile(ordered: Values, percent: int) -> float:
    """Return a percentile with linear interpolation: `numpy.percentile` of sorted values, but faster."""
    whole, rest = divmod(percent * (ordered.size - 1), 100)
    lower, upper = float(ordered[whole]), float(ordered[min(whole + 1, ordered.size - 1)])
    return lower + (upper - lower) * (rest / 100)


def median_of_few(values: Values) -> float:
    """Return the median: faster than `numpy.median` for few values; none may be NaN."""
    ordered = np.sort(values)
    return float(ordered[(ordered.size - 1) // 2] + ordered[ordered.size // 2]) / 2


def enough_for_percentile(count: int, percent: int) -> bool:
    """Return whether 20 or more of `count` values are expected beyond a percentile, on its thinner side.

    Source:
        docs/numbers.md#columns-of-the-table
    """
    return count * min(percent, 100 - percent) >= 100 * _MIN_BEYOND


def supported_percentile(ordered: Values, percent: int) -> float | None:
    """Return a percentile of sorted values; None where too few values are expected beyond it."""
    return percentile(ordered, percent) if enough_for_percentile(ordered.size, percent) else None


@lru_cache(maxsize=4096)
def _low_rank(count: int, level: float) -> int:
    """Largest k with ``P(Bin(count, 1/2) <= k - 1) <= (1 - level) / 2``; 0 if there is none.

    The binomial sum is an incomplete beta function, so nothing overflows; the normal approximation only says
    where to begin looking.
    """
    tail = (1 - level) / 2
    rank = max(0, math.floor(count / 2 + float(special.ndtri(tail)) * math.sqrt(count) / 2))
    while rank > 0 and special.bdtr(rank - 1, count, 0.5) > tail:
        rank -= 1
    while rank < count and special.bdtr(rank, count, 0.5) <= tail:
        rank += 1
    return rank


def deviation_of(values: Values) -> float:
    """Return the standard deviation of two values or more, computed in place: `values` is overwritten."""
    values -= values.mean()
    np.square(values, out=values)
    return math.sqrt(float(values.sum()) / (values.size - 1))
