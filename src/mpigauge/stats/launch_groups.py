"""Launches that are not like the others: single ones far away, or two kinds of them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.percentiles import median_of_few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.percentiles import Values

MIN_DIFFERENCE = 0.05
"""A launch that differs by less is not worth a word."""

KINDS_APART = 0.02
"""Nor are two kinds."""

PHASES_CHANCE = 0.05
"""Chance that launches in random order have their kinds in as few runs."""

_MAD_OF_NORMAL = 1.4826
_OUTLYING_SHARE = 4
_MIN_OUTLYING = 5
_MIN_OF_A_KIND = 2
_STEPS_APART = 2.0
_GAP_OVER_RANGE = 3.0
_MIN_FOR_GAP = 8

_SPREADS = {5: 26.5, 6: 14.0, 8: 10.75, 10: 9.25, 12: 8.0, 15: 7.25, 20: 6.25, 30: 5.5}
"""Launches to the robust standard deviations from their median that chance hardly exceeds."""

_SPLITS = {5: 0.017, 6: 0.032, 8: 0.066, 10: 0.090, 12: 0.113, 15: 0.139, 20: 0.168, 30: 0.205}
"""Launches to the ratio of sums of squares, within two groups over all, that chance hardly falls below."""


def outliers(medians: Values, clock_step: float = 0.0) -> tuple[int, ...]:
    """Return the places of launches that are far from the others: at most a quarter of them.

    Args:
        medians: One number a launch, shape ``(launches,)``, in seconds.
        clock_step: The step of the clock over the time.

    Returns:
        Empty also under 5 launches, or if more than a quarter are far away or a median is 0.

    Source:
        docs/method-launches.md#launches-that-differ; the limits were found by simulating normal launches.
    """
    if medians.size < _MIN_OUTLYING or medians.min() <= 0:
        return ()
    logs = np.log(medians)
    distances = np.abs(logs - median_of_few(logs))
    spread = _MAD_OF_NORMAL * median_of_few(distances)
    least = max(math.log1p(MIN_DIFFERENCE), _STEPS_APART * clock_step)
    far = np.flatnonzero(distances > max(least, _interpolated(_SPREADS, medians.size) * spread))
    if far.size == 0 and medians.size >= _MIN_FOR_GAP:
        return _lone_outlier(logs, least)
    return tuple(far.tolist()) if far.size * _OUTLYING_SHARE <= medians.size else ()


def _lone_outlier(logs: Values, least: float) -> tuple[int, ...]:
    """Return the place of the one launch that is farther from all others than these are from each other.

    Two kinds of launches are far from their common median, too: the gap distinguishes an outlier from them.
    """
    order = np.argsort(logs)
    for place, others in ((order[-1], logs[order[:-1]]), (order[0], logs[order[1:]])):
        gap = float(np.abs(logs[place] - others).min())
        if gap > max(least, _GAP_OVER_RANGE * float(np.ptp(others))):
            return (int(place),)
    return ()


def two_kinds(medians: Values, clock_step: float = 0.0) -> tuple[float, float] | None:
    """Return the centres of the two groups that launches fall into, or None if they do not.

    The best cut of the sorted logarithms, with two launches or more on each side, must leave less of their
    sum of squares than chance does in normal launches, and the centres must be apart by more than 2 % and two
    steps of the clock. Launches that are far from all others are left out first.

    Args:
        medians: One number a launch, shape ``(launches,)``, in seconds.
        clock_step: The step of the clock over the time.

    Returns:
        Both geometric means in seconds; None also under 5 launches or if a median is 0.

    Source:
        docs/method-launches.md#launches-that-differ
    """
    usual = np.delete(medians, outliers(medians, clock_step))
    if usual.size < min(_SPLITS) or usual.min() <= 0:
        return None
    logs = np.sort(np.log(usual))
    total = float(((logs - logs.mean()) ** 2).sum())
    within, cut = _best_cut(logs)
    fast, slow = float(logs[:cut].mean()), float(logs[cut:].mean())
    least = max(math.log1p(KINDS_APART), _STEPS_APART * clock_step)
    if slow - fast <= least or within >= _interpolated(_SPLITS, logs.size) * total:
        return None
    return math.exp(fast), math.exp(slow)


def phases(slow: Sequence[bool]) -> int | None:
    """Return how often two kinds of launches took turns, if they follow each other; None if mixed.

    Counts runs of the same kind, and how many of all orders have as few (Wald and Wolfowitz): under 5 %, the
    kinds are no matter of the launch, such as where its ranks were put, but of the time that it was made at.

    Args:
        slow: Whether each launch is of the slower kind, in time order.

    Returns:
        The number of runs.

    Source:
        docs/method-launches.md#launches-that-differ
    """
    of_each = sum(slow), len(slow) - sum(slow)
    seen = 1 + sum(one != other for one, other in pairwise(slow))
    as_few = sum(_orders(*of_each, runs) for runs in range(2, seen + 1))
    return seen if as_few < PHASES_CHANCE * math.comb(len(slow), of_each[0]) else None


def _orders(first: int, second: int, runs: int) -> int:
    """Return how many orders of so many of two kinds have this number of runs."""
    more, less = (runs - 1) // 2, (runs - 2) // 2
    with_more_first = math.comb(first - 1, more) * math.comb(second - 1, less)
    return with_more_first + math.comb(first - 1, less) * math.comb(second - 1, more)


def _best_cut(logs: Values) -> tuple[float, int]:
    """Return the least sum of squares around the means of both sides, and where to cut for it."""
    cuts = np.arange(_MIN_OF_A_KIND, logs.size - 1)
    about = logs - logs.mean()
    sums, squares = np.cumsum(about), np.cumsum(about**2)
    first, rest = sums[cuts - 1], sums[-1] - sums[cuts - 1]
    within = squares[-1] - first**2 / cuts - rest**2 / (logs.size - cuts)
    best = int(within.argmin())
    return float(within[best]), int(cuts[best])


def _interpolated(table: dict[int, float], launches: int) -> float:
    """Return an entry of a table, interpolated linearly; its last one beyond its end."""
    return float(np.interp(launches, list(table), list(table.values())))
