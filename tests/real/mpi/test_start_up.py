"""What programs do once, on real libraries: it is made as asked, and a delay is found where it is planted.

Planted delays are so large beside what these calls take that a busy machine does not matter.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.mpi import find, kernel
from mpigauge.result.reader import load
from tests.real.mpi.conftest import prefix, usually
from tests.truth import check, truth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mpigauge.mpi.library import Library
    from tests.real.mpi.conftest import Run

    Rows = Callable[..., list[dict[str, Any]]]
    Shim = Callable[[Library], dict[str, str]]

pytestmark = pytest.mark.mpi

MADE = ("comm_dup", "comm_split", "comm_create_group", "cart_create", "session")
DELAY_S = 0.1
"""Thousands of times what making and freeing takes between two ranks; the fastest of ten tells."""

INIT_DELAY_S = 3.0
"""Much longer than a message between two ranks takes, even the first one on a busy machine."""


def delaying(call: str, seconds: float) -> dict[str, str]:
    """What makes the shim delay every call."""
    return {"SHIM_ACTION": "delay", "SHIM_CALL": call, "SHIM_DELAY_NS": str(round(seconds * 1e9))}


@pytest.mark.parametrize("ranks", ["2", "3", "4"])
def test_what_is_made_is_what_was_asked_for(rows: Rows, library: Library, ranks: str, tmp_path: Path) -> None:
    words = ("--mode", "all", "--np", ranks, "--launches", "1", "--samples", "20", "--sizes", "8")
    found = rows(*MADE, "alltoallw", *words, "--mpi", str(library.mpicc), "-o", "r.jsonl")
    modes = {
        (pattern.name, mode.name)
        for pattern in kernel.describe(library).patterns
        for mode in pattern.modes
        if pattern.name in {*MADE, "alltoallw"}
    }
    assert {(row["pattern"], row["mode"]) for row in found if row["pattern"] != "null"} == modes
    assert {row["status"] for row in found} == {"ok"}
    counted = {visit.cell.pattern for visit in load(tmp_path / "r.jsonl").visits if visit.net_calls > 0}
    assert counted == {"alltoallw"}, "what is made need not send anything, so no transport is held to it"


@usually("mpich")
@pytest.mark.parametrize(
    ("call", "delayed"),
    [("MPI_Comm_dup", ("comm_dup", "blocking")), ("MPI_Session_init", ("session", "init-finalize"))],
)
def test_a_delay_is_found_in_its_call_and_nowhere_else(
    rows: Rows, shim: Shim, library: Library, call: str, delayed: tuple[str, str]
) -> None:
    words = ("--mode", "all", "--launches", "1", "--samples", "10", "--stat", "min", "--budget", "5min")
    where = ("--mpi", str(library.mpicc))
    found = rows(*MADE, *words, *where, environment=shim(library) | delaying(call, DELAY_S))
    times_s = {
        (row["pattern"], row["mode"]): row["time_s"]["estimate"] for row in found if row["pattern"] != "null"
    }
    assert times_s[delayed] > DELAY_S
    others = {cell: time_s for cell, time_s in times_s.items() if cell != delayed}
    assert len(others) > len(MADE)
    assert {cell: time_s for cell, time_s in others.items() if time_s > DELAY_S / 2} == {}


@usually("openmpi")
def test_a_delay_of_mpi_init_is_in_its_time_and_not_in_the_first_message(
    mpigauge: Run, shim: Shim, library: Library, tmp_path: Path
) -> None:
    words = (
        "run",
        "pingpong",
        "--sizes",
        "8",
        "--launches",
        "1",
        "--samples",
        "10",
        "--budget",
        "5min",
        "-q",
    )
    variables = shim(library) | delaying("MPI_Init", INIT_DELAY_S)
    done = mpigauge(*words, "--mpi", str(library.mpicc), "-o", "r.jsonl", environment=variables)
    assert done.returncode == 0, done.stderr
    (launch,) = load(tmp_path / "r.jsonl").launches
    assert launch.init_ns >= launch.init_median_ns > INIT_DELAY_S * 1e9
    assert 0 < launch.first_round_trip_ns < INIT_DELAY_S * 1e9 / 2
    assert launch.startup_s is not None
    assert launch.startup_s > launch.init_ns * 1e-9


def test_a_communicator_of_other_ranks_is_found_in_the_mode_that_makes_it(mpigauge: Run, shim: Shim) -> None:
    library = find.find(prefix("mpich"))
    variables = shim(library) | {"SHIM_ACTION": "forget", "SHIM_CALL": "MPI_Comm_dup"}
    words = ("comm_dup", "comm_split", "--mode", "all", "--launches", "1", "--samples", "10")
    done = mpigauge("run", *words, "--mpi", str(library.mpicc), "--format", "json", environment=variables)
    assert done.returncode == 1
    rows = json.loads(done.stdout)["rows"]
    assert [row["mode"] for row in rows if row["status"] == "corrupt"] == ["blocking"]
    assert "as rank 0 of 1 instead of 0 of 2" in done.stdout


@pytest.mark.thorough
def test_a_kernel_of_a_library_without_sessions_says_so(tmp_path: Path) -> None:
    library = find.find(prefix("mpich"))
    program = tmp_path / "kernel"
    kernel.compile_to(program, library, "-DMG_LACKS_SESSIONS")
    described = kernel._decode(program, kernel._description_of(program, library))
    assert described.lacks("session", "init-finalize") == "MPI_Session_init of MPI 4"
    assert len(described.lacking) == 1
    assert not kernel.describe(library).lacking


PLANTED_S = 500e-6


@usually("mpich")
@truth
def test_a_delay_of_known_size_is_found_in_comm_dup(rows: Rows, shim: Shim, library: Library) -> None:
    """Two delays, of which one is twice the other: the fastest of each tell."""
    words = ("comm_dup", "--launches", "3", "--stat", "min", "--mpi", str(library.mpicc))
    times_s = []
    for seconds in (PLANTED_S, 2 * PLANTED_S):
        found = rows(*words, environment=shim(library) | delaying("MPI_Comm_dup", seconds))
        times_s += [row["time_s"]["estimate"] for row in found if row["pattern"] == "comm_dup"]
    one_s, twice_s = times_s
    found_s = twice_s - one_s
    check(f"{library.name}, delay found in comm_dup / planted", found_s / PLANTED_S, above=0.95, below=1.05)


@usually("openmpi")
@truth
def test_a_delay_of_known_size_is_found_in_mpi_init(
    mpigauge: Run, shim: Shim, library: Library, tmp_path: Path
) -> None:
    words = ("run", "comm_dup", "--launches", "5", "--samples", "10", "-q", "--mpi", str(library.mpicc))
    fastest_ns = []
    for factor in (1, 2):
        variables = shim(library) | delaying("MPI_Init", factor)
        assert mpigauge(*words, "-o", f"{factor}.jsonl", environment=variables).returncode == 0
        fastest_ns.append(min(one.init_ns for one in load(tmp_path / f"{factor}.jsonl").launches))
    found_s = (fastest_ns[1] - fastest_ns[0]) * 1e-9
    check(f"{library.name}, delay found in MPI_Init / planted", found_s, above=0.9, below=1.1)
