"""When launches were made, and what is said over several sessions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.find.foot import foot_of
from mpigauge.result.records import Done, Launch
from mpigauge.rows.machine.sessions import across, begins_s, sessions_of, spread_s
from mpigauge.rows.rows import rows
from mpigauge.show.head import head_of
from tests.made import JOB, campaign, cell, launch, result_of, visit
from tests.unit.rows.planted import estimate

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = [day * 86_400.0 + 5 * number for day in range(3) for number in range(6)]


def begun(*after_s: float) -> list[Launch]:
    """Launches that began so long after the first moment."""
    return [
        replace(launch(number), started=(FIRST + timedelta(seconds=seconds)).isoformat())
        for number, seconds in enumerate(after_s, start=1)
    ]


def test_launches_begin_after_the_first_and_parts_do_not_begin_again() -> None:
    again = replace(begun(0, 5, 90)[2], number=2, part=2)
    assert begins_s([*begun(0, 5), again]) == {1: 0, 2: 5}
    assert begins_s([replace(launch(1), started="")]) == {}


def test_the_spread_ends_with_the_last_launch() -> None:
    assert spread_s([]) == 0
    assert spread_s(begun(0, 10, 20)) == 20
    assert spread_s(begun(0, 10, 20), [Done(3, JOB, 4.0)]) == 24


def test_a_long_break_parts_sessions_and_equal_pauses_do_not() -> None:
    assert sessions_of(begun(*DAYS)) == [list(range(first, first + 6)) for first in (1, 7, 13)]
    assert len(sessions_of(begun(*(3600.0 * hour for hour in range(10))))) == 1
    assert len(sessions_of(begun(0, 1, 2, 120))) == 1
    assert sessions_of([]) == []


@pytest.mark.truth
def test_the_interval_over_sessions_covers_what_sessions_find() -> None:
    generator = np.random.default_rng(7)
    covered = [0, 0]
    for _ in range(200):
        logs = np.repeat(generator.normal(0, 0.1, 4), 6) + generator.normal(0, 0.01, 24)
        time = estimate([[np.array([1e-6 * np.exp(value)])] for value in logs])
        over = across(time, [range(first, first + 6) for first in (1, 7, 13, 19)])
        assert over is not None
        covered[0] += over.holds(1e-6)
        covered[1] += time.holds(1e-6)
    assert covered[0] >= 180
    assert covered[1] < 160


def test_under_three_sessions_nothing_is_said() -> None:
    time = estimate([[np.array([1e-6 * factor])] for factor in (1, 1.1, 1.2, 1.0)])
    assert across(time, [[1, 2], [3, 4]]) is None
    assert across(None, [[1], [2], [3]]) is None
    assert across(time, [[1], [2], [3]]) is not None


def test_head_and_foot_say_over_how_much_time_and_both_intervals() -> None:
    of = cell(size=8)
    launches = begun(*DAYS)
    visits = [
        visit(one.number, 0, of, [1000 + 50 * ((one.number - 1) // 6) + one.number % 3] * 9)
        for one in launches
    ]
    result = result_of(campaign(of), *launches, *visits)
    found = rows(result)
    assert found[0].across is not None
    assert found[0].across.launches == 3
    assert any("18 launches over 2 days, in 3 sessions, random order" in line for line in head_of(result))
    (both,) = [line.text for line in foot_of(result, found) if line.text.startswith("intervals")]
    assert "over 3 sessions in 2 days" in both


@pytest.mark.parametrize("count", [1, 4])
def test_launches_of_one_moment_have_no_spread(count: int) -> None:
    of = cell(size=8)
    launches = [launch(number) for number in range(1, count + 1)]
    result = result_of(campaign(of), *launches, *(visit(one.number, 0, of, [9]) for one in launches))
    assert any(f"{count} launches, random order" in line for line in head_of(result))
