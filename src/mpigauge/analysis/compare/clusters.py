"""Neighbouring sizes that are slower together, though none of them may be by itself: a cluster test.

A cluster is a run of sizes of one curve whose t is beyond the 5 % of one cell, with a gap of one at most. The
sum of its t decides: against the largest such sum of any curve in the exchanges of whole launches. That it
exists has the stated error; where it ends has not. Source: Maris and Oostenveld, Nonparametric statistical
testing of EEG and MEG data (2007); docs/method.md#comparison
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mpigauge.analysis.compare.max_t import LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.analysis.compare.max_t import Family
    from mpigauge.analysis.percentiles import Values

GAP = 1
"""Sizes between two of a run that are not like them."""

CELLS_LEAST = 2


@dataclass(frozen=True, slots=True)
class Cluster:
    """Cells of a curve that are slower together.

    Attributes:
        cells: Their places in the family, from the smallest size to the largest.
        sizes: How many sizes of the curve lie between its ends, these included.
        ratio: How many times as long they take, the geometric mean over them.
        p: How often chance makes a larger one anywhere.
    """

    cells: tuple[int, ...]
    sizes: int
    ratio: float
    p: float


def clusters_of(family: Family, curves: Sequence[Sequence[int]], shift: float) -> list[Cluster]:
    """Those that chance makes in at most 5 % of families; none if launches are too few to be permuted.

    Args:
        curves: Of each curve the places of its cells in the family, in the order of their sizes.
        shift: Logarithm of a ratio that a difference must exceed.
    """
    if not family.permutes:
        return []
    t = family.t(np.full(len(family.mean), shift))
    enough = np.asarray(special.stdtrit(family.freedom, 1 - LEVEL), dtype=float)
    largest = np.max([_masses(t[:, list(curve)], enough[list(curve)]) for curve in curves], axis=0)
    found = []
    for curve in curves:
        for run in neighbours(np.flatnonzero(t[0, list(curve)] > enough[list(curve)]).tolist()):
            cells = tuple(curve[at] for at in run)
            p = float((largest >= t[0, list(cells)].sum() - 1e-12).mean())
            if len(cells) >= CELLS_LEAST and p <= LEVEL:
                ratio = float(np.exp(family.mean[list(cells)].mean()))
                found.append(Cluster(cells, run[-1] - run[0] + 1, ratio, p))
    return found


def _masses(t: Values, enough: Values) -> Values:
    """The largest sum over a run of each permutation, shape ``(permutations,)``."""
    mass, gap, largest = (np.zeros(len(t)) for _ in range(3))
    for at in range(t.shape[1]):
        beyond = t[:, at] > enough[at]
        gap = np.where(beyond, 0, gap + 1)
        mass = np.where(beyond, mass + t[:, at], np.where(gap > GAP, 0.0, mass))
        largest = np.maximum(largest, mass)
    return largest


def neighbours(places: Iterable[int]) -> list[list[int]]:
    """Rising places as runs, with `GAP` others at most between two of a run."""
    found: list[list[int]] = []
    for at in places:
        if found and at - found[-1][-1] <= 1 + GAP:
            found[-1].append(at)
        else:
            found.append([at])
    return found
