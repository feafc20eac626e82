"""Intervals across launches: the step of the clock in them, and what a narrower one takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mpigauge.analysis.interval import (
    Interval,
    difference_interval,
    interval_of,
    interval_of_amounts,
    launches_needed,
    student,
)

repeatable = settings(derandomize=True, deadline=None)


@repeatable
@given(st.integers(2, 40), st.floats(1e-4, 0.5))
def test_an_interval_is_never_narrower_than_the_step_of_the_clock_allows(count: int, step: float) -> None:
    equal = np.full(count, 480e-9)
    found = interval_of(equal, step)
    assert found.half_width == pytest.approx(math.expm1(step / math.sqrt(12)))
    assert found.low is not None
    assert found.low < 480e-9 < (found.high or 0)


@pytest.mark.parametrize("step", [1e4, 1e28])
def test_a_clock_of_any_step_leaves_finite_intervals(step: float) -> None:
    """A file may claim such a one; what it says is that nothing is known."""
    found = interval_of(np.array([1e-6, 2e-6]), step)
    assert found.low is not None
    assert found.high is not None
    assert found.half_width is not None
    assert 0 < found.low < 1e-50
    assert 1e50 < found.high < math.inf
    assert math.isfinite(found.half_width)


def test_a_step_does_not_shrink_with_the_number_of_launches() -> None:
    few, many = (interval_of(np.full(count, 1e-6), 0.01).half_width for count in (5, 50))
    assert few == many


@pytest.mark.parametrize("count", range(6, 41))
def test_the_ends_lie_between_the_order_statistics_that_hold_just_less_and_just_more(count: int) -> None:
    ordered = np.exp(np.sort(np.random.default_rng(count).normal(0, 0.1, count)))
    _, low, high = interval_of(ordered)
    held = [1 - 2 * stats.binom.cdf(place, count, 0.5) for place in range(count // 2)]
    outer = max(place for place, share in enumerate(held) if share >= 0.95)
    assert low is not None
    assert high is not None
    assert ordered[outer] <= low <= ordered[outer + 1]
    assert ordered[-2 - outer] <= high <= ordered[-1 - outer]


def test_one_odd_launch_moves_nothing() -> None:
    times_s = np.array([1.00, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0, 1.0]) * 1e-6
    odd = times_s.copy()
    odd[3] *= 50
    assert interval_of(odd).centre == pytest.approx(1e-6, rel=0.01)
    assert (interval_of(odd).half_width or 1) < 0.03


def test_of_few_launches_there_is_the_range_or_students_t() -> None:
    five = np.array([5.0, 1.0, 3.0, 2.0, 4.0])
    assert interval_of(five) == pytest.approx((3, 1, 5))
    assert interval_of(five).half_width == pytest.approx(2)
    logs = np.log([1.0, 2.0, 4.0])
    centre, low, high = interval_of(np.array([1.0, 2.0, 4.0]))
    assert centre == pytest.approx(2)
    assert low is not None
    assert high is not None
    assert math.log(high / low) == pytest.approx(2 * 4.3027 * logs.std(ddof=1) / math.sqrt(3), rel=1e-4)
    assert interval_of(np.array([2.0])) == Interval(2.0)
    assert interval_of(np.array([0.0, 2.0, 3.0])) == Interval(2.0)


@repeatable
@given(st.lists(st.floats(1e-6, 1e3), min_size=2, max_size=30), st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter_and_a_rate_has_the_interval_of_its_time(
    values: list[float], factor: float
) -> None:
    times_s = np.array(values)
    centre, low, high = interval_of(times_s)
    assert low is not None
    assert high is not None
    other_unit, turned = interval_of(times_s * factor), interval_of(1 / times_s)
    assert other_unit == pytest.approx((centre * factor, low * factor, high * factor), rel=1e-6)
    assert turned == pytest.approx((1 / centre, 1 / high, 1 / low), rel=1e-6)


def test_amounts_may_be_negative_and_differences_are_winsorised() -> None:
    values = np.array([-1.0, 0.0, 1.0, 0.5, -0.5, 0.2, 90.0, -0.2, 0.1, 0.0])
    for found in (interval_of_amounts(values), difference_interval(values)):
        assert found.low is not None
        assert found.high is not None
        assert -2 < found.low < found.centre < found.high < 2


@pytest.mark.parametrize(("launches", "half_width", "right"), [(3, 0.10, 9), (5, 0.10, 29), (5, 0.05, 10)])
def test_the_launches_needed_have_a_t_quantile_of_their_own(
    launches: int, half_width: float, right: int
) -> None:
    needed, low, high = launches_needed(half_width, launches, 0.03)
    assert needed == right
    assert low is not None
    assert high is not None
    assert low < right < high


@repeatable
@given(st.integers(2, 30), st.floats(0.001, 2.0), st.floats(0.005, 0.2))
def test_so_many_launches_are_just_enough(launches: int, half_width: float, precision: float) -> None:
    needed = launches_needed(half_width, launches, precision)[0]
    deviation = math.log1p(half_width) * math.sqrt(launches) / student(launches - 1)

    def reach(count: int) -> float:
        return student(count - 1) * deviation / math.sqrt(count)

    if needed is None:
        assert reach(1000) > math.log1p(precision)
    else:
        assert reach(needed) <= math.log1p(precision) * (1 + 1e-9)
        assert needed == 2 or reach(needed - 1) > math.log1p(precision) * (1 - 1e-9)


def test_no_number_of_launches_is_finer_than_the_clock() -> None:
    assert launches_needed(0.2, 5, 0.01, clock_step=0.1) == (None, None, None)
