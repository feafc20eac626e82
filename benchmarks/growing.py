"""What growth.py makes larger and larger: the steps of a campaign without MPI, with made-up journals.

Each step is of a size: `prepare` makes what it works on, which is not measured, and gives a function, which
is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import msgspec
from made_up import (
    campaign_made,
    cells_made,
    description_made,
    launch_made,
    library_made,
    place_made,
    plan_made,
    result_of_bytes,
    result_of_samples,
    result_written,
    samples_made,
    visit_made,
)

from mpigauge.campaign import job_run, loop
from mpigauge.campaign.job_run import JobRun, RunContext
from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.launchers import command_of
from mpigauge.campaign.loop import CampaignLoop
from mpigauge.campaign.state import CampaignState, LaunchKey
from mpigauge.campaign.targets import Target
from mpigauge.campaign.troubles import Troubles
from mpigauge.cli.screen.tables import TableRequest, tabulate
from mpigauge.errors import JobError
from mpigauge.plan.hosts import hosts_of, places_of
from mpigauge.plan.kernel_plan import Limits, kernel_plan, parts_of
from mpigauge.plan.visit_order import PlannedVisit, visits_of
from mpigauge.result import writer
from mpigauge.result.reader import load
from mpigauge.result.records import Visit

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell

Run = Callable[[], object]

NOTHING = SimpleNamespace(signal=None, comes_within=lambda _: False, calm=lambda: None)
"""Stands for the signals that might interrupt a campaign."""


class Silent:
    """An observer that shows nothing."""

    def __getattr__(self, _: str) -> Callable[..., None]:
        """Whatever it is told."""
        return lambda *_, **__: None


def _must(whole: bool) -> None:
    """What ended early would look quick."""
    if not whole:
        raise JobError("a step did not come to its end")


# ---- Planning ------------------------------------------------------------------------------------


def planning(_: Path, cells: int) -> Run:
    """A plan becomes cells."""
    return partial(cells_made, cells)


def telling(_: Path, cells: int) -> Run:
    """The visits of a launch are shuffled and written for the kernel."""
    made, plan, description = cells_made(cells), plan_made(cells), description_made()

    def run() -> None:
        visits = visits_of(made, plan, description, 1)
        parts_of(kernel_plan(visits, plan, Limits(0.05, 1e9), 2))

    return run


def placing(_: Path, hosts: int) -> Run:
    """A list of hosts becomes the command of a launch with ten ranks on each."""

    def run() -> None:
        named = hosts_of(",".join(f"node{number:04d}:10" for number in range(hosts)))
        places = places_of("different-hosts", named, 10 * hosts, "growth")
        job = Job(Path("mpiexec"), 10 * hosts, ("kernel", "-", "-"), 10 * hosts, hosts=places)
        command_of(job, "openmpi")

    return run


# ---- One launch ----------------------------------------------------------------------------------


class Played:
    """Stands for a running job: its lines are read from memory."""

    last_words = ""
    undead = ()

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines

    def __enter__(self) -> Self:
        """As a process that was started."""
        return self

    def __exit__(self, *_: object) -> None:
        """As one that has ended."""

    def lines(
        self, patience_s: Callable[[], float], busy: Callable[[], bool], counts: Callable[[bytes], bool]
    ) -> Iterator[bytes]:
        """Asks for each line what a job asks."""
        for line in self._lines:
            busy()
            yield line
            if counts(line):
                patience_s()

    def wait(self, _: float) -> int:
        """It has ended well."""
        return 0


def _journal(visits: Sequence[PlannedVisit], ranks: int) -> list[bytes]:
    """What a kernel says of a launch: a line for each rank's place in the first, then two a visit."""
    places = [place_made(rank) for rank in range(ranks)]
    facts = {"kernel": 1, "ranks": ranks, "ranks_asked": ranks, "library": "Open MPI v5.0.11"}
    facts |= {"mpi_standard": "3.1", "clock": "CLOCK_MONOTONIC_RAW", "placement": places}
    lines: list[object] = [{"launch": facts}]
    samples = samples_made(25)
    for visit in visits:
        lines.append({"begin": visit.id, "at_ns": visit.id * 1000, "expect_ns": 1000})
        core = msgspec.to_builtins(visit_made(1, visit.id, visit.cell, samples))
        core = {name: core[name] for name in Visit.__struct_fields__ if name not in OURS}
        times = {"at_ns": 1000, "elapsed_ns": 1000, "window": 1, "cpu_ns": 2000}
        lines.append({"visit": visit.id, **times, **core})
    return [msgspec.json.encode(line) for line in [*lines, {"end": 1}]]


OURS = ("launch", "id", "cell", "at_s", "elapsed_s", "cpu_ns", "relay_late")
"""Fields of a visit that the kernel's line has otherwise or not at all."""


def launching(folder: Path, cells: int) -> Run:
    """The lines of one launch become records."""
    made = cells_made(cells)
    return _bookkeeping(folder, visits_of(made, plan_made(cells), description_made(), 1), 2)


def ranking(folder: Path, ranks: int) -> Run:
    """The same of one visit by many ranks."""
    cell = msgspec.structs.replace(cells_made(10)[0], ranks=ranks)
    return _bookkeeping(folder, [PlannedVisit(0, cell)], ranks)


def _bookkeeping(folder: Path, visits: Sequence[PlannedVisit], ranks: int) -> Run:
    lines = _journal(visits, ranks)
    hosts = tuple(place_made(rank).host for rank in range(ranks))
    setattr(job_run, "RunningJob", lambda *_, **__: Played(lines))  # noqa: B010 - in place of a process
    numbers = itertools.count()

    def run() -> None:
        with writer.create(folder / f"launch-{next(numbers)}.jsonl") as file:
            state = CampaignState(file)
            silent: Any = Silent()
            troubles = Troubles(silent.trouble)
            around = RunContext(state, silent, NOTHING, plan_made(10), None, troubles)  # type: ignore[arg-type]
            target = Target(library_made(), Path("kernel"), description_made(), [])
            job = Job(Path("mpiexec"), ranks, ("kernel", "-", "-"), ranks, hosts=hosts)
            attempt = JobRun(around, target, LaunchKey.of(1, visits[0].cell), job, visits, "")
            attempt.run()
            _must(attempt.ended)

    return run


# ---- A campaign ----------------------------------------------------------------------------------


@dataclass
class Instant:
    """Stands for one mpiexec that has measured everything at once."""

    around: RunContext
    target: Target
    key: LaunchKey
    job: object
    visits: Sequence[PlannedVisit]
    text: str
    began: bool = True
    reached_visits: bool = True
    ended: bool = True
    prelude_s: float = 0.0
    skipped: set[Cell] = field(default_factory=set)
    suspects: frozenset[int] = frozenset()

    def run(self) -> None:
        """Half of the launches are slower, so that the campaign is never precise."""
        number = self.key.number
        self.around.state.append(launch_made(number, self.key.job, 2))
        samples = samples_made(25, 1000 * (1 + number % 2))
        for visit in self.visits:
            self.around.state.append(visit_made(number, visit.id, visit.cell, samples))


def closing(folder: Path, launches: int) -> Run:
    """All launches of a campaign of 20 cells, which take no time: what is kept, closed and asked of them."""
    cells, numbers = cells_made(20), itertools.count()
    plan = msgspec.structs.replace(plan_made(20), launches_max=launches, precision=1e-6)
    setattr(loop, "JobRun", Instant)  # noqa: B010 - in place of mpiexec

    def run() -> None:
        with writer.create(folder / f"campaign-{next(numbers)}.jsonl") as file:
            file.append(campaign_made(cells, plan))
            target = Target(library_made(), Path("kernel"), description_made(), cells)
            silent: Any = Silent()
            nothing: Any = NOTHING
            _must(CampaignLoop(plan, [target], file, silent, nothing).run() == "launches")

    return run


# ---- Results -------------------------------------------------------------------------------------


def reading(folder: Path, samples: int) -> Run:
    """The bytes of a result alone, which nothing can be faster than."""
    return result_of_samples(folder, samples).read_bytes


def decoding(folder: Path, samples: int) -> Run:
    """Its lines as JSON, by the same decoder but of no type."""
    path = result_of_samples(folder, samples)

    def run() -> None:
        with path.open("rb") as file:
            for line in file:
                msgspec.json.decode(line)

    return run


def loading(folder: Path, samples: int) -> Run:
    """The result in memory."""
    return partial(load, result_of_samples(folder, samples))


def loading_bytes(folder: Path, size: int) -> Run:
    """The same of results of short visits."""
    return partial(load, result_of_bytes(folder, size))


def _show(path: Path) -> None:
    tabulate([path], TableRequest(None, "text", (), "median", ""))


def showing(folder: Path, samples: int) -> Run:
    """What `mpigauge show` does, loading included."""
    return partial(_show, result_of_samples(folder, samples))


def showing_cells(folder: Path, cells: int) -> Run:
    """The same of many cells in three launches."""
    return partial(_show, result_written(folder / "cells.jsonl", cells_made(cells), 3, 5))


def showing_ranks(folder: Path, ranks: int) -> Run:
    """The same of ten launches of many ranks."""
    cells = [msgspec.structs.replace(cell, ranks=ranks) for cell in cells_made(20)]
    return partial(_show, result_written(folder / "ranks.jsonl", cells, 10, 25, ranks))


@dataclass(frozen=True)
class Step:
    """A step of a campaign that grows.

    Attributes:
        of: What there is more and more of.
        sizes: Those that are measured.
        most: Those that take minutes or gigabytes.
    """

    about: str
    of: str
    prepare: Callable[[Path, int], Run]
    sizes: Sequence[int]
    most: Sequence[int] = ()


STEPS: Mapping[str, Step] = {
    "planning": Step("plan to cells", "cells", planning, (100, 1000, 10_000), (100_000,)),
    "telling": Step("visits in the kernel's words", "cells", telling, (100, 1000, 10_000), (100_000,)),
    "placing": Step("hosts to a command", "hosts", placing, (10, 100, 1000)),
    "launching": Step("lines of a launch to records", "cells", launching, (100, 1000), (10_000, 100_000)),
    "ranking": Step("a launch of many ranks", "ranks", ranking, (10, 100, 1000, 10_000)),
    "closing": Step("a campaign of 20 cells", "launches", closing, (1, 10, 100), (1000,)),
    "reading": Step("the bytes of a result alone", "samples", reading, (10**4, 10**5, 10**6), (10**7,)),
    "decoding": Step("its JSON alone", "samples", decoding, (10**4, 10**5, 10**6), (10**7,)),
    "loading": Step("load", "samples", loading, (10**4, 10**5, 10**6), (10**7,)),
    "loading_bytes": Step("load, visits of 25", "bytes", loading_bytes, (10**6, 10**7), (10**8, 10**9)),
    "showing": Step("load and show", "samples", showing, (10**4, 10**5, 10**6), (10**7,)),
    "showing_cells": Step("load and show", "cells", showing_cells, (10, 100, 1000), (10_000, 100_000)),
    "showing_ranks": Step("load and show", "ranks", showing_ranks, (10, 100, 1000, 10_000)),
}
