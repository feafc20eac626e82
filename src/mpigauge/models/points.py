"""The points that a model goes through: one time for each size, and what each launch had."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.interval import Interval, interval_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.rows import Row
    from mpigauge.stats.percentiles import Values


FAR = 2
"""An interval reaches no further than the sizes that were measured by this factor."""

SMALL_BYTES = 64
"""Sizes up to this, a cache line, take the same time."""


@dataclass(frozen=True, slots=True)
class Known:
    """A number with its 95 % interval, if there is one."""

    value: float
    low: float | None = None
    high: float | None = None

    def inverse(self, over: float = 1.0) -> Known:
        """Something over it; an upper end may be infinite."""
        low, high = (_over(over, end) for end in (self.high, self.low))
        return Known(over / self.value if self.value else math.inf, low, high)


def _over(over: float, end: float | None) -> float | None:
    return None if end is None else over / end if end else math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Times over sizes.

    Attributes:
        sizes: In bytes, ascending, each once, shape ``(points,)``.
        logs: Logarithms of times in seconds, likewise.
        launches: Likewise of each launch, shape ``(launches, points)``; nan where one has none.
        limits: Eager limits in bytes; up to and with one the protocol is another than above.
        moved: Bytes that a rate counts, over the size.
        widened: By what intervals grow because launches follow each other slowly.
        machine: What no number of launches makes narrower of a time, as a logarithm: `Timing` has it.
        times: In seconds, with intervals as tables have them; empty: those of launches alone.
    """

    sizes: Values
    logs: Values
    launches: Values
    limits: tuple[int, ...] = ()
    moved: float = 1.0
    widened: float = 1.0
    machine: float = 0.0
    times: tuple[Interval, ...] = ()

    def time(self, place: int) -> Interval:
        """The time of a size that was measured, in seconds."""
        if self.times:
            return self.times[place]
        launches = self.launches[:, place]
        known = np.exp(launches[np.isfinite(launches)])
        if not known.size:
            return Interval(math.exp(self.logs[place]))
        return interval_of(known, machine=self.machine, widening=self.widened)

    def near(self, size: float) -> bool:
        """Whether a size lies within twice those that were measured: beyond, lines promise nothing."""
        smallest, largest = self.sizes[0], self.sizes[-1]
        return bool(size <= FAR * largest and (smallest <= SMALL_BYTES or size >= smallest / FAR))

    @property
    def forced(self) -> list[int]:
        """The first points above eager limits."""
        places = {int(np.searchsorted(self.sizes, limit, side="right")) for limit in self.limits}
        return sorted(place for place in places if 0 < place < self.sizes.size)


def points_of(rows: Sequence[Row], limits: Sequence[int] = ()) -> Points:
    """The points of a curve; without what was not measured, or took no time that a clock can tell.

    Args:
        rows: Of cells that differ in size alone.
        limits: Eager limits of their job.
    """
    by_size = {row.cell.bytes: row for row in reversed(rows) if row.status == "ok" and _positive(row.time)}
    kept = [by_size[size] for size in sorted(by_size)]
    times = [row.time for row in kept if row.time is not None]
    return Points(
        sizes=np.array([row.cell.bytes for row in kept], dtype=float),
        logs=np.log([time.estimate for time in times]),
        launches=_launches(times),
        limits=tuple(sorted(limits)),
        moved=_moved(kept),
        widened=max((time.widening for time in times), default=1.0),
        machine=float(np.median([math.log1p(time.machine_half_width or 0.0) for time in times] or [0.0])),
        times=tuple(Interval(time.estimate, time.low, time.high) for time in times),
    )


def _positive(time: Timing | None) -> bool:
    return time is not None and time.estimate > 0 and all(each > 0 for each in time.by_launch.values())


def _launches(times: Sequence[Timing]) -> Values:
    numbers = sorted({number for time in times for number in time.by_launch})
    found = np.full((len(numbers), len(times)), np.nan)
    for place, time in enumerate(times):
        for number, seconds in time.by_launch.items():
            found[numbers.index(number), place] = math.log(seconds)
    return found


def _moved(rows: Sequence[Row]) -> float:
    shares = [
        row.rate_bytes_per_s * row.time.estimate / row.cell.bytes
        for row in rows
        if row.rate_bytes_per_s and row.time is not None and row.cell.bytes
    ]
    return shares[0] if shares else 1.0
