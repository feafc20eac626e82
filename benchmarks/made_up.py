"""Plans, cells, records and results of any size that nobody has measured: what growing.py works on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from mpigauge.mpi.kinds import KINDS
from mpigauge.mpi.library import Library
from mpigauge.plan.cells import cells_of
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.names import DESCRIPTION
from mpigauge.plan.patterns import KernelDescription
from mpigauge.result import writer
from mpigauge.result.kernel_data import RankPlace
from mpigauge.result.records import Done, Launch, Record, Visit, campaign_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.plan.model import Cell, JobKey

VISITS = 8
"""Visits of a cell in a launch, by default."""

LAUNCH = 7777
"""A number that stands for all launches, until they are written."""

WINDOWS = 10
"""Curves of a plan of many cells, with a window each: no curve may have more than 10 000 sizes."""


def fake_description() -> KernelDescription:
    """Return a kernel's description."""
    description = {"large_counts": True, "operations": [], **msgspec.json.decode(DESCRIPTION.read_bytes())}
    return msgspec.convert(description, KernelDescription)


def fake_library() -> Library:
    """Return an MPI library that does not exist."""
    bin_ = Path("/opt/mpi/bin")
    kind = next(kind for kind in KINDS if kind.name == "openmpi")
    return Library(kind, "5.0.11", "3.1", bin_ / "mpicc", bin_ / "mpiexec", bin_.parent, "made up", "cc", {})


def fake_plan(cells: int) -> Plan:
    """Return a plan of so many cells."""
    sizes = f"1:{max(2, cells // WINDOWS)}:+1"
    measures = (Measure(pattern="stream", sizes=sizes, window=2 + number) for number in range(WINDOWS))
    return Plan(tuple(measures), seed=1, budget_s=None, launches_min=3, launches_max=3, visits=VISITS)


MAX_CELLS = 1000
"""Most cells of a result; a larger result has more launches."""


def fake_cells(cells: int) -> list[Cell]:
    """Return the cells of the plan."""
    return cells_of(fake_plan(cells), fake_description(), "openmpi", "5.0.11", "growth").cells[:cells]


def fake_campaign(cells: Sequence[Cell], plan: Plan) -> Record:
    """Return the first record of a result."""
    return campaign_of(plan, [], fake_description().patterns, cells, started="2026-01-01T00:00:00+00:00")


def fake_place(rank: int) -> RankPlace:
    """Return the place of a rank: ten are on a host."""
    return RankPlace(f"node{rank // 10:04d}", str(rank % 10), rank % 10, 1, 25, 40, 0.0)


def fake_launch(number: int, job: JobKey, ranks: int) -> Launch:
    """Return a launch of so many ranks."""
    places = tuple(map(fake_place, range(ranks)))
    started = f"2026-01-01T00:{number // 60 % 60:02d}:{number % 60:02d}+00:00"
    return Launch(number, 1, job, started, ("mpiexec",), "Open MPI", "3.1", "CLOCK", places, 0.1, 0.0, 0.2)


def fake_samples(count: int, middle_ns: int = 2000) -> list[int]:
    """Return samples of a visit, in nanoseconds."""
    generator = np.random.default_rng(count)
    return list(map(int, generator.normal(middle_ns, 0.02 * middle_ns, count)))


def fake_visit(number: int, id_: int, cell: Cell, samples_ns: list[int]) -> Visit:
    """Return a visit with these samples."""
    return Visit(
        launch=number,
        id=id_,
        cell=cell,
        at_s=0.1 * id_,
        elapsed_s=0.05,
        cpu_ns=2 * sum(samples_ns),
        batch=1,
        ops=2,
        pool_bytes=0,
        trial_ns=[999, 300],
        warmup_ns=[250, 240],
        samples_ns=samples_ns,
        line_ns=[40.0, 41.0],
        line_worst_ns=[45.0, 46.0],
        alu_ns=[5000.0, 5001.0],
        switches=0,
        wait_ns=0,
        steal_ns=0,
    )


def write_result(path: Path, cells: Sequence[Cell], launches: int, samples: int, ranks: int = 2) -> Path:
    """Write a result; all launches have equal visits. Return its path."""
    with path.open("wb") as file:
        file.write(writer.line_of(fake_campaign(cells, fake_plan(10))))
        visits = [
            writer.line_of(fake_visit(LAUNCH, turn * len(cells) + place, cell, fake_samples(samples)))
            for turn in range(VISITS)
            for place, cell in enumerate(cells)
        ]
        for number in range(1, launches + 1):
            file.write(writer.line_of(fake_launch(number, cells[0].job, ranks)))
            file.writelines(line.replace(b'"launch":%d' % LAUNCH, b'"launch":%d' % number) for line in visits)
            file.write(writer.line_of(Done(number, cells[0].job, 1.0)))
    return path


def write_result_of_samples(folder: Path, samples: int) -> Path:
    """Write a result of ten launches, with the samples per visit of campaigns that take 1000 per cell."""
    cells = max(1, samples // (10 * VISITS * 125))
    return write_result(
        folder / "samples.jsonl", fake_cells(10 * cells)[:cells], 10, samples // (10 * VISITS * cells)
    )


def write_result_of_bytes(folder: Path, size: int) -> Path:
    """Write a result of so many bytes, with 25 samples per visit, as by default."""
    cells = max(1, min(MAX_CELLS, size // (10 * VISITS * 1000)))
    launches = max(10, size // (cells * VISITS * 1000))
    return write_result(folder / "bytes.jsonl", fake_cells(10 * cells)[:cells], launches, 25)
