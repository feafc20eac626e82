"""Odd sessions and drifts: one odd session of ten changes no verdict, and a drift is no step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mpigauge.compare.history.curves import HistoryCurve
from mpigauge.compare.history.history import History, judged_history
from mpigauge.compare.history.session import SessionResult
from mpigauge.stats.decision import Thresholds
from mpigauge.stats.prediction import odd_values
from mpigauge.stats.splits import MIN_SEGMENT, outliers_damped
from mpigauge.stats.splits import MIN_SESSIONS as CHANGES_FROM
from tests.made import campaign

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

CELLS = 6
SPREAD = 0.01
DAY_S = 86_400.0
COUNTS = st.integers(CHANGES_FROM, 30)
SEEDS = st.integers(0, 10**6)


def noise(seed: int, count: int, spread: float = SPREAD, cells: int = CELLS) -> Values:
    """Logarithms of equal sessions, half of whose variance is common to all numbers."""
    chance = np.random.default_rng(seed)
    own, common = chance.normal(size=(count, cells)), chance.normal(size=(count, 1))
    return np.asarray(spread * (own + common) / np.sqrt(2))


def history(logs: Values, controls: Values | None = None, settled: int | None = None) -> History:
    known = [(logs, False)] if controls is None else [(logs, False), (controls, True)]
    curves = [HistoryCurve(one, np.zeros(one.shape[1]), control=control) for one, control in known]
    sessions = [
        SessionResult(Path(f"{at}.jsonl"), campaign(), (at + 1) * DAY_S, True, {}, {}, (), {}, 0)
        for at in range(len(logs))
    ]
    return judged_history(sessions, curves, Thresholds(), settled)


def places(shown: History) -> list[tuple[int, bool]]:
    """Where the first track changes, and whether little by little."""
    return [(change.place, change.drifts) for change in shown.tracks[0].changes]


# ---- A change beside an odd session --------------------------------------------------------------


@pytest.mark.parametrize("odd", [3, 8, 12])
def test_one_odd_session_does_not_hide_a_change(odd: int) -> None:
    logs = noise(1, 16)
    logs[9:] += np.log(1.1)
    logs[odd] += np.log(1.4)
    shown = history(logs)
    assert shown.verdict == "slower"
    ((place, drifts),) = places(shown)
    assert (abs(place - 9) <= 1, drifts) == (True, False)
    change = shown.tracks[0].changes[0].cells[0]
    assert change.low < 1.1 < change.high < 1.2


def test_two_odd_sessions_of_sixteen_do_not_hide_a_change() -> None:
    for seed in range(4):
        logs = noise(seed, 16)
        logs[9:] += np.log(1.1)
        logs[[2, 6]] += np.log(1.4)
        shown = history(logs)
        assert shown.verdict == "slower"
        assert abs(places(shown)[0][0] - 9) <= 1


def test_an_odd_session_alone_changes_nothing() -> None:
    for seed in range(4):
        logs = noise(seed, 16)
        logs[3 + 3 * seed] += np.log(1.4)
        shown = history(logs)
        assert shown.verdict == "same"
        assert not places(shown)


def test_an_odd_session_hides_no_slower_one_from_a_baseline() -> None:
    logs = noise(2, 12)
    logs[6] += np.log(1.4)
    shown = history(logs, settled=11)
    assert not shown.tracks[0].outside
    logs[11] += np.log(1.1)
    shown = history(logs, settled=11)
    assert {one.verdict for one in shown.tracks[0].outside.values()} == {"slower"}
    assert len(shown.tracks[0].outside) == CELLS


@given(SEEDS, COUNTS, st.floats(2.0, 1e6))
def test_how_far_the_odd_one_is_makes_no_difference(seed: int, count: int, factor: float) -> None:
    logs = noise(seed, count)
    place = seed % count
    near, far = logs.copy(), logs.copy()
    near[place] += np.log(2.0)
    far[place] += np.log(factor)
    assert outliers_damped(near[None]) == pytest.approx(outliers_damped(far[None]), abs=1e-4)


@given(SEEDS, st.integers(2 * MIN_SEGMENT, 30), st.data())
def test_a_clear_step_of_three_sessions_or_more_stays_as_it_is(
    seed: int, count: int, data: st.DataObject
) -> None:
    place = data.draw(st.integers(MIN_SEGMENT, count - MIN_SEGMENT))
    logs = np.zeros((count, 1))
    logs[place:] = 1.0 + seed
    assert np.array_equal(outliers_damped(logs[None])[0], logs)


@given(SEEDS, COUNTS, st.data())
def test_sessions_without_a_time_are_around_nobody(seed: int, count: int, data: st.DataObject) -> None:
    gaps = data.draw(st.sets(st.integers(0, count + 4), min_size=5, max_size=5))
    there = [place for place in range(count + 5) if place not in gaps]
    logs = noise(seed, count)
    gappy = np.full((count + 5, CELLS), np.nan)
    gappy[there] = logs
    calm = outliers_damped(gappy[None])[0]
    assert np.array_equal(calm[there], outliers_damped(logs[None])[0])
    assert np.isnan(calm[sorted(gaps)]).all()


# ---- Which sessions are odd ----------------------------------------------------------------------


@given(SEEDS, st.integers(1, 40), st.integers(1, 8))
def test_at_most_one_in_five_is_odd_and_none_of_fewer_than_six(seed: int, count: int, odd: int) -> None:
    logs = noise(seed, count)
    logs[: min(odd, count)] += 1.0
    _, found = odd_values(logs, 0.0)
    assert (found.sum(axis=0) <= count // 5).all()
    assert count >= 6 or not found.any()


@given(SEEDS, st.integers(6, 40))
def test_what_is_far_from_all_others_is_odd(seed: int, count: int) -> None:
    logs = noise(seed, count)
    logs[0] += 1.0
    apart, found = odd_values(logs, 0.05)
    assume(np.abs(apart[1:]).max() <= 0.05)
    assert found[0].all()
    assert not found[1:].any()


def test_an_odd_session_is_named_once_with_all_its_numbers() -> None:
    logs = noise(3, 12)
    logs[4] += np.log(1.4)
    logs[4, 5] -= np.log(1.4)
    (odd,) = history(logs).odd_sessions
    assert (odd.path, odd.begun_s, odd.daily) == (Path("4.jsonl"), 5 * DAY_S, True)
    assert (len(odd.ratios), odd.of, odd.left_out) == (5, 6, 5)
    assert odd.ratio == pytest.approx(1.4, rel=0.03)
    assert not list(history(noise(3, 12)).odd_sessions)


def test_a_session_before_a_change_is_odd_among_those_before_it() -> None:
    logs = noise(4, 20)
    logs[10:] += np.log(1.4)
    logs[3] += np.log(1.4)
    shown = history(logs)
    assert [place for place, _ in places(shown)] == [10]
    (odd,) = shown.odd_sessions
    assert (odd.path, len(odd.ratios), odd.left_out) == (Path("3.jsonl"), 6, 0)


# ---- Drifts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("direction", [1, -1])
def test_a_drift_is_no_step(seed: int, direction: int) -> None:
    shown = history(noise(seed, 20) + direction * 0.005 * np.arange(20)[:, None])
    ((place, drifts),) = places(shown)
    assert (place <= 6, drifts) == (True, True)
    assert shown.verdict == ("slower" if direction > 0 else "faster")
    for cell in shown.tracks[0].changes[0].cells.values():
        assert cell.low < np.exp(direction * 0.005 * 19) < cell.high


def test_what_one_number_did_later_takes_no_change_from_the_others() -> None:
    """Steps of single numbers within a drift of all of them had taken the others' from it."""
    for seed in range(12):
        (drift,) = history(noise(seed, 20) + 0.005 * np.arange(20)[:, None]).tracks[0].changes
        assert len(drift.cells) == CELLS


def test_what_a_drift_lets_expect_is_what_its_end_was() -> None:
    """Held against all of it, each session of a drift stood apart, or nobody could tell."""
    words = []
    for seed in range(10):
        shown = history(noise(seed, 21) + 0.005 * np.arange(21)[:, None], settled=20)
        base = shown.tracks[0].base
        assert base is not None
        assert min(base.begins) >= 13
        words.append((bool(shown.blind), bool(shown.tracks[0].outside)))
    assert words.count((False, False)) >= 8


def test_a_drift_after_equal_sessions_begins_where_it_does() -> None:
    logs = noise(5, 30) + 0.01 * np.maximum(0, np.arange(30) - 12)[:, None]
    ((place, drifts),) = places(history(logs))
    assert (abs(place - 13) <= 2, drifts) == (True, True)


def test_two_steps_of_one_direction_are_no_drift() -> None:
    logs = noise(6, 30)
    logs[10:] += np.log(1.1)
    logs[20:] += np.log(1.1)
    shown = history(logs)
    assert places(shown) == [(10, False), (20, False)]
    for change in shown.tracks[0].changes:
        for cell in change.cells.values():
            assert cell.low < 1.1 < cell.high < 1.15


def test_what_a_cell_did_later_is_no_part_of_an_earlier_change() -> None:
    logs = noise(6, 30)
    logs[10:, :3] += np.log(1.1)
    logs[20:, 3:] += np.log(1.1)
    first, second = history(logs).tracks[0].changes
    assert (first.place, sorted(first.cells)) == (10, [0, 1, 2])
    assert (second.place, sorted(second.cells)) == (20, [3, 4, 5])


@settings(deadline=None)
@given(SEEDS, st.integers(1, 24), st.sets(st.integers(0, 23)))
def test_whatever_is_missing_there_are_sessions_before_and_since_a_change(
    seed: int, count: int, missing: set[int]
) -> None:
    logs = noise(seed, count, cells=3) + 0.02 * np.arange(count)[:, None]
    logs[seed % count :, 0] += 0.3
    logs[sorted(missing & set(range(count)))] = np.nan
    for change in history(logs).tracks[0].changes:
        assert np.isfinite(logs[: change.place]).any()
        assert np.isfinite(logs[change.place]).any()
        assert all(one.low <= one.estimate <= one.high for one in change.cells.values())


@pytest.mark.parametrize("seed", [1, 6, 10, 16])
def test_a_drift_begins_after_the_first_session_that_there_is(seed: int) -> None:
    logs = noise(seed, 22) + 0.01 * np.arange(22)[:, None]
    logs[:3] = np.nan
    ((place, drifts),) = places(history(logs))
    assert (3 < place <= 9, drifts) == (True, True)


def test_a_drift_of_the_machine_is_not_the_librarys() -> None:
    drift = 0.005 * np.arange(20)[:, None]
    assert history(noise(7, 20) + drift, noise(8, 20) + drift).verdict == "machine"


# ---- Few sessions --------------------------------------------------------------------------------


def test_a_clear_change_in_few_sessions_is_suspected_and_decides_nothing() -> None:
    for count, place in ((6, 3), (7, 3), (7, 4)):
        logs = noise(9, count)
        logs[place:] += np.log(1.5)
        shown = history(logs)
        assert shown.verdict == "undecided"
        step = shown.tracks[0].suspected
        assert step is not None
        assert (step.place, bool(step.changed.all())) == (place, True)
        assert history(noise(9, count)).tracks[0].suspected is None
    for count in (5, CHANGES_FROM):
        logs = noise(9, count)
        logs[3:] += np.log(1.5)
        assert history(logs).tracks[0].suspected is None


# ---- How often -----------------------------------------------------------------------------------


@pytest.mark.truth
def test_nine_of_ten_changes_are_found_beside_an_odd_session_and_none_without_a_change() -> None:
    found = wrong = 0
    for seed in range(32):
        odd = np.zeros((16, 1))
        odd[1 + seed % 14] = np.log(1.4)
        step = np.log(1.1) * (np.arange(16) >= 9)[:, None]
        found += any(abs(place - 9) <= 1 for place, _ in places(history(noise(seed, 16) + odd + step)))
        wrong += bool(places(history(noise(seed, 16) + odd)))
    assert found >= 29
    assert wrong == 0


@pytest.mark.truth
@pytest.mark.parametrize("count", [3, 6, 7, 10, 20])
@pytest.mark.parametrize("cells", [1, 20])
def test_equal_sessions_are_outside_in_one_of_twenty(count: int, cells: int) -> None:
    outside = 0
    for seed in range(200):
        # Without a margin that could hide it.
        logs = noise(seed, count + 1, 0.3, cells)
        last = history(logs, settled=0).tracks[0].last.values()
        outside += any(one.low > 1 or one.high < 1 for one in last)
    assert outside <= 18  # of 200: a rate of 5 % is exceeded by chance in 1 of 100 such tests
