"""Launches that differ: what was planted is found, and chance hardly ever."""

from __future__ import annotations

import math
from itertools import combinations, groupby
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.stats.launch_groups import PHASES_CHANCE, outliers, phases, two_kinds
from tests.unit.rows.planted import cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.percentiles import Values


def times(*effects: float) -> Values:
    """Launch medians around a microsecond."""
    found: Values = 1e-6 * np.exp(np.array(effects))
    return found


def test_two_kinds_of_launches_are_seen() -> None:
    generator = np.random.default_rng(22)
    effects = [0.0, 0.2, 0.0, 0.2, 0.2, 0.001, 0.199, 0.001]
    medians = np.array([np.median(np.concatenate(one)) for one in cell(generator, effects, rounds=500)])
    assert two_kinds(medians) == pytest.approx((1e-6, math.exp(0.2) * 1e-6), rel=0.01)


def test_a_launch_that_is_far_off_does_not_hide_two_kinds() -> None:
    near, far = [0.0, 0.001, 0.002, 0.001, 0.0], [0.06, 0.061, 0.06, 0.059, 0.061]
    found = two_kinds(times(*near, *far))
    assert found is not None
    with_another = two_kinds(times(*near, *far, 0.7))
    assert with_another == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize(
    "effects",
    [
        [0.0, 0.2, 0.0],
        [0.0, 0.001, 0.002, 0.003, 0.2],
        [0.0, 0.001, 0.0005, 0.012, 0.013, 0.0125],
        [0.0, 0.05, 0.1, 0.15, 0.2, 0.25],
        [0.0] * 6,
    ],
    ids=["too few", "one alone", "under 2 %", "evenly spread", "equal"],
)
def test_other_launches_are_of_one_kind(effects: list[float]) -> None:
    assert two_kinds(times(*effects)) is None


def test_what_a_step_of_the_clock_makes_is_no_kind() -> None:
    ticks = 1e-9 * np.array([480.0] * 5 + [490.0] * 5)
    assert two_kinds(ticks) is not None
    assert two_kinds(ticks, clock_step=10 / 485) is None


def test_one_launch_far_from_the_others_is_named_by_its_place() -> None:
    effects = [0.0, 0.01, -0.01, 0.005, 0.0, -0.004, 0.6, 0.003, -0.002, 0.001]
    assert outliers(times(*effects)) == (6,)
    assert outliers(times(*(-effect for effect in effects))) == (6,)
    assert outliers(times(*(effect / 20 for effect in effects))) == ()
    assert outliers(times(0.0, 0.0, 0.0, 0.6)) == ()


def test_more_than_a_quarter_are_not_outliers() -> None:
    assert outliers(times(*[0.0, 0.001, 0.002, 0.001] * 2, 0.5, 0.5, 0.5)) == ()


@pytest.mark.truth
@pytest.mark.parametrize("launches", [5, 8, 11, 14, 30])
@pytest.mark.parametrize("spread", [0.01, 0.1])
def test_chance_hardly_makes_kinds_or_outliers(launches: int, spread: float) -> None:
    generator = np.random.default_rng(launches)
    medians = np.exp(generator.normal(0, spread, (600, launches)))
    doubted = [bool(outliers(one)) or two_kinds(one) is not None for one in medians]
    # 1.5 % with the error of so few campaigns.
    assert np.mean(doubted) < 0.03


@given(st.lists(st.booleans(), min_size=4, max_size=9).filter(lambda slow: 2 <= sum(slow) <= len(slow) - 2))
def test_phases_are_what_few_of_all_orders_have(slow: list[bool]) -> None:
    """Held against every order that these launches could have."""

    def runs(order: Sequence[bool]) -> int:
        return len(list(groupby(order)))

    orders = {
        tuple(place in at for place in range(len(slow))) for at in combinations(range(len(slow)), sum(slow))
    }
    share = sum(runs(order) <= runs(slow) for order in orders) / len(orders)
    assert phases(slow) == (runs(slow) if share < PHASES_CHANCE else None)
