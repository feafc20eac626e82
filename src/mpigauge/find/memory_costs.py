"""Messages beside the memory of one result: their cost in copies, their software, and the caches seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.find.cache_levels import DifferentCache, Level, cache_levels, differing_claims
from mpigauge.plan.factors import ALONG
from mpigauge.rows.baselines import CHASES, LINES, MESSAGES, YARDSTICKS
from mpigauge.rows.group import group
from mpigauge.rows.ratios import Ratio, below_from, difference
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import StateName

LIMITS = (10.0, 2.0)
"""Ratios worth knowing the size of."""

OVERHEAD_MOST_BYTES = 64
"""Of a larger message, more than a line has to be carried."""


@dataclass(frozen=True, slots=True)
class CostInCopies:
    """What a curve of messages costs in copies of the same size.

    Attributes:
        cell: The smallest message of the curve.
        name: Of the ratio: one of `baselines.YARDSTICKS`.
        below: Each of LIMITS with the size from which on the ratio stays below it; None if it never does.
        certain: The same of the upper ends of the intervals.
        least: The smallest ratio.
        least_bytes: The size at which it is so small.
        state: The state of the machine that it is of; None if that had one only.
    """

    cell: Cell
    name: str
    below: tuple[tuple[float, int | None], ...]
    certain: tuple[tuple[float, int | None], ...]
    least: Ratio
    least_bytes: int
    state: StateName | None = None


@dataclass(frozen=True, slots=True)
class SoftwareOverhead:
    """What the smallest message takes beyond the hand-over of one cache line.

    Attributes:
        cell: The message.
        line_cell: The hand-over.
        low_s: Lower end of the 95 % interval of the difference, launch by launch; None if there is none.
        high_s: Its upper end.
        state: The state of the machine that it is of; None if that had one only.
    """

    cell: Cell
    line_cell: Cell
    message_s: float
    line_s: float
    low_s: float | None = None
    high_s: float | None = None
    state: StateName | None = None

    @property
    def overhead_s(self) -> float:
        """By how much the message takes longer; 0 if it does not."""
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


MemoryFact = CostInCopies | SoftwareOverhead | CachesSeen


def memory_facts(rows: Sequence[Row], claimed: Mapping[str, int]) -> Iterator[MemoryFact]:
    """All that a result says of its messages beside its memory.

    Args:
        claimed: Caches as the system claims them, name to bytes.
    """
    yield from costs_in_copies(rows)
    yield from software_overheads(rows)
    yield from caches_seen(rows, claimed)


def costs_in_copies(rows: Iterable[Row]) -> Iterator[CostInCopies]:
    """The cost of every curve of messages in each copy that was measured beside it."""
    for name, curve in curves_in_copies(rows):
        yield cost_of(curve, name)


def curves_in_copies(rows: Iterable[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Every curve of messages above 0 B, once for each copy beside it: name of the ratio, sizes rising."""
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
    return CostInCopies(curve[0].cell, name, below, certain, ratios[place], sizes[place], curve[0].state)


def software_overheads(rows: Sequence[Row]) -> Iterator[SoftwareOverhead]:
    """How far the smallest message of each mode is above what the hardware needs."""
    lines = {(row.cell.job, row.state): row for row in rows if row.cell.pattern in LINES and row.time}
    for row in _smallest_messages(rows):
        line = lines.get((row.cell.job, row.state))
        if line is not None and line.time is not None and row.time is not None:
            found = difference(row.time, line.time)
            low_s, high_s = (None, None) if found is None else (found.low, found.high)
            times_s = row.time.estimate, line.time.estimate
            yield SoftwareOverhead(row.cell, line.cell, *times_s, low_s, high_s, row.state)


def _smallest_messages(rows: Iterable[Row]) -> Iterable[Row]:
    smallest: dict[tuple[object, ...], Row] = {}
    for row in rows:
        if row.cell.pattern in MESSAGES and row.time is not None and row.cell.bytes <= OVERHEAD_MOST_BYTES:
            key = (row.cell.mode, row.cell.buffers, row.cell.job, row.state)
            if key not in smallest or row.cell.bytes < smallest[key].cell.bytes:
                smallest[key] = row
    return smallest.values()


def caches_seen(rows: Iterable[Row], claimed: Mapping[str, int]) -> Iterator[CachesSeen]:
    """The levels of memory that the pointer chase of each job shows."""
    chases = (row for row in rows if row.cell.pattern in CHASES and row.time is not None)
    for mine in group_by(chases, lambda row: row.cell.job).values():
        mine.sort(key=lambda row: row.cell.bytes)
        sizes = [row.cell.bytes for row in mine]
        times = [row.time.estimate for row in mine if row.time is not None]
        if levels := cache_levels(sizes, times):
            different = differing_claims(levels, claimed, sizes)
            yield CachesSeen(mine[0].cell, tuple(levels), tuple(different))
