"""Why a cell is not ok, or what must be known of it, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from mpigauge.document.phrases import never_in_state
from mpigauge.rows.reasons import (
    CellFailed,
    FromPublication,
    ImplausibleRate,
    LatePackets,
    LaunchFailed,
    LimitsDiffer,
    NeverQuiet,
    NoEagerLimit,
    NotInState,
    NotReached,
    OutOfTime,
    ProbeUnreliable,
    Refutation,
    WouldDeadlock,
)
from mpigauge.units import format_percent, format_time

if TYPE_CHECKING:
    from mpigauge.rows.reasons import Reason
    from mpigauge.rows.rows import Row

NO_LAST_WORDS = "the job said nothing"


def reason(row: Row) -> str:
    """Return the reason of a row as one sentence; empty if there is nothing to say."""
    return "" if row.reason is None else reason_sentence(row.reason)


def status_and_reason(row: Row) -> str:
    """Return the status of a row and its reason: `failed: crash in launch 2: ...`."""
    if says_status(row):
        return reason(row)
    return f"{row.status}: {reason(row)}" if row.reason else row.status


def says_status(row: Row) -> bool:
    """Return whether a row's reason begins with its status: `timeout in launch 1: ...`."""
    return reason(row).startswith(row.status)


def reason_sentence(fact: Reason) -> str:  # noqa: C901, PLR0911 - a sentence each
    """Return the sentence of a reason, which JSON has as `reason`."""
    match fact:
        case OutOfTime():
            return f"there was no time for it {'within the budget' if fact.in_budget else 'in its launch'}"
        case NotReached():
            return "the campaign ended before it"
        case NotInState():
            return never_in_state(fact)
        case NeverQuiet():
            return "it was never measured on a quiet machine, and other visits are left out"
        case CellFailed():
            return f"{fact.kind} in launch {fact.launch}: {fact.line or NO_LAST_WORDS}"
        case LaunchFailed():
            return f"the launch failed: {fact.line or NO_LAST_WORDS}"
        case FromPublication():
            return f"imported, {fact.statistic}" if fact.statistic else "imported"
        case ImplausibleRate():
            return f"{fact.bytes_per_s:.3g} B/s are implausible: the compiler must have left the work out"
        case LatePackets():
            return f"late: many packets of the emulated network came {format_time(fact.late_s)} late or more"
        case Refutation():
            return _refutation(fact)
        case WouldDeadlock() | ProbeUnreliable() | NoEagerLimit() | LimitsDiffer():
            return _eager(fact)
    assert_never(fact)


def _eager(fact: WouldDeadlock | ProbeUnreliable | NoEagerLimit | LimitsDiffer) -> str:
    match fact:
        case WouldDeadlock(limit_bytes, found=True):
            return f"would deadlock: the eager limit is {limit_bytes} B"
        case WouldDeadlock(limit_bytes):
            return f"would deadlock: no eager limit; the largest that completed alone was {limit_bytes} B"
        case ProbeUnreliable():
            return "MPI_Issend completed without a receiver: the probe cannot be trusted here"
        case NoEagerLimit(largest_bytes):
            return f"none found: messages up to {largest_bytes} B complete alone if one waits"
        case LimitsDiffer(agreeing, launches, others_bytes):
            others = sorted("none" if limit is None else f"{limit} B" for limit in others_bytes)
            return f"in {agreeing} of {launches} launches; others found {', '.join(others)}"
    assert_never(fact)


def _refutation(fact: Refutation) -> str:
    share = f"{format_percent(fact.share)} of the payload"
    went = f"{share} went over IP interfaces"
    no_effect = f"transport {fact.transport} did not take effect"
    match fact.kind:
        case "reported":
            return f"{no_effect}: the library reports {fact.reported}"
        case "not-on-network":
            return f"{no_effect}: only {went}"
        case "on-network":
            return f"{no_effect}: {went}"
        case "on-cards":
            return f"{no_effect}: {share} went through RDMA cards, past IP"
        case "around-the-lab":
            return f"messages bypassed the lab's network: only {went}"
    assert_never(fact.kind)
