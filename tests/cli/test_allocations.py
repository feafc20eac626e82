"""A bare `mpigauge run` in an allocation of several hosts: between two of them, and with all ranks."""

from __future__ import annotations

import os
import platform
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.allocations import MANAGERS
from mpigauge.result.reader import load
from tests.fakes import launchers

if TYPE_CHECKING:
    from mpigauge.result.reader import Result
    from tests.conftest import Cli

FLUX = {"FLUX_URI": "local:///tmp/flux/local-0"}
"""Of the stand-in: four hosts with two cores."""

JOBS = {
    "slurm": {
        "SLURM_JOB_ID": "17",
        "SLURM_JOB_NODELIST": "n[1-4]",
        "SLURM_TASKS_PER_NODE": "2(x4)",
        "SLURM_JOB_CPUS_PER_NODE": "2(x4)",
    },
    "pbs": {"PBS_JOBID": "17.server", "PBS_NODEFILE": "hosts"},
    "lsf": {"LSB_JOBID": "17", "LSB_DJOB_HOSTFILE": "hosts"},
    "sge": {"JOB_ID": "17", "PE_HOSTFILE": "queues"},
    "flux": FLUX,
}
PAIR = ("n1", "n2")
ALL = ("n1", "n2", "n3", "n4", "n1", "n2", "n3", "n4")
QUICK = ("run", "--quick", "--launches", "1", "--seed", "7", "--check-hosts", "no", "-q", "-o", "r.jsonl")


@pytest.fixture(autouse=True)
def _programs(openmpi: object, machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-ins, before the library on PATH; and the machine files of jobs with two slots a host.

    We are on the first of them.
    """
    monkeypatch.setattr(platform, "node", lambda: "n1")
    for name in (name for manager in MANAGERS for name in manager.variables):
        monkeypatch.delenv(name, raising=False)
    launchers.install(machine / "launchers")
    launchers.install_srun(machine / "launchers")
    monkeypatch.setenv("PATH", f"{machine / 'launchers'}{os.pathsep}{os.environ['PATH']}")
    Path("hosts").write_text("n1\nn1\nn2\nn2\nn3\nn3\nn4\nn4\n", encoding="ascii")
    Path("queues").write_text("".join(f"n{one} 2 all.q <NULL>\n" for one in (1, 2, 3, 4)), encoding="ascii")


@pytest.fixture(params=JOBS)
def job(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """We are in a job of this scheduler, with four hosts of two slots."""
    for name, value in JOBS[request.param].items():
        monkeypatch.setenv(name, value)
    return str(request.param)


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> None:
    """We are in a job of Slurm."""
    for name, value in JOBS["slurm"].items():
        monkeypatch.setenv(name, value)


def places(result: Result) -> set[tuple[str, ...]]:
    """Where ranks were, of all launches."""
    return {tuple(rank.host for rank in launch.ranks_at) for launch in result.launches}


def patterns(result: Result, ranks: int) -> set[str]:
    """What was measured with so many ranks."""
    return {visit.cell.pattern for visit in result.visits if visit.cell.ranks == ranks}


def test_pairs_are_between_two_nodes_and_collectives_have_all_ranks(cli: Cli, job: str) -> None:
    done = cli(*QUICK)
    assert done.status == 0, done.err
    result = load(Path("r.jsonl"))
    assert places(result) == {PAIR, ALL}, job
    assert {"pingpong", "exchange", "stream"} < patterns(result, 2)
    assert {"barrier", "allreduce"} < patterns(result, 8)
    assert not {"barrier", "allreduce"} & patterns(result, 2)
    assert "2 ranks between n1 and n2 · 8 ranks on 4 nodes" in done.out


def _nobody(*_: object, **__: object) -> None:
    raise socket.gaierror


@pytest.mark.parametrize("name", [name for name in JOBS if name != "flux"])
def test_variables_that_are_left_over_are_named_before_anything_starts(
    name: str, cli: Cli, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in JOBS[name].items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(platform, "node", lambda: "vm")
    monkeypatch.setattr(socket, "getaddrinfo", _nobody)
    for program in (machine / "launchers").iterdir():
        program.unlink()
    done = cli(*QUICK)
    assert (done.status, done.out, Path("r.jsonl").exists()) == (3, "", False)
    assert "names n1,n2,n3,n4, this is vm" in done.err
    doctor = cli("doctor")
    assert doctor.status == 3
    assert "names n1,n2,n3,n4, this is vm" in doctor.out
    assert "not ready to measure: " in doctor.out
    assert "variables of a scheduler or launcher are in the way" in doctor.out


@pytest.mark.usefixtures("slurm")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--np", "2"), {PAIR}),
        (("--np", "2,4"), {PAIR, ALL[:4]}),
        (("--hosts", "n3:2,n4:2"), {("n3", "n4")}),
        (("--hosts", "n3:2"), {("n3", "n3")}),
        (("--placement", "same-host"), {("n1", "n1")}),
        (("--placement", "2,3"), {("n2", "n3")}),
    ],
)
def test_what_users_say_of_ranks_and_hosts_stands(
    cli: Cli, words: tuple[str, ...], expected: set[tuple[str, ...]]
) -> None:
    done = cli(*QUICK, *words)
    assert done.status == 0, done.err
    assert places(load(Path("r.jsonl"))) == expected


@pytest.mark.usefixtures("slurm")
@pytest.mark.parametrize(
    ("key", "expected"), [("ranks = [4]\n", {ALL[:4]}), ("", {ALL}), ("[[measure]]\nranks = [2]\n", {PAIR})]
)
def test_a_plan_says_how_many_ranks_or_leaves_it_open(
    cli: Cli, key: str, expected: set[tuple[str, ...]]
) -> None:
    table = key if key.startswith("[[") else f"{key}[[measure]]\n"
    Path("plan.toml").write_text(f'{table}pattern = "barrier"\n', encoding="utf-8")
    words = ("--plan", "plan.toml", *[word for word in QUICK if word not in ("run", "--quick")])
    done = cli("run", *words)
    assert done.status == 0, done.err
    assert places(load(Path("r.jsonl"))) == expected


@pytest.mark.usefixtures("slurm")
def test_a_job_of_one_host_measures_as_a_machine_does(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n1")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "8")
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", "8")
    done = cli(*QUICK)
    assert done.status == 0, done.err
    assert places(load(Path("r.jsonl"))) == {("n1", "n1")}
    assert "between" not in done.out


def test_a_launcher_that_fills_hosts_gets_no_ranks_that_it_cannot_place(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in JOBS["pbs"].items():
        monkeypatch.setenv(name, value)
    done = cli(*QUICK, "--launcher", "pals")
    assert done.status == 0, done.err
    assert places(load(Path("r.jsonl"))) == {PAIR}


@pytest.mark.usefixtures("slurm")
def test_it_goes_on_with_the_ranks_that_it_began_with(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli(*QUICK).status == 0
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "1(x4)")
    done = cli("resume", "r.jsonl", "-q")
    assert done.status == 0, done.err
    assert places(load(Path("r.jsonl"))) == {PAIR, ALL}


def test_in_flux_its_own_launcher_starts_ranks_unless_another_is_asked_for(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLUX_URI", FLUX["FLUX_URI"])
    words = ("run", "pingpong", "--check-hosts", "no", "--dry-run")
    assert "flux run --ntasks=2" in cli(*words).out
    assert "flux run" not in cli(*words, "--remote-shell", "ssh").out


@pytest.mark.parametrize(
    ("words", "idle"),
    [
        (("pingpong",), True),
        (("pingpong", "allreduce"), False),
        (("pingpong", "--hosts", "n1,n2"), False),
        (("pingpong", "--placement", "n1,n9"), False),
    ],
)
def test_a_campaign_that_leaves_most_nodes_of_its_job_idle_says_so(
    cli: Cli, slurm: None, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], idle: bool
) -> None:
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-20]")
    for name in ("SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"):
        monkeypatch.setenv(name, "2(x20)")
    done = cli("run", *words, "--sizes", "8", "--launches", "1", "--check-hosts", "no", "--dry-run")
    assert done.status == 0, done.err
    assert ("! 18 of 20 nodes are idle" in done.out) == idle


def test_a_session_says_it_too(cli: Cli, slurm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-20]")
    for name in ("SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"):
        monkeypatch.setenv(name, "2(x20)")
    done = cli("run", "pingpong", "--sizes", "8", "--launches", "1", "--check-hosts", "no", "-o", "r.jsonl")
    assert "mpigauge: 18 of 20 nodes are idle" in done.err
