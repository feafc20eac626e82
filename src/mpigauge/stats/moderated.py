"""Variances of few launches, moderated by those of all cells: luck makes some of them far too small.

Source: Smyth, Linear models and empirical Bayes methods (2004); docs/method-comparison.md#comparison
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

CELLS_LEAST = 8
LAUNCHES_ENOUGH = 10
"""Of so many launches a variance needs no help, unless one that is used many times over."""

_LEAST, _MOST, _POINTS = -4, 8, 20_001
"""Powers of ten between which half the weight of a prior lies, and how many are tabulated."""


@dataclass(frozen=True, slots=True)
class Prior:
    """What all cells say of the variance of one.

    Attributes:
        variance: Which is usual.
        weight: Of how many degrees of freedom that is.
        most: Degrees of freedom that a moderated variance has at most: cells share their launches.
    """

    variance: float = 0.0
    weight: float = 0.0
    most: float = math.inf

    def moderated(self, variances: Values, freedom: Values) -> Values:
        """Variances, drawn towards what is usual."""
        return _drawn(variances, freedom, np.array(self.variance), np.array(self.weight))

    def scale_freedom(self, freedom: float) -> float:
        """Degrees of freedom of what all variances have in common: infinite if that is nothing.

        The logarithm of a moderated variance has that of the usual one with its share of the weight.
        """
        share = 1.0 if math.isinf(self.weight) else self.weight / (self.weight + freedom)
        return self.most / share**2 if share else math.inf

    def freedom(self, freedom: Values) -> Values:
        """Their degrees of freedom."""
        return np.asarray(np.maximum(freedom, np.minimum(freedom + self.weight, self.most)))


NONE = Prior()
"""Every cell is on its own."""


def prior_of(residuals: Values, variances: Values, freedom: Values, enough: int = LAUNCHES_ENOUGH) -> Prior:
    """The prior of cells, by their own variances.

    Args:
        residuals: Shape ``(launches, cells)``; 0 where a cell was not measured.
        variances: Shape ``(cells,)``.
        freedom: Of each of them.
        enough: Launches of which a variance needs no help.

    Returns:
        `NONE` where they are too few, or launches are enough.
    """
    telling = variances > 0
    if telling.sum() < CELLS_LEAST or freedom.max() + 1 >= enough:
        return NONE
    variance, weight = (float(one[0, 0]) for one in _usual(variances[None], freedom))
    most = float(freedom.max()) * _independent_cells(residuals[:, telling], float(freedom.max()))
    return Prior(variance, weight, most)


def moderated_each(variances: Values, freedom: Values) -> Values:
    """Variances of many permutations, each drawn towards what is usual in it.

    Args:
        variances: Shape ``(permutations, cells)``.
        freedom: Shape ``(cells,)``.
    """
    alike = freedom[:1] if np.ptp(freedom) == 0 else freedom
    return _drawn(variances, alike, *_usual(variances, alike))


def _drawn(variances: Values, freedom: Values, usual: Values, weight: Values) -> Values:
    """The mean of both, by their degrees of freedom; infinitely many leave nothing to the other."""
    share = np.where(np.isinf(weight), 1.0, weight / (np.where(np.isinf(weight), 1.0, weight) + freedom))
    return np.asarray(share * usual + (1 - share) * variances)


def _usual(variances: Values, freedom: Values) -> tuple[Values, Values]:
    """The usual variance of each permutation, and its degrees of freedom: shape ``(permutations, 1)``."""
    telling = variances > 0
    count = np.maximum(telling.sum(axis=1, keepdims=True), 2)
    half = freedom / 2
    logs = np.log(np.where(telling, variances, 1.0)) - special.digamma(half) + np.log(half)
    mean = np.where(telling, logs, 0.0).sum(axis=1, keepdims=True) / count
    spread = np.where(telling, logs - mean, 0.0)
    chance = np.where(telling, special.polygamma(1, half), 0.0).sum(axis=1, keepdims=True) / count
    beyond = (spread**2).sum(axis=1, keepdims=True) / (count - 1) - chance
    halves = _inverse_trigamma(np.where(beyond > 0, beyond, 1.0))
    shift = np.where(beyond > 0, special.digamma(halves) - np.log(halves), 0.0)
    weight = np.where(beyond > 0, 2 * halves, np.inf)
    few = telling.sum(axis=1, keepdims=True) < CELLS_LEAST
    return np.exp(mean + shift), np.where(few, 0.0, weight)


def _independent_cells(residuals: Values, freedom: float) -> float:
    """How many cells would say as much if they shared no launches."""
    cells = residuals.shape[1]
    # Of two sides that are the same number for number, rounding alone is left, and the same in all launches.
    residuals = residuals[:, np.ptp(residuals, axis=0) > 0]
    if residuals.shape[1] < CELLS_LEAST:
        return float(cells)
    cells = residuals.shape[1]
    about = residuals - residuals.mean(axis=0)
    alike = about / np.linalg.norm(about, axis=0)
    # The squares of all correlations of cells add up to those of launches, which are far fewer.
    squared = float((np.square(alike @ alike.T).sum() - cells) / (cells * (cells - 1)))
    shared = min(1.0, max(0.0, (squared - 1 / freedom) / (1 - 1 / freedom)))
    return float(cells / (1 + (cells - 1) * shared))


def _inverse_trigamma(value: Values) -> Values:
    """Between the points of a table, on logarithms, where it is nearly a line: to six digits."""
    halves, known = _trigamma()
    return np.asarray(np.exp(np.interp(np.log(value), known, halves)))


@lru_cache(maxsize=1)
def _trigamma() -> tuple[Values, Values]:
    """Logarithms of numbers, and of their trigamma, which rises as they fall."""
    numbers = np.logspace(_MOST, _LEAST, _POINTS)
    return np.log(numbers), np.log(special.polygamma(1, numbers))
