"""What a scheduler does to a campaign, and what is written for it: on fake libraries, without Slurm."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.campaign.hosts import JOB_END_MARGIN_S, with_current_hosts
from mpigauge.errors import EnvironmentLacksError
from mpigauge.plan.hosts import Host
from mpigauge.plan.model import Plan
from mpigauge.result import environment
from mpigauge.result.reader import load
from tests.fakes.launchers import put_srun_first
from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

RUN = ("run", "pingpong", "--sizes", "8,64", "--launches", "2", "--seed", "7", "-q", "-o", "r.jsonl")
HEAD_LINES = 2
VISITS = 1
NAP_S = 1.2
JOB = {
    "SLURM_JOB_ID": "17",
    "SLURM_JOB_NODELIST": "node[0-1]",
    "SLURM_TASKS_PER_NODE": "2(x2)",
    "SLURM_JOB_CPUS_PER_NODE": "2(x2)",
}


@pytest.fixture
def campaign(
    openmpi: object, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[subprocess.Popen[str]]:
    """A campaign in the middle of its second visit, which takes a while longer."""
    monkeypatch.setenv("FAKE_JITTER", "0.5")
    monkeypatch.setenv("FAKE_NAP_S", str(NAP_S))
    monkeypatch.setenv("FAKE_LOG", str(machine / "log"))
    command = [sys.executable, "-m", "mpigauge", *RUN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and lines_of(Path("r.jsonl")) < HEAD_LINES + VISITS:
            time.sleep(0.01)
        time.sleep(NAP_S / 4)  # its begin has been read by now
        yield process
        process.kill()


def lines_of(path: Path) -> int:
    """How many whole lines a file has."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kernel(machine: Path) -> int:
    """The process of the kernel."""
    return int((machine / "log").read_text(encoding="ascii").split()[-1])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("signals", "finished"),
    [
        ([signal.SIGTERM], VISITS + 1),
        ([signal.SIGTERM, signal.SIGTERM], VISITS + 1),  # the same one, by two ways
        ([signal.SIGINT], VISITS),
        ([signal.SIGTERM, signal.SIGINT], VISITS),
    ],
)
def test_sigterm_lets_the_visit_end_and_nothing_else_does(
    campaign: subprocess.Popen[str], signals: list[int], finished: int
) -> None:
    for number in signals:
        campaign.send_signal(number)
        time.sleep(0.05)
    _, words = campaign.communicate()
    assert campaign.returncode == 128 + signals[-1]
    assert "mpigauge resume r.jsonl" in words
    result = load(Path("r.jsonl"))
    assert len(result.visits) == finished
    assert [end.reason for end in result.ends] == ["interrupted"]
    assert not result.failures


@pytest.mark.thorough
def test_a_signal_to_every_rank_is_an_interruption_and_no_failure(
    campaign: subprocess.Popen[str], machine: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.kill(kernel(machine), signal.SIGTERM)
    time.sleep(0.2)
    campaign.terminate()
    campaign.communicate()
    assert campaign.returncode == 128 + signal.SIGTERM
    before = load(Path("r.jsonl"))
    assert len(before.visits) >= VISITS  # another may have ended while we were looking
    assert not before.failures
    monkeypatch.setenv("FAKE_NAP_S", "0")
    assert cli("resume", "r.jsonl", "-q").status == 0
    after = load(Path("r.jsonl"))
    assert len(after.visits) == 3 * 8 * 2
    assert not after.failures


@pytest.mark.thorough
def test_ranks_that_somebody_ends_without_us_have_failed(
    campaign: subprocess.Popen[str], machine: Path
) -> None:
    os.kill(kernel(machine), signal.SIGTERM)
    while not load(Path("r.jsonl")).failures and campaign.poll() is None:
        time.sleep(0.02)
    campaign.send_signal(signal.SIGINT)
    campaign.communicate()
    assert [failure.kind for failure in load(Path("r.jsonl")).failures] == ["crash"]


# ---- In an allocation ----------------------------------------------------------------------------


def scheduler(cli: Cli) -> dict[str, str]:
    """The doctor's line."""
    findings = json.loads(cli("doctor", "--format", "json").out)["findings"]
    (found,) = [one for one in findings if one["what"] == "scheduler"]
    return dict(found)


@pytest.mark.thorough
def test_the_doctor_tells_of_the_allocation(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert scheduler(cli)["value"] == "none"
    write_program(openmpi.bin / "srun", "")
    for name, value in JOB.items():
        monkeypatch.setenv(name, value)
    assert scheduler(cli)["state"] == "ok"
    assert scheduler(cli)["value"] == "Slurm, job 17: 2 nodes, 4 tasks, node0 first"
    assert "SLURM_JOB_NODELIST" not in cli("doctor").out
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "2(x3)")
    assert scheduler(cli)["state"] == "lacks"
    assert "SLURM_TASKS_PER_NODE" in scheduler(cli)["value"]


def test_the_environment_keeps_what_slurm_says_but_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**JOB, "SLURM_JWT": "secret"}.items():
        monkeypatch.setenv(name, value)
    kept = environment.variables()
    assert {name: kept.get(name) for name in JOB} == JOB
    assert "SLURM_JWT" not in kept


PLAN = Plan(measure=(), hosts=(Host("node4", 2), Host("node5", 2)))


def test_a_campaign_goes_on_with_the_hosts_of_its_new_allocation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_srun_first(tmp_path / "slurm", monkeypatch)
    for name in JOB:
        monkeypatch.delenv(name, raising=False)
    assert with_current_hosts(PLAN) == PLAN
    for name, value in JOB.items():
        monkeypatch.setenv(name, value)
    assert with_current_hosts(PLAN).hosts == (Host("node0", 2), Host("node1", 2))
    some = replace(PLAN, hosts=(Host("node1", 1),))
    assert with_current_hosts(some) == some
    alone = Plan(measure=())
    assert with_current_hosts(alone) == alone


def test_but_not_with_others_than_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_srun_first(tmp_path / "slurm", monkeypatch)
    for name, value in JOB.items():
        monkeypatch.setenv(name, value)
    named = replace(PLAN, placements=("different-hosts", "node4,node5"))
    with pytest.raises(EnvironmentLacksError, match="job 17 does not have all of node4,node5"):
        with_current_hosts(named)


@pytest.mark.thorough
def test_a_budget_ends_with_the_job(
    openmpi: object, as_processes: None, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten minutes are left of the budget, a few seconds of the job beside what it needs to end well."""
    for name, value in JOB.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SLURM_JOB_NODELIST", os.uname().nodename)
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "2")
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", "2")
    monkeypatch.setenv("SLURM_JOB_END_TIME", str(round(time.time() + JOB_END_MARGIN_S + 2)))
    text = "run pingpong --sizes 8,64 --budget 10min --launches 1000 -o r.jsonl"
    done = cli(*text.split())
    assert "the job ends before the budget is spent" in done.err
    assert load(Path("r.jsonl")).ends[-1].reason == "budget"
