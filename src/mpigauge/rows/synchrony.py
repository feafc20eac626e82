"""How well ranks started together, what root and ranks saw, how much was hidden, who waited for a target.

Times in seconds. A visit's lists have one entry a round (docs/method-collectives.md#what-a-round-gives).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.clock_resolution import median_of
from mpigauge.stats.interval import Number, interval_of, interval_of_amounts
from mpigauge.units import NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from mpigauge.plan.model import JobKey
    from mpigauge.result.kernel_data import ClockCheck
    from mpigauge.result.records import Clock, Visit
    from mpigauge.stats.percentiles import Values

    Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Start:
    """How the ranks of a cell started together.

    Attributes:
        skew_p50_s: Median over all rounds in time of last start - first start.
        skew_p99_s: Its 99th percentile.
        late_share: Rounds before whose start not every rank had come, of all.
        root_s: Median over launches of the median of end - start at the root.
        local_s: The same of the median over ranks.
    """

    skew_p50_s: float
    skew_p99_s: float
    late_share: float
    root_s: float | None
    local_s: float | None


@dataclass(frozen=True, slots=True)
class Overlap(Number):
    """How much computation hides behind a nonblocking operation.

    It is 1 - (time with computation - computation) / time without; median over launches. Below 0 if computing
    costs the operation more than it hides.

    Attributes:
        pure_s: Of the operation alone, median over launches of medians.
    """

    pure_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ClockState:
    """How well the global clock held in some launches.

    Attributes:
        shared: All ranks read one clock in all of them.
        error_s: The largest offset that was seen. Of a shared clock, only what its bounds prove.
        bound_s: No clock was further off than this when it was checked.
    """

    shared: bool
    error_s: float
    bound_s: float


def in_time(visit: Visit) -> Flags:
    """Return which rounds count: those that all ranks started in time, or all if there are none."""
    keep = np.ones(len(visit.samples_ns), dtype=bool)
    if len(visit.late) < len(keep):
        keep[visit.late] = False
    return keep


def start_of(visits: Sequence[Visit], step_ns: float = 0.0) -> Start | None:
    """Return how the ranks of a cell started together; None if they need not.

    Args:
        step_ns: Of the clock.
    """
    visits = [visit for visit in visits if visit.skew_ns]
    if not visits:
        return None
    skews_s = [np.asarray(visit.skew_ns, dtype=float)[in_time(visit)] * NS for visit in visits]
    steps_s = [step_ns * NS] * len(visits)
    rounds = sum(len(visit.samples_ns) for visit in visits)
    return Start(
        skew_p50_s=median_of(skews_s, steps_s),
        skew_p99_s=float(np.percentile(np.concatenate(skews_s), 99)),
        late_share=sum(len(visit.late) for visit in visits) / rounds,
        root_s=_centre(_medians(visits, "root_ns", step_ns)),
        local_s=_centre(_medians(visits, "local_ns", step_ns)),
    )


def _medians(visits: Iterable[Visit], name: str, step_ns: float) -> list[float]:
    """Return launch medians, in seconds of one operation, of one of a visit's lists."""
    launches: dict[int, list[tuple[Values, float]]] = defaultdict(list)
    for visit in visits:
        values = np.asarray(getattr(visit, name), dtype=float) / visit.ops
        # The kernel has left late rounds out of pure_ns already.
        mine = values if name == "pure_ns" else values[in_time(visit)]
        launches[visit.launch].append((mine, step_ns / visit.ops))
    parts = (zip(*pairs, strict=True) for pairs in launches.values())
    return [median_of(list(values), list(steps)) * NS for values, steps in parts]


def _centre(medians: Sequence[float]) -> float | None:
    """Return the centre of times of launches; None if one of them is not positive."""
    return interval_of(np.array(medians)).estimate if medians and min(medians) > 0 else None


def overlap_of(visits: Sequence[Visit], step_ns: float = 0.0) -> Overlap | None:
    """Return how much computation hides behind a cell that computes meanwhile; None without a computation.

    Visit by visit, since the computation is as long as the visit's own operation took; the median of
    a launch's visits stands for the launch.

    Args:
        step_ns: Of the clock.
    """
    visits = [visit for visit in visits if visit.pure_ns and visit.work_ns > 0]
    pure = _centre(_medians(visits, "pure_ns", step_ns))
    if pure is None:
        return None
    launches: dict[int, list[float]] = defaultdict(list)
    for visit in visits:
        whole_ns = _median_ns(np.asarray(visit.samples_ns)[in_time(visit)], step_ns) / visit.ops
        pure_ns = _median_ns(np.asarray(visit.pure_ns), step_ns) / visit.ops
        if pure_ns > 0:
            launches[visit.launch].append(1 - (whole_ns - visit.work_ns) / pure_ns)
    shares = [float(np.median(values)) for values in launches.values()]
    hidden = interval_of_amounts(np.array(shares))
    return Overlap(*hidden.ends, hidden.launches, pure)


def _median_ns(samples_ns: npt.NDArray[np.int64], step_ns: float) -> float:
    return median_of([samples_ns.astype(np.float64)], [step_ns])


def clock_states(clocks: Iterable[Clock]) -> Mapping[JobKey, ClockState]:
    """Return how the global clock held, by job: the worst of all checks."""
    jobs: dict[JobKey, list[Clock]] = defaultdict(list)
    for clock in clocks:
        jobs[clock.job].append(clock)
    return {job: _clock_state(mine) for job, mine in jobs.items()}


def _clock_state(clocks: Sequence[Clock]) -> ClockState:
    shared = all(clock.shared for clock in clocks)
    checks = [check for clock in clocks for check in clock.checks]
    errors = [_certain_ns(check) if shared else abs(check.low_ns + check.high_ns) / 2 for check in checks]
    bounds = [max(abs(check.low_ns), abs(check.high_ns)) for check in checks]
    return ClockState(shared, max(errors, default=0) * NS, max(bounds, default=0) * NS)


def _certain_ns(check: ClockCheck) -> float:
    """Return how far off a clock must be, whatever way the messages took."""
    return max(check.low_ns, -check.high_ns, 0)


HALF = 0.5
"""Share of the target's computation by which a launch is judged: far from both of its possible times."""


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
    """Return whether a cell waits for its target; None if no launch tells, or in none it computes.

    The operation begins when a fifth of the target's computation is over: it takes what it does otherwise, or
    most of the rest.
    """
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
