"""What must not be in a number: clocks that are slow or run backwards, ranks that are held up, wrong results.

Each of these machines is made by something that is preloaded; what is compared lies within one launch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.mpi import find
from mpigauge.result.reader import load
from tests.real.mpi.conftest import Run, delays_of, prefix
from tests.truth import check, truth

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.mpi.library import Library
    from mpigauge.result.records import Visit

pytestmark = pytest.mark.mpi

Rows = Callable[..., list[dict[str, Any]]]
Preload = Callable[..., dict[str, str]]
Shim = Callable[["Library"], dict[str, str]]
BRIEF = ("--launches", "1", "--samples", "160")
SHORT = (*BRIEF, "-o", "r.jsonl")
CLOCK_IS_LEARNED = 20_100
"""Readings of the raw clock after which the kernel knows what its clock costs."""

DECIDED = ("min", "max", "land", "lor", "band", "bor")
"""Operations whose result one rank decides."""


TRAFFIC = """
[[measure]]
pattern = "bcast"
modes = ["blocking", "overlap"]
[[measure]]
pattern = "bcast-acked"
"""


def times_of(found: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    """Estimates by pattern and mode."""
    return {(row["pattern"], row["mode"]): row["time_s"]["estimate"] for row in found if row["time_s"]}


def visits_of(folder: Path, pattern: str) -> list[Visit]:
    """The visits of a pattern in r.jsonl."""
    return [visit for visit in load(folder / "r.jsonl").visits if visit.cell.pattern == pattern]


# ---- Clocks --------------------------------------------------------------------------------------


@truth
def test_a_slow_clock_is_once_in_a_sample_of_acknowledged_broadcasts(
    rows: Rows, preload: Preload, tmp_path: Path
) -> None:
    """As it is in a sample of any kind: empty round trips, which are subtracted, must bring no reading along.

    The clock is slow only once the kernel has learned what it costs. So no batch hides a reading, which is
    nearly all of a sample.
    """
    words = ("bcast-acked", "pingpong", "--sizes", "8", "--mpi", prefix("mpich"), *SHORT)
    slow = preload("odd_clock", ODD_CLOCK_SLOW_NS=100_000, ODD_CLOCK_SLOW_FROM=CLOCK_IS_LEARNED)
    rows(*words, environment=slow)
    broadcast, message = (
        median(median(visit.samples_ns) for visit in visits_of(tmp_path, pattern))
        for pattern in ("bcast-acked", "pingpong")
    )
    check("acknowledged broadcast / message, by a slow clock", broadcast / message, above=0.75, below=1.33)


@truth
def test_a_slow_clock_of_cpu_time_makes_no_round_late(rows: Rows, preload: Preload, tmp_path: Path) -> None:
    words = ("allreduce", "--sizes", "8", "--mpi", prefix("mpich"), *SHORT)
    rows(*words, environment=preload("odd_clock", ODD_CLOCK_CPU_NS=5000))
    found = visits_of(tmp_path, "allreduce")
    late = median(len(visit.late) / len(visit.samples_ns) for visit in found)
    check("late rounds / rounds, by a slow clock of CPU time", late, below=0.5)


def test_times_of_a_clock_that_runs_backwards_are_counted_and_cost_no_visit(
    rows: Rows, preload: Preload, tmp_path: Path
) -> None:
    # Farther than a sample takes where ranks wait for a core.
    environment = preload("odd_clock", ODD_CLOCK_BACK_NS=50_000_000)
    rows("pingpong", "--sizes", "8", "--mpi", prefix("mpich"), *SHORT, environment=environment)
    result = load(tmp_path / "r.jsonl")
    found = [visit for visit in result.visits if visit.cell.pattern == "pingpong"]
    assert not result.failures
    assert sum(visit.backwards for visit in found) > 0
    assert all(min(visit.samples_ns) >= 0 for visit in found)


@truth
def test_rounds_of_a_rank_that_is_often_behind_count(rows: Rows, preload: Preload, tmp_path: Path) -> None:
    """The rank's wait for the start is held up; no lead cures that, so none is tried."""
    words = ("allreduce", "--sizes", "8", "--mpi", prefix("mpich"), *SHORT)
    rows(*words, environment=preload("odd_clock", ODD_CLOCK_STALL_NS=4000))
    found = visits_of(tmp_path, "allreduce")
    often = [visit for visit in found if len(visit.behind) > 0.1 * len(visit.samples_ns)]
    assert often
    for visit in often:
        assert set(visit.behind) - set(visit.late)
    lead_ns = median(visit.lead_ns for visit in often)
    check("lead of a start that none cures / 1 ms", lead_ns / 1e6, below=1)


# ---- Traffic -------------------------------------------------------------------------------------


@truth
def test_every_call_that_made_traffic_is_counted(rows: Rows, tmp_path: Path) -> None:
    """What the interfaces carried a call is the same with a second series of rounds and in many turns."""
    words = ("--np", "3", "--transport", "tcp", "--sizes", "64KiB", "--mpi", prefix("mpich"))
    plan = tmp_path / "plan.toml"
    plan.write_text(TRAFFIC)
    rows("--plan", str(plan), *words, *SHORT)
    carried: dict[tuple[str, str], list[float]] = defaultdict(list)
    for visit in load(tmp_path / "r.jsonl").visits:
        if visit.net_calls:
            carried[visit.cell.pattern, visit.cell.mode].append(visit.net_bytes / visit.net_calls)
    once = median(carried["bcast", "blocking"])
    for pattern, mode in (("bcast", "overlap"), ("bcast-acked", "blocking")):
        ratio = median(carried[pattern, mode]) / once
        check(f"bytes per call of {pattern} {mode} / of bcast", ratio, above=0.7, below=1.4)


# ---- Memory --------------------------------------------------------------------------------------


@truth
def test_reading_and_writing_are_not_slower_than_copying_which_does_both(rows: Rows, tmp_path: Path) -> None:
    rows("memcpy", "read", "write", "--sizes", "8KiB", "--np", "1", *SHORT)
    times = {
        name: min(median(visit.samples_ns) / visit.ops for visit in visits_of(tmp_path, name))
        for name in ("memcpy", "read", "write")
    }
    for pattern in ("read", "write"):
        check(f"{pattern} / memcpy", times[pattern] / times["memcpy"], below=1.2)


@truth
def test_a_cold_read_takes_what_a_load_from_memory_takes(rows: Rows) -> None:
    found = rows("read", "--buffers", "cold", "--sizes", "64", "--np", "1", *BRIEF)
    cold = times_of(found)["read", "standard"]
    found = rows("chase", "--sizes", "256MiB", "--np", "1", *BRIEF)
    check("cold read / load from memory", cold / times_of(found)["chase", "standard"], above=0.4)


def test_what_shares_memory_sends_no_message_of_its_size(rows: Rows, shim: Shim) -> None:
    """A copy of 1 MiB is measured although any message of that size is a crash."""
    library = find.find(prefix("mpich"))
    orders = {"SHIM_ACTION": "crash", "SHIM_CALL": "MPI_Sendrecv", "SHIM_BYTES": str(1 << 20)}
    words = ("crosscopy", "--sizes", "1MiB", "--mpi", str(library.mpicc), *SHORT)
    assert ("crosscopy", "standard") in times_of(rows(*words, environment={**shim(library), **orders}))


def test_a_file_of_somebody_else_is_left_alone(mpigauge: Run, preload: Preload, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"A" * 65536)
    environment = preload("foreign_file", FOREIGN_FILE=foreign)
    words = ("crosscopy", "--sizes", "4KiB", "--mpi", prefix("mpich"), *SHORT)
    mpigauge("run", *words, environment=environment)
    failures = load(tmp_path / "r.jsonl").failures
    assert {failure.kind for failure in failures} == {"refused"}
    assert foreign.read_bytes() == b"A" * 65536


def test_memory_that_cannot_be_made_is_no_other_host(mpigauge: Run, preload: Preload, tmp_path: Path) -> None:
    words = ("crosscopy", "--sizes", "4KiB", "--mpi", prefix("mpich"), *SHORT)
    mpigauge("run", *words, environment=preload("no_file"))
    (words_of_failure,) = {failure.words for failure in load(tmp_path / "r.jsonl").failures}
    assert words_of_failure == "rank 0 cannot make the memory to be shared"


# ---- Modes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "slower"), [("MPI_Irecv", {"ready", "posted"}), ("MPI_Rsend", {"ready"})])
@truth
def test_posted_is_ready_but_for_the_send(rows: Rows, shim: Shim, call: str, slower: set[str]) -> None:
    """Both post their receive before they answer, which standard does not; only one sends by MPI_Rsend."""
    library, delay_s = find.find(prefix("mpich")), 50e-6
    words = ("pingpong", "--mode", "standard,ready,posted", "--sizes", "1000,1024")
    environment = {**shim(library), **delays_of(delay_s, call)}
    found = rows(*words, "--mpi", str(library.mpicc), *BRIEF, environment=environment)
    times = {(row["mode"], row["bytes"]): row["time_s"]["estimate"] for row in found if row["time_s"]}
    longer = {
        mode
        for mode in ("standard", "ready", "posted")
        if times[mode, 1024] - times[mode, 1000] > delay_s / 2
    }
    assert longer == slower


# ---- Results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("action", "rank"), [("rotate", -1), ("forget", 3)])
def test_a_reduction_that_one_rank_decides_is_checked(
    mpigauge: Run, shim: Shim, tmp_path: Path, action: str, rank: int
) -> None:
    library = find.find(prefix("mpich"))
    orders = {"ACTION": action, "CALL": "MPI_Allreduce", "BYTES": "2048", "RANK": str(rank)}
    variables = shim(library) | {f"SHIM_{name}": value for name, value in orders.items()}
    words = ("allreduce", "--np", "4", "--datatype", "int32", "--op", ",".join(DECIDED), "--sizes", "2KiB")
    mpigauge("run", *words, "--mpi", str(library.mpicc), *SHORT, environment=variables)
    corrupt = {f.cell.op for f in load(tmp_path / "r.jsonl").failures if f.cell and f.kind == "corrupt"}
    assert corrupt == set(DECIDED)


def test_messages_of_a_window_that_change_places_are_found(mpigauge: Run, shim: Shim, tmp_path: Path) -> None:
    library = find.find(prefix("mpich"))
    orders = {"SHIM_ACTION": "repeat", "SHIM_CALL": "MPI_Isend", "SHIM_BYTES": "64"}
    words = ("stream", "--sizes", "64,128", "--mpi", str(library.mpicc), *SHORT)
    mpigauge("run", *words, environment={**shim(library), **orders})
    corrupt = {failure.cell.bytes for failure in load(tmp_path / "r.jsonl").failures if failure.cell}
    assert corrupt == {64}


def test_a_buffer_that_nothing_has_replaced_is_found(mpigauge: Run, shim: Shim, tmp_path: Path) -> None:
    """What a rank has sent lies in it: other bytes than those that should have come."""
    library = find.find(prefix("mpich"))
    orders = {"SHIM_ACTION": "forget", "SHIM_CALL": "MPI_Sendrecv_replace", "SHIM_BYTES": "64"}
    words = ("exchange", "--mode", "sendrecv-replace,copy-sendrecv", "--sizes", "64,128", *SHORT)
    mpigauge("run", *words, "--mpi", str(library.mpicc), environment={**shim(library), **orders})
    corrupt = {(f.cell.mode, f.cell.bytes) for f in load(tmp_path / "r.jsonl").failures if f.cell}
    assert corrupt == {("sendrecv-replace", 64)}
