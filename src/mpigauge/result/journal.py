"""The kernel's journal lines. Only this module and text/ of the kernel know them."""

from typing import Any, get_args

import msgspec
from msgspec import Struct

from mpigauge.result.kernel_data import ClockCheck, ClockModel, EagerCore, RankPlace, VisitCore
from mpigauge.units import NS
from mpigauge.vocabulary import SkipReason


class Facts(Struct, frozen=True):
    """What the kernel says of its launch, first of all."""

    kernel: int
    ranks: int
    ranks_asked: int
    library: str
    mpi_standard: str
    clock: str
    placement: tuple[RankPlace, ...]


class ReadyLine(Struct, frozen=True):
    """The kernel has so many bytes of its plan and asks for the next part."""

    ready: int


class LaunchLine(Struct, frozen=True):
    """The first line of a launch."""

    launch: Facts


class BeginLine(Struct, frozen=True):
    """A visit begins; expect_ns is what its rounds should take, 0 if that is not known yet."""

    begin: int
    at_ns: int
    expect_ns: int

    @property
    def at_s(self) -> float:
        """When it begins, after the launch's start."""
        return self.at_ns * NS

    @property
    def expect_s(self) -> float:
        """What its rounds should take; 0 if that is not known yet."""
        return self.expect_ns * NS


class TickLine(Struct, frozen=True):
    """A slow visit is alive: its last round took so long (0: it is a probe, which has none)."""

    tick: int
    round_ns: int

    @property
    def round_s(self) -> float:
        """What its last round took."""
        return self.round_ns * NS


class VisitLine(VisitCore, frozen=True):
    """The samples of a visit; cpu_ns is -1 if it is not known."""

    visit: int
    at_ns: int
    elapsed_ns: int
    window: int
    cpu_ns: int

    @property
    def at_s(self) -> float:
        """When it began, after the launch's start."""
        return self.at_ns * NS

    @property
    def elapsed_s(self) -> float:
        """How long it took."""
        return self.elapsed_ns * NS


class ClockLine(Struct, frozen=True):
    """The global clock was learned (models) or checked; clock is the time since the start in ns."""

    clock: int
    shared: bool
    checks: tuple[ClockCheck, ...]
    models: tuple[ClockModel, ...]

    @property
    def at_s(self) -> float:
        """When that was, after the launch's start."""
        return self.clock * NS


class SkipLine(Struct, frozen=True):
    """A visit that was not needed (precise, share, closed) or not possible any more (time)."""

    skip: int
    reason: SkipReason


class BlockedLine(EagerCore, frozen=True):
    """A visit that was not started, since it would deadlock above this eager limit."""

    blocked: int


class EagerLine(EagerCore, frozen=True):
    """The eager limit, as a visit found it."""

    eager: int
    at_ns: int


class RefusedLine(Struct, frozen=True):
    """A visit that the kernel cannot make, and why."""

    refused: int
    reason: str


class EndLine(Struct, frozen=True):
    """The launch is whole; end is the time since its start in ns."""

    end: int

    @property
    def at_s(self) -> float:
        """When it ended, after its start."""
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
"""By the first field of a line, which no other line has."""


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
