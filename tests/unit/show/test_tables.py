"""Tables: every form says the same, in the units asked for, and nothing is lost on the way."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from mpigauge import units
from mpigauge.document.document import Units
from mpigauge.plan.lab import Lab, Link, Port
from mpigauge.result.records import End, Failure
from mpigauge.rows.rows import rows
from mpigauge.show.columns import EXTRA_COLUMNS, LATENCY, NOTES, PAIR, USUAL_COLUMNS, WINDOW
from mpigauge.show.formats import EVERY, GENERAL, about, render
from mpigauge.show.records import MORE_STATISTICS, STATISTICS, record
from tests.made import (
    BLIND,
    LARGE,
    LIMIT,
    RECORDS,
    SMALL,
    campaign,
    cell,
    launch,
    result_of,
    visit,
)
from tests.unit.show.tabled import (
    DEEP_FIELDS,
    DESIGN_TIMES,
    DOT,
    EVEN,
    FIELDS,
    SMALL_RESULT,
    TWO_LAUNCHES,
    document_of,
    foot_of,
)

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell


def test_every_format_says_what_it_is() -> None:
    assert all(about(form).endswith(".") for form in EVERY)


def test_no_column_has_the_name_of_another() -> None:
    names = [column.name for column in (*USUAL_COLUMNS, *EXTRA_COLUMNS.values())]
    assert len(names) == len(set(names))
    assert all(name == column.name for name, column in EXTRA_COLUMNS.items())


def test_every_column_says_what_it_is() -> None:
    columns = [WINDOW, PAIR, *USUAL_COLUMNS, LATENCY, NOTES, *EXTRA_COLUMNS.values()]
    assert [column.name for column in columns if not column.about] == []


@pytest.mark.parametrize("form", GENERAL)
def test_every_form_tells_of_every_cell(form: str) -> None:
    text = render(document_of(SMALL_RESULT, *EXTRA_COLUMNS), form)
    assert text.endswith("\n")
    for word in ("pingpong", "blocked", "corrupt", "0xa5", "5.0.11", "4000"):
        assert word in text
    assert ("openmpi" if form in {"csv", "json"} else "Open MPI") in text


@pytest.mark.parametrize("form", GENERAL)
def test_every_form_bears_a_result_without_anything(form: str) -> None:
    assert render(document_of(result_of(campaign(SMALL, LIMIT))), form)
    assert render(document_of(result_of(campaign())), form)


# ---- JSON and CSV --------------------------------------------------------------------------------


def test_a_json_row_has_the_fields_of_the_design() -> None:
    whole = json.loads(render(document_of(SMALL_RESULT), "json"))
    assert whole.keys() >= {"rows", "failures", "stopped"}
    assert whole["stopped"] == "launches"
    assert len(whole["rows"]) == 4
    for row in whole["rows"]:
        assert row.keys() >= FIELDS
        if row["time_s"] is not None:
            assert row["time_s"].keys() == {*STATISTICS, *MORE_STATISTICS, "statistic"} >= DESIGN_TIMES


def test_json_has_the_numbers_in_si_units() -> None:
    (row,) = json.loads(render(document_of(TWO_LAUNCHES), "json"))["rows"]
    assert row["time_s"]["estimate"] == pytest.approx(math.sqrt(100e-9 * 200e-9))
    assert row["time_s"]["min"] == pytest.approx(100e-9)
    assert row["time_s"]["low"] < 100e-9
    assert row["time_s"]["high"] > 200e-9
    assert row["rate_bytes_per_s"] == pytest.approx(8 / math.sqrt(100e-9 * 200e-9))
    assert row["cpu_s_per_op"] == pytest.approx(2 * 150e-9)
    assert (row["launches"], row["samples"], row["status"]) == (2, 200, "ok")


def test_what_is_not_known_is_null() -> None:
    single = result_of(campaign(SMALL), launch(1), visit(1, 0, SMALL, EVEN))
    (row,) = json.loads(render(document_of(single), "json"))["rows"]
    assert row["time_s"]["low"] is row["time_s"]["high"] is row["time_s"]["p99"] is None
    assert "no-interval" in row["warnings"]
    (nothing,) = json.loads(render(document_of(result_of(campaign(SMALL))), "json"))["rows"]
    assert nothing["time_s"] is nothing["rate_bytes_per_s"] is nothing["cpu_s_per_op"] is None
    assert nothing["status"] == "skipped"
    assert nothing["reason"]


def test_json_has_no_number_that_is_none() -> None:
    (row,) = rows(TWO_LAUNCHES)
    assert row.time is not None
    strange = replace(row, rate_bytes_per_s=math.inf, time=replace(row.time, mean=math.nan))
    assert record(strange)["rate_bytes_per_s"] is record(strange)["time_s"]["mean"] is None


def test_csv_has_the_same_rows_as_json() -> None:
    csv_rows = list(csv.DictReader(io.StringIO(render(document_of(SMALL_RESULT), "csv"))))
    json_rows = json.loads(render(document_of(SMALL_RESULT), "json"))["rows"]
    for flat, deep in zip(csv_rows, json_rows, strict=True):
        for name in FIELDS - DEEP_FIELDS - {"warnings"}:
            assert flat.get(name, "") == ("" if deep[name] is None else str(deep[name])), name
        assert flat["warnings"].split() == deep["warnings"]
        times = deep["time_s"] or {}
        for name in DESIGN_TIMES:
            assert flat.get(f"time_{name}_s", "") == ("" if times.get(name) is None else str(times[name]))


# ---- Text and Markdown ---------------------------------------------------------------------------


def columns_of(text: str) -> list[list[str]]:
    """The entries of the lines of numbers: two blanks or more lie between them."""
    return [
        re.split(r"\s{2,}", line.strip())
        for line in text.splitlines()
        if re.match(r" +\d+ (B|[KM]iB) ", line)
    ]


def test_text_is_aligned() -> None:
    text = render(document_of(SMALL_RESULT, *EXTRA_COLUMNS), "text")
    section = text.partition("pingpong, standard")[2].partition("\n\n")[0]
    heading, *lines = section.splitlines()[2:]
    for column in USUAL_COLUMNS:
        name = LATENCY.heading if column.name == LATENCY.name else column.heading
        found = re.search(rf"(?<=  ){re.escape(name)}(?=  |$)", heading)
        assert found, name
        end = found.end()
        assert all(len(line) <= end or line[end] == " " for line in lines)
        assert all(line[end - 1] != " " for line in lines)


@pytest.mark.parametrize(
    ("chosen", "time", "rate"),
    [
        (Units(), "141 ns", "56.6 MB/s"),
        (Units("us"), "0.141 \N{MICRO SIGN}s", "56.6 MB/s"),
        (Units(rate="Gbit/s"), "141 ns", "0.453 Gbit/s"),
        (Units("ns", "MiB/s"), "141 ns", "53.9 MiB/s"),
    ],
)
def test_numbers_are_in_the_units_asked_for(chosen: Units, time: str, rate: str) -> None:
    (line,) = columns_of(render(document_of(TWO_LAUNCHES, chosen=chosen), "text"))
    names = [column.name for column in USUAL_COLUMNS]
    assert line[names.index("time")] == time
    assert line[names.index("rate")] == rate


@pytest.mark.parametrize("time", units.TIME_CHOICES)
@pytest.mark.parametrize("rate", units.RATE_CHOICES)
def test_every_unit_can_be_asked_for(time: str, rate: str) -> None:
    assert columns_of(render(document_of(SMALL_RESULT, *EXTRA_COLUMNS, chosen=Units(time, rate)), "text"))


def test_columns_are_those_asked_for_in_that_order() -> None:
    text = render(document_of(TWO_LAUNCHES, "max", "min"), "markdown")
    heading = next(line for line in text.splitlines() if line.startswith("| size"))
    assert heading.split(" | ")[-3:] == ["maximum", "minimum", "notes |"]


def test_markdown_bears_pipes_and_stays_a_table() -> None:
    failed = Failure(1, "crash", "sh: mpi|exec | grep: not found", 0, SMALL)
    text = render(document_of(result_of(campaign(SMALL), launch(1), failed)), "markdown")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert "mpi\\|exec \\| grep" in table[-1]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {len(USUAL_COLUMNS) + 1}


def test_the_head_says_where_and_how() -> None:
    text = render(document_of(SMALL_RESULT), "text")
    for words in (
        "a test",
        "node1",
        "Some CPU",
        "2 of 4 cores",
        "seed 7",
        "2 launches",
        "25 ns per clock read",
    ):
        assert words in text.partition("pingpong, standard")[0]


def test_the_head_says_that_a_network_is_emulated_and_how() -> None:
    one = campaign(SMALL)
    assert not any("emulated" in line for line in document_of(result_of(one)).head)
    lab = Lab(3, "1gbit", "20us", (Link("h1-h3", delay="1ms"),), (Port("h2", rate="10mbit"),))
    one = structs.replace(one, plan=structs.replace(one.plan, lab=lab))
    words = "rate 1gbit, delay 20us; h1-h3 delay 1ms; h2 rate 10mbit"
    assert f"emulated hosts, all on this machine: {words}" in document_of(result_of(one)).head


def test_the_foot_says_what_is_to_be_known() -> None:
    foot = foot_of(SMALL_RESULT)
    assert "eager limit, Open MPI 5.0.11, 2 ranks: 4000 B" in foot
    assert "0 of 1 numbers precise to ±3.0 %; 2 of 4 cells without a number; " in foot
    assert "after the number of launches asked for" in foot
    assert "mpigauge resume" in foot_of(result_of(*RECORDS[:-1]))
    out_of_time = foot_of(result_of(*RECORDS[:-1], End("budget", 45.0, "")))
    assert "; stopped: time budget used up (45 s); more: --budget" in out_of_time
    torn = result_of(*RECORDS)
    torn.torn = True
    assert "incomplete" in foot_of(torn)


def test_curves_are_apart_and_in_the_order_of_the_plan() -> None:
    others = [cell(size=size, mpi=mpi) for mpi in ("mpich", "openmpi") for size in (64, 8)]
    sections = document_of(result_of(campaign(BLIND, *others, LARGE, LIMIT))).tables
    assert [section.title.split(" \N{MIDDLE DOT} ")[:2] for section in sections] == [
        ["exchange, blocking", "Open MPI 5.0.11"],
        ["pingpong, standard", "MPICH 5.0.11"],
        ["pingpong, standard", "Open MPI 5.0.11"],
    ]
    assert [[row.cell.bytes for row in section.rows] for section in sections] == [
        [8192],
        [8, 64],
        [8, 64, 2**20],
    ]


def test_cells_that_differ_in_any_way_are_not_of_one_curve() -> None:
    others = [cell(ranks=4), cell(buffers="cold"), cell(transport="tcp"), cell(placement="two-hosts"), cell()]
    assert len(document_of(result_of(campaign(*others))).tables) == len(others)


def test_a_curve_says_its_placement_where_there_are_several() -> None:
    def titles(*cells: Cell) -> list[list[str]]:
        return [section.title.split(DOT) for section in document_of(result_of(campaign(*cells))).tables]

    near, far = cell(), cell(placement="h1,h2")
    assert ["same-host" in title for title in titles(near, far)] == [True, False]
    assert ["h1,h2" in title for title in titles(near, far)] == [False, True]
    assert "same-host" not in titles(near, cell(transport="tcp"))[0]


def test_more_ranks_than_cores_stand_in_the_heading() -> None:
    wide = cell(ranks=4)
    (section,) = document_of(result_of(campaign(wide), launch(1), visit(1, 0, wide, EVEN))).tables
    assert "oversubscribed" in section.title
