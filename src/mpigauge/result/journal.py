"""The kernel's journal lines. Only this module and text/ of the kernel know them."""

import re
from typing import Any, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mpigauge.plan.model import Int64
from mpigauge.result.cpu_models import named
from mpigauge.result.kernel_data import (
    ClockCheck,
    ClockModel,
    EagerCore,
    HostCards,
    Machine,
    RankPlace,
    VisitCore,
)
from mpigauge.units import NS
from mpigauge.vocabulary import SkipReason


class Facts(Struct, frozen=True):
    """What the kernel says of its launch, first of all."""

    kernel: Int64
    ranks: Int64
    ranks_asked: Int64
    library: str
    mpi_standard: str
    clock: str
    placement: tuple[RankPlace, ...]
    cards: tuple[HostCards, ...] = ()
    machines: tuple[Machine, ...] = ()
    first_round_trip_ns: Int64 = -1
    traced_ranks: Int64 = -1

    @property
    def machines_named(self) -> tuple[Machine, ...]:
        """The machines, with the names of processors that their systems give numbers."""
        return tuple(replace(machine, cpu=named(machine.cpu)) for machine in self.machines)


class ReadyLine(Struct, frozen=True, forbid_unknown_fields=True):
    """The kernel has so many bytes of its plan and asks for the next part."""

    ready: Int64


class LaunchLine(Struct, frozen=True):
    """The first line of a launch."""

    launch: Facts


class BeginLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A visit begins; expect_ns is what its rounds should take, 0 if that is not known yet."""

    begin: Int64
    at_ns: Int64
    expect_ns: Int64

    @property
    def at_s(self) -> float:
        """When it begins, after the launch's start."""
        return self.at_ns * NS

    @property
    def expect_s(self) -> float:
        """What its rounds should take; 0 if that is not known yet."""
        return self.expect_ns * NS


class TickLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A slow visit is alive: its last round took so long (0: it is a probe, which has none)."""

    tick: Int64
    round_ns: Int64

    @property
    def round_s(self) -> float:
        """What its last round took."""
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
        """When it began, after the launch's start."""
        return self.at_ns * NS

    @property
    def elapsed_s(self) -> float:
        """How long it took."""
        return self.elapsed_ns * NS


class ClockLine(Struct, frozen=True):
    """The global clock was learned (models) or checked; clock is the time since the start in ns."""

    clock: Int64
    shared: bool
    checks: tuple[ClockCheck, ...]
    models: tuple[ClockModel, ...]

    @property
    def at_s(self) -> float:
        """When that was, after the launch's start."""
        return self.clock * NS


class SkipLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A visit that was not needed (precise, share, closed) or not possible any more (time)."""

    skip: Int64
    reason: SkipReason


class BlockedLine(EagerCore, frozen=True):
    """A visit that was not started, since it would deadlock above this eager limit."""

    blocked: Int64


class EagerLine(EagerCore, frozen=True):
    """The eager limit, as a visit found it."""

    eager: Int64
    at_ns: Int64


class RefusedLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A visit that the kernel cannot make, and why."""

    refused: Int64
    reason: str


class EndLine(Struct, frozen=True, forbid_unknown_fields=True):
    """The launch is whole; end is the time since its start in ns."""

    end: Int64

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


_BEGINNING = re.compile(rb'([^{"\n]{0,4096})\{"(' + "|".join(_DECODERS).encode() + rb')":')
"""How they begin, behind what a library has written without an end of line."""


def is_ours(text: bytes) -> bool:
    """Whether a line begins as those of the kernel do, be it whole or cut off."""
    return _BEGINNING.match(text) is not None


def parse(text: bytes) -> Line | None:
    """A journal line, or None if it is something else that the job has printed."""
    begin = _BEGINNING.match(text)
    if begin is None:
        return None
    try:
        line: Line = _DECODERS[begin[2].decode()].decode(text[len(begin[1]) :])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return line
