"""What a message is made of: overheads of sender and receiver, gap and latency of LogGP and PLogP, by sizes.

Overheads are times of calls that were measured alone, less the reading of the clock that each sample has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.document.document import Column, Table
from mpigauge.document.records import finite_or_none
from mpigauge.models import numbers
from mpigauge.models.model import SMALL_BYTES
from mpigauge.plan.patterns import default_mode, is_point_to_point
from mpigauge.query.series import FILE, distinguishing_labels
from mpigauge.rows.group import STATE
from mpigauge.sequences import group_by
from mpigauge.stats.interval import Number, interval_of_amounts
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
    way: Number | None
    send: Number | None
    receive: Number | None
    gap: Number | None
    latency: Number | None
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
        way,
        _without_clock(calls.send.get(size), calls.clock_s),
        _without_clock(calls.receive.get(size), calls.clock_s),
        _gap(calls, size),
        latency,
        why,
        size in calls.kept,
    )


def _without_clock(call: Timing | None, clock_s: float) -> Number | None:
    """Return the time of a call without the reading of the clock; not below 0."""
    if call is None:
        return None
    low, high = (None if end is None else end - clock_s for end in (call.low, call.high))
    return _not_negative(Number(call.estimate - clock_s, low, high))


def _not_negative(one: Number) -> Number:
    """Return a time with negative ends set to 0."""
    low, high = (None if end is None else max(0.0, end) for end in (one.low, one.high))
    return Number(max(0.0, one.estimate), low, high)


def _gap(calls: Calls, size: int) -> Number | None:
    """Return the gap: a window lasts its gaps, the last message one way, and the acknowledgement back."""
    window, last, count = calls.window.get(size), calls.way.get(size), calls.messages.get(size, 1)
    smallest = min(calls.way, default=size)
    if window is None or last is None or smallest > SMALL_BYTES or count < 2:  # noqa: PLR2004 - no gap in one
        return None
    gaps = 1 / (count - 1)
    found = _sum([(count * gaps, window), (-gaps, last), (-gaps, calls.way[smallest])])
    return None if found is None else _not_negative(found)


def _latency(calls: Calls, size: int) -> tuple[Number | None, NoLatency | None]:
    """Return L of small messages, for which sender and receiver do not work at the same time, or why not."""
    parts = [times.get(size) for times in (calls.way, calls.send, calls.receive)]
    way, send, receive = parts
    if size > SMALL_BYTES:
        return None, "large"
    if way is None or send is None or receive is None:
        return None, "missing"
    left = _sum([(1, way), (-1, send), (-1, receive)], 2 * calls.clock_s)
    if left is None:
        return None, "missing"
    if left.estimate <= 0:
        return None, "overlap"
    return (None, "unsure") if left.low is None or left.low <= 0 else (left, None)


def _sum(terms: Sequence[tuple[float, Timing]], beside_s: float = 0.0) -> Number | None:
    """Return a weighted sum of times, launch by launch; None if no launch has all of them.

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

PLACE_OF_MESSAGES = ("mpi", "setting", "transport", "placement", "buffers", STATE)
"""Factors that messages share with a collective that is made of them."""

PLACE = (*PLACE_OF_MESSAGES, "ranks", FILE)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Overheads of messages of one library in one place.

    Attributes:
        label: Factors that distinguish it from other places; empty if there is only one.
        clock_s: Cost of reading the clock, which has been subtracted.
    """

    label: str
    sizes: Sequence[Overheads]
    clock_s: float


def pattern_of(one: Series) -> Pattern:
    """Return the pattern of a series."""
    return one.source.patterns[one.rows[0].cell.pattern]


def places_of(series: Sequence[Series]) -> list[Place]:
    """Return the places where a call was measured alone, in the order of their series."""

    def place(one: Series) -> Key:
        return id(one.source), *(one.factors.get(name) for name in PLACE)

    groups = group_by(filter(_usual, series), place).values()
    found = [mine for mine in groups if any(pattern_of(one).overhead for one in mine)]
    factors = [{name: mine[0].factors[name] for name in PLACE if name in mine[0].factors} for mine in found]
    return [_place(label, mine) for label, mine in zip(distinguishing_labels(factors), found, strict=True)]


def _usual(one: Series) -> bool:
    """Return whether a series is in its pattern's default mode, so that all parts are of the same calls."""
    return default_mode(pattern_of(one)) == one.rows[0].cell.mode


def _place(label: str, mine: Sequence[Series]) -> Place:
    clock_s = _clock_s(mine[0])
    windows = _rows(mine, lambda pattern: pattern.windowed and is_point_to_point(pattern))
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
    """Return the rows of some patterns, with the largest window last."""
    rows = [row for one in mine if keep(pattern_of(one)) for row in one.rows]
    return sorted(rows, key=lambda row: row.cell.window)


def _times(rows: Sequence[Row]) -> Mapping[int, Timing]:
    return {row.cell.bytes: row.time for row in rows if row.time is not None and row.status == "ok"}


def _clock_s(one: Series) -> float:
    """Return the median clock cost of rank 0 over launches, in seconds: rank 0 takes the times."""
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
    """Return the title of the table of a place."""
    return ": ".join(filter(None, [place.label, "overheads, gap and latency (PLogP, LogGP)"]))


def about(place: Place) -> str:
    """Return the sentence below the title: how its times were measured."""
    clock, small = format_time(place.clock_s), format_size(SMALL_BYTES)
    return f"calls alone, without the {clock} of reading the clock; L for sizes up to {small}"


def time(number: Number | None, chosen: Units) -> str:
    """Return a parameter with its interval."""
    return MISSING if number is None else numbers.time(number, chosen)


def note(one: Overheads) -> str:
    """Return which parameter a size lacks, and why."""
    if one.kept:
        return KEPT
    return WHY[one.why] if one.why else ""


def notes(places: Sequence[Place]) -> list[str]:
    """Return what a reader must know of the tables."""
    if not places:
        return []
    return ["o_r is of messages that MPI has already taken off the network: matching and copying them"]


PARAMETERS = {"one way": "way", "o_s": "send", "o_r": "receive", "g": "gap", "L": "latency"}
"""Attribute of each parameter, by its heading."""


def tables(places: Sequence[Place], chosen: Units) -> list[Table]:
    """Return one table per place."""
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
    """Return the records of docs/models.md#json."""
    return [
        {
            "label": one.label,
            "clock_s": finite_or_none(one.clock_s),
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
