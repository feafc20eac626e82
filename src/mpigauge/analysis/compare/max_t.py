"""Which of many differences are real: whole launches are exchanged, for all cells of a family at once.

Cells share their launches, so whatever a launch does to all of them is in the null as it is in the data, and
nothing is assumed of its distribution. The largest t of all cells decides, step by step: that one of a family
is called different by mistake has the stated probability, whichever cells really differ. The t is Yuen's, of
a trimmed mean, which one odd launch in ten does not move.

Arrays hold natural logarithms of times, shape ``(launches, cells)``, NaN where a cell was not measured.

Source: Westfall and Young, Resampling-based multiple testing (1993); docs/method.md#comparison
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from scipy import special

from mpigauge.analysis.compare.moderated import NONE, moderated_each, prior_of
from mpigauge.analysis.trimmed import Trimmed, cut_of, cut_of_pairs, trimmed

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from mpigauge.analysis.percentiles import Values

    Places = npt.NDArray[np.intp]

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
_ENTRIES_MOST = 1 << 21


class Family(Protocol):
    """Cells that are judged together.

    Attributes:
        mean: Trimmed mean of the logarithms of the second over the first, shape ``(cells,)``.
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


class _Alike(NamedTuple):
    """Cells that were measured in the same launches."""

    rows: Places
    columns: Places
    cut: int


class Paired:
    """Differences within launches, or between launches of one replication: pairs swap their sides.

    Args:
        differences: Logarithms of the second over the first.
        floor: Variance of each cell's mean that no launch averages out, shape ``(cells,)``.
        level: The error of the verdict, on which depends how much may be cut off.
    """

    def __init__(self, differences: Values, floor: Values, level: float = LEVEL) -> None:
        self.differences = differences
        self.floor = floor
        there = np.isfinite(differences)
        self.launches = there.sum(axis=0)
        self._alike = list(_alike(there, level))
        cells = differences.shape[1]
        self.mean, variances, self._left = (np.empty(cells) for _ in range(3))
        residuals = np.zeros_like(differences)
        for rows, columns, cut in self._alike:
            values = differences[np.ix_(rows, columns)]
            self.mean[columns], variances[columns], self._left[columns] = trimmed(values.T, cut)
            ordered = np.sort(values, axis=0)
            clipped = np.clip(values, ordered[cut], ordered[-1 - cut])
            residuals[np.ix_(rows, columns)] = clipped - self.mean[columns]
        self.permutes = cells > 1 and bool(self.launches.min() >= PAIRS_LEAST)
        """Whether exchanges decide: of a single cell they would say what Student's t says."""
        alone = self._left - 1.0
        self._prior = prior_of(residuals, variances, alone, PAIRS_ENOUGH - 2 * cut_of(PAIRS_ENOUGH))
        self.scale_freedom = self._prior.scale_freedom(float(alone.max()))
        """Of what the errors of all cells have in common, which no permutation varies; or infinite."""
        self.freedom = self._prior.freedom(alone)
        self.spread = np.sqrt(self._prior.moderated(variances, alone))
        self.error = self._errors(self._prior.moderated(variances, alone))

    def t(self, shift: Values) -> Values:
        """Return Yuen's t of all exchanges, that of the data first, of differences beyond a shift.

        Args:
            shift: Shape ``(cells,)``.

        Returns:
            Shape ``(exchanges, cells)``; the second half is the first one with the other sign.
        """
        signs = _signs(len(self.differences))
        means, variances = (np.empty((len(signs), len(self.mean))) for _ in range(2))
        for rows, columns, cut in self._alike:
            beyond = (self.differences[np.ix_(rows, columns)] - shift[columns]).T
            found = _exchanged(signs[:, rows], beyond, cut)
            means[:, columns], variances[:, columns] = found.mean, found.variance
        # What is usual is so in each exchange anew: else the data would be judged by their own measure.
        known = variances if self._prior is NONE else moderated_each(variances, self._left - 1.0)
        half = means / self._errors(known)
        return np.concatenate([half, -half])

    def _errors(self, variances: Values) -> Values:
        return np.asarray(np.sqrt(variances / self._left + self.floor + _TINY))


def _alike(there: Values, level: float) -> Iterator[_Alike]:
    """Cells by the launches that they have, which are mostly all."""
    ways, of = np.unique(there, axis=1, return_inverse=True)
    for way, rows in enumerate(ways.T):
        count = int(rows.sum())
        columns = np.flatnonzero(np.ravel(of) == way)
        yield _Alike(np.flatnonzero(rows), columns, cut_of_pairs(count, level))


def _exchanged(signs: Values, values: Values, cut: int) -> Trimmed:
    """Trimmed means of values, shape ``(cells, launches)``, with each of some choices of signs.

    Returns:
        Of shape ``(choices, cells)``.
    """
    cells, count = values.shape
    if cut == 0:
        means = signs @ values.T / count
        squares = np.maximum((values**2).sum(axis=1) - count * means**2, 0.0)
        return Trimmed(means, squares / (count - 1), count)
    at_once = max(1, _ENTRIES_MOST // signs.size)
    parts = [
        trimmed(signs[:, None, :] * values[None, begin : begin + at_once], cut)
        for begin in range(0, cells, at_once)
    ]
    means, variances = (np.concatenate([part[which] for part in parts], axis=1) for which in (0, 1))
    return Trimmed(means, variances, count - 2 * cut)


class Apart:
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
        sides = [_each(side) for side in (first, second)]
        counts = np.stack([np.isfinite(side).sum(axis=0) for side in (first, second)])
        shares = np.stack([variance / left for _, variance, left in sides])
        left = np.stack([left for *_, left in sides])
        both = shares.sum(axis=0)
        self.mean = sides[1][0] - sides[0][0]
        self.error = np.sqrt(both + floor + _TINY)
        self.freedom = (both + _TINY) ** 2 / ((shares**2 / (left - 1)).sum(axis=0) + _TINY**2)
        self.launches = counts.min(axis=0)
        self.spread = np.sqrt(both * 2 / (1 / left).sum(axis=0))


def _each(side: Values) -> tuple[Values, Values, Values]:
    """Trimmed mean, variance and number of values left of each column, without what is missing."""
    columns = [column[np.isfinite(column)] for column in side.T]
    found = [trimmed(column, cut_of(column.size)) for column in columns]
    means, variances, left = (np.array(each, dtype=float) for each in zip(*found, strict=True))
    return means, variances, left


@lru_cache(maxsize=8)
def _signs(launches: int) -> Values:
    """Which pairs are swapped: all ways if they are few, else as many as tell; none swapped first.

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
    shifts = np.full(len(family.mean), shift)
    if isinstance(family, Paired) and family.permutes:
        return step_down(family.t(shifts)), step_down(-family.t(-shifts))
    return (
        holm(special.stdtr(family.freedom, -(family.mean - shift) / family.error)),
        holm(special.stdtr(family.freedom, (family.mean + shift) / family.error)),
    )


def reach(family: Family, level: float = LEVEL) -> Values:
    """How many standard errors the intervals reach that hold for all cells at once, but for this error."""
    cells = len(family.mean)
    if isinstance(family, Paired) and family.permutes:
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
