"""Journal lines become records: what the kernel said, put beside what only its plan knows.

Nothing here runs a job: a campaign reads the lines as they come, an import from a file.
"""

from collections.abc import Mapping
from typing import Protocol

from mpigauge.plan.model import Cell, JobKey
from mpigauge.result import journal
from mpigauge.result.records import Blocked, Clock, Eager, Failure, Record, Visit


class Launched(Protocol):
    """What names a launch; its record does, and whatever a campaign calls it by."""

    @property
    def number(self) -> int: ...
    @property
    def job(self) -> JobKey: ...


def visit_of(line: journal.Line) -> int | None:
    """The visit that a line is about, if it is about one."""
    match line:
        case journal.ReadyLine() | journal.LaunchLine() | journal.ClockLine() | journal.EndLine():
            return None
        case (
            journal.BeginLine(number)
            | journal.TickLine(number)
            | journal.VisitLine(number)
            | journal.SkipLine(number)
            | journal.BlockedLine(number)
            | journal.EagerLine(number)
            | journal.RefusedLine(number)
        ):
            return number


def records_of(line: journal.Line, launch: Launched, cells: Mapping[int, Cell]) -> tuple[Record, ...]:
    """What a line leaves in the result file; nothing, if it tells of the course only.

    The launch line is not among them: most of that record only the one knows who started the job.

    Args:
        cells: By visit.
    """
    number = launch.number
    match line:
        case journal.ClockLine():
            return (_clock(line, launch),)
        case journal.VisitLine(visit):
            return _visit(line, number, cells[visit])
        case journal.RefusedLine(visit, reason):
            return (Failure(number, "refused", reason, visit, cells[visit]),)
        case journal.BlockedLine(visit):
            return (Blocked(number, visit, cells[visit], line.found, line.longer_bytes),)
        case journal.EagerLine(visit):
            return (_eager(line, number, cells[visit]),)
    return ()


def _clock(line: journal.ClockLine, launch: Launched) -> Clock:
    return Clock(
        launch=launch.number,
        mpi=launch.job.mpi,
        mpi_version=launch.job.mpi_version,
        ranks=launch.job.ranks,
        at_s=line.clock * 1e-9,
        shared=line.shared,
        checks=line.checks,
        models=line.models,
        transport=launch.job.transport,
        placed=launch.job.placement,
    )


def _visit(line: journal.VisitLine, launch: int, cell: Cell) -> tuple[Record, ...]:
    """The visit, and what its payload says against it."""
    visit = Visit(
        launch=launch,
        id=line.visit,
        cell=cell,
        at_s=line.at_ns * 1e-9,
        elapsed_s=line.elapsed_ns * 1e-9,
        batch=line.batch,
        ops=line.ops,
        pool_bytes=line.pool_bytes,
        cpu_ns=line.cpu_ns if line.cpu_ns >= 0 else None,
        net_bytes=line.net_bytes,
        net_calls=line.net_calls,
        trial_ns=line.trial_ns,
        warmup_ns=line.warmup_ns,
        samples_ns=line.samples_ns,
        correlation_time=line.correlation_time,
        effective=line.effective,
        half_width=line.half_width,
        corrupt=line.corrupt,
        lead_ns=line.lead_ns,
        late=line.late,
        skew_ns=line.skew_ns,
        root_ns=line.root_ns,
        local_ns=line.local_ns,
        pure_ns=line.pure_ns,
        work_ns=line.work_ns,
    )
    if not line.corrupt:
        return (visit,)
    return visit, Failure(launch, "corrupt", line.corrupt, line.visit, cell)


def _eager(line: journal.EagerLine, launch: int, cell: Cell) -> Eager:
    return Eager(
        launch=launch,
        id=line.eager,
        cell=cell,
        found=line.found,
        control_held=line.control_held,
        limit_bytes=line.limit_bytes,
        longer_bytes=line.longer_bytes,
        max_bytes=line.max_bytes,
        probes=line.probes,
    )
