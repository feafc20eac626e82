"""Watching a machine for a while: two ranks that exchange a cache line, or one process alone."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mpigauge.campaign.launch.awake import awake_s
from mpigauge.campaign.probe_run import run_probe
from mpigauge.plan.model import Measure, Plan
from mpigauge.result import environment
from mpigauge.rows.machine.watch import Watched, watched_alone, watched_by_ranks

if TYPE_CHECKING:
    from mpigauge.campaign.job_run import Observer
    from mpigauge.campaign.launch.interruption import Interruption

WHERE = "mpigauge doctor --watch"
NEVER_PRECISE = 1e-9
MAX_LAUNCHES = 1000
VISITS = 200
"""Visits per launch: many, so that counters are read often."""

MAX_SAMPLES = 20_000
WORK_STEPS = 2000
"""About 0.1 ms of a Python loop: short against a scheduler's time slice, long against a clock step."""


def watch_by_ranks(pattern: str, seconds: float, observer: Observer, interruption: Interruption) -> Watched:
    """Measure a pattern for so long and summarise the disturbances; no file is kept.

    Args:
        pattern: A pattern of two ranks on this machine.
        seconds: Duration; a launch that has begun may end later.

    Raises:
        MpigaugeError: No MPI library works, or there are too few cores.
    """
    plan = Plan(
        measure=(Measure(pattern=pattern),),
        title=WHERE,
        launches_min=1,
        launches_max=MAX_LAUNCHES,
        precision=NEVER_PRECISE,
        budget_s=seconds,
        visits=VISITS,
        rounds_max=MAX_SAMPLES,
    )
    result = run_probe(plan, WHERE, observer, interruption)
    visits = [visit for visit in result.visits if visit.cell.pattern == pattern]
    seconds = sum(end.elapsed_s for end in result.ends)
    return watched_by_ranks(visits, seconds, environment.cores_online(), result.launches)


def watch_alone(seconds: float, interruption: Interruption) -> Watched:
    """Repeat the same work for so long, on whatever core we are, and summarise the disturbances."""
    started, stolen_s = awake_s(), environment.steal_s()
    work_ns: list[int] = []
    while awake_s() - started < seconds and interruption.signal is None:
        work_ns.append(_work_ns())
        interruption.obey()
    elapsed_s = awake_s() - started
    return watched_alone(work_ns, elapsed_s, environment.steal_s() - stolen_s, environment.cores_online())


def _work_ns() -> int:
    started_ns = time.perf_counter_ns()
    value = 1
    for _ in range(WORK_STEPS):
        value = (value * 48_271) % 2_147_483_647
    return time.perf_counter_ns() - started_ns
