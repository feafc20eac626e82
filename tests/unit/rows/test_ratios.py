"""Ratios of two cells: narrow where launches share their luck, honest where they do not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.rows.ratios import below_from, ratio_of
from mpigauge.stats.decision import Ratio
from mpigauge.stats.interval import difference_interval, t_quantile

repeatable = settings(derandomize=True, deadline=None)


def lucky(seed: int, count: int, centre: float, luck: float = 0.2) -> dict[int, float]:
    """Times of launches that differ."""
    random = np.random.default_rng(seed)
    return {number: centre * float(np.exp(random.normal(0, luck))) for number in range(1, count + 1)}


def paired(over: dict[int, float], under: dict[int, float]) -> Ratio | None:
    """Of launches of one campaign."""
    return ratio_of(over, under, paired=True)


def test_what_launches_share_cancels() -> None:
    under = lucky(1, 5, 1e-6)
    over = {number: 2 * time_s for number, time_s in under.items()}
    ratio = ratio_of(over, under, paired=True)
    assert ratio is not None
    assert [ratio.estimate, ratio.low, ratio.high] == pytest.approx([2, 2, 2])
    assert ratio.launches == 5
    apart = ratio_of(over, under, paired=False)
    assert apart is not None
    assert apart.low is not None
    assert apart.low < 1.9


def test_intervals_of_what_shares_nothing_cover_the_truth() -> None:
    covered = 0
    for seed in range(400):
        ratio = ratio_of(lucky(2 * seed, 6, 3e-6), lucky(2 * seed + 1, 9, 1e-6, 0.4), paired=False)
        assert ratio is not None
        assert ratio.low is not None
        assert ratio.high is not None
        covered += ratio.low <= 3 <= ratio.high
    assert 0.92 < covered / 400 < 0.98


def test_the_ratio_turned_over_is_its_inverse() -> None:
    one, other = lucky(1, 4, 1e-6), lucky(2, 7, 5e-6)
    there, back = ratio_of(one, other, paired=False), ratio_of(other, one, paired=False)
    assert there is not None
    assert back is not None
    assert there.estimate == pytest.approx(1 / back.estimate)
    assert there.low == pytest.approx(1 / (back.high or 0))


def test_what_has_no_interval_or_no_ratio() -> None:
    alone = ratio_of({1: 2.0}, {2: 1.0, 3: 1.0}, paired=True)
    assert alone is not None
    assert (alone.estimate, alone.low, alone.high) == (2.0, None, None)
    equal = ratio_of({1: 2.0, 2: 2.0}, {1: 1.0, 2: 1.0}, paired=False)
    assert equal is not None
    assert (equal.low, equal.high) == pytest.approx((2.0, 2.0))
    assert ratio_of({}, {1: 1.0}, paired=True) is None
    assert ratio_of({1: 0.0}, {1: 1.0}, paired=False) is None
    assert ratio_of({1: 0.0}, {1: 1.0}, paired=True) is None


# ---- Paired -------------------------------------------------------------------------------------


def test_the_ratio_is_that_of_launches_that_have_both() -> None:
    over = {0: 2e-6, 1: 4.4e-6, 2: 1e-6, 3: 1e-6, 5: 9.0}
    under = {7: 9.0, 2: 0.5e-6, 1: 2e-6, 0: 1e-6, 3: 0.5e-6}
    logs = difference_interval(np.log([2.0, 2.2, 2.0, 2.0]))
    found = paired(over, under)
    assert found is not None
    assert (found.estimate, found.low, found.high) == pytest.approx(np.exp(np.array(logs.ends, dtype=float)))
    assert (found.launches, found.paired) == (4, True)


def test_few_launches_in_common_do_not_waste_the_others() -> None:
    generator = np.random.default_rng(3)
    over = {number: 1.09 if number == 1 else float(generator.normal(1, 0.01)) for number in range(1, 11)}
    under = {number: float(generator.normal(1, 0.01)) for number in (1, *range(11, 20))}
    found = paired(over, under)
    assert found == ratio_of(over, under, paired=False)
    assert found is not None
    assert not found.paired
    assert found.low is not None
    assert found.low < 1 < (found.high or 0)


def test_a_launch_that_was_started_again_makes_no_pair() -> None:
    over, under = lucky(1, 5, 2e-6), lucky(1, 5, 1e-6)
    found = ratio_of(over, under, paired=True, apart={2, 3})
    assert found == ratio_of(over, under, paired=False)


def test_the_step_of_the_clock_is_part_of_a_ratio() -> None:
    equal = dict.fromkeys(range(6), 1.0)
    for together in (True, False):
        found = ratio_of(equal, equal, paired=together, clock_step=0.02)
        assert found is not None
        assert found.high == pytest.approx(math.exp(t_quantile(5 if together else 10) * 0.02 / math.sqrt(12)))


def test_one_launch_has_no_interval() -> None:
    assert paired({3: 1.0}, {3: 1.0}) == Ratio(1.0, None, None, 1, paired=False)


@pytest.mark.parametrize("value", [0.0, -1e-6, math.nan, math.inf])
def test_what_has_no_logarithm_has_no_ratio(value: float) -> None:
    medians = {0: 1e-6, 1: 2e-6, 2: 1e-6}
    assert paired(medians, {0: 1e-6, 1: value, 2: 1e-6}) is None
    assert paired({0: 1e-6, 1: value, 2: 1e-6}, medians) is None


def test_nothing_has_no_ratio() -> None:
    assert paired({}, {}) is None
    assert paired({0: 1.0}, {}) is None


def test_what_a_launch_does_to_both_cancels() -> None:
    generator = np.random.default_rng(9)
    covered = 0
    for _ in range(400):
        launch_effects = np.exp(0.3 * generator.standard_normal(6))
        medians = [
            launch_effects * centre * np.exp(0.02 * generator.standard_normal(6)) for centre in (3e-6, 2e-6)
        ]
        over, under = (dict(enumerate(each.tolist())) for each in medians)
        found = paired(over, under)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        assert found.high / found.low < 1.3
        covered += found.low <= 1.5 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


# ---- Below a limit ------------------------------------------------------------------------------


@repeatable
@given(st.lists(st.tuples(st.integers(0, 8), st.sampled_from([0.5, 0.9, 1.0, 2.0, math.nan])), max_size=8))
def test_the_smallest_size_is_the_one_that_trying_all_gives(points: list[tuple[int, float]]) -> None:
    sizes, ratios = [size for size, _ in points], [ratio for _, ratio in points]
    fitting = [
        start
        for start in sorted(set(sizes) - {0})
        if all(ratio < 1.0 for size, ratio in points if size >= start)
    ]
    assert below_from(sizes, ratios, 1.0) == (fitting[0] if fitting else None)


def test_a_lucky_small_size_does_not_count() -> None:
    assert below_from([0, 1, 2, 4, 8, 16], [0.1, 0.1, 3.0, 0.9, 0.8, 0.7], 1.0) == 4
    assert below_from([1, 2, 4], [0.1, 0.1, 1.0], 1.0) is None
    assert below_from([0], [0.1], 1.0) is None
    assert below_from([], [], 1.0) is None


def test_each_size_needs_its_ratio() -> None:
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        below_from([1, 2], [0.5], 1.0)
