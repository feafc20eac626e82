"""The points of a model: what of a curve goes into it, and that their order does not matter."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.models.model import models_of, points_of
from mpigauge.rows.rows import Row, rows
from mpigauge.stats.interval import Number
from tests.made import campaign, cell, launches_of, measured, result_of

SIZES = (0, 8, 64, 512, 4096, 32768)
NUMBERS = range(1, 5)


def rows_of(*sizes: int) -> list[Row]:
    """Of a ping-pong of 100 ns and 1 GB/s, a little slower from launch to launch."""
    cells = [cell(size=size) for size in sizes]
    visits = measured(cells, NUMBERS, lambda of, number: [2 * (100 + of.bytes + number)] * 4)
    return rows(result_of(campaign(*cells), *launches_of(cells, NUMBERS), *visits))


@given(st.permutations(range(len(SIZES))))
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    found = rows_of(*SIZES)
    first, second = points_of(found), points_of([found[place] for place in order])
    assert (first.sizes == second.sizes).all()
    assert (first.logs == second.logs).all()
    assert (first.launches == second.launches).all()


def test_every_launch_has_its_time() -> None:
    points = points_of(rows_of(*SIZES))
    assert points.launches.shape == (len(NUMBERS), len(SIZES))
    assert points.launches.mean(axis=0) == pytest.approx(points.logs)
    assert np.exp(points.launches[1, 2]) == pytest.approx((100 + 64 + 2) * 1e-9)
    assert points.moved == pytest.approx(1)


def test_what_was_not_measured_is_left_out() -> None:
    cells = [cell(size=size) for size in SIZES]
    visits = measured(cells, NUMBERS, lambda of, _: [] if of.bytes == 64 else [2 * (100 + of.bytes)] * 4)
    found = rows(result_of(campaign(*cells), *launches_of(cells, NUMBERS), *visits))
    assert list(points_of(found).sizes) == [0, 8, 512, 4096, 32768]


@pytest.mark.parametrize(("limit", "forced"), [(8, [2]), (4040, [4]), (32768, []), (10**9, [])])
def test_a_limit_is_a_break_where_sizes_are_on_both_sides(limit: int, forced: list[int]) -> None:
    assert points_of(rows_of(*SIZES), [limit]).forced == forced


def test_three_sizes_have_no_model() -> None:
    assert models_of([points_of(rows_of(8, 64, 512))])[0] is None
    assert models_of([points_of(rows_of(8, 64, 512, 4096))])[0] is not None


@given(st.floats(1e-12, 1e12), st.floats(1.0, 10.0), st.integers(0, 100))
def test_the_inverse_has_its_ends_the_other_way_round(value: float, growth: float, seed: int) -> None:
    over = random.Random(seed).uniform(0.1, 10)
    inverse = Number(value, value / growth, value * growth).inverse(over)
    assert inverse.low is not None
    assert inverse.high is not None
    assert inverse.low <= inverse.estimate * (1 + 1e-9)
    assert inverse.estimate <= inverse.high * (1 + 1e-9)
    assert Number(0.0, 0.0, 1.0).inverse() == Number(np.inf, 1.0, np.inf)
