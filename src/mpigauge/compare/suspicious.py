"""Which cells of a comparison are worth new launches: those that may differ, and some that need not.

A verdict on cells that were picked for what they look like rests on new launches alone. With the old ones
added, more comparisons of equals call something slower than is promised:
docs/method-comparison.md#measuring-again
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mpigauge.compare.sides import family_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.compare.comparison import Compared, Comparison
    from mpigauge.compare.pairs import Pair
    from mpigauge.stats.max_t import Family

CHANCE = 0.25
"""A difference that chance alone makes this often, in either direction, is suspicious."""

UNSUSPICIOUS = 3
"""Cells that nobody suspects are measured again, too: they tell what other launches do to any cell."""

LAUNCHES_LEAST = 10
LAUNCHES_MOST = 30


def suspicious(shown: Comparison) -> list[Pair]:
    """Return pairs to be measured again: those that may differ or do not pass, and a few at random."""
    pairs = [one.pair for one in shown.cells]
    allow = shown.thresholds.allow
    picked = {id(one.pair) for one in shown.cells if one.decision is None or not one.decision.passes(allow)}
    for paired in (True, False):
        mine = [pair for pair in pairs if pair.judged and pair.paired == paired]
        if mine:
            picked |= {id(pair) for pair, p in zip(mine, chances(family_of(mine)), strict=True) if p < CHANCE}
    controls = [one.pair for one in shown.controls]
    chance = np.random.default_rng(len(pairs))
    for others in ([pair for pair in pairs if id(pair) not in picked], controls):
        picked |= {id(others[place]) for place in chance.permutation(len(others))[:UNSUSPICIOUS]}
    return [pair for pair in (*pairs, *controls) if id(pair) in picked]


def chances(family: Family) -> Iterator[float]:
    """Yield the two-sided p-value of each cell by itself."""
    t = np.abs(family.mean) / family.error
    yield from (2 * special.stdtr(family.freedom, -t)).tolist()


def launches_for(cells: Sequence[Compared]) -> int:
    """Return how many launches the picked cells take, within bounds."""
    needed = [one.decision.needed for one in cells if one.decision is not None]
    most = max((LAUNCHES_MOST if one is None else one for one in needed), default=LAUNCHES_LEAST)
    return min(max(most, LAUNCHES_LEAST), LAUNCHES_MOST)
