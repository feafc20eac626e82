"""At which speeds a machine ran, as a chain of arithmetic beside every visit tells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.document.state_words import left_out_line
from mpigauge.find.findings import doubts_of, findings_of
from mpigauge.find.kinds import About
from mpigauge.rows.machine.rank_groups import seat_of
from mpigauge.rows.machine.speeds import LEAST_VISITS, at_other_speeds, spans_of, speeds_of
from mpigauge.rows.machine.steadiness import only_quiet, steadiness_of
from mpigauge.rows.rows import rows
from tests.made import campaign, cell, launch, result_of, visit

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit

CELL = cell(size=8)
FAST_NS, SLOW_NS = 1735.0, 1896.0
"""Of two clock frequencies of a processor."""

SCREEN = 80


def at(*readings: tuple[float, float], of: Cell = CELL) -> list[Visit]:
    """Visits at these speeds, before and after."""
    return [visit(1, number, of, [200, 210], alu_ns=list(pair)) for number, pair in enumerate(readings)]


def test_the_usual_speed_is_what_most_readings_are_of() -> None:
    visits = at(*[(FAST_NS, FAST_NS)] * 12, *[(SLOW_NS, SLOW_NS)] * 7, (FAST_NS, SLOW_NS))
    assert at_other_speeds(visits).tolist() == [False] * 12 + [True] * 8
    found = speeds_of(visits)
    assert found is not None
    assert found.usual_s == pytest.approx(FAST_NS * 1e-9)
    assert found.usual_share == 0.6


@given(
    st.lists(st.tuples(*[st.sampled_from([1.0, 1.09, 1.2, 1.7])] * 2), min_size=20, max_size=30),
    st.floats(0.1, 10),
)
def test_units_of_the_arithmetic_do_not_matter(pairs: list[tuple[float, float]], unit: float) -> None:
    plain, scaled = (at(*((a * by, b * by) for a, b in pairs)) for by in (1000.0, 1000.0 * unit))
    assert at_other_speeds(plain).tolist() == at_other_speeds(scaled).tolist()


@pytest.mark.parametrize(("noise", "share"), [(0.0, 1.0), (0.003, 1.0), (0.01, 0.95)])
def test_noise_of_the_readings_is_no_other_speed(noise: float, share: float) -> None:
    chance = np.random.default_rng(5)
    found = speeds_of(at(*(FAST_NS * chance.normal(1, noise, (1000, 2))).tolist()))
    assert found is not None
    assert found.usual_share >= share


def test_ranks_on_other_cores_have_a_speed_of_their_own() -> None:
    """Processors with two kinds of cores: where a slow one takes part, everything is at its speed."""
    all_ranks = cell("allreduce", 8, "blocking")
    slower = at(*[(2 * FAST_NS, 2 * FAST_NS)] * 9, (2 * SLOW_NS, 2 * SLOW_NS), of=all_ranks)
    assert at_other_speeds(at(*[(FAST_NS, FAST_NS)] * 12) + slower).tolist() == [False] * 21 + [True]


@pytest.mark.parametrize(("readings", "count"), [([], 30), ([0.0, 0.0], 30), ([FAST_NS, SLOW_NS], 19)])
def test_without_readings_or_with_few_nothing_is_known(readings: list[float], count: int) -> None:
    visits = [visit(1, number, CELL, [200], alu_ns=readings) for number in range(count)]
    assert speeds_of(visits) is None
    assert not at_other_speeds(visits).any()
    assert spans_of(visits) == {}


def test_the_span_is_from_speed_to_speed_and_no_single_odd_reading() -> None:
    both = at(*[(FAST_NS, FAST_NS)] * 50, *[(SLOW_NS, SLOW_NS)] * 50, (9 * FAST_NS,) * 2)
    assert spans_of(both)[seat_of(CELL)] == pytest.approx(math.log(SLOW_NS / FAST_NS))
    assert spans_of(both[: LEAST_VISITS - 1]) == {}


def test_what_is_quiet_is_of_the_usual_speed() -> None:
    visits = at(*[(FAST_NS, FAST_NS)] * 12, *[(SLOW_NS, SLOW_NS)] * 8)
    quiet = only_quiet(result_of(campaign(CELL), launch(1), *visits))
    assert {tuple(one.alu_ns) for one in quiet.visits} == {(FAST_NS, FAST_NS)}
    (line,) = left_out_line(quiet)
    assert "8 of 20" in line
    assert "another speed" in line


def test_a_machine_of_several_speeds_is_called_unsteady_on_one_line() -> None:
    """If messages feel it: 20 visits in each of six launches, 9 of them slower as arithmetic is, or not."""

    def result(slower: float) -> Result:
        return result_of(
            campaign(CELL),
            *map(launch, numbers := range(1, 7)),
            *(
                visit(number, place, CELL, [round(2000 * factor)] * 9, alu_ns=[ns, ns])
                for number in numbers
                for place in range(20)
                for ns, factor in [((FAST_NS, 1.0), (SLOW_NS, slower))[place % 20 >= 11]]
            ),
        )

    moved, still = result(SLOW_NS / FAST_NS), result(1.0)
    assert steadiness_of(moved).has_speeds
    assert steadiness_of(still).has_speeds
    (found,) = [one for one in findings_of(moved, rows(moved)) if one.kind == "unsteady-machine"]
    assert "45 % of the visits were made at another clock speed than the usual one" in found.text
    (told,) = found.told()
    assert told.value["usual_share"] == 0.55
    assert told.value["times_move"] > 0.05
    assert not any(one.kind == "unsteady-machine" for one in findings_of(still, rows(still)))


@pytest.mark.parametrize(("slower", "shown"), [(3.0, True), (1.0 + 1e-3, False)])
def test_speeds_are_on_a_screen_only_where_they_moved_a_number(slower: float, shown: bool) -> None:
    """Beyond its interval, which covers them: 8 of 20 visits are at the usual speed, others at two more."""
    speeds_ns = [*[FAST_NS] * 8, *[SLOW_NS] * 6, *[1.1 * SLOW_NS] * 6]
    made = result_of(
        campaign(CELL),
        *map(launch, numbers := range(1, 7)),
        *(
            visit(
                number, place, CELL, [round(2000 * (1.0 if ns == FAST_NS else slower))] * 9, alu_ns=[ns, ns]
            )
            for number in numbers
            for place, ns in enumerate(speeds_ns)
        ),
    )
    fact = About(made, rows(made))
    assert fact.speeds_matter == shown
    lines = [one.line for one in doubts_of(made, rows(made)) if one.kind == "unsteady-machine"]
    assert any(line.startswith("clock speed changed in 60 % of visits") for line in lines) == shown
