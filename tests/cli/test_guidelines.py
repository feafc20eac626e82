"""`mpigauge check --guidelines` on a fake library whose every collective keeps or breaks them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, EXIT_USAGE
from mpigauge.plan.patterns import known
from mpigauge.result.reader import load
from tests.fakes.law import operation_ns

if TYPE_CHECKING:
    from tests.conftest import Cli

WORDS = ("run", "--suite", "guidelines", "bcast", "allreduce", "--samples", "40", "--seed", "7", "-q")
MODES = ("blocking", "reduce-bcast")


@pytest.fixture(autouse=True)
def _jitter(openmpi: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_JITTER", "0.01")


def checked(cli: Cli, *words: str) -> tuple[int, dict[str, Any]]:
    done = cli("check", "r.jsonl", "--guidelines", *words, "--format", "json")
    assert done.err == ""
    return done.status, json.loads(done.out)


@pytest.mark.thorough
def test_the_suite_measures_every_mode_beside_what_it_replaces(cli: Cli) -> None:
    assert cli(*WORDS, "-o", "r.jsonl", "--launches", "2").status == EXIT_DONE
    cells = load(Path("r.jsonl")).campaign.cells
    modes = {name: {cell.mode for cell in cells if cell.pattern == name} for name in ("bcast", "allreduce")}
    assert modes == {name: set(known()[name].guided) for name in modes}
    assert {cell.pattern for cell in cells} == {"null", *modes}


@pytest.mark.thorough
def test_what_keeps_all_guidelines_passes(cli: Cli) -> None:
    assert cli(*WORDS, "-o", "r.jsonl").status == EXIT_DONE
    status, said = checked(cli)
    assert (status, said["verdict"], said["violated"], said["undecided"]) == (EXIT_DONE, "same", [], [])
    assert said["checked"] > 50
    done = cli("check", "r.jsonl", "--guidelines")
    assert done.out.startswith("kept: none of ")
    lines = list(csv.DictReader(io.StringIO(cli("check", "r.jsonl", "--guidelines", "--format", "csv").out)))
    assert len(lines) == said["checked"]


@pytest.mark.thorough
def test_what_breaks_them_is_named_first(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_MODE", "allreduce:reduce-bcast:0.5")
    assert cli(*WORDS, "-o", "r.jsonl").status == EXIT_DONE
    status, said = checked(cli)
    assert (status, said["verdict"]) == (EXIT_CHECK_FAILED, "slower")
    found = {(one["pattern"], one["against_mode"]) for one in said["violated"]}
    assert found == {("allreduce", "reduce-bcast")}
    for one in said["violated"]:
        usual, better = (operation_ns("allreduce", mode, one["bytes"], 2, 100) for mode in MODES)
        assert one["ratio"] == pytest.approx(usual / (0.5 * better), rel=0.03)
    first, second, *_ = cli("check", "r.jsonl", "--guidelines").out.splitlines()
    assert first.startswith("violated: ")
    assert second.startswith("allreduce, 4 KiB to 1 MiB: takes up to ")
    assert "reduce-bcast: saves" in second
    report = cli("check", "r.jsonl", "--guidelines", "--format", "junit").out
    suite = ET.fromstring(report)  # noqa: S314 - our own
    assert suite.get("failures") == str(len(said["violated"]))


@pytest.mark.thorough
def test_what_cannot_be_decided_does_not_pass(cli: Cli) -> None:
    assert cli(*WORDS, "-o", "r.jsonl", "--launches", "3").status == EXIT_DONE
    status, said = checked(cli)
    assert (status, said["verdict"], said["violated"]) == (EXIT_UNDECIDED, "undecided", [])
    assert cli("run", "bcast", "--sizes", "8", "-o", "one.jsonl", "--launches", "6", "-q").status == EXIT_DONE
    done = cli("check", "one.jsonl", "--guidelines")
    assert (done.status, "run --suite guidelines" in done.out) == (EXIT_UNDECIDED, True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("check", "r.jsonl"), "nothing to check"),
        (("check", "r.jsonl", "r.jsonl", "--guidelines"), "one can be checked"),
        (("check", "none.jsonl", "--guidelines"), "none.jsonl"),
        (("run", "--suite", "guidelines", "--quick"), "--suite and --quick exclude each other"),
        (("run", "--suite", "guidelines", "--plan", "p.toml"), "--plan and --suite exclude each other"),
        (("run", "--suite", "nonsense"), "nonsense"),
    ],
)
def test_what_cannot_be_checked_is_refused(cli: Cli, words: tuple[str, ...], expected: str) -> None:
    if "r.jsonl" in words:
        cli("run", "barrier", "--launches", "1", "-o", "r.jsonl", "-q")
    done = cli(*words)
    assert done.status == EXIT_USAGE
    assert expected in done.err
