"""Whether a comparison keeps its promises: errors on simulated launches, and what it must not depend on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.analysis.compare.comparison import compare
from mpigauge.analysis.compare.control import TRIALS, rates_of
from mpigauge.analysis.compare.decision import LAUNCHES_LEAST, Decision, Thresholds, decide
from mpigauge.analysis.compare.max_t import Apart, Paired
from mpigauge.analysis.compare.moderated import NONE, prior_of
from mpigauge.analysis.compare.runs import runs_of
from mpigauge.analysis.compare.sides import pairs_between, pairs_by
from mpigauge.analysis.rows import rows
from mpigauge.show.document import Units
from mpigauge.show.formats import json
from mpigauge.show.tables.compare import document
from mpigauge.show.words.compare import headline, verdict_of
from tests.made import campaign, cell, in_states, launches_of, measured, result_of

if TYPE_CHECKING:
    from mpigauge.analysis.compare.comparison import Comparison
    from mpigauge.analysis.percentiles import Values
    from mpigauge.analysis.rows import Row

CELLS = 20
SLOWER = slice(5, 11)
USUAL = Thresholds()


def launches(chance: np.random.Generator, count: int, spread: float, cells: int = CELLS) -> Values:
    """Logarithms of times of launches; half of their variance is common to all cells."""
    common, own = chance.normal(size=(count, 1)), chance.normal(size=(count, cells))
    return np.asarray(spread * (common + own) / np.sqrt(2))


def differences(chance: np.random.Generator, count: int, spread: float, slower: float = 0.0) -> Values:
    found = launches(chance, count, spread) - launches(chance, count, spread)
    found[:, SLOWER] += np.log1p(slower)
    return found


def decided(logs: Values) -> list[Decision]:
    return decide(Paired(logs, np.zeros(logs.shape[1])), USUAL)


def words(logs: Values) -> list[str]:
    return [one.verdict for one in decided(logs)]


# ---- Errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "spread"), [(5, 0.01), (5, 0.02), (5, 0.03), (10, 0.02), (10, 0.03)])
def test_equals_pass_and_nothing_is_called_slower(count: int, spread: float) -> None:
    chance = np.random.default_rng(1)
    trials = [decided(differences(chance, count, spread)) for _ in range(100)]
    passed = sum(
        all(one.passes(USUAL.allow) and one.verdict != "slower" for one in cells) for cells in trials
    )
    alarms = sum(any(one.verdict == "slower" for one in cells) for cells in trials)
    assert passed >= 95
    assert alarms <= 5


def test_what_is_slower_is_found_and_its_neighbours_are_not_blamed() -> None:
    chance = np.random.default_rng(2)
    trials = [words(differences(chance, 10, 0.02, slower=0.05)) for _ in range(50)]
    assert sum("slower" in cells[SLOWER] for cells in trials) >= 45
    assert sum(cells[SLOWER].count("slower") for cells in trials) >= 0.7 * 50 * 6
    assert not any("slower" in cells[:5] + cells[11:] for cells in trials)


def test_heavy_tails_and_unlike_cells_raise_no_more_alarms() -> None:
    """Where no law is assumed: Student's t of 3, and spreads that differ tenfold."""
    chance = np.random.default_rng(3)
    alarms = 0
    for _ in range(60):
        spreads = np.exp(chance.normal(np.log(0.05), 0.8, CELLS))
        shared = chance.standard_t(3, (7, 1))
        alarms += "slower" in words(spreads * (shared + chance.standard_t(3, (7, CELLS))) / 2)
    assert alarms <= 6


def test_intervals_hold_for_all_cells_at_once() -> None:
    chance = np.random.default_rng(4)
    trials = [decided(differences(chance, 10, 0.02)) for _ in range(100)]
    assert sum(all(one.low <= 1 <= one.high for one in cells) for cells in trials) >= 90


def test_results_of_two_times_are_held_against_each_other() -> None:
    chance = np.random.default_rng(5)
    alarms = found = 0
    for _ in range(30):
        base, other = launches(chance, 10, 0.02), launches(chance, 8, 0.02)
        alarms += any(one.verdict == "slower" for one in decide(Apart(base, other, np.zeros(CELLS)), USUAL))
        other[:, SLOWER] += np.log1p(0.15)
        verdicts = [one.verdict for one in decide(Apart(base, other, np.zeros(CELLS)), USUAL)]
        found += verdicts[SLOWER].count("slower")
    assert alarms <= 3
    assert found >= 0.8 * 30 * 6


def test_launches_needed_find_it() -> None:
    """With as many launches as it asks for, the margin is found in four of five, cell by cell."""
    chance = np.random.default_rng(6)
    plans = powered = 0
    for _ in range(20):
        one = decided(0.03 * chance.normal(size=(6, 1)))[0]
        if one.needed is None or one.needed > 60:
            continue
        logs = np.log1p(USUAL.margin) + 0.03 * chance.normal(size=(one.needed, 200))
        t = logs.mean(axis=0) / (logs.std(axis=0, ddof=1) / np.sqrt(one.needed))
        plans += 1
        powered += float((t > 2.0).mean()) >= 0.75
    assert powered >= 0.8 * plans > 0


# ---- Laws ----------------------------------------------------------------------------------------

tables = (
    st.integers(6, 9)
    .flatmap(
        lambda count: st.lists(
            st.lists(st.floats(-0.3, 0.3), min_size=count, max_size=count), min_size=1, max_size=4
        )
    )
    .map(lambda columns: np.array(columns).T)
)


@given(tables)
def test_the_other_way_round_it_is_the_mirror_image(logs: Values) -> None:
    mirror = {"slower": "faster", "faster": "slower"}
    for one, other in zip(decided(logs), decided(-logs), strict=True):
        assert mirror.get(one.verdict, one.verdict) == other.verdict
        assert one.ratio == pytest.approx(1 / other.ratio)
        assert one.low == pytest.approx(1 / other.high)


@given(tables, st.randoms(use_true_random=False))
def test_neither_the_order_of_launches_nor_that_of_cells_matters(logs: Values, chance: Any) -> None:
    rows_, columns = list(range(len(logs))), list(range(logs.shape[1]))
    chance.shuffle(rows_)
    chance.shuffle(columns)
    moved = decided(logs[rows_][:, columns])
    for place, column in enumerate(columns):
        assert moved[place].p == pytest.approx(decided(logs)[column].p)
        assert moved[place].low == pytest.approx(decided(logs)[column].low, rel=1e-6)


@given(tables)
def test_words_and_intervals_agree(logs: Values) -> None:
    for one in decided(logs):
        if one.verdict == "slower":
            assert one.low > 1
            assert one.ratio >= 1 + USUAL.margin
            assert one.p <= 0.05
        if one.verdict == "same":
            assert one.bound <= 1 + USUAL.margin + 1e-9


def test_launches_that_were_all_alike_have_an_interval_of_the_clock() -> None:
    """What the steps of the clock hide does not go away with launches."""
    alike = np.zeros((20, 1))
    (blind,) = decide(Paired(alike, np.array([0.02**2])), USUAL)
    assert blind.verdict == "undecided"
    assert blind.high > 1.03


def test_cells_that_lack_launches_are_judged_by_those_that_they_have() -> None:
    chance = np.random.default_rng(7)
    logs = 0.01 * chance.normal(size=(10, 3))
    logs[:, 1] += np.log1p(0.2)
    logs[::4, 1] = np.nan
    one = decided(logs)
    assert [each.verdict for each in one] == ["same", "slower", "same"]
    assert one[1].launches == 7


# ---- Variances of few launches -------------------------------------------------------------------


def test_a_variance_that_is_small_by_luck_is_drawn_to_what_is_usual() -> None:
    chance = np.random.default_rng(8)
    residuals = 0.02 * chance.normal(size=(5, 20))
    variances = residuals.var(axis=0, ddof=1)
    variances[0] = 1e-9
    prior = prior_of(residuals, variances, np.full(20, 4.0))
    drawn = prior.moderated(variances, np.full(20, 4.0))
    assert drawn[0] > 1000 * variances[0]
    assert np.ptp(drawn) < np.ptp(variances)
    assert (prior.freedom(np.full(20, 4.0)) >= 4).all()


def test_cells_with_launches_enough_and_few_cells_stand_alone() -> None:
    chance = np.random.default_rng(9)
    for shape in ((12, 20), (5, 7)):
        residuals = chance.normal(size=shape)
        assert prior_of(residuals, residuals.var(axis=0), np.full(shape[1], shape[0] - 1.0)) is NONE


def test_cells_that_share_everything_say_no_more_than_one() -> None:
    chance = np.random.default_rng(10)
    residuals = np.repeat(chance.normal(size=(6, 1)), 12, axis=1)
    prior = prior_of(residuals, residuals.var(axis=0, ddof=1) * np.linspace(1, 1.01, 12), np.full(12, 5.0))
    assert prior.most == pytest.approx(5, rel=0.05)


# ---- Its own control -----------------------------------------------------------------------------


def test_rates_are_those_of_the_launches() -> None:
    chance = np.random.default_rng(11)
    quiet, *found = rates_of(Paired(differences(chance, 10, 0.01), np.zeros(CELLS)), USUAL)
    assert (quiet.planted, quiet.of) == (0.0, TRIALS)
    assert quiet.times <= 2
    assert [rate.planted for rate in found] == [0.03, 0.05, 0.1]
    assert found[0].share <= found[1].share <= found[2].share
    assert found[2].share > 0.95
    *_, noisy = rates_of(Paired(differences(chance, 10, 0.2), np.zeros(CELLS)), USUAL)
    assert noisy.share < 0.2


# ---- Whole comparisons ---------------------------------------------------------------------------

SIZES = (8, 64, 512, 4096)
NUMBERS = range(1, 11)


def rows_with(
    times_ns: dict[tuple[str, int], float], pattern: str = "pingpong", launches: range = NUMBERS
) -> list[Row]:
    """Rows of two libraries, by name and size; launches differ by 1 %, which both of them share."""
    cells = [cell(pattern, size=size, mpi=mpi) for mpi, size in times_ns]
    steady = np.random.default_rng(12).normal(1, 0.01, max(launches) + 1)
    own = np.random.default_rng(13)
    visits = measured(
        cells,
        launches,
        lambda of, number: [round(times_ns[of.mpi, of.bytes] * steady[number] * own.normal(1, 0.002))] * 5,
    )
    result = result_of(campaign(*cells), *launches_of(cells, launches), *visits)
    return rows(result)


def both(base: float, *others: float, pattern: str = "pingpong") -> list[Row]:
    """Two libraries; the second takes so long at each size, the first always the same."""
    times = {("mpich", size): base for size in SIZES[: len(others)]}
    return rows_with(
        {**times, **{("openmpi", size): time for size, time in zip(SIZES, others, strict=False)}}, pattern
    )


def judged(*found: list[Row]) -> Comparison:
    return compare([pair for one in found for pair in pairs_by(one, "mpi")], USUAL)


def test_the_slower_of_two_libraries_is_named_where_it_is() -> None:
    shown = judged(both(10_000, 10_000, 11_000, 11_500, 10_010))
    assert [one.verdict for one in shown.cells] == ["same", "slower", "slower", "same"]
    assert shown.verdict == "slower"
    assert shown.interleaved


def test_what_is_faster_passes_and_equals_pass() -> None:
    assert judged(both(10_000, 9_000, 10_000)).verdict == "faster"
    assert judged(both(10_000, 10_010, 10_000)).verdict == "same"


def test_a_control_that_moves_takes_all_verdicts_back() -> None:
    shown = judged(both(10_000, 11_000, 11_000), both(10_000, 11_000, pattern="memcpy"))
    assert shown.verdict == "machine"
    assert {one.verdict for one in shown.cells} == {"undecided"}
    assert [one.pair.base.cell.pattern for one in shown.moved] == ["memcpy"]
    assert judged(both(10_000, 11_000), both(10_000, 10_000, pattern="memcpy")).verdict == "slower"


def test_launches_of_other_times_never_say_slower() -> None:
    base, other = (rows_with({("mpich", size): time for size in SIZES}) for time in (10_000.0, 12_000.0))
    shown = compare(pairs_between(base, other), USUAL)
    assert shown.verdict == "undecided"
    assert not shown.interleaved
    assert all(one.decision is not None and one.decision.low > 1.1 for one in shown.cells)
    assert compare(pairs_between(base, base), USUAL).verdict == "undecided"


TIMES_NS = {"near": 1_000, "far": 5_000}


def of_two_states(course: list[list[str]], slower: float) -> Comparison:
    """Two libraries on a machine that is near or far; the second takes longer by a factor."""
    cells = [cell("pingpong", size=size, mpi=mpi) for mpi in ("mpich", "openmpi") for size in SIZES]
    own = np.random.default_rng(15)
    visits = in_states(
        cells,
        course,
        lambda of, state, _: (
            [round(TIMES_NS[state] * own.normal(1, 0.01) * (slower if of.mpi == "openmpi" else 1))] * 5
        ),
    )
    found = rows(
        result_of(campaign(*cells), *launches_of(cells, range(1, len(course) + 1)), *visits), choice="all"
    )
    assert {row.state for row in found} == {"near", "far"}
    return judged(found)


@pytest.mark.parametrize(
    "course",
    [
        [["near"], ["far"]] * 4,
        [["near", "near", "far", "far"]] * 8,
        [["near"] * 2 + ["far"] * 2, ["far"] * 4] * 4,
    ],
)
def test_launches_count_in_whatever_state_they_were(course: list[list[str]]) -> None:
    """Each of them once, by the states that both sides were in: one number per cell, not one per state."""
    equal, slower = of_two_states(course, 1.0), of_two_states(course, 1.1)
    assert (equal.verdict, slower.verdict) == ("same", "slower")
    for shown in (equal, slower):
        assert [one.pair.base.cell.bytes for one in shown.cells] == list(SIZES)
        assert {one.decision.launches for one in shown.cells if one.decision} == {len(course)}
    ratios = [one.decision.ratio for one in slower.cells if one.decision]
    assert ratios == pytest.approx([1.1] * len(SIZES), rel=0.01)


def test_few_launches_say_nothing() -> None:
    few = rows_with({("mpich", 8): 1e4, ("openmpi", 8): 2e4}, launches=range(1, LAUNCHES_LEAST))
    (one,) = judged(few).cells
    assert one.decision is None
    assert one.verdict == "undecided"
    assert judged(few).verdict == "undecided"


def test_two_results_may_differ_in_their_library_as_a_whole() -> None:
    base = rows_with({("mpich", 8): 1e4})
    other = rows_with({("openmpi", 8): 1e4, ("openmpi", 64): 1e4})
    (pair,) = pairs_between(base, other)
    assert pair.other.cell.mpi == "openmpi"
    assert not pairs_between(base, rows_with({("openmpi", 8): 1e4, ("intelmpi", 8): 1e4}))


def test_neighbouring_sizes_are_told_as_one() -> None:
    shown = judged(both(10_000, 11_000, 10_000, 11_500, 12_000))
    along = frozenset({"mpi", "mpi_version", "bytes", "window"})
    slower = [run for run in runs_of(shown.cells, along) if run.verdict == "slower"]
    assert [len(run.cells) for run in slower] == [3]
    assert slower[0].sizes == 4
    assert slower[0].worst.pair.base.cell.bytes == 4096
    gone = judged(both(10_000, 11_000, 10_000, 10_000, 12_000))
    assert [len(run.cells) for run in runs_of(gone.cells, along) if run.verdict == "slower"] == [1, 1]


def test_what_is_not_finite_is_null_for_programs() -> None:
    """Launches that differ by a factor of a million: no one can say what would be missed."""
    chance = np.random.default_rng(14)
    wild = {("mpich", 8): 1e4, ("openmpi", 8): 1e4}
    cells = [cell("pingpong", size=size, mpi=mpi) for mpi, size in wild]
    visits = measured(cells, NUMBERS, lambda *_: [round(10 ** chance.uniform(1, 17))] * 5)
    shown = judged(rows(result_of(campaign(*cells), *launches_of(cells, NUMBERS), *visits)))
    text = json.render(document(shown, shown.verdict, frozenset({"mpi"}), Units(), "one against another"))
    assert "Infinity" not in text
    assert "NaN" not in text
    assert shown.verdict == "undecided"


@pytest.mark.parametrize(
    ("kind", "verdict", "word"), [("crash", "slower", "lost"), ("", "undecided", "not measured")]
)
def test_a_cell_that_crashed_is_lost_and_one_without_time_is_not(kind: str, verdict: str, word: str) -> None:
    """What there was no time for says nothing of a library."""
    found = both(10_000, 10_000)
    base, other = found
    gone = replace(other, time=None, status="failed" if kind else "skipped")
    shown = judged([base, gone])
    (one,) = shown.cells
    assert (shown.verdict, verdict_of(one)) == (verdict, word)
    assert headline(shown, shown.verdict).startswith("lost: 1 of 1" if kind else "undecided")
