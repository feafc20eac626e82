"""Messages beside the memory of one result: caches seen, cost in copies, and cost of their software."""

from __future__ import annotations

import bisect
import math
import re
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from mpigauge import units
from mpigauge.document.finding import finding
from mpigauge.document.phrases import state_suffix
from mpigauge.document.size_words import crossed_between
from mpigauge.plan.factors import ALONG
from mpigauge.rows.baselines import CHASES, LINES, MESSAGES, YARDSTICKS
from mpigauge.rows.group import Subject, group, job_key
from mpigauge.rows.ratios import below_from, difference
from mpigauge.sequences import group_by
from mpigauge.stats.latency_pieces import MIN_POINTS, RESOLUTION, STEEP, Piece, pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.finding import Finding
    from mpigauge.plan.model import Cell
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.stats.percentiles import Values


# ---- Cache levels --------------------------------------------------------------------------------

_LEAST_POINTS = 6
_ONE_SIDED = 1.645
_AGREEMENT = 2

# A ramp that is less above a plateau cannot be told from noise and from the spacing of the sizes.
_SERVED = 1.1

# So far apart, the faster cache serves an eighth of the loads where the slower one ends.
_CAPACITIES_APART = 8


@dataclass(frozen=True, slots=True)
class Level:
    """A level of the memory hierarchy as pointer chasing shows it.

    Attributes:
        capacity_bytes: The largest working set that it serves; None for the last level: main memory, or
            whatever the largest working set reached.
        latency_s: The median latency of the working sets that it serves.
    """

    capacity_bytes: int | None
    latency_s: float


@dataclass(frozen=True, slots=True)
class DifferentCache:
    """A cache whose capacity is not seen as the system claims it.

    Attributes:
        level: 1 for L1, and so on.
        seen_bytes: The largest working set that it serves; None if its end was not seen.
        claimed_bytes: What the system claims.
        within: Whether working sets of that size were measured.
    """

    level: int
    seen_bytes: int | None
    claimed_bytes: int
    within: bool = False

    @property
    def agrees(self) -> bool:
        """Whether both are the same within a factor of 2."""
        seen, claimed = self.seen_bytes, self.claimed_bytes
        return seen is not None and seen <= _AGREEMENT * claimed and claimed <= _AGREEMENT * seen


def cache_levels(sizes_bytes: Sequence[int], latencies_s: Sequence[float]) -> list[Level]:
    """Return the levels of memory that a curve of latency over working set shows, fastest first.

    The curve is cut into pieces (`pieces_of`). A piece is a level if it is shown to be flat at its end: the
    upper 95 % bound of the slope of log latency over log size is below 1/2. Beyond the capacity, latency
    leaves a plateau with the slope ``slow / fast - 1``, so one number decides twice: neighbours that differ
    by less than a factor of 1 + 1/2 are one level. A level ends where its last piece does, or where the ramp
    that follows meets it. Its latency is the median over its points, of a ramp its asymptote: what loads
    take that no faster level serves.

    Args:
        sizes_bytes: Working sets in any order, 4 to 8 an octave; of one given twice the lower latency counts.
        latencies_s: Latency of a load in each; what is not positive and finite is passed over.

    Returns:
        Nothing for fewer than 6 points; else at least one level, the last without a capacity.

    Raises:
        ValueError: If there are not as many latencies as sizes.

    Limits:
        In simulated curves with noise up to 5 % levels are found if their capacities differ at least 8 times
        and their latencies 2.5 times; none is invented. With noise of 10 %, 1.5 % of curves of random access
        show a level less and 0.2 % a level more. Closer levels may be seen as one; up to 2 times in capacity
        or 1.5 in latency they mostly are. Where misses grow faster than ``1 - capacity / size``, a latency
        may be 15 % too long. The last level is never slower than what was measured. A translation buffer
        (pages that are not huge) looks like a cache if it makes a step. The capacity is what one process
        gets: where pages collide, latency rises before the nominal one.

    Source:
        docs/method-memory.md#cache-levels
    """
    sizes, latencies = _measured(sizes_bytes, latencies_s)
    if len(sizes) < _LEAST_POINTS:
        return []
    pieces = pieces_of(np.array(sizes, dtype=np.float64), latencies)
    *bounded, last = _joined(pieces, latencies)
    after = dict(pairwise(pieces))
    return [
        *(
            Level(sizes[_last_served(sizes, level[-1], after[level[-1]])], _latency(level, latencies))
            for level in bounded
        ),
        Level(None, min(_latency(last, latencies), float(latencies.max()))),
    ]


def _measured(sizes_bytes: Sequence[int], latencies_s: Sequence[float]) -> tuple[list[int], Values]:
    """Return what is a measurement, by size; the lower latency of a size that is there twice."""
    points = [
        (size, latency)
        for size, latency in zip(sizes_bytes, latencies_s, strict=True)
        if size > 0 and 0 < latency < math.inf
    ]
    lowest = dict(sorted(points, reverse=True))
    sizes = sorted(lowest)
    return sizes, np.array([lowest[size] for size in sizes])


def differing_claims(
    levels: Sequence[Level], claimed: Mapping[str, int], sizes_bytes: Sequence[int]
) -> list[DifferentCache]:
    """Return where the capacities seen are not what the system claims, in the order of the levels.

    A claim is compared with the level whose capacity is nearest to it, each level with one claim, both in
    rising order. Claims that only the smallest working set is below cannot be seen, and are left out.

    Args:
        levels: From `cache_levels`; without any, nothing can differ.
        claimed: Names such as "L1 Data" or "L3 Unified" to bytes; instruction caches do not count.
        sizes_bytes: Working sets that were measured.

    Returns:
        Nothing if all capacities agree within a factor of 2.

    Source:
        docs/method-memory.md#cache-levels
    """
    least = sorted(sizes_bytes)[1] if len(sizes_bytes) > 1 else 0
    claims = [(number, most) for number, most in sorted(_data_capacities(claimed).items()) if most >= least]
    if not levels:
        return []
    seen = _matched(
        [level.capacity_bytes for level in levels if level.capacity_bytes], [c for _, c in claims]
    )
    found = [
        DifferentCache(number, capacity, most, within=capacity is None and most < max(sizes_bytes))
        for (number, most), capacity in zip(claims, seen, strict=True)
    ]
    return [one for one in found if not one.agrees]


def _matched(capacities: Sequence[int], claims: Sequence[int]) -> list[int | None]:
    """Return for each claim the capacity that it is compared with; None for those that are left over."""
    pairs = min(len(capacities), len(claims))

    def distance(chosen: tuple[Sequence[int], Sequence[int]]) -> float:
        places, values = chosen
        return sum(abs(math.log(claims[place] / value)) for place, value in zip(places, values, strict=True))

    choices = product(combinations(range(len(claims)), pairs), combinations(capacities, pairs))
    places, values = min(choices, key=distance)
    found = dict(zip(places, values, strict=True))
    return [found.get(place) for place in range(len(claims))]


def _joined(pieces: Sequence[Piece], latencies: Values) -> list[list[Piece]]:
    """Return the pieces of each level: all but ramps still steep, joined unless latency rises by 1.5.

    A piece that is not shown to be flat is not a level. The last piece always is one: if it is a ramp, it
    leads to a level that was not reached.
    """
    flat = _flat(pieces, latencies.size)
    shown = [piece for piece in pieces if piece in flat or not piece.saving or piece is pieces[-1]]
    lows, highs = _heights(shown, latencies)
    joined = [shown[:1]]
    for high, low, piece in zip(highs, lows[1:], shown[1:], strict=False):
        if low < (1 + STEEP) * high:
            joined[-1].append(piece)
        else:
            joined.append([piece])
    return [*(level for level in joined[:-1] if flat.intersection(level)), joined[-1]]


def _flat(pieces: Sequence[Piece], points: int) -> set[Piece]:
    """Return pieces whose upper 95 % bound of the slope, at the end, is below 1/2."""
    noise = math.sqrt(sum(piece.squares for piece in pieces) / points + RESOLUTION**2)
    return {piece for piece in pieces if piece.slope + _ONE_SIDED * noise * piece.slope_error < STEEP}


def _heights(shown: Sequence[Piece], latencies: Values) -> tuple[Values, Values]:
    """Return where the level of each piece begins and ends.

    No working set is faster than a smaller one, so a piece is as high as the lowest that follows.
    """
    lows, highs = (np.array([getattr(piece, end) for piece in shown]) for end in ("low", "high"))
    # One slow point is no level.
    lows[-1] = min(lows[-1], latencies[-MIN_POINTS:].min())
    lowest, highest = (np.minimum.accumulate(each[::-1])[::-1] for each in (lows, highs))
    return lowest, highest


def _last_served(sizes: Sequence[int], before: Piece, after: Piece) -> int:
    """Return the last working set of a level, or the largest where the next ramp is not above it."""
    last = before.end - 1
    rise = after.low - _SERVED * before.high
    if not after.saving or rise <= 0:
        return last
    return max(last, min(bisect.bisect_right(sizes, after.saving / rise), after.end - 1) - 1)


def _latency(level: Sequence[Piece], latencies: Values) -> float:
    """Return the median over the points of the pieces of a level."""
    return float(np.median(np.concatenate([_of_level(piece, latencies) for piece in level])))


def _of_level(piece: Piece, latencies: Values) -> Values:
    """Return latencies of the level alone: of a ramp its asymptote, as far as capacities may be apart."""
    mine = latencies[piece.begin : piece.end]
    if not piece.saving:
        return mine
    reached = float(np.median(mine[-MIN_POINTS:]))
    return np.full_like(mine, min(piece.low, reached / (1 - 1 / _CAPACITIES_APART)))


def _data_capacities(claimed: Mapping[str, int]) -> dict[int, int]:
    """Return the size of the largest data cache by number of its level."""
    capacities: dict[int, int] = {}
    for name, capacity_bytes in claimed.items():
        level, _, kind = name.partition(" ")
        if kind != "Instruction" and re.fullmatch(r"L\d+", level):
            number = int(level[1:])
            capacities[number] = max(capacity_bytes, capacities.get(number, 0))
    return capacities


# ---- Costs ---------------------------------------------------------------------------------------

LIMITS = (10.0, 2.0)
"""Ratios worth knowing the size of."""

OVERHEAD_MOST_BYTES = 64
"""Of a larger message, more than a line has to be carried."""


@dataclass(frozen=True, slots=True)
class CostInCopies:
    """The cost of a curve of messages in copies of the same size.

    Attributes:
        of: The smallest message of the curve.
        name: Of the ratio: one of `baselines.YARDSTICKS`.
        below: Each of LIMITS with the size from which on the ratio stays below it; None if it never does.
        before: Each with the last measured size before that one; None if there is none.
        certain: The same of the upper ends of the intervals.
        least: The smallest ratio.
        least_bytes: The size at which it is so small.
    """

    of: Subject
    name: str
    below: tuple[tuple[float, int | None], ...]
    before: tuple[tuple[float, int | None], ...]
    certain: tuple[tuple[float, int | None], ...]
    least: Ratio
    least_bytes: int

    @property
    def cell(self) -> Cell:
        """The cell."""
        return self.of.cell


@dataclass(frozen=True, slots=True)
class SoftwareOverhead:
    """The time of the smallest message beyond the hand-over of one cache line.

    Attributes:
        of: The message.
        line_cell: The hand-over.
        low_s: Lower end of the 95 % interval of the difference, launch by launch; None if there is none.
        high_s: Its upper end.
    """

    of: Subject
    line_cell: Cell
    message_s: float
    line_s: float
    low_s: float | None = None
    high_s: float | None = None

    @property
    def cell(self) -> Cell:
        """The cell."""
        return self.of.cell

    @property
    def overhead_s(self) -> float:
        """The time by which the message takes longer; 0 if it does not."""
        return max(0.0, self.message_s - self.line_s)


@dataclass(frozen=True, slots=True)
class CachesSeen:
    """The levels of memory that a pointer chase shows, and where they differ from what the system claims.

    Attributes:
        cell: The chase through the smallest working set.
    """

    cell: Cell
    levels: tuple[Level, ...]
    different: tuple[DifferentCache, ...]


MemoryFact = SoftwareOverhead | CachesSeen


def memory_facts(rows: Sequence[Row], claimed: Mapping[str, int]) -> Iterator[MemoryFact]:
    """Yield what a result says of its smallest messages beside its memory, and of that.

    Args:
        claimed: Caches as the system claims them, name to bytes.
    """
    yield from software_overheads(rows)
    yield from caches_seen(rows, claimed)


def curves_in_copies(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Yield every curve of messages above 0 B, once per copy beside it: name of the ratio, sizes rising."""
    for curve in group((row for row in rows if row.ratios and row.cell.bytes > 0), ALONG):
        for name in YARDSTICKS:
            if mine := sorted((row for row in curve if name in row.ratios), key=lambda row: row.cell.bytes):
                yield name, mine


def cost_of(curve: Sequence[Row], name: str) -> CostInCopies:
    """Return the cost of a curve in one copy.

    Args:
        curve: Rows that have this ratio, sizes rising.
    """
    sizes = [row.cell.bytes for row in curve]
    ratios = [row.ratios[name] for row in curve]
    estimates = [ratio.estimate for ratio in ratios]
    uppers = [math.nan if ratio.high is None else ratio.high for ratio in ratios]
    below, certain = (
        tuple((limit, below_from(sizes, values, limit)) for limit in LIMITS) for values in (estimates, uppers)
    )
    place = estimates.index(min(estimates))
    before = tuple((limit, _before(sizes, size)) for limit, size in below)
    return CostInCopies(curve[0].of, name, below, before, certain, ratios[place], sizes[place])


def _before(sizes_bytes: Sequence[int], size: int | None) -> int | None:
    """Return the largest of some sizes that is smaller than one."""
    return max((one for one in sizes_bytes if size is not None and one < size), default=None)


def software_overheads(rows: Sequence[Row]) -> Iterator[SoftwareOverhead]:
    """Yield how far the smallest message of each mode is above what the hardware needs."""
    lines = {job_key(row): row for row in rows if row.cell.pattern in LINES and row.time}
    for row in _smallest_messages(rows):
        line = lines.get(job_key(row))
        if line is not None and line.time is not None and row.time is not None:
            found = difference(row.time, line.time)
            low_s, high_s = (None, None) if found is None else (found.low, found.high)
            times_s = row.time.estimate, line.time.estimate
            yield SoftwareOverhead(row.of, line.cell, *times_s, low_s, high_s)


def _smallest_messages(rows: Iterable[Row]) -> Iterable[Row]:
    smallest: dict[tuple[object, ...], Row] = {}
    for row in rows:
        if row.cell.pattern in MESSAGES and row.time is not None and row.cell.bytes <= OVERHEAD_MOST_BYTES:
            key = (row.cell.mode, row.cell.buffers, *job_key(row))
            if key not in smallest or row.cell.bytes < smallest[key].cell.bytes:
                smallest[key] = row
    return smallest.values()


def caches_seen(rows: Iterable[Row], claimed: Mapping[str, int]) -> Iterator[CachesSeen]:
    """Yield the levels of memory that the pointer chase of each job shows."""
    chases = (row for row in rows if row.cell.pattern in CHASES and row.time is not None)
    for mine in group_by(chases, lambda row: row.cell.job).values():
        mine.sort(key=lambda row: row.cell.bytes)
        sizes = [row.cell.bytes for row in mine]
        times = [row.time.estimate for row in mine if row.time is not None]
        if levels := cache_levels(sizes, times):
            different = differing_claims(levels, claimed, sizes)
            yield CachesSeen(mine[0].cell, tuple(levels), tuple(different))


# ---- Sentences -----------------------------------------------------------------------------------

_WHOLE_FROM = 10
_PARTS_OF_UNIT = 4
_BINARY_UNITS = (1, 2**10, 2**20, 2**30, 2**40)
_TIMES = "\N{MULTIPLICATION SIGN}"


def memory_finding(fact: MemoryFact) -> Finding:
    """Return a fact about messages beside memory as a finding."""
    match fact:
        case SoftwareOverhead():
            return finding("software-overhead", fact, _software(fact))
        case CachesSeen():
            return finding("caches-seen", fact, _caches(fact))


def crossed(before: int | None, size: int) -> str:
    """Return where a ratio falls below a limit: between which measured sizes, or from the first on."""
    return f"from {units.format_size(size)}" if before is None else crossed_between(before, size)


def _software(fact: SoftwareOverhead) -> str:
    cell = fact.cell
    size, job = units.format_size(cell.bytes), f"({cell.job.name}){state_suffix(fact.of)}"
    takes = f"{cell.pattern} {cell.mode} of {size} {job} takes {units.format_time(fact.message_s)}"
    line = units.format_time(fact.line_s)
    if not fact.overhead_s:
        return f"{takes}, no longer than a cache-line transfer ({line})"
    above = units.format_time(fact.overhead_s)
    above = units.with_interval(above, fact.low_s, fact.high_s, units.format_time)
    return f"{takes}, {above} above one cache-line transfer ({line})"


def _caches(fact: CachesSeen) -> str:
    levels = ", ".join(_level(level) for level in fact.levels)
    different = "".join(f"; {_difference(one)}" for one in fact.different)
    return f"cache levels seen ({fact.cell.job.name}): {levels}{different}"


def _level(level: Level) -> str:
    reach = "above" if level.capacity_bytes is None else f"up to {units.format_size(level.capacity_bytes)}"
    return f"{units.format_time(level.latency_s)} {reach}"


def _difference(one: DifferentCache) -> str:
    claim = f"the system claims {units.format_size(one.claimed_bytes)}"
    if one.seen_bytes is None:
        where = "not seen among" if one.within else "beyond"
        return f"L{one.level}: its end is {where} the working sets measured, {claim}"
    seen = f"L{one.level}: about {units.format_size(_rounded(one.seen_bytes))} seen, {claim}"
    if one.claimed_bytes > one.seen_bytes:
        return f"{seen} (common in virtual machines and with cache partitions)"
    return f"{seen} (two levels that are close together look like one)"


def _rounded(size_bytes: int) -> int:
    """Return a size that "about" can be said of: whole units from 10 on, quarters below."""
    unit = max((unit for unit in _BINARY_UNITS if unit <= size_bytes), default=1)
    part = unit if size_bytes >= _WHOLE_FROM * unit else max(1, unit // _PARTS_OF_UNIT)
    return round(size_bytes / part) * part
