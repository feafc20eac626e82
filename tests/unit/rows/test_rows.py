"""Rows of collectives and of memory: what counts, what is refused, and which warnings belong to whom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.document.status_words import reason_sentence
from mpigauge.plan.model import Cell
from mpigauge.result.reader import Result
from mpigauge.result.records import Done
from mpigauge.rows.failure_cause import telling_line
from mpigauge.rows.reasons import ImplausibleRate
from mpigauge.rows.rows import Row, rows
from tests.made import ENVIRONMENT, campaign, cell, clock, collective, launch, together, visit

if TYPE_CHECKING:
    from mpigauge.result.records import Clock, Visit

repeatable = settings(derandomize=True, deadline=None)

GIB = 2**30
MEMORY = [
    cell("memcpy", GIB),
    cell("copy", GIB, "O3"),
    cell("copy", GIB, "O0"),
    cell("read", GIB),
    cell("write", GIB),
    cell("crosscopy", GIB),
    collective("reduce_local", GIB, "standard", sync=""),
]


def row_of(of: Cell, *visits: Visit, clocks: tuple[Clock, ...] = (), l2_bytes: int | None = None) -> Row:
    """What is said of a cell that was visited so."""
    head = campaign(of)
    if l2_bytes is not None:
        machine = msgspec.structs.replace(ENVIRONMENT, caches={"L1 Data": 2**15, "L2 Unified": l2_bytes})
        head = msgspec.structs.replace(head, environment=machine)
    numbers = sorted({one.launch for one in visits})
    result = Result(Path("r.jsonl"), head, launches=[launch(number) for number in numbers])
    result.visits += visits
    result.clocks += clocks
    (row,) = rows(result)
    return row


def at_rate(of: Cell, bytes_per_s: float) -> Visit:
    """A visit in which bytes move so fast."""
    return visit(1, 0, of, 20 * [round(1e6 * of.bytes / bytes_per_s * 1e9)], ops=10**6)


# ---- What cannot be ------------------------------------------------------------------------------


@pytest.mark.parametrize("of", MEMORY, ids=lambda of: f"{of.pattern} {of.mode}")
@pytest.mark.parametrize("rate", [146e15, 1e12, 385e9])
def test_a_rate_that_no_core_reaches_is_refused(of: Cell, rate: float) -> None:
    """146 PB/s: the compiler had left the loop out (docs/method-memory.md#memory)."""
    row = row_of(of, at_rate(of, rate))
    assert row.status == "failed"
    assert isinstance(row.reason, ImplausibleRate)
    assert row.reason.bytes_per_s == pytest.approx(rate, rel=1e-3)
    assert f"{rate:.3g} B/s are implausible" in reason_sentence(row.reason)
    assert row.time is None
    assert row.rate_bytes_per_s is row.cpu_s_per_op is row.first_s is None
    assert not row.warnings


@pytest.mark.parametrize("of", MEMORY, ids=lambda of: f"{of.pattern} {of.mode}")
def test_a_rate_that_a_core_reaches_is_shown(of: Cell) -> None:
    for rate in (135e9, 383e9):  # the first was measured: reading 2 MiB out of the L3 of a Zen 5
        row = row_of(of, at_rate(of, rate))
        assert row.status == "ok"
        assert row.rate_bytes_per_s == pytest.approx(rate, rel=1e-3)


def test_out_of_its_caches_a_core_may_be_faster() -> None:
    small, large = cell("memcpy", 2**20), cell("memcpy", 2**21)
    for l2_bytes, status in ((2**20, "ok"), (2**19, "failed")):
        assert row_of(small, at_rate(small, 500e9), l2_bytes=l2_bytes).status == status
        assert row_of(large, at_rate(large, 500e9), l2_bytes=l2_bytes).status == "failed"
    assert row_of(small, at_rate(small, 2e12), l2_bytes=2**20).status == "failed"


@pytest.mark.parametrize(
    "of",
    [cell(size=GIB), cell("stream", GIB, "unidirectional", window=2), collective("allgather", GIB // 2)],
    ids=lambda of: of.pattern,
)
def test_messages_are_not_judged_by_what_a_core_copies(of: Cell) -> None:
    make = together if of.sync else visit
    assert row_of(of, make(1, 0, of, 20 * [1000], ops=1)).status == "ok"


def test_a_load_has_no_rate_that_could_be_implausible() -> None:
    row = row_of(cell("chase", GIB), visit(1, 0, cell("chase", GIB), 20 * [20_000], ops=1024))
    assert (row.status, row.rate_bytes_per_s) == ("ok", None)


# ---- What counts ---------------------------------------------------------------------------------


@repeatable
@given(st.lists(st.integers(1, 10**6), min_size=4, max_size=20), st.data())
def test_late_rounds_are_counted_and_not_averaged(times: list[int], data: st.DataObject) -> None:
    of = collective()
    late = sorted(data.draw(st.sets(st.integers(0, len(times) - 1), max_size=len(times) - 1)))
    kept = [time for i, time in enumerate(times) if i not in late]
    row = row_of(of, together(1, 0, of, times, late=late))
    without = row_of(of, together(1, 0, of, kept))
    assert row.time == without.time
    assert row.start is not None
    assert row.start.late_share == pytest.approx(len(late) / len(times))


def test_cpu_time_that_is_not_known_is_none() -> None:
    of = collective(sync="barrier")
    unknown = row_of(of, together(1, 0, of, [100] * 9, cpu_ns=None))
    assert unknown.cpu_s_per_op is unknown.cpu_share is None
    some = row_of(of, together(1, 0, of, [100] * 9, cpu_ns=None), together(2, 0, of, [100] * 9, cpu_ns=900))
    assert some.cpu_s_per_op == pytest.approx(100e-9)
    assert some.cpu_share == pytest.approx(0.5)


@pytest.mark.parametrize(("mode", "share"), [("flush", None), ("lock_all", None), ("fence", 0.5)])
def test_a_target_that_only_waits_makes_no_cpu_time_known(mode: str, share: float | None) -> None:
    """Also in results that hold one: it is that of rank 0 alone."""
    of = cell("put", 8, mode=mode)
    row = row_of(of, visit(1, 0, of, [100] * 9, cpu_ns=900))
    assert row.cpu_share == share
    assert (row.cpu_s_per_op is None) == (share is None)


@repeatable
@given(st.integers(0, 10**12), st.integers(1, 64))
def test_no_rank_is_busier_than_all_the_time(cpu_ns: int, ranks: int) -> None:
    of = collective(ranks=ranks)
    row = row_of(of, together(1, 0, of, [1000] * 9, cpu_ns=cpu_ns))
    assert row.cpu_share == pytest.approx(min(1.0, cpu_ns / (ranks * 9000)))


def test_the_rate_over_a_link_stands_beside_that_of_the_operation() -> None:
    of = collective("allreduce", 2**20, ranks=4)
    row = row_of(of, together(1, 0, of, [10**6] * 9))
    assert row.rate_bytes_per_s == pytest.approx(2**20 / 1e-3)
    assert row.bus_bytes_per_s == pytest.approx(1.5 * 2**20 / 1e-3)
    barrier = collective("barrier")
    empty = row_of(barrier, together(1, 0, barrier, [1000] * 9))
    assert empty.rate_bytes_per_s is empty.bus_bytes_per_s is None
    assert not empty.sized


# ---- Warnings ------------------------------------------------------------------------------------


def kinds(row: Row) -> set[str]:
    """The kinds of its warnings, but for those of a single launch."""
    return {str(warning.kind) for warning in row.warnings} - {"no-interval"}


def test_launches_without_time_for_a_cell_are_not_said_to_have_failed() -> None:
    of = cell()
    result = Result(Path("r.jsonl"), campaign(of), launches=[launch(number) for number in range(1, 7)])
    result.visits += [visit(number, 0, of, [100] * 9) for number in (1, 2)]
    result.done += [Done(number, of.job, 1.0, (of,)) for number in range(3, 7)]
    (row,) = rows(result)
    (few,) = (warning.values for warning in row.warnings if warning.kind == "few-launches")
    assert few == {"launches": 2, "requested": 6, "skipped": 4, "failed": 0}


@pytest.mark.parametrize(("time_ns", "marked"), [(100, True), (699, True), (701, False), (10**6, False)])
def test_clocks_that_are_apart_mark_what_is_short(time_ns: int, marked: bool) -> None:
    of = collective(size=8)
    apart = clock(1, 20, 120, shared=False)
    row = row_of(of, together(1, 0, of, [time_ns] * 9, skew_ns=[0] * 9), clocks=(apart,))
    assert ("clock-error" in kinds(row)) == marked
    assert row.clock is not None
    assert not row.clock.shared
    assert row.clock.error_s == pytest.approx(70e-9)


def test_one_clock_is_not_held_to_what_its_bounds_cannot_prove() -> None:
    of = collective(size=8)
    row = row_of(of, together(1, 0, of, [1000] * 9), clocks=(clock(1, -900, 900),))
    assert "clock-error" not in kinds(row)
    assert row.clock is not None
    assert (row.clock.shared, row.clock.error_s) == (True, 0)
    assert row.clock.bound_s == pytest.approx(900e-9)


def test_clocks_are_no_matter_of_what_one_clock_times() -> None:
    of = cell(size=8)
    row = row_of(of, visit(1, 0, of, [100] * 9), clocks=(clock(1, 900, 1000, shared=False),))
    assert row.clock is None
    assert row.start is None
    assert kinds(row) == set()


@pytest.mark.parametrize(
    ("of", "marked"),
    [
        (collective(size=8), True),
        (cell("crosscopy", 8), True),
        (cell("cacheline", 0), False),
        (cell("memcpy", 8), False),
        (cell(size=8), False),
    ],
    ids=lambda of: of.pattern if isinstance(of, Cell) else "",
)
def test_one_clock_reading_is_a_share_of_single_operations_only(of: Cell, marked: bool) -> None:
    make = together if of.sync else visit
    row = row_of(of, make(1, 0, of, [400] * 9, ops=1))
    assert ("clock-share" in kinds(row)) == marked
    assert "clock-share" not in kinds(row_of(of, make(1, 0, of, [600] * 9, ops=1)))


def test_a_corrupt_visit_says_nothing_about_the_start() -> None:
    of = collective(size=8)
    good = together(1, 0, of, [1000] * 9)
    bad = together(1, 1, of, [9000] * 9, skew_ns=[8000] * 9, late=[0, 1], corrupt="wrong")
    row, without = row_of(of, good, bad), row_of(of, good)
    assert row.start == without.start
    assert row.time == without.time


def test_what_a_library_tells_of_its_error_checking_is_no_cause() -> None:
    assert telling_line("error checking    : enabled\nFatal error in internal_Init\n====") == (
        "Fatal error in internal_Init"
    )
    assert telling_line("error checking    : enabled\nrank 1 is gone") == "rank 1 is gone"


def test_a_visit_that_was_late_as_a_whole_does_not_outweigh_those_that_were_not() -> None:
    of = collective(size=8)
    late = together(1, 0, of, [9000] * 125, late=list(range(125)))
    good = [together(1, number, of, [1000] * 125, late=list(range(119))) for number in range(1, 8)]
    row = row_of(of, late, *good)
    assert row.time is not None
    assert row.time.estimate == pytest.approx(1e-6, rel=1e-3)
    # If no visit of a launch was in time, they are all there is.
    alone = row_of(of, late).time
    assert alone is not None
    assert alone.estimate == pytest.approx(9e-6, rel=1e-3)


def test_one_visit_without_wall_time_does_not_take_the_cpu_share_of_a_cell() -> None:
    of = cell(size=8)
    good, still = visit(1, 0, of, [1000] * 9, cpu_ns=9000), visit(1, 1, of, [0], cpu_ns=10)
    assert row_of(of, good, still).cpu_share == row_of(of, good).cpu_share == pytest.approx(0.5)


def test_ratios_are_of_the_statistic_asked_for() -> None:
    message, copy = cell(size=64), cell("memcpy", 64)
    visits = [
        one
        for number in range(1, 6)
        for one in (
            visit(number, 0, message, [8000] * 30 + [4000] * 5),
            visit(number, 1, copy, [2000] * 35),
        )
    ]
    result = Result(Path("r.jsonl"), campaign(message, copy), visits=visits)
    by_stat = {stat: rows(result, stat)[0].ratios["memcpy_ratio"].estimate for stat in ("median", "min")}
    assert by_stat["median"] == pytest.approx(2 * by_stat["min"], rel=1e-3)


def test_a_launch_of_several_parts_makes_no_pair() -> None:
    message, copy = cell(size=64), cell("memcpy", 64)
    visits = [
        visit(number, place, of, [1000 + number] * 9)
        for number in range(1, 6)
        for place, of in enumerate((message, copy))
    ]
    whole = [launch(number) for number in range(1, 6)]
    again = [launch(number, part=2) for number in (1, 2)]
    for launches, paired in ((whole, True), (whole + again, False)):
        result = Result(Path("r.jsonl"), campaign(message, copy), launches=launches, visits=visits)
        assert rows(result)[0].ratios["memcpy_ratio"].paired == paired
