"""Ratios of two cells: narrow where launches share their luck, honest where they do not."""

from __future__ import annotations

import numpy as np
import pytest

from mpigauge.analysis.ratios import launch_times, ratio_of
from tests.made import cell, visit


def lucky(seed: int, count: int, centre: float, luck: float = 0.2) -> dict[int, float]:
    """Times of launches that differ."""
    random = np.random.default_rng(seed)
    return {number: centre * float(np.exp(random.normal(0, luck))) for number in range(1, count + 1)}


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
    assert (equal.low, equal.high) == (2.0, 2.0)
    assert ratio_of({}, {1: 1.0}, paired=True) is None
    assert ratio_of({1: 0.0}, {1: 1.0}, paired=False) is None
    assert ratio_of({1: 0.0}, {1: 1.0}, paired=True) is None


def test_times_of_launches_are_of_the_statistic_asked_for() -> None:
    of = cell(size=8)
    visits = [visit(1, 0, of, [200, 400, 600]), visit(3, 0, of, [20, 40, 60])]
    assert launch_times(visits) == pytest.approx({1: 200e-9, 3: 20e-9})
    assert launch_times(visits, "max") == pytest.approx({1: 300e-9, 3: 30e-9})
