"""Eager limits: how large they are, what a message costs that is above, and what cannot be sent there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge import units
from mpigauge.document.cell_names import subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.find.phrases import headed, time
from mpigauge.result.kernel_data import CrossingSamples
from mpigauge.rows.group import Subject
from mpigauge.stats.bootstrap import MIN_LAUNCHES
from mpigauge.stats.decision import MARGIN
from mpigauge.stats.interval import difference_interval, interval_of_amounts, is_known
from mpigauge.stats.limits import PROMISED
from mpigauge.units import NS, counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.rows.rows import Row

ONE_WAY = 2
"""Messages in a round trip."""


@dataclass(frozen=True, slots=True)
class EagerLimitCost:
    """The time of a message one byte above the eager limit beyond one of the limit, one way.

    Attributes:
        below_bytes: The eager limit.
        above_bytes: One byte more.
        below_s: Time of the one, centre over launches.
        above_s: Time of the other.
        odd_byte_s: Extra time of a message of 7 B less than the limit beyond one of 8 B less, which is on the
            same side; it is taken off.
        extra_s: Extra time by launch, without that of an odd byte; a winsorised mean.
        low_s: Lower end of its 95 % interval across launches.
        high_s: Its upper end.
        launches: In which all four sizes were timed.
    """

    below_bytes: int
    above_bytes: int
    below_s: float
    above_s: float
    odd_byte_s: float
    extra_s: float
    low_s: float
    high_s: float
    launches: int

    @property
    def matters(self) -> bool:
        """Whether the extra time is certain and not within the margin of what a message below takes."""
        return not self.low_s <= 0 <= self.high_s and abs(self.extra_s) >= MARGIN * self.below_s


@dataclass(frozen=True, slots=True)
class EagerLimit:
    """The eager limit of one job.

    Attributes:
        cell: The probe.
        limit_bytes: The largest message that is sent without waiting for its receiver.
        crossing: The cost of crossing it; None if messages around it were not timed, as in files of an older
            mpigauge.
        blocked: Cells that were not started, since they would deadlock.
        of: How many cells of their modes there are.
    """

    cell: Cell
    limit_bytes: int
    crossing: EagerLimitCost | None
    blocked: int
    of: int

    @property
    def launches(self) -> int:
        """How many launches the cost of crossing rests on; else one, which is enough for a probed limit."""
        return self.crossing.launches if self.crossing is not None else 1

    @property
    def weight(self) -> float:
        """A cost that is certain says most."""
        costs = self.crossing is not None and self.crossing.matters
        return 1.0 + costs + (self.blocked > 0) / 2


def eager_limits(evidence: Evidence) -> Iterator[EagerLimit]:
    """Yield the limit of each job that probed it."""
    for probe in evidence.rows:
        if probe.limit_bytes is not None:
            yield _limit(evidence, probe, probe.limit_bytes)


def _limit(evidence: Evidence, probe: Row, limit_bytes: int) -> EagerLimit:
    # By cell, of which there is a row for each state of the machine.
    may_block = {
        row.cell: row.status
        for row in evidence.rows
        if row.cell.job == probe.cell.job and _needs_eager(evidence, row)
    }
    return EagerLimit(
        cell=probe.cell,
        limit_bytes=limit_bytes,
        crossing=_crossing(evidence, probe.cell, limit_bytes),
        blocked=sum(status == "blocked" for status in may_block.values()),
        of=len(may_block),
    )


def _needs_eager(evidence: Evidence, row: Row) -> bool:
    mode = evidence.mode_of(row)
    return mode is not None and mode.needs_eager


def _crossing(evidence: Evidence, cell: Cell, limit_bytes: int) -> EagerLimitCost | None:
    """Return the cost of crossing a limit, of the launches that have found it."""
    samples = {
        one.launch: one.crossing
        for one in evidence.result.eager
        if one.cell == cell and one.crossing is not None and one.found and one.limit_bytes == limit_bytes
    }
    if len(samples) < MIN_LAUNCHES:
        return None
    return crossing_of(limit_bytes, list(samples.values()), evidence.clock_steps.get(cell.job, 0.0) * NS)


def crossing_of(
    limit_bytes: int, launches: Sequence[CrossingSamples], clock_step_s: float
) -> EagerLimitCost | None:
    """Return the time of a message one byte above the limit beyond one of the limit, less an odd byte's.

    Args:
        launches: Samples of each launch, two launches or more.
        clock_step_s: Step of the clock that they were timed with.

    Source:
        docs/method-memory.md#the-eager-limit
    """
    at_limit, above, below, below_odd = (
        np.array([float(np.median(getattr(one, name))) for one in launches]) * NS / ONE_WAY
        for name in CrossingSamples.__struct_fields__
    )
    centres = [interval_of_amounts(times).estimate for times in (at_limit, above)]
    odd_byte = below_odd - below
    # Of four times, each of half a round trip.
    hidden_s = clock_step_s / ONE_WAY * math.sqrt(len(CrossingSamples.__struct_fields__))
    mean, low_s, high_s = difference_interval(
        above - at_limit - odd_byte, hidden_s, machine=PROMISED * math.hypot(*centres)
    ).ends
    if low_s is None or high_s is None:
        return None
    return EagerLimitCost(
        below_bytes=limit_bytes,
        above_bytes=limit_bytes + 1,
        below_s=centres[0],
        above_s=centres[1],
        odd_byte_s=interval_of_amounts(odd_byte).estimate,
        extra_s=mean,
        low_s=low_s,
        high_s=high_s,
        launches=len(launches),
    )


# ---- Sentence ------------------------------------------------------------------------------------


def sentence(fact: EagerLimit, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how large the limit is, and what lies above it."""
    about = subject(Subject(fact.cell), varied, {"pattern", "mode"})
    limit = f"the eager limit is {units.format_size(fact.limit_bytes)}"
    return headed(about, "; ".join([limit, *_more(fact, chosen)]))


def _more(fact: EagerLimit, chosen: Units) -> Iterator[str]:
    if fact.crossing is not None and fact.crossing.matters:
        yield _cost(fact.crossing, chosen)
    if fact.blocked:
        yield f"above it {fact.blocked} of {counted(fact.of, 'size')} would deadlock"


def _cost(fact: EagerLimitCost, chosen: Units) -> str:
    if not is_known(*sorted((abs(fact.low_s), abs(fact.high_s)))):
        return "what crossing it costs is not known"
    if fact.extra_s < 0:
        return f"one byte more takes {time(-fact.extra_s, -fact.high_s, -fact.low_s, chosen)} less"
    return f"crossing it costs {time(fact.extra_s, fact.low_s, fact.high_s, chosen)}"
