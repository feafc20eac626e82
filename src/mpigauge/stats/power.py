"""What a comparison can find: which difference it misses in one of five, and what more launches would find.

A cell is called slower if its estimate exceeds the reach of its interval, what the instrument cannot promise
by the reach of one side, and the margin. So a difference of just the margin is found in half of all
comparisons at most, however many launches there are; launches are promised for twice as much. Source:
docs/method-comparison.md#comparison
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from mpigauge.stats.max_t import Family
    from mpigauge.stats.percentiles import Values

POWER = 0.8
"""How often a difference is found that is said to be."""

SURE = 0.9
"""In how many comparisons launches differ no more than is reckoned with: few are often alike by luck."""

TIMES_MARGIN = 2
LAUNCHES_MOST = 1000
"""More are not advised."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """What an estimate must exceed to be called slower, as fractions.

    Attributes:
        instrument: Beyond chance.
        margin: By itself.
        words: Share of the error that words have; intervals have all of it.
    """

    instrument: float
    margin: float
    words: float = 1.0

    def found(self, error: Values, freedom: Values, share: Values) -> Values:
        """The differences that are found in four of five, as logarithms, shape ``(cells,)``.

        Args:
            error: Standard errors.
            freedom: Degrees of freedom of these.
            share: The error that a verdict on all cells leaves to each of them.
        """
        either = special.stdtrit(freedom, 1 - share / 2) * error
        beyond = np.log1p(self.instrument) + special.stdtrit(freedom, 1 - self.words * share) * error
        least = np.maximum(np.maximum(either, beyond), np.log1p(self.margin))
        return np.asarray(least + special.stdtrit(freedom, POWER) * error)


def missed(family: Family, joint: Values, bar: Threshold) -> Values:
    """The difference of each cell, as a fraction, that would be missed in one of five such comparisons.

    Args:
        joint: How many standard errors the intervals reach that hold for all cells at once.
    """
    return np.asarray(np.expm1(bar.found(family.error, family.freedom, _share(family, joint))))


def needed(family: Family, joint: Values, bar: Threshold, least: int) -> list[int | None]:
    """Launches after which twice the margin would be found in four of five; None for more than a thousand.

    Args:
        joint: As of `missed`.
        least: No fewer are named.
    """
    share, wanted = _share(family, joint), np.log1p(TIMES_MARGIN * bar.margin)
    variance = family.spread**2 * family.freedom / special.chdtri(family.freedom, SURE)
    low, high = np.full(len(share), least), np.full(len(share), LAUNCHES_MOST + 1)
    while (apart := low < high).any():
        middle = (low + high) // 2
        error = np.sqrt(variance / middle + family.floor)
        enough = bar.found(error, middle - 1.0, share) <= wanted
        high = np.where(apart & enough, middle, high)
        low = np.where(apart & ~enough, middle + 1, low)
    return [int(number) if number <= LAUNCHES_MOST else None for number in high]


def _share(family: Family, joint: Values) -> Values:
    """The error of one cell whose intervals reach as far."""
    return np.asarray(2 * special.stdtr(family.freedom, -joint))
