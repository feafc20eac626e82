"""Intervals across launches: the step of the clock in them, what a narrower one takes, what chance does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mpigauge.stats.interval import (
    Number,
    difference_interval,
    interval_of,
    interval_of_amounts,
    launches_needed,
    p_value_beyond,
    with_machine,
)

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

repeatable = settings(derandomize=True, deadline=None)


@repeatable
@given(st.integers(2, 40), st.floats(1e-4, 0.5))
def test_an_interval_is_never_narrower_than_the_step_of_the_clock_allows(count: int, step: float) -> None:
    found = interval_of(np.full(count, 480e-9), step)
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
    _, low, high = interval_of(ordered).ends
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
    assert interval_of(odd).estimate == pytest.approx(1e-6, rel=0.01)
    assert (interval_of(odd).half_width or 1) < 0.03


def test_of_few_launches_there_is_the_range_or_students_t() -> None:
    five = np.array([5.0, 1.0, 3.0, 2.0, 4.0])
    assert interval_of(five).ends == pytest.approx((3, 1, 5))
    assert interval_of(five).half_width == pytest.approx(math.sqrt(5) - 1)
    logs = np.log([1.0, 2.0, 4.0])
    centre, low, high = interval_of(np.array([1.0, 2.0, 4.0])).ends
    assert centre == pytest.approx(2)
    assert low is not None
    assert high is not None
    assert math.log(high / low) == pytest.approx(2 * 4.3027 * logs.std(ddof=1) / math.sqrt(3), rel=1e-4)
    assert interval_of(np.array([2.0])) == Number(2.0, launches=1)
    assert interval_of(np.array([0.0, 2.0, 3.0])) == Number(2.0, launches=3)


@repeatable
@given(st.lists(st.floats(1e-6, 1e3), min_size=2, max_size=30), st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter_and_a_rate_has_the_interval_of_its_time(
    values: list[float], factor: float
) -> None:
    times_s = np.array(values)
    centre, low, high = interval_of(times_s).ends
    assert low is not None
    assert high is not None
    other_unit, turned = interval_of(times_s * factor), interval_of(1 / times_s)
    assert other_unit.ends == pytest.approx((centre * factor, low * factor, high * factor), rel=1e-6)
    assert turned.ends == pytest.approx((1 / centre, 1 / high, 1 / low), rel=1e-6)


def test_the_half_width_is_half_the_length_and_an_uneven_interval_is_judged_by_its_longer_side() -> None:
    even, uneven = Number(1.0, 0.9, 1.25), Number(1.0, 0.98, 1.25)
    assert even.half_width == even.precision == pytest.approx(math.sqrt(1.25 / 0.9) - 1)
    assert not even.is_uneven
    assert uneven.half_width == pytest.approx(math.sqrt(1.25 / 0.98) - 1)
    assert uneven.is_uneven
    assert uneven.precision == pytest.approx(0.25)
    assert Number(1.0, 1.0, 1.25).is_uneven
    for known in (Number(1.0), Number(1.0, 1.0, 1.0), Number(1.0, 0.0, math.inf)):
        assert not known.is_uneven
        assert known.precision == known.half_width


def test_slow_change_of_the_machine_is_counted_once() -> None:
    """Each side is the longer one of that beside other speeds, and of that widened for serial correlation."""
    times_s = np.exp(np.random.default_rng(1).normal(0, 0.02, 12))
    alone, beside, widened, both = (
        interval_of(times_s, machine=machine, widening=widening)
        for machine, widening in ((0.0, 1.0), (0.03, 1.0), (0.0, 1.8), (0.03, 1.8))
    )
    for one, other in ((beside, alone), (widened, alone)):
        assert one.half_width is not None
        assert one.half_width > (other.half_width or math.inf)
    assert both.low == min(beside.low or 0, widened.low or 0)
    assert both.high == max(beside.high or 0, widened.high or 0)


@pytest.mark.parametrize("widening", [1.0, 1.5, 4.0])
def test_widened_sides_end_a_quarter_of_the_range_beyond_the_launches(widening: float) -> None:
    """One step of the machine is no reason to expect times that no launch has had."""
    logs = np.append(np.linspace(0, 0.01, 8), np.linspace(0.1, 0.11, 6))
    found, alone = interval_of(np.exp(logs), widening=widening), interval_of(np.exp(logs))
    least, most = -0.11 / 4, 0.11 + 0.11 / 4
    assert found.low is not None
    assert found.high is not None
    assert math.log(found.low) >= least - 1e-12
    assert math.log(found.high) <= most + 1e-12
    assert found.low <= (alone.low or 0)
    assert found.high >= (alone.high or 0)
    if widening > 2:
        assert math.log(found.high) == pytest.approx(most)
    # Of three launches, Student's t reaches farther than any of them: no side becomes shorter.
    few = np.array([1.0, 1.1, 1.2])
    assert interval_of(few, widening=widening) == interval_of(few)


def test_amounts_may_be_negative_and_differences_are_winsorised() -> None:
    values = np.array([-1.0, 0.0, 1.0, 0.5, -0.5, 0.2, 90.0, -0.2, 0.1, 0.0])
    for found in (interval_of_amounts(values), difference_interval(values)):
        assert found.low is not None
        assert found.high is not None
        assert -2 < found.low < found.estimate < found.high < 2


# ---- What a narrower one takes -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("launches", "half_width", "right"), [(3, 0.10, 11), (5, 0.10, 52), (10, 0.06, 39), (10, 0.03, 10)]
)
def test_a_half_width_falls_with_the_root_of_the_launches(
    launches: int, half_width: float, right: int
) -> None:
    needed, low, high = launches_needed(half_width, launches, 0.03)
    assert needed == right
    assert low is not None
    assert high is not None
    assert low < right < high


@repeatable
@given(st.integers(2, 30), st.floats(0.001, 2.0), st.floats(0.005, 0.2))
def test_more_precision_takes_more_launches_and_six_at_least(
    launches: int, half_width: float, precision: float
) -> None:
    needed, finer = (
        launches_needed(half_width, launches, asked)[0] or math.inf for asked in (precision, precision / 2)
    )
    assert 6 <= needed <= finer


@pytest.mark.parametrize("launches", [3, 6, 10, 20])
def test_so_many_launches_give_the_precision_asked_for(launches: int) -> None:
    """In the mean over what so many normal launches may show."""
    chance = np.random.default_rng(launches)

    def width(count: int) -> float:
        return float(
            np.mean([interval_of(np.exp(chance.normal(0, 0.05, count))).half_width for _ in range(2000)])
        )

    needed = launches_needed(width(launches), launches, 0.04)[0]
    assert needed is not None
    assert width(needed) == pytest.approx(0.04, rel=0.3 if launches < 5 else 0.12)


def test_no_number_of_launches_is_finer_than_the_clock() -> None:
    assert launches_needed(0.2, 5, 0.01, clock_step=0.1) == (None, None, None)


# ---- What chance does beyond a bound -------------------------------------------------------------

launch_times = st.lists(st.floats(0.5, 2.0), min_size=2, max_size=20).map(np.array)
parts = st.fixed_dictionaries(
    {
        "clock_step": st.sampled_from([0.0, 0.02]),
        "machine": st.sampled_from([0.0, 0.01]),
        "instrument": st.sampled_from([0.0, 0.01]),
        "widening": st.sampled_from([1.0, 1.7, 4.0]),
    }
)


@repeatable
@given(launch_times, st.floats(0.3, 3.0), parts)
def test_it_is_rare_exactly_where_the_interval_ends_before_the_bound(
    times: Values, bound: float, beside: dict[str, float]
) -> None:
    found = interval_of(times, **beside)
    for end, above in ((found.low, True), (found.high, False)):
        assert end is not None
        far = p_value_beyond(times, bound, above=above, **beside)
        if bound != pytest.approx(end):
            assert (far <= 0.025 + 1e-12) == (bound < end if above else bound > end)
        farther = p_value_beyond(times, bound * (0.99 if above else 1.01), above=above, **beside)
        assert 0.0 <= farther <= far + 1e-9


@repeatable
@given(launch_times, st.floats(0.3, 3.0), parts)
def test_what_is_above_a_bound_has_an_inverse_that_is_below(
    times: Values, bound: float, beside: dict[str, float]
) -> None:
    there = p_value_beyond(times, bound, above=True, **beside)
    assert p_value_beyond(1 / times, 1 / bound, above=False, **beside) == pytest.approx(there, abs=1e-6)


@pytest.mark.parametrize("odd", [0.0, 0.1], ids=["quiet", "odd"])
@pytest.mark.parametrize("launches", [5, 6, 8, 10, 20])
def test_chance_is_as_rare_as_it_says(launches: int, odd: float) -> None:
    """At the bound, the chance is at most a number as often as the number says: of 4000 sets of launches."""
    random = np.random.default_rng(launches)
    shape = (4000, launches)
    logs = random.normal(0, 0.02, shape) + 0.4 * (random.random(shape) < odd)
    # Odd launches move the median of all launches a little, which is the bound.
    bound = float(np.exp(np.median(np.append(logs.ravel(), random.normal(0, 0.02)))))
    found = np.array([p_value_beyond(np.exp(one), bound) for one in logs])
    for level in (0.2, 0.05, 0.025, 0.01, 0.001):
        allowed = level if launches > 5 else max(level, 0.5**5)
        assert (found <= level).mean() <= allowed + 3 * math.sqrt(level / len(found)) + 0.02 * allowed


def test_far_beyond_a_bound_it_is_rarer_than_the_order_of_launches_can_tell() -> None:
    """Of many numbers one must be able to fail by few launches."""
    quiet, coarse = (np.exp(np.array([-1.0, 0.3, 1.2, -0.4, 0.1, 0.8]) * sd) for sd in (0.01, 0.1))
    one_odd = quiet * [1, 1, 1, 1, 1.5, 1]
    assert 0.001 < p_value_beyond(coarse, 0.9) <= 0.5**6
    assert p_value_beyond(one_odd, 0.9) < 0.001
    assert p_value_beyond(quiet, 0.7) < 1e-6


@repeatable
@given(
    st.floats(1e-9, 1.0),
    st.floats(1.0, 10.0) | st.just(math.inf),
    st.floats(1.0, 10.0) | st.just(math.inf),
    st.floats(0.0, 0.5),
)
def test_the_machine_widens_each_side_of_any_interval(
    centre: float, down: float, up: float, machine: float
) -> None:
    """Also one that reaches to 0 or to no number, which it leaves there."""
    _, low, high = with_machine(Number(centre, centre / down, centre * up), machine).ends
    assert low is not None
    assert high is not None
    for side, found in ((down, low), (1 / up, high)):
        expected = math.hypot(math.log(side) if 0 < side < math.inf else math.inf, machine)
        assert abs(math.log(found / centre) if 0 < found < math.inf else math.inf) == pytest.approx(expected)


@repeatable
@given(st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=20), st.floats(0.0, 1.0))
def test_amounts_are_no_surer_than_the_machine(values: list[float], machine: float) -> None:
    for interval in (interval_of_amounts, difference_interval):
        centre, low, high = interval(np.array(values), machine=machine).ends
        assert low is not None
        assert high is not None
        assert min(centre - low, high - centre) >= machine * (1 - 1e-9) - 1e-12
