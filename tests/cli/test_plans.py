"""Plans by name, as a user has them: listed, run, told where they are not what they seem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_USAGE
from mpigauge.plan import shipped

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi


def test_the_list_is_that_of_the_files(cli: Cli) -> None:
    listed = json.loads(cli("list", "plans", "--format", "json").out)["plans"]
    assert [one["name"] for one in listed] == list(shipped.plans())
    assert all(one["title"] and one["about"] and one["patterns"] for one in listed)
    assert all(Path(one["path"]).is_file() for one in listed)
    text = cli("list", "plans").out
    assert all(one["name"] in text and one["budget"] in text for one in listed)


def test_a_name_runs_its_plan_and_says_what_it_does_not_run(cli: Cli, openmpi: FakeMpi) -> None:
    named = cli("run", "--plan", "quick", "--seed", "1", "--dry-run")
    path = cli("run", "--plan", shipped.plans()["quick"], "--seed", "1", "--dry-run")
    assert (named.status, named.out, named.err) == (0, path.out, "")
    Path("quick").touch()
    beside = cli("run", "--plan", "quick", "--seed", "1", "--dry-run")
    assert (beside.status, beside.out) == (0, path.out)
    assert "./quick" in beside.err


@pytest.mark.thorough
@pytest.mark.parametrize(
    "words",
    [("run", "--plan"), ("sbatch", "--array"), ("mpi", "add", "--plan"), ("kernel", "plan", "--plan")],
)
def test_every_verb_knows_the_names(cli: Cli, openmpi: FakeMpi, words: tuple[str, ...]) -> None:
    unknown = cli(*words, "modse")
    assert unknown.status == EXIT_USAGE
    assert "did you mean modes?" in unknown.err
    assert "no plan is called" not in cli(*words, "modes").err
