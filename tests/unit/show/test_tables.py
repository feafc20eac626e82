"""Tables: every form says the same, in the units asked for, and nothing is lost on the way."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from mpigauge import units
from mpigauge.analysis.estimate import Estimate
from mpigauge.analysis.ratios import Ratio
from mpigauge.analysis.reasons import CellFailed, WouldDeadlock
from mpigauge.analysis.rows import Row, rows
from mpigauge.analysis.synchrony import ClockState, Overlap, Start
from mpigauge.plan.lab import Lab, Link, Port
from mpigauge.plan.model import Cell
from mpigauge.result.records import Clock, Done, Failure
from mpigauge.show.columns import EXTRA_COLUMNS, LATENCY, NOTES, PAIR, USUAL_COLUMNS, WINDOW
from mpigauge.show.document import Document, Units
from mpigauge.show.formats import FORMATS, about, render
from mpigauge.show.tables.curves import document
from mpigauge.show.tables.records import MORE_STATISTICS, STATISTICS, record
from mpigauge.vocabulary import FailureKind
from tests.made import (
    BLIND,
    LARGE,
    LIMIT,
    RECORDS,
    SMALL,
    campaign,
    cell,
    clock,
    collective,
    launch,
    measured,
    result_of,
    together,
    visit,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.result.reader import Result

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
"""Of a row, by docs/numbers.md#fields-of-json-and-csv. None of them may go; others may come."""

EXTRA_FIELDS = {
    "buffers",
    "window",
    "batch",
    "first_s",
    "limit_bytes",
    "advised_samples",
    "messages_per_s",
    "cpu_share",
    "net_share",
}
COLLECTIVE_FIELDS = {"sync", "datatype", "op", "root", "in_place", "bus_bytes_per_s", "overlap"}
START_FIELDS = {"skew_p50_s", "skew_p99_s", "late_share", "root_s", "local_s"}
CLOCK_FIELDS = {"clock_shared", "clock_error_s", "clock_bound_s"}
PAIR_FIELDS = {"pair", "pairing"}
RATIO_FIELDS = {"kappa", "memcpy_ratio", "copy_ratio", "copy_o0_ratio"}
FIELDS = (
    DESIGN_FIELDS
    | EXTRA_FIELDS
    | COLLECTIVE_FIELDS
    | START_FIELDS
    | CLOCK_FIELDS
    | RATIO_FIELDS
    | PAIR_FIELDS
)
DEEP_FIELDS = {"time_s", "overlap", *RATIO_FIELDS}
DESIGN_TIMES = {"estimate", "low", "high", "mean", "stddev", "min", "p5", "p25", "p75", "p95", "p99", "max"}


def document_of(result: Result, *columns: str, chosen: Units | None = None) -> Document:
    """All that is said of it."""
    return document(result, rows(result), columns, chosen or Units())


SMALL_RESULT = result_of(*RECORDS)
EVEN = 100 * [200]
TWO_LAUNCHES = result_of(
    campaign(SMALL), launch(1), visit(1, 0, SMALL, EVEN), launch(2), visit(2, 0, SMALL, [2 * t for t in EVEN])
)


def foot_of(result: Result) -> str:
    return "\n".join(line.text for line in document_of(result).foot)


def test_every_format_says_what_it_is() -> None:
    assert all(about(form).endswith(".") for form in FORMATS)


def test_no_column_has_the_name_of_another() -> None:
    names = [column.name for column in (*USUAL_COLUMNS, *EXTRA_COLUMNS.values())]
    assert len(names) == len(set(names))
    assert all(name == column.name for name, column in EXTRA_COLUMNS.items())


def test_every_column_says_what_it_is() -> None:
    columns = [WINDOW, PAIR, *USUAL_COLUMNS, LATENCY, NOTES, *EXTRA_COLUMNS.values()]
    assert [column.name for column in columns if not column.about] == []


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
        assert row.keys() >= FIELDS
        if row["time_s"] is not None:
            assert row["time_s"].keys() == set(STATISTICS + MORE_STATISTICS) >= DESIGN_TIMES


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
    for words in ("a test", "node1", "Some CPU", "2 cores", "seed 7", "2 launches", "25 ns per clock read"):
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
    assert "eager limit, openmpi 5.0.11, 2 ranks: 4000 B" in foot
    assert "measured 3 of 4 cells, 0 precise" in foot
    assert "after the number of launches asked for" in foot
    assert "mpigauge resume" in foot_of(result_of(*RECORDS[:-1]))
    torn = result_of(*RECORDS)
    torn.torn = True
    assert "incomplete" in foot_of(torn)


def test_curves_are_apart_and_in_the_order_of_the_plan() -> None:
    others = [cell(size=size, mpi=mpi) for mpi in ("mpich", "openmpi") for size in (64, 8)]
    sections = document_of(result_of(campaign(BLIND, *others, LARGE, LIMIT))).tables
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


# ---- Collectives and memory ----------------------------------------------------------------------

DOT = " \N{MIDDLE DOT} "
ALLREDUCE = collective("allreduce", 8)
EVERYTHING = result_of(campaign(SMALL, LARGE, LIMIT, BLIND, ALLREDUCE), *RECORDS[1:])


def known(*cells: Cell, launches: int = 2, clocks: tuple[Clock, ...] = (), **more: object) -> Result:
    """A result in which every operation of a collective takes 1000 ns, and of others as well."""
    numbers = range(1, launches + 1)
    visits = measured(cells, numbers, lambda *_: [1000] * 20, **({"ops": 1} | more))
    return result_of(campaign(*cells), *map(launch, numbers), *clocks, *visits)


def table_of(result: Result, *columns: str, chosen: Units | None = None) -> list[dict[str, str]]:
    """The lines of the only curve of a result, by heading."""
    text = render(document_of(result, *columns, chosen=chosen), "markdown")
    heading, _, *lines = [line for line in text.splitlines() if line.startswith("| ")]
    names = [word.strip() for word in heading.strip("|").split(" | ")]
    return [dict(zip(names, map(str.strip, line.strip("|").split(" | ")), strict=True)) for line in lines]


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (ALLREDUCE, ["sum of double"]),
        (collective(datatype="int32", op="bxor", in_place=True), ["bxor of int32", "in place"]),
        (collective("bcast"), ["root 0"]),
        (collective("reduce", root="3", op="max", ranks=4), ["max of double", "root 3"]),
        (collective("scatter", root="rotating", in_place=True), ["rotating root", "in place"]),
        (collective("alltoall", buffers="cold"), ["cold buffers"]),
        (collective("barrier"), []),
        (cell("reduce_local", 8, datatype="float", op="prod"), ["prod of float"]),
        (cell("memcpy", 64), []),
    ],
    ids=lambda value: value.pattern if isinstance(value, Cell) else "",
)
def test_a_title_tells_all_factors(of: Cell, words: list[str]) -> None:
    (section,) = document_of(known(of)).tables
    oversubscribed = ["oversubscribed"] if of.ranks > 2 else []
    assert section.title.split(DOT) == [
        f"{of.pattern}, {of.mode}",
        "openmpi 5.0.11",
        f"{of.ranks} ranks",
        *words,
        *oversubscribed,
    ]


@pytest.mark.parametrize(
    ("sync", "words"),
    [
        ("common", "ranks start by a common time"),
        ("barrier", "ranks start by our own barrier"),
        ("mpi_barrier", "ranks start by MPI_Barrier"),
    ],
)
def test_how_ranks_started_stands_above_the_numbers(sync: str, words: str) -> None:
    of = collective(sync=sync)
    (section,) = document_of(known(of)).tables
    assert section.about.startswith("time: from the first start to the last end")
    assert f"{words}, within 5.00 ns (median), 5.00 ns (p99)" in section.about
    assert "late" not in section.about


def test_the_worst_size_of_a_curve_is_told_above_it() -> None:
    small, large = collective(size=8), collective(size=64)
    skews = [5] * 89 + [300] * 11
    result = result_of(
        campaign(small, large),
        launch(1),
        together(1, 0, small, [1000] * 20),
        together(1, 1, large, [1000] * 100, skew_ns=skews, late=[0, 1, 2, 3]),
    )
    (section,) = document_of(result).tables
    assert "within 5.06 ns (median), 300 ns (p99), up to 4.0 % of rounds late" in section.about


def test_what_need_not_start_together_says_nothing_of_it() -> None:
    for of in (cell(), cell("memcpy", 64), cell("bcast-acked", 64, "blocking"), cell("crosscopy", 64)):
        (section,) = document_of(known(of)).tables
        assert "started" not in section.about


def test_ways_of_starting_and_other_factors_are_curves_of_their_own() -> None:
    cells = [
        ALLREDUCE,
        collective(size=8, sync="barrier"),
        collective(size=8, datatype="float"),
        collective(size=8, op="max"),
        collective(size=8, in_place=True),
        collective("bcast", 8),
        collective("bcast", 8, root="1"),
    ]
    document = document_of(known(*cells))
    assert [section.rows[0].cell for section in document.tables] == cells
    told = [(section.title, section.about) for section in document.tables]
    assert len(set(told)) == len(cells)


@pytest.mark.parametrize("form", FORMATS)
def test_a_barrier_has_no_size(form: str) -> None:
    text = render(document_of(known(collective("barrier")), *EXTRA_COLUMNS), form)
    assert "barrier" in text
    (line,) = table_of(known(collective("barrier")))
    assert line["size"] == units.MISSING
    assert line["bandwidth"] == units.MISSING
    assert line["time"] == "1.00 \N{MICRO SIGN}s"


def test_collectives_show_root_and_ranks_beside_the_whole() -> None:
    (line,) = table_of(known(ALLREDUCE), chosen=Units("ns"))
    assert (line["time"], line["at the root"], line["median of ranks"]) == ("1000 ns", "990 ns", "980 ns")
    (other,) = table_of(known(SMALL))
    assert "at the root" not in other
    (asked,) = table_of(known(SMALL), "root")
    assert asked["at the root"] == units.MISSING


def test_every_form_and_column_bears_collectives_that_were_not_known() -> None:
    result = result_of(campaign(ALLREDUCE, collective("barrier"), cell("chase", 64)))
    for form in FORMATS:
        assert "allreduce" in render(document_of(result, *EXTRA_COLUMNS), form)


def test_extra_columns_of_collectives() -> None:
    late: dict[str, Any] = {"skew_ns": [20] * 15 + [400] * 5, "late": [19], "cpu_ns": 20_000}
    (line,) = table_of(
        known(collective(size=2**20, ranks=2), **late),
        *("skew", "skew_p99", "late", "bus", "cpu", "cpu_share", "overlap", "pure"),
        chosen=Units("ns", "GB/s"),
    )
    assert (line["start skew"], line["skew p99"], line["late"]) == ("20.1 ns", "400 ns", "5.0 %")
    # Twice (p - 1) / p is 1 for two ranks.
    assert line["bandwidth"] == line["bus bandwidth"] == "1049 GB/s"
    assert (line["CPU time"], line["CPU share"]) == ("1000 ns", "50 %")
    assert line["overlap"] == line["without work"] == units.MISSING


def test_overlap_is_shown_where_there_is_one() -> None:
    of = collective(size=8, mode="overlap")
    result = known(of, pure_ns=[800] * 20, work_ns=800)
    (line,) = table_of(result, chosen=Units("ns"))
    assert (line["overlap"], line["without work"]) == ("75 %", "800 ns")
    (row,) = json.loads(render(document_of(result), "json"))["rows"]
    assert row["overlap"] == {
        "estimate": pytest.approx(0.75),
        "low": pytest.approx(0.75),
        "high": pytest.approx(0.75),
        "pure_s": pytest.approx(800e-9),
    }


def test_ratios_to_copies_are_shown_with_their_intervals() -> None:
    cells = [cell(size=64), cell("crosscopy", 64), cell("memcpy", 64)]
    result = known(*cells)
    for one in result.visits:
        factor = {"pingpong": 6, "crosscopy": 2, "memcpy": 1}[one.cell.pattern]
        one.samples_ns[:] = [factor * 1000 * one.launch] * 20
    document = document_of(result, "kappa", "memcpy_ratio", "copy_ratio")
    lines = [section for section in document.tables if section.rows[0].cell.pattern == "pingpong"]
    texts = {c.name: c.text(lines[0].rows[0], document.units) for c in lines[0].columns}
    assert texts["kappa"] == "3.00 (3.00 \N{EN DASH} 3.00)"
    assert texts["memcpy_ratio"] == "6.00 (6.00 \N{EN DASH} 6.00)"
    assert texts["copy_ratio"] == units.MISSING
    assert any("pingpong standard / crosscopy standard" in line.text for line in document.foot)
    single = document_of(known(*cells, launches=1), "kappa")
    kappa = next(c for c in single.tables[0].columns if c.name == "kappa")
    assert kappa.text(single.tables[0].rows[0], single.units) == "1.00"


def test_the_head_tells_how_the_clocks_agreed() -> None:
    def head(*clocks: Clock) -> str:
        return "\n".join(document_of(known(ALLREDUCE, clocks=clocks)).head)

    assert "collectives" not in head()
    # A rank alone has nothing to check, which is not a check to 0 ns.
    assert "collectives" not in head(clock(1, ranks=1, checks=()))
    assert "one shared clock, verified to 80.0 ns" in head(clock(1), clock(2, -80, 50))
    apart = head(clock(1), clock(2, 20, 120, shared=False))
    assert "off by up to 70.0 ns, certainly below 120 ns" in apart
    # The worst job counts, and separate clocks are worse than one that was not checked so well.
    both = head(clock(1, -900, 900, mpi="mpich"), clock(2, 20, 120, shared=False))
    assert "off by up to 70.0 ns" in both


def test_a_collective_in_json() -> None:
    result = known(
        collective("reduce", 8, root="1", in_place=True),
        clocks=(clock(1, 20, 120, shared=False),),
        late=[0, 1],
        cpu_ns=None,
    )
    (row,) = json.loads(render(document_of(result), "json"))["rows"]
    expected = {
        "sync": "common",
        "datatype": "double",
        "op": "sum",
        "root": "1",
        "in_place": True,
        "samples": 36,
        "cpu_s_per_op": None,
        "cpu_share": None,
        "clock_shared": False,
        "overlap": None,
        "kappa": None,
    }
    assert {name: row[name] for name in expected} == expected
    numbers = {
        "bus_bytes_per_s": 8e6,
        "skew_p50_s": 5e-9,
        "skew_p99_s": 5e-9,
        "late_share": 0.1,
        "root_s": 990e-9,
        "local_s": 980e-9,
        "clock_error_s": 70e-9,
        "clock_bound_s": 120e-9,
    }
    assert {name: row[name] for name in numbers} == pytest.approx(numbers)


def test_csv_has_overlap_and_ratios_in_columns_of_their_own() -> None:
    cells = [collective(size=64, mode="overlap"), cell(size=64), cell("crosscopy", 64)]
    result = known(*cells)
    for i, one in enumerate(result.visits):
        if one.cell.mode == "overlap":
            result.visits[i] = msgspec.structs.replace(one, pure_ns=[800] * 20, work_ns=800)
    flat = list(csv.DictReader(io.StringIO(render(document_of(result), "csv"))))
    overlap, message, _ = flat
    assert {f"overlap_{part}" for part in ("estimate", "low", "high", "pure_s")} <= overlap.keys()
    assert {
        f"{name}_{part}" for name in RATIO_FIELDS for part in ("estimate", "low", "high")
    } <= overlap.keys()
    assert not DEEP_FIELDS & overlap.keys()
    assert float(overlap["overlap_estimate"]) == pytest.approx(0.75)
    assert (overlap["kappa_estimate"], message["overlap_estimate"]) == ("", "")
    assert float(message["kappa_estimate"]) == pytest.approx(1)
    assert message["copy_ratio_low"] == ""


def test_a_warning_names_what_is_unusual_about_its_cell() -> None:
    plain = collective("reduce", 8)
    other = collective("reduce", 8, sync="mpi_barrier", datatype="float", op="max", root="1", in_place=True)
    for of, words in (
        (plain, "reduce blocking 8 B: "),
        (other, "reduce blocking 8 B, mpi_barrier start, max of float, root 1, in place: "),
    ):
        foot = foot_of(known(of, launches=1)).splitlines()
        assert any(line.startswith(f"no-interval: {words}") for line in foot), foot


def test_a_measured_cell_does_not_claim_that_there_was_no_time() -> None:
    skipped = Done(2, SMALL.job, 1.0, (SMALL,))
    result = result_of(campaign(SMALL), launch(1), visit(1, 0, SMALL, EVEN), launch(2), skipped)
    (row,) = rows(result)
    assert row.status == "ok"
    assert row.reason is None


# ---- Nothing makes it crash ----------------------------------------------------------------------

times = st.one_of(st.none(), st.floats(0, 1e6), st.just(math.nan))
estimates = st.builds(
    Estimate,
    **{name: st.floats(0, 1e6) for name in ("estimate", "mean", "min", "p25", "median", "p75", "max")},
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
    **{name: st.integers(1, 10**6) for name in ("launches", "samples")},
    kinds=st.none(),
    launch_medians=st.just(()),
)
row_lists = st.lists(
    st.builds(
        Row,
        cell=st.sampled_from([SMALL, LARGE, LIMIT, BLIND, ALLREDUCE]),
        status=st.sampled_from(["ok", "failed", "skipped"]),
        reason=st.one_of(
            st.none(),
            st.builds(CellFailed, st.sampled_from(get_args(FailureKind)), st.integers(1), st.text()),
            st.builds(WouldDeadlock, st.integers(0), st.booleans()),
        ),
        time=st.one_of(st.none(), estimates),
        rate_bytes_per_s=times,
        directions=st.integers(1, 2),
        cpu_s_per_op=times,
        first_s=times,
        limit_bytes=st.one_of(st.none(), st.integers(0)),
        advised_samples=st.one_of(st.none(), st.integers(0)),
        batch=st.integers(0, 100),
        warnings=st.just(()),
        bus_bytes_per_s=times,
        cpu_share=st.one_of(st.none(), st.floats(0, 1)),
        start=st.one_of(
            st.none(),
            st.builds(
                Start,
                skew_p50_s=st.floats(0, 1e6),
                skew_p99_s=st.floats(0, 1e6),
                late_share=st.floats(0, 1),
                root_s=times,
                local_s=times,
            ),
        ),
        clock=st.one_of(
            st.none(), st.builds(ClockState, st.booleans(), st.floats(0, 1e6), st.floats(0, 1e6))
        ),
        overlap=st.one_of(
            st.none(), st.builds(Overlap, st.floats(-1e6, 1e6), times, times, st.floats(1e-9, 1e6))
        ),
        ratios=st.dictionaries(
            st.sampled_from(sorted(RATIO_FIELDS)),
            st.one_of(
                st.builds(Ratio, st.floats(0, 1e6), st.none(), st.none(), st.just(1)),
                st.builds(Ratio, *[st.floats(0, 1e6)] * 3, st.integers(2, 30)),
            ),
        ),
        # So that lines can be counted by their sizes.
        sized=st.just(True),
    ).map(lambda row: row if row.cell.sync else replace(row, start=None)),
    max_size=4,
)


@repeatable
@given(row_lists, st.sampled_from(list(FORMATS)))
def test_no_row_makes_it_crash_or_break_a_line(found: list[Row], form: str) -> None:
    text = render(document(EVERYTHING, found, list(EXTRA_COLUMNS), Units()), form)
    curves = sum(row.cell.pattern != "eager" for row in found)
    expected = {"json": len(found), "csv": len(found), "text": curves, "markdown": curves}
    assert form not in COUNTED or COUNTED[form](text) == expected[form]


def sized_lines(text: str, begin: str) -> int:
    """How many lines begin with a size."""
    return len(re.findall(rf"^{re.escape(begin)} *\d+ (?:B|[KM]iB) ", text, re.MULTILINE))


COUNTED: dict[str, Callable[[str], int]] = {
    "json": lambda text: len(json.loads(text)["rows"]),
    "csv": lambda text: len(list(csv.DictReader(io.StringIO(text, newline="")))),
    "text": lambda text: sized_lines(text, " "),
    "markdown": lambda text: sized_lines(text, "| "),
}
"""Rows in a text, of those formats whose grammar is known here."""


def test_windows_of_one_size_are_told_apart() -> None:
    def headings(*cells: Cell) -> list[str]:
        (section,) = document_of(result_of(campaign(*cells))).tables
        return [column.heading for column in section.columns]

    assert headings(cell(window=4), cell(window=64))[0] == "window"
    assert headings(cell(window=64), cell(size=1024, window=64))[0] == "size"


def test_json_has_every_warning_and_every_fact_below_the_table_as_data() -> None:
    shown = document_of(known(cell(size=64), cell("memcpy", 64), launches=3))
    whole = json.loads(render(shown, "json"))
    warned = [
        (found["cells"][0]["pattern"], found["kind"])
        for found in whole["findings"]
        if found["severity"] == "warning"
    ]
    assert warned == [(row["pattern"], kind) for row in whole["rows"] for kind in row["warnings"]]
    (cost,) = (found for found in whole["findings"] if found["kind"] == "cost-in-copies")
    assert cost["text"] in whole["notes"]
    assert cost["value"]["least"]["estimate"] == whole["rows"][0]["memcpy_ratio"]["estimate"]
    assert cost["value"]["least_bytes"] == 64
