"""Tables as papers have them: every number is that of its cell, no cell is lost, and doubt is marked."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.result.records import Blocked, End, Imported
from mpigauge.show.pivots import ANSWER, CURVES, KINDS, kinds
from mpigauge.show.pivots.footnotes import LETTERS, SENTENCES
from mpigauge.show.pivots.sentences import COMPARISONS
from mpigauge.vocabulary import VERDICTS
from tests.made import (
    campaign,
    cell,
    collective,
    launches_of,
    measured,
    visit,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record, Visit
    from tests.conftest import Cli

SIZES = (0, 8, 64, 1024)
PLACES = ({"transport": "shm"}, {"transport": "tcp"}, {"transport": "tcp", "placement": "h1,h2"})
MODES = ("blocking", "nonblocking")
LAUNCHES = tuple(range(1, 6))
LIMIT_BYTES = 100
BLOCKED = [cell("exchange", 1024, "blocking", **place) for place in PLACES]
LAID_OUT = [name for name in KINDS if name not in (ANSWER, CURVES)]
FORMS = ("text", "markdown", "csv", "json")


def law_ns(of: Cell) -> int:
    """What one operation takes in the first launch; no two cells take the same."""
    slow = {"shm": 300, "tcp": 5000}[of.transport] * (1 if of.placement == "same-host" else 7)
    factor = {"standard": 10, "nonblocking": 12, "blocking": 11}[of.mode] * (3 if of.mpi == "mpich" else 1)
    return (slow + of.bytes) * factor * of.ranks // 20


def by_law(cells: Sequence[Cell], numbers: Sequence[int]) -> Iterator[Visit]:
    return measured(cells, numbers, lambda of, number: [law_ns(of) * (100 + number)] * 40, ops=100)


def ended(cells: Sequence[Cell], *visits: Visit) -> list[Record]:
    """What follows the first line of a result: launches of these cells, the visits, and the end."""
    return [*launches_of(cells, LAUNCHES), *visits, End("launches", 1.0, "")]


def records_of(cells: Sequence[Cell], *more: Record) -> list[Record]:
    """A result in which all cells are measured but those that would block."""
    able = [of for of in cells if of not in BLOCKED]
    visits = by_law(able, LAUNCHES)
    return [campaign(*cells), *ended(cells, *visits), *more]


EXCHANGE = [cell("exchange", size, mode, **place) for place in PLACES for mode in MODES for size in SIZES]
BLOCKS = [Blocked(1, 900 + i, of, found=True, limit_bytes=LIMIT_BYTES) for i, of in enumerate(BLOCKED)]


@pytest.fixture
def exchange(machine: Path) -> Path:
    """Two modes in three places; one of them blocks above a limit."""
    return written("exchange.jsonl", *records_of(EXCHANGE, *BLOCKS))


@pytest.fixture
def libraries(machine: Path) -> Path:
    """Two libraries on two networks, with collectives of two numbers of ranks, and copies."""
    cells = [
        one
        for mpi in ("openmpi", "mpich")
        for place in PLACES[1:]
        for one in [
            *(cell(size=size, mpi=mpi, **place) for size in SIZES),
            *(collective("bcast", size, mpi=mpi, **place) for size in (8, 512, 4096, 65536)),
            collective("allreduce", 8, mpi=mpi, **place),
            collective("allreduce", 64, mpi=mpi, **place),
            collective("allreduce", 4096, mpi=mpi, **place),
            collective("barrier", 0, mpi=mpi, **place),
            cell("crosscopy", 64, mpi=mpi, **place),
        ]
    ]
    return written("libraries.jsonl", *records_of(cells))


@pytest.fixture
def printed(machine: Path) -> Path:
    """The latencies of two modes, as others printed them, with a name for the place that is ours."""
    cells = [cell("exchange", 8, mode, mpi="unknown", mpi_version="", transport="shm") for mode in MODES]
    times = [Imported(of, 1e-6 * (1 + i), None, "mean", "paper.csv: line 2") for i, of in enumerate(cells)]
    return written("printed.jsonl", campaign(*cells), *times, End("imported", 0.0, ""))


def shown(cli: Cli, *words: object) -> str:
    done = cli("show", *words)
    assert (done.status, done.err) == (0, ""), done.err
    return done.out


def tables_of(cli: Cli, *words: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shown(cli, *words, "--format", "json"))["tables"]
    return found


def entries_of(tables: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [entry for table in tables for line in table["lines"] for entry in line["entries"] if entry]


def pasted(text: str) -> list[tuple[str, list[list[str]]]]:
    """Captions and tables of Markdown."""
    found = re.findall(r"^(\*\*.*)\n\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [
        (caption, [[word.strip() for word in line.strip("|").split(" | ")] for line in body.splitlines()])
        for caption, body in found
    ]


# ---- Lists ---------------------------------------------------------------------------------------


def test_lists_kept_apart_are_the_same() -> None:
    assert set(kinds.MAKERS) == set(LAID_OUT)
    assert COMPARISONS.keys() <= KINDS.keys()
    assert len(set(LETTERS)) == len(LETTERS)


def test_list_tables_is_the_registry(cli: Cli) -> None:
    listed = json.loads(cli("list", "tables", "--format", "json").out)["tables"]
    assert [(one["name"], one["about"], one["needs"]) for one in listed] == [
        (kind.name, kind.about, kind.needs) for kind in KINDS.values()
    ]


# ---- Numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", LAID_OUT)
@pytest.mark.parametrize("name", ["exchange", "libraries"])
def test_every_number_is_that_of_its_cell(
    table: str, name: str, cli: Cli, request: pytest.FixtureRequest
) -> None:
    path = request.getfixturevalue(name)
    rows = json.loads(shown(cli, path, "--format", "json"))["rows"]
    facts = ("pattern", "mode", "bytes", "ranks", "mpi", "transport", "placement")
    by_cell = {tuple(row[fact] for fact in facts): row for row in rows}
    entries = entries_of(tables_of(cli, path, "--table", table))
    assert entries
    for entry in entries:
        row = by_cell[tuple(entry[fact] for fact in facts)]
        times = row["time_s"] or dict.fromkeys(("estimate", "low", "high", "mean", "stddev"))
        expected = {
            "time": times["estimate"],
            "rate": row["rate_bytes_per_s"],
            "mean": times["mean"],
            "std. dev.": times["stddev"],
            "n": row["samples"] or None,
        }[entry["quantity"]]
        assert entry["value"] == (None if expected is None else pytest.approx(expected))
        assert (entry["status"], entry["launches"]) == (row["status"], row["launches"])
        if entry["quantity"] == "time":
            assert (entry["low"], entry["high"]) == (times["low"], times["high"])


@pytest.mark.parametrize("table", ["times", "rates", "statistics"])
def test_no_cell_is_lost_and_none_is_there_twice(table: str, exchange: Path, cli: Cli) -> None:
    entries = entries_of(tables_of(cli, exchange, "--table", table))
    found = [(e["mode"], e["transport"], e["placement"], e["bytes"], e["quantity"]) for e in entries]
    cells = {
        (of.mode, of.transport, of.placement, of.bytes) for of in EXCHANGE if of.bytes or table != "rates"
    }
    assert len(found) == len(set(found))
    assert {place[:-1] for place in found} == cells


def test_the_interval_of_a_rate_is_that_of_the_time(exchange: Path, cli: Cli) -> None:
    times = entries_of(tables_of(cli, exchange, "--table", "times", "--sizes", "8"))
    rates = entries_of(tables_of(cli, exchange, "--table", "rates", "--sizes", "8"))
    for time, rate in zip(times, rates, strict=True):
        assert rate["low"] * time["high"] == pytest.approx(rate["value"] * time["value"])
        assert rate["low"] < rate["value"] < rate["high"]


# ---- Layout --------------------------------------------------------------------------------------


def test_latency_has_a_line_a_place_and_a_column_a_mode(exchange: Path, cli: Cli) -> None:
    (table,) = tables_of(cli, exchange, "--table", "latency")
    assert table["columns"] == list(MODES)
    assert [line["line"] for line in table["lines"]] == ["shm, same-host", "tcp, same-host", "tcp, h1,h2"]
    assert {entry["bytes"] for entry in entries_of([table])} == {0}
    assert "0 B" in table["title"]


def test_sizes_are_lines_in_their_order(exchange: Path, cli: Cli) -> None:
    for table in tables_of(cli, exchange, "--table", "times"):
        assert [line["line"] for line in table["lines"]] == ["0 B", "8 B", "64 B", "1 KiB"]
        assert len(table["columns"]) <= kinds.COLUMNS_MOST


def test_more_columns_than_fit_become_tables_that_name_their_place(machine: Path, cli: Cli) -> None:
    ranks = [
        cell("exchange", 8, mode, ranks=n, **place) for place in PLACES for mode in MODES for n in (2, 4)
    ]
    path = written("ranks.jsonl", *records_of(ranks))
    tables = tables_of(cli, path, "--table", "times")
    assert len(tables) > 1
    assert all(len(table["columns"]) <= kinds.COLUMNS_MOST for table in tables)
    titles = [table["title"] for table in tables]
    assert len(set(titles)) == len(titles)
    assert any("same-host" in title for title in titles)
    assert len(entries_of(tables)) == len(ranks)


def test_statistics_have_three_columns_a_series(exchange: Path, cli: Cli) -> None:
    tables = tables_of(cli, exchange, "--table", "statistics", "--series", "shm")
    assert [table["columns"] for table in tables] == [
        [f"{mode}, {name}" for mode in MODES for name in ("mean", "std. dev.", "n")]
    ]
    text = shown(cli, exchange, "--table", "statistics", "--series", "shm")
    assert "200 in 5" in text


def test_a_summary_quotes_what_reports_quote(libraries: Path, cli: Cli) -> None:
    (table,) = tables_of(cli, libraries, "--table", "summary")
    assert [line["line"].split(", ")[0] for line in table["lines"]] == (
        ["pingpong"] * 3 + ["bcast"] * 2 + ["allreduce"] * 2 + ["barrier"]
    )
    sizes = [line["entries"][0]["bytes"] for line in table["lines"]]
    assert sizes == [0, 8, 1024, 512, 65536, 8, 4096, 0]
    assert [line["entries"][0]["quantity"] for line in table["lines"]].index("rate") == 2
    assert len(table["columns"]) == 4
    assert not any("memory" in name or "crosscopy" in name for name in table["columns"])


# ---- Several results -----------------------------------------------------------------------------


def test_printed_numbers_stand_beside_own_ones_and_say_so(exchange: Path, printed: Path, cli: Cli) -> None:
    (table,) = tables_of(cli, printed, exchange, "--table", "latency", "--sizes", "8")
    columns = table["columns"]
    assert [name for name in columns if "imported" in name] == [f"{mode} (imported)" for mode in MODES]
    assert len(columns) == 4
    (line,) = [line for line in table["lines"] if line["line"] == "shm, same-host"]
    assert all(line["entries"])
    assert [entry["low"] is None for entry in line["entries"]] == ["imported" in name for name in columns]


def test_equal_cells_of_two_results_are_told_apart_by_file(exchange: Path, cli: Cli) -> None:
    Path("again.jsonl").write_bytes(exchange.read_bytes())
    (table,) = tables_of(cli, exchange, "again.jsonl", "--table", "latency", "--series", "nonblocking")
    assert table["columns"] == ["exchange", "again"]
    assert all(len({entry["value"] for entry in line["entries"]}) == 1 for line in table["lines"])


# ---- Doubt ---------------------------------------------------------------------------------------


def test_what_is_doubted_has_a_letter_and_a_meaning(machine: Path, cli: Cli) -> None:
    few, many, lone = (cell("exchange", 8, mode, transport="shm") for mode in ("standard", *MODES))
    visits = [*by_law([few], (1, 2)), *by_law([many], LAUNCHES), *by_law([lone], (3,))]
    path = written(
        "few.jsonl",
        campaign(few, many, lone),
        *launches_of([few], LAUNCHES),
        *visits,
        End("launches", 1.0, ""),
    )
    text = shown(cli, path, "--table", "times")
    (line,) = re.findall(r"^ +8 B .*$", text, re.MULTILINE)
    marked = re.split(r"\s{2,}", line.strip())[1:]
    meanings = dict(re.findall(r"^([^\w\s]|[ᵃ-ᶻ]) (.*)$", text, re.MULTILINE))
    assert [SENTENCES["few-launches"] == meanings.get(word[-1]) for word in marked] == [True, False, False]
    assert [SENTENCES["no-interval"] == meanings.get(word[-1]) for word in marked] == [False, False, True]
    assert marked[1][-1] not in LETTERS


def test_what_holds_for_all_is_said_once(printed: Path, cli: Cli) -> None:
    text = shown(cli, printed, "--table", "latency")
    assert f"all: {SENTENCES['imported']}" in text
    assert not set(text) & set(LETTERS)
    assert "interval across" not in text


def test_what_holds_for_a_column_is_marked_at_its_heading(exchange: Path, printed: Path, cli: Cli) -> None:
    text = shown(cli, printed, exchange, "--table", "latency", "--sizes", "8")
    (heading,) = re.findall(r"^ +place .*$", text, re.MULTILINE)
    assert "blocking (imported)" in heading
    assert text.count(SENTENCES["imported"]) == 1


def test_what_would_block_says_so_with_its_reason(exchange: Path, cli: Cli) -> None:
    entries = entries_of(tables_of(cli, exchange, "--table", "rates"))
    assert {entry["status"] for entry in entries if entry["value"] is None} == {"blocked"}
    text = shown(cli, exchange, "--table", "rates")
    assert f"blocked{LETTERS[0]}" in text
    assert f"{LETTERS[0]} blocked: would deadlock: the eager limit is {LIMIT_BYTES} B" in text


def test_an_interval_without_use_is_told_as_a_factor(machine: Path, cli: Cli) -> None:
    of = cell(size=8)
    visits = [visit(1, 0, of, [100] * 40), visit(2, 0, of, [90_000] * 40)]
    path = written(
        "wild.jsonl", campaign(of), *launches_of([of], LAUNCHES), *visits, End("launches", 1.0, "")
    )
    for table in ("latency", "times", "rates"):
        text = shown(cli, path, "--table", table)
        assert "\N{MULTIPLICATION SIGN}/\N{DIVISION SIGN} " in text
        assert max(len(word) for word in text.split()) < 40


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
    kept = [line for line in text.splitlines() if line and not line.startswith(("|", "**"))]
    assert all(line.startswith((*LETTERS, "all: ")) for line in kept)


@pytest.mark.parametrize("table", LAID_OUT)
def test_csv_has_the_entries_of_json(table: str, exchange: Path, cli: Cli) -> None:
    entries = entries_of(tables_of(cli, exchange, "--table", table))
    lines = list(csv.DictReader(io.StringIO(shown(cli, exchange, "--table", table, "--format", "csv"))))
    assert len(lines) == len(entries)
    for line, entry in zip(lines, entries, strict=True):
        for name in entry.keys() - {"doubts", "warnings", "sessions"}:
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
    assert "as long over tcp, h1,h2" in shown(cli, exchange, "--table", "latency")
    assert re.search(r"is (not certainly )?faster than", shown(cli, exchange, "--table", "rates"))
    assert "nonblocking against blocking" in shown(cli, exchange, "--table", "rates")
    statistics = shown(cli, exchange, "--table", "statistics")
    assert "against" not in statistics
    assert " over " not in statistics


def test_json_has_the_facts_of_every_sentence(exchange: Path, cli: Cli) -> None:
    table = json.loads(shown(cli, exchange, "--table", "rates", "--format", "json"))
    facts = [one for one in table["findings"] if one["severity"] == "info"]
    assert [one["text"] for one in facts] == table["notes"]
    assert {one["kind"] for one in facts} == {"payoff", "contrast"}
    for one in facts:
        assert len(one["cells"]) == 2
        assert all(cell["pattern"] == "exchange" for cell in one["cells"])
        for at in one["value"]["gains" if one["kind"] == "payoff" else "ends"]:
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
        (("--table", "curves", "--series", "pingpong"), "no series has the words"),
        (("--sizes", "7"), "nothing of it was measured in the sizes 7; there are"),
        (("--table", "answer", "--columns", "mean"), "--table answer does not take --columns"),
        (("--table", "times", "--columns", "mean"), "--table times does not take --columns"),
        (("--table", "times", "--series", "nothing"), "no series has the words"),
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
