"""Whether launches that follow each other are more alike than those that do not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from mpigauge.rows.estimate import Timing
    from mpigauge.stats.percentiles import Values

LEAST_LAUNCHES = 6
"""Fewer have too few orders to tell one from chance."""

CHANCE = 0.01
_ORDERS = 499
_CLIP = 2.0
_MOST_ALIKE = 0.9


@dataclass(frozen=True, slots=True)
class InTime:
    """Neighbouring launches agree: the machine changed slowly while they were made.

    Attributes:
        factor: By which intervals are too narrow for the next minutes; they are widened by it.
        chance: How often launches in random order are as alike.
    """

    factor: float
    chance: float


def launches_in_time(times: Iterable[Timing]) -> InTime | None:
    """Return how much neighbouring launches agree, over all cells; None if 1 of 100 results has it by chance.

    The sum over cells of products of neighbouring launches is compared with its values for launches in
    random order, the same order for all cells, so that it does not matter how cells depend on each other.

    Args:
        times: Of all cells; their launches belong together by number.

    Source:
        docs/method-comparison.md#other-minutes
    """
    values = _standardised([time for time in times if isinstance(time, Estimate)])
    count = values.shape[1]
    squares = float((values**2).sum())
    if count < LEAST_LAUNCHES or squares == 0:
        return None
    products = values.T @ values
    seen = _neighbours(products, np.arange(count)[np.newaxis])[0]
    generator = np.random.default_rng(count)
    orders = generator.permuted(np.tile(np.arange(count), (_ORDERS, 1)), axis=1)
    chance = (1 + int((_neighbours(products, orders) >= seen).sum())) / (1 + _ORDERS)
    alike = min(_MOST_ALIKE, seen / squares + 1 / count)
    if chance >= CHANCE or alike <= 0:
        return None
    return InTime(math.sqrt((1 + alike) / (1 - alike)), chance)


def _standardised(times: Iterable[Estimate]) -> Values:
    """Return logarithms of launch medians in standard deviations of their cell, shape ``(cells, launches)``.

    A launch that a cell lacks counts as its mean, and none as more than two standard deviations.
    """
    usable = [one for one in times if one.launches >= LEAST_LAUNCHES and min(one.by_launch.values()) > 0]
    numbers = sorted({number for one in usable for number in one.by_launch})
    values = np.zeros((len(usable), len(numbers)))
    for row, one in zip(values, usable, strict=True):
        logs = np.log([*one.by_launch.values()])
        deviation = float(logs.std(ddof=1))
        if deviation > 0:
            places = np.searchsorted(numbers, [*one.by_launch])
            row[places] = np.clip((logs - logs.mean()) / deviation, -_CLIP, _CLIP)
    return values


def _neighbours(products: Values, orders: npt.NDArray[np.int64]) -> Values:
    """Return the sum of products of neighbours for each order, ``(orders, launches)`` to ``(orders,)``."""
    total: Values = products[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    return total
