"""Numbers by states of the machine: which are shown and asked for, and that they hold in each."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.result.reader import load
from mpigauge.rows.clock_resolution import clock_resolution
from mpigauge.rows.machine.split import split_visits
from mpigauge.rows.rows import rows
from mpigauge.rows.samples import by_cell, by_launch, launches_of, visits_by_launch
from tests.made import campaign, cell, launch, result_of, visit
from tests.unit.rows.machine.planted_states import SMALL, lines, visits_with
from tests.unit.rows.planted import estimate

if TYPE_CHECKING:
    from mpigauge.result.records import Visit

RESULTS = Path(__file__).parents[4] / "docs/results"
NEAR_NS, FAR_NS = 40.0, 245.0
CAMPAIGNS = 200
FACTOR = 2.8
"""How many times as long a small message takes while far."""


# ---- Which are shown and asked for ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("near", "far", "headline", "asked"),
    [
        (50, 6, ["near"], ["near"]),
        (20, 40, ["near", "far"], ["near", "far"]),
        (13, 47, ["near", "far"], ["near", "far"]),
        (11, 49, ["far"], ["far"]),
    ],
)
def test_a_state_that_has_most_of_the_time_stands_for_the_machine(
    near: int, far: int, headline: list[str], asked: list[str]
) -> None:
    visits = visits_with([[40, 41]] * near + [[240, 250]] * far)
    found = split_visits(visits)
    parts = found.parts(visits)
    assert [one.state for one in found.shown(parts, None)] == headline
    assert [one.state for one in found.shown(parts, "all")] == ["near", "far"]
    assert [one.state for one in found.shown(parts, "far")] == ["far"]
    assert sorted(str(one.state) for one in found.asked_for(parts)) == sorted(asked)


def test_a_launch_counts_in_a_state_with_two_visits_or_all_that_it_has() -> None:
    near, far = [40.0, 41.0], [240.0, 250.0]
    visits = visits_with([near] * 19 + [far] + [far] * 10 + [near])
    parts = {one.state: one for one in split_visits(visits).parts(visits)}
    # Launch 2 has one visit while far, launch 4 a single visit at all.
    assert {one.launch for one in parts["near"].visits} == {1, 2, 4}
    assert {one.launch for one in parts["far"].visits} == {3}


def test_what_was_never_seen_in_a_state_says_so() -> None:
    other = cell(size=1024)
    visits = visits_with([[40, 41]] * 20 + [[240, 250]] * 20)
    alone = [replace(one, cell=other, id=one.id + 10) for one in visits[:20]]
    result = result_of(campaign(SMALL, other), *(launch(n) for n in range(1, 5)), *visits, *alone)
    found = {row.cell.bytes: row for row in rows(result, choice="far")}
    assert found[8].state == "far"
    assert found[1024].status == "skipped"
    assert [row.state for row in rows(result)] == ["near", "far", "near"]
    assert all([time.state for time in row.states] for row in rows(result))


# ---- Numbers that hold ---------------------------------------------------------------------------


def course(generator: np.random.Generator, dwell_s: tuple[float, float], times_s: np.ndarray) -> np.ndarray:
    """Whether the machine is far at each time: it stays in a state for an exponential time."""
    far, switch_s = bool(generator.random() < dwell_s[1] / sum(dwell_s)), 0.0
    states = np.zeros(times_s.size, dtype=bool)
    while switch_s < times_s[-1]:
        begin_s, switch_s = switch_s, switch_s + generator.exponential(dwell_s[int(far)])
        states[(times_s >= begin_s) & (times_s < switch_s)] = far
        far = not far
    return states


def measured(generator: np.random.Generator, dwell_s: tuple[float, float]) -> list[Visit]:
    """8 visits in each of 10 launches within 20 s; launches differ by 1 %, visits by 2 %."""
    times_s = np.linspace(0, 20, 80)
    far = course(generator, dwell_s, times_s)
    launches = np.repeat(0.01 * generator.standard_normal(10), 8)
    logs = launches + 0.02 * generator.standard_normal(80) + math.log(FACTOR) * far
    readings = lines(generator, np.where(far, FAR_NS, NEAR_NS))
    samples_ns = np.rint(1e6 * np.exp(logs)).astype(int).tolist()
    return [
        visit(1 + number // 8, number % 8, SMALL, [samples_ns[number]], ops=1, line_ns=readings[number])
        for number in range(80)
    ]


def intervals(visits: list[Visit], known: bool) -> list[tuple[float, float]]:
    """Of each state that has enough launches; of everything, where nobody knows the states."""
    mine = visits if known else [replace(one, line_ns=[]) for one in visits]
    times = [estimate(by_launch(one.visits)) for one in split_visits(mine).parts(mine)]
    return [(time.low, time.high) for time in times if time.low and time.high]


def covering(found: list[tuple[float, float]]) -> float:
    """How many contain what the time truly is in one of the states."""
    truths = (1e-3, FACTOR * 1e-3)
    return sum(any(low <= truth <= high and high / low < 1.5 for truth in truths) for low, high in found)


@pytest.mark.truth
@pytest.mark.parametrize("dwell_s", [(0.35, 12.0), (2.5, 5.0), (20.0, 60.0), (100.0, 300.0)])
def test_intervals_hold_in_each_state_however_long_it_lasts(dwell_s: tuple[float, float]) -> None:
    generator = np.random.default_rng(7)
    campaigns = [measured(generator, dwell_s) for _ in range(40)]
    apart = [interval for visits in campaigns for interval in intervals(visits, known=True)]
    assert covering(apart) >= 0.9 * len(apart)


SPREAD_DWELL_S = (60.0, 20.0)
HOUR_S = 3600.0


def over(generator: np.random.Generator, at_s: np.ndarray, states: np.ndarray) -> tuple[float, float]:
    """The interval of ten launches at these times, where nobody can tell the states apart."""
    logs = math.log(FACTOR) * states[at_s.astype(int)] + 0.01 * generator.standard_normal(at_s.size)
    launches = [[np.full(9, 1e-3 * math.exp(log))] for log in logs]
    found = estimate(launches)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@pytest.mark.truth
def test_launches_that_are_spread_over_an_hour_hold_its_median_and_those_of_one_moment_do_not() -> None:
    """States of a minute that nobody can tell apart; launches within 20 s, and one per tenth of the hour."""
    generator, held = np.random.default_rng(4), {"at once": 0, "spread": 0}
    for _ in range(CAMPAIGNS):
        states = course(generator, SPREAD_DWELL_S, np.arange(HOUR_S))
        whole = math.log(FACTOR) * states + 0.01 * generator.standard_normal(states.size)
        truth = 1e-3 * math.exp(float(np.median(whole)))
        begin_s = generator.uniform(0, HOUR_S - 20)
        part_s = HOUR_S / 10
        for name, at_s in (
            ("at once", begin_s + np.arange(0, 20, 2.0)),
            ("spread", part_s * (np.arange(10) + generator.random(10))),
        ):
            low, high = over(generator, at_s, states)
            held[name] += low <= truth <= high
    assert held["at once"] < 0.7 * CAMPAIGNS
    assert held["spread"] >= 0.88 * CAMPAIGNS


def test_without_states_intervals_hold_nowhere() -> None:
    generator = np.random.default_rng(8)
    together = [
        interval for _ in range(40) for interval in intervals(measured(generator, (2.5, 5.0)), known=False)
    ]
    assert covering(together) < 0.5 * len(together)


def test_a_launch_that_was_in_both_states_gives_a_number_to_both() -> None:
    visits = visits_with([[40, 41]] * 25 + [[240, 250]] * 15)
    times = {one.state: estimate(by_launch(one.visits)) for one in split_visits(visits).parts(visits)}
    assert times["near"].launches == 3
    assert times["far"].launches == 2


@pytest.mark.truth
@pytest.mark.parametrize("name", ["first", "modes-lan", "map"])
def test_results_without_conditions_have_the_numbers_that_they_always_had(name: str) -> None:
    """To the last bit: of all samples of a cell, launch by launch, whatever states there may have been."""
    result = load(RESULTS / f"{name}.jsonl.gz")
    result.visits = [replace(one, line_ns=[], path_ns=[]) for one in result.visits]
    visits = by_cell(result.visits)
    measured = [row for row in rows(result) if row.time is not None]
    assert len(measured) == len({row.cell for row in measured}) > 0
    steps = clock_resolution(result.launches, result.visits)
    for row in measured:
        mine, time = visits[row.cell], row.time
        launches = launches_of(visits_by_launch(mine), steps)
        whole = estimate(launches.visits, "median", launches.steps_s, launches.numbers)
        assert time is not None
        assert time.estimate == whole.estimate
        assert time.by_launch == whole.by_launch
        assert (time.samples, time.mean, time.p99) == (whole.samples, whole.mean, whole.p99)
        assert (row.state, row.states) == (None, ())
