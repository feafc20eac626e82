"""Odd launches in contrasts: one in ten that is half as slow again must neither blind nor blame.

In pairs, a difference that is much farther from the median than three quarters of them are is odd. Means and
intervals have it pulled in to that limit; exchanges of sides leave it out. Yuen's trimmed t, which is used
where launches are not in pairs, was tried there, too: a cut forgives exchanges that turn over just what is
cut, so that with eight pairs nothing is rare enough any more, and a second odd pair of ten blinds it again.

Source: Huber, Robust Statistics (1981); Yuen, The two-sample trimmed t for unequal population variances,
Biometrika 61 (1974); limits were found by simulation: docs/method-comparison.md#odd-launches
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from mpigauge.stats.percentiles import Values

    Flags = npt.NDArray[np.bool_]

ODD = 3.5
"""Times the distance that three quarters keep: four standard deviations of what is normal."""

MIN_VALUES = 6
"""Values from which one can be odd."""

MAX_ODD_ONE_IN = 4
"""At most one in so many values is odd: more of them are another state of the machine, and no accident."""

LEVEL_SHARE = 3
"""Odd pairs are left out only while the rarest outcome of exchanges is this much rarer than the level."""

CUT_SHARE = 10
"""One in so many unpaired launches is cut at each end; none if there are fewer."""


def winsorised(values: Values) -> Values:
    """Return the values with odd ones pulled in to the limit, column by column.

    Args:
        values: Shape ``(launches,)`` or ``(launches, cells)``; NaN where there is none.
    """
    middle, reach = _limits(values)
    return np.asarray(np.clip(values, middle - reach, middle + reach))


def odd(values: Values, level: float) -> Flags:
    """Return which values are left out of exchanges at a level: odd ones, the farthest first.

    Only the distance from 0 decides, which no exchange of sides changes: the test stays exact.

    Args:
        values: Differences, shape ``(launches, cells)``; NaN where there is none.
        level: The error of the verdict.
    """
    sizes = np.abs(values)
    middle, reach = _limits(sizes)
    beyond = np.nan_to_num(np.abs(sizes - middle) - reach, nan=-np.inf)
    rank = np.argsort(np.argsort(-beyond, axis=0, kind="stable"), axis=0)
    most = np.array([odd_most(int(count), level) for count in np.isfinite(values).sum(axis=0)])
    return np.asarray((beyond > 0) & (rank < most))


def odd_most(count: int, level: float) -> int:
    """Return how many of `count` pairs may be left out of exchanges at an error level."""
    most = count // MAX_ODD_ONE_IN
    while most and 2.0 ** (most - count) >= level / LEVEL_SHARE:
        most -= 1
    return most


def _limits(values: Values) -> tuple[Values, Values]:
    """Return the median, and how far from it a value may be; infinite where too few values tell."""
    middle = median_of_known(values)
    count = np.isfinite(values).sum(axis=0)
    distances = np.sort(np.abs(values - middle), axis=0)
    place = np.maximum(count - count // MAX_ODD_ONE_IN - 1, 0)
    usual = np.take_along_axis(distances, np.expand_dims(place, 0), axis=0)[0]
    # Where they are equal, as of a coarse clock, any other one would be infinitely far away.
    return middle, np.where((count >= MIN_VALUES) & (usual > 0), ODD * usual, np.inf)


def median_of_known(values: Values) -> Values:
    """Return the median of each column without NaN, as `numpy.nanmedian`, which takes many times as long."""
    ordered = np.sort(values, axis=0)  # NaN last
    count = np.expand_dims((~np.isnan(values)).sum(axis=0), 0)
    places = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, len(values) - 1)
    low, high = (np.take_along_axis(ordered, place, axis=0)[0] for place in places)
    return np.asarray((low + high) / 2)


def trimmed(values: Values) -> tuple[float, float, int]:
    """Return the trimmed mean of one side, its squared standard error by Yuen, and how many are left.

    Args:
        values: Shape ``(launches,)``, two at least.
    """
    count = len(values)
    cut = count // CUT_SHARE
    ordered, left = np.sort(values), count - 2 * cut
    kept = np.clip(ordered, ordered[cut], ordered[-1 - cut])
    squares = float(((kept - kept.mean()) ** 2).sum())
    return float(ordered[cut : count - cut].mean()), squares / (left * (left - 1)), left
