"""Shared memory and the network stack of one host, asked for and proven, on every library."""

import itertools
import json
import os
import re
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.launchers import command_of
from mpigauge.mpi import find, kernel
from mpigauge.mpi.environments import applied
from mpigauge.mpi.library import Library
from mpigauge.result import journal
from mpigauge.result.environment import cores_allowed
from mpigauge.result.reader import load
from tests.real.mpi.conftest import Run, prefix, usually
from tests.real.states import of_main_state
from tests.truth import check, truth

pytestmark = pytest.mark.mpi

Rows = Callable[..., list[dict[str, Any]]]


BOTH = ("--transport", "shm", "--transport", "tcp", "--sizes", "8,1MiB", "--launches", "2")


@usually("openmpi", "intelmpi")
def test_both_transports_take_effect(library: Library, rows: Rows, tmp_path: Path) -> None:
    words = (*BOTH, "--samples", "40", "--mpi", str(library.mpicc), "-o", "result.jsonl")
    found = rows("pingpong", "allreduce", *words)
    for row in found:
        if row["pattern"] != "null":
            assert row["status"] == "ok", row
            assert row["net_share"] < 0.1 if row["transport"] == "shm" else row["net_share"] > 0.4
    result = load(tmp_path / "result.jsonl")
    assert {launch.job.transport for launch in result.launches} == {"shm", "tcp"}
    for launch in result.launches:
        assert library.kind.transports[launch.job.transport].items() <= launch.variables.items()
        assert launch.reported.startswith(REPORTED[library.name][launch.job.transport])


@usually("mpich")
@truth
def test_the_network_stack_is_slower_than_shared_memory(library: Library, rows: Rows) -> None:
    found = rows("pingpong", "allreduce", *BOTH, "--mpi", str(library.mpicc))
    times = {
        (row["pattern"], row["transport"]): row["time_s"]["estimate"]
        for row in found
        if row["bytes"] == 8 and row["time_s"]
    }
    for pattern in ("pingpong", "allreduce"):
        check(f"{pattern} of 8 B, tcp / shm", times[pattern, "tcp"] / times[pattern, "shm"], above=2)


REPORTED = {
    "openmpi": {"shm": "on-host sm", "tcp": "on-host tcp"},
    "intelmpi": {"shm": "shm", "tcp": "ofi, provider tcp"},
    "mpich": {"shm": "ch4:", "tcp": "ch4:ofi, provider tcp"},
}
"""How it begins."""

PLAN = (
    "launch version=2 ranks=2 cores=2 visits_per_cell=1 rounds_min=30 rounds_max=100 precision_ppm=10000 "
    "cell_ns=5000000 deadline_ns=60000000000 warmup_ns=1000000\n"
    "visit id=0 cell=0 pattern=pingpong bytes=8\nvisit id=1 cell=1 pattern=pingpong bytes=1048576\nend\n"
)


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_the_library_says_what_it_uses_before_it_is_measured_and_nothing_later(
    library: Library, transport: str, tmp_path: Path
) -> None:
    (tmp_path / "plan").write_text(PLAN, encoding="ascii")
    program = (str(kernel.build(library)), str(tmp_path / "plan"), "-")
    job = Job(library.mpiexec, 2, program, cores=cores_allowed(), as_root=os.geteuid() == 0)
    done = subprocess.run(
        command_of(job, library.kind.launcher).words,
        env={**applied(os.environ, library.environment_for(transport=transport)), **library.report_variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    lines = done.stdout.splitlines()
    first = next(number for number, line in enumerate(lines) if journal.parse(line.encode()) is not None)
    assert library.kind.parse_report(lines[:first]).startswith(REPORTED[library.name][transport])
    assert all(journal.parse(line.encode()) for line in lines[first:] if line.strip()), lines[first:]
    assert library.kind.parse_report(done.stderr.splitlines()) == ""


def test_a_transport_that_did_not_take_effect_is_an_error(mpigauge: Run) -> None:
    """The user's own variable undoes ours: the curve must not be called tcp."""
    done = mpigauge(
        *("run", "pingpong", "--transport", "tcp", "--sizes", "8,64KiB", "--launches", "1"),
        *("--env", "MPIR_CVAR_NOLOCAL=0", "--mpi", prefix("mpich"), "--format", "json"),
    )
    assert done.returncode == 1
    rows = [row for row in json.loads(done.stdout)["rows"] if row["pattern"] == "pingpong"]
    assert {row["status"] for row in rows} == {"failed"}
    assert all("tcp did not take effect" in row["reason"] and row["time_s"] is None for row in rows)


class MadeUpCard:
    """A port of InfiniBand that somebody else may use: files, below a folder that a preload shows."""

    WORDS = 1 << 28

    def __init__(self, folder: Path) -> None:
        counters = folder / "sys" / "class" / "infiniband" / "mlx5_0" / "ports" / "1" / "counters"
        counters.mkdir(parents=True)
        self._files = [counters / "port_rcv_data", counters / "port_xmit_data"]
        for file in self._files:
            file.write_text(f"{0:020}\n", encoding="ascii")

    def use(self, stop: threading.Event) -> None:
        """Carries 1 GiB every few milliseconds."""
        for turn in itertools.count(1):
            for file in self._files:
                with file.open("r+", encoding="ascii") as counter:
                    counter.write(f"{turn * self.WORDS:020}")
            if stop.wait(0.002):
                return


@pytest.mark.parametrize("used", [False, True])
def test_shared_memory_is_proven_beside_a_card_only_while_that_carries_nothing(
    mpigauge: Run, preload: Callable[..., dict[str, str]], tmp_path: Path, used: bool
) -> None:
    """Messages are large, so that a visit is longer than the card's user may have to wait for a core."""
    card, stop = MadeUpCard(tmp_path / "tree"), threading.Event()
    user = threading.Thread(target=card.use, args=(stop,))
    if used:
        user.start()
    done = mpigauge(
        *("run", "pingpong", "--transport", "shm", "--sizes", "4MiB", "--launches", "1", "-o", "r.jsonl"),
        *("--mpi", prefix("mpich"), "--format", "json"),
        environment=preload("card_tree", CARD_TREE=tmp_path / "tree"),
    )
    stop.set()
    (row,) = [row for row in of_main_state(json.loads(done.stdout)) if row["pattern"] == "pingpong"]
    result = load(tmp_path / "r.jsonl")
    cards = result.launches[0].cards[0].cards
    told = {one.card for visit in result.visits for one in visit.by_card if one.kind == "rdma"}
    assert told == ({"mlx5_0/1"} if used else set())
    assert ("mlx5_0/1", "rdma", True) in {(one.name, one.kind, one.counted) for one in cards}
    assert row["transport_proof"] == ("refuted" if used else "proven"), row
    assert done.returncode == int(used)
    assert ("RDMA cards" in row["reason"]) == used


def test_other_settings_reach_the_job_and_are_recorded(mpigauge: Run, tmp_path: Path) -> None:
    done = mpigauge(
        *("run", "pingpong", "--sizes", "8", "--launches", "1", "--mpi", prefix("mpich"), "-o", "r.jsonl"),
        *("--env", "UNUSUAL=a b=c", "--mpi-option", "-genv", "--mpi-option", "X", "--mpi-option", "$(y)"),
    )
    assert done.returncode == 0, done.stderr
    result = load(tmp_path / "r.jsonl")
    launch = result.launches[0]
    assert launch.variables["UNUSUAL"] == "a b=c"
    assert launch.command[3:6] == ("-genv", "X", "$(y)")
    assert result.campaign.plan.variables == {"UNUSUAL": "a b=c"}


def test_intel_mpi_uses_the_libfabric_that_it_brings_and_not_one_of_the_system(tmp_path: Path) -> None:
    """Where the system has none, as most machines, there would be nothing but shared memory."""
    library = find.find(prefix("intelmpi"))
    (tmp_path / "plan").write_text(PLAN, encoding="ascii")
    program = (str(kernel.build(library)), str(tmp_path / "plan"), str(tmp_path / "journal"))
    job = Job(library.mpiexec, 2, program, cores=cores_allowed(), as_root=os.geteuid() == 0)
    done = subprocess.run(
        command_of(job, library.kind.launcher).words,
        env={**applied(os.environ, library.environment_for(transport="tcp")), "LD_DEBUG": "files"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    loaded = set(re.findall(r"calling init: (\S*/libfabric\.so\S*)", done.stderr))
    assert loaded == {f"{library.prefix}/lib/libfabric.so.1"}
