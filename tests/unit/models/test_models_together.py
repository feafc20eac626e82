"""Breaks of several curves: shared ones are found from all, and nothing is lent to a curve that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.models.model import Points, cuts_together, models_of
from mpigauge.stats.segments import cut
from tests.unit.models.planted_models import ONE_LINE, Machine, sizes_to

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES = sizes_to(2**20, 30)
LIMIT = 4000


def machine(jump: float, limit: int = LIMIT) -> Machine:
    """One line, longer by a factor above a limit."""
    segments = ((limit, 500e-9, 1 / 8e9), (np.inf, jump * 500e-9, jump / 8e9))
    return Machine(segments, common=0.0, own=0.02, sizes=SIZES)


def inner(curves: Sequence[Points]) -> list[list[int]]:
    return [list(one.edges[1:-1]) for one in cuts_together(curves)]


@pytest.mark.truth
def test_a_weak_break_that_two_share_is_found_more_often_than_by_each() -> None:
    chance, weak = np.random.default_rng(1), machine(1.15)
    together = alone = 0
    for _ in range(40):
        curves = [weak.campaign(chance, 1) for _ in range(2)]
        together += sum(one == weak.breaks for one in inner(curves))
        alone += sum(list(cut(one.sizes, one.logs).edges[1:-1]) == weak.breaks for one in curves)
    assert together > alone + 8


@pytest.mark.truth
def test_a_break_of_one_is_none_of_the_other() -> None:
    """In 1 % of campaigns at most; `benchmarks/models.py` makes many more."""
    chance, strong = np.random.default_rng(2), machine(1.3)
    line = Machine(ONE_LINE, common=0.0, own=0.02, sizes=SIZES)
    for _ in range(40):
        first, second = inner([strong.campaign(chance, 1), line.campaign(chance, 1)])
        assert first == strong.breaks
        assert second == []


def test_breaks_at_different_sizes_stay_where_they_are() -> None:
    chance, near, far = np.random.default_rng(3), machine(1.5), machine(1.5, 40_000)
    for _ in range(5):
        assert inner([near.campaign(chance, 1), far.campaign(chance, 1)]) == [near.breaks, far.breaks]


def test_a_probed_limit_of_one_is_kept_and_not_lent() -> None:
    chance, weak = np.random.default_rng(4), machine(1.15)
    line = Machine(ONE_LINE, common=0.0, own=0.02, sizes=SIZES)
    probed, other = weak.campaign(chance, 1, limits=(LIMIT,)), line.campaign(chance, 1)
    assert inner([probed, other]) == [probed.forced, []]


def test_curves_of_other_sizes_are_cut_by_themselves() -> None:
    chance, one = np.random.default_rng(5), machine(1.5)
    first, second = one.campaign(chance, 1), one.campaign(chance, 1)
    fewer = Points(second.sizes[1:], second.logs[1:], second.launches[:, 1:])
    alone = [cut(each.sizes, each.logs).edges for each in (first, fewer)]
    assert [each.edges for each in cuts_together([first, fewer])] == alone
    assert cuts_together([]) == []


def test_a_curve_with_too_few_sizes_has_no_model_and_hinders_no_other() -> None:
    one = machine(1.5).campaign(np.random.default_rng(6), 1)
    short = Points(one.sizes[:3], one.logs[:3], one.launches[:, :3])
    found = models_of([short, one])
    assert found[0] is None
    assert found[1] is not None
    assert list(found[1].cut.edges[1:-1]) == machine(1.5).breaks
