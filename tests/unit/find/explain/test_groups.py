"""Groups at once: which of them is delayed most, if any is for certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.find.explain.groups import headline, sentence, togethers
from tests.made import collective
from tests.unit.find.explain.informative import told_of

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell


def in_groups(count: int, delays: dict[int, float]) -> dict[Cell, float]:
    """Times of groups of two ranks alone and at once; the first takes longer by itself."""
    times: dict[Cell, float] = {}
    for place in range(count):
        alone = collective(ranks=2 * count, group=f"{2 * place},{2 * place + 1}")
        times[alone] = 5000.0 if place == 0 else 1000.0
        times[replace(alone, groups=str(count))] = times[alone] * delays.get(place, 1.5)
    return times


@pytest.mark.thorough
def test_equal_groups_are_seldom_said_to_differ() -> None:
    """The largest and the smallest of eight are far apart by chance: half of all results had one."""
    wrong = 0
    for seed in range(30):
        (fact,) = togethers(told_of(in_groups(8, {}), noise=0.05, seed=seed))
        wrong += fact.at[0].most_delayed is not None
    assert wrong <= 4


def test_a_group_is_delayed_beside_itself_alone_whichever_takes_longest() -> None:
    evidence = told_of(in_groups(4, {2: 2.0}), noise=0.005)
    (fact,) = togethers(evidence)
    delayed = fact.at[0].most_delayed
    assert delayed is not None
    assert delayed.number == 3
    assert max(fact.at[0].groups, key=lambda one: one.time_s).number == 1
    assert headline(fact, ()).endswith("; group 3 is delayed most: 2.00 times")
    assert "; group 3 (ranks 4,5) is delayed most, 2.00 times its time alone" in sentence(fact, ())
