"""From journal lines to records: what the kernel says, with what only its plan knows.

Nothing here runs a job: a campaign reads the lines as they come, an import from a file.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from mpigauge import units
from mpigauge.plan.model import Cell, JobKey
from mpigauge.result import journal
from mpigauge.result.kernel_data import EagerCore, VisitCore
from mpigauge.result.records import Blocked, Clock, Eager, Failure, Launch, Record, Visit

LAUNCH_CORE = [name for name in journal.Facts.__struct_fields__ if name in Launch.__struct_fields__]
"""Names of the fields that the first line of the kernel and the record of its launch share."""


class LaunchIdentity(Protocol):
    """The identity of a launch: of its record, or of the campaign's key for it."""

    @property
    def number(self) -> int: ...
    @property
    def job(self) -> JobKey: ...


def visit_of(line: journal.Line) -> int | None:
    """Return the id of the visit that a line is about; None if it is not about a visit."""
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


def is_answer(line: journal.Line) -> bool:
    """Return whether a line answers its visit: made, skipped, or not possible."""
    return not isinstance(line, journal.BeginLine | journal.TickLine) and visit_of(line) is not None


def incomplete_sentence(missing: int, asked: int) -> str:
    """Return why a launch is incomplete although its journal has an end."""
    return f"journal incomplete: {missing} of {units.counted(asked, 'visit')} without an answer"


def launch_core(facts: journal.Facts) -> dict[str, Any]:
    """Return what the record of a launch has of the kernel's first line."""
    shared = {name: getattr(facts, name) for name in LAUNCH_CORE}
    return shared | {"machines": facts.machines_named}


def records_of(line: journal.Line, launch: LaunchIdentity, cells: Mapping[int, Cell]) -> tuple[Record, ...]:
    """Yield the records of a line for the result file; none if the line only reports progress.

    There is none for the launch line: most of that record is known only to whoever started the job.

    Args:
        cells: Cells by visit id.
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
            core = _core(line, EagerCore)
            return (Eager(launch=number, id=visit, cell=cells[visit], crossing=line.crossing, **core),)
    return ()


def _clock(line: journal.ClockLine, launch: LaunchIdentity) -> Clock:
    return Clock(launch.number, launch.job, line.at_s, line.shared, line.checks, line.models)


def _visit(line: journal.VisitLine, launch: int, cell: Cell) -> tuple[Record, ...]:
    """Yield the visit, and a failure if its payload was corrupt."""
    visit = Visit(
        launch=launch,
        id=line.visit,
        cell=cell,
        at_s=line.at_s,
        elapsed_s=line.elapsed_s,
        cpu_ns=line.cpu_ns if line.cpu_ns >= 0 else None,
        **_core(line, VisitCore),
    )
    if not line.corrupt:
        return (visit,)
    return visit, Failure(launch, "corrupt", line.corrupt, line.visit, cell)


def _core(line: journal.VisitLine | journal.EagerLine, core: type[VisitCore | EagerCore]) -> dict[str, Any]:
    """Return the fields that a line and its record share."""
    return {field: getattr(line, field) for field in core.__struct_fields__}
