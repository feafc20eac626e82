"""What a comparison says that it can find: held against the whole decision on simulated launches."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from mpigauge.stats.decision import (
    MAX_LAUNCHES,
    POWER,
    TIMES_MARGIN,
    Thresholds,
    decide,
    verdicts,
)
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
from mpigauge.stats.max_t import Paired
from tests.unit.compare.test_compare import launches

USUAL = Thresholds()
TWICE = TIMES_MARGIN * USUAL.margin
TRIALS = 300


def family(chance: np.random.Generator, count: int, spread: float, cells: int, slower: float = 0.0) -> Paired:
    """Pairs of launches, of which the first cell is slower; two in three of their variance are of its own."""
    logs = launches(chance, count, spread, cells) - launches(chance, count, spread, cells)
    logs[:, 0] += np.log1p(slower)
    return Paired(logs, np.zeros(cells))


def found(count: int, spread: float, cells: int, slower: float, trials: int = TRIALS) -> float:
    """How often the first cell is called slower."""
    chance = np.random.default_rng((count, cells))
    families = (family(chance, count, spread, cells, slower) for _ in range(trials))
    return float(np.mean([verdicts(one, USUAL)[0] == "slower" for one in families]))


@lru_cache
def enough(spread: float, cells: int) -> int:
    """The fewest launches that find twice the margin in four of five."""
    low, high = LAUNCHES_OF_A_VERDICT, 150
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle, spread, cells, TWICE) >= POWER else (middle + 1, high)
    return low


@pytest.mark.truth
def test_launches_needed_find_twice_the_margin_in_nine_of_ten_plans() -> None:
    """Each plan is of a few launches, from which more are asked for; the whole decision judges these."""
    chance = np.random.default_rng(6)
    kept, plans = 0, 0
    for first, spread, cells in ((6, 0.06, 1), (10, 0.06, 1), (8, 0.04, 12)):
        for _ in range(70):
            needed = decide(family(chance, first, spread, cells), USUAL)[0].needed
            kept += needed is None or needed >= enough(spread, cells)
            plans += 1
    assert kept >= 0.9 * plans


@pytest.mark.truth
def test_a_difference_of_the_margin_is_found_in_half_however_many_launches_there_are() -> None:
    """Which is why launches are promised for twice as much."""
    assert 0.35 <= found(100, 0.02, 1, USUAL.margin) <= 0.65
    assert found(100, 0.02, 1, TWICE) > 0.95


@pytest.mark.truth
@pytest.mark.parametrize(("count", "spread", "cells"), [(10, 0.02, 1), (10, 0.03, 12), (20, 0.04, 4)])
def test_a_detectable_difference_is_found_in_four_of_five(count: int, spread: float, cells: int) -> None:
    """The mean over comparisons, each with the difference that it says of itself."""
    chance = np.random.default_rng(7)
    hits = 0
    for _ in range(TRIALS):
        said = decide(family(chance, count, spread, cells), USUAL)[0].missed
        hits += verdicts(family(chance, count, spread, cells, said), USUAL)[0] == "slower"
    assert 0.65 <= hits / TRIALS <= 0.9


def test_launches_do_not_help_against_the_clock() -> None:
    """Of what its steps hide no number of launches makes anything."""
    logs = 0.01 * np.random.default_rng(8).normal(size=(10, 2))
    fine, coarse = decide(Paired(logs, np.array([0.0, 0.03**2])), USUAL)
    assert fine.needed is not None
    assert coarse.needed is None
    assert coarse.missed > fine.missed


def test_more_spread_needs_more_and_there_is_an_end() -> None:
    logs = np.random.default_rng(9).normal(size=(10, 1))
    needed = [decide(Paired(spread * logs, np.zeros(1)), USUAL)[0].needed for spread in (0.01, 0.05, 0.1)]
    assert needed == sorted(needed, key=lambda one: one or MAX_LAUNCHES)
    assert needed[0] == LAUNCHES_OF_A_VERDICT
    assert decide(Paired(2.0 * logs, np.zeros(1)), USUAL)[0].needed is None
    assert decide(Paired(0.01 * logs, np.zeros(1)), Thresholds(margin=0.0))[0].needed is None
