"""Whether a history keeps its promises: errors on simulated sessions, and what its words follow from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.compare.history.baseline import against
from mpigauge.compare.history.curves import HistoryCurve
from mpigauge.compare.history.history import MIN_SESSIONS, History, history_of, judged_history
from mpigauge.compare.history.sentences import lines_of, notes, verdict_of
from mpigauge.compare.history.session import SessionResult, in_time_order, of_other_machines, session_of
from mpigauge.rows.rows import rows
from mpigauge.stats.decision import Thresholds, decide
from mpigauge.stats.prediction import SessionFamily, SessionPrediction, odd_values, predict
from mpigauge.stats.splits import MIN_SEGMENT, SEGMENTS, largest_t, permuted_largest_t, steps, stretches
from mpigauge.stats.splits import MIN_SESSIONS as CHANGES_FROM
from mpigauge.stats.steps import steps_of
from tests.histories import result, slower_from, usual
from tests.made import campaign

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.stats.percentiles import Values
    from mpigauge.stats.splits import Search

CELLS = 20
MARGIN = 0.03
FLOOR = np.zeros(CELLS)


def sessions_like(chance: np.random.Generator, count: int, spread: float, cells: int = CELLS) -> Values:
    """Logarithms of times; half of the variance of a session is common to its cells."""
    common, own = chance.normal(size=(count, 1)), chance.normal(size=(count, cells))
    return np.asarray(spread * (common + own) / np.sqrt(2))


def stepped(logs: Values, place: int, by: float) -> Values:
    logs = logs.copy()
    logs[place:] += np.log1p(by)
    return logs


def places(logs: Sequence[Values], margin: float = MARGIN) -> list[list[int]]:
    found = steps_of(logs, [np.zeros(one.shape[1]) for one in logs], margin)
    return [[step.place for step in mine] for mine in found]


def empty(count: int) -> list[SessionResult]:
    """Sessions of which nothing is known but their curves."""
    return [
        SessionResult(Path(f"{at}.jsonl"), campaign(), at, True, {}, {}, (), {}, 0) for at in range(count)
    ]


def history(cells: Values, controls: Values) -> History:
    curves = [HistoryCurve(cells, FLOOR, control=False), HistoryCurve(controls, np.zeros(controls.shape[1]))]
    return judged_history(empty(len(cells)), curves, Thresholds())


# ---- Errors --------------------------------------------------------------------------------------


@pytest.mark.truth
@pytest.mark.parametrize(("spread", "margin"), [(0.01, 0.03), (0.03, 0.03), (0.02, 0.0)])
def test_of_histories_without_change_one_in_twenty_has_one(spread: float, margin: float) -> None:
    """Families of three curves; without a margin the error rate is that of the permutations alone."""
    chance = np.random.default_rng(1)
    alarms = 0
    for _ in range(60):
        common = spread * chance.normal(size=(12, 1))
        curves = [common + sessions_like(chance, 12, spread, 7) for _ in range(3)]
        alarms += any(places(curves, margin))
    assert alarms <= 6  # of 60: a rate of 5 % is exceeded by chance in 3 of 100 such tests


@pytest.mark.truth
def test_a_step_of_five_per_cent_is_found_where_it_is() -> None:
    chance = np.random.default_rng(2)
    found = [places([stepped(sessions_like(chance, 12, 0.01), 6, 0.05)])[0] for _ in range(40)]
    assert sum(any(abs(place - 6) <= 1 for place in mine) for mine in found) >= 36
    assert sum(len(mine) > 1 for mine in found) <= 4


@pytest.mark.truth
def test_a_late_change_of_one_curve_among_many_is_found_and_no_other() -> None:
    chance = np.random.default_rng(3)
    for _ in range(5):
        curves = [sessions_like(chance, 12, 0.01) for _ in range(8)]
        curves[3] = stepped(curves[3], 9, 0.10)
        assert places(curves) == [[9] if number == 3 else [] for number in range(8)]


@pytest.mark.truth
def test_cells_that_did_not_change_are_not_said_to() -> None:
    chance = np.random.default_rng(4)
    wrong = 0
    for _ in range(30):
        logs = sessions_like(chance, 12, 0.01)
        logs[7:, :5] += np.log1p(0.10)
        for step in steps_of([logs], [FLOOR], MARGIN)[0]:
            wrong += bool(step.changed[5:].any())
    assert wrong <= 3


def humped(logs: Values, begin: int, end: int, by: float) -> Values:
    return stepped(stepped(logs, begin, by), end, 1 / (1 + by) - 1)


@pytest.mark.truth
@pytest.mark.parametrize(("count", "begin", "end"), [(12, 4, 8), (16, 5, 8), (20, 8, 14)])
def test_what_came_and_went_again_is_found_where_it_was(count: int, begin: int, end: int) -> None:
    chance = np.random.default_rng(12)
    found = [places([humped(sessions_like(chance, count, 0.01), begin, end, 0.05)])[0] for _ in range(40)]
    near = [mine for mine in found if len(mine) == 2 and max(abs(np.subtract(mine, (begin, end)))) <= 1]
    assert len(near) >= 36


def test_a_search_for_one_change_does_not_see_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpigauge.stats.steps.STRETCHES_FROM", 1000)
    chance = np.random.default_rng(12)
    found = [places([humped(sessions_like(chance, 12, 0.01), 4, 8, 0.05)])[0] for _ in range(20)]
    assert not any(found)


@pytest.mark.truth
def test_of_histories_without_change_few_have_a_stretch() -> None:
    chance = np.random.default_rng(13)
    alarms = sum(any(places([sessions_like(chance, 20, 0.02)], 0.0)) for _ in range(60))
    assert alarms <= 6


@pytest.mark.truth
def test_a_stretch_of_one_curve_is_of_no_other_and_gaps_do_not_hide_it() -> None:
    chance = np.random.default_rng(14)
    curves = [sessions_like(chance, 16, 0.01) for _ in range(4)]
    curves[2] = humped(curves[2], 5, 10, 0.08)
    curves[2][[1, 7, 12], 3] = np.nan
    assert places(curves) == [[], [], [5, 10], []]


def test_whole_columns_have_the_same_largest_stretch_by_the_short_way() -> None:
    chance = np.random.default_rng(15)
    values, floor = chance.normal(size=(6, 14, 5)), np.full(5, 0.01)
    candidates = [np.abs(mean / error) for _, (mean, error, _) in stretches(values, floor)]
    assert largest_t(stretches, values, floor) == pytest.approx(
        np.concatenate(candidates, axis=1).max(axis=1)
    )


@pytest.mark.parametrize("search", [steps, stretches])
def test_cells_of_too_few_sessions_are_not_permuted_and_nothing_else_changes(
    search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = np.random.default_rng(16)
    values, floor = chance.normal(size=(14, 30)), np.full(30, 0.01)
    for cell in range(20):
        values[chance.permutation(14)[: 14 - MIN_SEGMENT], cell] = np.nan
    seen: list[int] = []

    def counted(search: Search, some: Values, floor: Values) -> Values:
        seen.append(some.shape[2])
        return largest_t(search, some, floor)

    monkeypatch.setattr("mpigauge.stats.splits.largest_t", counted)
    found = permuted_largest_t(search, values, floor)
    assert set(seen) == {10}
    monkeypatch.setitem(SEGMENTS, search, 0)
    assert np.array_equal(found, permuted_largest_t(search, values, floor))
    assert (found[:, :20] == 0).all()
    assert (found[:, 20:] > 0).all()


def test_two_changes_are_found_one_after_the_other() -> None:
    chance = np.random.default_rng(5)
    logs = stepped(stepped(sessions_like(chance, 30, 0.01), 10, 0.10), 20, 0.10)
    assert places([logs]) == [[10, 20]]


def test_few_sessions_have_no_changes_however_large() -> None:
    chance = np.random.default_rng(6)
    for count in range(2, CHANGES_FROM):
        assert places([stepped(sessions_like(chance, count, 0.001), count // 2, 5.0)]) == [[]]
    assert places([stepped(sessions_like(chance, CHANGES_FROM, 0.001), CHANGES_FROM // 2, 5.0)]) == [[4]]


@pytest.mark.truth
def test_the_machine_is_never_taken_for_a_library() -> None:
    chance = np.random.default_rng(7)
    for _ in range(30):
        common = 0.01 * chance.normal(size=(12, 1))
        cells = stepped(common + sessions_like(chance, 12, 0.005), 6, 0.06)
        controls = stepped(common + sessions_like(chance, 12, 0.005, 6), 6, 0.06)
        assert history(cells, controls).verdict == "machine"


@pytest.mark.truth
def test_a_change_that_controls_do_not_share_is_the_librarys() -> None:
    chance = np.random.default_rng(8)
    verdicts = [
        history(stepped(sessions_like(chance, 12, 0.01), 6, 0.06), sessions_like(chance, 12, 0.01, 6)).verdict
        for _ in range(20)
    ]
    assert verdicts.count("slower") >= 18
    faster = stepped(sessions_like(chance, 12, 0.005), 6, -0.10)
    assert history(faster, sessions_like(chance, 12, 0.005, 6)).verdict == "faster"


def test_what_became_slower_and_fast_again_is_not_slow() -> None:
    chance = np.random.default_rng(9)
    logs = stepped(stepped(sessions_like(chance, 30, 0.005), 8, 0.20), 22, 1 / 1.2 - 1)
    assert history(logs, sessions_like(chance, 30, 0.005, 6)).verdict == "faster"


# ---- The next session ----------------------------------------------------------------------------


def told(known: Values) -> SessionPrediction:
    """What sessions say of the next one, without the odd ones, however small their distance is."""
    return predict(known, np.zeros(known.shape[1]), odd_values(known, 0.0)[1])


@pytest.mark.truth
@pytest.mark.parametrize(("count", "cells"), [(3, 1), (5, 1), (12, 1), (5, 20), (8, 20)])
def test_the_next_session_is_where_it_was_expected(count: int, cells: int) -> None:
    """19 of 20, each cell by itself; with many cells of which variances are drawn together, too."""
    chance = np.random.default_rng(10)
    inside = total = 0
    for _ in range(400 if cells == 1 else 150):
        *known, now = sessions_like(chance, count + 1, 0.02, cells)
        low, high = told(np.array(known)).band()
        inside += int(((np.log(low) <= now) & (now <= np.log(high))).sum())
        total += cells
    assert 0.92 <= inside / total <= 0.98


def test_new_sessions_that_are_as_the_others_are_not_called_slower() -> None:
    chance = np.random.default_rng(11)
    alarms = found = 0
    for _ in range(100):
        *known, now = sessions_like(chance, 9, 0.02)
        base = [told(np.array(known))]
        alarms += any(one.verdict == "slower" for one in decide(SessionFamily(base, now), Thresholds()))
        slow = decide(SessionFamily(base, now + np.log1p(0.20)), Thresholds())
        found += any(one.verdict == "slower" for one in slow)
    assert alarms <= 5
    assert found >= 95


# ---- Whole sessions ------------------------------------------------------------------------------


def sessions(count: int, factor: Callable[[Cell, int], float] = usual, **more: Any) -> list[SessionResult]:
    made = [result(number, factor, **more) for number in range(count)]
    return [session_of(one, rows(one, choice="all")) for one in made]


def test_a_slower_library_is_named_with_its_version() -> None:
    made = [
        result(number, slower_from(7, 1.12, 1024), version="5.0.7" if number < 7 else "5.0.8")
        for number in range(12)
    ]
    shown = history_of([session_of(one, rows(one)) for one in made], Thresholds())
    assert shown.verdict == "slower"
    (track,) = shown.tracks
    (change,) = track.changes
    assert (change.before, change.place, change.machine) == (6, 7, False)
    assert sorted(change.cells) == [0, 1, 2, 3]
    assert all(one.low < 1.12 < one.high and one.low > 1 for one in change.cells.values())
    assert [(one.name, one.before, one.after) for one in change.switches] == [("openmpi", "5.0.7", "5.0.8")]


@pytest.mark.truth
def test_one_session_is_not_believed_and_few_say_nothing() -> None:
    assert history_of(sessions(9, slower_from(8, 1.2)), Thresholds()).verdict == "undecided"
    assert history_of(sessions(9, usual), Thresholds()).verdict == "same"
    few = history_of(sessions(MIN_SESSIONS - 1), Thresholds())
    assert (few.verdict, few.enough) == ("undecided", False)


def test_a_history_says_of_wide_sessions_what_its_headline_and_compare_say() -> None:
    """`may be slower` above, `no change` in every row and `controls did not move` contradicted each other."""

    def wide(_: Cell, day: int) -> float:
        return 1.3 if day % 3 else 1.0

    shown = history_of(sessions(5, wide), Thresholds())
    assert (shown.verdict, shown.blind > 0) == ("undecided", True)
    words = {
        verdict_of(line): [*line.cells] for track in shown.tracks for line in lines_of(track) if track.last
    }
    assert "no change" not in words
    assert "may be slower" in words or "may have changed" in words
    below = [*notes(shown, [])]
    assert any(line.startswith("controls undecided, they may have moved: ") for line in below)
    assert not any("did not move" in line for line in below)
    still = history_of(sessions(12), Thresholds())
    assert {verdict_of(line) for track in still.tracks for line in lines_of(track)} == {"no change"}
    assert any("controls did not move" in line for line in notes(still, []))


def test_sessions_are_held_against_those_of_their_condition() -> None:
    """Ranks that were near and far in turn are two curves; that they are now far is the machine's."""
    far = {number for number in range(12) if number >= 6}
    made = [
        result(
            number,
            lambda _, day: 2.0 if day in far else 1.0,
            line_ns=[245.0, 245.0] if number in far else [40.0, 40.0],
        )
        for number in range(12)
    ]
    shown = history_of([session_of(one, rows(one)) for one in made], Thresholds())
    assert [len(track.curve.sessions) for track in shown.tracks] == [6, 6]
    assert shown.verdict == "machine"
    assert [track.curve.sign for track in shown.controls if track.changes] == ["line"]


def test_a_slower_network_is_slower_and_no_other_machine() -> None:
    """It was two curves, of which either was not measured on one side, and a sign that took verdicts back."""

    def of_day(day: int, by: float) -> SessionResult:
        made = result(day, slower_from(0, by), line_ns=[], path_ns=[50_000.0 * by, 50_000.0 * by])
        return session_of(made, rows(made))

    shown = history_of([of_day(day, 1.0 if day < 7 else 1.3) for day in range(12)], Thresholds())
    assert shown.verdict == "slower"
    assert [len(track.curve.sessions) for track in shown.tracks] == [12]
    found = against([of_day(day, 1.0) for day in range(8)], of_day(8, 1.3), Thresholds()).shown
    assert found.verdict == "slower"
    assert {one.verdict for one in found.cells} == {"slower"}


def test_copies_and_other_machines_are_told_apart() -> None:
    one, two, three = sessions(3)
    again = sessions(1)[0]
    known, copies = in_time_order([three, two, one, again])
    assert ([*map(id, known)], len(copies)) == ([id(one), id(two), id(three)], 1)
    assert of_other_machines(one, known) == []
    made = result(5, usual)
    made.campaign = replace(made.campaign, environment=replace(made.campaign.environment, host="elsewhere"))
    stranger = session_of(made, rows(made))
    assert of_other_machines(one, [two, stranger]) == [(stranger, ["host node1, elsewhere"])]


# ---- A baseline ----------------------------------------------------------------------------------


def verdict(base: Sequence[SessionResult], factor: Callable[[Cell, int], float]) -> str:
    new = result(40, factor)
    return against(base, session_of(new, rows(new)), Thresholds()).shown.verdict


def test_a_result_is_judged_by_how_far_sessions_are_apart() -> None:
    base = sessions(8)
    assert verdict(base, usual) == "same"
    assert verdict(base, slower_from(0, 1.12)) == "slower"
    assert verdict(base, slower_from(0, 0.88)) == "faster"
    assert verdict(base, slower_from(0, 1.12, patterns=("pingpong", "memcpy"))) == "machine"
    assert verdict(base[:2], slower_from(0, 1.12)) == "undecided"
    assert verdict(sessions(8, spread=0.2), slower_from(0, 1.12)) == "undecided"


def test_a_baseline_begins_with_its_last_change() -> None:
    base = sessions(12, slower_from(6, 1.3))
    assert verdict(base, slower_from(0, 1.3)) == "same"
    assert verdict(base, slower_from(0, 1.45)) == "slower"
    assert verdict(base, usual) == "faster"
