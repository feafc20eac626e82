"""The kernel's journal lines. Only this module and text/ of the kernel know them."""

import re
from collections.abc import Mapping
from typing import Any, Protocol, get_args

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from mpigauge import units
from mpigauge.plan.model import Cell, Int64, JobKey
from mpigauge.plan.strings import LongText, ShortText
from mpigauge.result.cpu_models import readable_model
from mpigauge.result.kernel_data import (
    ClockCheck,
    ClockModel,
    CrossingSamples,
    EagerCore,
    HostCards,
    Machine,
    RankPlace,
    VisitCore,
)
from mpigauge.result.records import Blocked, Clock, Eager, Failure, Launch, Record, Visit
from mpigauge.units import NS
from mpigauge.vocabulary import SkipReason


class Facts(Struct, frozen=True):
    """The kernel's description of its launch, its first line."""

    kernel: Int64
    ranks: Int64
    ranks_asked: Int64
    library: LongText
    mpi_standard: ShortText
    clock: ShortText
    ranks_at: tuple[RankPlace, ...] = field(name="placement")
    cards: tuple[HostCards, ...] = ()
    machines: tuple[Machine, ...] = ()
    first_round_trip_ns: Int64 = -1
    init_ns: Int64 = -1
    init_median_ns: Int64 = -1
    traced_ranks: Int64 = -1

    @property
    def machines_named(self) -> tuple[Machine, ...]:
        """The machines, with names for processors that their systems number."""
        return tuple(replace(machine, cpu=readable_model(machine.cpu)) for machine in self.machines)


class ReadyLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A request for the next part of the plan; `ready` is the number of bytes received."""

    ready: Int64


class LaunchLine(Struct, frozen=True):
    """The first line of a launch."""

    launch: Facts


class BeginLine(Struct, frozen=True, forbid_unknown_fields=True):
    """The begin of a visit; expect_ns is the expected time of its rounds, 0 if not known yet."""

    begin: Int64
    at_ns: Int64
    expect_ns: Int64

    @property
    def at_s(self) -> float:
        """Begin in seconds after the launch's start."""
        return self.at_ns * NS

    @property
    def expect_s(self) -> float:
        """Expected time of its rounds in seconds; 0 if not known yet."""
        return self.expect_ns * NS


class TickLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A sign of life of a slow visit; round_ns is the time of its last round, 0 for a probe."""

    tick: Int64
    round_ns: Int64

    @property
    def round_s(self) -> float:
        """Time of its last round in seconds."""
        return self.round_ns * NS


class VisitLine(VisitCore, frozen=True):
    """The samples of a visit; cpu_ns is -1 if it is not known."""

    visit: Int64
    at_ns: Int64
    elapsed_ns: Int64
    window: Int64
    cpu_ns: Int64

    @property
    def at_s(self) -> float:
        """Begin in seconds after the launch's start, to a microsecond: digits of noise fill a result."""
        return round(self.at_ns * NS, 6)

    @property
    def elapsed_s(self) -> float:
        """Duration in seconds, to four digits."""
        return float(f"{self.elapsed_ns * NS:.4g}")


class ClockLine(Struct, frozen=True):
    """The global clock, synchronised (models) or checked; clock is the time since the start in ns."""

    clock: Int64
    shared: bool
    checks: tuple[ClockCheck, ...]
    models: tuple[ClockModel, ...]

    @property
    def at_s(self) -> float:
        """Time in seconds after the launch's start."""
        return self.clock * NS


class SkipLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A skipped visit: not needed (precise, share, closed) or too late (time)."""

    skip: Int64
    reason: SkipReason


class BlockedLine(EagerCore, frozen=True):
    """A visit that was not started, since it would deadlock above this eager limit, in bytes."""

    blocked: Int64


class EagerLine(EagerCore, frozen=True):
    """The eager limit that a visit found."""

    eager: Int64
    at_ns: Int64
    crossing: CrossingSamples | None = None


class RefusedLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A visit that the kernel cannot make, with the reason."""

    refused: Int64
    reason: LongText


class EndLine(Struct, frozen=True, forbid_unknown_fields=True):
    """The end of a complete launch; end is the time since its start in ns."""

    end: Int64

    @property
    def at_s(self) -> float:
        """End in seconds after the launch's start."""
        return self.end * NS


Line = (
    ReadyLine
    | LaunchLine
    | ClockLine
    | BeginLine
    | TickLine
    | VisitLine
    | SkipLine
    | BlockedLine
    | EagerLine
    | RefusedLine
    | EndLine
)

_DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    line.__struct_fields__[0]: msgspec.json.Decoder(line) for line in get_args(Line)
}
"""Decoders by the first field of a line, which no other kind of line has."""


_BEGINNING = re.compile(rb'([^{"\n]{0,4096})\{"(' + "|".join(_DECODERS).encode() + rb')":')
"""Beginning of the kernel's lines, after what a library has written without a newline."""


def is_kernel_line(text: bytes) -> bool:
    """Return whether a line begins as the kernel's do, complete or not."""
    return _BEGINNING.match(text) is not None


def parse(text: bytes) -> Line | None:
    """Return a journal line, or None for any other output of the job."""
    begin = _BEGINNING.match(text)
    if begin is None:
        return None
    try:
        line: Line = _DECODERS[begin[2].decode()].decode(text[len(begin[1]) :])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return line


LAUNCH_CORE = [name for name in Facts.__struct_fields__ if name in Launch.__struct_fields__]
"""Names of the fields that the first line of the kernel and the record of its launch share."""


class LaunchIdentity(Protocol):
    """The identity of a launch: of its record, or of the campaign's key for it."""

    @property
    def number(self) -> int: ...
    @property
    def job(self) -> JobKey: ...


def visit_of(line: Line) -> int | None:
    """Return the id of the visit that a line is about; None if it is not about a visit."""
    match line:
        case ReadyLine() | LaunchLine() | ClockLine() | EndLine():
            return None
        case (
            BeginLine(number)
            | TickLine(number)
            | VisitLine(number)
            | SkipLine(number)
            | BlockedLine(number)
            | EagerLine(number)
            | RefusedLine(number)
        ):
            return number


def is_answer(line: Line) -> bool:
    """Return whether a line answers its visit: made, skipped, or not possible."""
    return not isinstance(line, BeginLine | TickLine) and visit_of(line) is not None


def incomplete_sentence(missing: int, asked: int) -> str:
    """Return why a launch is incomplete although its journal has an end."""
    return f"journal incomplete: {missing} of {units.counted(asked, 'visit')} without an answer"


def launch_core(facts: Facts) -> dict[str, Any]:
    """Return what the record of a launch has of the kernel's first line."""
    shared = {name: getattr(facts, name) for name in LAUNCH_CORE}
    return shared | {"machines": facts.machines_named}


def records_of(line: Line, launch: LaunchIdentity, cells: Mapping[int, Cell]) -> tuple[Record, ...]:
    """Yield the records of a line for the result file; none if the line only reports progress.

    There is none for the launch line: most of that record is known only to whoever started the job.

    Args:
        cells: Cells by visit id.
    """
    number = launch.number
    match line:
        case ClockLine():
            return (_clock(line, launch),)
        case VisitLine(visit):
            return _visit(line, number, cells[visit])
        case RefusedLine(visit, reason):
            return (Failure(number, "refused", reason, visit, cells[visit]),)
        case BlockedLine(visit):
            return (Blocked(number, visit, cells[visit], line.found, line.longer_bytes),)
        case EagerLine(visit):
            core = _core(line, EagerCore)
            return (Eager(launch=number, id=visit, cell=cells[visit], crossing=line.crossing, **core),)
    return ()


def _clock(line: ClockLine, launch: LaunchIdentity) -> Clock:
    return Clock(launch.number, launch.job, line.at_s, line.shared, line.checks, line.models)


def _visit(line: VisitLine, launch: int, cell: Cell) -> tuple[Record, ...]:
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


def _core(line: VisitLine | EagerLine, core: type[VisitCore | EagerCore]) -> dict[str, Any]:
    """Return the fields that a line and its record share."""
    return {field: getattr(line, field) for field in core.__struct_fields__}
