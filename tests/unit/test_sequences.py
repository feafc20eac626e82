"""Groups and runs: everything is in exactly one, in order."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mpigauge.sequences import consecutive, group_by, runs


@given(st.lists(st.integers(-9, 9)))
def test_groups_have_one_key_and_both_they_and_their_things_are_in_order(numbers: list[int]) -> None:
    found = group_by(enumerate(numbers), lambda pair: pair[1] % 3)
    assert sorted(pair for mine in found.values() for pair in mine) == [*enumerate(numbers)]
    assert all(number % 3 == key for key, mine in found.items() for _, number in mine)
    assert all(mine == sorted(mine) for mine in found.values())
    assert [*found.values()] == sorted(found.values())


@given(st.lists(st.integers(0, 20)), st.integers(0, 3))
def test_runs_keep_the_order_and_break_where_two_neighbours_do_not_belong_together(
    numbers: list[int], gap: int
) -> None:
    def near(one: int, two: int) -> bool:
        return abs(two - one) <= gap

    found = runs(numbers, near)
    assert [number for run in found for number in run] == numbers
    assert all(near(one, two) for run in found for one, two in pairwise(run))
    assert not any(near(one[-1], two[0]) for one, two in pairwise(found))


def test_consecutive_numbers_are_a_run() -> None:
    assert runs([3, 4, 5, 8, 10, 11], consecutive) == [[3, 4, 5], [8], [10, 11]]
