"""What a message is made of: overheads of sender and receiver, gap and latency of LogGP and PLogP, by sizes.

Overheads are times of calls that were measured alone, less the reading of the clock that each sample has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.models.points import SMALL_BYTES, Known
from mpigauge.stats.interval import interval_of_amounts
from mpigauge.stats.limits import PROMISED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.rows.estimate import Timing
    from mpigauge.vocabulary import NoLatency


@dataclass(frozen=True, slots=True)
class Calls:
    """What was measured of messages of one place, times by size in bytes.

    Attributes:
        way: One message one way.
        send: The call that sends alone, with one reading of the clock.
        receive: The call that receives a message that is there, likewise.
        window: Per message of a window; its acknowledgement is shared out.
        messages: How many such a window has, by size.
        clock_s: What reading the clock takes.
        kept: Sizes that stay with their sender until they are received, so that none is there before.
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
    """Parameters of one size, in seconds; None is what was not measured or cannot be.

    Attributes:
        size: In bytes.
        way: One message one way.
        send: o_s.
        receive: o_r.
        gap: g, between messages of a sender that never waits.
        latency: L, what is left of one way without both overheads.
        why: Why there is no L.
        kept: A message of this size stays with its sender until it is received.
    """

    size: int
    way: Known | None
    send: Known | None
    receive: Known | None
    gap: Known | None
    latency: Known | None
    why: NoLatency | None
    kept: bool


def overheads_of(calls: Calls) -> list[Overheads]:
    """The parameters at every size that has an overhead, sizes rising.

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
        None if way is None else Known(way.estimate, way.low, way.high),
        _alone(calls.send.get(size), calls.clock_s),
        _alone(calls.receive.get(size), calls.clock_s),
        _gap(calls, size),
        latency,
        why,
        size in calls.kept,
    )


def _alone(call: Timing | None, clock_s: float) -> Known | None:
    """The time of a call without the reading of the clock; not below 0."""
    if call is None:
        return None
    low, high = (None if end is None else end - clock_s for end in (call.low, call.high))
    return _positive(Known(call.estimate - clock_s, low, high))


def _positive(one: Known) -> Known:
    """No time is below 0, whatever its error."""
    low, high = (None if end is None else max(0.0, end) for end in (one.low, one.high))
    return Known(max(0.0, one.value), low, high)


def _gap(calls: Calls, size: int) -> Known | None:
    """A window is as long as its gaps, the way of its last message, and that of the acknowledgement."""
    window, last, count = calls.window.get(size), calls.way.get(size), calls.messages.get(size, 1)
    smallest = min(calls.way, default=size)
    if window is None or last is None or smallest > SMALL_BYTES or count < 2:  # noqa: PLR2004 - no gap in one
        return None
    gaps = 1 / (count - 1)
    found = _sum([(count * gaps, window), (-gaps, last), (-gaps, calls.way[smallest])])
    return None if found is None else _positive(found)


def _latency(calls: Calls, size: int) -> tuple[Known | None, NoLatency | None]:
    """L of small messages, where sender and receiver are not at work at the same time."""
    parts = [times.get(size) for times in (calls.way, calls.send, calls.receive)]
    way, send, receive = parts
    if size > SMALL_BYTES:
        return None, "large"
    if way is None or send is None or receive is None:
        return None, "missing"
    left = _sum([(1, way), (-1, send), (-1, receive)], 2 * calls.clock_s)
    if left is None:
        return None, "missing"
    if left.value <= 0:
        return None, "overlap"
    return (None, "unsure") if left.low is None or left.low <= 0 else (left, None)


def _sum(terms: Sequence[tuple[float, Timing]], beside_s: float = 0.0) -> Known | None:
    """Multiples of times added up launch by launch; None if no launch has all of them.

    Args:
        beside_s: Added to it, in seconds.
    """
    common = set.intersection(*(set(time.by_launch) for _, time in terms))
    sums = np.array([sum(by * time.by_launch[number] for by, time in terms) for number in sorted(common)])
    if not sums.size:
        return None
    hidden = math.hypot(*(by * time.step * time.estimate for by, time in terms))
    floor = PROMISED * math.hypot(*(by * time.estimate for by, time in terms))
    return Known(*interval_of_amounts(sums + beside_s, hidden, machine=floor))
