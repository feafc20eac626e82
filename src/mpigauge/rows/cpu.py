"""How busy operations keep the cores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.ragged import ragged_of
from mpigauge.units import NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.records import Visit


def cpu_s(visits: Sequence[Visit]) -> float | None:
    """User and system time of all ranks for one operation, in seconds; None if not known."""
    known = [visit for visit in visits if visit.cpu_ns is not None]
    operations = sum(len(visit.samples_ns) * visit.ops for visit in known)
    return sum(visit.cpu_ns or 0 for visit in known) * NS / operations if operations else None


def cpu_share(cell: Cell, pattern: Pattern | None, visits: Sequence[Visit]) -> float | None:
    """CPU time over wall time of all ranks, in the median visit: one that was interrupted says little.

    At most 1, however the two clocks disagree.
    """
    known = [visit for visit in visits if visit.cpu_ns is not None]
    if pattern is None or not known:
        return None
    walls_ns = ragged_of([np.asarray(visit.samples_ns) for visit in known]).sums()
    spent_ns = np.array([visit.cpu_ns for visit in known], dtype=np.float64)
    there = walls_ns > 0
    if not there.any():
        return None
    ranks = pattern.active_ranks or cell.ranks
    return min(1.0, float(np.median(spent_ns[there] / (ranks * walls_ns[there]))))
