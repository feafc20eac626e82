"""Intervals across launches: the step of the clock in them, and what a narrower one takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.analysis.interval import launch_interval, launches_needed, student

repeatable = settings(derandomize=True, deadline=None)


@repeatable
@given(st.integers(2, 40), st.floats(1e-4, 0.5))
def test_an_interval_is_never_narrower_than_the_step_of_the_clock_allows(count: int, step: float) -> None:
    equal = np.full(count, 480e-9)
    _, low, high, half_width = launch_interval(equal, step)
    assert half_width == pytest.approx(math.expm1(step / math.sqrt(12)))
    assert low is not None
    assert low < 480e-9 < (high or 0)


@pytest.mark.parametrize("step", [1e4, 1e28])
def test_a_clock_of_any_step_leaves_finite_intervals(step: float) -> None:
    """A file may claim such a one; what it says is that nothing is known."""
    _, low, high, half_width = launch_interval(np.array([1e-6, 2e-6]), step)
    assert low is not None
    assert high is not None
    assert half_width is not None
    assert 0 < low < 1e-50
    assert 1e50 < high < math.inf
    assert math.isfinite(half_width)


def test_a_step_does_not_shrink_with_the_number_of_launches() -> None:
    few, many = (launch_interval(np.full(count, 1e-6), 0.01)[3] for count in (5, 50))
    assert few == many


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
