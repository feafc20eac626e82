"""Eager limits: how large they are, what a message costs that is above, and what cannot be sent there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.phrases import state_suffix
from mpigauge.find.explain.evidence import at_sizes
from mpigauge.find.phrases import headed, subject, time
from mpigauge.rows.group import Subject
from mpigauge.stats.interval import difference_interval
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.rows.rows import Row

NEAR = 2.0
"""The first size above the limit is at most so many times the last one below: further, the time beyond it is
no longer that of crossing."""

_LEAST = 2


@dataclass(frozen=True, slots=True)
class EagerLimitCost:
    """The time of the first message above the limit beyond one that were sent as those below.

    Attributes:
        below_bytes: The largest size up to the limit.
        above_bytes: The smallest above it.
        below_s: What the one takes.
        above_s: What the other takes.
        extra_s: What it takes beyond the line through the two largest sizes below; a winsorised mean.
        low_s: Lower end of its 95 % interval across launches.
        high_s: Its upper end.
        trips: The extra time in round trips of the smallest message of the curve.
        launches: In which it rests.
    """

    below_bytes: int
    above_bytes: int
    below_s: float
    above_s: float
    extra_s: float
    low_s: float
    high_s: float
    trips: float
    launches: int


@dataclass(frozen=True, slots=True)
class EagerLimit:
    """The eager limit of one job.

    Attributes:
        cell: The probe.
        limit_bytes: The largest message that is sent without waiting for its receiver.
        message: The curve that shows what crossing it costs; None if none has sizes near enough.
        crossing: That cost.
        blocked: Cells that were not started, since they would deadlock.
        of: How many cells of their modes there are.
    """

    cell: Cell
    limit_bytes: int
    message: Subject | None
    crossing: EagerLimitCost | None
    blocked: int
    of: int

    @property
    def rests_on(self) -> frozenset[Cell]:
        """The probe, and the smallest message of the curve that crosses it."""
        return at_sizes([self.cell, self.message and self.message.cell])

    @property
    def launches(self) -> int:
        """How many launches the cost of crossing rests on; else one, which is enough for a probed limit."""
        return self.crossing.launches if self.crossing is not None else 1

    @property
    def weight(self) -> float:
        """A cost that is certain says most."""
        costs = self.crossing is not None and self.crossing.low_s > 0
        return 1.0 + costs + (self.blocked > 0) / 2


def eager_limits(evidence: Evidence) -> Iterator[EagerLimit]:
    """Yield the limit of each job that probed it."""
    for probe in evidence.rows:
        if probe.limit_bytes is not None:
            yield _limit(evidence, probe, probe.limit_bytes)


def _limit(evidence: Evidence, probe: Row, limit_bytes: int) -> EagerLimit:
    crossings = [
        (curve[0], crossing)
        for curve in _messages(evidence, probe)
        if (crossing := crossing_of(curve, limit_bytes)) is not None
    ]
    message, crossing = min(crossings, key=lambda one: one[0].cell.bytes) if crossings else (None, None)
    # By cell, of which there is a row for each state of the machine.
    may_block = {
        row.cell: row.status
        for row in evidence.rows
        if row.cell.job == probe.cell.job and _needs_eager(evidence, row)
    }
    return EagerLimit(
        cell=probe.cell,
        limit_bytes=limit_bytes,
        message=message.of if message is not None else None,
        crossing=crossing,
        blocked=sum(status == "blocked" for status in may_block.values()),
        of=len(may_block),
    )


def _messages(evidence: Evidence, probe: Row) -> Iterator[Sequence[Row]]:
    """Yield curves of single messages of a job, in modes that may send eagerly and need not."""
    for curve in evidence.curves("message"):
        pattern, mode = evidence.patterns[curve[0].cell.pattern], evidence.mode_of(curve[0])
        plain = mode is not None and not (mode.never_eager or mode.attaches_buffer)
        if pattern.one_way and plain and curve[0].cell.job == probe.cell.job:
            yield curve


def _needs_eager(evidence: Evidence, row: Row) -> bool:
    mode = evidence.mode_of(row)
    return mode is not None and mode.needs_eager


def crossing_of(curve: Sequence[Row], limit_bytes: int) -> EagerLimitCost | None:
    """Return what the first message above the limit costs beyond the line through the last two below it.

    Args:
        curve: Rows with a time, sizes rising.

    Returns:
        None if there are no such three sizes near each other, or fewer than two launches that have them.
    """
    below = [row for row in curve if row.cell.bytes <= limit_bytes]
    above = [row for row in curve if row.cell.bytes > limit_bytes]
    if len(below) < _LEAST or not above or above[0].cell.bytes > NEAR * below[-1].cell.bytes:
        return None
    near = (*below[-2:], above[0])
    extra = _beyond(near)
    if extra.size < _LEAST:
        return None
    mean, low_s, high_s = difference_interval(extra)
    if low_s is None or high_s is None:
        return None
    return EagerLimitCost(
        below_bytes=near[1].cell.bytes,
        above_bytes=near[2].cell.bytes,
        below_s=_estimate(near[1]),
        above_s=_estimate(near[2]),
        extra_s=mean,
        low_s=low_s,
        high_s=high_s,
        trips=mean / (2 * _estimate(curve[0])),
        launches=extra.size,
    )


def _beyond(near: Sequence[Row]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return seconds beyond the line through the first two of three sizes, for each launch that has all."""
    times: list[Mapping[int, float]] = [row.time.by_launch for row in near if row.time is not None]
    first, last, above = (row.cell.bytes for row in near)
    reach = (above - last) / (last - first)
    common = sorted(set.intersection(*(set(one) for one in times)))
    return np.array([times[2][n] - times[1][n] - reach * (times[1][n] - times[0][n]) for n in common])


def _estimate(row: Row) -> float:
    return row.time.estimate if row.time is not None else float("nan")


# ---- Sentence ------------------------------------------------------------------------------------


def sentence(fact: EagerLimit, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how large the limit is, and what lies above it."""
    about = subject(Subject(fact.cell), varied, {"pattern", "mode"})
    limit = f"the eager limit is {units.format_size(fact.limit_bytes)}"
    return headed(about, "; ".join([limit, *_more(fact, chosen)]))


def _more(fact: EagerLimit, chosen: Units) -> Iterator[str]:
    if fact.crossing is not None and fact.message is not None:
        message = f"{fact.message.cell.pattern} {fact.message.cell.mode}{state_suffix(fact.message)}"
        yield f"{message} of {_crossing(fact.crossing, chosen)}"
    if fact.blocked:
        sizes = counted(fact.of, "size")
        yield f"{fact.blocked} of {sizes} of modes that rely on it would deadlock and were not started"


def _crossing(fact: EagerLimitCost, chosen: Units) -> str:
    above, below = units.format_size(fact.above_bytes), units.format_size(fact.below_bytes)
    above_s, below_s = (units.format_time(one, chosen.time) for one in (fact.above_s, fact.below_s))
    took = f"{above} takes {above_s}, of {below} {below_s}"
    if fact.low_s <= 0 <= fact.high_s:
        return f"{took}: crossing it costs nothing that can be told from 0"
    if fact.high_s < 0:
        return f"{took}: above it is faster, by {time(-fact.extra_s, -fact.high_s, -fact.low_s, chosen)}"
    trips = units.format_factor(fact.trips)
    cost = time(fact.extra_s, fact.low_s, fact.high_s, chosen)
    return f"{took}: crossing it costs {cost}, {trips} round trips of the smallest message"
