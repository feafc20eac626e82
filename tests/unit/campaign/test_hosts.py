"""Which hosts a campaign has, which of them are asked before it, and which are left out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from mpigauge.campaign.hosts import check_reachable, first_fault, with_current_hosts, with_hosts
from mpigauge.campaign.targets import Target
from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.mpi.kinds import KINDS
from mpigauge.mpi.library import Library
from mpigauge.plan.hosts import Host
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import KernelDescription
from tests.fakes.launchers import put_srun_first
from tests.fakes.mpi import write_program

PLAN = Plan((Measure("pingpong"),))
SHELL = """#!/bin/sh
echo "$1" >> {asked}
case "$1" in dead*) echo "no route to host" >&2; exit 255 ;; esac
"""


@pytest.fixture
def srun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a job of Slurm without srun mpigauge asks for it."""
    put_srun_first(tmp_path / "slurm", monkeypatch)


@pytest.mark.usefixtures("srun")
def test_hosts_come_from_the_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    assert with_hosts(PLAN) == PLAN
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "node[1-2]")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "4(x2)")
    assert with_hosts(PLAN).hosts == (Host("node1", 4), Host("node2", 4))


@pytest.mark.usefixtures("srun")
def test_srun_needs_an_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(PLAN.measure, launcher="srun")
    for prepare in (with_hosts, with_current_hosts):
        with pytest.raises(EnvironmentLacksError, match="needs a Slurm allocation"):
            prepare(plan)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "node[1-2]")
    monkeypatch.setenv("SLURM_TASKS_PER_NODE", "4(x2)")
    assert with_hosts(plan).launcher == "srun"


def test_an_unknown_launcher_is_named() -> None:
    with pytest.raises(UsageError, match="'aprun'"):
        with_hosts(Plan(PLAN.measure, launcher="aprun"))


def test_a_launcher_may_be_a_command_template() -> None:
    words = "flux run -n {ranks}"
    assert with_hosts(Plan(PLAN.measure, launcher=words)).launcher == words
    with pytest.raises(UsageError, match="cores} is not a placeholder"):
        with_hosts(Plan(PLAN.measure, launcher="flux run -n {cores}"))


def test_one_of_several_ranks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMI_SIZE", "2")
    for prepare in (with_hosts, with_current_hosts):
        with pytest.raises(UsageError, match="started mpigauge 2 times"):
            prepare(PLAN)


# ---- Are they there? -----------------------------------------------------------------------------


class Shell:
    """A remote shell to which hosts answer unless they are dead, and that remembers whom it asked."""

    def __init__(self, folder: Path) -> None:
        self._asked = folder / "asked"
        self.path = str(write_program(folder / "shell", SHELL.format(asked=self._asked), ""))

    @property
    def asked(self) -> list[str]:
        """Since the last time."""
        lines = sorted(self._asked.read_text(encoding="ascii").split()) if self._asked.exists() else []
        self._asked.unlink(missing_ok=True)
        return lines


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """One for each test."""
    return Shell(tmp_path)


def plan_of(shell: Shell, *names: str, **changes: object) -> Plan:
    """A plan with these hosts."""
    return replace(PLAN, hosts=tuple(map(Host, names)), remote_shell=shell.path, **changes)


def target_of(*placements: str) -> Target:
    """What is measured with these placements of two ranks."""
    here = Path("/")
    library = Library(KINDS[0], "5.0.11", "3.1", here, here, here, "", "", {})
    cells = [Cell("pingpong", "standard", 8, 2, "openmpi", "5.0.11", placement=one) for one in placements]
    return Target(library, Path("/bin/sh"), KernelDescription(1, False, (), ()), cells)


def test_only_hosts_of_ranks_are_asked(shell: Shell) -> None:
    plan = plan_of(shell, "n1", "n2", "n3", "dead1")
    check_reachable(plan, [target_of("n1,n3")])
    assert shell.asked == ["n1", "n3"]
    check_reachable(plan, [target_of("different-hosts", "n3,n2")])
    assert shell.asked == ["n1", "n2", "n3"]
    with pytest.raises(EnvironmentLacksError, match="host dead1: cannot be reached: no route to host"):
        check_reachable(plan, [target_of("n1,dead1")])


def test_hosts_are_not_asked_against_the_plan(shell: Shell) -> None:
    plan = plan_of(shell, "dead1", "dead2", check_hosts="no")
    check_reachable(plan, [target_of("different-hosts")])
    assert first_fault(["dead1"], plan, []) == ""
    assert shell.asked == []


def test_hosts_that_do_not_answer_are_left_out(shell: Shell) -> None:
    found = with_hosts(plan_of(shell, "n1", "dead1", "n2", "dead2", skip_dead=True))
    assert found.hosts == (Host("n1"), Host("n2"))
    assert found.hosts_skipped == ("dead1", "dead2")
    assert with_hosts(found) == found
    with pytest.raises(EnvironmentLacksError, match=r"host dead1: .*; no other host answers either"):
        with_hosts(plan_of(shell, "dead1", "dead2", skip_dead=True))


def test_hosts_of_a_placement_stay_and_keep_their_numbers(shell: Shell) -> None:
    plan = plan_of(shell, "dead1", "n1", "dead2", "n2", skip_dead=True, placements=("2,4", "3,2"))
    found = with_hosts(plan)
    assert found.placements == ("n1,n2", "dead2,n1")
    assert [host.name for host in found.hosts] == ["n1", "dead2", "n2"]
    assert found.hosts_skipped == ("dead1",)


def test_skip_dead_without_checking_hosts_is_refused(shell: Shell) -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        with_hosts(plan_of(shell, "n1", skip_dead=True, check_hosts="no"))


@pytest.mark.usefixtures("srun")
def test_a_scheduler_answers_for_its_hosts_and_for_no_others(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "node[1-2]")
    plan = plan_of(shell, "node1", "node2.cluster", "dead1")
    assert first_fault(["node1", "node2.cluster"], plan, []) == ""
    assert shell.asked == []
    assert first_fault(["node1", "dead1"], plan, []).startswith("host dead1: cannot be reached")
    assert shell.asked == ["dead1"]
    by_srun = replace(plan, launcher="srun")
    assert (
        first_fault(["node1", "n9"], by_srun, []) == "host n9: is none of job 7, and srun reaches no others"
    )
    assert first_fault(["node1"], replace(plan, check_hosts="ssh"), []) == ""
    assert shell.asked == ["node1"]


STEP = """#!/bin/sh
echo "$*" >> {asked}
echo "srun: error: node3: task 1: Exited with exit code {status}" >&2
exit {status}
"""


@pytest.mark.parametrize("launcher", ["auto", "srun"])
def test_a_step_of_slurm_gives_nodes_the_kernel_before_a_campaign(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch, launcher: str
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "node[1-3]")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    asked = tmp_path / "steps"
    plan = replace(plan_of(shell, "node1", "node2.cluster", "node3"), launcher=launcher)
    write_program(tmp_path / "bin" / "srun", STEP.format(asked=asked, status=0), "")
    assert first_fault(["node1", "node2.cluster"], plan, [target_of("node1,node3")]) == ""
    check_reachable(replace(plan, check_hosts="no"), [target_of("node1,node3")])
    assert not asked.exists()
    check_reachable(plan, [target_of("node1,node3"), target_of("node3,node1")])
    (step,) = asked.read_text(encoding="ascii").splitlines()
    assert "--nodes=2 " in step
    write_program(tmp_path / "bin" / "srun", STEP.format(asked=asked, status=100), "")
    with pytest.raises(EnvironmentLacksError, match="host node3: has no /bin/sh, and it cannot be put there"):
        check_reachable(plan, [target_of("node1,node3")])
    assert shell.asked == []


def test_a_resumed_campaign_needs_its_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was begun inside an allocation may be continued outside of it, or by an older mpigauge."""
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    with pytest.raises(UsageError, match="no launcher is called 'tomorrow'"):
        with_current_hosts(replace(PLAN, launcher="tomorrow"))
    with pytest.raises(EnvironmentLacksError, match="srun needs a Slurm allocation"):
        with_current_hosts(replace(PLAN, launcher="srun"))
