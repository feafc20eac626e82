"""Neighbouring sizes of a curve judged as one number: a difference of a protocol is never at one size alone.

The differences of a run of sizes are pooled by launch, and all runs of all curves are a family of their own,
judged by the same engine as single cells. So the ratio of a run has an interval that holds for all runs at
once, and picking the most telling one costs nothing. Source: docs/method-comparison.md#comparison
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.decision import RUNS_SHARE, decide
from mpigauge.stats.max_t import PAIRS_LEAST, Paired
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.stats.decision import Decision, Thresholds
    from mpigauge.stats.percentiles import Values

CELLS_LEAST = 2
LONGER = 1.2
"""Runs of each length up to 10 sizes are tried, then of lengths that grow by this factor."""


@dataclass(frozen=True, slots=True)
class PooledRun:
    """Neighbouring sizes of a curve, and what is said of all of them as one number.

    Attributes:
        cells: Their places in the family, from the smallest size to the largest.
        decision: Its ratio is the geometric mean over the sizes.
    """

    cells: tuple[int, ...]
    decision: Decision


def pooled_runs(family: Paired, curves: Sequence[Sequence[int]], thresholds: Thresholds) -> list[PooledRun]:
    """Return the runs that are slower or faster; of those that overlap, the most telling one.

    Args:
        curves: Of each curve the places of its cells in the family, in the order of their sizes.
        thresholds: Of the whole comparison, of whose level runs have their share.
    """
    tried = [run for curve in curves for run in _runs(curve)]
    pooled = np.array([family.differences[:, run].mean(axis=1) for run in tried]).T
    told = np.isfinite(pooled).sum(axis=0) >= PAIRS_LEAST if tried else np.zeros(0, dtype=bool)
    if not told.any():
        return []
    floor = np.array([family.floor[run].mean() for run in tried])
    of_runs = Paired(pooled[:, told], floor[told], thresholds.level * RUNS_SHARE)
    known = [tuple(run) for run, tells in zip(tried, told, strict=True) if tells]
    found = [
        PooledRun(cells, one)
        for cells, one in zip(known, decide(of_runs, thresholds, RUNS_SHARE), strict=True)
        if one.verdict in DIFFERENT and _without_most(family.mean[list(cells)]) >= np.log1p(thresholds.margin)
    ]
    return _apart(found)


def _without_most(means: Values) -> float:
    """How far all but the size that differs most differ: one alone makes any run around it differ."""
    means = means * np.sign(means.sum())
    return float((means.sum() - means.max()) / (len(means) - 1))


def _runs(curve: Sequence[int]) -> Iterator[list[int]]:
    """Neighbours of a curve, of some lengths, at every place."""
    length = CELLS_LEAST
    while length <= len(curve):
        yield from (list(curve[begin : begin + length]) for begin in range(len(curve) - length + 1))
        length = max(length + 1, int(length * LONGER))


def _apart(found: Sequence[PooledRun]) -> list[PooledRun]:
    """The most telling ones that share no cell, in the order of their cells."""
    kept: list[PooledRun] = []
    for one in sorted(found, key=lambda run: -abs(run.decision.t)):
        if not any(set(one.cells) & set(other.cells) for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda run: run.cells)
