"""Points that a model goes through: one time per size, with the times of each launch."""

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


EXTRAPOLATION_FACTOR = 2
"""Factor beyond the measured sizes up to which predictions have intervals."""

SMALL_BYTES = 64
"""Size of a cache line: messages up to it take the same time."""


@dataclass(frozen=True, slots=True)
class WithInterval:
    """Number with its 95 % interval, if there is one."""

    value: float
    low: float | None = None
    high: float | None = None

    def inverse(self, numerator: float = 1.0) -> WithInterval:
        """Return a constant over the number; an upper end may be infinite."""
        low, high = (_over(numerator, end) for end in (self.high, self.low))
        return WithInterval(numerator / self.value if self.value else math.inf, low, high)


def _over(numerator: float, end: float | None) -> float | None:
    return None if end is None else numerator / end if end else math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Times by size.

    Attributes:
        sizes: Sizes in bytes, ascending, each once, shape ``(points,)``.
        logs: Logarithms of times in seconds, shape ``(points,)``.
        launches: Logarithms of launch times, shape ``(launches, points)``; NaN where a launch has none.
        limits: Eager limits in bytes; sizes up to and including one use another protocol than those above.
        moved: Bytes that a rate counts, divided by the size.
        widened: Factor on intervals for serial correlation of launches.
        machine: Half-width that more launches do not reduce, as a logarithm, from `Timing`.
        times: Times in seconds with the intervals of tables; if empty, intervals come from launches alone.
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
        """Return the time of a measured size, in seconds."""
        if self.times:
            return self.times[place]
        launches = self.launches[:, place]
        known = np.exp(launches[np.isfinite(launches)])
        if not known.size:
            return Interval(math.exp(self.logs[place]))
        return interval_of(known, machine=self.machine, widening=self.widened)

    def near(self, size: float) -> bool:
        """Return whether a size is within a factor of 2 of measured ones: beyond, lines promise nothing."""
        smallest, largest = self.sizes[0], self.sizes[-1]
        return bool(
            size <= EXTRAPOLATION_FACTOR * largest
            and (smallest <= SMALL_BYTES or size >= smallest / EXTRAPOLATION_FACTOR)
        )

    @property
    def forced(self) -> list[int]:
        """First points above eager limits."""
        places = {int(np.searchsorted(self.sizes, limit, side="right")) for limit in self.limits}
        return sorted(place for place in places if 0 < place < self.sizes.size)


def points_of(rows: Sequence[Row], limits: Sequence[int] = ()) -> Points:
    """Return the points of a curve, without sizes that were not measured or have a time of 0.

    Args:
        rows: Rows of cells that differ in size alone.
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
