"""What two kernels measure, compared: the same visits by the kernels of two commits, launches in turn.

    python tools/kernels.py A B [--launches N] [--mpi NAME]... [--pattern NAME]... [--within 0.03]

A and B are commits; WORK is the working tree. Both are built with the compiler of each library and follow one
plan: short and long messages of one pair, both directions, a window, two collectives, a copy of memory. The
ratio of a cell is paired by launch, since neighbouring launches share the moment; of a machine that moves its
cores, the visits count in which they were as far apart as in most. It is for a quiet machine.

Exit status: 0 if no ratio is beyond the bound with its whole interval, 1 if one is.
"""

from __future__ import annotations

import argparse
import io
import math
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.launchers import command_of
from mpigauge.campaign.launch.process import RunningJob
from mpigauge.mpi import find, kernel
from mpigauge.plan.cells import cells_of
from mpigauge.plan.kernel_plan import Limits, kernel_plan, parts_of
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.visit_order import visits_of
from mpigauge.result import environment, journal
from mpigauge.rows.ratios import ratio_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.mpi.library import Library
    from mpigauge.plan.model import Cell
    from mpigauge.plan.visit_order import PlannedVisit
    from mpigauge.stats.decision import Ratio

ROOT = Path(__file__).resolve().parents[1]
SOURCES = "src/mpigauge/kernel"
WORKING_TREE = "WORK"
PATTERNS = ("pingpong", "stream", "exchange", "bcast", "allreduce", "memcpy")
SIZES = "8,64KiB"
PATIENCE_S = 120.0
LIMITS = Limits(cell_s=0.4, deadline_s=1e4)

Times = dict["Cell", dict[int, float]]
"""Of each cell the median of each launch, in seconds."""

MOVED = 2.0
"""A hand-over of a cache line that takes so many times as long is of cores that are farther apart."""


class Seen(NamedTuple):
    """What a journal tells of a visit.

    Attributes:
        line_ns: Time to hand over a cache line meanwhile; 0 of one rank.
        times_s: Time of one operation in each round.
    """

    cell: Cell
    line_ns: float
    times_s: list[float]


def sources_of(commit: str, folder: Path) -> Path:
    """Return the folder of the kernel's sources of a commit."""
    if commit == WORKING_TREE:
        return ROOT / SOURCES
    packed = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commit, SOURCES], capture_output=True, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / SOURCES


def built(commit: str, library: Library, folder: Path) -> Path:
    """Build the kernel of a commit."""
    folder.mkdir(parents=True)
    program = folder / "mpigauge-kernel"
    kernel.compile_to(program, library, folder=sources_of(commit, folder))
    return program


def plan_for(library: Library, launch: int, patterns: Sequence[str]) -> tuple[list[PlannedVisit], Plan]:
    """Return the visits of a launch, in an order of its own, and their plan."""
    measures = tuple(Measure(name, sizes=SIZES) for name in patterns)
    plan = Plan(measures, rounds_min=30, rounds_max=400, visits=4, seed=launch)
    description = kernel.describe(library)
    cells = cells_of(plan, description, library.name, library.version, "kernels").cells
    return visits_of(cells, plan, description, launch), plan


def visits_seen(library: Library, program: Path, visits: Sequence[PlannedVisit], plan: Plan) -> list[Seen]:
    """Run one launch; return what its visits took."""
    cores = environment.cores_allowed()
    ranks = visits[0].cell.ranks
    job = Job(library.mpiexec, ranks, (str(program), "-", "-"), cores, environment.user_is_root())
    words = command_of(job, library.kind.launcher).words
    parts = parts_of(kernel_plan(visits, plan, LIMITS, cores))
    cells = {visit.id: visit.cell for visit in visits}
    seen: list[Seen] = []
    ended = False
    with RunningJob(words, library.environment_for(crowded=ranks > cores), parts) as running:
        for text in running.lines(lambda: PATIENCE_S):
            line = journal.parse(text)
            if isinstance(line, journal.ReadyLine):
                running.feed()
            elif isinstance(line, journal.VisitLine):
                times = [sample * 1e-9 / line.ops for sample in line.samples_ns]
                seen.append(Seen(cells[line.visit], median(line.line_ns or [0]), times))
            ended = ended or isinstance(line, journal.EndLine)
        if not ended:
            sys.exit(f"a launch of {program} did not end: {running.last_words}")
    return seen


def in_one_state(sides: Sequence[Mapping[int, list[Seen]]]) -> list[Times]:
    """Return medians of launches from the visits on cores as far apart as most were."""
    lines = sorted(one.line_ns for side in sides for seen in side.values() for one in seen if one.line_ns)
    cut = math.sqrt(lines[0] * lines[-1]) if lines and lines[-1] > MOVED * lines[0] else math.inf
    near = lines[len(lines) // 2] <= cut if lines else True
    found: list[Times] = []
    for side in sides:
        times: Times = {}
        for launch, seen in side.items():
            samples: dict[Cell, list[float]] = {}
            for one in seen:
                if not one.line_ns or (one.line_ns <= cut) == near:
                    samples.setdefault(one.cell, []).extend(one.times_s)
            for cell, all_ in samples.items():
                times.setdefault(cell, {})[launch] = median(all_)
        found.append(times)
    return found


def compared(
    library: Library, commits: Sequence[str], launches: int, patterns: Sequence[str]
) -> dict[Cell, Ratio]:
    """Return how many times as long each cell takes with the second kernel, launches in turn."""
    with tempfile.TemporaryDirectory() as folder:
        programs = [built(commit, library, Path(folder) / str(n)) for n, commit in enumerate(commits)]
        sides: list[dict[int, list[Seen]]] = [{}, {}]
        for launch in range(launches):
            visits, plan = plan_for(library, launch, patterns)
            order = (0, 1) if launch % 2 == 0 else (1, 0)
            for side in order:
                sides[side][launch] = visits_seen(library, programs[side], visits, plan)
    base, other = in_one_state(sides)
    ratios = {cell: _ratio(other[cell], base[cell]) for cell in base if cell in other}
    return {cell: ratio for cell, ratio in ratios.items() if ratio is not None}


def _ratio(over: Mapping[int, float], under: Mapping[int, float]) -> Ratio | None:
    """Return the ratio of launches that both have, in pairs."""
    both = over.keys() & under.keys()
    return ratio_of({n: over[n] for n in both}, {n: under[n] for n in both}, paired=True)


def is_beyond(ratio: Ratio, within: float) -> bool:
    """Return whether a ratio is beyond the bound with its whole interval."""
    if ratio.low is None or ratio.high is None:
        return False
    return ratio.low > 1 + within or ratio.high < 1 / (1 + within)


def main() -> int:
    """Compare the two, library by library, and print a line for each cell."""
    parser = argparse.ArgumentParser(description="Compare the kernels of two commits.")
    parser.add_argument("commits", nargs=2, metavar="COMMIT")
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--mpi", action="append", default=[])
    parser.add_argument("--pattern", action="append", default=[])
    parser.add_argument("--within", type=float, default=0.03)
    asked = parser.parse_args()
    beyond = 0
    for library in map(find.find, asked.mpi) if asked.mpi else [find.find_default()]:
        print(f"{library.name} {library.version}: {asked.commits[1]} over {asked.commits[0]}")
        for cell, ratio in sorted(
            compared(library, asked.commits, asked.launches, asked.pattern or PATTERNS).items()
        ):
            marked = is_beyond(ratio, asked.within)
            beyond += marked
            low, high = (f"{end:.4f}" if end is not None else "-" for end in (ratio.low, ratio.high))
            name = f"{'!' if marked else ' '} {cell.pattern:10} {cell.bytes:6} B"
            print(f"{name}  {ratio.estimate:.4f} ({low} - {high})", flush=True)
    return int(beyond > 0)


if __name__ == "__main__":
    sys.exit(main())
