"""Runs of sizes that are slower together: found where they are, by chance no more often than promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.compare.comparison import compare
from mpigauge.compare.sentences import headline, notes
from mpigauge.compare.sides import pairs_by
from mpigauge.rows.rows import rows
from mpigauge.stats.decision import PooledRun, Thresholds, decide, pooled_runs
from mpigauge.stats.max_t import Paired
from tests.made import campaign, cell, launches_of, measured, result_of

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.stats.percentiles import Values

CELLS = 20
CURVES = [range(10), range(10, CELLS)]
SLOWER = slice(3, 8)


def family(logs: Values) -> Paired:
    return Paired(logs, np.zeros(CELLS))


def launches(chance: np.random.Generator, count: int = 10, slower: float = 0.0) -> Values:
    """Differences of launches that vary by 3 %, half of it in common."""
    common, own = chance.normal(size=(count, 1)), chance.normal(size=(count, CELLS))
    logs = 0.03 * (common + own) / np.sqrt(2)
    logs[:, SLOWER] += np.log1p(slower)
    return np.asarray(logs)


def found(logs: Values) -> list[PooledRun]:
    return pooled_runs(family(logs), CURVES, Thresholds())


@pytest.mark.truth
def test_equals_have_runs_as_seldom_as_promised() -> None:
    chance = np.random.default_rng(1)
    assert sum(bool(found(launches(chance))) for _ in range(150)) <= 0.03 * 150


@pytest.mark.truth
def test_what_no_size_shows_alone_a_run_of_them_may() -> None:
    """Five neighbours by 4 %: found together more often than all of them each by itself."""
    chance = np.random.default_rng(2)
    together = alone = 0
    for _ in range(60):
        logs = launches(chance, slower=0.04)
        runs = found(logs)
        together += any(set(run.cells) & set(range(3, 8)) for run in runs)
        assert all(min(run.cells) // 10 == max(run.cells) // 10 for run in runs)
        words = [one.verdict for one in decide(family(logs), Thresholds())]
        alone += words[SLOWER].count("slower") == 5
    assert together >= 0.3 * 60
    assert together > alone


def test_runs_end_where_the_difference_ends() -> None:
    chance = np.random.default_rng(3)
    logs = 0.002 * chance.normal(size=(10, CELLS))
    for at in (1, 2, 3, 4, 12, 13):
        logs[:, at] += 0.05
    assert [run.cells for run in found(logs)] == [(1, 2, 3, 4), (12, 13)]
    for run in found(logs):
        assert run.decision.verdict == "slower"
        assert run.decision.low < 1.052 < run.decision.high


def test_runs_end_at_sizes_that_reach_the_margin_by_themselves() -> None:
    """Neighbours of 1 % whose noise makes that of others less are not taken along."""
    chance = np.random.default_rng(6)
    logs = 0.002 * chance.normal(size=(10, CELLS))
    for at, by in {2: 0.11, 3: 0.01, 4: 0.08, 5: 0.01, 13: 0.08, 14: 0.08}.items():
        logs[:, at] += by
    logs[:, 4:6] += 0.03 * chance.normal(size=(10, 1)) * np.array([1, -1])
    assert [run.cells for run in found(logs)] == [(2, 3, 4), (13, 14)]


def test_few_launches_and_lone_sizes_are_no_run() -> None:
    chance = np.random.default_rng(4)
    logs = 0.002 * chance.normal(size=(10, CELLS))
    logs[:, 5] += 0.1
    assert found(logs) == []
    assert found(launches(chance, count=5, slower=0.5)) == []


def test_a_run_decides_and_is_said_though_not_every_size_of_it_does() -> None:
    cells = [cell(size=2**place, mpi=mpi) for mpi in ("mpich", "openmpi") for place in range(8)]
    chance = np.random.default_rng(8)

    def samples_ns(of: Cell, _: int) -> list[int]:
        slower = 1.06 if of.mpi == "openmpi" and 8 <= of.bytes <= 64 else 1.0
        return [round(1e6 * slower * np.exp(0.03 * chance.normal()))] * 5

    numbers = range(1, 13)
    result = result_of(campaign(*cells), *launches_of(cells, numbers), *measured(cells, numbers, samples_ns))
    shown = compare(pairs_by(rows(result), "mpi"), Thresholds())
    (one,) = shown.together
    assert {each.pair.base.cell.bytes for each in one.cells} <= {8, 16, 32, 64}
    assert any(each.verdict != "slower" for each in one.cells)
    assert shown.verdict == "slower"
    (said,) = [text for text in notes(shown) if text.startswith("slower together")]
    assert " times as long" in said


def test_where_a_run_alone_is_slower_the_headline_says_so() -> None:
    """With the same words as of single numbers: the status is the same."""
    cells = [
        cell(size=2**place, mode=mode) for mode in ("standard", "ready", "synchronous") for place in range(8)
    ]
    chance = np.random.default_rng(5)

    def samples_ns(of: Cell, _: int) -> list[int]:
        slower = 1.04 if of.mode == "ready" and of.bytes >= 4 else 1.0
        return [round(1e6 * slower * np.exp(0.035 * chance.normal()))] * 5

    numbers = range(1, 13)
    result = result_of(campaign(*cells), *launches_of(cells, numbers), *measured(cells, numbers, samples_ns))
    shown = compare(pairs_by(rows(result), "mode"), Thresholds())
    assert not any(one.verdict == "slower" for one in shown.cells)
    (one,) = shown.together
    sizes = len(one.cells)
    assert headline(shown, "slower").startswith(
        f"slower: {sizes} sizes together, none of 16 numbers alone; 0 f"
    )
    (said,) = [text for text in notes(shown, frozenset({"mode"})) if text.startswith("slower together")]
    assert said.startswith("slower together: pingpong ready 8 B to 128 B (5 sizes): ")
