"""Whether ranks had their cores for themselves, as arithmetic for all units of a core tells."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.find.kinds import fitting
from mpigauge.find.sessions import UNSTEADY, Unsteady
from mpigauge.rows.machine.steadiness import (
    MAX_SHARED,
    CoreSharing,
    Steadiness,
    core_sharing,
    on_shared_cores,
    only_quiet,
    steadiness_of,
)
from tests.made import campaign, cell, launch, result_of, visit

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit

CELL = cell(size=8)
CHAIN_NS = 1650.0
WIDE_NS = 900.0
SCREEN = 80


def beside(wide: list[float], speed: float = 1.0, of: Cell = CELL, **more: object) -> list[Visit]:
    """A visit for each slowdown of the arithmetic that needs all units, at so many times the clock period."""
    return [
        visit(
            1,
            number,
            of,
            [200, 210],
            alu_ns=[CHAIN_NS * speed] * 2,
            issue_ns=[WIDE_NS * speed, WIDE_NS * speed * factor],
            **more,
        )
        for number, factor in enumerate(wide)
    ]


def test_visits_beside_another_thread_are_told_from_the_others() -> None:
    visits = beside([1.0, 1.02, 1.5, 1.0, 1.9, 1.7])
    assert on_shared_cores(visits, ()).tolist() == [False, False, True, False, True, True]
    found = core_sharing(visits, ())
    assert found is not None
    assert found.share == 0.5
    assert found.slowdown == pytest.approx(1.7)


@given(st.lists(st.floats(1.0, 3.0), min_size=2, max_size=12))
def test_a_core_at_a_lower_frequency_is_not_shared(speeds: list[float]) -> None:
    visits = [one for speed in speeds for one in beside([1.0, 1.0], speed)]
    assert core_sharing(visits, ()) in (CoreSharing(0.0, None), None)


def test_ranks_that_are_bound_to_one_core_are_like_themselves() -> None:
    """They share it always: nothing happened beside the visits, and they say nothing of other ranks."""
    both_ns = [1.9 * WIDE_NS] * 2
    crowded = cell(size=8, ranks=4)
    bound = [visit(1, n, crowded, [200], alu_ns=[CHAIN_NS] * 2, issue_ns=both_ns) for n in range(5)]
    assert core_sharing([*beside([1.0] * 5), *bound], ()) == CoreSharing(0.0, None)
    found = core_sharing([*beside([1.0] * 5, of=crowded), *bound], ())
    assert found is not None
    assert found.share == 0.5
    assert found.slowdown == pytest.approx(1.9)


@pytest.mark.parametrize(("readings", "step_ns"), [([0.0, 0.0], 1), ([1000.0, 2000.0], 1000), ([], 1)])
def test_of_a_clock_that_stands_still_or_is_coarse_nothing_is_known(
    readings: list[float], step_ns: int
) -> None:
    visits = [visit(1, number, CELL, [200], alu_ns=[2000.0] * 2, issue_ns=readings) for number in range(9)]
    one = launch(1)
    at = [replace(place, clock_step_ns=step_ns) for place in one.ranks_at]
    coarse = replace(one, ranks_at=at)
    assert core_sharing(visits, [coarse]) is None
    seen = steadiness_of(result_of(campaign(CELL), coarse, *visits))
    assert (seen.shared_share, seen.shares_cores) == (None, False)


@pytest.mark.parametrize(("noise", "most"), [(0.003, 0.002), (0.01, MAX_SHARED)])
def test_noise_of_the_readings_is_no_sharing(noise: float, most: float) -> None:
    chance = np.random.default_rng(3)
    visits = [
        visit(
            1,
            number,
            CELL,
            [200],
            alu_ns=(CHAIN_NS * chance.normal(1, noise, 2)).tolist(),
            issue_ns=(WIDE_NS * chance.normal(1, noise, 2)).tolist(),
        )
        for number in range(1000)
    ]
    found = core_sharing(visits, ())
    assert found is not None
    assert found.share < most


def test_steps_of_the_clock_are_no_sharing() -> None:
    """A clock of 40 ns reads the same work as one of two numbers."""
    at = [replace(place, clock_step_ns=40) for place in launch(1).ranks_at]
    visits = [
        visit(1, number, CELL, [200], alu_ns=[1640.0, 1680.0], issue_ns=[ns, 880.0])
        for number, ns in enumerate([880.0, 920.0, 880.0, 1480.0])
    ]
    assert on_shared_cores(visits, [replace(launch(1), ranks_at=at)]).tolist() == [False] * 3 + [True]


def test_what_is_quiet_is_neither_disturbed_nor_of_a_shared_core() -> None:
    visits = [*beside([1.0, 1.5, 1.0], wait_ns=0, switches=0), *beside([1.0], wait_ns=90_000_000, switches=9)]
    quiet = only_quiet(result_of(campaign(CELL), launch(1), *visits))
    assert [one.issue_ns[1] for one in quiet.visits] == [WIDE_NS, WIDE_NS]
    assert all(one.wait_ns == 0 for one in quiet.visits)
    assert len(quiet.left_out) == 2


def test_a_result_of_shared_cores_says_so_on_one_line() -> None:
    seen = steadiness_of(result_of(campaign(CELL), launch(1), *beside([1.0] * 2 + [1.6] * 8)))
    assert seen.shares_cores
    assert not seen.steady
    fact = Unsteady(seen, None)
    assert UNSTEADY.lines is not None
    line = fitting(said.line for said in UNSTEADY.lines(fact))
    assert line == "cores shared in 80 % of visits: up to 1.60 times as long; --over 1h"
    assert "in 80 % of the visits another hardware thread used a rank's core" in UNSTEADY.words(fact).text
    assert seen.shared_slowdown == pytest.approx(1.6)
    for usual in (None, 0.123):
        worst = Unsteady(Steadiness(2e-6, 1.8e-6, 2.4e-6, 0.123, 0.888, 1.666, 2e-6, usual), 0.123)
        line = fitting(said.line for said in UNSTEADY.lines(worst))
        assert len(f"! {line}") <= SCREEN
        assert line == "cores shared in 89 % of visits: up to 1.67 times as long; --over 1h"


ONLY_SPEEDS = Steadiness(2e-6, 1.8e-6, 2.9e-6, usual_s=2e-6, usual_share=0.5)
SHARED = dataclasses.replace(ONLY_SPEEDS, shared_share=0.97, shared_slowdown=1.89)


@pytest.mark.parametrize(
    ("fact", "first", "remedy"),
    [
        (Unsteady(SHARED, 0.046, 1.02, 9), "cores shared in 97 % of visits", "doctor --watch 10s"),
        (Unsteady(ONLY_SPEEDS, 0.046, 1.02, 9), "clock speed changed in 50 % of visits", "--over 1h"),
        (Unsteady(ONLY_SPEEDS, 0.046, 1.6, 2), "slowest launch 60 % slower", "--over 1h"),
        (Unsteady(ONLY_SPEEDS, 0.046, quiet_helps=True), "clock speed changed", "--only quiet"),
        (Unsteady(ONLY_SPEEDS, 0.046, over_helps=False), "clock speed changed", "fix the frequency"),
    ],
    ids=["shared", "speeds", "one launch", "quiet helps", "spread already"],
)
def test_the_largest_cause_is_said_first_and_ends_with_what_helps(
    fact: Unsteady, first: str, remedy: str
) -> None:
    """With as many words as fit; the sentence below tables has all of them in this order."""
    assert UNSTEADY.lines is not None
    line = fitting(said.line for said in UNSTEADY.lines(fact))
    assert line.startswith(first)
    assert line.endswith(f"; {remedy}")
    whole = UNSTEADY.words(fact).text
    places = [whole.index(cause.whole) for cause in fact.causes]
    assert places == sorted(places)
    assert remedy in whole


@pytest.mark.parametrize(
    ("slowdowns", "left"),
    [
        ([1.0, *[1.05, 1.06, 1.04, 1.05] * 5], 21),
        ([1.0, *[1.9] * 9, 2.6], 10),
        ([*[1.0] * 6, *[1.5, 1.7, 1.9] * 3], 6),
    ],
    ids=["one lucky reading", "shared all the time", "sometimes shared"],
)
def test_what_is_usual_is_not_the_least_reading(slowdowns: list[float], left: int) -> None:
    """One lucky reading made nearly all visits of a result unlike a quiet machine."""
    assert len(only_quiet(result_of(campaign(CELL), launch(1), *beside(slowdowns))).visits) == left
