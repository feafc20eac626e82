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
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mpigauge.stats import special
from mpigauge.stats.robust import odd, trimmed, winsorised

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values


EXCHANGES = 2500
"""Random exchanges of sides that are drawn; each is also used with all sides turned over."""

ALL_OF_LAUNCHES = 12
"""Pairs up to which all exchanges are made; of more, a random choice."""

MIN_PAIRS = 6
"""Pairs from which permutations decide: with fewer, Student's t and Holm do, as no outcome is rare enough."""

PAIRS_ENOUGH = 20
"""Pairs from which variances are not moderated: the largest of many t is by then hardly one of luck."""

LEVEL = 0.05
_TINY = 1e-18

MIN_CELLS = 8
LAUNCHES_ENOUGH = 10
"""Launches from which a variance is not moderated, unless it is used many times over."""

_TABLE_LOW, _TABLE_HIGH, _TABLE_POINTS = -4, 8, 20_001
"""Powers of ten between which half the weight of a prior lies, and how many are tabulated."""


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
    """Differences within launches, or between launches of one replication, whose sides are exchanged.

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
        known = np.where(self._there, winsorised(differences), 0.0)
        self.mean = known.sum(axis=0) / self.launches
        self._residuals = np.where(self._there, known - self.mean, 0.0)
        self.permutes = differences.shape[1] > 1 and bool(self.launches.min() >= MIN_PAIRS)
        """Whether exchanges decide: of a single cell they would say what Student's t says."""
        own_freedom = self.launches - 1.0
        variances = (self._residuals**2).sum(axis=0) / own_freedom
        self._prior = prior_of(self._residuals, variances, own_freedom, PAIRS_ENOUGH)
        self.scale_freedom = self._prior.scale_freedom(float(own_freedom.max()))
        """Degrees of freedom of what the errors of all cells share, which no exchange varies; or infinite."""
        self.freedom = self._prior.freedom(own_freedom)
        self.spread = np.sqrt(self._prior.moderated(variances, own_freedom))
        self.error = self._errors(self._prior.moderated(variances, own_freedom), self.launches)

    def t(self, shift: float) -> Values:
        """Return t of all exchanges, the data first, of differences beyond a shift.

        Returns:
            Shape ``(exchanges, cells)``; the second half is the first one with the other sign.
        """
        beyond = self.differences - shift
        kept = self._there & ~odd(beyond, self._level)
        return self._exchanged(np.where(kept, beyond, 0.0), kept.sum(axis=0))

    def t_of_equals(self) -> Values:
        """Return t of all exchanges of the data without their difference, from which intervals are made."""
        return self._exchanged(self._residuals, self.launches)

    def _exchanged(self, values: Values, count: Values) -> Values:
        means = _signs(len(values)) @ values / count
        own_freedom = count - 1.0
        variances = np.maximum((values**2).sum(axis=0) - count * means**2, 0.0) / own_freedom
        # What is usual is so in each exchange anew: else the data would be judged by their own measure.
        known = variances if self._prior is NO_PRIOR else moderated_each(variances, own_freedom)
        half = means / self._errors(known, count)
        return np.concatenate([half, -half])

    def _errors(self, variances: Values, count: Values) -> Values:
        return np.asarray(np.sqrt(variances / count + self.floor + _TINY))


class Unpaired:
    """Launches of two campaigns, or of two jobs of one campaign without launches in common.

    Each cell by itself, with a deviation of either side: exchanges would take both for equally spread, and
    blame the side that has fewer launches where it varies more. Source: Yuen (1974), with the degrees of
    freedom of Welch and Satterthwaite.

    Args:
        first: Logarithms of times of one side, shape ``(launches, cells)``.
        second: Those of the other side, for the same cells; two launches at least.
        floor: Variance of each cell's mean that no launch averages out, shape ``(cells,)``.
    """

    def __init__(self, first: Values, second: Values, floor: Values) -> None:
        self.floor = floor
        means, shares, left = np.stack([_trimmed_columns(side) for side in (first, second)], axis=1)
        both = shares.sum(axis=0)
        self.mean = means[1] - means[0]
        self.error = np.sqrt(both + floor + _TINY)
        squares = (shares**2 / (left - 1)).sum(axis=0)
        # Equal launches say nothing of their freedom.
        of_equals = left.sum(axis=0) - 2.0
        self.freedom = np.where(squares > 0, both**2 / np.where(squares > 0, squares, 1.0), of_equals)
        self.launches = np.stack([np.isfinite(side).sum(axis=0) for side in (first, second)]).min(axis=0)
        self.spread = np.sqrt(both * 2 / (1 / left).sum(axis=0))


def _trimmed_columns(side: Values) -> Values:
    """Return trimmed mean, squared error and number of values left per column, shape ``(3, cells)``."""
    return np.array([trimmed(column[np.isfinite(column)]) for column in side.T]).T


@lru_cache(maxsize=8)
def _signs(launches: int) -> Values:
    """Return which pairs are exchanged: all ways if they are few, else a random choice; none exchanged first.

    Half of them: the others are these with all sides turned over.
    """
    if launches <= ALL_OF_LAUNCHES:
        numbers = np.arange(2 ** (launches - 1))[:, None]
        return np.asarray(1.0 - 2.0 * ((numbers >> np.arange(launches)) & 1))
    drawn = np.random.default_rng(launches).integers(0, 2, (EXCHANGES - 1, launches))
    return np.vstack([np.ones(launches), 1.0 - 2.0 * drawn])


def p_values_beyond(family: Family, shift: float) -> tuple[Values, Values]:
    """Return how likely chance makes such differences, per cell: the second slower, and the second faster.

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


def joint_reach(family: Family, level: float = LEVEL) -> Values:
    """Return how many standard errors the joint intervals of all cells reach at this error level."""
    cells = len(family.mean)
    if isinstance(family, Paired) and family.permutes:
        largest = np.abs(family.t_of_equals()).max(axis=1)
        # Permutations of few launches are coarse: no interval is narrower than that of its cell alone.
        joint = float(np.quantile(largest, 1 - level, method="higher"))
        if math.isfinite(family.scale_freedom):
            joint = -float(special.stdtrit(family.scale_freedom, float(special.ndtr(-joint))))
        alone: Values = special.stdtrit(family.freedom, 1 - level / 2)
        return np.maximum(joint, alone)
    return np.asarray(special.stdtrit(family.freedom, 1 - level / 2 / cells))


def step_down(t: Values) -> Values:
    """Return p-values of the largest t of the cells not yet rejected, from the largest to the smallest.

    Args:
        t: For all permutations, the data first, shape ``(permutations, cells)``.
    """
    order = np.argsort(-t[0])
    largest = np.maximum.accumulate(t[:, order[::-1]], axis=1)[:, ::-1]
    p = (largest >= largest[0] - 1e-12).mean(axis=0)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(p)
    return adjusted


def holm(p: Values) -> Values:
    """Return p-values adjusted for all of them, whatever their dependence. Source: Holm (1979)."""
    order = np.argsort(p)
    steps = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


# ---- Moderated variances ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prior:
    """The prior of a variance, estimated from the variances of all cells.

    Attributes:
        variance: The usual variance.
        weight: Its degrees of freedom.
        most: Largest degrees of freedom of a moderated variance: cells share their launches.
    """

    variance: float = 0.0
    weight: float = 0.0
    most: float = math.inf

    def moderated(self, variances: Values, freedom: Values) -> Values:
        """Return variances drawn towards the prior's."""
        return _drawn_towards(variances, freedom, np.array(self.variance), np.array(self.weight))

    def scale_freedom(self, freedom: float) -> float:
        """Return the degrees of freedom of the scale that all variances share; infinite if there is none.

        The logarithm of a moderated variance has that of the usual one with its share of the weight.
        """
        share = 1.0 if math.isinf(self.weight) else self.weight / (self.weight + freedom)
        return self.most / share**2 if share else math.inf

    def freedom(self, freedom: Values) -> Values:
        """Return the degrees of freedom of moderated variances."""
        return np.asarray(np.maximum(freedom, np.minimum(freedom + self.weight, self.most)))


NO_PRIOR = Prior()
"""Every cell is on its own."""


def prior_of(residuals: Values, variances: Values, freedom: Values, enough: int = LAUNCHES_ENOUGH) -> Prior:
    """Return the prior of cells, by their own variances.

    Args:
        residuals: Shape ``(launches, cells)``; 0 where a cell was not measured.
        variances: Shape ``(cells,)``.
        freedom: Their degrees of freedom, shape ``(cells,)``.
        enough: Launches from which a variance is not moderated.

    Returns:
        `NO_PRIOR` where they are too few, or launches are enough.
    """
    positive = variances > 0
    if positive.sum() < MIN_CELLS or freedom.max() + 1 >= enough:
        return NO_PRIOR
    variance, weight = (float(one[0, 0]) for one in _usual(variances[None], freedom))
    most = float(freedom.max()) * _independent_cells(residuals[:, positive], float(freedom.max()))
    return Prior(variance, weight, most)


def moderated_each(variances: Values, freedom: Values) -> Values:
    """Return the variances of many permutations, each drawn towards what is usual in its permutation.

    Args:
        variances: Shape ``(permutations, cells)``.
        freedom: Shape ``(cells,)``.
    """
    alike = freedom[:1] if np.ptp(freedom) == 0 else freedom
    return _drawn_towards(variances, alike, *_usual(variances, alike))


def _drawn_towards(variances: Values, freedom: Values, usual: Values, weight: Values) -> Values:
    """Return the mean of both variances, weighted by their degrees of freedom, which may be infinite."""
    share = np.where(np.isinf(weight), 1.0, weight / (np.where(np.isinf(weight), 1.0, weight) + freedom))
    return np.asarray(share * usual + (1 - share) * variances)


def _usual(variances: Values, freedom: Values) -> tuple[Values, Values]:
    """Return each permutation's usual variance, and its degrees of freedom: shape ``(permutations, 1)``."""
    positive = variances > 0
    count = np.maximum(positive.sum(axis=1, keepdims=True), 2)
    half = freedom / 2
    logs = np.log(np.where(positive, variances, 1.0)) - special.digamma(half) + np.log(half)
    mean = np.where(positive, logs, 0.0).sum(axis=1, keepdims=True) / count
    spread = np.where(positive, logs - mean, 0.0)
    chance = np.where(positive, special.polygamma(1, half), 0.0).sum(axis=1, keepdims=True) / count
    beyond = (spread**2).sum(axis=1, keepdims=True) / (count - 1) - chance
    halves = _inverse_trigamma(np.where(beyond > 0, beyond, 1.0))
    shift = np.where(beyond > 0, special.digamma(halves) - np.log(halves), 0.0)
    weight = np.where(beyond > 0, 2 * halves, np.inf)
    few = positive.sum(axis=1, keepdims=True) < MIN_CELLS
    return np.exp(mean + shift), np.where(few, 0.0, weight)


def _independent_cells(residuals: Values, freedom: float) -> float:
    """Return the number of independent cells that would say as much as these, which share launches."""
    cells = residuals.shape[1]
    # Of two sides that are the same number for number, rounding alone is left, and the same in all launches.
    residuals = residuals[:, np.ptp(residuals, axis=0) > 0]
    if residuals.shape[1] < MIN_CELLS:
        return float(cells)
    cells = residuals.shape[1]
    about = residuals - residuals.mean(axis=0)
    alike = about / np.linalg.norm(about, axis=0)
    # The squares of all correlations of cells add up to those of launches, which are far fewer.
    squared = float((np.square(alike @ alike.T).sum() - cells) / (cells * (cells - 1)))
    # Two launches leave one degree of freedom: all cells are then alike or opposite, whatever they share.
    beyond_chance = (squared - 1 / freedom) / (1 - 1 / freedom) if freedom > 1 else 1.0
    shared = min(1.0, max(0.0, beyond_chance))
    return float(cells / (1 + (cells - 1) * shared))


def _inverse_trigamma(value: Values) -> Values:
    """Return the inverse of trigamma, interpolated in a table of logarithms: to six digits."""
    halves, known = _trigamma()
    return np.asarray(np.exp(np.interp(np.log(value), known, halves)))


@lru_cache(maxsize=1)
def _trigamma() -> tuple[Values, Values]:
    """Return a table of logarithms of numbers, and of their trigamma, which rises as they fall."""
    numbers = np.logspace(_TABLE_HIGH, _TABLE_LOW, _TABLE_POINTS)
    return np.log(numbers), np.log(special.polygamma(1, numbers))
