"""Results of other times as sessions: which are, and what is said over them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.rows.machine.over_sessions import (
    MeasuredResult,
    linked,
    session_mismatches,
    spans_of,
    with_sessions,
)
from mpigauge.rows.machine.sessions import OverSessions
from mpigauge.rows.rows import rows
from mpigauge.stats.interval import Number, interval_of
from tests.made import LIBRARY, LINES_NS, campaign, cell, in_states, launches_of, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch
    from mpigauge.rows.rows import Row

CELL = cell(size=8)
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAY_S = 86_400.0
LAUNCHES = range(1, 5)


def at(launches: Sequence[Launch], start_s: float) -> list[Launch]:
    """Launches of which one begins every 5 s."""
    return [
        replace(one, started=(FIRST + timedelta(seconds=start_s + 5 * one.number)).isoformat())
        for one in launches
    ]


def day(number: float, time_ns: float, cells: Sequence[Cell] = (CELL,), **more: Any) -> Result:
    """A result of one day, whose launches differ by a few per cent."""
    made = launches_of(cells, LAUNCHES)
    samples = measured(cells, LAUNCHES, lambda _, launch: [round(time_ns * (1 + launch / 100))] * 5, **more)
    return result_of(campaign(*cells), *at(made, DAY_S * number), *samples)


def together(*results: Result) -> list[list[Row]]:
    """The rows of results that are shown together."""
    return with_sessions([told(one) for one in results])


def told(result: Result) -> MeasuredResult:
    """A result with its rows."""
    return MeasuredResult(result, rows(result))


def sessions(*results: Result) -> list[list[int]]:
    """How many sessions each row of each result knows."""
    return [[row.sessions.sessions if row.sessions else 0 for row in mine] for mine in together(*results)]


# ---- What is said --------------------------------------------------------------------------------


@pytest.mark.truth
@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(200, 90_000), min_size=2, max_size=6))
def test_the_unit_is_the_session(times_ns: list[float]) -> None:
    results = [day(number, time_ns) for number, time_ns in enumerate(times_ns)]
    found = together(*results)
    over = found[0][0].sessions
    assert over is not None
    assert all(mine[0].sessions == over for mine in found)
    times = [mine[0].time for mine in found]
    medians = [median(time.by_launch.values()) for time in times if time is not None]
    alone = interval_of(np.array(medians))
    assert alone.low is not None
    assert alone.high is not None
    assert over.time.estimate == pytest.approx(alone.estimate)
    # The step of the clock makes it wider.
    assert over.time.holds(alone.low * (1 + 1e-9))
    assert over.time.holds(alone.high * (1 - 1e-9))
    assert over.sessions == len(times_ns)
    assert over.seconds == pytest.approx(DAY_S * (len(times_ns) - 1) + 15)


@pytest.mark.truth
def test_it_covers_the_next_session_where_launches_of_one_do_not() -> None:
    generator = np.random.default_rng(11)
    covered = [0, 0]
    for _ in range(60):
        days = 10_000 * np.exp(generator.normal(0, 0.1, 4))
        found = together(*(day(number, time_ns) for number, time_ns in enumerate(days)))
        time, over = found[0][0].time, found[0][0].sessions
        assert time is not None
        assert over is not None
        truth = 10_000e-9 / 2 * 1.025
        covered[0] += over.time.holds(truth)
        covered[1] += time.holds(truth)
    assert covered[0] >= 52
    assert covered[1] < 30


def test_two_sessions_are_told_with_a_wide_interval() -> None:
    over = together(day(0, 1000), day(1, 1100))[0][0].sessions
    assert over is not None
    assert over.sessions == 2
    assert (over.time.half_width or 0) > 0.5


def test_both_intervals_are_summed_up() -> None:
    results = [day(number, 1000 + 20 * number) for number in range(3)]
    (spans,) = spans_of(known(*results))
    assert spans.members == (0, 1, 2)
    assert spans.sessions == 3
    assert spans.within_s == 15
    assert spans.over_s == pytest.approx(2 * DAY_S + 15)
    assert spans.within is not None
    assert spans.over > spans.within


# ---- What is a session of another ----------------------------------------------------------------


def changed(result: Result, **parts: Any) -> Result:
    """A result of another campaign; its parts are dotted by two underlines."""
    made = result.campaign
    for path, value in parts.items():
        first, _, second = path.partition("__")
        made = replace(made, **{first: replace(getattr(made, first), **{second: value}) if second else value})
    result.campaign = made
    return result


def test_times_of_another_day_are_sessions_and_those_of_the_same_minutes_are_not() -> None:
    assert sessions(day(0, 1000), day(1, 1000)) == [[2], [2]]
    assert sessions(day(0, 1000), day(0, 1000)) == [[0], [0]]
    assert sessions(day(0, 1000), day(0, 1000), day(1, 1100)) == [[2], [2], [2]]
    assert sessions(day(0, 1000)) == [[0]]


def test_a_copy_changes_nothing() -> None:
    alone = together(day(0, 1000), day(1, 1100))[0][0].sessions
    copied = together(day(0, 1000), day(1, 1100), day(1, 1100))[0][0].sessions
    assert alone is not None
    assert copied is not None
    assert copied.time.low == pytest.approx(alone.time.low)
    assert copied.time.high == pytest.approx(alone.time.high)


@pytest.mark.parametrize(
    "other",
    [
        {"environment__host": "node2"},
        {"environment__cpu": "Another CPU"},
        {"environment__governor": "powersave"},
        {"environment__kernel": "6.2"},
        {"environment__variables": {"OMPI_MCA_btl": "self,tcp"}},
        {"libraries": (replace(LIBRARY, flags="-O0"),)},
        {"plan__binding": "core"},
        {"plan__variables": {"UCX_TLS": "sm"}},
        {"mpigauge": "9.9"},
    ],
)
def test_another_setting_is_no_session(other: dict[str, Any]) -> None:
    assert sessions(day(0, 1000), changed(day(1, 1000), **other)) == [[0], [0]]
    assert sessions(day(0, 1000), changed(day(1, 1000), **other), day(2, 1000)) == [[2], [0], [2]]


@pytest.mark.parametrize(
    "other",
    [
        {"plan__title": "later"},
        {"plan__seed": 8},
        {"plan__launches_max": 9},
        {"plan__over_s": 3600.0},
        {"environment__variables": {"OMPI_FC": "gfortran", "SLURM_JOB_ID": "7"}},
        {"environment__memory_bytes": 2**33 - 4096},
        {"commit": "abc"},
    ],
)
def test_what_changes_from_day_to_day_does_not_matter(other: dict[str, Any]) -> None:
    assert sessions(day(0, 1000), changed(day(1, 1000), **other)) == [[2], [2]]


def test_only_cells_of_several_results_have_sessions() -> None:
    other = cell(size=1024)
    assert sessions(day(0, 1000, (CELL, other)), day(1, 1000, (other,))) == [[0, 2], [2]]


def test_a_break_within_a_result_parts_its_sessions() -> None:
    both, later = day(0, 1000), day(1, 1100)
    both.launches[:] = [*both.launches[:2], *at(both.launches[2:], 3 * DAY_S)]
    assert sessions(both, later) == [[3], [3]]
    assert sessions(both) == [[2]]


# ---- States --------------------------------------------------------------------------------------


def stated(number: int, course: Sequence[str]) -> Result:
    """A day of a machine that is near or far, message times with it."""
    times = {"near": 1000, "far": 4000}
    visits = in_states(
        (CELL,), [course for _ in LAUNCHES], lambda _, state, launch: [times[state] + launch + number] * 5
    )
    return result_of(campaign(CELL), *at(launches_of((CELL,), LAUNCHES), DAY_S * number), *visits)


def test_sessions_are_of_one_state() -> None:
    near, far, both = stated(0, ["near"] * 8), stated(1, ["far"] * 8), stated(2, ["near"] * 4 + ["far"] * 4)
    first, second, third = together(near, far, both)
    assert [row.state for row in third] == ["near", "far"]
    for mine, his, time_s in ((first[0], third[0], 1000e-9 / 2), (second[0], third[1], 4000e-9 / 2)):
        assert mine.sessions is his.sessions
        assert mine.sessions is not None
        assert mine.sessions.sessions == 2
        assert mine.sessions.time.estimate == pytest.approx(time_s, rel=0.01)
    assert sessions(near, far) == [[0], [0]]


def test_what_is_not_known_of_distances_is_not_held_against_a_session() -> None:
    unknown = day(3, 1000)
    near, far = (
        day(number, 1000, line_ns=[LINES_NS[name]] * 2)
        for number, name in enumerate(LINES_NS)
        if name != "mid"
    )
    assert sessions(near, unknown) == [[2], [2]]
    assert sessions(near, far, unknown) == [[0], [0], [0]]


def test_what_shares_a_time_is_linked_by_others_too() -> None:
    one, two, three = (OverSessions(Number(1, 1, 1, number), number) for number in range(3))
    assert linked([[one], [one, two], [None], [two], [three]]) == [[0, 1, 3], [4]]
    assert linked([[None], []]) == []


def known(*results: Result) -> list[MeasuredResult]:
    """Results with rows that know their sessions."""
    return [MeasuredResult(result, mine) for result, mine in zip(results, together(*results), strict=True)]


def test_what_distance_alone_keeps_apart_is_named() -> None:
    near, again, far = (
        day(number, 1000, line_ns=[line_ns] * 2) for number, line_ns in enumerate((40, 41, 245))
    )
    (fact,) = session_mismatches(known(near, again, far))
    assert (fact.first, fact.other, fact.of) == (0, 2, "line")
    assert (fact.first_s, fact.other_s) == pytest.approx((40e-9, 245e-9), rel=0.03)
    assert [(one.first, one.other) for one in session_mismatches(known(near, far, again))] == [(0, 1)]
    assert session_mismatches(known(near, again)) == []
    assert session_mismatches(known(near, day(5, 1000))) == []
    assert session_mismatches(known(near, changed(far, environment__host="node2"))) == []
    assert session_mismatches(known(near)) == []


def test_states_in_common_make_sessions_and_nothing_is_missing() -> None:
    assert session_mismatches(known(stated(0, ["near"] * 8), stated(2, ["near"] * 4 + ["far"] * 4))) == []
