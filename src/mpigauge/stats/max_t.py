"""Which of many differences are real: whole launches are exchanged, for all cells of a family at once.

Cells share their launches, so whatever a launch does to all of them is in the null as it is in the data, and
nothing is assumed of its distribution. The largest t of all cells decides, step by step: that one of a family
is called different by mistake has the stated probability, whichever cells really differ. Launches that are
odd in a cell are left out of it (robust.py).

Arrays hold natural logarithms of times, shape ``(launches, cells)``, NaN where a cell was not measured.

Source: Westfall and Young, Resampling-based multiple testing (1993); docs/method-comparison.md#comparison
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import special

from mpigauge.stats.moderated import NONE, moderated_each, prior_of
from mpigauge.stats.robust import odd, pulled_in, trimmed

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values


EXCHANGES = 2500
"""So many ways to exchange the sides of some pairs are drawn, and as many with all sides turned over."""

ALL_OF_LAUNCHES = 12
"""Of so many pairs all exchanges are made; of more, a random choice."""

PAIRS_LEAST = 6
"""Of fewer, the rarest outcome is not rare enough: Student's t and Holm take the place of permutations."""

PAIRS_ENOUGH = 20
"""Of so many, variances stand alone: the largest of many t is by then hardly one of luck."""

LEVEL = 0.05
_TINY = 1e-18
_LEAST = 2


class Family(Protocol):
    """Cells that are judged together.

    Attributes:
        mean: Winsorised mean of the logarithms of the second over the first, shape ``(cells,)``.
        error: Its standard error, with what the clock hides.
        freedom: Degrees of freedom of that.
        launches: Pairs, or launches of the side that has fewer.
        spread: What the error would be of a single launch, without that.
        floor: Variance of each mean that no launch averages out.
    """

    mean: Values
    error: Values
    freedom: Values
    launches: Values
    spread: Values
    floor: Values


class Paired:
    """Differences within launches, or between launches of one replication: pairs swap their sides.

    Args:
        differences: Logarithms of the second over the first.
        floor: Variance of each cell's mean that no launch averages out, shape ``(cells,)``.
        level: The error of the verdict, on which depends how many odd pairs are left out.
    """

    def __init__(self, differences: Values, floor: Values, level: float = LEVEL) -> None:
        self.differences = differences
        self.floor = floor
        self._level = level
        self._there = np.isfinite(differences)
        self.launches = self._there.sum(axis=0)
        known = np.where(self._there, pulled_in(differences), 0.0)
        self.mean = known.sum(axis=0) / self.launches
        self._residuals = np.where(self._there, known - self.mean, 0.0)
        self.permutes = differences.shape[1] > 1 and bool(self.launches.min() >= PAIRS_LEAST)
        """Whether exchanges decide: of a single cell they would say what Student's t says."""
        alone = self.launches - 1.0
        variances = (self._residuals**2).sum(axis=0) / alone
        self._prior = prior_of(self._residuals, variances, alone, PAIRS_ENOUGH)
        self.scale_freedom = self._prior.scale_freedom(float(alone.max()))
        """Degrees of freedom of what the errors of all cells share, which no exchange varies; or infinite."""
        self.freedom = self._prior.freedom(alone)
        self.spread = np.sqrt(self._prior.moderated(variances, alone))
        self.error = self._errors(self._prior.moderated(variances, alone), self.launches)

    def t(self, shift: float) -> Values:
        """Return t of all exchanges, that of the data first, of differences beyond a shift.

        Returns:
            Shape ``(exchanges, cells)``; the second half is the first one with the other sign.
        """
        beyond = self.differences - shift
        kept = self._there & ~odd(beyond, self._level)
        return self._exchanged(np.where(kept, beyond, 0.0), kept.sum(axis=0))

    def t_of_equals(self) -> Values:
        """Return the same of the data without their difference, of which intervals are made."""
        return self._exchanged(self._residuals, self.launches)

    def _exchanged(self, values: Values, count: Values) -> Values:
        means = _signs(len(values)) @ values / count
        alone = count - 1.0
        variances = np.maximum((values**2).sum(axis=0) - count * means**2, 0.0) / alone
        # What is usual is so in each exchange anew: else the data would be judged by their own measure.
        known = variances if self._prior is NONE else moderated_each(variances, alone)
        half = means / self._errors(known, count)
        return np.concatenate([half, -half])

    def _errors(self, variances: Values, count: Values) -> Values:
        return np.asarray(np.sqrt(variances / count + self.floor + _TINY))


class Unpaired:
    """Launches of two campaigns, or of two jobs of one that share none.

    Each cell by itself, with a deviation of either side: exchanges would take both for equally spread, and
    blame the side that has fewer launches where it varies more. Source: Yuen (1974), with the degrees of
    freedom of Welch and Satterthwaite.

    Args:
        first: Logarithms of times of the one.
        second: Of the other; the same cells, two launches at least.
        floor: As of `Paired`.
    """

    def __init__(self, first: Values, second: Values, floor: Values) -> None:
        self.floor = floor
        means, shares, left = np.stack([_each(side) for side in (first, second)], axis=1)
        both = shares.sum(axis=0)
        self.mean = means[1] - means[0]
        self.error = np.sqrt(both + floor + _TINY)
        squares = (shares**2 / (left - 1)).sum(axis=0)
        # Equal launches say nothing of their freedom.
        of_equals = left.sum(axis=0) - 2.0
        self.freedom = np.where(squares > 0, both**2 / np.where(squares > 0, squares, 1.0), of_equals)
        self.launches = np.stack([np.isfinite(side).sum(axis=0) for side in (first, second)]).min(axis=0)
        self.spread = np.sqrt(both * 2 / (1 / left).sum(axis=0))


def _each(side: Values) -> Values:
    """Trimmed mean, squared error and number of values left of each column: shape ``(3, cells)``."""
    return np.array([trimmed(column[np.isfinite(column)]) for column in side.T]).T


@lru_cache(maxsize=8)
def _signs(launches: int) -> Values:
    """Return which pairs are swapped: all ways if they are few, else as many as tell; none swapped first.

    Half of them: the others are these with all sides turned over.
    """
    if launches <= ALL_OF_LAUNCHES:
        numbers = np.arange(2 ** (launches - 1))[:, None]
        return np.asarray(1.0 - 2.0 * ((numbers >> np.arange(launches)) & 1))
    drawn = np.random.default_rng(launches).integers(0, 2, (EXCHANGES - 1, launches))
    return np.vstack([np.ones(launches), 1.0 - 2.0 * drawn])


def beyond(family: Family, shift: float) -> tuple[Values, Values]:
    """How likely differences as large are by chance, of each cell: the second slower, and faster.

    Args:
        shift: Logarithm of a ratio that a difference must exceed, in either direction.

    Returns:
        Two arrays of adjusted p-values, shape ``(cells,)``.
    """
    if isinstance(family, Paired) and family.permutes:
        return step_down(family.t(shift)), step_down(-family.t(-shift))
    return (
        holm(special.stdtr(family.freedom, -(family.mean - shift) / family.error)),
        holm(special.stdtr(family.freedom, (family.mean + shift) / family.error)),
    )


def reach(family: Family, level: float = LEVEL) -> Values:
    """How many standard errors the intervals reach that hold for all cells at once, but for this error."""
    cells = len(family.mean)
    if isinstance(family, Paired) and family.permutes:
        largest = np.abs(family.t_of_equals()).max(axis=1)
        # Permutations of few launches are coarse: no interval is narrower than that of its cell alone.
        joint = float(np.quantile(largest, 1 - level, method="higher"))
        if math.isfinite(family.scale_freedom):
            joint = -float(special.stdtrit(family.scale_freedom, float(special.ndtr(-joint))))
        return np.maximum(joint, special.stdtrit(family.freedom, 1 - level / 2))
    return np.asarray(special.stdtrit(family.freedom, 1 - level / 2 / cells))


def step_down(t: Values) -> Values:
    """p-values of the largest t of those not yet rejected, from the largest to the smallest.

    Args:
        t: Of all permutations, that of the data first, shape ``(permutations, cells)``.
    """
    order = np.argsort(-t[0])
    largest = np.maximum.accumulate(t[:, order[::-1]], axis=1)[:, ::-1]
    p = (largest >= largest[0] - 1e-12).mean(axis=0)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(p)
    return adjusted


def holm(p: Values) -> Values:
    """p-values, adjusted for all of them, whatever they have in common. Source: Holm (1979)."""
    order = np.argsort(p)
    steps = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
