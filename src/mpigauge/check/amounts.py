"""What is said of a cell as a number per launch: its time, its rate, how its samples spread, and so on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.samples import cpu_share, seconds_of, visits_by_launch
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
    """A number of a cell, in seconds, bytes per second, or none of these.

    Attributes:
        low: Lower end of its 95 % interval across launches; None if it has none.
        high: Its upper end.
        by_launch: Number of each launch to what it is there; empty of what others have printed.
        step: Of the clock, over the number.
        in_parts: Launches that were started again on the way.
    """

    estimate: float
    low: float | None = None
    high: float | None = None
    by_launch: Mapping[int, float] = field(default_factory=dict)
    step: float = 0.0
    in_parts: frozenset[int] = frozenset()

    @property
    def launches(self) -> int:
        """How many it is of."""
        return len(self.by_launch)


def time_of(row: Row) -> Amount | None:
    """Of one operation, in seconds."""
    time = row.time
    if time is None:
        return None
    return Amount(time.estimate, time.low, time.high, time.by_launch, time.step, time.in_parts)


def rate_of(row: Row) -> Amount | None:
    """Bytes moved in all directions, over the time; in bytes per second."""
    return _rate(row.time, row.rate_bytes_per_s)


def bus_rate_of(row: Row) -> Amount | None:
    """Bus bandwidth, in bytes per second."""
    return _rate(row.time, row.bus_bytes_per_s)


def _rate(time: Timing | None, rate: float | None) -> Amount | None:
    if time is None or not rate:
        return None
    moved = rate * time.estimate
    low, high = (moved / end if end else None for end in (time.high, time.low))
    launches = {launch: moved / one for launch, one in time.by_launch.items() if one > 0}
    return Amount(rate, low, high, launches, time.step, time.in_parts)


def spread_of(row: Row) -> Amount | None:
    """Standard deviation of single operations over their mean; None of means of several."""
    time = row.time
    if time is None:
        return None
    if row.imported:
        return Amount(time.stddev / time.estimate) if time.stddev is not None else None
    if row.batch > 1:
        return None
    return _across({number: _spread(mine) for number, mine in visits_by_launch(row.visits).items()})


def _spread(visits: Sequence[Visit]) -> float | None:
    samples = np.concatenate([seconds_of(visit) for visit in visits])
    if samples.size < 2 or samples.mean() <= 0:  # noqa: PLR2004 - one has no deviation
        return None
    return float(samples.std(ddof=1) / samples.mean())


def first_of(row: Row) -> Amount | None:
    """The first round of a cell in a launch, over what stands for that launch."""
    time = row.time
    if time is None:
        return None
    firsts = {visit.launch: visit.first_s for visit in row.visits if visit.first_s > 0}
    known = time.by_launch
    return _across({launch: first / known[launch] for launch, first in firsts.items() if known.get(launch)})


def cpu_of(row: Row, pattern: Pattern | None) -> Amount | None:
    """CPU time over wall time of all ranks, at most 1."""
    launches = visits_by_launch(row.visits).items()
    found = _across({number: cpu_share(row.cell, pattern, mine) for number, mine in launches})
    return found if found is None or found.high is None else replace(found, high=min(1.0, found.high))


def _across(launches: Mapping[int, float | None]) -> Amount | None:
    """A number per launch, with the interval that these give."""
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
"""How each is found; what is asked of a size is which rate is best."""
