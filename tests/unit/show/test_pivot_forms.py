"""Tables as papers have them: their forms, units and choices, and a sentence where one cannot be made."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from mpigauge.document.document import LETTERS, Units
from mpigauge.result.records import End
from mpigauge.show.pivots import KINDS
from mpigauge.show.pivots.footnotes import SENTENCES, Notes
from mpigauge.show.pivots.grid import PivotGrid, PivotLine, PivotNumber
from mpigauge.vocabulary import VERDICTS
from tests.made import campaign, cell, collective, launches_of, visit, written
from tests.unit.show.pivoted import (
    EXCHANGE,
    LAID_OUT,
    LAUNCHES,
    PLACES,
    entries_of,
    records_of,
    shown,
    tables_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli


def pasted(text: str) -> list[tuple[str, list[list[str]]]]:
    """Captions and tables of Markdown."""
    found = re.findall(r"^(\*\*.*)\n\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [
        (caption, [[word.strip() for word in line.strip("|").split(" | ")] for line in body.splitlines()])
        for caption, body in found
    ]


# ---- Forms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", LAID_OUT)
def test_markdown_is_captions_tables_and_meanings(table: str, exchange: Path, cli: Cli) -> None:
    text = shown(cli, exchange, "--table", table, "--format", "markdown")
    found = pasted(text)
    assert len(found) == len(tables_of(cli, exchange, "--table", table))
    for caption, lines in found:
        assert caption.startswith(f"**{table}")
        assert len({len(line) for line in lines}) == 1
        assert set(lines[1]) <= {"---", "---:"}
    source, *kept = [line for line in text.splitlines() if line and not line.startswith(("|", "**"))]
    assert source.startswith("*")
    assert all(line.startswith((*LETTERS, "all: ")) for line in kept)


MAX_WORDS = 40
"""Of a caption: nobody reads longer ones."""


@pytest.mark.parametrize("table", LAID_OUT)
def test_what_all_tables_of_markdown_share_is_said_once(table: str, exchange: Path, cli: Cli) -> None:
    text = shown(cli, exchange, "--table", table, "--format", "markdown")
    captions = [caption for caption, _ in pasted(text)]
    assert all(len(caption.split()) <= MAX_WORDS for caption in captions)
    abouts = [caption.partition("** (")[2] for caption in captions]
    assert abouts[0]
    assert all(not later or later != before for before, later in pairwise(abouts))
    source, *rest = text.splitlines()
    assert source.endswith(f"{len(LAUNCHES)} launches*")
    assert source.strip("*") not in "".join(rest)


@pytest.mark.parametrize("table", LAID_OUT)
def test_csv_has_the_entries_of_json(table: str, exchange: Path, cli: Cli) -> None:
    entries = entries_of(tables_of(cli, exchange, "--table", table))
    lines = list(csv.DictReader(io.StringIO(shown(cli, exchange, "--table", table, "--format", "csv"))))
    assert len(lines) == len(entries)
    for line, entry in zip(lines, entries, strict=True):
        assert "pair" not in line, "two columns, of which a spreadsheet makes no date"
        for name in entry.keys() - {"doubts", "warnings", "sessions", "pair"}:
            assert line[name] == ("" if entry[name] is None else str(entry[name])), name
        assert line["doubts"] == "; ".join(entry["doubts"])
        assert line["warnings"] == " ".join(entry["warnings"])


def test_numbers_are_in_the_units_asked_for(exchange: Path, cli: Cli) -> None:
    assert "Mbit/s" in shown(cli, exchange, "--table", "rates", "--unit", "Mbit/s")
    assert "MB/s" not in shown(cli, exchange, "--table", "rates", "--unit", "Mbit/s")
    text = shown(cli, exchange, "--table", "latency", "--unit", "ns")
    assert re.search(r"\d ns \(\d+ . \d+\)", text)


def test_stat_changes_the_number(machine: Path, cli: Cli) -> None:
    of = cell(size=8)
    visits = [visit(number, 0, of, [*[200] * 39, 100]) for number in LAUNCHES]
    path = written(
        "skewed.jsonl", campaign(of), *launches_of([of], LAUNCHES), *visits, End("launches", 1.0, "")
    )
    medians, minima = (
        entries_of(tables_of(cli, path, "--table", "times", "--stat", stat))[0]["value"]
        for stat in ("median", "min")
    )
    # Rounds of one nanosecond more or less are one class of the clock.
    assert medians == pytest.approx(2 * minima, rel=1e-3)


def test_series_and_sizes_choose(exchange: Path, cli: Cli) -> None:
    entries = entries_of(
        tables_of(cli, exchange, "--table", "times", "--series", "nonblocking tcp", "--sizes", "8:64")
    )
    assert {(entry["mode"], entry["transport"]) for entry in entries} == {("nonblocking", "tcp")}
    assert {entry["bytes"] for entry in entries} == {8, 64}


def test_sentences_are_below_the_kinds_that_they_are_about(exchange: Path, cli: Cli) -> None:
    assert "as long over tcp h1,h2" in shown(cli, exchange, "--table", "latency")
    rates = shown(cli, exchange, "--table", "rates")
    assert re.search(r"is (not certainly faster than|faster at every size)", rates)
    assert re.search(r"MPI_Isend (?:takes .*|against) .*MPI_Send", rates)
    statistics = shown(cli, exchange, "--table", "statistics")
    assert not re.search(r"MPI_Isend (?:takes|against) ", statistics)
    assert " over " not in statistics


def test_json_has_the_facts_of_every_sentence(exchange: Path, cli: Cli) -> None:
    table = json.loads(shown(cli, exchange, "--table", "rates", "--format", "json"))
    facts = [one for one in table["findings"] if one["severity"] == "info"]
    assert [one["text"] for one in facts] == table["notes"]
    assert {one["kind"] for one in facts} == {"payoff", "contrast"}
    for one in facts:
        assert len(one["cells"]) == 2
        assert all(cell["pattern"] == "exchange" for cell in one["cells"])
        value = one["value"]
        for at in (
            value["gains"] if one["kind"] == "payoff" else [at for run in value["runs"] for at in run["at"]]
        ):
            assert at["ratio"]["low"] <= at["ratio"]["estimate"] <= at["ratio"]["high"]
            assert at["verdict"] in VERDICTS


# ---- What cannot be made -------------------------------------------------------------------------


@pytest.mark.parametrize("table", LAID_OUT)
def test_a_result_without_anything_says_what_is_missing(table: str, machine: Path, cli: Cli) -> None:
    path = written("empty.jsonl", campaign(*EXCHANGE))
    done = cli("show", path, "--table", table)
    assert (done.status, done.out) == (2, "")
    assert f"no table of kind {table}: nothing that it shows was measured" in done.err
    assert KINDS[table].needs in done.err


def test_copies_have_no_latency(machine: Path, cli: Cli) -> None:
    path = written("copies.jsonl", *records_of([cell("memcpy", size, transport="shm") for size in (8, 64)]))
    assert cli("show", path, "--table", "latency").status == 2
    assert cli("show", path, "--table", "statistics").status == 0


@pytest.mark.parametrize(
    ("words", "telling"),
    [
        (("--table", "curves", "--series", "pingpong"), "no series has"),
        (("--sizes", "7"), "nothing of it was measured in the sizes 7; there are"),
        (("--table", "times", "--sizes", "7"), "hint: name others: 8,1KiB"),
        (("--table", "answer", "--columns", "mean"), "--table answer does not take --columns"),
        (("--table", "times", "--columns", "mean"), "--table times does not take --columns"),
        (("--table", "times", "--series", "nothing"), "no series has"),
        (("--table", "times", "--sizes", "4K"), "4K"),
        (("--table", "times", "--unit", "furlong"), "no unit is called 'furlong'"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(words: tuple[str, ...], telling: str, exchange: Path, cli: Cli) -> None:
    done = cli("show", exchange, *words)
    assert (done.status, done.out) == (2, "")
    assert telling in done.err


def test_curves_are_of_one_result(exchange: Path, cli: Cli) -> None:
    assert cli("show", exchange, exchange, "--all").status == 2
    assert shown(cli, exchange, "--all") == shown(cli, exchange, "--table", "curves")


def test_windows_of_one_size_hide_no_number(cli: Cli, machine: Path) -> None:
    both = [cell(size=64, window=window, **PLACES[0]) for window in (4, 64)]
    path = written("windows.jsonl", *records_of(both))
    assert len(entries_of(tables_of(cli, path, "--table", "times"))) == len(both)


@pytest.fixture
def barrier(machine: Path) -> Path:
    """Messages, and what has no size."""
    cells = [cell(size=8, **PLACES[0]), collective("barrier", 0, **PLACES[0])]
    return written("barrier.jsonl", *records_of(cells))


def test_what_has_no_size_is_called_what_it_is(barrier: Path, cli: Cli) -> None:
    text = shown(cli, barrier, "--table", "times")
    assert re.findall(r"^  (\S.*?)  +\S+ .s", text, re.MULTILINE)[-1].startswith("barrier")


@pytest.mark.parametrize("table", ["curves", "times", "statistics", "summary"])
def test_what_has_no_size_is_no_answer_to_a_size(table: str, barrier: Path, cli: Cli) -> None:
    """Which was not measured: a table of barriers alone would say that nothing is missing."""
    done = cli("show", barrier, "--table", table, "--sizes", "3")
    assert (done.status, done.out) == (2, "")
    assert "nothing of it was measured in the sizes 3; there are 8 B" in done.err
    assert cli("show", barrier, "--table", table, "--sizes", "8").status == 0
    assert "barrier" in shown(cli, barrier, "--table", table, "--series", "barrier")


def test_letters_stand_in_the_order_in_which_they_are_explained() -> None:
    """The first number needs the letter of the kind that comes last."""
    first, last = list(SENTENCES)[1], list(SENTENCES)[-1]
    entries = [_doubted(last), _doubted(first, last), _doubted()]
    grid = PivotGrid(
        "", "", "size", ["a"], [PivotLine(str(number), [one]) for number, one in enumerate(entries)]
    )
    notes = Notes([grid])
    said = [notes.text(grid, line, 0, Units()) for line in grid.lines]
    assert said == [f"1{LETTERS[0]}", f"1{LETTERS[0]}{LETTERS[1]}", "1"]


def _doubted(*kinds: str) -> PivotNumber:
    """An entry of which nothing is known but its warnings."""
    warnings = [SimpleNamespace(kind=kind) for kind in kinds]
    row = SimpleNamespace(time=object(), warnings=warnings, imported=False)
    quantity = SimpleNamespace(marked=True, text=lambda *_: "1")
    return PivotNumber(cast("Any", None), cast("Any", row), cast("Any", quantity), {})
