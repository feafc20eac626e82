"""Tables as papers have them: every number is that of its cell, no cell is lost, and doubt is marked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.document.document import LETTERS
from mpigauge.result.reader import load
from mpigauge.result.records import Blocked, End, Imported
from mpigauge.show.pivots import KINDS, kinds
from mpigauge.show.pivots.footnotes import SENTENCES
from mpigauge.show.pivots.sentences import COMPARISONS
from mpigauge.stats.limits import ENOUGH_LAUNCHES
from tests.made import campaign, cell, collective, in_states, launches_of, visit, written
from tests.unit.show.pivoted import (
    EXCHANGE,
    LAID_OUT,
    LAUNCHES,
    LIMIT_BYTES,
    MODES,
    PLACES,
    SIZES,
    by_law,
    entries_of,
    records_of,
    shown,
    tables_of,
)

if TYPE_CHECKING:
    from tests.conftest import Cli


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


@pytest.fixture
def printed_bcast(machine: Path) -> Path:
    """Broadcasts as others printed them, who say neither root nor how ranks start."""
    who = {"mpi": "MPICH", "mpi_version": "", **PLACES[1]}
    cells = [cell("bcast", size, "blocking", **who) for size in (512, 65536)]
    times = [Imported(of, 1e-5, None, "", "paper.csv: line 2") for of in cells]
    return written("printed.jsonl", campaign(*cells), *times, End("imported", 0.0, ""))


@pytest.fixture
def printed_ranks(machine: Path) -> Path:
    """A message as others printed it, without a number of ranks, and a broadcast with one."""
    who = {"mpi": "MPICH", "mpi_version": "", **PLACES[1]}
    cells = [cell("pingpong", 8, ranks=0, **who), cell("bcast", 512, "blocking", ranks=4, **who)]
    times = [Imported(of, 1e-5, None, "", "paper.csv: line 2") for of in cells]
    return written("printed.jsonl", campaign(*cells), *times, End("imported", 0.0, ""))


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


@pytest.mark.thorough
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
    assert {entry["bytes"] for entry in entries_of([table])} == {8}
    assert "8 B" in table["title"]


def test_the_latency_is_one_number_of_one_size_on_every_screen(machine: Path, cli: Cli) -> None:
    path = written("one.jsonl", *records_of([cell(size=size, **PLACES[0]) for size in (0, 1, 8, 64)]))
    (answer,) = (
        one
        for one in json.loads(cli("show", path, "--format", "json").out)["answer"]
        if one["quantity"] == "latency"
    )
    (latency,) = entries_of(tables_of(cli, path, "--table", "latency"))
    (summary,) = tables_of(cli, path, "--table", "summary")
    named = {line["line"]: line["entries"][0]["value"] for line in summary["lines"]}
    assert answer["bytes"] == latency["bytes"] == 8
    assert answer["value"] == latency["value"] == named["8 B, latency"]
    assert [name for name in named if "latency" in name] == ["0 B, latency", "8 B, latency"]


@pytest.mark.parametrize(
    ("first", "other", "quoted"),
    [((0, 1, 8), (0, 4, 8), {8}), ((0, 1, 8), (0, 1), {1}), ((8, 64), (64,), {64}), ((8,), (64,), {8, 64})],
)
def test_the_latency_is_of_a_size_that_all_have(
    first: tuple[int, ...], other: tuple[int, ...], quoted: set[int], machine: Path, cli: Cli
) -> None:
    """Of each that one of them would quote, where there is none."""
    cells = [cell(size=size, **PLACES[0]) for size in first] + [
        cell(size=size, **PLACES[1]) for size in other
    ]
    path = written("two.jsonl", *records_of(cells))
    assert {one["bytes"] for one in entries_of(tables_of(cli, path, "--table", "latency"))} == quoted


def test_one_series_that_was_hardly_measured_does_not_choose_the_size_of_the_latency(
    machine: Path, cli: Cli
) -> None:
    series = [(place, mode) for place in PLACES[:2] for mode in MODES]
    cells = [cell("exchange", size, mode, **place) for place, mode in series for size in (512, 8)]
    path = written("four.jsonl", *records_of(cells[:-1]))
    assert {one["bytes"] for one in entries_of(tables_of(cli, path, "--table", "latency"))} == {8}


def test_what_was_blocked_is_so_in_every_state_and_has_no_column_of_its_own(machine: Path, cli: Cli) -> None:
    blocked = cell("exchange", 1024, "blocking")
    able = [cell("exchange", 8, "blocking"), *(cell("exchange", size, "nonblocking") for size in (8, 1024))]
    course = [["near", "near", "far", "far"]] * 4
    visits = in_states(able, course, lambda _, state, n: [(300 if state == "near" else 900) + n] * 40)
    path = written(
        "states.jsonl",
        campaign(*able, blocked),
        *launches_of(able, range(1, 5)),
        *visits,
        Blocked(1, 900, blocked, found=True, limit_bytes=LIMIT_BYTES),
        End("launches", 1.0, ""),
    )
    (rates,) = tables_of(cli, path, "--table", "rates", "--state", "all")
    columns = [f"{mode}, cores {state}" for mode in MODES for state in ("near", "far")]
    assert rates["columns"] == columns
    last = [entry["status"] for entry in rates["lines"][-1]["entries"]]
    assert last == ["blocked", "blocked", "ok", "ok"]
    (latency,) = tables_of(cli, path, "--table", "latency", "--state", "all")
    assert [latency["columns"], len(latency["lines"])] == [columns, 1]


def test_sizes_are_lines_in_their_order(exchange: Path, cli: Cli) -> None:
    for table in tables_of(cli, exchange, "--table", "times"):
        assert [line["line"] for line in table["lines"]] == ["0 B", "8 B", "64 B", "1 KiB"]
        assert len(table["columns"]) <= kinds.MAX_COLUMNS


def test_more_columns_than_fit_become_tables_that_name_their_place(machine: Path, cli: Cli) -> None:
    ranks = [
        cell("exchange", size, mode, ranks=n, **place)
        for place in PLACES
        for mode in MODES
        for n in (2, 4)
        for size in (8, 64)
    ]
    path = written("ranks.jsonl", *records_of(ranks))
    tables = tables_of(cli, path, "--table", "times")
    assert len(tables) > 1
    assert all(len(table["columns"]) <= kinds.MAX_COLUMNS for table in tables)
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


def test_a_column_that_is_alone_says_what_it_has_and_not_its_title_again(machine: Path, cli: Cli) -> None:
    mine = [*(cell(size=size, **PLACES[0]) for size in SIZES), collective("barrier", 0, **PLACES[0])]
    path = written("one.jsonl", *records_of(mine))
    for kind, heading in (("times", "time"), ("rates", "bandwidth"), ("latency", "time")):
        for table in tables_of(cli, path, "--table", kind):
            assert table["columns"] == [heading]
            assert table["title"].startswith(("pingpong, standard", "barrier")) or kind == "latency"
    (table,) = tables_of(cli, path, "--table", "summary")
    assert table["columns"] == ["value"]


def test_whose_numbers_they_are_is_said_once_and_what_in_the_caption(machine: Path, cli: Cli) -> None:
    path = written("one.jsonl", *records_of([cell(size=size, **PLACES[0]) for size in SIZES]))
    out = cli("show", path, "--table", "times", "--format", "markdown").out
    source, _, caption = out.splitlines()[:3]
    assert (title := load(path).campaign.plan.title)
    assert title in source
    assert source.endswith(f"{len(LAUNCHES)} launches*")
    assert "(time: one way: half a round trip; ±" in caption
    assert "one operation" not in caption
    assert title not in caption


@pytest.mark.parametrize("kind", ["latency", "times"])
def test_tables_of_one_number_each_are_lines_of_one_table(kind: str, machine: Path, cli: Cli) -> None:
    mine = [
        cell("pingpong", 8, "standard", **PLACES[0]),
        cell("exchange", 8, "nonblocking", **PLACES[0]),
        collective("barrier", 0, **PLACES[0]),
    ]
    path = written("one.jsonl", *records_of(mine))
    (table,) = tables_of(cli, path, "--table", kind)
    assert [line["line"] for line in table["lines"]] == [
        "pingpong, standard, 8 B",
        "exchange, nonblocking, 8 B",
        "barrier, blocking",
    ]
    assert table["columns"] == ["time"]
    text = shown(cli, path, "--table", kind)
    assert "pingpong: one way: half a round trip" in text.splitlines()


# ---- Several results -----------------------------------------------------------------------------


def test_printed_numbers_stand_beside_own_ones_and_say_so(exchange: Path, printed: Path, cli: Cli) -> None:
    (table,) = tables_of(cli, printed, exchange, "--table", "latency", "--sizes", "8")
    columns = table["columns"]
    assert [name for name in columns if "imported" in name] == [f"{mode} (imported)" for mode in MODES]
    assert len(columns) == 4
    (line,) = [line for line in table["lines"] if line["line"] == "shm, same-host"]
    assert all(line["entries"])
    assert [entry["low"] is None for entry in line["entries"]] == ["imported" in name for name in columns]


def test_collectives_of_others_who_say_no_root_stand_in_the_lines_of_ours(
    libraries: Path, printed_bcast: Path, cli: Cli
) -> None:
    words = ("--table", "summary", "--series", "bcast")
    (table,) = tables_of(cli, printed_bcast, libraries, *words)
    assert [line["line"] for line in table["lines"]] == ["512 B", "64 KiB"]
    assert all(all(line["entries"]) for line in table["lines"])
    assert ["imported" in name for name in table["columns"]].count(True) == 1


def test_a_root_that_does_not_go_without_saying_has_a_line_of_its_own(
    printed_bcast: Path, cli: Cli, machine: Path
) -> None:
    cells = [
        collective("bcast", size, root=root, **PLACES[1]) for root in ("0", "1") for size in (512, 65536)
    ]
    ours = written("ours.jsonl", *records_of(cells))
    (table,) = tables_of(cli, printed_bcast, ours, "--table", "summary")
    beside = {line["line"]: [bool(entry) for entry in line["entries"]] for line in table["lines"]}
    assert beside == {
        "512 B": [True, True],
        "64 KiB": [True, True],
        "root 1, 512 B": [False, True],
        "root 1, 64 KiB": [False, True],
    }


def test_equal_cells_of_two_results_are_told_apart_by_file(exchange: Path, cli: Cli) -> None:
    Path("again.jsonl").write_bytes(exchange.read_bytes())
    (table,) = tables_of(cli, exchange, "again.jsonl", "--table", "latency", "--series", "nonblocking")
    assert table["columns"] == ["exchange", "again"]
    assert all(len({entry["value"] for entry in line["entries"]}) == 1 for line in table["lines"])


# ---- Doubt ---------------------------------------------------------------------------------------


def test_what_is_doubted_has_a_letter_and_a_meaning(machine: Path, cli: Cli) -> None:
    few, many, lone = (cell("exchange", 8, mode, transport="shm") for mode in ("standard", *MODES))
    enough = range(1, ENOUGH_LAUNCHES + 1)
    visits = [*by_law([few], (1, 2)), *by_law([many], enough), *by_law([lone], (3,))]
    path = written(
        "few.jsonl",
        campaign(few, many, lone),
        *launches_of([few], enough),
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


def test_ranks_stay_where_others_say_them(printed_ranks: Path, machine: Path, cli: Cli) -> None:
    """A broadcast of eight ranks is not laid beside one of four without a word."""
    ours = [collective("bcast", 512, mpi="mpich", ranks=8, **PLACES[1])]
    path = written("ours.jsonl", *records_of(ours))
    said = shown(cli, printed_ranks, path, "--table", "summary")
    assert "4 ranks" in said
    assert "8 ranks" in said
