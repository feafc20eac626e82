"""What a message is made of: overheads of sender and receiver, gap and latency of LogGP and PLogP, by sizes.

Overheads are times of calls that were measured alone, less the reading of the clock that each sample has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.document.document import Column, Table
from mpigauge.document.records import number
from mpigauge.models import numbers
from mpigauge.models.model import SMALL_BYTES
from mpigauge.plan.patterns import usual_mode
from mpigauge.query.series import FILE, told_apart
from mpigauge.rows.group import STATE
from mpigauge.sequences import group_by
from mpigauge.stats.interval import Interval, interval_of_amounts
from mpigauge.stats.limits import PROMISED
from mpigauge.units import MISSING, NS, format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.plan.patterns import Pattern
    from mpigauge.query.series import Series
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row
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
    way: Interval | None
    send: Interval | None
    receive: Interval | None
    gap: Interval | None
    latency: Interval | None
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
        None if way is None else Interval(way.estimate, way.low, way.high),
        _alone(calls.send.get(size), calls.clock_s),
        _alone(calls.receive.get(size), calls.clock_s),
        _gap(calls, size),
        latency,
        why,
        size in calls.kept,
    )


def _alone(call: Timing | None, clock_s: float) -> Interval | None:
    """The time of a call without the reading of the clock; not below 0."""
    if call is None:
        return None
    low, high = (None if end is None else end - clock_s for end in (call.low, call.high))
    return _positive(Interval(call.estimate - clock_s, low, high))


def _positive(one: Interval) -> Interval:
    """No time is below 0, whatever its error."""
    low, high = (None if end is None else max(0.0, end) for end in (one.low, one.high))
    return Interval(max(0.0, one.centre), low, high)


def _gap(calls: Calls, size: int) -> Interval | None:
    """A window is as long as its gaps, the way of its last message, and that of the acknowledgement."""
    window, last, count = calls.window.get(size), calls.way.get(size), calls.messages.get(size, 1)
    smallest = min(calls.way, default=size)
    if window is None or last is None or smallest > SMALL_BYTES or count < 2:  # noqa: PLR2004 - no gap in one
        return None
    gaps = 1 / (count - 1)
    found = _sum([(count * gaps, window), (-gaps, last), (-gaps, calls.way[smallest])])
    return None if found is None else _positive(found)


def _latency(calls: Calls, size: int) -> tuple[Interval | None, NoLatency | None]:
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
    if left.centre <= 0:
        return None, "overlap"
    return (None, "unsure") if left.low is None or left.low <= 0 else (left, None)


def _sum(terms: Sequence[tuple[float, Timing]], beside_s: float = 0.0) -> Interval | None:
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
    return interval_of_amounts(sums + beside_s, hidden, machine=floor)


# ---- Places --------------------------------------------------------------------------------------

BETWEEN_TWO = ("mpi", "setting", "transport", "placement", "buffers", STATE)
"""What messages and a collective that is made of them have in common."""

PLACE = (*BETWEEN_TWO, "ranks", FILE)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """The overheads of messages of one library in one place.

    Attributes:
        label: What tells it from other places; empty if there is one only.
        clock_s: What reading the clock takes, which is not in them.
    """

    label: str
    sizes: Sequence[Overheads]
    clock_s: float


def pattern_of(one: Series) -> Pattern:
    """What a series is of."""
    return one.source.patterns[one.rows[0].cell.pattern]


def places_of(series: Sequence[Series]) -> list[Place]:
    """Places where a call was measured alone, in the order of their series."""

    def place(one: Series) -> Key:
        return id(one.source), *(one.factors.get(name) for name in PLACE)

    groups = group_by(filter(_usual, series), place).values()
    found = [mine for mine in groups if any(pattern_of(one).overhead for one in mine)]
    factors = [{name: mine[0].factors[name] for name in PLACE if name in mine[0].factors} for mine in found]
    return [_place(label, mine) for label, mine in zip(told_apart(factors), found, strict=True)]


def _usual(one: Series) -> bool:
    """In the mode that a pattern has unasked, so that all parts are of the same calls."""
    return usual_mode(pattern_of(one)) == one.rows[0].cell.mode


def _place(label: str, mine: Sequence[Series]) -> Place:
    clock_s = _clock_s(mine[0])
    windows = _rows(mine, lambda pattern: pattern.windowed)
    calls = Calls(
        way=_times(_rows(mine, lambda pattern: pattern.one_way)),
        send=_times(_rows(mine, lambda pattern: pattern.overhead == "send")),
        receive=_times(receives := _rows(mine, lambda pattern: pattern.overhead == "receive")),
        window=_times(windows),
        messages={row.cell.bytes: row.cell.window for row in windows},
        clock_s=clock_s,
        kept=frozenset(row.cell.bytes for row in receives if row.status == "blocked"),
    )
    return Place(label, overheads_of(calls), clock_s)


def _rows(mine: Sequence[Series], keep: Callable[[Pattern], bool]) -> list[Row]:
    """Of several windows the largest last."""
    rows = [row for one in mine if keep(pattern_of(one)) for row in one.rows]
    return sorted(rows, key=lambda row: row.cell.window)


def _times(rows: Sequence[Row]) -> Mapping[int, Timing]:
    return {row.cell.bytes: row.time for row in rows if row.time is not None and row.status == "ok"}


def _clock_s(one: Series) -> float:
    """Of one reading, in the middle of the first ranks of all launches: theirs are the times."""
    job = one.rows[0].cell.job
    launches = [launch for launch in one.source.result.launches if launch.job == job and launch.ranks_at]
    costs = [launch.ranks_at[0].clock_cost_ns for launch in launches]
    return float(np.median(costs)) * NS if costs else 0.0


# ---- Sentences, tables and records ---------------------------------------------------------------

WHY: Mapping[NoLatency, str] = {
    "overlap": "no L: o_s + o_r are not less than one way, so they overlap the transfer",
    "unsure": "no L: nothing shows that o_s + o_r are less than one way",
    "missing": "no L: one way, o_s and o_r were not all measured",
    "large": "",
}
KEPT = "no o_r: above the eager limit"


def title(place: Place) -> str:
    """Of the table of a place."""
    return ": ".join(filter(None, [place.label, "overheads, gap and latency (PLogP, LogGP)"]))


def about(place: Place) -> str:
    """What its times are."""
    clock, small = format_time(place.clock_s), format_size(SMALL_BYTES)
    return f"calls alone, without the {clock} of reading the clock; L for sizes up to {small}"


def time(number: Interval | None, chosen: Units) -> str:
    """A parameter with its interval."""
    return MISSING if number is None else numbers.time(number, chosen)


def note(one: Overheads) -> str:
    """What a size does not have, and why."""
    if one.kept:
        return KEPT
    return WHY[one.why] if one.why else ""


def notes(places: Sequence[Place]) -> list[str]:
    """What must be known of them."""
    if not places:
        return []
    return ["o_r is of messages that MPI has already taken off the network: matching and copying them"]


PARAMETERS = {"one way": "way", "o_s": "send", "o_r": "receive", "g": "gap", "L": "latency"}
"""Heading of each, and its attribute."""


def tables(places: Sequence[Place], chosen: Units) -> list[Table]:
    """One per place."""
    return [
        Table(
            title(one),
            about(one),
            one.sizes,
            [
                Column("bytes", "size", lambda each: each.size, "B", goes=None),
                *(_column(heading, name, chosen) for heading, name in PARAMETERS.items()),
                Column("note", "", note, left=True, goes=1, wraps=True),
            ],
        )
        for one in places
    ]


def _column(heading: str, name: str, chosen: Units) -> Column:
    return Column(f"{name}_s", heading, lambda each: time(getattr(each, name), chosen), left=False, goes=None)


def records(places: Sequence[Place]) -> list[dict[str, Any]]:
    """docs/models.md#json."""
    return [
        {
            "label": one.label,
            "clock_s": number(one.clock_s),
            "sizes": [
                {
                    "bytes": each.size,
                    **{f"{name}_s": numbers.record(getattr(each, name)) for name in PARAMETERS.values()},
                    "no_latency": each.why,
                }
                for each in one.sizes
            ],
        }
        for one in places
    ]
