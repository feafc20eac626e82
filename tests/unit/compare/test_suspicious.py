"""Measuring suspicious cells again: verdicts from fresh launches keep their promise, those of all do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.compare.comparison import compare
from mpigauge.compare.sides import pairs_by
from mpigauge.compare.suspicious import (
    CHANCE,
    MAX_LAUNCHES,
    MIN_LAUNCHES,
    UNSUSPICIOUS,
    launches_for,
    p_values,
    suspicious,
)
from mpigauge.stats.decision import INSTRUMENT, Decision, Thresholds, decide
from mpigauge.stats.max_t import Paired
from tests.unit.compare.test_comparison import rows_with

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

CELLS = 24
CLASSICAL = Thresholds(margin=0.0)
"""Whatever exceeds what the instrument promises is a difference: the hardest case for false alarms."""


def launches(chance: np.random.Generator, slower: Values, count: int = 10, spread: float = 0.03) -> Values:
    common, own = chance.normal(size=(count, 1)), chance.normal(size=(count, len(slower)))
    return np.asarray(np.log1p(slower) + spread * (common + own) / np.sqrt(2))


def decided(logs: Values) -> list[Decision]:
    return decide(Paired(logs, np.zeros(logs.shape[1])), CLASSICAL)


def picked(first: Values) -> list[int]:
    family = Paired(first, np.zeros(first.shape[1]))
    return [place for place, p in enumerate(p_values(family)) if p < CHANCE]


def alarms(trials: int, *, pooled: bool) -> float:
    """How often anything is called slower if all cells are just at the bound of what may be."""
    chance = np.random.default_rng(7)
    truth = np.full(CELLS, INSTRUMENT)
    found = 0
    for _ in range(trials):
        first, fresh = launches(chance, truth), launches(chance, truth)
        mine = picked(first)
        logs = np.vstack([first, fresh]) if pooled else fresh
        found += bool(mine) and any(one.verdict == "slower" for one in decided(logs[:, mine]))
    return found / trials


@pytest.mark.truth
def test_fresh_launches_keep_the_promise_and_pooled_ones_would_not() -> None:
    fresh, pooled = alarms(200, pooled=False), alarms(200, pooled=True)
    assert fresh <= 0.06
    assert pooled > fresh


def test_what_is_slower_is_found_again() -> None:
    """Three of 24 by 10 %, at launches of 3 %."""
    chance = np.random.default_rng(8)
    truth = np.zeros(CELLS)
    truth[3:6] = 0.10
    found = 0
    for _ in range(60):
        mine = picked(launches(chance, truth))
        verdicts = dict(zip(mine, decided(launches(chance, truth)[:, mine]), strict=True))
        found += sum(place in verdicts and verdicts[place].verdict == "slower" for place in (3, 4, 5))
    assert found >= 0.6 * 60 * 3


@pytest.mark.truth
def test_it_picks_what_may_differ_and_a_few_others() -> None:
    sizes = [2**place for place in range(12)]
    times = {("mpich", size): 10_000.0 for size in sizes}
    times |= {("openmpi", size): 10_000.0 for size in sizes} | {("openmpi", 64): 10_300.0}
    shown = compare(pairs_by(rows_with(times), "mpi"), Thresholds())
    found = [pair.base.cell.bytes for pair in suspicious(shown)]
    assert 64 in found
    assert UNSUSPICIOUS < len(found) < len(sizes)
    assert found == [pair.base.cell.bytes for pair in suspicious(shown)]
    assert MIN_LAUNCHES <= launches_for(shown.cells) <= MAX_LAUNCHES


def test_what_could_not_be_judged_is_measured_again() -> None:
    few = rows_with({("mpich", 8): 1e4, ("openmpi", 8): 1e4}, launches=range(1, 4))
    shown = compare(pairs_by(few, "mpi"), Thresholds())
    assert len(suspicious(shown)) == 1
    assert launches_for(shown.cells) == MIN_LAUNCHES
