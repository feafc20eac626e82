"""Results that must not be compared: `--force` compares them, and every form of the answer says so."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

import mpigauge
from mpigauge.compare.sentences import MAX_FORCED
from mpigauge.errors import EXIT_DONE, EXIT_UNDECIDED, EXIT_USAGE
from tests.histories import folder, records, usual
from tests.made import campaign, cell, launches_of, measured, written
from tests.reported import Seen

if TYPE_CHECKING:
    from tests.conftest import Cli

CELLS = [cell(size=size) for size in (8, 1024)]
LAUNCHES = range(1, 8)
PAIR = ("here.jsonl", "there.jsonl")
SAID = "forced: host node1, elsewhere; processor Some CPU, Another CPU"


def result(path: str, **machine: object) -> Path:
    """Two sizes of a machine, or of one that differs in so much."""
    chance = iter(range(10**6))
    head = campaign(*CELLS)
    head = replace(head, environment=replace(head.environment, **machine))
    visits = measured(CELLS, LAUNCHES, lambda *_: [1_000_000 + 1000 * (next(chance) % 7)] * 5)
    return written(path, head, *launches_of(CELLS, LAUNCHES), *visits)


@pytest.fixture
def two(machine: Path) -> None:
    """A result of a machine and one of another, where we are."""
    result(PAIR[0])
    result(PAIR[1], host="elsewhere", cpu="Another CPU")


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("form", ["text", "markdown", "json", "csv", "junit"])
def test_every_format_says_what_was_forced(cli: Cli, form: str) -> None:
    done = cli("compare", *PAIR, "--force", "--format", form)
    assert done.status == EXIT_UNDECIDED
    match form:
        case "json":
            assert json.loads(done.out)["forced"] == SAID.removeprefix("forced: ").split("; ")
        case "csv":
            lines = list(csv.DictReader(io.StringIO(done.out)))
            assert {line["forced"] for line in lines} == {SAID.removeprefix("forced: ")}
        case "junit":
            suite = ET.fromstring(done.out)  # noqa: S314 - our own
            known = {one.get("name"): one.get("value") for one in suite.iter("property")}
            assert known == {"verdict": "undecided", "forced": SAID.removeprefix("forced: ")}
            assert suite.get("tests") == str(len(CELLS)), "properties are no cases"
        case _:
            assert SAID in [line.strip("*") for line in done.out.splitlines()[:3]]


def test_what_is_alike_is_not_marked(cli: Cli, machine: Path) -> None:
    """Whether or not --force is given: it marks what differs, and not that it was asked for."""
    for name in PAIR:
        result(name)
    for words in ((), ("--force",)):
        done = cli("compare", *PAIR, *words, "--format", "json")
        assert json.loads(done.out)["forced"] == []
        assert "forced" not in cli("compare", *PAIR, *words).out
        suite = ET.fromstring(cli("compare", *PAIR, *words, "--format", "junit").out)  # noqa: S314 - our own
        assert [one.get("name") for one in suite.iter("property")] == ["verdict"]


@pytest.mark.usefixtures("two")
def test_a_title_of_the_user_does_not_hide_it_in_a_figure(cli: Cli) -> None:
    assert cli("plot", *PAIR, "--kind", "compare", "-o", "f.svg").status == EXIT_USAGE
    words = ("--kind", "compare", "--force", "--title", "All is well", "-o", "f.svg")
    assert cli("plot", *PAIR, *words).status == EXIT_DONE
    drawn = " ".join(Path("f.svg").read_text(encoding="utf-8").split())
    assert "All is well" in drawn
    assert "forced: host node1, elsewhere" in drawn


@pytest.mark.thorough
@pytest.mark.usefixtures("two")
def test_a_report_says_it_beside_the_verdict(cli: Cli) -> None:
    assert cli("report", *PAIR, "--force", "-o", "page.html").status == EXIT_DONE
    page = Seen(Path("page.html").read_text(encoding="utf-8"))
    assert SAID in page.text
    assert cli("report", *PAIR, "--overwrite", "-o", "page.html").status == EXIT_DONE
    assert "forced" not in Seen(Path("page.html").read_text(encoding="utf-8")).text


@pytest.mark.usefixtures("two")
def test_a_script_is_told(cli: Cli) -> None:
    here, there = (mpigauge.load(name) for name in PAIR)
    assert SAID in here.compare(there, force=True).text


def test_sessions_of_other_machines_are_named(cli: Cli, machine: Path) -> None:
    folder("base", 4, usual)
    new = written("new.jsonl", *records(20, usual))
    text = new.read_text(encoding="utf-8").replace('"host":"node1"', '"host":"elsewhere"', 1)
    new.write_text(text, encoding="utf-8")
    done = cli("compare", new, "--baseline", "base", "--force", "--format", "json")
    assert json.loads(done.out)["forced"] == ["host elsewhere, node1"], "once, however many sessions"


def test_of_much_that_differs_words_name_a_part(cli: Cli, machine: Path) -> None:
    result(PAIR[0])
    result(PAIR[1], host="elsewhere", cpu="Another CPU", cores=64)
    text = Path(PAIR[1]).read_text(encoding="utf-8").replace('"mpigauge":"0.1.0"', '"mpigauge":"9.9"', 1)
    Path(PAIR[1]).write_text(text.replace('"raw"', '"monotonic"'), encoding="utf-8")
    said = json.loads(cli("compare", *PAIR, "--force", "--format", "json").out)["forced"]
    line = cli("compare", *PAIR, "--force").out.splitlines()[1]
    assert len(said) >= MAX_FORCED
    assert line.count("; ") == min(len(said), MAX_FORCED + 1) - 1
