"""`mpigauge report`: a page is written where it was asked for, and nothing is overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_DONE, EXIT_USAGE
from tests.made import campaign, cell, launches_of, measured, written
from tests.reported import LAUNCHES, SIZES, Seen, samples_ns

if TYPE_CHECKING:
    from tests.conftest import Cli

CELLS = [cell(size=size, mode=mode) for mode in ("standard", "synchronous") for size in SIZES[1:]]


@pytest.fixture
def result(machine: Path) -> Path:
    """Messages in two modes, where we are."""
    return written(
        "r.jsonl", campaign(*CELLS), *launches_of(CELLS, LAUNCHES), *measured(CELLS, LAUNCHES, samples_ns)
    )


def page_of(cli: Cli, *words: object) -> Seen:
    """The page that a command writes to page.html."""
    done = cli("report", *words, "-o", "page.html")
    assert (done.status, done.out, done.err) == (EXIT_DONE, "", "report: page.html\n")
    return Seen(Path("page.html").read_text(encoding="utf-8"))


@pytest.mark.thorough
def test_a_page_has_the_answer_and_is_never_overwritten(cli: Cli, result: Path) -> None:
    done = cli("report", result)
    assert (done.status, done.err) == (EXIT_DONE, "report: r-report.html\n")
    text = Path("r-report.html").read_text(encoding="utf-8")
    assert "latency, standard, 8 B" in Seen(text).text
    again = cli("report", result)
    assert again.status == EXIT_USAGE
    assert "r-report.html: is there already" in again.err
    assert Path("r-report.html").read_text(encoding="utf-8") == text


def test_what_was_chosen_is_what_is_shown(cli: Cli, result: Path) -> None:
    found = page_of(cli, result, "--series", "synchronous", "--sizes", "8:1KiB", "--unit", "us")
    points = [text.split("\n") for text in found.texts if "\nlatency, one way: " in text]
    assert {first.rpartition(", ")[2] for first, *_ in points} == {"8 B", "512 B"}
    assert all(value.endswith(" \N{MICRO SIGN}s") for _, value, *_ in points)
    assert "synchronous against standard" not in found.text


@pytest.mark.thorough
def test_two_modes_of_one_result_are_compared(cli: Cli, result: Path) -> None:
    found = page_of(cli, result, "--by", "mode", "--margin", "1%")
    assert "synchronous against standard: slower" in found.text


@pytest.mark.thorough
def test_names_and_choices_that_cannot_be_are_refused(cli: Cli, result: Path) -> None:
    for words, said in (
        (["-o", "page.png"], "page.png is not the name of a page"),
        (["-o", "nowhere/page.html"], "nowhere/page.html: cannot be written"),
        (["--series", "nothing"], "no series has"),
        (["--by", "mpi"], "nothing differs in mpi"),
        ([result, "--by", "mode"], "--by compares"),
        (["--margin", "20%"], "what does not matter must be allowed"),
    ):
        done = cli("report", result, *words)
        assert done.status == EXIT_USAGE, words
        assert said in done.err, done.err
        assert not [*Path().glob("*.html")]


def test_a_result_without_numbers_has_a_page_that_says_so(cli: Cli, machine: Path) -> None:
    found = page_of(cli, written("empty.jsonl", campaign(CELLS[0])))
    assert "cells without a number" in found.text
    assert "svg" not in found.names
