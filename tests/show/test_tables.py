"""Tables: every form says the same, in the units asked for, and nothing is lost on the way."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge import units
from mpigauge.analysis.cells import Row, rows
from mpigauge.analysis.estimate import STATS, Estimate
from mpigauge.cli import options
from mpigauge.result.load import Result
from mpigauge.result.records import Blocked, Done, Eager, End, Failure, Launch, Visit
from mpigauge.show.columns import EXTRA_COLUMNS, USUAL_COLUMNS, Units
from mpigauge.show.document import Document, document
from mpigauge.show.tables import FORMATS, MORE_STATISTICS, STATISTICS, record, render
from tests.result.samples import BLIND, LARGE, LIMIT, RECORDS, SMALL, campaign, cell, launch, visit

repeatable = settings(derandomize=True, deadline=None)

DESIGN_FIELDS = {
    "pattern",
    "mode",
    "bytes",
    "ranks",
    "mpi",
    "mpi_version",
    "transport",
    "placement",
    "status",
    "reason",
    "launches",
    "samples",
    "time_s",
    "rate_bytes_per_s",
    "cpu_s_per_op",
    "warnings",
}
"""Of a row, by design.md 6."""

EXTRA_FIELDS = {"buffers", "window", "batch", "first_s", "limit_bytes", "advised_samples"}
DESIGN_TIMES = {"estimate", "low", "high", "mean", "stddev", "min", "p5", "p25", "p75", "p95", "p99", "max"}


def result_of(*records: object) -> Result:
    """A result in memory."""
    first, *others = records
    result = Result(Path("r.jsonl"), first)  # type: ignore[arg-type]
    lists: dict[type, list[Any]] = {
        Launch: result.launches,
        Visit: result.visits,
        Eager: result.eager,
        Blocked: result.blocked,
        Failure: result.failures,
        Done: result.done,
        End: result.ends,
    }
    for one in others:
        lists[type(one)].append(one)
    return result


def document_of(result: Result, *columns: str, chosen: Units | None = None) -> Document:
    """All that is said of it."""
    return document(result, rows(result), columns, chosen or Units())


SMALL_RESULT = result_of(*RECORDS)
EVEN = 100 * [200]
TWO_LAUNCHES = result_of(
    campaign(SMALL), launch(1), visit(1, 0, SMALL, EVEN), launch(2), visit(2, 0, SMALL, [2 * t for t in EVEN])
)


def test_lists_kept_apart_are_the_same() -> None:
    assert tuple(FORMATS) == options.FORMATS
    assert options.STATS == STATS
    assert all((render.__doc__ or "").strip() for render in FORMATS.values())


def test_no_column_has_the_name_of_another() -> None:
    names = [column.name for column in (*USUAL_COLUMNS, *EXTRA_COLUMNS.values())]
    assert len(names) == len(set(names))
    assert all(name == column.name for name, column in EXTRA_COLUMNS.items())


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_tells_of_every_cell(form: str) -> None:
    text = render(document_of(SMALL_RESULT, *EXTRA_COLUMNS), form)
    assert text.endswith("\n")
    for word in ("pingpong", "blocked", "corrupt", "0xa5", "openmpi", "5.0.11", "4000"):
        assert word in text


@pytest.mark.parametrize("form", FORMATS)
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
        assert row.keys() == DESIGN_FIELDS | EXTRA_FIELDS
        if row["time_s"] is not None:
            assert row["time_s"].keys() == DESIGN_TIMES | set(MORE_STATISTICS)
    assert set(STATISTICS) == DESIGN_TIMES


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
        for name in (DESIGN_FIELDS | EXTRA_FIELDS) - {"time_s", "warnings"}:
            assert flat[name] == ("" if deep[name] is None else str(deep[name])), name
        assert flat["warnings"].split() == deep["warnings"]
        times = deep["time_s"] or {}
        for name in DESIGN_TIMES:
            assert flat[f"time_{name}_s"] == ("" if times.get(name) is None else str(times[name]))


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
        end = heading.index(column.heading) + len(column.heading)
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
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {len(USUAL_COLUMNS) + 2}


def test_the_head_says_where_and_how() -> None:
    text = render(document_of(SMALL_RESULT), "text")
    for words in ("a test", "node1", "Some CPU", "2 cores", "seed 7", "2 launches", "25 ns a reading"):
        assert words in text.partition("pingpong, standard")[0]


def test_the_foot_says_what_is_to_be_known() -> None:
    foot = "\n".join(document_of(SMALL_RESULT).foot)
    assert "eager limit, openmpi 5.0.11, 2 ranks: 4000 B" in foot
    assert "cells: 4 planned" in foot
    assert "after the launches asked for" in foot
    assert "mpigauge resume" in "\n".join(document_of(result_of(*RECORDS[:-1])).foot)
    torn = result_of(*RECORDS)
    torn.torn = True
    assert "cut in the middle" in "\n".join(document_of(torn).foot)


def test_curves_are_apart_and_in_the_order_of_the_plan() -> None:
    others = [cell(size=size, mpi=mpi) for mpi in ("mpich", "openmpi") for size in (64, 8)]
    sections = document_of(result_of(campaign(BLIND, *others, LARGE, LIMIT))).sections
    assert [section.title.split(" \N{MIDDLE DOT} ")[:2] for section in sections] == [
        ["exchange, blocking", "openmpi 5.0.11"],
        ["pingpong, standard", "mpich 5.0.11"],
        ["pingpong, standard", "openmpi 5.0.11"],
    ]
    assert [[row.cell.bytes for row in section.rows] for section in sections] == [
        [8192],
        [8, 64],
        [8, 64, 2**20],
    ]


def test_cells_that_differ_in_any_way_are_not_of_one_curve() -> None:
    others = [cell(ranks=4), cell(buffers="cold"), cell(transport="tcp"), cell(placement="two-hosts"), cell()]
    assert len(document_of(result_of(campaign(*others))).sections) == len(others)


def test_more_ranks_than_cores_stand_in_the_heading() -> None:
    wide = cell(ranks=4)
    (section,) = document_of(result_of(campaign(wide), launch(1), visit(1, 0, wide, EVEN))).sections
    assert "oversubscribed" in section.title


def test_a_measured_cell_does_not_claim_that_there_was_no_time() -> None:
    skipped = Done(2, "openmpi", "5.0.11", 2, 1.0, (SMALL,))
    result = result_of(campaign(SMALL), launch(1), visit(1, 0, SMALL, EVEN), launch(2), skipped)
    (row,) = rows(result)
    assert row.status == "ok"
    assert "no time for it" not in row.reason


# ---- Nothing makes it crash ----------------------------------------------------------------------

times = st.one_of(st.none(), st.floats(0, 1e6), st.just(math.nan))
estimates = st.builds(
    Estimate,
    **{name: st.floats(0, 1e6) for name in ("estimate", "mean", "min", "p25", "median", "p75", "max", "tau")},
    **dict.fromkeys(
        (
            "low",
            "high",
            "rank_low",
            "rank_high",
            "half_width",
            "stddev",
            "p5",
            "p95",
            "p99",
            "launch_share",
            "launch_variance",
            "round_variance",
        ),
        times,
    ),
    **{
        name: st.integers(1, 10**6)
        for name in ("launches", "samples", "correlated_launches", "unsteady_launches")
    },
    kinds=st.none(),
    launch_medians=st.just(()),
)
row_lists = st.lists(
    st.builds(
        Row,
        cell=st.sampled_from([SMALL, LARGE, LIMIT, BLIND]),
        status=st.sampled_from(["ok", "failed", "skipped"]),
        reason=st.text(),
        time=st.one_of(st.none(), estimates),
        rate_bytes_per_s=times,
        directions=st.integers(1, 2),
        cpu_s_per_op=times,
        first_s=times,
        limit_bytes=st.one_of(st.none(), st.integers(0)),
        advised_samples=st.one_of(st.none(), st.integers(0)),
        batch=st.integers(0, 100),
        warnings=st.just(()),
    ),
    max_size=4,
)


@repeatable
@given(row_lists, st.sampled_from(list(FORMATS)))
def test_no_row_makes_it_crash_or_break_a_line(found: list[Row], form: str) -> None:
    text = render(document(SMALL_RESULT, found, list(EXTRA_COLUMNS), Units()), form)
    if form == "json":
        assert len(json.loads(text)["rows"]) == len(found)
    elif form == "csv":
        assert len(list(csv.DictReader(io.StringIO(text, newline="")))) == len(found)
    else:
        curves = sum(row.cell.pattern != "eager" for row in found)
        begin = "| " if form == "markdown" else " "
        sized = [line for line in text.split("\n") if re.match(rf"{re.escape(begin)} *\d+ (B|[KM]iB) ", line)]
        assert len(sized) == curves
