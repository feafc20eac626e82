"""Quantities of a cell as one number per launch: time, rate, dispersion of samples, and others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.cpu import cpu_share
from mpigauge.rows.samples import seconds_of, visits_by_launch
from mpigauge.stats.interval import interval_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.records import Visit
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import ClaimQuantity


@dataclass(frozen=True, slots=True)
class Amount:
    """Number of a cell, in seconds, bytes per second, or without unit.

    Attributes:
        low: Lower end of its 95 % interval across launches; None if it has none.
        high: Upper end of that interval.
        by_launch: Value of each launch, by its number; empty for imported numbers.
        step: Clock step over the number.
        restarted: Launches that were interrupted and started again.
    """

    estimate: float
    low: float | None = None
    high: float | None = None
    by_launch: Mapping[int, float] = field(default_factory=dict)
    step: float = 0.0
    restarted: frozenset[int] = frozenset()

    @property
    def launches(self) -> int:
        """Number of launches."""
        return len(self.by_launch)


def time_of(row: Row) -> Amount | None:
    """Return the time of one operation, in seconds."""
    time = row.time
    if time is None:
        return None
    return Amount(time.estimate, time.low, time.high, time.by_launch, time.step, time.in_parts)


def rate_of(row: Row) -> Amount | None:
    """Return the bytes moved in all directions over the time, in bytes per second."""
    return _rate(row.time, row.rate_bytes_per_s)


def bus_rate_of(row: Row) -> Amount | None:
    """Return the bus bandwidth, in bytes per second."""
    return _rate(row.time, row.bus_bytes_per_s)


def _rate(time: Timing | None, rate: float | None) -> Amount | None:
    if time is None or not rate:
        return None
    moved = rate * time.estimate
    low, high = (moved / end if end else None for end in (time.high, time.low))
    launches = {launch: moved / time_s for launch, time_s in time.by_launch.items() if time_s > 0}
    return Amount(rate, low, high, launches, time.step, time.in_parts)


def spread_of(row: Row) -> Amount | None:
    """Return the standard deviation of single operations over their mean; None if samples are batched."""
    time = row.time
    if time is None:
        return None
    if row.imported:
        return Amount(time.stddev / time.estimate) if time.stddev is not None else None
    if row.batch > 1:
        return None
    return _across({number: _spread(visits) for number, visits in visits_by_launch(row.visits).items()})


def _spread(visits: Sequence[Visit]) -> float | None:
    samples = np.concatenate([seconds_of(visit) for visit in visits])
    if samples.size < 2 or samples.mean() <= 0:  # noqa: PLR2004 - one has no deviation
        return None
    return float(samples.std(ddof=1) / samples.mean())


def first_of(row: Row) -> Amount | None:
    """Return the first round of a launch over the typical one."""
    time = row.time
    if time is None:
        return None
    firsts = {visit.launch: visit.first_s for visit in row.visits if visit.first_s > 0}
    known = time.by_launch
    return _across({launch: first / known[launch] for launch, first in firsts.items() if known.get(launch)})


def cpu_of(row: Row, pattern: Pattern | None) -> Amount | None:
    """Return the CPU time over wall time of all ranks, at most 1."""
    launches = visits_by_launch(row.visits).items()
    found = _across({number: cpu_share(row.cell, pattern, visits) for number, visits in launches})
    return found if found is None or found.high is None else replace(found, high=min(1.0, found.high))


def _across(launches: Mapping[int, float | None]) -> Amount | None:
    """Return a number per launch with its interval."""
    known = {number: value for number, value in launches.items() if value is not None}
    if not known:
        return None
    return Amount(*interval_of(np.array(list(known.values()))), known)


QUANTITIES: Mapping[ClaimQuantity, Callable[[Row, Pattern | None], Amount | None]] = {
    "time": lambda row, _: time_of(row),
    "latency": lambda row, _: time_of(row),
    "bandwidth": lambda row, _: rate_of(row),
    "busbw": lambda row, _: bus_rate_of(row),
    "size": lambda row, _: rate_of(row),
    "spread": lambda row, _: spread_of(row),
    "first": lambda row, _: first_of(row),
    "cpu": cpu_of,
}
"""Function of each quantity; `size` asks which size has the best rate."""
