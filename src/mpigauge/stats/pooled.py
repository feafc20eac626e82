"""Neighbouring sizes of a curve judged as one number: a difference of a protocol is never at one size alone.

The differences of a run of sizes are pooled by launch, and all runs of all curves are a family of their own,
judged by the same engine as single cells. So the ratio of a run has an interval that holds for all runs at
once, and picking the one of largest t costs nothing. Source: docs/method-comparison.md#comparison
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.decision import RUNS_SHARE, decide
from mpigauge.stats.max_t import MIN_PAIRS, Paired
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.stats.decision import Decision, Thresholds
    from mpigauge.stats.percentiles import Values

MIN_CELLS = 2
LONGER = 1.2
"""Runs of each length up to 10 sizes are tried, then of lengths that grow by this factor."""


@dataclass(frozen=True, slots=True)
class PooledRun:
    """Neighbouring sizes of a curve with one decision for all of them.

    Attributes:
        cells: Their places in the family, from the smallest size to the largest.
        decision: Its ratio is the geometric mean over the sizes.
    """

    cells: tuple[int, ...]
    decision: Decision


def pooled_runs(family: Paired, curves: Sequence[Sequence[int]], thresholds: Thresholds) -> list[PooledRun]:
    """Return the runs that are slower or faster; of those that overlap, the one of largest t.

    A run ends, on either side, at a size that reaches the margin by itself.

    Args:
        curves: Places in the family of each curve's cells, in the order of their sizes.
        thresholds: Those of the whole comparison; runs have `RUNS_SHARE` of its error level.
    """
    tried = [run for curve in curves for run in _runs(curve)]
    pooled = np.array([family.differences[:, run].mean(axis=1) for run in tried]).T
    enough = np.isfinite(pooled).sum(axis=0) >= MIN_PAIRS if tried else np.zeros(0, dtype=bool)
    if not enough.any():
        return []
    floor = np.array([family.floor[run].mean() for run in tried])
    of_runs = Paired(pooled[:, enough], floor[enough], thresholds.shared_level * RUNS_SHARE)
    known = [tuple(run) for run, judged in zip(tried, enough, strict=True) if judged]
    different = [
        PooledRun(cells, one)
        for cells, one in zip(known, decide(of_runs, thresholds, RUNS_SHARE), strict=True)
        if one.verdict in DIFFERENT and _reaches(family.mean[list(cells)], float(np.log1p(thresholds.margin)))
    ]
    return _disjoint(different)


def _reaches(means: Values, margin: float) -> bool:
    """Return whether both ends of a run reach the margin, and the mean without the size that differs most.

    That size alone makes no run differ.
    """
    means = means * np.sign(means.sum())
    without_most = (means.sum() - means.max()) / (len(means) - 1)
    return bool(min(without_most, means[0], means[-1]) >= margin)


def _runs(curve: Sequence[int]) -> Iterator[list[int]]:
    """Yield runs of neighbouring cells of a curve, of growing length, at every place."""
    length = MIN_CELLS
    while length <= len(curve):
        yield from (list(curve[begin : begin + length]) for begin in range(len(curve) - length + 1))
        length = max(length + 1, int(length * LONGER))


def _disjoint(runs: Sequence[PooledRun]) -> list[PooledRun]:
    """Return the runs of largest t that share no cell, in the order of their cells."""
    kept: list[PooledRun] = []
    for run in sorted(runs, key=lambda run: -abs(run.decision.t)):
        if not any(set(run.cells) & set(other.cells) for other in kept):
            kept.append(run)
    return sorted(kept, key=lambda run: run.cells)
