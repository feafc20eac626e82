"""One-sided operations while their target computes: whether they wait until it enters MPI.

Of such a visit, `pure_ns` are samples while the target waits in MPI, and `work_ns` is how long it computes.
The operation begins when a fifth of that is over: it takes what it does otherwise, or most of the rest.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.records import Visit

HALF = 0.5
"""What a launch is judged by, of the time that the target computes: far from both of its possible times."""


UPPER = 75
"""The percentile of a launch's samples: a rank that has lost its processor begins when the target is back in
MPI, so that what waits looks short at times; what does not wait never looks long for a quarter of the time.
"""


FEW = 4
"""Samples of a launch of fewer must all say the same: a quarter of them is less than one."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Whether an operation needs its target to enter MPI.

    Attributes:
        waiting: Launches in which it waited for the target, by the upper quartile of its samples.
        launches: All launches whose samples tell.
    """

    waiting: int
    launches: int

    @property
    def needs_target(self) -> bool | None:
        """True if it waited in all launches, False in none; None if they differ."""
        if 0 < self.waiting < self.launches:
            return None
        return self.waiting > 0


def progress_of(visits: Sequence[Visit]) -> Progress | None:
    """Return whether a cell waits for its target; None if no launch tells, or in none it computes."""
    shares: dict[int, list[float]] = defaultdict(list)
    for visit in visits:
        if visit.work_ns > 0 and len(visit.samples_ns):
            shares[visit.launch].extend(np.asarray(visit.samples_ns) / visit.work_ns)
    told = [waits for mine in shares.values() if (waits := _waits(mine)) is not None]
    return Progress(sum(told), len(told)) if told else None


def _waits(shares: Sequence[float]) -> bool | None:
    """Return whether a launch waited, by its samples over the computation; None if few of them disagree."""
    if len(shares) < FEW and min(shares) <= HALF < max(shares):
        return None
    return float(np.percentile(shares, UPPER)) > HALF
