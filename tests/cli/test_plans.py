"""Plans, claims and printed tables by name: listed, used, told where they are not what they seem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_USAGE
from mpigauge.plan import shipped
from mpigauge.result.reader import load

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


def test_the_lists_of_claims_and_printed_tables_are_those_of_the_files(cli: Cli) -> None:
    for kind in (shipped.CLAIMS, shipped.PRINTED):
        listed = json.loads(cli("list", kind.listing, "--format", "json").out)[kind.listing]
        assert [one["name"] for one in listed] == list(shipped.files(kind))
        assert all(one["about"] and Path(one["path"]).is_file() for one in listed)


def test_a_printed_table_and_its_claims_are_had_by_name_from_any_folder(cli: Cli) -> None:
    assert cli("import", "csv", "--columns", "ring-pairs", "-o", "named.jsonl").status == 0
    columns = shipped.files(shipped.PRINTED)["ring-pairs"]
    words = ("import", "csv", shipped.printed_table(columns), "--columns", columns, "-o", "typed.jsonl")
    assert cli(*words).status == 0
    by_name, by_path = (load(Path(name)).imported for name in ("named.jsonl", "typed.jsonl"))
    assert [(one.cell, one.time_s) for one in by_name] == [(one.cell, one.time_s) for one in by_path] != []
    named = cli("explain", "named.jsonl", "--claims", "ring")
    typed = cli("explain", "named.jsonl", "--claims", shipped.files(shipped.CLAIMS)["ring"])
    assert (named.status, named.out) == (0, typed.out)
    every = cli("explain", "named.jsonl", "--claims", columns.parent)
    assert cli("explain", "named.jsonl", "--claims", "all").out == every.out != named.out


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
