"""Tables: what collectives and memory have beyond messages."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import msgspec
import pytest

from mpigauge import units
from mpigauge.document.document import Units
from mpigauge.plan.model import Cell
from mpigauge.result.records import Clock, Done
from mpigauge.rows.rows import rows
from mpigauge.show.columns import EXTRA_COLUMNS
from mpigauge.show.formats import GENERAL, render
from tests.made import (
    SMALL,
    campaign,
    cell,
    clock,
    collective,
    launch,
    result_of,
    together,
    visit,
)
from tests.unit.show.tabled import (
    ALLREDUCE,
    DEEP_FIELDS,
    DOT,
    EVEN,
    RATIO_FIELDS,
    document_of,
    foot_of,
    known,
    table_of,
)


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
        "Open MPI 5.0.11",
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


@pytest.mark.parametrize("form", GENERAL)
def test_a_barrier_has_no_size_and_no_column_of_bandwidths(form: str) -> None:
    text = render(document_of(known(collective("barrier")), *EXTRA_COLUMNS), form)
    assert "barrier" in text
    (line,) = table_of(known(collective("barrier")))
    assert line["size"] == units.MISSING
    assert "bandwidth" not in line
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
    for form in GENERAL:
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
    factors = {"pingpong": 6, "crosscopy": 2, "memcpy": 1}
    result.visits = [
        msgspec.structs.replace(one, samples_ns=[factors[one.cell.pattern] * 1000 * one.launch] * 20)
        for one in result.visits
    ]
    document = document_of(result, "kappa", "memcpy_ratio", "copy_ratio")
    lines = [section for section in document.tables if section.rows[0].cell.pattern == "pingpong"]
    texts = {c.name: c.text(lines[0].rows[0], document.units) for c in lines[0].columns}
    assert texts["kappa"] == "3.00 (3.00 \N{EN DASH} 3.00)"
    assert texts["memcpy_ratio"] == "6.00 (5.99 \N{EN DASH} 6.01)"
    assert texts["copy_ratio"] == units.MISSING
    assert any(line.text.startswith("pingpong / crosscopy: 3.00 copies") for line in document.foot)
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
    # What is empty on every line has no column.
    assert {name.partition("_")[0] for name in overlap if name.startswith(tuple(RATIO_FIELDS))} == {"kappa"}
    assert not DEEP_FIELDS & overlap.keys()
    assert float(overlap["overlap_estimate"]) == pytest.approx(0.75)
    assert (overlap["kappa_estimate"], message["overlap_estimate"]) == ("", "")
    assert float(message["kappa_estimate"]) == pytest.approx(1)


def test_a_warning_names_what_is_unusual_about_its_cell() -> None:
    plain = collective("reduce", 8)
    other = collective("reduce", 8, sync="mpi_barrier", datatype="float", op="max", root="1", in_place=True)
    alone = foot_of(known(plain, launches=1)).splitlines()
    assert any(line.startswith("no-interval: reduce, 8 B: ") for line in alone)
    both = foot_of(known(plain, other, launches=1))
    for words in ("common start, sum of double, root 0", "mpi_barrier start, max of float, root 1, in place"):
        assert f"reduce, {words}" in both


def test_a_measured_cell_does_not_claim_that_there_was_no_time() -> None:
    skipped = Done(2, SMALL.job, 1.0, (SMALL,))
    result = result_of(campaign(SMALL), launch(1), visit(1, 0, SMALL, EVEN), launch(2), skipped)
    (row,) = rows(result)
    assert row.status == "ok"
    assert row.reason is None
