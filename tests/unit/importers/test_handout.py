"""Kernel plans that are handed out: what they may hold, and what they tell the kernel."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import UsageError
from mpigauge.importers import READERS
from mpigauge.plan.kernel_plan import Limits, kernel_plan, read_external_plan
from mpigauge.plan.model import Cell, Plan
from mpigauge.plan.rank_lists import members_of
from mpigauge.plan.visit_order import PlannedVisit
from tests.unit.importers.test_kernel_journal import handed_out

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi


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


@pytest.mark.usefixtures("openmpi")
def test_groups_of_a_plan_are_known_again(cli: Cli) -> None:
    handed_out(cli, "allreduce", "--np", "4", "--sizes", "8", "--groups", "2", "--order", "random:2")
    cells = {*read_external_plan(Path("plan.txt")).cells.values()}
    groups = {
        (cell.groups, frozenset(members_of(cell.group))) for cell in cells if cell.pattern == "allreduce"
    }
    first, second = frozenset({0, 1}), frozenset({2, 3})
    assert groups == {("", first), ("", second), ("2", first), ("2", second)}
    assert {cell.order for cell in cells} == {"", "random:2"}
    handed_out(cli, "multi-stream", "--np", "4", "--sizes", "8", "--senders", "1,all")
    cells = {*read_external_plan(Path("plan.txt")).cells.values()}
    assert {(cell.senders, cell.group) for cell in cells if cell.pattern == "multi-stream"} == {
        (1, "0,2"),
        (2, ""),
    }


def test_two_choices_of_the_same_ranks_are_known_again(openmpi: FakeMpi, cli: Cli) -> None:
    Path("asked.toml").write_text(
        '[[measure]]\npattern = "multi-stream"\nsizes = "8"\nsenders = [1]\n'
        '[[measure]]\npattern = "multi-stream"\nsizes = "8"\ngroups = ["mod:2"]\n',
        encoding="ascii",
    )
    handed_out(cli, "--plan", "asked.toml", "--np", "4")
    cells = {*read_external_plan(Path("plan.txt")).cells.values()}
    assert {(cell.groups, cell.group, cell.senders) for cell in cells if cell.pattern == "multi-stream"} == {
        ("", "0,2", 1),
        *((rule, group, 0) for rule in ("", "mod:2") for group in ("0,2", "1,3")),
    }


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ranks=0,1", "ranks=0,0", "rank 0 is in the group twice"),
        ("ranks=0,1", "ranks=0,7", "'0,7' is not a group of 4 ranks"),
        ("ranks=0,1", "ranks=0,3", "its plan does not ask for these ranks"),
        (" group=0", " group=9", "no line before it has a group 9"),
    ],
)
@pytest.mark.usefixtures("openmpi")
def test_a_group_that_was_changed_is_named_by_its_line(cli: Cli, old: str, new: str, words: str) -> None:
    handed_out(cli, "barrier", "--np", "4", "--groups", "2")
    text = Path("plan.txt").read_text(encoding="utf-8")
    assert old in text
    Path("plan.txt").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(words)):
        read_external_plan(Path("plan.txt"))
