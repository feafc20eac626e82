"""How others say that something is slower: rules in use elsewhere, on the samples of a result of mpigauge.

tolerance     the mean of one launch exceeds that of another by more than 5 %: a reference with a tolerance,
              as regression tests of sites have it
Mann-Whitney  all samples of all launches pooled, one-sided, at 5 %
minima        the fastest sample of all is slower by more than 3 %
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from mpigauge.rows.samples import by_cell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit

TOLERANCE = 1.05
MARGIN = 1.03
LEVEL = 0.05

Launches = list[np.ndarray]
"""Samples of every launch, in ns."""


def by_tolerance(base: Launches, other: Launches) -> bool:
    """Return whether one launch of the other is slower by more than a tolerance."""
    return bool(other[0].mean() > TOLERANCE * base[0].mean())


def by_pooled_samples(base: Launches, other: Launches) -> bool:
    """Return whether the other is slower by all samples, as if each were independent."""
    first, second = np.concatenate(base), np.concatenate(other)
    return bool(stats.mannwhitneyu(second, first, alternative="greater").pvalue < LEVEL)


def by_minima(base: Launches, other: Launches) -> bool:
    """Return whether the other is slower by the fastest samples."""
    return bool(min(map(np.min, other)) > MARGIN * min(map(np.min, base)))


RULES: Mapping[str, Callable[[Launches, Launches], bool]] = {
    "tolerance of 5 %, one launch": by_tolerance,
    "Mann-Whitney, pooled samples": by_pooled_samples,
    "ratio of minima, 3 %": by_minima,
}


def slower_by(results: Sequence[Result], pattern: str, side: Callable[[Cell], str]) -> dict[str, set[int]]:
    """Return the sizes of a pattern that each rule calls slower.

    Args:
        results: One with both sides, or two with one each.
        side: Returns the words that distinguish two cells of one size; the base comes first in their order.
    """
    sizes: dict[int, dict[str, Launches]] = defaultdict(dict)
    for number, result in enumerate(results):
        for cell, visits in by_cell(result.visits).items():
            if cell.pattern == pattern:
                sizes[cell.bytes][f"{number}{side(cell)}"] = _launches(visits)
    found: dict[str, set[int]] = {name: set() for name in RULES}
    for size, sides in sizes.items():
        base, other = (sides[word] for word in sorted(sides))
        for name, rule in RULES.items():
            if rule(base, other):
                found[name].add(size)
    return found


def _launches(visits: Sequence[Visit]) -> Launches:
    found: dict[int, list[np.ndarray]] = defaultdict(list)
    for visit in visits:
        found[visit.launch].append(np.asarray(visit.samples_ns, dtype=float))
    return [np.concatenate(found[number]) for number in sorted(found)]
