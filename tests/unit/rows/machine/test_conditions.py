"""What visits were made in: like is compared with like, and who was disturbed is known where it can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.rows.machine.conditions import (
    ALIKE,
    condition_of,
    distances_of,
    disturbed_share,
    in_like_conditions,
    is_disturbed,
    mostly_disturbed,
    readings_of,
)
from mpigauge.rows.machine.split import split_visits
from mpigauge.rows.rows import rows
from tests.made import campaign, cell, launch, result_of, visit

if TYPE_CHECKING:
    from mpigauge.rows.machine.conditions import Distances

repeatable = settings(derandomize=True, deadline=None)
SMALL, COPY = cell(size=64), cell("memcpy", 64)
MODES = cell(size=64), cell(size=64, mode="buffered")

launches = st.dictionaries(st.integers(1, 6), st.floats(1e-9, 1e-3), min_size=1)
distances = st.dictionaries(st.integers(1, 6), st.floats(1e-8, 1e-6).map(lambda time_s: ("line", time_s)))


def test_a_line_says_more_than_a_path() -> None:
    both = visit(1, 0, SMALL, [200], line_ns=[40.0, 90.0], path_ns=[20_000.0, 20_000.0])
    found = condition_of(both)
    assert found is not None
    assert found.of == "line"
    assert [found.before_s, found.after_s] == pytest.approx([40e-9, 90e-9])
    assert found.middle_s == pytest.approx(60e-9)


@pytest.mark.parametrize("more", [{}, {"line_ns": [0.0, 40.0]}])
def test_what_is_not_known_is_no_condition(more: dict[str, list[float]]) -> None:
    assert condition_of(visit(1, 0, SMALL, [200], **more)) is None


@repeatable
@given(launches, launches)
def test_what_is_not_known_is_held_against_nobody(over: dict[int, float], under: dict[int, float]) -> None:
    assert in_like_conditions(over, under, {}, {}) == (over, under)


@repeatable
@given(launches, launches, distances, distances)
def test_only_what_was_at_one_distance_is_left(
    over: dict[int, float],
    under: dict[int, float],
    over_at: Distances,
    under_at: Distances,
) -> None:
    left, other = in_like_conditions(over, under, over_at, under_at)
    assert left.items() <= over.items()
    assert other.items() <= under.items()
    for number in left.keys() & other.keys() & over_at.keys() & under_at.keys():
        one, two = over_at[number][1], under_at[number][1]
        assert max(one, two) < ALIKE * min(one, two)


def test_what_was_never_at_one_distance_has_no_ratio() -> None:
    over, under = {1: 1e-6, 2: 1e-6}, {3: 2e-6, 4: 2e-6}
    near: Distances = {1: ("line", 40e-9), 2: ("line", 41e-9)}
    far: Distances = {3: ("line", 240e-9), 4: ("line", 250e-9)}
    assert in_like_conditions(over, under, near, far) == ({}, {})
    assert in_like_conditions(over, under, near, {3: ("line", 42e-9)}) == (over, under)
    assert in_like_conditions(over, under, near, {3: ("path", 24e-6)}) == (over, under)
    slower: tuple[Distances, Distances] = {1: ("path", 20e-6)}, {3: ("path", 30e-6)}
    assert in_like_conditions(over, under, *slower) == (over, under)


def test_a_message_is_measured_in_copies_made_at_its_own_distance() -> None:
    """In launch 1 both ranks were near each other for one of the two only."""
    crossing = cell("crosscopy", 64)
    visits = [
        visit(number, place, of, [1000 * number], line_ns=line, ops=1)
        for number in (1, 2, 3)
        for place, of, line in (
            (0, SMALL, [40.0, 40.0] if number == 1 else [60.0, 60.0]),
            (1, crossing, [60.0, 60.0]),
        )
    ]
    result = result_of(campaign(SMALL, crossing), *map(launch, (1, 2, 3)), *visits)
    (ratio,) = [row.ratios["kappa"] for row in rows(result) if row.cell == SMALL]
    assert ratio.launches == 2
    assert distances_of(visits[:1])[1][1] == pytest.approx(40e-9)


# ---- Disturbed or not ----------------------------------------------------------------------------


def test_waiting_for_a_core_for_more_than_a_hundredth_disturbs() -> None:
    for wait_ns, disturbed in ((0, False), (900_000, False), (1_100_000, True)):
        assert is_disturbed(visit(1, 0, SMALL, [200], wait_ns=wait_ns)) is disturbed


def test_lost_cores_stand_for_a_wait_that_nobody_has_counted() -> None:
    assert is_disturbed(visit(1, 0, SMALL, [200], switches=1000)) is True
    assert is_disturbed(visit(1, 0, SMALL, [200], switches=1)) is False
    assert is_disturbed(visit(1, 0, SMALL, [200], switches=1000, wait_ns=0)) is False


def test_of_older_files_nobody_knows() -> None:
    before = visit(1, 0, SMALL, [200])
    assert is_disturbed(before) is None
    assert disturbed_share([before]) is None
    assert not mostly_disturbed([before])
    after = visit(1, 1, SMALL, [200], wait_ns=10**8)
    assert disturbed_share([before, after]) == 1.0
    assert mostly_disturbed([before, after])
    assert not mostly_disturbed([after, visit(1, 2, SMALL, [200], wait_ns=0)])


@pytest.mark.parametrize("field", ["line_ns", "path_ns"])
def test_a_reading_of_nearly_nothing_is_none(field: str) -> None:
    """In seconds it would be 0, whose logarithm nobody can group."""
    cells = [cell(size=8), cell(size=64)]
    visits = [
        visit(number, place, of, [1000] * 5, **{field: [5e-324, 10.0 + number]})
        for number in range(1, 6)
        for place, of in enumerate(cells)
    ]
    assert readings_of(visits) == {}
    assert not split_visits(visits).states
    assert all(condition_of(one) is None for one in visits)
