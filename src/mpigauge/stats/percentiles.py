"""Percentiles of sorted values, and their intervals by order statistics: no distribution is assumed."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import special

Values = npt.NDArray[np.float64]
LEVEL = 0.95
PERCENTS = {"median": 50, "p5": 5, "p25": 25, "p75": 75, "p95": 95, "p99": 99}
_MIN_BEYOND = 20


def median_interval(values: Values, level: float = LEVEL, tau: float = 1.0) -> tuple[float, float]:
    """Return the confidence interval of the median by order statistics; no distribution is assumed.

    Args:
        values: Shape ``(n,)``, in any unit, independent or with the autocorrelation time `tau`.
        level: The least probability with which it covers the median.
        tau: Above 1 the exact distance of both ranks from the middle is multiplied by ``sqrt(tau)``. That
            distance grows as ``sqrt(n)``, so this is what replaces ``sqrt(n)`` by ``sqrt(n * tau)``.

    Returns:
        Both ends in the unit of the values, or NaN twice where there are too few values: 5 at 95 %.

    Source:
        docs/method.md#launches; Le Boudec, Performance Evaluation of Computer and Communication Systems,
        EPFL Press 2010; here exact for every n.
    """
    return percentile_interval(np.sort(values), 50, level, tau)


def percentile_interval(ordered: Values, percent: int, level: float, tau: float) -> tuple[float, float]:
    """Return the confidence interval of a percentile of sorted values, as `median_interval` does."""
    count = ordered.size
    low = _low_rank(count, percent, level, tau)
    # The high rank of p is the low rank of 1 - p, counted from the other end.
    high = count + 1 - _low_rank(count, 100 - percent, level, tau)
    if low < 1 or high > count:
        return math.nan, math.nan
    return float(ordered[low - 1]), float(ordered[high - 1])


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


def _low_rank(count: int, percent: int, level: float, tau: float) -> int:
    """Return the rank k, from 1, of the lower end; below 1 if there is none."""
    rank = _exact_low_rank(count, percent, level)
    if tau <= 1:
        return rank
    middle = (count + 1) * percent / 100
    return math.floor(middle - (middle - rank) * math.sqrt(tau))


@lru_cache(maxsize=4096)
def _exact_low_rank(count: int, percent: int, level: float) -> int:
    """Return the largest k with ``P(Bin(count, p) <= k - 1) <= (1 - level) / 2``; 0 if there is none.

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


def deviation_of(values: Values) -> float:
    """Return the standard deviation of two values or more, computed in place: `values` is overwritten."""
    values -= values.mean()
    np.square(values, out=values)
    return math.sqrt(float(values.sum()) / (values.size - 1))
