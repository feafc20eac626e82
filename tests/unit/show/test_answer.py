"""The answer: what it quotes of a result, in how many lines, and what it doubts."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec import structs

from mpigauge.document.document import AUTOMATIC
from mpigauge.find.answer import QUOTED_BYTES, answers, number, number_and_width, seconds_of, width
from mpigauge.find.findings import doubts_of
from mpigauge.result.records import Done, End
from mpigauge.rows.rows import rows
from mpigauge.show.text_chart import LINES
from tests.made import (
    PATTERNS,
    RECORDS,
    SMALL,
    campaign,
    cell,
    collective,
    launch,
    launches_of,
    measured,
    result_of,
    together,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Record
    from tests.conftest import Cli

SIZES = (0, 8, 4096, 2**20)
MAX_LINES = 24
BY_NAME = {pattern.name: pattern for pattern in PATTERNS}


def pairs(pattern: str, mode: str, **more: object) -> list[Cell]:
    """A curve of two ranks."""
    return [cell(pattern, size, mode, **more) for size in SIZES]


MESSAGES = [
    *pairs("pingpong", "standard"),
    *pairs("exchange", "nonblocking"),
    *pairs("stream", "unidirectional", window=64),
]
TOGETHER = [collective("barrier"), *(collective("allreduce", size) for size in SIZES[1:])]
COPIES = [cell("memcpy", size) for size in SIZES[1:]]


def samples_of(of: Cell, number: int) -> list[int]:
    """100 ns and 1 ns for every 10 B, a launch 1 % longer than the one before."""
    return [int((200 + of.bytes // 5) * (1 + number / 100))] * 4


def records_of(cells: Iterable[Cell], launches: int = 6) -> list[Record]:
    """A result with these cells."""
    cells = [*cells]
    numbers = range(1, launches + 1)
    return [
        campaign(*cells),
        *launches_of(cells, numbers),
        *measured(cells, numbers, samples_of),
        RECORDS[-1],
    ]


def quoted(result: Result) -> dict[str, list[tuple[str, int]]]:
    """Pattern and size of all quotes of the first job."""
    found: dict[str, list[tuple[str, int]]] = {}
    for quote in answers(rows(result), BY_NAME)[0].quotes:
        found.setdefault(quote.quoted_as, []).append((quote.row.cell.pattern, quote.row.cell.bytes))
    return found


# ---- What it quotes ------------------------------------------------------------------------------


def test_every_question_is_answered_by_the_cell_that_it_is_about() -> None:
    found = quoted(result_of(*records_of([*MESSAGES, *TOGETHER, *COPIES])))
    assert found["latency"] == [("pingpong", QUOTED_BYTES)]
    assert found["both-directions"] == [("exchange", 2**20)]
    assert found["message-rate"] == [("stream", QUOTED_BYTES)]
    assert found["operation"] == [("barrier", 0), ("allreduce", QUOTED_BYTES)]
    assert found["copies"][0][0] == "pingpong"


def test_the_bandwidth_is_the_best_of_one_direction() -> None:
    result = result_of(*records_of(MESSAGES))
    one_way = [row for row in rows(result) if row.directions == 1 and row.rate_bytes_per_s]
    best = max(one_way, key=lambda row: row.rate_bytes_per_s or 0)
    assert quoted(result)["bandwidth"] == [(best.cell.pattern, best.cell.bytes)]


@pytest.mark.parametrize("missing", range(3))
def test_what_was_not_measured_is_not_quoted(missing: int) -> None:
    parts = [MESSAGES, TOGETHER, COPIES]
    left = [one for number, part in enumerate(parts) if number != missing for one in part]
    patterns = {pattern for mine in quoted(result_of(*records_of(left))).values() for pattern, _ in mine}
    assert patterns
    assert not patterns & {one.pattern for one in parts[missing]}


def test_of_memory_alone_each_curve_is_quoted() -> None:
    found = quoted(result_of(*records_of([*COPIES, *(cell("chase", size) for size in SIZES[2:])])))
    assert found == {"memory-bandwidth": [("memcpy", 2**20)], "memory-time": [("chase", 4096)]}


def test_of_several_pairs_of_ranks_the_one_in_the_middle_is_quoted() -> None:
    cells = [cell(size=8, ranks=4, pair=pair) for pair in ("0-1", "0-2", "0-3")]
    slow = {"0-1": 3, "0-2": 1, "0-3": 2}
    result = result_of(
        campaign(*cells),
        *launches_of(cells, (1,)),
        *measured(cells, (1,), lambda of, _: [100 * slow[of.pair]] * 4),
    )
    (quote,) = (one for one in answers(rows(result), BY_NAME)[0].quotes if one.quoted_as == "latency")
    assert quote.row.cell.pair == "0-3"


# ---- The screen ----------------------------------------------------------------------------------


@pytest.fixture
def everything(machine: Path) -> Path:
    """A result that answers every question."""
    return written("all.jsonl", *records_of([*MESSAGES, *TOGETHER, *COPIES]))


def test_it_is_one_screen_and_says_what_comes_next(everything: Path, cli: Cli) -> None:
    done = cli("show", everything)
    lines = done.out.splitlines()
    assert len(lines) <= MAX_LINES
    assert any(line.strip().startswith("latency, 8 B") for line in lines)
    assert f"mpigauge show --all {everything}" in done.out
    assert sum(line.startswith("! ") for line in lines) <= 4


def test_however_many_patterns_there_are_it_stays_one_screen(machine: Path, cli: Cli) -> None:
    names = [one.name for one in PATTERNS if one.family == "collective" and one.moves_bytes]
    path = written("many.jsonl", *records_of([*MESSAGES, *COPIES, *(collective(name, 8) for name in names)]))
    lines = cli("show", path).out.splitlines()
    assert len(lines) <= MAX_LINES
    shown = sum(any(line.startswith(f"{name}, ") for name in names) for line in lines)
    assert 0 < shown < len(names)
    assert any(line.startswith(f"{len(names) - shown} more numbers:  mpigauge show --all") for line in lines)
    assert any(line.startswith("message / memcpy") for line in lines)


def test_without_a_name_it_is_the_newest(everything: Path, cli: Cli) -> None:
    assert cli("show").status == 2
    assert "no result is there" in cli("show").err
    assert f"name one, such as {everything.name}, or measure" in cli("show").err
    folder = everything.parent / "results"
    folder.mkdir()
    (folder / "new.jsonl").write_bytes(everything.read_bytes())
    (folder / "note.txt").write_text("no result", encoding="ascii")
    assert cli("show").out.splitlines()[0] == cli("show", everything).out.splitlines()[0]
    assert cli("show").out == cli("show", folder).out
    assert "mpigauge show --all\n" in cli("show").out


def test_two_results_are_shown_side_by_side(everything: Path, cli: Cli) -> None:
    other = written("other.jsonl", *records_of(MESSAGES))
    answer = json.loads(cli("show", everything, other, "--format", "json").out)["answer"]
    assert {one["file"] for one in answer} == {"all.jsonl", "other.jsonl"}
    heading = next(
        line for line in cli("show", everything, other).out.splitlines() if "other" in line.split()
    )
    assert "all" in heading


def test_programs_get_the_numbers_of_the_rows(everything: Path, cli: Cli) -> None:
    said = json.loads(cli("show", everything, "--format", "json").out)
    by_cell = {(row["pattern"], row["mode"], row["bytes"]): row for row in said["rows"]}
    times = [one for one in said["answer"] if one["unit"] == "s"]
    assert times
    for one in times:
        row: dict[str, Any] = by_cell[one["pattern"], one["mode"], one["bytes"]]
        assert one["value"] == row["time_s"]["estimate"]
    lines = csv.DictReader(io.StringIO(cli("show", everything, "--table", "answer", "--format", "csv").out))
    assert [line["quantity"] for line in lines] == [one["quantity"] for one in said["answer"]]


@pytest.mark.parametrize("table", ["answer", "curves", "times", "rates", "statistics"])
def test_every_table_takes_sizes_and_series(table: str, everything: Path, cli: Cli) -> None:
    done = cli("show", everything, "--table", table, "--sizes", "4KiB", "--series", "pingpong")
    assert done.status == 0
    assert "4 KiB" in done.out
    assert "1 MiB" not in done.out
    assert "exchange" not in done.out


def test_a_chart_is_there_where_it_is_asked_for_and_nowhere_else(everything: Path, cli: Cli) -> None:
    plain, chart = cli("show", everything), cli("show", "--chart", everything)
    added = [line for line in chart.out.splitlines() if line not in plain.out.splitlines()]
    assert len(added) == LINES
    assert added[0].split("  ")[0] == "pingpong latency over message size"
    assert cli("show", "--no-chart", everything).out == plain.out
    for words in (["--table", "times"], ["--format", "json"], ["--all"]):
        refused = cli("show", "--chart", everything, *words)
        assert refused.status == 2
        assert "--chart is of the answer as text" in refused.err


def test_without_a_curve_a_chart_that_is_asked_for_is_missed_in_words(machine: Path, cli: Cli) -> None:
    done = cli("show", "--chart", written("single.jsonl", *records_of([collective("barrier")])))
    assert done.status == 0
    assert "no chart: " in done.err


# ---- Doubts --------------------------------------------------------------------------------------


def test_what_is_missing_comes_first_and_the_harmless_last() -> None:
    result = result_of(*RECORDS)
    found = doubts_of(result, rows(result))
    assert found[0].kind == "broken"
    places = [one.of.severity == "harmless" for one in found]
    assert places == sorted(places)


def test_the_floor_of_the_instrument_is_no_number_that_is_counted(machine: Path, cli: Cli) -> None:
    """No table has a row of it."""
    cells = [*pairs("pingpong", "standard"), cell("null", 0)]
    result = result_of(*records_of(cells, launches=2))
    found = doubts_of(result, rows(result))
    counts = {(one.kind, one.fact.of) for one in found if one.rows}
    assert ("few-launches", len(SIZES)) in counts
    assert {of for _, of in counts} == {len(SIZES)}
    assert {row.cell.pattern for doubt in found for row in doubt.rows} == {"pingpong"}
    text = cli("show", "--all", written("floor.jsonl", *records_of(cells))).out
    assert f" of {len(SIZES)} numbers precise to " in text


def test_a_campaign_that_was_killed_says_so() -> None:
    whole = records_of(MESSAGES)
    for records, said in ((whole, False), (whole[:-1], True)):
        result = result_of(*records)
        assert ("cut-short" in [one.kind for one in doubts_of(result, rows(result))]) is said


@pytest.mark.parametrize(
    ("noise", "launches", "said"),
    [(0.01, 9, "number"), (0.01, 2, "left out"), (3.0, 9, "left out")],
    ids=["known", "of two launches", "not known"],
)
def test_no_number_stands_on_the_screen_without_its_interval(
    machine: Path, cli: Cli, noise: float, launches: int, said: str
) -> None:
    """`; 117 µs at 1 MiB` was one of 70 µs to 6 ms, and nothing said so."""
    chance = np.random.default_rng(3)
    cells, numbers = [collective("bcast", 8), collective("bcast", 2**20)], range(1, launches + 1)
    factors = {(of, launch): np.exp(chance.normal(0, noise)) for of in cells for launch in numbers}
    visits = [
        together(launch, place, of, [round((1000 + of.bytes) * factors[of, launch])] * 9)
        for launch in numbers
        for place, of in enumerate(cells)
    ]
    path = written("r.jsonl", campaign(*cells), *launches_of(cells, numbers), *visits)
    (line,) = (line for line in cli("show", path).out.splitlines() if line.startswith("bcast, 8 B"))
    assert bool(re.search(r"\d .s ±\S+ % at 1 MiB", line)) == (said == "number")
    assert ("MiB" in line) == (said == "number")


def test_an_uneven_interval_shows_both_ends() -> None:
    (row,) = rows(result_of(*records_of([collective("bcast", 8)])))
    assert row.time is not None
    for low, high, said in (
        (0.9, 1.3, "1.00 \N{MICRO SIGN}s \N{PLUS-MINUS SIGN}20 %"),
        (0.99, 1.3, "1.00 \N{MICRO SIGN}s (0.990 \N{EN DASH} 1.30 \N{MICRO SIGN}s)"),
    ):
        time = replace(row.time, estimate=1e-6, low=low * 1e-6, high=high * 1e-6)
        (quote,) = answers([replace(row, time=time)], BY_NAME)[0].quotes
        assert number_and_width(quote, AUTOMATIC) == said


def test_a_number_whose_interval_is_wider_than_itself_is_not_known() -> None:
    (row,) = rows(result_of(*records_of([collective("bcast", 8)])))
    assert row.time is not None
    for half_width, known in ((1.01, False), (0.99, True)):
        ends: dict[str, Any] = {
            "low": row.time.estimate / (1 + half_width),
            "high": row.time.estimate * (1 + half_width),
        }
        wide = replace(row, time=replace(row.time, **ends))
        (quote,) = answers([wide], BY_NAME)[0].quotes
        said = number(quote, AUTOMATIC), width(quote, AUTOMATIC)
        assert (said == ("not known", "")) == (not known)


def test_a_session_that_goes_on_counts_beside_those_that_have_ended() -> None:
    """The seconds of the first line stood still after `resume`, until they were more than before."""
    before, after = "2026-01-01T00:00:00+00:00", "2026-01-01T00:10:00+00:00"
    launches = [structs.replace(launch(number), started=when) for number, when in ((1, before), (2, after))]
    done = [Done(one.number, one.job, 3.0) for one in launches]
    stopped = End("interrupted", 6.0, before)
    assert seconds_of(result_of(campaign(SMALL), *launches, stopped, *done)) == 9.0
    assert seconds_of(result_of(campaign(SMALL), launches[0], stopped, done[0])) == 6.0
    of_old_file = structs.replace(stopped, started="")
    assert seconds_of(result_of(campaign(SMALL), *launches, of_old_file, *done)) == 6.0
