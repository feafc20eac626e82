"""The kernel's journal lines. Only this module and the kernel's journal.c know them."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from mpigauge.plan.model import Positive
from mpigauge.result.records import ClockCheck, ClockModel, Nanoseconds, Placement, check_rounds
from mpigauge.vocabulary import SkipReason


class Facts(Struct, frozen=True):
    """What the kernel says of its launch, first of all."""

    kernel: int
    ranks: int
    ranks_asked: int
    library: str
    mpi_standard: str
    clock: str
    placement: tuple[Placement, ...]


class ReadyLine(Struct, frozen=True):
    """The kernel has so many bytes of its plan and asks for the next part."""

    ready: int


class LaunchLine(Struct, frozen=True):
    launch: Facts


class BeginLine(Struct, frozen=True):
    """A visit begins; expect_ns is what its rounds should take, 0 if that is not known yet."""

    begin: int
    at_ns: int
    expect_ns: int


class TickLine(Struct, frozen=True):
    """A slow visit is alive: its last round took so long (0: it is a probe, which has none)."""

    tick: int
    round_ns: int


class VisitLine(Struct, frozen=True):
    visit: int
    at_ns: int
    elapsed_ns: int
    batch: Positive
    ops: Positive
    window: int
    pool_bytes: int
    cpu_ns: int
    correlation_time: float
    effective: float
    trial_ns: list[Nanoseconds]
    warmup_ns: list[Nanoseconds]
    samples_ns: Annotated[list[Nanoseconds], Meta(min_length=1)]
    half_width: float | None = None
    corrupt: str = ""
    net_bytes: int = 0
    net_calls: int = 0
    work_ns: int = 0
    pure_ns: list[Nanoseconds] = []
    lead_ns: int = 0
    late: list[int] = []
    skew_ns: list[Nanoseconds] = []
    root_ns: list[int] = []
    local_ns: list[int] = []

    def __post_init__(self) -> None:
        """Refuses what the record would: a line that does not hold together is none of ours."""
        check_rounds(len(self.samples_ns), (self.skew_ns, self.root_ns, self.local_ns), self.late)


class ClockLine(Struct, frozen=True):
    """The global clock was learned (models) or checked; clock is the time since the start in ns."""

    clock: int
    shared: bool
    checks: tuple[ClockCheck, ...]
    models: tuple[ClockModel, ...]


class SkipLine(Struct, frozen=True):
    """A visit that was not needed (precise, share, closed) or not possible any more (time)."""

    skip: int
    reason: SkipReason


class BlockedLine(Struct, frozen=True):
    blocked: int
    found: bool
    control_held: bool
    limit_bytes: int
    longer_bytes: int
    max_bytes: int
    probes: int


class EagerLine(Struct, frozen=True):
    eager: int
    at_ns: int
    found: bool
    control_held: bool
    limit_bytes: int
    longer_bytes: int
    max_bytes: int
    probes: int


class RefusedLine(Struct, frozen=True):
    refused: int
    reason: str


class EndLine(Struct, frozen=True):
    end: int


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
    line.__struct_fields__[0]: msgspec.json.Decoder(line)
    for line in (
        ReadyLine,
        LaunchLine,
        ClockLine,
        BeginLine,
        TickLine,
        VisitLine,
        SkipLine,
        BlockedLine,
        EagerLine,
        RefusedLine,
        EndLine,
    )
}


def is_torn(text: bytes) -> bool:
    """Whether it looks like a journal line that was cut off: not a word of the job's own."""
    return any(text.startswith(b'{"' + key.encode() + b'":') for key in _DECODERS)


def parse(text: bytes) -> Line | None:
    """A journal line, or None if it is something else that the job has printed."""
    if not text.startswith(b'{"'):
        return None
    decoder = _DECODERS.get(text[2 : text.find(b'"', 2)].decode("ascii", "replace"))
    if decoder is None:
        return None
    try:
        line: Line = decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return line
