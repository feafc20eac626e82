"""Odd launches in contrasts: one in ten that is half as slow again must neither blind nor blame.

A value that is farther from the median of its cell than four robust standard deviations is odd. Means and
intervals have it pulled in to that distance; exchanges of sides leave it out. Yuen's trimmed t was tried and
given up: cutting a fixed share forgives exchanges that turn over just what is cut, so that with eight pairs
nothing is rare enough any more, and a second odd launch of ten blinds it again.

Source: Huber, Robust Statistics (1981); the limit was found by simulation: docs/method.md#comparison
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from mpigauge.analysis.percentiles import Values

    Flags = npt.NDArray[np.bool_]

ODD = 4.0
"""Robust standard deviations from the median: of ten normal launches, one is as far in one cell of fifty."""

VALUES_LEAST = 6
"""Of fewer nobody can tell which one is odd."""

SHARE_MOST = 4
"""One of so many values may be left out."""

LEVEL_SHARE = 3
"""So many are left out at most that the rarest outcome of the exchanges is rarer by this than their level."""

_MAD_OF_NORMAL = 1.4826


def pulled_in(values: Values, least: int = VALUES_LEAST) -> Values:
    """Return the values with odd ones pulled in to the limit, column by column.

    Args:
        values: Shape ``(launches,)`` or ``(launches, cells)``; NaN where there is none.
        least: Of fewer values none is odd.
    """
    middle, reach = _limits(values, least)
    return np.asarray(np.clip(values, middle - reach, middle + reach))


def odd(values: Values, level: float) -> Flags:
    """Return which values are left out of exchanges at a level: odd ones, the farthest first.

    Only the distance from 0 tells, which no exchange of sides changes: the test stays exact.

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
    """Return how many of so many pairs may be left out where they are exchanged at a level."""
    most = count // SHARE_MOST
    while most and 2.0 ** (most - count) >= level / LEVEL_SHARE:
        most -= 1
    return most


def _limits(values: Values, least: int = VALUES_LEAST) -> tuple[Values, Values]:
    """Median, and how far a value may be from it; infinitely where nobody can tell."""
    middle = np.nanmedian(values, axis=0)
    spread = _MAD_OF_NORMAL * np.nanmedian(np.abs(values - middle), axis=0)
    # Where most launches are equal, as of a coarse clock, any other one would be infinitely far away.
    known = (np.isfinite(values).sum(axis=0) >= least) & (spread > 0)
    return middle, np.where(known, ODD * spread, np.inf)
