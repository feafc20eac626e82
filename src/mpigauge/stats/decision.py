"""The verdict on each cell of a comparison, with its interval, and the error rate of each word.

    slower       beyond chance for all cells together (max_t.py), by the margin or more, its interval above 1
    faster       the same the other way
    same         an interval of this cell alone lies within the margin
    undecided    none of these

Three thresholds have three jobs: `INSTRUMENT` is what no two builds can be promised to differ by less than,
the margin is what matters, and `allow` what a pass must exclude. Source: docs/method-comparison.md#comparison
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mpigauge.stats.interval import DISTANCE_MOST
from mpigauge.stats.max_t import LEVEL, beyond, reach
from mpigauge.stats.power import Threshold, missed, needed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.stats.max_t import Family
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import Verdict

INSTRUMENT = 0.01
"""Binary layout, seats and the like make two measurements of one thing differ by so much."""

MARGIN = 0.03
ALLOW = 0.10

LAUNCHES_LEAST = 5
"""Of fewer nothing is said."""

RUNS_SHARE = 0.2
"""Share of the level that runs of sizes may err, where there are any; single cells have the rest."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a comparison is held to, as fractions.

    Attributes:
        margin: A difference that is smaller does not matter.
        allow: What must be excluded for a pass.
        level: The error of a verdict: one minus what its intervals hold.
    """

    margin: float = MARGIN
    allow: float = ALLOW
    level: float = LEVEL


@dataclass(frozen=True, slots=True)
class Decision:
    """What is said of one cell.

    Attributes:
        ratio: How many times as long the second takes as the first.
        low: Lower end of the interval that holds for all cells at once, at 95 %.
        high: Its upper end.
        bound: What the ratio does not exceed, of this cell alone, at 95 %.
        p: Adjusted for all cells: of differences in this direction.
        small: The interval excludes 1, but the ratio is within the margin.
        missed: The difference, as a fraction, that would be missed in one of five such comparisons.
        needed: Launches after which a difference of twice the margin would be found in four of five; None for
            more than a thousand.
        launches: In which it rests.
        t: By how many standard errors it differs from 1, as logarithms.
    """

    ratio: float
    low: float
    high: float
    bound: float
    p: float
    verdict: Verdict
    small: bool
    missed: float
    needed: int | None
    launches: int
    t: float = 0.0

    def passes(self, allow: float) -> bool:
        """Whether it is certainly not slower by more."""
        return self.bound <= 1 + allow


def verdicts(family: Family, thresholds: Thresholds, share: float = 1.0) -> list[Verdict]:
    """Return the words alone, in less time."""
    sides = beyond(family, float(np.log1p(INSTRUMENT)))
    return list(_verdicts(family, thresholds, sides, reach(family, thresholds.level), share))


def decide(family: Family, thresholds: Thresholds, share: float = 1.0) -> list[Decision]:
    """Return what is said of each cell of a family, in its order.

    Args:
        share: Of the level, what the words "slower" and "faster" may err; all intervals at once err by all
            of it.
    """
    slower, faster = beyond(family, float(np.log1p(INSTRUMENT)))
    joint = reach(family, thresholds.level)
    words = _verdicts(family, thresholds, (slower, faster), joint, share)
    bar = Threshold(INSTRUMENT, thresholds.margin, share)
    misses, launches = missed(family, joint, bar), needed(family, joint, bar, LAUNCHES_LEAST)
    alone = special.stdtrit(family.freedom, 1 - thresholds.level)
    p = np.where(family.mean > 0, slower, faster)
    half = np.minimum(joint * family.error, DISTANCE_MOST)
    low, high = np.exp(family.mean - half), np.exp(family.mean + half)
    small = ((low > 1) | (high < 1)) & (np.abs(family.mean) < np.log1p(thresholds.margin))
    return [
        Decision(
            ratio=float(np.exp(family.mean[cell])),
            low=float(low[cell]),
            high=float(high[cell]),
            bound=float(np.exp(family.mean[cell] + min(alone[cell] * family.error[cell], DISTANCE_MOST))),
            p=float(p[cell]),
            verdict=word,
            small=bool(small[cell]),
            missed=float(misses[cell]),
            needed=launches[cell],
            launches=int(family.launches[cell]),
            t=float(family.mean[cell] / family.error[cell]),
        )
        for cell, word in enumerate(words)
    ]


def _verdicts(
    family: Family, thresholds: Thresholds, sides: tuple[Values, Values], joint: Values, share: float
) -> Iterator[Verdict]:
    """The word for each cell, by the chances that it is slower and that it is faster."""
    enough, level = np.log1p(thresholds.margin), thresholds.level
    alone = special.stdtrit(family.freedom, 1 - level) * family.error
    slower, faster = sides
    for cell, mean in enumerate(family.mean):
        clear = abs(mean) > joint[cell] * family.error[cell]
        if clear and slower[cell] <= level * share and mean >= enough:
            yield "slower"
        elif clear and faster[cell] <= level * share and mean <= -enough:
            yield "faster"
        else:
            yield "same" if abs(mean) + alone[cell] <= enough else "undecided"
