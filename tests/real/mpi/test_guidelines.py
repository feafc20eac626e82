"""Guidelines on real libraries: mock-ups give what their collective gives; a slow algorithm is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import kernel
from mpigauge.plan.cells import cells_of
from mpigauge.plan.kernel_plan import Limits
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.visit_order import visits_of
from mpigauge.result import journal
from tests.real.mpi.conftest import Run, prefix, usually
from tests.real.mpi.launches import journal_of
from tests.truth import check, truth

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.mpi.library import Library
    from mpigauge.plan.patterns import KernelDescription

pytestmark = pytest.mark.mpi

TIMEOUT_S = 300.0
SIZES = "0,1,40,1000,1001"
"""Multiples of the ranks, and others, of every datatype."""


def measures_of(description: KernelDescription) -> list[Measure]:
    """All modes that have something to replace; in place, from other roots, of several datatypes."""
    found: list[Measure] = []
    for pattern in description.patterns:
        modes = tuple(mode.name for mode in pattern.modes if mode.instead_of and pattern.starts_together)
        if not modes:
            continue
        types = ("int32", "double") if pattern.reduces else ()
        found.append(Measure(pattern.name, modes=modes, sizes=SIZES, datatypes=types))
        if pattern.may_in_place:
            found.append(Measure(pattern.name, modes=modes, sizes=SIZES, in_place=True))
        if pattern.rooted:
            found.append(Measure(pattern.name, modes=modes, sizes=SIZES, roots=("rotating", 1)))
            found.append(Measure(pattern.name, modes=modes, sizes="40,1001", roots=(1,), in_place=True))
        found.append(Measure(pattern.name, modes=modes, sizes="4KiB", buffers="cold"))
    return [one for one in found if not one.in_place or description.pattern(one.pattern, "").may_in_place]


@usually("openmpi")
@pytest.mark.parametrize("ranks", [2, 3])
def test_every_mock_up_gives_what_its_collective_gives(library: Library, ranks: int) -> None:
    description = kernel.describe(library)
    plan = Plan(tuple(measures_of(description)), ranks=(ranks,), visits=1, rounds_min=1, rounds_max=2)
    cells = cells_of(plan, description, library.name, library.version, "test").cells
    visits = visits_of(cells, plan, description, 1)
    limits = Limits(1e-5, 1e4, warmup_s=1e-3, pool_bytes=2**21)
    lines = journal_of(library, kernel.build(library), visits, plan, limits, {}, TIMEOUT_S)
    done = [line for line in lines if isinstance(line, journal.VisitLine)]
    assert len(done) == len(visits) > 300
    assert [(visits[line.visit], line.corrupt) for line in done if line.corrupt] == []


# ---- Algorithms that are slow on purpose ---------------------------------------------------------

SLOW: dict[str, dict[str, str]] = {
    "openmpi": {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_bcast_algorithm": "3",
        "OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize": "64",
    },
    "mpich": {
        "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0",
        "MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM": "mpir",
        "MPIR_CVAR_BCAST_INTRA_ALGORITHM": "pipelined_tree",
        "MPIR_CVAR_BCAST_TREE_PIPELINE_CHUNK_SIZE": "64",
    },
}
"""What makes a library send a broadcast in segments of 64 B, one after the other."""


@pytest.mark.parametrize("name", SLOW)
@truth
def test_an_algorithm_that_is_slow_on_purpose_is_named(mpigauge: Run, name: str, tmp_path: Path) -> None:
    words = ("--suite", "guidelines", "bcast", "--sizes", "8,256KiB", "-q", "--mpi", prefix(name))
    (tmp_path / "r.jsonl").unlink(missing_ok=True)
    done = mpigauge("run", *words, "-o", "r.jsonl", environment=SLOW[name])
    assert done.returncode == 0, done.stderr
    done = mpigauge("check", "r.jsonl", "--guidelines", "--format", "json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["verdict"]) == (1, "slower")
    found = {(one["pattern"], one["bytes"], one["against_mode"]) for one in said["violated"]}
    assert ("bcast", 2**18, "scatter-allgather") in found
    worst = max(one["low"] for one in said["violated"])
    check(f"{name}, bcast in segments of 64 B / scatter-allgather, lower end", worst, above=1)
    assert all(one["low"] > 1 and one["saved_low_s"] > 0 for one in said["violated"])
