"""A tournament has every pair once and nobody twice in a step."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from mpigauge.plan import round_robin


@given(st.integers(0, 70))
def test_every_pair_meets_once_and_nobody_twice_in_a_step(ranks: int) -> None:
    steps = round_robin.steps(ranks)
    assert sorted(pair for step in steps for pair in step) == list(combinations(range(ranks), 2))
    for step in steps:
        members = [rank for pair in step for rank in pair]
        assert len(members) == len(set(members))


@given(st.integers(2, 70))
def test_there_are_no_more_steps_than_it_takes(ranks: int) -> None:
    steps = round_robin.steps(ranks)
    assert len(steps) == ranks - 1 + ranks % 2
    assert {len(step) for step in steps} == {ranks // 2}


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_pair_name_is_read_back(first: int, second: int) -> None:
    assert round_robin.pair_ranks(round_robin.pair_name((first, second))) == (first, second)
