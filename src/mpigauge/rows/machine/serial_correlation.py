"""How much launches that follow each other are more alike than those that do not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from mpigauge.stats.percentiles import Values

LEAST_LAUNCHES = 6
"""Fewer have too few orders to tell one from chance."""

CHANCE = 0.01
_ORDERS = 499
_CLIP = 2.0
_MOST_ALIKE = 0.9


@dataclass(frozen=True, slots=True)
class InTime:
    """How much neighbouring launches agree: the more, the more slowly the machine changed meanwhile.

    Attributes:
        factor: By which intervals of launches are widened for it; 1 where neighbours do not agree.
        chance: How often launches in random order are as alike.
    """

    factor: float
    chance: float

    @property
    def is_beyond_chance(self) -> bool:
        """Whether at most 1 of 100 results has it by chance."""
        return self.chance < CHANCE and self.factor > 1


def launches_in_time(numbers: Iterable[Mapping[int, float]]) -> InTime | None:
    """Return how much neighbouring launches agree, over all cells; None of too few or equal launches.

    The sum over cells of products of neighbouring launches is compared with its values for launches in
    random order, the same order for all cells, so that it does not matter how cells depend on each other.

    Args:
        numbers: What stands for each launch of a cell, by its number, of all cells.

    Source:
        docs/method-comparison.md#other-minutes
    """
    values = _standardised(numbers)
    if (factor := _widening(values)) is None:
        return None
    count, products = values.shape[1], values.T @ values
    seen = _neighbours(products, np.arange(count)[np.newaxis])[0]
    generator = np.random.default_rng(count)
    orders = generator.permuted(np.tile(np.arange(count), (_ORDERS, 1)), axis=1)
    chance = (1 + int((_neighbours(products, orders) >= seen).sum())) / (1 + _ORDERS)
    return InTime(factor, chance)


def widening_of(numbers: Iterable[Mapping[int, float]]) -> float:
    """Return the factor of `launches_in_time` on intervals of launches; 1 where it says nothing."""
    return _widening(_standardised(numbers)) or 1.0


def _widening(values: Values) -> float | None:
    """Return the root of (1 + r) / (1 - r), r the correlation of neighbours; None of too few launches.

    In launches that do not depend on each other, r about their own mean is -1 / launches on average.
    """
    squares, count = float((values**2).sum()), values.shape[1]
    if count < LEAST_LAUNCHES or squares == 0:
        return None
    alike = float((values[:, :-1] * values[:, 1:]).sum()) / squares + 1 / count
    alike = min(_MOST_ALIKE, max(0.0, alike))
    return math.sqrt((1 + alike) / (1 - alike))


def _standardised(numbers: Iterable[Mapping[int, float]]) -> Values:
    """Return logarithms of launch medians in standard deviations of their cell, shape ``(cells, launches)``.

    A launch that a cell lacks counts as its mean, and none as more than two standard deviations.
    """
    usable = [one for one in numbers if len(one) >= LEAST_LAUNCHES and min(one.values()) > 0]
    launches = sorted({number for one in usable for number in one})
    values = np.zeros((len(usable), len(launches)))
    for row, one in zip(values, usable, strict=True):
        logs = np.log([*one.values()])
        deviation = float(logs.std(ddof=1))
        if deviation > 0:
            places = np.searchsorted(launches, [*one])
            row[places] = np.clip((logs - logs.mean()) / deviation, -_CLIP, _CLIP)
    return values


def _neighbours(products: Values, orders: npt.NDArray[np.int64]) -> Values:
    """Return the sum of products of neighbours for each order, ``(orders, launches)`` to ``(orders,)``."""
    total: Values = products[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    return total
