"""Equals on a machine of two states, drawn anew for each launch: nothing is ever called slower by mistake."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from mpigauge.compare.comparison import Comparison, compare
from mpigauge.compare.sentences import verdict_of
from mpigauge.compare.sides import pairs_between, pairs_by
from mpigauge.rows.rows import Row, rows
from mpigauge.stats.decision import Thresholds
from tests.made import campaign, cell, in_states, launches_of, result_of

USUAL = Thresholds()
SIZES = (8, 512, 4096)
TIMES_NS = {"near": 10_000, "far": 40_000}
LAUNCHES = 10
SPREAD = 0.01


def result(chance: np.random.Generator, *libraries: str, near: float = 0.5) -> list[Row]:
    """Libraries in turn; each launch of either is near or far by itself, far four times as long.

    Args:
        near: The share of launches that are near.
    """
    known = [[cell(size=size, mpi=mpi) for size in SIZES] for mpi in libraries]
    visits = [
        one
        for mine in known
        for one in in_states(
            mine,
            [["near" if chance.random() < near else "far"] for _ in range(LAUNCHES)],
            lambda _, state, __: [round(TIMES_NS[state] * np.exp(SPREAD * chance.normal()))] * 5,
        )
    ]
    cells = [one for mine in known for one in mine]
    made = result_of(campaign(*cells), *launches_of(cells, range(1, LAUNCHES + 1)), *visits)
    return rows(made, choice="all")


def apart(chance: np.random.Generator) -> Comparison:
    """Two results of equals, of which one was mostly near and the other mostly far."""
    base, other = result(chance, "mpich", near=0.8), result(chance, "mpich", near=0.3)
    return compare(pairs_between(base, other), USUAL)


def test_two_results_are_held_against_each_other_state_by_state() -> None:
    shown = apart(np.random.default_rng(3))
    assert {one.pair.base.state for one in shown.cells} == {"near", "far"}
    assert all(one.pair.base.state == one.pair.other.state for one in shown.cells)
    assert shown.verdict == "undecided"


@pytest.mark.truth
def test_two_results_of_two_times_are_never_called_slower() -> None:
    """Though the mean of one is twice that of the other; and few differ by chance within a state."""
    chance = np.random.default_rng(1)
    verdicts, words = Counter[str](), Counter[str]()
    for _ in range(200):
        shown = apart(chance)
        verdicts[shown.verdict] += 1
        words.update(map(verdict_of, shown.cells))
    assert set(verdicts) == {"undecided"}
    assert not {"slower", "faster"} & {word.partition(",")[0] for word in words}
    assert words["longer"] + words["shorter"] <= 0.05 * words.total()


@pytest.mark.truth
def test_equals_in_turn_are_never_called_slower() -> None:
    chance = np.random.default_rng(2)
    verdicts: Counter[str] = Counter()
    for _ in range(300):
        shown = compare(pairs_by(result(chance, "mpich", "openmpi"), "mpi"), USUAL, controlled=False)
        verdicts[shown.verdict] += 1
    assert verdicts["slower"] == 0
    assert verdicts["same"] > 0.3 * verdicts.total(), "it is not that nothing can be said"
