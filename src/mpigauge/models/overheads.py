"""Parts of a message: overheads of sender and receiver, gap and latency of LogGP and PLogP, by size.

Overheads are times of calls that were measured alone, less the reading of the clock that each sample has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.models.points import SMALL_BYTES, WithInterval
from mpigauge.stats.interval import interval_of_amounts
from mpigauge.stats.limits import PROMISED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.rows.estimate import Timing
    from mpigauge.vocabulary import NoLatency


@dataclass(frozen=True, slots=True)
class Calls:
    """Measured times of the messages of one place, by size in bytes.

    Attributes:
        way: Time of a message one way.
        send: Time of the sending call alone, with one reading of the clock.
        receive: Time of the call that receives an arrived message, with one reading of the clock.
        window: Time per message of a window, with its share of the acknowledgement.
        messages: Number of messages of such a window, by size.
        clock_s: Cost of reading the clock.
        kept: Sizes above the eager limit, which do not arrive before they are received.
    """

    way: Mapping[int, Timing]
    send: Mapping[int, Timing]
    receive: Mapping[int, Timing]
    window: Mapping[int, Timing] = field(default_factory=dict)
    messages: Mapping[int, int] = field(default_factory=dict)
    clock_s: float = 0.0
    kept: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Overheads:
    """Parameters of one size, in seconds; None if not measured or not defined.

    Attributes:
        size: Size in bytes.
        way: Time of a message one way.
        send: o_s.
        receive: o_r.
        gap: g, between messages of a sender that never waits.
        latency: L, one way less both overheads.
        why: Reason why there is no L.
        kept: Whether the size is above the eager limit.
    """

    size: int
    way: WithInterval | None
    send: WithInterval | None
    receive: WithInterval | None
    gap: WithInterval | None
    latency: WithInterval | None
    why: NoLatency | None
    kept: bool


def overheads_of(calls: Calls) -> list[Overheads]:
    """Return the parameters at every size that has an overhead, sizes rising.

    Source:
        T. Kielmann, H. E. Bal, K. Verstoep, Fast measurement of LogP parameters for message passing
        platforms, IPDPS Workshops 2000: curves over sizes; docs/models.md#overheads
    """
    sizes = sorted(calls.send.keys() | calls.receive.keys())
    return [_at(calls, size) for size in sizes]


def _at(calls: Calls, size: int) -> Overheads:
    way = calls.way.get(size)
    latency, why = _latency(calls, size)
    return Overheads(
        size,
        None if way is None else WithInterval(way.estimate, way.low, way.high),
        _without_clock(calls.send.get(size), calls.clock_s),
        _without_clock(calls.receive.get(size), calls.clock_s),
        _gap(calls, size),
        latency,
        why,
        size in calls.kept,
    )


def _without_clock(call: Timing | None, clock_s: float) -> WithInterval | None:
    """Return the time of a call without the reading of the clock; not below 0."""
    if call is None:
        return None
    low, high = (None if end is None else end - clock_s for end in (call.low, call.high))
    return _not_negative(WithInterval(call.estimate - clock_s, low, high))


def _not_negative(one: WithInterval) -> WithInterval:
    """Return a time with negative ends set to 0."""
    low, high = (None if end is None else max(0.0, end) for end in (one.low, one.high))
    return WithInterval(max(0.0, one.value), low, high)


def _gap(calls: Calls, size: int) -> WithInterval | None:
    """Return the gap: a window lasts its gaps, the last message one way, and the acknowledgement back."""
    window, last, count = calls.window.get(size), calls.way.get(size), calls.messages.get(size, 1)
    smallest = min(calls.way, default=size)
    if window is None or last is None or smallest > SMALL_BYTES or count < 2:  # noqa: PLR2004 - no gap in one
        return None
    gaps = 1 / (count - 1)
    found = _sum([(count * gaps, window), (-gaps, last), (-gaps, calls.way[smallest])])
    return None if found is None else _not_negative(found)


def _latency(calls: Calls, size: int) -> tuple[WithInterval | None, NoLatency | None]:
    """Return L of small messages, for which sender and receiver do not work at the same time, or why not."""
    times_of_calls = [times.get(size) for times in (calls.way, calls.send, calls.receive)]
    way, send, receive = times_of_calls
    if size > SMALL_BYTES:
        return None, "large"
    if way is None or send is None or receive is None:
        return None, "missing"
    remainder = _sum([(1, way), (-1, send), (-1, receive)], 2 * calls.clock_s)
    if remainder is None:
        return None, "missing"
    if remainder.value <= 0:
        return None, "overlap"
    return (None, "unsure") if remainder.low is None or remainder.low <= 0 else (remainder, None)


def _sum(terms: Sequence[tuple[float, Timing]], extra_s: float = 0.0) -> WithInterval | None:
    """Return a weighted sum of times, launch by launch; None if no launch has all of them.

    Args:
        extra_s: Constant to add, in seconds.
    """
    common = set.intersection(*(set(time.by_launch) for _, time in terms))
    sums = np.array([sum(by * time.by_launch[number] for by, time in terms) for number in sorted(common)])
    if not sums.size:
        return None
    clock_step_s = math.hypot(*(by * time.step * time.estimate for by, time in terms))
    floor = PROMISED * math.hypot(*(by * time.estimate for by, time in terms))
    return WithInterval(*interval_of_amounts(sums + extra_s, clock_step_s, machine=floor))
