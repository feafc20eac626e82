"""Whether a comparison keeps its promises: errors on simulated launches, and what it must not depend on."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.compare.comparison import TRIALS, rates_of
from mpigauge.stats.decision import INSTRUMENT, Decision, Thresholds, decide
from mpigauge.stats.max_t import NO_PRIOR, Paired, Unpaired, moderated_each, p_values_beyond, prior_of

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

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


@pytest.mark.truth
@pytest.mark.parametrize("count", [5, 10])
@pytest.mark.parametrize("spread", [0.01, 0.02, 0.03])
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
    assert sum(cells[SLOWER].count("slower") for cells in trials) >= 0.9 * 50 * 6
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


@pytest.mark.truth
@pytest.mark.parametrize("count", [7, 10])
def test_at_the_edge_one_in_twenty_is_beyond_it(count: int) -> None:
    """Every cell differs by just what the instrument cannot promise: the permutations err in 5 %."""
    chance = np.random.default_rng(16)
    edge = float(np.log1p(INSTRUMENT))
    families = [Paired(differences(chance, count, 0.02) + edge, np.zeros(CELLS)) for _ in range(150)]
    assert sum(p_values_beyond(family, edge)[0].min() <= 0.05 for family in families) <= 13


def test_usual_variances_of_many_permutations_are_those_of_each() -> None:
    chance = np.random.default_rng(17)
    variances = 0.02**2 * chance.chisquare(5, (4, 12)) / 5
    variances[2] *= np.exp(chance.normal(size=12))
    freedom = np.full(12, 5.0)
    for alone, drawn in zip(variances, moderated_each(variances, freedom), strict=True):
        prior = prior_of(chance.normal(size=(6, 12)), alone, freedom)
        assert drawn == pytest.approx(prior.moderated(alone, freedom))


@pytest.mark.truth
@pytest.mark.parametrize("count", [7, 10])
def test_intervals_hold_for_all_cells_at_once(count: int) -> None:
    chance = np.random.default_rng(4)
    trials = [decided(differences(chance, count, 0.02)) for _ in range(100)]
    assert sum(all(one.low <= 1 <= one.high for one in cells) for cells in trials) >= 90


@pytest.mark.truth
def test_results_of_two_times_are_held_against_each_other() -> None:
    chance = np.random.default_rng(5)
    alarms = found = 0
    for _ in range(30):
        base, other = launches(chance, 10, 0.02), launches(chance, 8, 0.02)
        alarms += any(
            one.verdict == "slower" for one in decide(Unpaired(base, other, np.zeros(CELLS)), USUAL)
        )
        other[:, SLOWER] += np.log1p(0.15)
        verdicts = [one.verdict for one in decide(Unpaired(base, other, np.zeros(CELLS)), USUAL)]
        found += verdicts[SLOWER].count("slower")
    assert alarms <= 3
    assert found >= 0.8 * 30 * 6


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
        assert one.estimate == pytest.approx(1 / other.estimate)
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
            assert one.estimate >= 1 + USUAL.margin
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


def test_two_launches_do_not_tell_how_much_cells_share() -> None:
    residuals = launches(np.random.default_rng(5), 2, 0.02, cells=12)
    residuals -= residuals.mean(axis=0)
    prior = prior_of(residuals, residuals.var(axis=0, ddof=1), np.ones(12))
    assert prior.most == pytest.approx(1.0)
    assert (prior.freedom(np.ones(12)) == 1).all()


def test_cells_that_share_launches_count_by_the_squares_of_their_correlations() -> None:
    found = launches(np.random.default_rng(18), 6, 0.02, cells=40)
    prior = prior_of(found, found.var(axis=0, ddof=1), np.full(40, 5.0))
    correlations = np.asarray(np.corrcoef(found, rowvar=False))[~np.eye(40, dtype=bool)]
    shared = (float(np.square(correlations).mean()) - 1 / 5) / (1 - 1 / 5)
    assert prior.most == pytest.approx(5 * 40 / (1 + 39 * shared), rel=1e-9)


def test_many_cells_take_no_memory_for_each_pair_of_them() -> None:
    found = launches(np.random.default_rng(19), 6, 0.02, cells=2000)
    variances = found.var(axis=0, ddof=1)
    tracemalloc.start()
    prior_of(found, variances, np.full(2000, 5.0))
    most_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most_bytes < 2000**2


def test_cells_with_launches_enough_and_few_cells_stand_alone() -> None:
    chance = np.random.default_rng(9)
    for shape in ((12, 20), (5, 7)):
        residuals = chance.normal(size=shape)
        assert prior_of(residuals, residuals.var(axis=0), np.full(shape[1], shape[0] - 1.0)) is NO_PRIOR


def test_cells_that_share_everything_say_no_more_than_one() -> None:
    chance = np.random.default_rng(10)
    residuals = np.repeat(chance.normal(size=(6, 1)), 12, axis=1)
    prior = prior_of(residuals, residuals.var(axis=0, ddof=1) * np.linspace(1, 1.01, 12), np.full(12, 5.0))
    assert prior.most == pytest.approx(5, rel=0.05)


def test_cells_in_which_two_sides_are_the_same_correlate_with_none() -> None:
    """Of equal times rounding alone is left: no correlation, and no warning of numpy on the terminal."""
    chance = np.random.default_rng(11)
    residuals = chance.normal(size=(6, 20))
    residuals[:, ::2] = 1e-17
    variances, freedom = np.square(residuals).sum(axis=0) / 5, np.full(20, 5.0)
    assert 5 <= prior_of(residuals, variances, freedom).most <= 5 * 20
    rounding = np.full_like(residuals, 1e-17)
    assert prior_of(rounding, np.square(rounding).sum(axis=0) / 5, freedom).most == 5 * 20


# ---- Its own control -----------------------------------------------------------------------------


@pytest.mark.truth
def test_rates_are_those_of_the_launches() -> None:
    chance = np.random.default_rng(11)
    quiet, *found = rates_of([Paired(differences(chance, 10, 0.01), np.zeros(CELLS))], USUAL)
    assert (quiet.planted, quiet.of) == (0.0, TRIALS)
    assert quiet.times <= 2
    assert [rate.planted for rate in found] == [0.03, 0.05, 0.1]
    assert found[0].share <= found[1].share <= found[2].share
    assert found[2].share > 0.95
    *_, noisy = rates_of([Paired(differences(chance, 10, 0.2), np.zeros(CELLS))], USUAL)
    assert noisy.share < 0.2
