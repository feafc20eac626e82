"""One-sided operations between emulated hosts: right, and refused where memory cannot be shared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.mpi import find, kernel
from mpigauge.plan.kernel_plan import Limits, kernel_plan
from mpigauge.plan.model import Cell, Plan
from mpigauge.plan.visit_order import PlannedVisit
from mpigauge.vocabulary import RMA_WINDOWS
from tests.real.mpi.conftest import PREFIXES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.real.lab.conftest import Lab

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

WAYS = (("put", "flush"), ("get", "fence"), ("put-notify", "flag"), ("fetch_and_op", "flush"))
SIZE = 8


def test_they_are_right_between_hosts_and_shared_memory_is_refused(lab: Lab, folder: Path) -> None:
    library = find.find(str(PREFIXES["openmpi"]))
    cells = [
        Cell(pattern, mode, SIZE, 2, "any", "1", rma_window=window)
        for pattern, mode in WAYS
        for window in RMA_WINDOWS
    ]
    visits = [PlannedVisit(number, cell) for number, cell in enumerate(cells)]
    plan = Plan(measure=(), visits=1, rounds_min=1, rounds_max=3)
    limits = Limits(cell_s=0.1, deadline_s=60.0)
    (folder / "plan").write_text(kernel_plan(visits, plan, limits, cores=2), encoding="ascii")
    needed = [f"{name}={value}" for name, value in library.environment_for(several_hosts=True).items()]
    start = ["env", *needed, str(library.mpiexec), "--host", "h1,h2", "-n", "2"]
    done = lab(*start, str(kernel.build(library)), "plan", "-", options=("--rate", "1gbit"))
    assert done.returncode == 0, done.stderr
    records: list[dict[str, Any]] = [json.loads(x) for x in done.stdout.splitlines() if x.startswith("{")]
    refused = {record["refused"]: record["reason"] for record in records if "refused" in record}
    shared = {visit.id for visit in visits if visit.cell.rma_window == "shared"}
    assert refused.keys() == shared
    assert set(refused.values()) == {"its ranks share no memory: they are on different hosts"}
    made = {record["visit"]: record for record in records if "visit" in record}
    assert made.keys() == {visit.id for visit in visits} - shared
    assert all(record["verified"] and "corrupt" not in record for record in made.values())
