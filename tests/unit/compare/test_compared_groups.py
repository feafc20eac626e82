"""Which cells of groups, orders and senders are compared: by what was asked for, not by their ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.campaign.control import compared_groups
from mpigauge.compare import cells as cells_module
from mpigauge.compare.cells import compared_cells
from mpigauge.compare.sides import first_pairs, pairs_between, pairs_by, unmatched_by
from mpigauge.plan.factors import COMPARED_BY
from mpigauge.plan.model import Measure
from mpigauge.rows.rows import rows
from tests.made import campaign, in_states, launches_of, measured, result_of
from tests.unit.plan.expanding import expanded

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit
    from mpigauge.rows.rows import Row

NUMBERS = range(1, 4)


def rows_of(cells: list[Cell]) -> list[Row]:
    visits = measured(cells, NUMBERS, lambda *_: [1000] * 5)
    return rows(result_of(campaign(*cells), *launches_of(cells, NUMBERS), *visits))


def compared(cells: list[Cell], factor: str) -> set[tuple[str, ...]]:
    """The groups of the cells that are compared with each other."""
    return {tuple(cell.group for cell in alike) for alike in compared_cells(cells, factor) if len(alike) > 1}


@pytest.mark.parametrize("factor", ["order", "ranks", "placement"])
def test_two_groups_that_differ_in_nothing_else_are_no_pair(factor: str) -> None:
    cells = expanded(Measure("allreduce", sizes="8", groups=("2",)), ranks=(8,))
    assert not compared(cells, factor)
    assert not pairs_by(rows_of(cells), factor)
    assert not unmatched_by(rows_of(cells), factor)


def test_each_group_is_compared_with_another_order_of_itself() -> None:
    orders = ("natural", "interleaved")
    cells = expanded(Measure("allreduce", sizes="8", groups=("2",), orders=orders), ranks=(8,))
    assert compared(cells, "order") == {("0-3", "0,2,1,3"), ("4-7", "4,6,5,7")}
    assert not unmatched_by(rows_of(cells), "order")


def test_senders_are_compared_in_every_order() -> None:
    orders = ("natural", "interleaved")
    cells = expanded(Measure("multi-stream", sizes="8", senders=(1, "all"), orders=orders), ranks=(8,))
    assert compared(cells, "senders") == {("0,4", ""), ("0,2", "0,4,1,5,2,6,3,7")}


def test_one_order_is_compared_on_more_ranks() -> None:
    cells = expanded(Measure("neighbours", sizes="8", orders=("interleaved",)), ranks=(4, 8))
    assert compared(cells, "ranks") == {("0,2,1,3", "0,4,1,5,2,6,3,7")}


def test_the_same_ranks_of_a_larger_job_are_no_more_ranks() -> None:
    cells = expanded(Measure("allreduce", sizes="8", groups=("0-3+4-7",)), ranks=(8, 16))
    assert not compared(cells, "ranks")


def test_an_order_is_that_of_another_placement_whatever_ranks_it_has() -> None:
    apart = expanded(Measure("ring", sizes="8", orders=("interleaved",)), ranks=(4,))
    near = [replace(cell, placement="a,b,b,a", group="0,1,3,2") for cell in apart]
    assert len(pairs_between(rows_of(apart), rows_of(near))) == 1


# ---- States of the machine -----------------------------------------------------------------------

TIMES_NS = {"near": [1000] * 9, "far": [3000] * 9}
COURSE = [["near"] * 6 + ["far"] * 6] * 6


def rows_in_states(cells: list[Cell]) -> list[Row]:
    visits = in_states(cells, COURSE, lambda _, state, __: TIMES_NS[state])
    return rows(result_of(campaign(*cells), *launches_of(cells, range(1, 7)), *visits), choice="all")


@pytest.mark.parametrize(
    ("measure", "factor"),
    [
        (Measure("ring", sizes="8", orders=("natural", "interleaved")), "order"),
        (Measure("multi-stream", sizes="8", senders=(1, "all")), "senders"),
    ],
)
def test_orders_and_senders_are_compared_in_each_state(measure: Measure, factor: str) -> None:
    found = rows_in_states(expanded(measure, ranks=(8,)))
    assert {(row.state, row.cell.group != "") for row in found} == {
        (state, listed) for state in TIMES_NS for listed in (False, True)
    }
    assert [(pair.of.state, pair.paired) for pair in pairs_by(found, factor)] == [
        ("near", True),
        ("far", True),
    ]


def test_groups_at_once_and_alone_are_in_no_state() -> None:
    found = rows_in_states(expanded(Measure("allreduce", sizes="8", groups=("2",)), ranks=(8,)))
    assert {row.state for row in found} == {None}
    assert all(pair.paired for pair in pairs_by(found, "groups"))


def test_orders_whose_neighbours_are_further_apart_are_no_states() -> None:
    natural, other = expanded(Measure("ring", sizes="8", orders=("natural", "interleaved")), ranks=(8,))
    near, far = (
        [*in_states([cell], [[state] * 12] * 6, lambda *_: [1000] * 9)]
        for cell, state in ((natural, "near"), (other, "far"))
    )
    ids = [replace(visit, id=number) for number, visit in enumerate(sorted([*near, *far], key=when))]
    launches = launches_of([natural, other], range(1, 7))
    found = rows(result_of(campaign(natural, other), *launches, *ids))
    assert {row.state for row in found} == {None}
    (pair,) = pairs_by(found, "order")
    assert len(pair.common_launches) == len(COURSE)


def when(visit: Visit) -> tuple[int, float]:
    return visit.launch, visit.at_s


def test_what_varies_nothing_is_not_searched_for_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    """A map of hundreds of hosts has so many cells that a pass for each factor takes minutes."""
    cells = expanded(Measure("pingpong", sizes="8", pairs="tournament"), ranks=(8,))
    of_cells = rows_of(cells)
    monkeypatch.setattr(cells_module, "comparison_key", lambda *_: pytest.fail("cells are grouped"))
    assert compared_groups(cells) == ("", [])
    assert first_pairs(of_cells, []) == ("", [])


@pytest.mark.parametrize(
    "measure",
    [
        Measure("pingpong", sizes="8,16"),
        Measure("pingpong", sizes="8,16", modes=("standard", "synchronous")),
        Measure("pingpong", sizes="8", buffers="cold"),
        Measure("multi-stream", sizes="8", senders=(1, "all"), orders=("natural", "interleaved")),
        Measure("allreduce", sizes="8", sync=("common", "barrier")),
    ],
    ids=lambda measure: measure.pattern,
)
def test_the_first_factor_that_compares_is_found_as_if_all_were_tried(measure: Measure) -> None:
    cells = expanded(measure, ranks=(4, 8))
    tried = {
        factor: [alike for alike in compared_cells(cells, factor) if len(alike) > 1] for factor in COMPARED_BY
    }
    first = next((factor for factor in COMPARED_BY if tried[factor]), "")
    assert compared_groups(cells) == (first, tried.get(first, []))
