"""Reasons why a cell has no number, or one that cannot be relied on: facts, without what computes."""

from dataclasses import dataclass

from mpigauge.rows.group import Subject
from mpigauge.vocabulary import FailureKind, RefutationKind


@dataclass(frozen=True, slots=True)
class OutOfTime:
    """The kernel had no time for the cell.

    Attributes:
        in_budget: Whether it was a budget that ended it. Launches without one had a day in older versions.
    """

    in_budget: bool = True


@dataclass(frozen=True, slots=True)
class NotReached:
    """The campaign ended before the cell had its turn."""


@dataclass(frozen=True, slots=True)
class NotInState:
    """The cell was measured, but never in the state of the machine that was asked for.

    Attributes:
        of: The cell, in that state.
    """

    of: Subject


@dataclass(frozen=True, slots=True)
class NeverQuiet:
    """The cell was measured, but never while the machine was quiet, and only that is asked for."""


@dataclass(frozen=True, slots=True)
class CellFailed:
    """Something went wrong while the cell was measured.

    Attributes:
        launch: The number of the launch in which it did.
        line: What most likely says why, of the job's last words; empty if it said nothing.
    """

    kind: FailureKind
    launch: int
    line: str


@dataclass(frozen=True, slots=True)
class LaunchFailed:
    """No launch came as far as measuring; `line` as for `CellFailed`."""

    line: str


@dataclass(frozen=True, slots=True)
class WouldDeadlock:
    """Blocking sends of this size would wait for each other.

    Attributes:
        limit_bytes: The eager limit, or the largest message that completed alone.
        found: Whether it is the limit.
    """

    limit_bytes: int
    found: bool


@dataclass(frozen=True, slots=True)
class FromPublication:
    """The number was published by others; `statistic` is which one it is of their samples, if they say so."""

    statistic: str


@dataclass(frozen=True, slots=True)
class ProbeUnreliable:
    """MPI_Issend completed without a receiver, so that the probe of the eager limit proves nothing."""


@dataclass(frozen=True, slots=True)
class NoEagerLimit:
    """Messages of all sizes complete alone if one waits; `largest_bytes` is the largest that was tried."""

    largest_bytes: int


@dataclass(frozen=True, slots=True)
class LimitsDiffer:
    """Launches found different eager limits.

    Attributes:
        agreeing: How many launches found the limit that is shown.
        launches: How many launches probed.
        others_bytes: What the others found; None for no limit.
    """

    agreeing: int
    launches: int
    others_bytes: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Refutation:
    """The transport was not the one that the cell's label says.

    Attributes:
        transport: What the label says.
        share: Bytes over payload, on IP interfaces or, of `on-cards`, on RDMA cards; None where the library's
            report refutes it.
        reported: What the library reports; empty where the bytes refute it.
    """

    kind: RefutationKind
    transport: str
    share: float | None = None
    reported: str = ""


@dataclass(frozen=True, slots=True)
class ImplausibleRate:
    """Memory cannot be that fast: the compiler must have left the work out."""

    bytes_per_s: float


@dataclass(frozen=True, slots=True)
class LatePackets:
    """Packets of an emulated network were late by its delay or more, so that the number is of the emulator.

    Attributes:
        late_s: The least lateness of those that count as late.
    """

    late_s: float


Reason = (
    OutOfTime
    | NotReached
    | NotInState
    | NeverQuiet
    | CellFailed
    | LaunchFailed
    | WouldDeadlock
    | FromPublication
    | ProbeUnreliable
    | NoEagerLimit
    | LimitsDiffer
    | Refutation
    | ImplausibleRate
    | LatePackets
)
