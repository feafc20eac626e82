"""Collectives on real libraries: every result right, every delay found, one clock for all ranks."""

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mpigauge.mpi import find, kernel
from mpigauge.mpi.library import Library
from mpigauge.plan.cells import cells_of
from mpigauge.plan.kernel_plan import Limits
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.patterns import KernelDescription
from mpigauge.plan.visit_order import PlannedVisit, visits_of
from mpigauge.result import journal
from mpigauge.result.reader import load
from mpigauge.rows.rows import rows as rows_of
from tests.real.mpi.conftest import Run, delays_of, prefix, step_ns, usually
from tests.real.mpi.launches import journal_of
from tests.thorough import rest
from tests.truth import check, truth

pytestmark = pytest.mark.mpi

Rows = Callable[..., list[dict[str, Any]]]
Shim = Callable[[Library], dict[str, str]]
TIMEOUT_S = 300.0
DELAY_S = 50e-6
PAIR = 2


FAULTY = {("intelmpi", "scatter", mode) for mode in ("persistent", "persistent-overlap")}
"""What a library itself gets wrong: Intel MPI 2021.18.1 loses the communicator of a persistent scatter at
its second MPI_Start with 3 ranks or more, as a program of ten lines shows."""


def _collectives(description: KernelDescription) -> list[str]:
    names = [p.name for p in description.patterns if p.starts_together or p.reduces or "bcast" in p.name]
    return [name for name in names if description.pattern(name, "").family != "one-sided"]


def _run_kernel(
    library: Library, program: Path, visits: list[PlannedVisit], plan: Plan, variables: dict[str, str]
) -> list[journal.Line]:
    """The journal of one launch with the shortest visits that there can be."""
    limits = Limits(1e-5, 1e4, warmup_s=1e-3, pool_bytes=2**21)
    return journal_of(library, program, visits, plan, limits, variables, TIMEOUT_S)


def _every(library: Library, ranks: int) -> tuple[list[PlannedVisit], Plan]:
    """Collectives with all modes, datatypes and operations, in place or not, from all kinds of root.

    Every mode meets every datatype and operation between a pair, which has a core for each of its ranks;
    otherwise the first mode does, and the others have the usual ones.
    """
    description = kernel.describe(library)
    names = [n for n in _collectives(description) if description.pattern(n, "").min_ranks <= ranks]
    each = ("all",) if ranks == PAIR else ()
    measures = [Measure(name, modes=("all",), sizes="40,1000", datatypes=each, ops=each) for name in names]
    measures += [Measure(name, sizes="40", datatypes=each, ops=each, in_place=True) for name in names]
    if ranks != PAIR:
        reducing = [name for name in names if description.pattern(name, "").reduces]
        measures += [Measure(name, sizes="200", datatypes=("all",), ops=("all",)) for name in reducing]
    measures += [Measure(name, sizes="1KiB", roots=("rotating", ranks - 1)) for name in names]
    together = [name for name in names if description.pattern(name, "").starts_together]
    measures += [Measure(name, sizes="64KiB", buffers="cold") for name in together]
    plan = Plan(tuple(measures), ranks=(ranks,), visits=1, rounds_min=1, rounds_max=2)
    cells = [
        cell
        for cell in cells_of(plan, description, library.name, library.version, "test").cells
        if (cell.mpi, cell.pattern, cell.mode) not in FAULTY
    ]
    return visits_of(cells, plan, description, 1), plan


@pytest.mark.parametrize("ranks", [1, PAIR, 5])
def test_every_collective_mode_datatype_and_operation_gives_what_mpi_says(
    library: Library, ranks: int
) -> None:
    visits, plan = _every(library, ranks)
    lines = _run_kernel(library, kernel.build(library), visits, plan, {})
    done = [line for line in lines if isinstance(line, journal.VisitLine)]
    assert len(done) == len(visits)
    assert [(visits[line.visit], line.corrupt) for line in done if line.corrupt] == []


def test_a_wrong_result_is_found(mpigauge: Run, shim: Shim) -> None:
    library = find.find(prefix("mpich"))
    variables = shim(library) | {"SHIM_ACTION": "corrupt", "SHIM_CALL": "MPI_Allreduce", "SHIM_BYTES": "512"}
    words = ("allreduce", "--sizes", "256,512", "--launches", "1", "--mpi", str(library.mpicc))
    done = mpigauge("run", *words, "--format", "json", environment=variables)
    assert done.returncode == 1
    states = {r["bytes"]: r["status"] for r in json.loads(done.stdout)["rows"] if r["pattern"] == "allreduce"}
    assert states == {256: "ok", 512: "corrupt"}


@pytest.mark.parametrize(
    ("name", "pattern", "call", "who"),
    [
        ("openmpi", "allreduce", "MPI_Allreduce", 1),
        ("mpich", "allreduce", "MPI_Allreduce", -1),
        ("intelmpi", "bcast", "MPI_Bcast", 0),
    ],
)
@truth
def test_a_delay_of_known_size_is_found(
    rows: Rows, shim: Shim, name: str, pattern: str, call: str, who: int
) -> None:
    """One rank that enters late, or all of them, make the operation end so much later: the fastest tell."""
    library = find.find(prefix(name))
    variables = shim(library) | delays_of(DELAY_S, call, who)
    words = ("--sizes", "1000,1024,1048", "--launches", "3", "--stat", "min", "--mpi", str(library.mpicc))
    found = rows(pattern, *words, environment=variables)
    times = {row["bytes"]: row["time_s"]["estimate"] for row in found if row["pattern"] == pattern}
    found_s = times[1048] - times[1024]
    check(f"{name}, delay found in {pattern} / planted", found_s / DELAY_S, above=0.95, below=1.05)
    assert times[1024] - times[1000] > 0.95 * DELAY_S


@truth
def test_a_common_start_is_closer_than_a_barrier(library: Library, rows: Rows, tmp_path: Path) -> None:
    """Where the clock can tell: in less than two steps of it, nothing is closer than anything else."""
    words = ("--sizes", "8", "--sync", "common,barrier,mpi_barrier", "--launches", "3")
    found = rows("bcast", *words, "--mpi", str(library.mpicc), "-o", "result.jsonl")
    told_s = 2e-9 * step_ns(tmp_path / "result.jsonl")
    skews = {row["sync"]: row["skew_p50_s"] for row in found if row["pattern"] == "bcast"}
    for barrier in ("barrier", "mpi_barrier"):
        skew = skews["common"] / max(skews[barrier], told_s)
        check(f"{library.name}, skew of a common start / of {barrier}", skew, below=1)


@truth
def test_computation_hides_what_the_library_does_by_itself(library: Library, rows: Rows) -> None:
    found = rows(
        "allreduce", "--mode", "overlap", "--sizes", "64KiB", "--launches", "5", "--mpi", str(library.mpicc)
    )
    row = next(row for row in found if row["pattern"] == "allreduce")
    # The computation takes as long as the operation alone, give or take what moments differ by; a state that
    # one launch alone has met has no interval.
    assert row["overlap"]["low"] is None or row["overlap"]["low"] < 1
    alone = row["time_s"]["estimate"] / row["overlap"]["pure_s"]
    check(f"{library.name}, overlapped allreduce / alone", alone, above=0.8)


@pytest.mark.thorough
@usually("openmpi", "intelmpi")
def test_more_ranks_than_cores_are_bearable_and_marked(library: Library, rows: Rows, tmp_path: Path) -> None:
    words = ("--np", "8", "--sizes", "8,64KiB", "--launches", "1", "--mpi", str(library.mpicc))
    found = rows("barrier", "allreduce", "alltoall", *words, "-o", "result.jsonl")
    for row in found:
        assert row["status"] == "ok"
        assert "oversubscribed" in row["warnings"] or row["pattern"] == "null"
    launch = load(tmp_path / "result.jsonl").launches[0]
    assert set(launch.variables) >= set(library.kind.yield_variables)


# ---- Clocks of known error -----------------------------------------------------------------------

CLOCKS = ((0, 0), (5_000_000, 20_000), (-123_456_789, -8_000), (40, 100))
"""Offset in ns and drift in 1e-9, by rank."""


@pytest.fixture(scope="module")
def simulated_clocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MPICH's kernel with clocks that are as wrong as it is told."""
    program = tmp_path_factory.mktemp("simulated") / "kernel"
    kernel.compile_to(program, find.find(prefix("mpich")), "-DMG_SIMULATED_CLOCKS")
    return program


def simulated(ranks: int, program: Path) -> tuple[list[journal.Line], int]:
    """Lines of a launch of collectives with such clocks, and when these were as wrong as CLOCKS has it."""
    library = find.find(prefix("mpich"))
    base_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    pairs = ";".join(f"{offset},{drift}" for offset, drift in CLOCKS[:ranks])
    plan = Plan((Measure("allreduce", sizes="8"),), ranks=(ranks,), visits=8, rounds_min=1, rounds_max=400)
    description = kernel.describe(library)
    visits = visits_of(cells_of(plan, description, "mpich", "", "test").cells, plan, description, 1)
    lines = _run_kernel(library, program, visits, plan, {"MPIGAUGE_SIMULATED_CLOCKS": f"{base_ns};{pairs}"})
    return lines, base_ns


@truth
def test_no_collective_waits_a_second_for_the_clocks_of_its_hosts(simulated_clocks: Path) -> None:
    """Four are learned on two levels of the tree."""
    lines, _ = simulated(4, simulated_clocks)
    first = next(line for line in lines if isinstance(line, journal.ClockLine))
    check("first check of four clocks, in s", first.clock * 1e-9, below=1.0)


@pytest.mark.parametrize("ranks", rest([2, 4], [2]))
def test_clocks_of_known_error_are_corrected_within_the_stated_bound(
    ranks: int, simulated_clocks: Path
) -> None:
    lines, base_ns = simulated(ranks, simulated_clocks)
    clocks = [line for line in lines if isinstance(line, journal.ClockLine)]
    assert len(clocks) >= 2
    assert not any(clock.shared for clock in clocks)
    (launch,) = (line for line in lines if isinstance(line, journal.LaunchLine))
    # Silence is never longer than a second, or so: it would be taken for a hang.
    alive = [line for line in lines[: lines.index(clocks[0])] if isinstance(line, journal.TickLine)]
    assert len(alive) >= clocks[0].clock // (2 * 10**9)
    step_ns = max(place.clock_step_ns for place in launch.launch.ranks_at)
    levels = math.ceil(math.log2(ranks))
    # Every level of the tree learns for a tenth of a second, which does not begin while the parent still
    # learns; but it may begin some milliseconds before the moment that rank 0 counts from.
    assert clocks[0].clock >= (levels - 0.5) * 10**8
    known = [(rank, model) for clock in clocks for rank, model in enumerate(clock.models)]
    assert len(known) >= 2 * ranks, "after learning, and at the end"
    for rank, model in known:
        offset, drift = CLOCKS[rank]
        for later_ns in (0.0, 1e9, 1e10):
            local_ns = model.base_ns + later_ns
            true_ns = base_ns + (local_ns - base_ns - offset) / (1 + drift * 1e-9)
            error_ns = local_ns - model.offset_ns - model.slope * later_ns - true_ns
            # A stamp may be a step too early, at each level of the tree, and learning takes 0.1 s.
            stamps_ns = levels * step_ns * (1 + later_ns / 1e8)
            assert abs(error_ns) <= model.bound_ns + model.bound_slope * later_ns + stamps_ns
    samples = [line for line in lines if isinstance(line, journal.VisitLine) and line.skew_ns]
    assert samples
    assert not any(line.corrupt for line in samples)


def test_one_clock_on_one_host_is_checked_and_believed(library: Library, rows: Rows, tmp_path: Path) -> None:
    rows("barrier", "--launches", "1", "--mpi", str(library.mpicc), "-o", "result.jsonl")
    result = load(tmp_path / "result.jsonl")
    assert len(result.clocks) >= 2
    for clock in result.clocks:
        assert clock.shared
        assert all(check.low_ns <= 0 <= check.high_ns for check in clock.checks)
    row = next(row for row in rows_of(result) if row.cell.pattern == "barrier")
    assert row.clock is not None
    assert row.clock.error_s == 0
    assert row.clock.bound_s > 0 or step_ns(tmp_path / "result.jsonl") > 1
