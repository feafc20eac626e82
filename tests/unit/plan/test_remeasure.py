"""A plan of some cells of another: it expands into these and no others."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.plan.cells import cells_of
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import KernelDescription, known
from mpigauge.plan.remeasure import plan_for_cells
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
