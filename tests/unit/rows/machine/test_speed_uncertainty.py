"""Intervals that hold when the machine is at another of its speeds, and none narrower than the instrument."""

from __future__ import annotations

import math
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.rows.estimate import Estimate
from mpigauge.rows.machine.speed_uncertainty import (
    SpeedRanges,
    response_of,
    speed_ranges_of,
    speed_uncertainty,
)
from mpigauge.rows.machine.steadiness import only_quiet
from mpigauge.rows.rows import rows
from mpigauge.stats.interval import Number, interval_of
from mpigauge.stats.limits import PROMISED
from tests.made import campaign, cell, launch, result_of, visit

if TYPE_CHECKING:
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit

CELL = cell(size=8)
SPEEDS = np.array([1735.0, 1896.0])
EXPONENT = 0.6
LAUNCHES, VISITS = 8, 6
SESSIONS = 20
SETS = 40


def session(chance: np.random.Generator, slow_share: float, launch_sd: float = 0.008) -> Result:
    """A result of some seconds; the cores were at the lower frequency for such a share of the visits."""
    visits = []
    for number in range(1, LAUNCHES + 1):
        level = 20_000 * math.exp(chance.normal(0, launch_sd))
        for place in range(VISITS):
            speed = SPEEDS[int(chance.random() < slow_share)]
            time = level * (speed / SPEEDS[0]) ** EXPONENT * math.exp(chance.normal(0, 0.01))
            samples = (time * np.exp(chance.normal(0, 0.01, 15))).round().astype(int).tolist()
            visits.append(visit(number, place, CELL, samples, alu_ns=[float(speed)] * 2))
    return result_of(campaign(CELL), *map(launch, range(1, LAUNCHES + 1)), *visits)


def time_of(result: Result) -> Estimate:
    (row,) = rows(result)
    assert isinstance(row.time, Estimate)
    return row.time


def width_of(time: Estimate) -> float:
    assert time.half_width is not None
    return time.half_width


def of_launches(time: Estimate) -> Number:
    """The interval of the launches alone."""
    return interval_of(np.array([*time.by_launch.values()]), time.step)


def held(intervals: list[Number]) -> float:
    """The share of intervals that contain the median of the centres of the other sessions."""
    good = 0
    for place, one in enumerate(intervals):
        assert one.low is not None
        assert one.high is not None
        others = median(other.estimate for number, other in enumerate(intervals) if number != place)
        good += one.low <= others <= one.high
    return good / len(intervals)


def made(chance: np.random.Generator, visits: int, noise: float, exponent: float) -> list[Visit]:
    speeds = chance.choice(SPEEDS, visits)
    times = 20_000 * (speeds / SPEEDS[0]) ** exponent * np.exp(chance.normal(0, noise, visits))
    return [
        visit(1 + number % 4, number, CELL, [round(time)], alu_ns=[float(speed)] * 2)
        for number, (time, speed) in enumerate(zip(times, speeds, strict=True))
    ]


@pytest.mark.parametrize("exponent", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("visits", [6, 200])
def test_the_exponent_of_a_time_is_found_by_visits(exponent: float, visits: int) -> None:
    """Also of so few that each launch has one or two, if times hardly scatter: as of a wire."""
    noise = 0.02 if visits > SESSIONS else 0.002
    found = response_of(made(np.random.default_rng(2), visits, noise, exponent)).exponent
    assert found == pytest.approx(exponent, abs=0.1)


@pytest.mark.parametrize(("visits", "noise"), [(0, 0.01), (2, 0.01), (40, 2.0)])
def test_where_the_exponent_is_not_known_a_time_follows_the_speed(visits: int, noise: float) -> None:
    assert response_of(made(np.random.default_rng(2), visits, noise, 0.3)).exponent == 1.0


def test_few_visits_of_a_cell_learn_from_the_others_of_its_ranks() -> None:
    """Messages over a slow wire do not follow the cores, which no cell of five visits can show."""
    chance = np.random.default_rng(7)
    cells = [cell(size=size) for size in range(20)]
    visits = [replace(one, cell=of) for of in cells for one in made(chance, 5, 0.02, 0.0)]
    (meanwhile,) = speed_ranges_of(result_of(campaign(*cells), *map(launch, range(1, 5)), *visits)).values()
    assert meanwhile.span == pytest.approx(math.log(SPEEDS[1] / SPEEDS[0]))
    assert meanwhile.response.exponent < 0.2
    assert median(response_of(visits[5 * place : 5 * place + 5]).exponent for place in range(20)) > 0.2


def test_no_interval_promises_more_than_the_instrument() -> None:
    one = time_of(session(np.random.default_rng(3), 0.0, launch_sd=0.0))
    assert one.launches_half_width is not None
    assert one.half_width is not None
    assert one.launches_half_width < 0.006
    assert PROMISED <= math.log1p(one.half_width) < 1.3 * PROMISED


def test_launches_stay_what_they_are_and_times_of_others_too() -> None:
    one = time_of(session(np.random.default_rng(4), 0.5))
    assert one.half_width is not None
    assert one.launches_half_width is not None
    assert one.launches_half_width < one.half_width
    assert one.low is not None
    assert one.high is not None
    machine = math.log1p(one.machine_half_width or 0.0)
    assert one.promised == PROMISED < machine
    assert one.widening < 1.5
    alone = of_launches(one)
    for end, of_launch in ((one.low, alone.low), (one.high, alone.high)):
        part = math.log((of_launch or 0.0) / one.estimate)
        assert abs(math.log(end / one.estimate)) == pytest.approx(math.hypot(part, machine))
    assert one.high / one.estimate != pytest.approx(one.estimate / one.low, rel=1e-4)


def test_of_one_speed_nothing_is_uncertain() -> None:
    assert speed_uncertainty((), None) == 0.0
    assert speed_uncertainty((), SpeedRanges(0.1)) > 0.0


@pytest.mark.truth
def test_intervals_of_one_minute_hold_in_another_of_a_machine_of_two_speeds() -> None:
    """The share of time at either speed is another in every session; both are met in each."""
    chance = np.random.default_rng(0)
    sets = [[session(chance, share) for share in chance.uniform(0.08, 0.92, SESSIONS)] for _ in range(SETS)]
    times = [[time_of(one) for one in results] for results in sets]
    assert fmean(held([of_launches(one) for one in mine]) for mine in times) < 0.65
    ends = [[Number(one.estimate, one.low, one.high) for one in mine] for mine in times]
    assert fmean(map(held, ends)) >= 0.9
    quiet = [width_of(time_of(only_quiet(one))) for results in sets for one in results]
    assert median(quiet) < 0.7 * median(width_of(one) for mine in times for one in mine)


@pytest.mark.truth
def test_a_machine_of_one_speed_has_intervals_of_its_launches() -> None:
    """But for what the instrument promises at best, and serial correlation, they are order statistics."""
    chance = np.random.default_rng(6)
    times = [time_of(session(chance, 0.0, launch_sd=0.03)) for _ in range(SESSIONS)]
    for one in (times := [one for one in times if one.widening == 1.0]):
        alone = of_launches(one)
        for end, of_launch in ((one.low, alone.low), (one.high, alone.high)):
            part = math.log((of_launch or 0.0) / one.estimate)
            assert abs(math.log((end or 0.0) / one.estimate)) == pytest.approx(math.hypot(part, PROMISED))
    assert len(times) >= SESSIONS / 2
