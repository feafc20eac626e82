"""Segments: the best cut of all, breaks and parameters found again, and what they must not depend on."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from mpigauge.stats.lines import fit_lines, huber
from mpigauge.stats.segments import POINTS_BETWEEN_JUMPS, best_cuts, chosen_count, cut, grid_of
from tests.unit.models.planted_models import ONE_LINE, Machine, sizes_to

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

SCALE = 0.02


def exhaustive(square: Values, count: int, forced: list[int], segments: int) -> tuple[float, tuple[int, ...]]:
    """The cheapest of all cuts into so many segments, each tried."""
    walls = [0, *forced, count]

    def cost(edges: tuple[int, ...]) -> float:
        return float(sum(square[begin, end] for begin, end in pairwise(edges)))

    cuts = [(0, *inner, count) for inner in combinations(range(1, count), segments - 1)]
    allowed = [edges for edges in cuts if set(walls) <= set(edges)]
    best = min(allowed, key=cost)
    return cost(best), best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("forced", [[], [6], [3, 9]])
def test_it_is_the_best_of_all_cuts(seed: int, forced: list[int]) -> None:
    chance = np.random.default_rng(seed)
    sizes = sizes_to(2**20, 14)[:13]
    logs = np.cumsum(chance.normal(0.3, 0.4, sizes.size)) - 14
    grid = grid_of(sizes.size, forced)
    square = grid.square(fit_lines(sizes, logs, grid.inside, SCALE).cost)
    costs, edges = best_cuts(square[None])
    counts = [count for count in range(1, 4) if np.isfinite(costs[0, count - 1])]
    assert counts
    for count in counts:
        cost, best = exhaustive(square, sizes.size, forced, count)
        assert costs[0, count - 1] == pytest.approx(cost)
        assert tuple(edges[count - 1][0]) == best


def test_the_number_is_that_of_the_criterion() -> None:
    """Each number tried by hand, with the penalty written out."""
    chance = np.random.default_rng(11)
    points = Machine(sizes=sizes_to(2**22, 20)).campaign(chance)
    count = points.sizes.size
    grid = grid_of(count)
    square = grid.square(fit_lines(points.sizes, points.logs, grid.inside, SCALE).cost)
    costs, edges = best_cuts(square[None])
    found = int(chosen_count(costs, edges, grid)[0]) + 1

    def criterion(segments: int) -> float:
        cost = exhaustive(square, count, [], segments)[0]
        return float(count * np.log(cost / count + 0.005**2) + (5 * segments - 2) * np.log(count))

    best = min(range(1, 5), key=criterion)
    assert found <= best
    assert criterion(found) <= criterion(best) + 2


@pytest.mark.parametrize("seed", range(4))
def test_no_other_line_is_better(seed: int) -> None:
    chance = np.random.default_rng(seed)
    sizes = sizes_to(2**20, 12)
    logs = np.log(1e-6 + 1e-9 * sizes) + 0.05 * chance.normal(size=sizes.size)
    logs[5] += 0.4
    found = fit_lines(sizes, logs, np.ones((1, sizes.size)), SCALE)

    def cost(parameters: Values) -> float:
        alpha, beta = np.exp(parameters)
        return float(huber(logs - np.log(alpha + beta * sizes), SCALE).sum())

    start = np.log([1.1e-6, 0.9e-9])
    other = minimize(
        cost, start, method="Nelder-Mead", options={"maxiter": 2000, "xatol": 1e-9, "fatol": 1e-12}
    )
    assert found.cost[0] <= other.fun * 1.001


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 1e-9), (1e-6, 0.0)])
def test_corners_are_found(alpha: float, beta: float) -> None:
    """Neither a latency nor a slope may be negative."""
    sizes = sizes_to(2**20, 12)
    logs = np.log(alpha + beta * sizes) - 1e-3 * np.arange(sizes.size) * (1 if beta == 0 else 0)
    found = fit_lines(sizes, logs, np.ones((1, sizes.size)), SCALE)
    assert found.alpha[0] == pytest.approx(alpha, rel=0.02, abs=1e-10)
    assert found.beta[0] == pytest.approx(beta, rel=0.02, abs=1e-15)


# ---- Breaks --------------------------------------------------------------------------------------


@pytest.mark.truth
@pytest.mark.parametrize("spread", [0.01, 0.03])
def test_one_line_has_no_break(spread: float) -> None:
    """None in a hundred campaigns; `benchmarks/models.py` makes many more."""
    chance = np.random.default_rng(1)
    machine = Machine(segments=ONE_LINE, own=spread * 10**0.5, sizes=sizes_to(2**23, 24))
    campaigns = [machine.campaign(chance) for _ in range(100)]
    assert sum(cut(one.sizes, one.logs).count > 1 for one in campaigns) <= 1


@pytest.mark.truth
def test_breaks_are_found_where_they_are() -> None:
    chance = np.random.default_rng(2)
    machine = Machine(misfit=0.02)
    for _ in range(20):
        one = machine.campaign(chance)
        assert list(cut(one.sizes, one.logs).edges[1:-1]) == machine.breaks


def test_a_disturbed_size_makes_no_break() -> None:
    chance = np.random.default_rng(3)
    machine = Machine(segments=ONE_LINE, sizes=sizes_to(2**23, 24))
    for _ in range(20):
        one = machine.campaign(chance)
        logs = one.logs.copy()
        logs[chance.integers(1, logs.size - 1)] += 0.4
        found = cut(one.sizes, logs)
        assert found.count == 1
        assert found.alpha[0] == pytest.approx(1e-6, rel=0.05)


def test_a_disturbed_size_at_any_place_makes_no_segment_of_three() -> None:
    chance = np.random.default_rng(31)
    machine = Machine(segments=ONE_LINE, sizes=sizes_to(2**23, 24))
    for place in range(machine.sizes.size):
        one = machine.campaign(chance)
        logs = one.logs.copy()
        logs[place] += chance.choice((-0.4, 0.4))
        assert np.diff(cut(one.sizes, logs).edges).min() > POINTS_BETWEEN_JUMPS


@pytest.mark.parametrize("jump", [1.3, 2.0])
@pytest.mark.parametrize("last", [3, 4])
def test_three_sizes_above_a_jump_are_a_segment(jump: float, last: int) -> None:
    sizes = sizes_to(2**23, 24)
    limit = sizes[-last] - 1
    machine = Machine(((limit, 1e-6, 1e-9), (np.inf, jump * 1e-6, jump * 1e-9)), sizes=sizes)
    chance = np.random.default_rng(32)
    for _ in range(5):
        one = machine.campaign(chance)
        assert cut(one.sizes, one.logs).edges == (0, sizes.size - last, sizes.size)


def test_two_sizes_above_a_jump_are_none() -> None:
    """Any line goes through two points."""
    sizes = sizes_to(2**23, 24)
    machine = Machine(((sizes[-2] - 1, 1e-6, 1e-9), (np.inf, 2e-6, 2e-9)), sizes=sizes)
    found = cut(sizes, machine.campaign(np.random.default_rng(33)).logs)
    assert np.diff(found.edges).min() >= POINTS_BETWEEN_JUMPS


DEFAULT_PLAN_NS = (
    (0, 241), (1, 325), (2, 326), (4, 324), (8, 327), (16, 431), (32, 431), (64, 505), (128, 455), (256, 507),
    (512, 631), (1024, 762), (2048, 978), (4096, 1328), (8192, 1464), (16384, 1790), (32768, 2713),
    (65536, 4058), (131072, 6785), (262144, 12180), (524288, 22940), (2**20, 60900), (2**21, 190100),
    (2**22, 381000),
)  # fmt: skip
"""A ping-pong in shared memory: beyond the second cache the rate falls by half, with three sizes there."""


def test_a_break_with_three_sizes_of_the_default_plan_above_it_is_found() -> None:
    sizes, times = np.array(DEFAULT_PLAN_NS, dtype=float).T
    found = cut(sizes, np.log(times * 1e-9), [13])
    assert {13, 21} <= set(found.edges)
    errors = np.log(times * 1e-9) - np.log(found.times(sizes))
    assert np.sqrt((errors**2).mean()) < 0.1


@pytest.mark.parametrize("place", [10, 22])
def test_a_known_break_that_changes_something_is_one(place: int) -> None:
    """Also with too few sizes behind it for a segment of its own."""
    sizes = sizes_to(2**23, 24)
    machine = Machine(((sizes[place] - 1, 1e-6, 1e-9), (np.inf, 1.1e-6, 1.1e-9)), sizes=sizes)
    one = machine.campaign(np.random.default_rng(4))
    assert place in cut(one.sizes, one.logs, [place]).edges


def test_a_known_break_that_changes_nothing_is_none() -> None:
    """The lines on both sides agree."""
    chance = np.random.default_rng(4)
    machine = Machine(segments=ONE_LINE, sizes=sizes_to(2**23, 24))
    for place in (2, 10, 22):
        one = machine.campaign(chance)
        assert cut(one.sizes, one.logs, [place]).edges == (0, 24)


@given(st.integers(0, 10**6))
def test_a_known_break_is_no_worse_than_one_that_is_searched_for(seed: int) -> None:
    """What is found without being told is found when it is told, too."""
    machine = Machine(sizes=sizes_to(2**22, 24))
    one = machine.campaign(np.random.default_rng(seed))
    free = cut(one.sizes, one.logs)
    assert set(free.edges) <= set(cut(one.sizes, one.logs, free.edges[1:-1]).edges)


@pytest.mark.truth
def test_many_sizes_do_not_take_long_ranges() -> None:
    """Of a curve with 300 sizes breaks are looked for between every third."""
    machine = Machine(sizes=np.arange(1.0, 301.0) * 1000)
    found = cut(machine.sizes, np.log(machine.times(machine.sizes)))
    assert found.count == 3
    assert all(abs(edge - true) <= 2 for edge, true in zip(found.edges[1:-1], machine.breaks, strict=True))


# ---- Laws ----------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.floats(1e-4, 1e4))
def test_times_that_are_longer_have_parameters_that_are_longer(seed: int, factor: float) -> None:
    one = Machine(sizes=sizes_to(2**20, 20)).campaign(np.random.default_rng(seed))
    found, longer = cut(one.sizes, one.logs), cut(one.sizes, one.logs + np.log(factor))
    assert found.edges == longer.edges
    assert longer.alpha == pytest.approx(found.alpha * factor, rel=1e-6)
    assert longer.beta == pytest.approx(found.beta * factor, rel=1e-6)


@given(st.integers(0, 10**6), st.sampled_from([2.0, 3.0, 1000.0]))
def test_sizes_in_another_unit_have_the_same_segments(seed: int, factor: float) -> None:
    one = Machine(sizes=sizes_to(2**20, 20)).campaign(np.random.default_rng(seed))
    found, other = cut(one.sizes, one.logs), cut(one.sizes * factor, one.logs)
    assert found.edges == other.edges
    assert other.alpha == pytest.approx(found.alpha, rel=1e-6)
    assert other.beta == pytest.approx(found.beta / factor, rel=1e-6)


@given(st.lists(st.floats(-18, 0), min_size=4, max_size=12), st.integers(0, 10**6))
def test_any_times_have_a_model(logs: list[float], seed: int) -> None:
    """However wild: parameters are never negative, and every segment has its points."""
    chance = np.random.default_rng(seed)
    sizes = np.sort(chance.choice(2**20, len(logs), replace=False)).astype(float)
    found = cut(sizes, np.array(logs))
    assert (found.alpha >= 0).all()
    assert (found.beta >= 0).all()
    assert np.isfinite(np.log(found.times(sizes))).all()
    assert np.diff(found.edges).min() >= POINTS_BETWEEN_JUMPS
