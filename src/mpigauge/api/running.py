"""Measure from a script or a notebook: the campaign that `mpigauge run` would make of the same plan."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mpigauge.api.result import PathLike, Result
from mpigauge.ask import check_measured
from mpigauge.campaign.measuring import measure
from mpigauge.campaign.prepare import lab_to_enter, prepare
from mpigauge.errors import UsageError, choose_from
from mpigauge.plan import names, plan_file
from mpigauge.plan.plan_file import OF_A_FILE, Asked
from mpigauge.plan.source import ChosenPlan, check_source, plan_of
from mpigauge.programs import signal_name
from mpigauge.result import files
from mpigauge.result.writer import check_free
from mpigauge.rows.rows import rows, why_nothing

if TYPE_CHECKING:
    from mpigauge.campaign.job_run import Observer
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record
    from mpigauge.vocabulary import SuiteName

LOG = logging.getLogger("mpigauge")
PLAN_FILES = ".toml"
OPTIONS = tuple(name for name in Asked.__struct_fields__ if name not in OF_A_FILE)
"""Options of `run` besides the plan: the keys of plan files."""

LISTS = frozenset(name for name in OPTIONS if isinstance(getattr(Asked(), name), tuple))

Planned = Mapping[str, Any] | PathLike | Sequence[str] | None


def run(
    plan: Planned = None,
    *,
    output: PathLike | None = None,
    suite: SuiteName | None = None,
    quick: bool = False,
    thorough: bool = False,
    **options: Any,
) -> Result:
    """Measure, and load the result. Progress goes to the logger `mpigauge`, which is silent by default.

    Call it in the main thread, since it handles signals. A signal (Ctrl-C) first ends the campaign, so that
    all finished visits are in the file, and then has its usual effect. If that is a handler which returns,
    the result is incomplete: its `stopped` names the signal.

    Args:
        plan: A plan as a dict with the keys of a plan file; a plan file (a `Path`, or a string that ends in
            `.toml`); one or several names of patterns; None for what `mpigauge run` measures.
        output: The result file; it must not exist. None: a new one in `results/`.
        suite: A built-in plan, as `--suite`.
        quick: A first look: few sizes, in 12 seconds per job.
        thorough: Ten minutes per job, more sizes.
        options: Changes to the plan, by the keys of a plan file: `sizes="8,1KiB"`, `ranks=[2, 4]`,
            `budget="10s"`, `mpi="openmpi"`. A list of one value may be given as that value.

    Raises:
        UsageError: The plan or an option is invalid.
        EnvironmentLacksError: A library or a launcher is missing or does not work.
        JobError: Nothing could be measured.
        InterruptedError: A signal came before anything was measured, and its handler has returned.
    """
    if threading.current_thread() is not threading.main_thread():
        raise UsageError("mpigauge.run must be called in the main thread", "start another process for it")
    file = None if output is None else Path(output)
    if file is not None:
        check_free(file)
    chosen = _plan_of(plan, options, suite=suite, quick=quick, thorough=thorough)
    session = prepare(chosen.plan, chosen.where, per_job=chosen.per_job)
    if session.time_of_jobs:
        LOG.info("%s", session.time_of_jobs)
    done = measure(session, file, files.default_path(), _observing)
    stopped = None
    if done.signal is not None:
        stopped = signal_name(done.signal)
        LOG.warning("stopped by %s; %s", stopped, done.lost or f"all finished visits are in {done.path}")
        signal.raise_signal(done.signal)
    result = done.result
    if done.lost:
        LOG.error("%s", done.lost)
    measured = rows(result)
    if stopped and why_nothing(measured):
        raise InterruptedError(f"{done.path}: {stopped} came before anything was measured")
    check_measured(done.path, measured)
    return Result([result], stopped)


def _plan_of(
    plan: Planned, values: Mapping[str, Any], *, suite: SuiteName | None, quick: bool, thorough: bool
) -> ChosenPlan:
    """Return the plan that a call asks for."""
    file, patterns, where = _read(plan)
    over = _asked(values)
    check_source(plan=file is not None, suite=suite, quick=quick, thorough=thorough)
    chosen = plan_of(
        file, over, suite, where, [(pattern, "") for pattern in patterns], quick=quick, thorough=thorough
    )
    if lab_to_enter(chosen.plan, where) is not None:
        raise UsageError(
            f"{where}: asks for a lab, which takes a process of its own", "mpigauge run --plan FILE"
        )
    return chosen


def _read(plan: Planned) -> tuple[Asked | None, tuple[str, ...], str]:
    """Return the plan file if it is one, the patterns if they are named, and the source that errors name."""
    if plan is None:
        return None, (), "mpigauge.run"
    if isinstance(plan, Mapping):
        return plan_file.file_of(plan, "the plan"), (), "the plan"
    if isinstance(plan, os.PathLike) or (isinstance(plan, str) and plan.endswith(PLAN_FILES)):
        return plan_file.read_file(Path(plan)), (), str(plan)
    patterns = (plan,) if isinstance(plan, str) else tuple(plan)
    known = names.patterns()
    for name in patterns:
        if name not in known:
            hint = choose_from(known, name, listed_by="mpigauge list")
            raise UsageError(f"no pattern is called {name!r}", hint)
    return None, patterns, "mpigauge.run"


def _asked(arguments: Mapping[str, Any]) -> Asked:
    """Return the options of a call, checked like the keys of a plan file.

    Raises:
        UsageError: There is no such option, or its value has another type.
    """
    for name in arguments:
        if name not in OPTIONS:
            raise UsageError(f"mpigauge.run: there is no option {name!r}", choose_from(OPTIONS, name))
    values = {name: _as_tuple(value) if name in LISTS else value for name, value in arguments.items()}
    if isinstance(sizes := values.get("sizes"), int | Sequence) and not isinstance(sizes, str):
        values["sizes"] = ",".join(map(str, _as_tuple(sizes)))
    try:
        return msgspec.convert(values, Asked)
    except msgspec.ValidationError as error:
        raise UsageError(f"mpigauge.run: {error}", "docs/formats.md lists the keys of a plan") from None


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple | range) else (value,)


# ---- Progress --------------------------------------------------------------------------------


class LoggingObserver:
    """Observer that writes to a logger."""

    def launch_begins(self, number: int, part: int, job: str, visits: int) -> None:
        """Log the launch."""
        LOG.debug("launch %d, part %d: %s: %d visits", number, part, job, visits)

    def job_starts(self) -> None:
        """Do nothing."""

    def visit_begins(self, cell: Cell) -> None:
        """Do nothing."""

    def recorded(self, record: Record) -> None:
        """Do nothing."""

    def visit_ends(self) -> None:
        """Do nothing."""

    def launch_ends(self, number: int, job: str, seconds: float, samples: int) -> None:
        """Log the number of samples."""
        LOG.info("launch %d: %s: %d samples in %.1f s", number, job, samples, seconds)

    def waits(self, number: int, seconds: float) -> None:
        """Log the pause."""
        LOG.info("launch %d begins in %.0f s", number, seconds)

    def rests(self) -> None:
        """Do nothing."""

    def resizes(self) -> None:
        """Do nothing."""

    def goes_on(self, seconds: float) -> None:
        """Log how long the campaign was suspended."""
        LOG.info("was stopped for %.0f s", seconds)

    def trouble(self, sentence: str) -> None:
        """Log a warning."""
        LOG.warning("%s", sentence)


@contextmanager
def _observing(_: Path) -> Iterator[Observer]:
    yield LoggingObserver()
