"""Kernel plans that are handed out: what they may hold, and what they tell the kernel."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.importers import READERS
from mpigauge.plan.kernel_plan import Limits, kernel_plan, read_external_plan
from mpigauge.plan.model import Cell, Plan
from mpigauge.plan.visit_order import PlannedVisit
from tests.unit.importers.test_kernel_journal import handed_out

if TYPE_CHECKING:
    from tests.conftest import Cli


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("pingpong", "--np", "2,4"), "a launch has one number of ranks, not 2"),
        (("pingpong", "--mpi", "openmpi", "--mpi", "mpich"), "a launch has one MPI library"),
        (("pingpong", "--transport", "shm"), "transports is set by your own launcher, not by the plan"),
        (("pingpong", "--hosts", "h1,h2"), "hosts is set by your own launcher, not by the plan"),
        (("pingpong", "--env", "A=B"), "variables is set by your own launcher, not by the plan"),
        (("pingpong", "-o", "x"), "--output cannot be used here"),
        (("pingpong", "--abi"), "abi is set by your own launcher, not by the plan"),
        (("pingpong", "--over", "1h"), "one launch cannot be spread over time"),
        (("pingpung",), "no pattern is called 'pingpung'"),
    ],
)
@pytest.mark.usefixtures("openmpi")
def test_a_plan_that_is_of_more_than_one_launch_is_refused(
    cli: Cli, words: tuple[str, ...], sentence: str
) -> None:
    done = cli("kernel", "plan", *words)
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err


def test_a_launch_that_mpigauge_watches_has_no_alarm_of_its_own() -> None:
    cell = Cell("pingpong", "standard", 8, 2, "", "")
    text = kernel_plan([PlannedVisit(0, cell)], Plan(measure=()), Limits(1.0, 1.0), 2)
    assert "hang_ns" not in text


@pytest.mark.usefixtures("openmpi")
def test_the_budget_is_the_launchs_and_so_are_the_cores(cli: Cli) -> None:
    handed_out(cli, "pingpong", "--budget", "10s", "--np", "4")
    launch = Path("plan.txt").read_text(encoding="utf-8").splitlines()[0]
    assert " ranks=4 cores=4 " in launch
    assert f" deadline_ns={9 * 10**9} " in launch
    assert launch.endswith(f" hang_ns={60 * 10**9} pool_caches=4")
    handed_out(cli, "pingpong", "--np", "4", "--cores", "2")
    assert " cores=2 " in Path("plan.txt").read_text(encoding="utf-8")
    assert read_external_plan(Path("plan.txt")).ranks == 4


def test_every_reader_has_a_module_and_a_command(cli: Cli) -> None:
    for name, reader in READERS.items():
        module = importlib.import_module(f"mpigauge.importers.{reader.module}")
        assert callable(getattr(module, "Parser", None) or module.read)
        done = cli("import", name, "--help")
        assert done.status == 0
        assert reader.files in done.out
