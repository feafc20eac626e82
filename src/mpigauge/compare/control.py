"""What a comparison says of itself: how often its data raise a false alarm, and find a planted difference.

The launches of this very comparison, without what they differ in, go through the whole decision again with
sides swapped at random: nothing of that is a difference. Then one is planted in a quarter of the cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.decision import verdicts
from mpigauge.stats.max_t import Paired

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.stats.decision import Thresholds
    from mpigauge.stats.percentiles import Values

TRIALS = 20
PLANTED = (0.0, 0.03, 0.05, 0.10)


@dataclass(frozen=True, slots=True)
class DecisionRate:
    """How often a comparison of these launches calls cells slower.

    Attributes:
        planted: By how much some cells were made slower, as a fraction; 0: by nothing.
        times: Trials in which any cell was called slower; or, if something was planted, cells called slower
            that are.
        of: Trials, or planted cells of all trials.
    """

    planted: float
    times: int
    of: int

    @property
    def share(self) -> float:
        """Fraction of the trials or cells."""
        return self.times / self.of


def rates_of(family: Paired, thresholds: Thresholds) -> tuple[DecisionRate, ...]:
    """Return how often nulls raise a false alarm, and the share found of each planted difference."""
    return tuple(_rate(family, thresholds, planted) for planted in PLANTED)


def _rate(family: Paired, thresholds: Thresholds, planted: float) -> DecisionRate:
    cells = len(family.mean)
    shifted = np.zeros(cells)
    shifted[::4] = np.log1p(planted)
    found = alarms = 0
    for null in _nulls(family):
        words = verdicts(Paired(null + shifted, family.floor, thresholds.level), thresholds)
        found += sum(word == "slower" for word in words[::4])
        alarms += "slower" in words
    if planted:
        return DecisionRate(planted, found, TRIALS * len(range(0, cells, 4)))
    return DecisionRate(0.0, alarms, TRIALS)


def _nulls(family: Paired) -> Iterator[Values]:
    """Yield launches without their difference, sides swapped at random, with the same dispersion."""
    launches = family.launches
    centred = (family.differences - family.mean) * np.sqrt(launches / np.maximum(launches - 1, 1))
    chance = np.random.default_rng(TRIALS)
    for _ in range(TRIALS):
        yield centred * chance.choice((-1.0, 1.0), (len(centred), 1))
