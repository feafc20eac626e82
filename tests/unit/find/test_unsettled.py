"""The best rate of a campaign that goes on is said when no size beside it may still be better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from mpigauge.document.document import Units
from mpigauge.find.answer import AWAITED, ONE_LAUNCH
from mpigauge.find.so_far import SoFar, unsettled, untypical
from mpigauge.plan.patterns import known
from mpigauge.query.query import Source
from mpigauge.result.records import Blocked, Done
from mpigauge.show import answer
from tests.made import campaign, cell, launch, result_of, visit

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record, Visit

SIZES = [4**power for power in range(3, 10)]
CURVE = [cell("stream", size, "unidirectional") for size in SIZES]
OTHER = [cell("pingpong", size) for size in SIZES]
BOTH = [cell("stream", size, "bidirectional") for size in SIZES]


def rising_and_falling(best: int) -> dict[Cell, float]:
    """Rates of a curve with one best place."""
    return {one: 1e9 - abs(place - best) for place, one in enumerate(CURVE)}


@given(st.integers(0, len(SIZES) - 1), st.permutations(CURVE))
def test_what_is_said_is_the_best_whatever_was_measured_first(best: int, order: list[Cell]) -> None:
    rates = rising_and_falling(best)
    measured: dict[Cell, float] = {}
    for one in order:
        measured[one] = rates[one]
        open_ = unsettled(CURVE, known(), measured, {*CURVE} - {*measured})
        if not open_:
            assert max(measured, key=lambda other: measured[other]) == CURVE[best]
    assert not unsettled(CURVE, known(), measured, set())


def test_a_curve_that_has_not_begun_may_be_the_best() -> None:
    rates = rising_and_falling(3)
    assert unsettled([*CURVE, *OTHER], known(), rates, {*OTHER}) == {*CURVE, *OTHER}
    assert not unsettled([*CURVE, *BOTH], known(), rates, set())


def test_what_goes_in_one_direction_does_not_wait_for_what_goes_in_both() -> None:
    assert unsettled([*CURVE, *BOTH], known(), rising_and_falling(3), {*BOTH}) == {*BOTH}


def test_a_size_far_from_the_quoted_one_waits_for_the_nearer() -> None:
    assert untypical(CURVE, {CURVE[0]}) == {*CURVE[1:]}
    assert untypical(CURVE, {CURVE[2]}) == {*CURVE[3:]}
    assert untypical(CURVE, set()) == set()


# ---- On the screen -------------------------------------------------------------------------------


def bandwidth(so_far: SoFar) -> str:
    """The line of the bandwidth while it is measured."""
    source = Source("", so_far.result, so_far.rows(), dict(so_far.patterns), {}, {})
    (table,) = answer.progress(source, Units()).tables
    lines = (" ".join(column.text(row, Units()) for column in table.columns) for row in table.rows)
    return next(line for line in lines if line.startswith("bandwidth"))


def after(*records: Record) -> SoFar:
    """A campaign of one curve that has come so far."""
    so_far = SoFar(result_of(campaign(*CURVE)))
    for record in records:
        so_far.take(record)
    return so_far


def visits(of: list[Cell], launch: int = 1) -> list[Visit]:
    """A visit of each; all take as long, so that the largest has the best rate."""
    return [visit(launch, place, one, [2000] * 8) for place, one in enumerate(of)]


def test_the_best_is_said_once_the_sizes_around_it_are_measured() -> None:
    some = after(launch(1), *visits(CURVE[:-1]))
    assert bandwidth(some).startswith(f"bandwidth {AWAITED} ")
    every = after(launch(1), *visits(CURVE))
    assert AWAITED not in bandwidth(every)
    assert "at 256 KiB" in bandwidth(every)


def test_what_a_finished_launch_has_not_measured_is_not_waited_for() -> None:
    done = Done(1, CURVE[0].job, 1.0)
    assert AWAITED not in bandwidth(after(launch(1), *visits(CURVE[:-1]), done))
    cut = Done(1, CURVE[0].job, 1.0, skipped=(CURVE[-1],))
    assert AWAITED in bandwidth(after(launch(1), *visits(CURVE[:-1]), cut))


def test_what_would_deadlock_is_not_waited_for() -> None:
    blocked = Blocked(1, 9, CURVE[-1], found=True, limit_bytes=4096)
    assert AWAITED not in bandwidth(after(launch(1), *visits(CURVE[:-1]), blocked))


def test_a_number_of_one_launch_says_so_and_is_grey() -> None:
    one = after(launch(1), *visits(CURVE))
    assert f" {ONE_LAUNCH} " in bandwidth(one)
    source = Source("", one.result, one.rows(), dict(one.patterns), {}, {})
    (table,) = answer.progress(source, Units()).tables
    assert {column.tone(table.rows[0]) for column in table.columns[1:3]} == {"quiet"}
    two = after(launch(1), *visits(CURVE), launch(2), *visits(CURVE, launch=2))
    assert ONE_LAUNCH not in bandwidth(two)


def test_jobs_beside_each_other_say_which_number_is_of_one_launch() -> None:
    other = [cell("stream", size, "unidirectional", transport="tcp") for size in SIZES]
    so_far = SoFar(result_of(campaign(*CURVE, *other)))
    mine, theirs = CURVE[0].job, other[0].job
    records: list[Record] = [launch(1, job=mine), *visits(CURVE), launch(1, job=theirs), *visits(other)]
    for record in [*records, launch(2, job=mine), *visits(CURVE, launch=2)]:
        so_far.take(record)
    assert bandwidth(so_far).count(ONE_LAUNCH) == 1
    assert "\N{PLUS-MINUS SIGN}" in bandwidth(so_far)
