"""Trimmed means, which one odd launch in ten does not move: the statistic of every contrast.

Source: Yuen, The two-sample trimmed t for unequal population variances, Biometrika 61 (1974); which cut suits
how many launches was found by simulation: docs/method.md#comparison
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from mpigauge.analysis.percentiles import Values

CUT_FROM = 8
"""Of fewer launches none is cut: what is left would say little of their deviation."""

CUT_SHARE = 10
"""One of so many is cut at each end, one at least."""

LEVEL_SHARE = 3
"""A cut is made where the rarest outcome that it leaves is rarer than the level by this factor."""


class Trimmed(NamedTuple):
    """Trimmed means, of every row of an array.

    Attributes:
        mean: Of the values that are left.
        variance: Of one of these: the winsorised sum of squares over ``left - 1``. So ``variance / left`` is
            Yuen's squared standard error of the mean, with ``left - 1`` degrees of freedom.
        left: How many values are left.
    """

    mean: Values
    variance: Values
    left: int


def cut_of(count: int) -> int:
    """Return how many of so many values are cut at each end."""
    return 0 if count < CUT_FROM else max(1, count // CUT_SHARE)


def cut_of_pairs(count: int, level: float) -> int:
    """Return how many pairs are cut at each end where they are exchanged at a level.

    With ``k`` values cut, the ``2**k`` exchanges that turn over only the ``k`` smallest leave the statistic as
    it was, so that nothing is rarer than ``2**k`` in ``2**count``.
    """
    cut = cut_of(count)
    return cut if 2.0 ** (cut - count) < level / LEVEL_SHARE else 0


def trimmed(values: Values, cut: int) -> Trimmed:
    """Return the trimmed mean along the last axis.

    Args:
        values: Shape ``(..., count)`` without NaN; two values at least are left.
        cut: How many are cut at each end.
    """
    count = values.shape[-1]
    left = count - 2 * cut
    if cut == 0:
        return Trimmed(values.mean(axis=-1), values.var(axis=-1, ddof=1), count)
    ordered = np.sort(values, axis=-1)
    low, high = ordered[..., cut], ordered[..., -1 - cut]
    kept = ordered[..., cut:-cut]
    mean = kept.mean(axis=-1)
    # About the trimmed mean, so that squares of what is far from 0 do not swallow small differences.
    apart = kept - mean[..., None]
    ends = (low - mean, high - mean)
    shift = cut * (ends[0] + ends[1]) / count
    squares = (apart**2).sum(axis=-1) + cut * (ends[0] ** 2 + ends[1] ** 2) - count * shift**2
    return Trimmed(mean, np.maximum(squares, 0.0) / (left - 1), left)
