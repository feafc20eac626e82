"""Variances of few launches, moderated by those of all cells: luck makes some of them far too small.

Source: Smyth, Linear models and empirical Bayes methods (2004); docs/method.md#comparison
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from mpigauge.analysis.percentiles import Values

CELLS_LEAST = 8
LAUNCHES_ENOUGH = 10
"""Of so many launches a variance needs no help."""

_NEWTON_STEPS = 50
_NEWTON_ENOUGH = 1e-8


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
        if math.isinf(self.weight):
            return np.full_like(variances, self.variance)
        return np.asarray((self.weight * self.variance + freedom * variances) / (self.weight + freedom))

    def freedom(self, freedom: Values) -> Values:
        """Their degrees of freedom."""
        return np.asarray(np.maximum(freedom, np.minimum(freedom + self.weight, self.most)))


NONE = Prior()
"""Every cell is on its own."""


def prior_of(residuals: Values, variances: Values, freedom: Values) -> Prior:
    """The prior of cells, by their own variances.

    Args:
        residuals: Shape ``(launches, cells)``; 0 where a cell was not measured.
        variances: Shape ``(cells,)``.
        freedom: Of each of them.

    Returns:
        `NONE` where they are too few, or launches are enough.
    """
    telling = variances > 0
    if telling.sum() < CELLS_LEAST or freedom.max() + 1 >= LAUNCHES_ENOUGH:
        return NONE
    half = freedom[telling] / 2
    logs = np.log(variances[telling]) - special.digamma(half) + np.log(half)
    beyond = float(logs.var(ddof=1) - special.polygamma(1, half).mean())
    weight = 2 * _inverse_trigamma(beyond) if beyond > 0 else math.inf
    shift = 0.0 if math.isinf(weight) else float(special.digamma(weight / 2)) - math.log(weight / 2)
    most = float(freedom.max()) * _independent_cells(residuals[:, telling], float(freedom.max()))
    return Prior(math.exp(float(logs.mean()) + shift), weight, most)


def _independent_cells(residuals: Values, freedom: float) -> float:
    """How many cells would say as much if they shared no launches."""
    cells = residuals.shape[1]
    correlations = np.corrcoef(residuals, rowvar=False)
    squared = float((np.square(correlations).sum() - cells) / (cells * (cells - 1)))
    shared = min(1.0, max(0.0, (squared - 1 / freedom) / (1 - 1 / freedom)))
    return float(cells / (1 + (cells - 1) * shared))


def _inverse_trigamma(value: float) -> float:
    """Newton's method on its reciprocal, which is nearly a line."""
    found = 0.5 + 1 / value
    for _ in range(_NEWTON_STEPS):
        now = float(special.polygamma(1, found))
        step = now * (1 - now / value) / float(special.polygamma(2, found))
        found += step
        if abs(step) < _NEWTON_ENOUGH * found:
            break
    return found
