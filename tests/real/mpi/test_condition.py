"""The condition of a visit on real libraries: what is known of the machine before and after the samples."""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import find, kernel
from mpigauge.plan.cells import cells_of
from mpigauge.plan.kernel_plan import Limits
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.visit_order import visits_of
from mpigauge.result import journal
from mpigauge.result.environment import cores_allowed
from tests.real.mpi.conftest import prefix
from tests.real.mpi.launches import journal_of
from tests.truth import check, truth

if TYPE_CHECKING:
    from mpigauge.mpi.library import Library

pytestmark = pytest.mark.mpi

TIMEOUT_S = 300.0
CELL_S = 0.3
CROWD = 2 * cores_allowed()
WARMUP_NS = 200_000
BUSY = "import os\nos.sched_setaffinity(0, os.sched_getaffinity(0))\nwhile True: pass"


def visits_on(library: Library, *measures: Measure, ranks: int = 2) -> dict[str, list[journal.VisitLine]]:
    """The visits of one launch, by their pattern."""
    plan = Plan(measures, ranks=(ranks,), precision=1e-6)
    description = kernel.describe(library)
    cells = cells_of(plan, description, library.name, library.version, "test").cells
    visits = visits_of(cells, plan, description, 1)
    limits = Limits(CELL_S, 1e4, warmup_s=1e-3)
    lines = journal_of(library, kernel.build(library), visits, plan, limits, {}, TIMEOUT_S)
    found: dict[str, list[journal.VisitLine]] = {}
    for line in lines:
        if isinstance(line, journal.VisitLine):
            found.setdefault(visits[line.visit].cell.pattern, []).append(line)
    return found


@truth
def test_a_line_is_handed_over_as_quickly_as_a_pattern_of_hand_overs_says(library: Library) -> None:
    found = visits_on(library, Measure("cacheline"), Measure("memcpy", sizes="64"))
    lines = [line for line in found["cacheline"] if line.line_ns]
    assert lines  # of a disturbed machine hand-overs are given up, and absent
    ratios = [median(line.samples_ns) / line.ops / median(line.line_ns) for line in lines]
    check("cacheline / hand-over of the condition", median(ratios), above=0.5, below=2)
    assert all(line.line_worst_ns == line.line_ns for line in lines)
    for line in (*found["cacheline"], *found["memcpy"]):
        # Twice as many operations, side by side even on half a core: one after the other would be 2 times.
        assert 0 < min(line.issue_ns) < 1.5 * min(line.alu_ns)
        assert not line.path_ns
        assert line.retransmits == -1
        assert min(line.switches, line.moves) >= 0
        assert line.wait_ns >= -1
    assert not any(line.line_ns for line in found["memcpy"])


def test_of_more_ranks_the_slowest_pair_of_neighbours_is_named() -> None:
    """Where ranks share cores, nobody is asked: a hand-over would take the scheduler's time."""
    library = find.find(prefix("openmpi"))
    found = visits_on(library, Measure("allreduce", sizes="8"), ranks=CROWD)
    assert found["allreduce"]
    for line in found["allreduce"]:
        assert not line.line_ns
        assert not line.line_worst_ns
        assert min(*line.alu_ns, *line.issue_ns) > 0


@truth
def test_warm_up_lasts_long_enough_for_a_core_that_has_rested() -> None:
    lines = visits_on(find.find(prefix("mpich")), Measure("pingpong", sizes="8"))["pingpong"]
    later = [line for line in lines if not line.trial_ns]
    assert later
    lasted_ns = [
        (line.net_calls / line.batch - len(line.samples_ns)) * median(line.samples_ns) for line in later
    ]
    check("longest warm-up / asked", max(lasted_ns) / WARMUP_NS, above=0.25)
    assert all(len(line.warmup_ns) == 2 for line in later)


@truth
def test_whoever_takes_a_core_is_seen_in_the_counters() -> None:
    """Of programs that never stop, as many as there are cores."""
    library = find.find(prefix("mpich"))
    others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(cores_allowed())]
    try:
        lines = visits_on(library, Measure("pingpong", sizes="64KiB"))["pingpong"]
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert sum(line.switches for line in lines) > 0
    if os.access("/proc/self/schedstat", os.R_OK):
        waited_ns = sum(max(0, line.wait_ns) for line in lines)
        elapsed_ns = sum(line.elapsed_ns for line in lines)
        check("time that ranks waited for a busy core / elapsed", waited_ns / elapsed_ns, above=0.05)
