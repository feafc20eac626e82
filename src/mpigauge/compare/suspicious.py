"""Cells of a comparison to measure again: those that may differ, and some at random.

A verdict on cells that were picked for what they look like rests on new launches alone. With the old ones
added, more comparisons of equals call something slower than is promised:
docs/method-comparison.md#measuring-again
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.compare.sides import family_of
from mpigauge.rows.group import cell_key
from mpigauge.stats import special

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.compare.comparison import Compared, Comparison
    from mpigauge.compare.pairs import Pair
    from mpigauge.rows.group import Key
    from mpigauge.stats.max_t import Family

CHANCE = 0.25
"""The p-value below which a difference is suspicious."""

UNSUSPICIOUS = 3
"""Random other cells that are measured again: they show what new launches do to any cell."""

MIN_LAUNCHES = 10
MAX_LAUNCHES = 30


def suspicious(shown: Comparison) -> list[Pair]:
    """Return pairs to be measured again: those that may differ or do not pass, and a few at random."""
    pairs = [cell.pair for cell in shown.cells]
    allow = shown.thresholds.allow
    picked = {
        id(cell.pair) for cell in shown.cells if cell.decision is None or not cell.decision.passes(allow)
    }
    for paired in (True, False):
        alike = [pair for pair in pairs if pair.judged and pair.paired == paired]
        if alike:
            picked |= {
                id(pair) for pair, p in zip(alike, p_values(family_of(alike)), strict=True) if p < CHANCE
            }
    controls = [cell.pair for cell in shown.controls]
    chance = np.random.default_rng(len(pairs))
    for others in ([pair for pair in pairs if id(pair) not in picked], controls):
        picked |= {id(others[place]) for place in chance.permutation(len(others))[:UNSUSPICIOUS]}
    return [pair for pair in (*pairs, *controls) if id(pair) in picked]


def p_values(family: Family) -> Iterator[float]:
    """Yield the two-sided p-value of each cell by itself."""
    t = np.abs(family.mean) / family.error
    yield from (2 * special.stdtr(family.freedom, -t)).tolist()


def launches_for(cells: Sequence[Compared]) -> int:
    """Return how many launches the picked cells take, within bounds."""
    needed = [cell.decision.needed for cell in cells if cell.decision is not None]
    most = max((MAX_LAUNCHES if cell is None else cell for cell in needed), default=MIN_LAUNCHES)
    return min(max(most, MIN_LAUNCHES), MAX_LAUNCHES)


# ---- What was first seen of cells that were measured again ---------------------------------------

RELABELLED = frozenset({"label"})
"""Factors that a second stage may name differently: two builds of one version that had no labels get some."""


def first_looks(fresh: Comparison, before: Comparison) -> dict[Compared, Compared]:
    """Return the first stage's number of each number of a second stage, where it can be identified."""
    known = {_key(cell): cell for cell in _all(before)}
    unlabelled = Counter(_key(cell, RELABELLED) for cell in known.values())
    without_label = {
        _key(cell, RELABELLED): cell for cell in known.values() if unlabelled[_key(cell, RELABELLED)] == 1
    }
    pairs = {cell: known.get(_key(cell)) or without_label.get(_key(cell, RELABELLED)) for cell in _all(fresh)}
    return {cell: first for cell, first in pairs.items() if first is not None}


def _all(shown: Comparison) -> tuple[Compared, ...]:
    return (*shown.cells, *shown.controls)


def _key(cell: Compared, ignored: frozenset[str] = frozenset()) -> tuple[Key, Key]:
    """Return the factors of both sides, without the state of the machine: it may differ by day."""
    return cell_key(cell.pair.base.cell, ignored), cell_key(cell.pair.other.cell, ignored)
