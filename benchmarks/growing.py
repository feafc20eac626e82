"""Steps of a campaign without MPI, with made-up journals, for growth.py to time at growing sizes.

`prepare` makes the input of a step for a size, which is not measured, and returns a function, which is.
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
    fake_campaign,
    fake_cells,
    fake_description,
    fake_launch,
    fake_library,
    fake_place,
    fake_plan,
    fake_samples,
    fake_visit,
    write_result,
    write_result_of_bytes,
    write_result_of_samples,
)

from mpigauge.campaign import job_run, loop
from mpigauge.campaign.job_run import JobRun, RunContext, Troubles
from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.launchers import command_of
from mpigauge.campaign.loop import CampaignLoop
from mpigauge.campaign.state import CampaignState, LaunchKey
from mpigauge.campaign.targets import Target
from mpigauge.cli.screen.tables import TableOptions, tabulate
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

NO_SIGNALS = SimpleNamespace(signal=None, comes_within=lambda _: False, calm=lambda: None)
"""Stand-in for the signals that might interrupt a campaign."""


class SilentObserver:
    """Observer that shows nothing."""

    def __getattr__(self, _: str) -> Callable[..., None]:
        """Return a method that does nothing."""
        return lambda *_, **__: None


def _check_complete(whole: bool) -> None:
    """Refuse a step that has ended early: it would look fast."""
    if not whole:
        raise JobError("a step did not come to its end")


# ---- Planning ------------------------------------------------------------------------------------


def planning(_: Path, cells: int) -> Run:
    """Prepare to turn a plan into cells."""
    return partial(fake_cells, cells)


def planning_visits(_: Path, cells: int) -> Run:
    """Prepare to shuffle the visits of a launch and write them for the kernel."""
    cells_of_plan, plan, description = fake_cells(cells), fake_plan(cells), fake_description()

    def run() -> None:
        visits = visits_of(cells_of_plan, plan, description, 1)
        parts_of(kernel_plan(visits, plan, Limits(0.05, 1e9), 2))

    return run


def placing(_: Path, hosts: int) -> Run:
    """Prepare to turn a list of hosts into the command of a launch with ten ranks on each."""

    def run() -> None:
        named = hosts_of(",".join(f"node{number:04d}:10" for number in range(hosts)))
        places = places_of("different-hosts", named, 10 * hosts, "growth")
        job = Job(Path("mpiexec"), 10 * hosts, ("kernel", "-", "-"), 10 * hosts, hosts=places)
        command_of(job, "openmpi")

    return run


# ---- One launch ----------------------------------------------------------------------------------


class FakeJob:
    """Stand-in for a running job: its lines are read from memory."""

    last_words = ""
    undead = ()

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines

    def __enter__(self) -> Self:
        """Return the job, as if it had been started."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing, as if the job had ended."""

    def lines(
        self, patience_s: Callable[[], float], busy: Callable[[], bool], counts: Callable[[bytes], bool]
    ) -> Iterator[bytes]:
        """Yield the lines, with the calls that a job makes for each."""
        for line in self._lines:
            busy()
            yield line
            if counts(line):
                patience_s()

    def wait(self, _: float) -> int:
        """Return the status of a job that has ended well."""
        return 0


def _journal(visits: Sequence[PlannedVisit], ranks: int) -> list[bytes]:
    """Return a kernel's journal of a launch: the ranks' places in the first line, then two lines a visit."""
    places = [fake_place(rank) for rank in range(ranks)]
    facts = {"kernel": 1, "ranks": ranks, "ranks_asked": ranks, "library": "Open MPI v5.0.11"}
    facts |= {"mpi_standard": "3.1", "clock": "CLOCK_MONOTONIC_RAW", "placement": places}
    lines: list[object] = [{"launch": facts}]
    samples = fake_samples(25)
    for visit in visits:
        lines.append({"begin": visit.id, "at_ns": visit.id * 1000, "expect_ns": 1000})
        core = msgspec.to_builtins(fake_visit(1, visit.id, visit.cell, samples))
        core = {name: core[name] for name in Visit.__struct_fields__ if name not in FIELDS_NOT_IN_JOURNAL}
        times = {"at_ns": 1000, "elapsed_ns": 1000, "window": 1, "cpu_ns": 2000}
        lines.append({"visit": visit.id, **times, **core})
    return [msgspec.json.encode(line) for line in [*lines, {"end": 1}]]


FIELDS_NOT_IN_JOURNAL = ("launch", "id", "cell", "at_s", "elapsed_s", "cpu_ns", "relay_late")
"""Fields of a visit that the kernel's line has otherwise or not at all."""


def launching(folder: Path, cells: int) -> Run:
    """Prepare to turn the lines of one launch into records."""
    cells_of_plan = fake_cells(cells)
    return _bookkeeping(folder, visits_of(cells_of_plan, fake_plan(cells), fake_description(), 1), 2)


def ranking(folder: Path, ranks: int) -> Run:
    """Prepare to turn one visit of many ranks into records."""
    cell = msgspec.structs.replace(fake_cells(10)[0], ranks=ranks)
    return _bookkeeping(folder, [PlannedVisit(0, cell)], ranks)


def _bookkeeping(folder: Path, visits: Sequence[PlannedVisit], ranks: int) -> Run:
    lines = _journal(visits, ranks)
    hosts = tuple(fake_place(rank).host for rank in range(ranks))
    setattr(job_run, "RunningJob", lambda *_, **__: FakeJob(lines))  # noqa: B010 - in place of a process
    numbers = itertools.count()

    def run() -> None:
        with writer.create(folder / f"launch-{next(numbers)}.jsonl") as file:
            state = CampaignState(file)
            silent: Any = SilentObserver()
            troubles = Troubles(silent.trouble)
            around = RunContext(state, silent, NO_SIGNALS, fake_plan(10), None, troubles)  # type: ignore[arg-type]
            target = Target(fake_library(), Path("kernel"), fake_description(), [])
            job = Job(Path("mpiexec"), ranks, ("kernel", "-", "-"), ranks, hosts=hosts)
            attempt = JobRun(around, target, LaunchKey.of(1, visits[0].cell), job, visits, "")
            attempt.run()
            _check_complete(attempt.ended)

    return run


# ---- A campaign ----------------------------------------------------------------------------------


@dataclass
class FakeLaunch:
    """Stand-in for an mpiexec that has measured everything at once."""

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
        """Append the records of a launch; every second one is slower, so that precision is never reached."""
        number = self.key.number
        self.around.state.append(fake_launch(number, self.key.job, 2))
        samples = fake_samples(25, 1000 * (1 + number % 2))
        for visit in self.visits:
            self.around.state.append(fake_visit(number, visit.id, visit.cell, samples))


def closing(folder: Path, launches: int) -> Run:
    """Prepare all launches of a campaign of 20 cells, which take no time: what remains is bookkeeping."""
    cells, numbers = fake_cells(20), itertools.count()
    plan = msgspec.structs.replace(fake_plan(20), launches_max=launches, precision=1e-6)
    setattr(loop, "JobRun", FakeLaunch)  # noqa: B010 - in place of mpiexec

    def run() -> None:
        with writer.create(folder / f"campaign-{next(numbers)}.jsonl") as file:
            file.append(fake_campaign(cells, plan))
            target = Target(fake_library(), Path("kernel"), fake_description(), cells)
            silent: Any = SilentObserver()
            nothing: Any = NO_SIGNALS
            _check_complete(CampaignLoop(plan, [target], file, silent, nothing).run() == "launches")

    return run


# ---- Results -------------------------------------------------------------------------------------


def reading(folder: Path, samples: int) -> Run:
    """Prepare to read the bytes of a result: a lower bound for loading it."""
    return write_result_of_samples(folder, samples).read_bytes


def decoding(folder: Path, samples: int) -> Run:
    """Prepare to decode the lines of a result as untyped JSON."""
    path = write_result_of_samples(folder, samples)

    def run() -> None:
        with path.open("rb") as file:
            for line in file:
                msgspec.json.decode(line)

    return run


def loading(folder: Path, samples: int) -> Run:
    """Prepare to load a result."""
    return partial(load, write_result_of_samples(folder, samples))


def loading_bytes(folder: Path, size: int) -> Run:
    """Prepare to load a result of short visits, of this many bytes."""
    return partial(load, write_result_of_bytes(folder, size))


def _show(path: Path) -> None:
    tabulate([path], TableOptions(None, "text", (), "median", ""))


def showing(folder: Path, samples: int) -> Run:
    """Prepare to run `mpigauge show`, loading included."""
    return partial(_show, write_result_of_samples(folder, samples))


def showing_cells(folder: Path, cells: int) -> Run:
    """Prepare to show a result of many cells in three launches."""
    return partial(_show, write_result(folder / "cells.jsonl", fake_cells(cells), 3, 5))


def showing_ranks(folder: Path, ranks: int) -> Run:
    """Prepare to show a result of ten launches of many ranks."""
    cells = [msgspec.structs.replace(cell, ranks=ranks) for cell in fake_cells(20)]
    return partial(_show, write_result(folder / "ranks.jsonl", cells, 10, 25, ranks))


@dataclass(frozen=True)
class Step:
    """Step of a campaign whose cost grows.

    Attributes:
        of: Quantity that grows.
        sizes: Measured sizes.
        most: Sizes that take minutes or gigabytes.
    """

    about: str
    of: str
    prepare: Callable[[Path, int], Run]
    sizes: Sequence[int]
    most: Sequence[int] = ()


STEPS: Mapping[str, Step] = {
    "planning": Step("plan to cells", "cells", planning, (100, 1000, 10_000), (100_000,)),
    "telling": Step(
        "visits in the kernel's words", "cells", planning_visits, (100, 1000, 10_000), (100_000,)
    ),
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
