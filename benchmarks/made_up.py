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
"""Of a cell in a launch, as by default."""

LAUNCH = 7777
"""A number that stands for all launches, until they are written."""

WINDOWS = 10
"""Curves of a plan of many cells, with a window each: no curve may have more than 10 000 sizes."""


def description_made() -> KernelDescription:
    """What a kernel says of itself."""
    said = {"large_counts": True, "operations": [], **msgspec.json.decode(DESCRIPTION.read_bytes())}
    return msgspec.convert(said, KernelDescription)


def library_made() -> Library:
    """An MPI library that is nowhere."""
    bin_ = Path("/opt/mpi/bin")
    kind = next(kind for kind in KINDS if kind.name == "openmpi")
    return Library(kind, "5.0.11", "3.1", bin_ / "mpicc", bin_ / "mpiexec", bin_.parent, "made up", "cc", {})


def plan_made(cells: int) -> Plan:
    """A plan of so many cells."""
    sizes = f"1:{max(2, cells // WINDOWS)}:+1"
    measures = (Measure(pattern="stream", sizes=sizes, window=2 + number) for number in range(WINDOWS))
    return Plan(tuple(measures), seed=1, budget_s=None, launches_min=3, launches_max=3, visits=VISITS)


CELLS_MOST = 1000
"""Of a larger result there are more launches."""


def cells_made(cells: int) -> list[Cell]:
    """Its cells."""
    return cells_of(plan_made(cells), description_made(), "openmpi", "5.0.11", "growth").cells[:cells]


def campaign_made(cells: Sequence[Cell], plan: Plan) -> Record:
    """The first record of a result."""
    return campaign_of(plan, [], description_made().patterns, cells, started="2026-01-01T00:00:00+00:00")


def place_made(rank: int) -> RankPlace:
    """Where a rank is: ten on a host."""
    return RankPlace(f"node{rank // 10:04d}", str(rank % 10), rank % 10, 1, 25, 40, 0.0)


def launch_made(number: int, job: JobKey, ranks: int) -> Launch:
    """A launch of so many ranks."""
    places = tuple(map(place_made, range(ranks)))
    begun = f"2026-01-01T00:{number // 60 % 60:02d}:{number % 60:02d}+00:00"
    return Launch(number, 1, job, begun, ("mpiexec",), "Open MPI", "3.1", "CLOCK", places, 0.1, 0.0, 0.2)


def samples_made(count: int, middle_ns: int = 2000) -> list[int]:
    """Samples of a visit, in nanoseconds."""
    generator = np.random.default_rng(count)
    return list(map(int, generator.normal(middle_ns, 0.02 * middle_ns, count)))


def visit_made(number: int, id_: int, cell: Cell, samples_ns: list[int]) -> Visit:
    """A visit with these samples."""
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


def result_written(path: Path, cells: Sequence[Cell], launches: int, samples: int, ranks: int = 2) -> Path:
    """A result; the visits of one launch are those of the others."""
    with path.open("wb") as file:
        file.write(writer.line_of(campaign_made(cells, plan_made(10))))
        visits = [
            writer.line_of(visit_made(LAUNCH, turn * len(cells) + place, cell, samples_made(samples)))
            for turn in range(VISITS)
            for place, cell in enumerate(cells)
        ]
        for number in range(1, launches + 1):
            file.write(writer.line_of(launch_made(number, cells[0].job, ranks)))
            file.writelines(line.replace(b'"launch":%d' % LAUNCH, b'"launch":%d' % number) for line in visits)
            file.write(writer.line_of(Done(number, cells[0].job, 1.0)))
    return path


def result_of_samples(folder: Path, samples: int) -> Path:
    """A result of ten launches, as many samples a visit as campaigns have that take 1000 of a cell."""
    cells = max(1, samples // (10 * VISITS * 125))
    return result_written(
        folder / "samples.jsonl", cells_made(10 * cells)[:cells], 10, samples // (10 * VISITS * cells)
    )


def result_of_bytes(folder: Path, size: int) -> Path:
    """A result of some bytes with 25 samples a visit, as by default."""
    cells = max(1, min(CELLS_MOST, size // (10 * VISITS * 1000)))
    launches = max(10, size // (cells * VISITS * 1000))
    return result_written(folder / "bytes.jsonl", cells_made(10 * cells)[:cells], launches, 25)
