"""The last line of a comparison: what it states of itself is what such comparisons do."""

from __future__ import annotations

import numpy as np
import pytest

from mpigauge.compare.comparison import PLANTED, rates_of
from mpigauge.stats.decision import Thresholds, verdicts
from mpigauge.stats.max_t import Paired
from tests.unit.compare.test_compare import launches

USUAL = Thresholds()
STATED, TRUE = 50, 200
WITHIN = 0.05
SURE = 2.5
"""Standard errors that a simulation of so many comparisons may be off by itself."""


def family(chance: np.random.Generator, count: int, spread: float, cells: int, planted: float) -> Paired:
    """Pairs of launches, every fourth cell slower by so much."""
    logs = launches(chance, count, spread, cells) - launches(chance, count, spread, cells)
    logs[:, ::4] += np.log1p(planted)
    return Paired(logs, np.zeros(cells))


def slower(one: Paired, planted: float) -> float:
    """The share of planted cells that are called slower; of none, whether any cell is."""
    words = verdicts(one, USUAL)
    return float(np.mean([word == "slower" for word in words[::4]]) if planted else "slower" in words)


@pytest.mark.truth
@pytest.mark.parametrize(("count", "spread", "cells"), [(10, 0.02, 20), (6, 0.02, 20), (10, 0.02, 4)])
def test_stated_rates_are_those_of_new_comparisons(count: int, spread: float, cells: int) -> None:
    """The mean of what comparisons of equals state, against 200 new ones in which as much is planted."""
    chance = np.random.default_rng(21)
    equals = [family(chance, count, spread, cells, 0.0) for _ in range(STATED)]
    stated = np.array([[rate.share for rate in rates_of([one], USUAL)] for one in equals])
    for said, planted in zip(stated.T, PLANTED, strict=True):
        new = [slower(family(chance, count, spread, cells, planted), planted) for _ in range(TRUE)]
        chance_alone = SURE * float(np.hypot(said.std() / np.sqrt(STATED), np.std(new) / np.sqrt(TRUE)))
        assert abs(said.mean() - np.mean(new)) <= WITHIN + chance_alone
    assert stated[:, 0].mean() <= WITHIN


def test_a_difference_that_there_is_does_not_change_what_is_stated() -> None:
    """Rates are of the launches without what they differ in."""
    one = family(np.random.default_rng(22), 10, 0.02, 8, 0.0)
    moved = Paired(one.differences + np.log1p(0.2), one.floor)
    assert rates_of([one], USUAL) == rates_of([moved], USUAL)
