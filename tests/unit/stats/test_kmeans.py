"""Groups of numbers on a line: no other borders leave less."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.stats.kmeans import best_split

repeatable = settings(derandomize=True, deadline=None, max_examples=60)
numbers = st.lists(st.integers(-50, 50).map(lambda tenths: tenths / 10), min_size=1, max_size=14)


def squares(parts: list[np.ndarray]) -> float:
    return float(sum(((part - part.mean()) ** 2).sum() for part in parts))


@repeatable
@given(numbers, st.sampled_from((2, 3)))
def test_no_other_borders_leave_less(values: list[float], number: int) -> None:
    ordered = np.sort(values)
    borders, within = best_split(np.array(values), number)
    if len(set(values)) < number:
        assert not borders
        return
    least = min(
        squares(np.split(ordered, breaks)) for breaks in combinations(range(1, len(values)), number - 1)
    )
    parts = np.split(ordered, np.searchsorted(ordered, borders))
    assert squares(parts) == pytest.approx(least, abs=1e-9)
    assert within * squares([ordered]) == pytest.approx(least, abs=1e-9)


@repeatable
@given(numbers, st.sampled_from((1, 2, 3)), st.floats(-1e6, 1e6))
def test_borders_move_with_the_values(values: list[float], number: int, distance: float) -> None:
    borders, _ = best_split(np.array(values), number)
    moved, _ = best_split(np.array(values) + distance, number)
    assert len(moved) == len(borders) == (number - 1 if len(set(values)) >= number else 0)
    assert borders == sorted(borders)


def test_what_lies_in_heaps_is_cut_between_them() -> None:
    generator = np.random.default_rng(1)
    heaps = [generator.normal(centre, 0.02, 3000) for centre in (3.7, 4.5, 5.5)]
    borders, within = best_split(np.concatenate(heaps), 3)
    assert 3.8 < borders[0] < 4.4
    assert 4.6 < borders[1] < 5.4
    assert within < 0.01


def test_a_hundred_thousand_visits_are_not_too_many() -> None:
    """Not a time: the number of comparisons grows as n log n, else this would take all memory there is."""
    values = np.random.default_rng(2).normal(size=200_000)
    borders, within = best_split(values, 3)
    assert -1 < borders[0] < 0 < borders[1] < 1
    # Of a normal distribution three groups leave 19 %.
    assert within == pytest.approx(0.19, abs=0.01)
