"""What a lab was told to put between two hosts, beside what was measured there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.cell_names import place_name, subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.find.explain.evidence import single_calls
from mpigauge.find.explain.plateau import Rate, rate_at, rising
from mpigauge.find.explain.routes import PACKET_BYTES, PAIR, pairs_of, ways_of
from mpigauge.find.phrases import extra, in_one_line, known_rate, known_time, rate, signed_percent, wire_rate
from mpigauge.plan.factors import PLACE
from mpigauge.rows.group import Key, Subject, group, job_key
from mpigauge.rows.ratios import difference
from mpigauge.stats.bootstrap import MIN_LAUNCHES
from mpigauge.stats.interval import is_known
from mpigauge.vocabulary import AUTO

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.find.explain.routes import Way
    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row
    from mpigauge.stats.interval import Number

LONG = 10.0
"""Times the delay, that a message is on the wire: of shorter ones the bandwidth says little of the rate."""


@dataclass(frozen=True, slots=True)
class PlantedDelay:
    """A delay of a lab, and by how much the smallest message takes longer.

    Attributes:
        of: The smallest message, or an exchange of two at once.
        base: What was taken from it: the same message elsewhere; None if nothing was.
        between: Whether the base goes between hosts of the lab, too.
        delay_s: Planted, one way; of two ways the difference.
        lanes_s: What the packet is sent on both lanes for, by their rates; of two ways the difference.
        measured_s: The message, or by how much it takes longer than the base.
        low_s: Lower end of its 95 % interval.
        high_s: Its upper end.
        above_s: What of it was not planted.
    """

    of: Subject
    base: Cell | None
    between: bool
    delay_s: float
    lanes_s: float
    measured_s: float
    low_s: float
    high_s: float
    launches: int
    above_s: float

    @property
    def planted_s(self) -> float:
        """The time for which the lab makes it wait, in all."""
        return self.delay_s + self.lanes_s

    @property
    def weight(self) -> float:
        """Less where nothing was taken off: the software of both hosts is in it, which was not planted."""
        return 0.5 if self.base is None else 1.0


@dataclass(frozen=True, slots=True)
class PlantedRate:
    """The rate of a way through a lab, and the best bandwidth over it, in one direction.

    Attributes:
        of: Of the best bandwidth in one direction.
        link_bytes_per_s: Planted: of the slower lane.
        payload_bytes_per_s: Of that, what TCP leaves to messages.
        best: What was measured.
        rising: Whether it is that of the largest size and still rises there, for certain.
    """

    of: Subject
    link_bytes_per_s: float
    payload_bytes_per_s: float
    best: Rate
    rising: bool
    launches: int

    @property
    def weight(self) -> float:
        """The weight of a delay that others were taken from."""
        return 1.0


def planted(evidence: Evidence) -> Iterator[PlantedDelay | PlantedRate]:
    """Yield delays and rates between two hosts of a lab, a number for each; nothing outside of labs.

    Raises:
        UsageError: The result has words for its lab that are none.
    """
    ways = ways_of(evidence)
    if ways:
        yield from _delays(evidence, ways)
        yield from _rates(evidence, ways)


# ---- Delays --------------------------------------------------------------------------------------


def _delays(evidence: Evidence, ways: Mapping[JobKey, Way]) -> Iterator[PlantedDelay]:
    """Yield each way once: by the first message that tells, those of one way before exchanges."""
    told = set()
    for places in _smallest(evidence):
        for one in _of_places(evidence, places, ways):
            key = *job_key(one.of), one.base is None, one.between
            if key not in told:
                told.add(key)
                yield one


def _smallest(evidence: Evidence) -> list[list[Row]]:
    """Return the smallest message in all places that it was measured in."""
    smallest = (curve[0] for curve in single_calls(evidence))
    told = (row for row in smallest if row.cell.bytes <= PACKET_BYTES and _takes_one_way(evidence, row))
    return sorted(group(told, PLACE), key=lambda rows: not evidence.patterns[rows[0].cell.pattern].one_way)


def _takes_one_way(evidence: Evidence, row: Row) -> bool:
    """Return whether it waits for one delay: a message one way, or two that are under way at once."""
    pattern, mode = evidence.patterns[row.cell.pattern], evidence.mode_of(row)
    if mode is None or mode.never_eager or pattern.active_ranks != PAIR:
        return False
    return pattern.one_way or (row.directions > 1 and not pattern.windowed)


def _of_places(
    evidence: Evidence, places: Sequence[Row], ways: Mapping[JobKey, Way]
) -> Iterator[PlantedDelay]:
    def planted_s(row: Row) -> float:
        return ways[row.cell.job].delay_s + ways[row.cell.job].on_lanes_s(row.cell.bytes)

    hosts = pairs_of(evidence)
    far = sorted((row for row in places if row.cell.job in ways), key=planted_s)
    near = [row for row in places if len({*hosts.get(row.cell.job, (1, 2))}) == 1]
    for row in far:
        # What a library chooses by itself on one host is memory: no part of a message over a network.
        same = (one for one in near if one.cell.transport == row.cell.transport != AUTO)
        found = [_delay(row, next(same, None), ways)]
        if planted_s(row) > planted_s(far[0]):
            found.append(_delay(row, far[0], ways))
        yield from (one for one in found if one is not None)


def _delay(row: Row, base: Row | None, ways: Mapping[JobKey, Way]) -> PlantedDelay | None:
    """Return a delay with what was measured; None if it has no interval, or nothing was planted."""
    way, under = ways[row.cell.job], ways.get(base.cell.job) if base is not None else None
    size = row.cell.bytes
    measured = _measured(row, base)
    if measured is None or measured.low is None or measured.high is None:
        return None
    delay_s = way.delay_s - (under.delay_s if under is not None else 0.0)
    lanes_s = way.on_lanes_s(size) - (under.on_lanes_s(size) if under is not None else 0.0)
    found = PlantedDelay(
        of=row.of,
        base=base.cell if base is not None else None,
        between=under is not None,
        delay_s=delay_s,
        lanes_s=lanes_s,
        measured_s=measured.estimate,
        low_s=measured.low,
        high_s=measured.high,
        launches=min(one.time.launches for one in (row, base) if one is not None and one.time is not None),
        above_s=measured.estimate - delay_s - lanes_s,
    )
    return found if found.planted_s > 0 else None


def _measured(row: Row, base: Row | None) -> Number | None:
    """Return the time of the message, or by how much it takes longer than the base."""
    if row.time is None or (base is not None and base.time is None):
        return None
    if base is None or base.time is None:
        return row.time
    return difference(row.time, base.time)


# ---- Rates ---------------------------------------------------------------------------------------


def _rates(evidence: Evidence, ways: Mapping[JobKey, Way]) -> Iterator[PlantedRate]:
    best: dict[Key, tuple[Row, bool]] = {}
    for curve in single_calls(evidence):
        way = ways.get(curve[0].cell.job)
        rated = [row for row in curve if way is not None and _rated(evidence, row, way)]
        if rated:
            row, key = max(rated, key=_one_direction), job_key(curve[0])
            mine = row, row is curve[-1] and rising(curve) is not None
            best[key] = max(best.get(key, mine), mine, key=lambda one: _one_direction(one[0]))
    for row, still_rising in best.values():
        way = ways[row.cell.job]
        yield PlantedRate(
            of=row.of,
            link_bytes_per_s=way.rate_bytes_per_s,
            payload_bytes_per_s=way.payload_bytes_per_s,
            best=rate_at(row, row.directions),
            rising=still_rising,
            launches=row.time.launches if row.time is not None else 0,
        )


def _rated(evidence: Evidence, row: Row, way: Way) -> bool:
    """Return whether it has a bandwidth of two ranks, with an interval, that a rate could hold back."""
    pattern, most = evidence.patterns[row.cell.pattern], way.payload_bytes_per_s
    known = row.rate_bytes_per_s and row.time is not None and row.time.launches >= MIN_LAUNCHES
    long = most > 0 and row.cell.bytes / most >= LONG * way.delay_s
    return bool(known) and long and pattern.active_ranks == PAIR


def _one_direction(row: Row) -> float:
    return (row.rate_bytes_per_s or 0.0) / row.directions


# ---- Sentences -----------------------------------------------------------------------------------

SOFTWARE = "in which is the software of both hosts and of the relay"
RELAY = "in which is the work of the relay"


def headline(fact: PlantedDelay | PlantedRate, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line what was measured, what was planted, and how far apart they are.

    Where nothing was taken off a message, that is no error: software was not planted.
    """
    about = subject(fact.of, varied)
    if isinstance(fact, PlantedRate):
        best, planted = fact.best, fact.payload_bytes_per_s
        known = known_rate(best.estimate, (best.low, best.high), chosen)
        measured = f"{known} at {units.format_size(best.bytes)}"
        left = f"the planted rate leaves {rate(planted, chosen=chosen)}"
        if not is_known(best.low, best.high):
            return f"{about}: {measured}; {left}"
        return f"{about}: {measured}; {left}; error {signed_percent(best.estimate / planted - 1)}"
    than = f"more than {place_name(fact.base)}" if fact.base is not None else "one way"
    measured = f"{known_time(fact.measured_s, fact.low_s, fact.high_s, chosen)} {than}"
    planted_s = f"planted {units.format_time(fact.planted_s, chosen.time)}"
    said = f"{about}: {measured} at {units.format_size(fact.of.cell.bytes)}; {planted_s}"
    if not is_known(fact.low_s, fact.high_s):
        return said
    if fact.base is not None:
        return in_one_line([f"{said}; error {_share(fact)}", said])
    more = f"{said}; {extra(fact.above_s, chosen)} is software of both hosts"
    return in_one_line([f"{more} and of the relay", more, said] if fact.above_s > 0 else [said])


def sentence(fact: PlantedDelay | PlantedRate, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return what was planted, what was measured, and how far apart they are if that is known."""
    about = f"{subject(fact.of, varied)}: emulated network of a lab"
    said = _rate(fact, chosen) if isinstance(fact, PlantedRate) else _delay_sentence(fact, chosen)
    return f"{about}: {said}"


def _rate(fact: PlantedRate, chosen: Units) -> str:
    best, planted = fact.best, fact.payload_bytes_per_s
    most = f"{wire_rate(fact.link_bytes_per_s)}, of which TCP leaves {rate(planted, chosen=chosen)}"
    measured = known_rate(best.estimate, (best.low, best.high), chosen)
    where = f"{units.format_size(best.bytes)}{', where it still rises' if fact.rising else ''}"
    error = _error(best.estimate, best.low, best.high, planted)
    return f"planted {most}; measured {measured} in one direction at {where}; error {error}"


def _delay_sentence(fact: PlantedDelay, chosen: Units) -> str:
    size = units.format_size(fact.of.cell.bytes)
    measured = known_time(fact.measured_s, fact.low_s, fact.high_s, chosen)
    planted = f"planted one way {_planted(fact, chosen)}"
    if fact.base is None:
        above = f"{extra(fact.measured_s - fact.planted_s, chosen)} ({_share(fact)})"
        return (
            f"planted one way {_planted(fact, chosen)}; measured {measured} for {size}; {above}, {SOFTWARE}"
        )
    error = _error(fact.measured_s, fact.low_s, fact.high_s, fact.planted_s)
    than = f"more than {place_name(fact.base)}"
    if fact.between:
        more = _planted(fact, chosen, than)
        return f"planted one way {more}; measured {measured} more for {size}; error {error}"
    return f"{planted}; measured {measured} {than} for {size}; error {error}, {RELAY}"


def _planted(fact: PlantedDelay, chosen: Units, than: str = "") -> str:
    whole = " ".join(filter(None, (units.format_time(fact.planted_s, chosen.time), than)))
    if not fact.lanes_s:
        return whole
    parts = [f"{units.format_time(fact.delay_s, chosen.time)} of delay"] if fact.delay_s else []
    wire = f"{extra(fact.lanes_s, chosen)} on the wire without the header of MPI"
    return f"{whole} ({', '.join([*parts, wire])})"


def _share(fact: PlantedDelay) -> str:
    return signed_percent(fact.measured_s / fact.planted_s - 1)


def _error(estimate: float, low: float | None, high: float | None, planted: float) -> str:
    if not is_known(low, high):
        return "not known"

    def write(measured: float) -> str:
        return signed_percent(measured / planted - 1)

    return units.with_interval(write(estimate), low, high, write)
