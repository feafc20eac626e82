"""What a lab was told to plant beside what was measured, in sentences."""

# ruff: noqa: RUF001 - pages print dashes and signs of their own

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from tests.cli.docs.recomputing.contrasts import SPAN, N, T
from tests.cli.docs.recomputing.curves import find_curve
from tests.cli.docs.recomputing.reading import TIMES as SECONDS
from tests.cli.docs.recomputing.sentences import launches, talking, times
from tests.cli.docs.recomputing.statistics_of import Interval, difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.cli.docs.recomputing.ledger import Said
    from tests.cli.docs.recomputing.reading import Result, Row

R = rf"({N}) ([MG]bit/s|[MG]B/s)(?: \(({N}) – ({N})\))?"
PAYLOAD = 1448 / 1538
HEADERS = 90
DELAY = re.compile(
    rf"^(.*?): emulated network of a lab: planted one way {T}(?: more than (.*?))?"
    rf"(?: \((?:{T} of delay, )?\+{T} on the wire without the header of MPI\))?; "
    rf"measured {T} \({T} – {T}\)( more)?(?: than (.*?))? for {SPAN}; "
    rf"(?:error ([+−]?[\d.]+) % \(([+−]?[\d.]+) % – ([+−]?[\d.]+) %\)|([+−]{N}) (ns|µs|ms) "
    rf"\(([+−]?[\d.]+) %\))"
)
RATE = re.compile(
    rf"^(.*?): emulated network of a lab: planted {R}, of which TCP leaves {R}; measured {R} in one "
    rf"direction at {SPAN}"
    rf"(?:, where it still rises)?; error ([+−]?[\d.]+) %(?: \(([+−]?[\d.]+) % – ([+−]?[\d.]+) %\))?"
)
LINK_RATES = {"kbit": 125.0, "mbit": 125e3, "gbit": 125e6}


def rate_of(row: Row, directions: int = 1) -> list[Interval]:
    """Bytes over the time and the ends of its interval."""
    over = row.bytes_per_time / directions
    return [
        Interval(over / one.estimate, over / (one.high or math.nan), over / (one.low or math.nan))
        for one in row.time
    ]


def numbers_of(said: Said, match: re.Match[str], group: int, found: Sequence[Interval]) -> None:
    """A rate with its unit behind the estimate, and two ends; of the intervals that may be."""
    unit = match[group + 1]
    for place, which in ((group, 0), (group + 2, 1), (group + 3, 2)):
        said.number(match.span(place), unit, *(one[which] for one in found))


class Way(NamedTuple):
    """What a lab puts between two hosts."""

    delay_s: float
    lanes: tuple[float, float]

    @property
    def payload(self) -> float:
        """What TCP leaves of its slower lane."""
        return min((one for one in self.lanes if one), default=0.0) * PAYLOAD

    def planted_s(self, size: int) -> tuple[float, float]:
        """The delay, and what a packet is on both lanes for."""
        return self.delay_s, sum((HEADERS + size) / one for one in self.lanes if one)


def way_of(result: Result, row: Row) -> Way:
    """From rank 0's host to that of rank 1, as the plan says."""
    ends = [one["host"] for one in result.launch_of(row)["ranks_at"]][:2]
    lab = result.campaign["plan"]["lab"]
    ports = {one["host"]: one for one in lab["ports"]}
    none: dict[str, str] = {}
    link = next((one for one in lab["links"] if set(one["between"].split("-")) == set(ends)), none)
    up, down = (_rate(link.get("rate") or ports.get(end, {}).get("rate") or lab["rate"]) for end in ends)
    delay = link.get("delay") or lab["delay"]
    number = delay.rstrip("nums")
    return Way(float(number) * SECONDS[delay.removeprefix(number).strip()], (up, down))


def _rate(text: str) -> float:
    match = re.match(r"([\d.]+) ?([kmg]bit)", text)
    return float(match[1]) * LINK_RATES[match[2]] if match else 0.0


def planted_delay(said: Said, result: Result) -> bool:
    """A delay of the plan beside what was measured."""
    match = DELAY.match(said.text)
    curve = find_curve(talking(result), match[1]) if match else None
    if match is None or curve is None:
        return False
    row, about = curve[0], match[1].partition(" while ")[0]
    named = match[4] or match[16]
    under = _elsewhere(result, row, named) if named else None
    delay, wire = way_of(result, row).planted_s(row.bytes)
    own = row.time[0]
    if named and under is None:
        return False
    if under is not None:
        if match[4]:
            less = way_of(result, under).planted_s(under.bytes)
            delay, wire = delay - less[0], wire - less[1]
        own = difference(row.times, under.times, (row.seconds, under.seconds), promised=0.01)
    planted = delay + wire
    said.known(match.span(1))
    said.known(match.span(4 if match[4] else 16))
    said.number(match.span(2), match[3], planted)
    said.number(match.span(5), match[6], delay)
    said.number(match.span(7), match[8], wire)
    times(said, match, 9, own)
    said.size(match.span(17), row.bytes)
    for group, value in zip((18, 19, 20), own[:3], strict=True):
        said.number(match.span(group), "%", value / planted - 1)
    said.number(match.span(21), match[22], own.estimate - planted)
    said.number(match.span(23), "%", own.estimate / planted - 1)
    launches(said, min(len(one.medians) for one in (row, under) if one is not None))
    return bool(about)


def _elsewhere(result: Result, row: Row, named: str) -> Row | None:
    """The same message at another place."""
    words = set(named.split(", "))
    found = [
        one
        for one in result.shown
        if one.visits
        and words <= one.words
        and one.key("transport", "placement") == row.key("transport", "placement")
    ]
    return found[0] if len(found) == 1 else None


def planted_rate(said: Said, result: Result) -> bool:
    """A rate of the plan beside the best that was measured."""
    match = RATE.match(said.text)
    curve = find_curve(talking(result), match[1]) if match else None
    if match is None or curve is None:
        return False
    row = max(curve, key=lambda one: one.bytes_per_time / one.seconds)
    way, found = way_of(result, row), rate_of(row, row.directions)
    said.known(match.span(1))
    said.number(match.span(2), match[3], way.payload / PAYLOAD)
    said.number(match.span(6), match[7], way.payload)
    numbers_of(said, match, 10, found)
    said.size(match.span(14), row.bytes)
    for place in range(3):
        said.number(match.span(15 + place), "%", *(one[place] / way.payload - 1 for one in found))
    launches(said, len(row.medians))
    return True
