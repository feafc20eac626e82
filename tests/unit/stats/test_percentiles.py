"""Intervals by order statistics: coverage, and the ranks that tables and formulas give."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.stats.percentiles import deviation_of, median_interval
from tests.unit.rows.planted import lognormal

repeatable = settings(derandomize=True, deadline=None)


@pytest.mark.truth
@pytest.mark.parametrize("count", [6, 10, 70, 71, 5000])
def test_the_median_interval_covers_as_often_as_it_says(count: int) -> None:
    samples = lognormal(np.random.default_rng(count), (2000, count))
    intervals = np.array([median_interval(row) for row in samples])
    covered = np.mean((intervals[:, 0] <= 1e-6) & (intervals[:, 1] >= 1e-6))
    assert 0.94 <= covered <= 0.985


@pytest.mark.parametrize(("count", "low", "high"), [(6, 1, 6), (10, 2, 9), (20, 6, 15), (70, 27, 44)])
def test_small_counts_have_the_ranks_of_the_published_table(count: int, low: int, high: int) -> None:
    assert median_interval(np.arange(1.0, count + 1)) == (low, high)


@pytest.mark.parametrize("count", [1023, 1024, 1025, 10**4, 10**6])
def test_large_counts_have_the_ranks_of_the_normal_approximation(count: int) -> None:
    low, high = median_interval(np.arange(1.0, count + 1))
    assert low == pytest.approx((count - 1.96 * math.sqrt(count)) / 2, abs=1.5)
    assert low + high == count + 1


@repeatable
@given(st.integers(1, 2000), st.floats(0.5, 0.999))
def test_the_low_rank_is_the_largest_that_the_binomial_allows(count: int, level: float) -> None:
    low, high = median_interval(np.arange(1.0, count + 1), level)
    rank = 0 if math.isnan(low) else int(low)
    outcomes_below = sum(math.comb(count, successes) for successes in range(rank))
    assert rank == 0 or rank + high == count + 1
    # Exact integers, divided once: the tolerance is that of the incomplete beta function.
    assert outcomes_below / 2**count <= (1 - level) / 2 * (1 + 1e-9)
    assert (outcomes_below + math.comb(count, rank)) / 2**count >= (1 - level) / 2 * (1 - 1e-9)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_too_few_values_have_no_median_interval(count: int) -> None:
    assert all(math.isnan(end) for end in median_interval(np.arange(1.0, count + 1)))


@repeatable
@given(st.lists(st.floats(1e-9, 1e3), min_size=2, max_size=300))
def test_the_deviation_is_that_of_numpy_to_the_last_digit(values: list[float]) -> None:
    assert deviation_of(np.array(values)) == np.array(values).std(ddof=1)
