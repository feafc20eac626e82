"""Which cells of a comparison are worth new launches: those that may differ, and some that need not.

A verdict on cells that were picked for what they look like rests on new launches alone. With the old ones
added, more comparisons of equals call something slower than is promised:
docs/method-comparison.md#measuring-again
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mpigauge.compare.sides import family_of
from mpigauge.rows.group import cell_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.compare.comparison import Compared, Comparison
    from mpigauge.compare.pairs import Pair
    from mpigauge.rows.group import Key
    from mpigauge.stats.max_t import Family

CHANCE = 0.25
"""A difference that chance alone makes this often, in either direction, is suspicious."""

UNSUSPICIOUS = 3
"""Cells that nobody suspects are measured again, too: they tell what other launches do to any cell."""

LAUNCHES_LEAST = 10
LAUNCHES_MOST = 30


def suspicious(shown: Comparison) -> list[Pair]:
    """The pairs to be measured again: what may differ, or does not pass, and a few others at random."""
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
    """How often chance alone makes such a difference, of each cell by itself, in either direction."""
    t = np.abs(family.mean) / family.error
    yield from (2 * special.stdtr(family.freedom, -t)).tolist()


def launches_for(cells: Sequence[Compared]) -> int:
    """How many launches the picked cells take, within bounds."""
    needed = [one.decision.needed for one in cells if one.decision is not None]
    most = max((LAUNCHES_MOST if one is None else one for one in needed), default=LAUNCHES_LEAST)
    return min(max(most, LAUNCHES_LEAST), LAUNCHES_MOST)


# ---- What was first seen of cells that were measured again ---------------------------------------

RELABELLED = frozenset({"label"})
"""What a second stage may call otherwise: two builds of one version that had no labels get some."""


def first_looks(fresh: Comparison, before: Comparison) -> dict[Compared, Compared]:
    """Of numbers of a second stage, the first stage's of the same; none where that cannot be told."""
    known = {_key(one): one for one in _all(before)}
    unlabelled = Counter(_key(one, RELABELLED) for one in known.values())
    alone = {_key(one, RELABELLED): one for one in known.values() if unlabelled[_key(one, RELABELLED)] == 1}
    found = {one: known.get(_key(one)) or alone.get(_key(one, RELABELLED)) for one in _all(fresh)}
    return {one: first for one, first in found.items() if first is not None}


def _all(shown: Comparison) -> tuple[Compared, ...]:
    return (*shown.cells, *shown.controls)


def _key(one: Compared, ignored: frozenset[str] = frozenset()) -> tuple[Key, Key]:
    """Of both sides; the state of the machine is that of its day."""
    return cell_key(one.pair.base.cell, ignored), cell_key(one.pair.other.cell, ignored)
