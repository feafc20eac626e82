"""A plan of some cells of another: it expands into these and no others."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.campaign.remeasure import plan_for_cells
from mpigauge.plan.cells import cells_of
from mpigauge.plan.hosts import Host
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import KernelDescription, known
from tests.fakes.law import describe

DESCRIPTION = msgspec.convert(describe(), KernelDescription)

PLAN = Plan(
    (
        Measure("pingpong", modes=("standard", "buffered"), sizes="8,1KiB,64KiB"),
        Measure("pingpong", sizes="8", buffers="cold"),
        Measure("stream", sizes="8,1KiB", window=16),
        Measure("allreduce", sizes="8,64", ops=("sum", "max"), datatypes=("float",), in_place=True),
        Measure("bcast", sizes="8,64", roots=(0, 1, "rotating"), sync=("common", "barrier")),
        Measure("barrier"),
        Measure("memcpy", sizes="64KiB"),
        Measure("layout", modes=("contiguous", "derived"), sizes="12,64", blocks=(12, 3), ranks=(2,)),
        Measure("partitioned", modes=("all",), sizes="8,1KiB", partitions=(5, 8), ranks=(2,)),
        Measure("multi-stream", sizes="8", ranks=(6,), senders=(1, "all"), orders=("natural", "random:3")),
    ),
    launches_min=5,
    seed=1,
)


def cells(plan: Plan) -> list[Cell]:
    return [
        cell
        for cell in cells_of(plan, DESCRIPTION, "openmpi", "5", "here").cells
        if not known()[cell.pattern].is_floor
    ]


@given(st.data())
def test_it_expands_into_the_cells_that_were_picked(data: st.DataObject) -> None:
    every = cells(PLAN)
    picked = data.draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    plan = plan_for_cells(PLAN, picked, launches=12, seed=99)
    assert set(cells(plan)) == set(picked)
    assert (plan.launches_min, plan.launches_max, plan.seed) == (12, 12, 99)


def test_a_fixed_number_of_launches_has_one_look() -> None:
    """A campaign that went on until decided shares its error among its looks; the new one has one."""
    first = replace(PLAN, until="decided", launches_max=30)
    assert plan_for_cells(first, cells(PLAN)[:1], launches=12, seed=1).until == "precise"


@pytest.mark.parametrize("pairing", ["tournament", "serial"])
def test_pairs_come_with_their_pairing(pairing: str) -> None:
    plan = Plan((Measure("pingpong", sizes="8", ranks=(3,), pairs=pairing),))  # type: ignore[arg-type]
    every = cells(plan)
    assert set(cells(plan_for_cells(plan, every[:1], 5, 1))) == set(every)


@pytest.mark.parametrize("rule", ["2", "mod:2", "0-3+4-7", "0,2+7,5,3", "host"])
@pytest.mark.parametrize("at_once", [True, False])
def test_groups_come_with_all_others_of_their_rule(rule: str, at_once: bool) -> None:
    hosts = tuple(Host(name, 4) for name in "ab")
    orders = ("natural", "random:3")
    table = Measure("allreduce", sizes="8", ranks=(8,), groups=("4", rule), orders=orders)
    plan = Plan((table,), hosts=hosts)
    every = [cell for cell in cells(plan) if (cell.groups == rule if at_once else not cell.groups)]
    (last,) = [cell for cell in every if cell.order][-1:]
    again = cells(plan_for_cells(plan, [last], 5, 1))
    assert last in again
    assert {cell.groups for cell in again} == {"", rule}
    assert {cell.order for cell in again} == {last.order}
