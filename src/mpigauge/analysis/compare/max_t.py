"""Which of many differences are real: whole launches are exchanged, for all cells of a family at once.

Cells share their launches, so whatever a launch does to all of them is in the null as it is in the data, and
nothing is assumed of its distribution. The largest t of all cells decides, step by step: that one of a family
is called different by mistake has the stated probability, whichever cells really differ.

Arrays hold natural logarithms of times, shape ``(launches, cells)``, NaN where a cell was not measured.

Source: Westfall and Young, Resampling-based multiple testing (1993); docs/method.md#comparison
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import special

from mpigauge.analysis.compare.moderated import NONE, moderated_each, prior_of

if TYPE_CHECKING:
    from mpigauge.analysis.percentiles import Values

PERMUTATIONS = 4999
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
        mean: Of the logarithms of the second over the first, shape ``(cells,)``.
        error: Its standard error, with what the clock hides.
        freedom: Degrees of freedom of that.
        launches: Pairs, or launches of the side that has fewer.
        spread: What the error would be of a single launch, without that.
        floor: Variance of each mean that no launch averages out.
        permutes: Whether it has launches enough to be permuted.
        scale_freedom: Degrees of freedom of what the errors of all cells have in common, which no permutation
            varies; infinite if that is nothing.
    """

    mean: Values
    error: Values
    freedom: Values
    launches: Values
    spread: Values
    floor: Values
    permutes: bool
    scale_freedom: float

    def t(self, shift: Values) -> Values:
        """Student's t of all permutations, that of the data first, of differences beyond a shift.

        Args:
            shift: Shape ``(cells,)``.

        Returns:
            Shape ``(permutations, cells)``.
        """
        ...


class Paired:
    """Differences within launches, or between launches of one replication: pairs swap their sides.

    Args:
        differences: Logarithms of the second over the first.
        floor: Variance of each cell's mean that no launch averages out, shape ``(cells,)``.
    """

    def __init__(self, differences: Values, floor: Values) -> None:
        self.differences = differences
        self.floor = floor
        self._there = np.isfinite(differences)
        self._differences = np.where(self._there, differences, 0.0)
        self._count = self._there.sum(axis=0)
        self.mean = self._differences.sum(axis=0) / self._count
        self.launches = self._count
        self.permutes = bool(self._count.min() >= PAIRS_LEAST)
        residuals = np.where(self._there, self._differences - self.mean, 0.0)
        alone = self._count - 1.0
        variances = (residuals**2).sum(axis=0) / alone
        self._prior = prior_of(residuals, variances, alone, PAIRS_ENOUGH)
        self.scale_freedom = self._prior.scale_freedom(float(alone.max()))
        self.freedom = self._prior.freedom(alone)
        self.spread = np.sqrt(self._prior.moderated(variances, alone))
        self.error = self._errors(self._prior.moderated(variances, alone))

    def t(self, shift: Values) -> Values:
        """As the protocol has it."""
        beyond = np.where(self._there, self._differences - shift, 0.0)
        means = _signs(len(beyond)) @ beyond / self._count
        alone = self._count - 1.0
        variances = np.maximum((beyond**2).sum(axis=0) - self._count * means**2, 0.0) / alone
        # What is usual is so in each permutation anew: else the data would be judged by their own measure.
        known = variances if self._prior is NONE else moderated_each(variances, alone)
        return np.asarray(means / self._errors(known))

    def _errors(self, variances: Values) -> Values:
        return np.asarray(np.sqrt(variances / self._count + self.floor + _TINY))


class Apart:
    """Launches of two campaigns, or of two jobs of one that share none: they swap their labels.

    Args:
        first: Logarithms of times of the one.
        second: Of the other; the same cells.
        floor: As of `Paired`.
    """

    scale_freedom = math.inf
    """Every cell has a variance of its own."""

    def __init__(self, first: Values, second: Values, floor: Values) -> None:
        self._values = np.concatenate([first, second])
        self._there = np.isfinite(self._values)
        self._second = len(second)
        self.floor = floor
        data = self._moments(self._values, _labels(len(self._values), self._second)[:1])
        self.mean = data[0][0]
        self.error = data[1][0]
        self.freedom = data[2][0]
        counts = np.stack([there.sum(axis=0) for there in np.split(self._there, [len(first)])])
        self.launches = counts.min(axis=0)
        self.spread = np.sqrt((self.error**2 - floor) * 2 / (1 / counts).sum(axis=0))
        self.permutes = math.comb(len(self._values), self._second) * LEVEL >= _LEAST / LEVEL

    def t(self, shift: Values) -> Values:
        """As the protocol has it."""
        moved = self._values.copy()
        moved[len(moved) - self._second :] -= shift
        mean, error, _ = self._moments(moved, _labels(len(moved), self._second))
        return mean / error

    def _moments(self, values: Values, labels: Values) -> tuple[Values, Values, Values]:
        """Difference, its standard error and Welch's degrees of freedom, of every labelling."""
        known = np.where(self._there, values, 0.0)
        there = self._there.astype(float)
        sides = []
        for chosen in (1.0 - labels, labels):
            count = np.maximum(chosen @ there, _LEAST)
            mean = chosen @ known / count
            squares = np.maximum(chosen @ known**2 - count * mean**2, 0.0)
            sides.append((mean, squares / (count - 1) / count, count))
        (first, share, count), (second, other, others) = sides
        both = share + other
        freedom = (both + _TINY) ** 2 / (share**2 / (count - 1) + other**2 / (others - 1) + _TINY**2)
        return second - first, np.sqrt(both + self.floor + _TINY), freedom


@lru_cache(maxsize=8)
def _signs(launches: int) -> Values:
    """Which pairs are swapped: all ways if they are few, else as many as tell; none swapped first."""
    if launches <= ALL_OF_LAUNCHES:
        numbers = np.arange(2**launches)[:, None]
        return np.asarray(1.0 - 2.0 * ((numbers >> np.arange(launches)) & 1))
    drawn = np.random.default_rng(launches).integers(0, 2, (PERMUTATIONS, launches))
    return np.vstack([np.ones(launches), 1.0 - 2.0 * drawn])


@lru_cache(maxsize=8)
def _labels(launches: int, second: int) -> Values:
    """Which launches count as those of the second: as they are, then otherwise."""
    labels = np.zeros(launches)
    labels[launches - second :] = 1.0
    if math.comb(launches, second) <= PERMUTATIONS:
        ways = [np.isin(np.arange(launches), chosen) for chosen in combinations(range(launches), second)]
        others = [way for way in ways if not np.array_equal(way, labels.astype(bool))]
        return np.vstack([labels, *others]).astype(float)
    chance = np.random.default_rng((launches, second))
    return np.vstack([labels, *(chance.permutation(labels) for _ in range(PERMUTATIONS))])


def beyond(family: Family, shift: float) -> tuple[Values, Values]:
    """How likely differences as large are by chance, of each cell: the second slower, and faster.

    Args:
        shift: Logarithm of a ratio that a difference must exceed, in either direction.

    Returns:
        Two arrays of adjusted p-values, shape ``(cells,)``.
    """
    shifts = np.full(len(family.mean), shift)
    if family.permutes:
        return step_down(family.t(shifts)), step_down(-family.t(-shifts))
    return (
        holm(special.stdtr(family.freedom, -(family.mean - shift) / family.error)),
        holm(special.stdtr(family.freedom, (family.mean + shift) / family.error)),
    )


def reach(family: Family, level: float = LEVEL) -> Values:
    """How many standard errors the intervals reach that hold for all cells at once, but for this error."""
    cells = len(family.mean)
    if family.permutes:
        largest = np.abs(family.t(family.mean)).max(axis=1)
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
