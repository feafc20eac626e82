"""Marks of rows that share launches: chance brings hardly any to the screen, what is planted comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mpigauge.stats.beyond_chance import RowSet, chances
from mpigauge.stats.launch_groups import launch_marks, outliers, phases, two_kinds

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

ROWS, LAUNCHES = 60, 10
FAR, MIXED, PHASED = range(3)


def launches(generator: np.random.Generator, shared: float, spread: float = 0.03) -> Values:
    """Logarithms of launches whose rows have so much of their variance in common."""
    own = generator.normal(size=(ROWS, LAUNCHES))
    both = generator.normal(size=LAUNCHES)
    found: Values = spread * (np.sqrt(shared) * both + np.sqrt(1 - shared) * own)
    return found


def chance(values: Values, families: Any = None) -> Values:
    rows, launches = values.shape
    sets = [RowSet(np.arange(rows), np.arange(launches), values, np.zeros(rows))]
    each = np.ones((1, rows), dtype=bool) if families is None else families
    return chances(sets, launch_marks, each, centred=True)


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.8])
def test_marks_of_healthy_rows_are_no_rarer_than_chance(shared: float) -> None:
    """Of 20 results with three kinds of marks, none is rarer than 1 of 200."""
    generator = np.random.default_rng(4)
    found = [chance(launches(generator, shared)) for _ in range(20)]
    assert min(float(one.min()) for one in found) > 0.005


@pytest.mark.parametrize("shared", [0.0, 0.8])
@pytest.mark.parametrize(
    ("kind", "slow"), [(FAR, [6]), (MIXED, [0, 2, 4, 5, 7, 9]), (PHASED, [5, 6, 7, 8, 9])]
)
@pytest.mark.parametrize("rows", [20, ROWS])
def test_what_launches_did_to_rows_is_beyond_chance(
    shared: float, kind: int, slow: list[int], rows: int
) -> None:
    values = launches(np.random.default_rng(5), shared, spread=0.02)
    values[np.ix_(range(rows), slow)] += np.log(1.5)
    found = chance(values)[:, 0]
    assert found[kind] <= 0.005
    assert min(np.delete(found, kind)) > 0.005


def test_one_of_many_is_chance_and_one_of_few_is_not() -> None:
    """A number that a screen quotes is held against the others that it quotes."""
    values = launches(np.random.default_rng(6), 0.0, spread=0.02)
    values[3, 6] += np.log(1.35)
    few = np.zeros((2, ROWS), dtype=bool)
    few[0], few[1, :8] = True, True
    of_all, of_few = chance(values, few)[FAR]
    assert of_few < of_all
    assert of_few <= 0.005


def test_rows_without_some_launches_count() -> None:
    values = launches(np.random.default_rng(7), 0.5, spread=0.02)
    values[:, 6] += np.log(1.5)
    half = ROWS // 2
    sets = [
        RowSet(np.arange(half), np.arange(LAUNCHES), values[:half], np.zeros(half)),
        RowSet(np.arange(half, ROWS), np.arange(1, 8), values[half:, 1:8], np.zeros(half)),
    ]
    found = chances(sets, launch_marks, np.ones((1, ROWS), dtype=bool), centred=True)
    assert found[FAR, 0] <= 0.005


def test_marks_are_those_that_rows_have() -> None:
    generator = np.random.default_rng(8)
    values = np.concatenate([launches(generator, 0.0) for _ in range(20)])
    values[::3, 4] += 0.4
    values[1::3, ::2] += 0.3
    far, mixed, phased = launch_marks(values, np.zeros(len(values))) > 1
    for row, logs in enumerate(values):
        times = np.exp(logs)
        kinds = two_kinds(times)
        assert far[row] == bool(outliers(times))
        assert (mixed | phased)[row] == (kinds is not None)
        if kinds is not None and not far[row]:
            slow = [one >= float(np.sqrt(np.prod(kinds))) for one in times]
            assert phased[row] == (phases(slow) is not None)
