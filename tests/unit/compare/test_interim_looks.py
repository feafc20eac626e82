"""Looks at a comparison that is still being measured: whenever one stops it, the promise holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.compare.interim_looks import level_of, looks_of
from mpigauge.plan.model import Measure, Plan
from mpigauge.stats.decision import Thresholds, decide
from mpigauge.stats.max_t import LEVEL, MIN_PAIRS, Paired

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

CELLS = 12
PLAN = Plan((Measure("pingpong"),), until="decided", launches_max=30)


def campaign(chance: np.random.Generator, slower: float, spread: float) -> Values:
    common, own = chance.normal(size=(30, 1)), chance.normal(size=(30, CELLS))
    return np.asarray(np.log1p(slower) + spread * (common + own) / np.sqrt(2))


def stops(logs: Values, thresholds: Thresholds) -> tuple[int, str]:
    """After how many launches a campaign ends, and as what."""
    for number in looks_of(PLAN):
        cells = decide(Paired(logs[:number], np.zeros(CELLS)), thresholds)
        if any(one.verdict == "slower" for one in cells):
            return number, "slower"
        if all(one.verdict == "same" for one in cells):
            return number, "same"
    return number, "undecided"


def test_looks_are_fixed_and_end_with_the_last_launch() -> None:
    looks = looks_of(PLAN)
    assert looks[0] == MIN_PAIRS
    assert looks[-1] == 30
    assert list(looks) == sorted(set(looks))
    assert level_of(PLAN) == pytest.approx(LEVEL / len(looks))
    assert level_of(Plan((Measure("pingpong"),))) == LEVEL
    assert looks_of(Plan((Measure("pingpong"),), until="decided", launches_max=5)) == (5,)


@pytest.mark.truth
def test_equals_are_called_slower_at_some_look_as_seldom_as_at_one() -> None:
    """The hardest case: whatever exceeds what the instrument promises is slower, and nothing passes early."""
    chance = np.random.default_rng(1)
    hard, eager = Thresholds(margin=0.0, level=level_of(PLAN)), Thresholds(margin=0.0)
    trials = [campaign(chance, 0.01, 0.03) for _ in range(150)]
    alarms = sum(stops(logs, hard)[1] == "slower" for logs in trials)
    assert alarms <= 0.06 * len(trials)
    assert sum(stops(logs, eager)[1] == "slower" for logs in trials) > alarms


@pytest.mark.parametrize(("slower", "most"), [(0.10, 10), (0.05, 18)])
def test_clear_cases_take_few_launches(slower: float, most: int) -> None:
    chance = np.random.default_rng(2)
    usual = Thresholds(level=level_of(PLAN))
    ends = [stops(campaign(chance, slower, 0.02), usual) for _ in range(40)]
    assert sum(word == "slower" for _, word in ends) >= 36
    assert np.median([number for number, _ in ends]) <= most


def test_equals_pass_early() -> None:
    chance = np.random.default_rng(3)
    usual = Thresholds(level=level_of(PLAN))
    ends = [stops(campaign(chance, 0.0, 0.02), usual) for _ in range(40)]
    assert sum(word == "same" for _, word in ends) >= 36
    assert np.median([number for number, _ in ends]) <= 17
