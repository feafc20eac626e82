"""Launches that are not like the others: single ones far away, or two kinds of them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from mpigauge.stats.percentiles import Values

    Flags = npt.NDArray[np.bool_]
    Places = npt.NDArray[np.intp]

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
_NOTHING = 1e-6
"""Of a sum of squares: what rounding may leave of it."""

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
    far, _ = far_launches(np.log(medians)[np.newaxis], np.array([clock_step]))
    return tuple(np.flatnonzero(far[0]).tolist())


def far_launches(logs: Values, clock_steps: Values) -> tuple[Flags, Values]:
    """Return which launches of many rows are far from the others, and how many times the limit they are.

    Args:
        logs: Logarithms of one number a launch, shape ``(rows, launches)``.
        clock_steps: The step of the clock over each time, shape ``(rows,)``.

    Returns:
        Flags of shape ``(rows, launches)``, and of each row the distance of its farthest launch over what
        chance hardly exceeds, shape ``(rows,)``: above 1 where one is far, 0 where more than a quarter are.
    """
    rows, launches = logs.shape
    if launches < _MIN_OUTLYING:
        return np.zeros(logs.shape, dtype=bool), np.zeros(rows)
    least = np.maximum(math.log1p(MIN_DIFFERENCE), _STEPS_APART * clock_steps)
    distances = np.abs(logs - np.median(logs, axis=1, keepdims=True))
    spread = _MAD_OF_NORMAL * np.median(distances, axis=1)
    over = distances / np.maximum(least, _interpolated(_SPREADS, launches) * spread)[:, np.newaxis]
    far = over > 1
    count = far.sum(axis=1)
    many = count * _OUTLYING_SHARE > launches
    far[many] = False
    strength = np.where(many, 0.0, over.max(axis=1))
    if launches >= _MIN_FOR_GAP and (alone := np.flatnonzero(count == 0)).size:
        place, gap = _lone_outliers(logs[alone], least[alone])
        far[alone, place] = gap > 1
        strength[alone] = np.maximum(strength[alone], gap)
    return far, strength


def _lone_outliers(logs: Values, least: Values) -> tuple[Places, Values]:
    """Return the launch of each row that may be farther from all others than these are from each other.

    Two kinds of launches are far from their common median, too: the gap distinguishes an outlier from them.

    Returns:
        Its place, and how many times the limit its gap is, both of shape ``(rows,)``.
    """
    order = np.argsort(logs, axis=1)
    ordered = np.take_along_axis(logs, order, axis=1)
    steps = np.diff(ordered, axis=1)
    above = steps[:, -1] / np.maximum(least, _GAP_OVER_RANGE * (ordered[:, -2] - ordered[:, 0]))
    below = steps[:, 0] / np.maximum(least, _GAP_OVER_RANGE * (ordered[:, -1] - ordered[:, 1]))
    is_above = (above > 1) | (above >= below)
    return np.where(is_above, order[:, -1], order[:, 0]), np.where(is_above, above, below)


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
    ((fast, slow),), (strength,) = best_groups(np.log(usual)[np.newaxis], np.array([clock_step]))
    return (math.exp(fast), math.exp(slow)) if strength > 1 else None


def best_groups(logs: Values, clock_steps: Values) -> tuple[Values, Values]:
    """Return the centres of the best two groups of the launches of many rows, and how clear they are.

    Args:
        logs: Logarithms of one number a launch, without launches that are far off, shape
            ``(rows, launches)``.
        clock_steps: The step of the clock over each time, shape ``(rows,)``.

    Returns:
        The centres, shape ``(rows, 2)``; and what chance hardly falls below over what the cut leaves of the
        sum of squares, shape ``(rows,)``: above 1 where there are two kinds, 0 where they are too close.
    """
    rows, launches = logs.shape
    if launches < min(_SPLITS):
        return np.zeros((rows, 2)), np.zeros(rows)
    ordered = np.sort(logs, axis=1)
    mean = ordered.mean(axis=1, keepdims=True)
    about = ordered - mean
    cuts = np.arange(_MIN_OF_A_KIND, launches - 1)
    sums, squares = np.cumsum(about, axis=1), (about**2).sum(axis=1)
    first = sums[:, cuts - 1]
    rest = sums[:, -1:] - first
    within = squares[:, np.newaxis] - first**2 / cuts - rest**2 / (launches - cuts)
    best = within.argmin(axis=1)
    row, cut = np.arange(rows), cuts[best]
    centres = np.column_stack((first[row, best] / cut, rest[row, best] / (launches - cut))) + mean
    least = np.maximum(math.log1p(KINDS_APART), _STEPS_APART * clock_steps)
    left = np.maximum(within[row, best], squares * _NOTHING)
    clear = np.divide(_interpolated(_SPLITS, launches) * squares, left, out=np.zeros(rows), where=left > 0)
    return centres, np.where(centres[:, 1] - centres[:, 0] > least, clear, 0.0)


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


def launch_marks(logs: Values, clock_steps: Values) -> Values:
    """Return how many times its limit each row is, as one with far launches, of two kinds, and in phases.

    Args:
        logs: Logarithms of one number a launch in time order, shape ``(rows, launches)``.
        clock_steps: The step of the clock over each time, shape ``(rows,)``.

    Returns:
        Shape ``(3, rows)``: above 1 where `outliers` finds some, where `two_kinds` finds them mixed in time,
        and where they follow each other in `phases`.
    """
    far, farthest = far_launches(logs, clock_steps)
    mixed, phased = np.zeros(len(logs)), np.zeros(len(logs))
    whole = ~far.any(axis=1)
    centres, clear = np.zeros((len(logs), 2)), np.zeros(len(logs))
    centres[whole], clear[whole] = best_groups(logs[whole], clock_steps[whole])
    for row in np.flatnonzero(~whole):
        ((centres[row],), (clear[row],)) = best_groups(logs[row][np.newaxis, ~far[row]], clock_steps[[row]])
    for row in np.flatnonzero(clear > 1):
        slow = logs[row, ~far[row]] >= centres[row].mean()
        (mixed if phases(slow.tolist()) is None else phased)[row] = clear[row]
    return np.stack((farthest, mixed, phased))


def _orders(first: int, second: int, runs: int) -> int:
    """Return how many orders of so many of two kinds have this number of runs."""
    more, less = (runs - 1) // 2, (runs - 2) // 2
    with_more_first = math.comb(first - 1, more) * math.comb(second - 1, less)
    return with_more_first + math.comb(first - 1, less) * math.comb(second - 1, more)


def _interpolated(table: dict[int, float], launches: int) -> float:
    """Return an entry of a table, interpolated linearly; its last one beyond its end."""
    return float(np.interp(launches, list(table), list(table.values())))
