"""Odd launches in contrasts: pulled in, left out, and no test made inexact by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mpigauge.stats.decision import Thresholds, decide
from mpigauge.stats.max_t import Paired, Unpaired
from mpigauge.stats.robust import median_of_known, odd, odd_most, winsorised

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

repeatable = settings(derandomize=True, deadline=None)
seeds = st.integers(0, 2**20)
CELLS = 20
SLOWER = slice(0, 6)


@repeatable
@given(seeds, st.integers(1, 12), st.integers(1, 4))
def test_the_median_of_what_is_known_is_that_of_numpy(seed: int, launches: int, cells: int) -> None:
    chance = np.random.default_rng(seed)
    values = chance.normal(size=(launches, cells))
    values[1:][chance.random((launches - 1, cells)) < 0.3] = np.nan
    assert np.array_equal(median_of_known(values), np.nanmedian(values, axis=0))
    assert median_of_known(np.full(launches, np.nan)).shape == ()


def pairs(chance: np.random.Generator, count: int, odd_share: float, slower: float = 0.10) -> Values:
    """Differences of launches that vary by 1 % on either side, of which some take half as long again."""
    sides = 0.01 * chance.normal(size=(2, count, CELLS))
    sides += np.log(1.5) * (chance.random((2, count, CELLS)) < odd_share)
    sides[1, :, SLOWER] += np.log1p(slower)
    return np.asarray(sides[1] - sides[0])


def words(logs: Values) -> list[str]:
    return [one.verdict for one in decide(Paired(logs, np.zeros(CELLS)), Thresholds())]


@pytest.mark.parametrize("count", [8, 10, 14])
def test_one_odd_launch_in_twenty_of_either_side_hides_no_difference(count: int) -> None:
    chance = np.random.default_rng(count)
    found = [words(pairs(chance, count, 0.05)) for _ in range(25)]
    assert sum(one[SLOWER].count("slower") for one in found) >= 0.85 * 25 * 6
    assert not any("slower" in one[6:] for one in found)


def test_equals_with_odd_launches_pass() -> None:
    chance = np.random.default_rng(1)
    passed = 0
    for _ in range(25):
        decided = decide(Paired(pairs(chance, 20, 0.05, 0.0), np.zeros(CELLS)), Thresholds())
        passed += all(one.passes(0.10) for one in decided)
    assert passed >= 0.8 * 25


def test_differences_of_both_signs_are_found_with_as_few_as_eight_pairs() -> None:
    """What the cut of a trimmed mean forgives would make nothing rare enough."""
    logs = 0.01 * np.random.default_rng(3).normal(size=(8, CELLS))
    logs[:, SLOWER] += 0.1
    logs[:, 6:10] -= 0.1
    assert words(logs)[:10] == ["slower"] * 6 + ["faster"] * 4


@repeatable
@given(seeds, st.integers(6, 30), st.floats(2, 1e6))
def test_how_far_an_odd_value_is_does_not_matter(seed: int, count: int, far: float) -> None:
    values = np.random.default_rng(seed).normal(size=count)
    one, other = values.copy(), values.copy()
    one[0], other[0] = 100.0, 100.0 * far
    assert winsorised(one) == pytest.approx(winsorised(other))


@repeatable
@given(seeds, st.integers(2, 5))
def test_of_few_values_none_is_odd(seed: int, count: int) -> None:
    values = np.random.default_rng(seed).normal(size=count)
    values[0] = 100.0
    assert np.array_equal(winsorised(values), values)


def test_of_values_that_are_mostly_equal_none_is_odd() -> None:
    values = np.array([1.0] * 9 + [1.1, 1.2])
    assert np.array_equal(winsorised(values), values)


@repeatable
@given(seeds, st.integers(6, 30), st.sampled_from([0.05, 0.006]))
def test_what_is_left_out_does_not_depend_on_signs(seed: int, count: int, level: float) -> None:
    chance = np.random.default_rng(seed)
    values = chance.standard_t(2, (count, 3))
    values[0, 1] = np.nan
    left_out = odd(values, level)
    signs = chance.choice([-1.0, 1.0], (count, 1))
    assert np.array_equal(odd(signs * values, level), left_out)
    assert left_out.sum(axis=0).max() <= odd_most(count, level)
    assert not left_out[0, 1]


def test_so_many_are_left_out_that_the_rarest_outcome_is_rare_enough() -> None:
    assert [odd_most(count, 0.05) for count in (6, 7, 8, 10, 12, 20)] == [0, 1, 2, 2, 3, 5]
    assert [odd_most(count, 0.05 / 8) for count in (8, 9, 10, 13)] == [0, 0, 1, 3]


@repeatable
@given(seeds, st.integers(2, 40))
def test_unpaired_it_is_the_test_of_yuen_and_welch(seed: int, count: int) -> None:
    chance = np.random.default_rng(seed)
    one, other = chance.normal(0, 0.05, (count, 1)), chance.normal(0.02, 0.01, (count, 1))
    family = Unpaired(one, other, np.zeros(1))
    right = stats.ttest_ind(other[:, 0], one[:, 0], equal_var=False, trim=(count // 10) / count)
    assert float(family.mean[0] / family.error[0]) == pytest.approx(float(right.statistic), rel=1e-6)
    assert float(family.freedom[0]) == pytest.approx(float(right.df), rel=1e-6)


@repeatable
@given(seeds, st.sampled_from([6, 9, 12, 14]))
def test_the_second_half_of_all_exchanges_is_the_first_one_turned_over(seed: int, count: int) -> None:
    logs = np.random.default_rng(seed).normal(0, 0.02, (count, 3))
    logs[0, 1] = np.nan
    t = Paired(logs, np.zeros(3)).t(0.0)
    half = len(t) // 2
    assert t[half:] == pytest.approx(-t[:half])
