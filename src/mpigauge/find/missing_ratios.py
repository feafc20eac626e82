"""Ratios that are missing because the ranks of the two were at different distances.

Source: docs/method.md#states-of-the-machine
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal, NamedTuple

from mpigauge.find.comparisons import against_first
from mpigauge.rows.baselines import NAMES, measured_in
from mpigauge.rows.machine.conditions import distances_of
from mpigauge.rows.same_distance import apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mpigauge.compare.curves import Curve
    from mpigauge.plan.model import Cell
    from mpigauge.rows.rows import Row
    from mpigauge.rows.same_distance import DistanceMismatch
    from mpigauge.vocabulary import Contrasted, Distance


@dataclass(frozen=True, slots=True)
class RanksApart:
    """Ratios of two things that are missing, all of their sizes together.

    Attributes:
        between: In what the two differ: modes, libraries, or a message and the copy that it is measured by.
        other: A cell of the one.
        first: The same of the other.
        of: What was handed over.
        other_s: How long that took in the one, median of the sizes without a ratio.
        first_s: And in the other.
        missing: How many sizes have none for this reason.
        sizes: How many both have.
    """

    between: Literal["mode", "library", "baseline"]
    other: Cell
    first: Cell
    of: Distance
    other_s: float
    first_s: float
    missing: int
    sizes: int


class _Pair(NamedTuple):
    """Two cells of one size, and what keeps them from having a ratio."""

    other: Cell
    first: Cell
    why: DistanceMismatch | None


def modes_apart(curves: Sequence[Curve]) -> Iterator[RanksApart]:
    """Modes without ratios, by pattern, library and place."""
    pairs = _pairs(curves, "mode")
    yield from _folded("mode", pairs, lambda cell: (cell.pattern, cell.mode, cell.job))


def libraries_apart(curves: Sequence[Curve]) -> Iterator[RanksApart]:
    """Libraries without ratios, all patterns and places of a pair of them together."""
    yield from _folded(
        "library", _pairs(curves, "library"), lambda cell: (cell.mpi, cell.mpi_version, cell.label)
    )


def copies_apart(rows: Sequence[Row]) -> Iterator[RanksApart]:
    """Messages without their cost in copies, by pattern, mode, kind of copy and job."""
    times = {(row.state, row.cell): row for row in rows if row.time is not None}
    found: list[_Pair] = []
    for state in dict.fromkeys(row.state for row in rows):
        mine = {cell: row for (its, cell), row in times.items() if its in (state, None)}
        found += [
            _Pair(cell, stick, _apart(mine[cell], mine[stick]))
            for cell, stick in measured_in(mine)
            if mine[cell].state == state
        ]
    yield from _folded("baseline", found, lambda cell: (cell.pattern, cell.mode, cell.job))


def _apart(over: Row, under: Row) -> DistanceMismatch | None:
    if over.time is None or under.time is None or NAMES[under.cell.pattern, under.cell.mode] in over.ratios:
        return None
    return apart(over.time, under.time, (distances_of(over.visits), distances_of(under.visits)))


def _pairs(curves: Sequence[Curve], of: Contrasted) -> Iterator[_Pair]:
    for other, first, _ in against_first(curves, of):
        for size in sorted(other.times.keys() & first.times.keys()):
            yield _Pair(other.cell, first.cell, other.apart(first, size))


def _folded(
    between: Literal["mode", "library", "baseline"], pairs: Iterable[_Pair], key: Callable[[Cell], object]
) -> Iterator[RanksApart]:
    """One for each pair of things that lacks ratios."""
    sizes: Counter[tuple[object, object]] = Counter()
    missing: dict[tuple[object, object, Distance], list[tuple[Cell, Cell, DistanceMismatch]]] = defaultdict(
        list
    )
    for other, first, why in pairs:
        sizes[key(other), key(first)] += 1
        if why is not None:
            missing[key(other), key(first), why.of].append((other, first, why))
    for (left, right, of), mine in missing.items():
        other, first, _ = mine[0]
        other_s, first_s = median(why.over_s for *_, why in mine), median(why.under_s for *_, why in mine)
        yield RanksApart(between, other, first, of, other_s, first_s, len(mine), sizes[left, right])
