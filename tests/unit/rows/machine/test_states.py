"""States of the machine: found where they are, and none where they are not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.rows.machine.conditions import condition_of, readings_of
from mpigauge.rows.machine.split import MIN_FACTOR, core_binding, split_visits
from tests.made import PLACE, cell, launch, visit
from tests.unit.rows.machine.exact_states import exact_states
from tests.unit.rows.machine.planted_states import SMALL, lines, visits_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit

LARGE = cell(size=2**20)
PAIR = cell(size=8, ranks=4, pair="0-3")


# ---- All at once, as one by one ------------------------------------------------------------------

OTHER = cell("exchange", 8, "nonblocking", ranks=4)
CONDITIONS_NS = ([], [0.0, 40.0], [40.0, 245.0], *([one, one] for one in (40.0, 40.0, 90.0, 245.0, 245.0)))


def some_visits(seed: int) -> list[Visit]:
    """Visits of several cells in runs of one condition, of few or many, whose readings differ a little."""
    generator = np.random.default_rng(seed)
    of_all = generator.integers(len(CONDITIONS_NS), size=(2, generator.integers(1, 5)))
    cells = [SMALL, LARGE, OTHER, PAIR][: generator.integers(1, 5)]
    found: list[Visit] = []
    for _ in range(generator.integers(2, 12)):
        line, path = (CONDITIONS_NS[number] for number in generator.choice(of_all, axis=1))
        for _ in range(generator.integers(1, 12)):
            known = {"line_ns": [one * generator.uniform(1, 1.1) for one in line], "path_ns": path}
            # A cell of its own, as where visits do not share one.
            of = replace(cells[generator.integers(len(cells))])
            found.append(visit(1, len(found), of, [200], elapsed_s=generator.uniform(0.1, 2), **known))
    return found


courses = st.integers(0, 2**32 - 1).map(some_visits)


@settings(derandomize=True, deadline=None, max_examples=80)
@given(courses)
def test_states_of_all_visits_at_once_are_those_of_one_after_the_other(visits: list[Visit]) -> None:
    found = split_visits(visits)
    said, names = exact_states(visits)
    assert [(one.of, one.name, one.visits, one.episodes) for one in found.states] == [
        (of, name, count, episodes) for of, name, count, _, _, episodes in said
    ]
    assert [(one.handover_s, one.time_share) for one in found.states] == [
        pytest.approx((handover_s, share)) for *_, handover_s, share, _ in said
    ]
    assert [found.of(visit) for visit in visits] == names
    known = [visit for visit in visits if found.knows(visit)]
    assert found.between == sum(found.of(visit) is None for visit in known)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(courses)
def test_readings_of_all_visits_are_the_conditions_of_each(visits: list[Visit]) -> None:
    each = [condition_of(one) for one in visits]
    found = readings_of(visits)
    for of in ("line", "path"):
        known = [(place, one) for place, one in enumerate(each) if one is not None and one.of == of]
        places, readings = found.get(of, (np.array([]), np.empty((0, 2))))
        assert places.tolist() == [place for place, _ in known]
        assert readings.tolist() == [[one.before_s, one.after_s] for _, one in known]


# ---- Which there are -----------------------------------------------------------------------------


def test_two_heaps_of_readings_are_near_and_far() -> None:
    found = split_visits(visits_with([[40, 41]] * 30 + [[240, 250]] * 10))
    assert [state.name for state in found.states] == ["near", "far"]
    assert [state.visits for state in found.states] == [30, 10]
    assert [state.handover_s * 1e9 for state in found.states] == pytest.approx([40.5, 245], rel=0.01)
    assert [state.time_share for state in found.states] == pytest.approx([0.75, 0.25])
    assert [state.episodes for state in found.states] == [1, 1]


def test_three_heaps_have_one_between() -> None:
    found = split_visits(visits_with([[40, 41]] * 20 + [[90, 92]] * 20 + [[240, 250]] * 20))
    assert [state.name for state in found.states] == ["near", "mid", "far"]


def test_a_visit_that_saw_the_machine_change_is_in_no_state() -> None:
    visits = visits_with([[40, 41]] * 19 + [[40, 245]] + [[240, 250]] * 20)
    found = split_visits(visits)
    assert found.of(visits[0]) == "near"
    assert found.of(visits[19]) is None
    assert found.knows(visits[19])
    assert found.between == 1
    assert math.fsum(state.time_share for state in found.states) + found.between_share == pytest.approx(1)
    assert all(visits[19] not in one.visits for one in found.parts(visits))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("spread", [0.02, 0.1, 0.3])
def test_one_heap_is_one_state_however_wide(seed: int, spread: float) -> None:
    generator = np.random.default_rng(seed)
    assert not split_visits(visits_with(lines(generator, [60.0] * 400, spread))).states
    even = np.exp(generator.uniform(3.5, 5.5, (400, 1)) * np.ones(2))
    assert not split_visits(visits_with(even.tolist())).states


def test_heaps_that_are_close_are_one_state() -> None:
    below, above = 0.97 * MIN_FACTOR, 1.03 * MIN_FACTOR
    for factor, count in ((below, 0), (above, 2)):
        readings = [[50.0, 50.1]] * 50 + [[50 * factor, 50.1 * factor]] * 50
        assert len(split_visits(visits_with(readings)).states) == count


def test_a_lonely_visit_is_no_state_but_two_episodes_are() -> None:
    usual, odd = [[40.0, 40.1]] * 200, [[240.0, 245.0]]
    assert not split_visits(visits_with([*usual, *odd, *usual])).states
    assert not split_visits(visits_with([*usual, *odd, *usual, *odd, *usual])).states
    episode = odd * 3
    found = split_visits(visits_with([*usual, *episode, *usual, *episode, *usual]))
    assert [state.episodes for state in found.states] == [3, 2]


def test_ranks_that_always_sit_far_apart_are_no_state_of_the_machine() -> None:
    """Of four ranks a ring reaches farther than of two: both are always so."""
    two = visits_with([[40, 41]] * 40)
    four = [replace(one, cell=replace(SMALL, ranks=4), line_ns=[240.0, 250.0]) for one in two]
    assert not split_visits([*two, *four]).states


def test_files_without_conditions_have_one_state() -> None:
    visits = [visit(1, number, SMALL, [200]) for number in range(20)]
    assert not split_visits(visits).states
    assert not split_visits([]).states
    (whole,) = split_visits(visits).parts(visits)
    assert whole.state is None
    assert list(whole.visits) == visits


def test_between_hosts_the_path_tells_it() -> None:
    pairs = [[20_000.0, 20_100.0]] * 20 + [[60_000.0, 61_000.0]] * 20
    visits = [
        replace(one, line_ns=[], path_ns=pair) for one, pair in zip(visits_with(pairs), pairs, strict=True)
    ]
    found = split_visits(visits)
    assert [(state.of, state.name) for state in found.states] == [("path", "near"), ("path", "far")]


def test_ranks_that_share_cores_do_not_hide_the_states_of_others() -> None:
    """More ranks than cores hand a line over when the scheduler likes: that is no distance."""
    two = visits_with([[40, 41]] * 20 + [[240, 250]] * 20)
    crowded = cell("barrier", 0, "blocking", ranks=4, sync="common")
    times = np.random.default_rng(3).lognormal(11, 1.5, (40, 2)) + 3000
    four = [
        replace(one, cell=crowded, line_ns=[float(ns) for ns in pair])
        for one, pair in zip(two, times, strict=True)
    ]
    found = split_visits([*two, *four])
    assert [state.name for state in found.states] == ["near", "far"]
    assert not any(found.knows(one) for one in four)
    assert [one.state for one in found.parts(four)] == [None]


def test_lines_and_paths_are_states_of_their_own() -> None:
    """Packets that take another way do not make the cores of a host far from each other."""
    on_host = visits_with([[40, 41]] * 40)
    others = cell(size=8, placement="different-hosts")
    paths = [[20_000.0, 20_100.0]] * 20 + [[60_000.0, 61_000.0]] * 20
    between = [
        replace(one, cell=others, line_ns=[], path_ns=pair) for one, pair in zip(on_host, paths, strict=True)
    ]
    found = split_visits([*on_host, *between])
    assert {state.of for state in found.states} == {"path"}
    assert not any(found.knows(one) for one in on_host)


def on_paths(of: Cell, paths: Sequence[Sequence[float]]) -> list[Visit]:
    """Visits of a cell between hosts."""
    return [
        replace(one, cell=of, line_ns=[], path_ns=list(path))
        for one, path in zip(visits_with(paths), paths, strict=True)
    ]


def test_a_far_host_is_no_state_of_the_machine() -> None:
    """Of a map its pairs' ways are what is measured; of two placements one may be far from the other."""
    generator = np.random.default_rng(5)
    near, far = ([ns] * 40 for ns in (40_000.0, 2_000_000.0))
    mapped = [
        *on_paths(cell(size=8, ranks=4, pair="0-1"), lines(generator, near, 0.4)),
        *on_paths(cell(size=8, ranks=4, pair="0-2"), lines(generator, far, 0.4)),
    ]
    assert not split_visits(mapped).states
    disturbed = lines(generator, near, 0.4)
    disturbed[7] = disturbed[8] = [700_000.0, 800_000.0]
    placed = [
        *on_paths(cell(size=8, placement="h1,h2"), disturbed),
        *on_paths(cell(size=8, placement="h1,h3"), lines(generator, far, 0.4)),
    ]
    assert not split_visits(placed).states


def test_packets_that_are_late_now_and_then_make_no_state_of_what_is_farther_away() -> None:
    """Of the near hosts some messages take what those of the far ones take, and of these some twice that."""
    near, far, late = ([[ns, 1.01 * ns]] for ns in (88_000.0, 2_220_000.0, 4_000_000.0))
    changing = [[near[0][0], far[0][1]], [far[0][0], near[0][1]]]
    of_near = (near * 60 + far * 2 + changing * 2) * 10
    of_far = (far * 12 + late * 2 + far * 12) * 10
    placed = [
        *on_paths(cell(size=8, placement="h1,h2"), of_near),
        *on_paths(cell(size=8, placement="h1,h3"), of_far),
    ]
    assert not split_visits(placed).states


def test_own_samples_decide_nothing() -> None:
    visits = visits_with([[40, 41]] * 20 + [[240, 250]] * 20)
    shuffled = [replace(one, samples_ns=[number]) for number, one in enumerate(visits, start=1)]
    before, after = split_visits(visits), split_visits(shuffled)
    assert before.states == after.states
    assert [before.of(one) for one in visits] == [after.of(one) for one in shuffled]


@pytest.mark.parametrize(
    ("cpus", "seats"),
    [
        ([("0", "1")] * 2, "fixed"),
        ([("0", "1"), ("0", "2")], "changed"),
        ([("0", "1"), ("0-1", "0-1")], "free"),
        ([], "unknown"),
    ],
)
def test_where_the_ranks_were_is_said_by_their_launches(cpus: list[tuple[str, str]], seats: str) -> None:
    launches = [
        replace(launch(number), ranks_at=tuple(replace(PLACE, cpus=mine) for mine in both))
        for number, both in enumerate(cpus, start=1)
    ]
    assert core_binding(launches) == seats
