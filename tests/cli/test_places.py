"""A launcher that counts fewer places than we do is told to count more, once for all launches of a job."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.reader import load
from tests.fakes import launchers

if TYPE_CHECKING:
    from tests.conftest import Cli, Done
    from tests.fakes.mpi import FakeMpi

RUN = ("run", "pingpong", "--sizes", "8", "--launches", "3", "--seed", "7", "-o", "r.jsonl")
AGAIN = "its launcher counts fewer places than ranks; started again with"


@pytest.fixture(autouse=True)
def one_slot(openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher sees one core with two hardware threads where the system lists two processors."""
    monkeypatch.setenv("FAKE_SLOTS", "1")
    monkeypatch.setattr("mpigauge.result.environment.cores_allowed", lambda: 2)
    monkeypatch.setattr("mpigauge.result.environment.physical_cores_allowed", lambda: 2)
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0, 1})


def test_a_job_without_slots_is_started_again_and_measures(cli: Cli) -> None:
    done = cli(*RUN)
    assert done.status == 0, done.err
    assert done.err.count(f"{AGAIN} --use-hwthread-cpus") == 1
    result = load(Path("r.jsonl"))
    assert result.failures == []
    assert [launch.options_found for launch in result.launches] == [("--use-hwthread-cpus",)] * 3
    assert all("--use-hwthread-cpus" in launch.command for launch in result.launches)
    assert not any("OMPI_MCA_mpi_yield_when_idle" in launch.variables for launch in result.launches)
    assert "started with --use-hwthread-cpus, " in cli("show", "--all", "r.jsonl").out


def test_a_campaign_that_goes_on_has_the_options_at_once(cli: Cli) -> None:
    assert cli(*RUN).status == 0
    lines = Path("r.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    second = [number for number, line in enumerate(lines) if line.startswith('{"type":"launch"')][1]
    Path("r.jsonl").write_text("".join(lines[:second]), encoding="utf-8")
    done = cli("resume", "r.jsonl")
    assert done.status == 0, done.err
    assert AGAIN not in done.err
    assert [launch.options_found for launch in load(Path("r.jsonl")).launches] == [
        ("--use-hwthread-cpus",)
    ] * 3


def test_what_still_has_too_few_slots_is_allowed_more_without_giving_way(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0})
    done = cli(*RUN)
    assert done.status == 0, done.err
    assert [line.rpartition(AGAIN)[2].strip() for line in done.err.splitlines() if AGAIN in line] == [
        "--use-hwthread-cpus",
        "--oversubscribe",
    ]
    for launch in load(Path("r.jsonl")).launches:
        assert launch.options_found == ("--oversubscribe",)
        assert launch.variables["OMPI_MCA_mpi_yield_when_idle"] == "0"


def test_cores_that_the_system_tells_to_be_too_few_need_no_second_start(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mpigauge.result.environment.physical_cores_allowed", lambda: 1)
    done = cli(*RUN)
    assert done.status == 0, done.err
    assert AGAIN not in done.err
    for launch in load(Path("r.jsonl")).launches:
        assert launch.options_found == ()
        assert "--use-hwthread-cpus" in launch.command


# ---- Where ranks may run -------------------------------------------------------------------------


def doubts(done: Done) -> list[str]:
    """The lines of the screen that doubt."""
    assert done.status == 0, done.err
    return [line for line in done.out.splitlines() if line.startswith("! ")]


def kinds(cli: Cli) -> list[str]:
    """The kinds of findings of the result, as programs read them."""
    return [one["kind"] for one in json.loads(cli("show", "r.jsonl", "--format", "json").out)["findings"]]


def test_two_ranks_on_one_processor_are_the_first_doubt(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CPUS", "1 1")
    monkeypatch.setenv("I_MPI_PIN_PROCESSOR_LIST", "1,1")
    monkeypatch.setenv("FAKE_DISTURB", "pingpong:8")
    first = "! ranks 0 and 1 share CPU 1: scheduler's times; unset I_MPI_PIN_PROCESSOR_LIST"
    assert doubts(cli(*RUN))[0] == first
    whole = cli("show", "--all", "r.jsonl").out
    said = " ".join(whole.split())
    assert "ranks 0 and 1 are bound to CPU 1 of" in said
    assert "the library was not told so" in said
    assert "I_MPI_PIN_PROCESSOR_LIST=1,1 is set here" in said
    assert "something else used the cores" not in said
    assert "shared-core" in kinds(cli)
    assert "disturbed-launches" not in kinds(cli)
    rows = json.loads(cli("show", "r.jsonl", "--format", "json").out)["rows"]
    assert {row["disturbed_share"] for row in rows if row["pattern"] == "pingpong"} == {None}


@pytest.mark.parametrize(
    ("cpus", "threads", "doubt"),
    [
        ("1 1", "", "ranks 0 and 1 share CPU 1: the scheduler's times; use --bind core"),
        ("0-1", "2", "ranks 0 and 1 share CPU 0-1: the scheduler's times; no progress threads"),
    ],
)
def test_the_remedy_fits_the_cause(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, cpus: str, threads: str, doubt: str
) -> None:
    monkeypatch.setenv("FAKE_CPUS", cpus)
    if threads:
        monkeypatch.setenv("FAKE_THREADS", threads)
    assert doubts(cli(*RUN))[0] == f"! {doubt}"


def test_a_variable_that_binds_ranks_to_one_processor_is_named_once(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CPUS", "1 1")
    monkeypatch.setenv("I_MPI_SPIN_COUNT", "9")
    monkeypatch.setenv("OMPI_MCA_hwloc_base_cpu_list", "1")
    shown = doubts(cli(*RUN))
    assert shown[0].endswith("; unset OMPI_MCA_hwloc_base_cpu_list")
    assert not any("OMPI_MCA_hwloc_base_cpu_list" in one for one in shown[1:])


def test_asynchronous_progress_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CPUS", "0-1")
    monkeypatch.setenv("FAKE_THREADS", "2")
    monkeypatch.setenv("MPIR_CVAR_ASYNC_PROGRESS", "1")
    assert doubts(cli(*RUN))[0].endswith("; unset MPIR_CVAR_ASYNC_PROGRESS")


def test_hardware_threads_of_one_core_are_a_mark_and_no_crowd(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CPUS", "0 1")
    monkeypatch.setenv("FAKE_CORES", "0 0")
    shown = doubts(cli(*RUN))
    assert "ranks 0 and 1 on hardware threads of one core" in shown[-1]
    assert {"hardware-threads"} == set(kinds(cli)) & {"hardware-threads", "shared-core", "oversubscribed"}


def test_ranks_with_a_core_each_are_not_doubted(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CPUS", "0 1")
    assert cli(*RUN).status == 0
    assert not set(kinds(cli)) & {"hardware-threads", "shared-core", "oversubscribed"}


def test_the_ends_of_launches_tell_of_a_limit_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter(range(0, 400, 10))
    monkeypatch.setattr("mpigauge.result.control_groups.throttle_count", lambda: next(counts))
    done = cli("run", "pingpong", "--sizes", "8", "--launches", "1", "-o", "one.jsonl")
    assert any("stopped ranks 10 times" in line for line in doubts(done))


def test_a_job_of_slurm_with_too_few_processors_is_overcommitted(
    cli: Cli, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launchers.install_srun(machine / "launchers")
    monkeypatch.setenv("PATH", f"{machine / 'launchers'}{os.pathsep}{os.environ['PATH']}")
    for name, value in {"JOB_ID": "17", "JOB_NODELIST": "n1", "JOB_CPUS_PER_NODE": "2"}.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    done = cli(*RUN, "--launcher", "srun")
    assert done.status == 0, done.err
    assert done.err.count(f"{AGAIN} --overcommit") == 1
    assert {launch.options_found for launch in load(Path("r.jsonl")).launches} == {("--overcommit",)}
