"""Curves: times of messages against size, with everything else equal."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from mpigauge.compare.size_ratio import size_pairs
from mpigauge.plan.factors import SIZE
from mpigauge.plan.patterns import patterns_with
from mpigauge.rows.group import row_key
from mpigauge.rows.same_distance import ANYWHERE, apart, distances_apart, like_ratio
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.compare.size_ratio import SizePair
    from mpigauge.compare.within import Within
    from mpigauge.plan.model import Cell
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.group import Key, Subject
    from mpigauge.rows.machine.conditions import Distances
    from mpigauge.rows.rows import Row
    from mpigauge.rows.same_distance import DistanceMismatch
    from mpigauge.stats.decision import Ratio

MESSAGES = patterns_with(lambda pattern: pattern.family == "message")


@dataclass(frozen=True, eq=False)
class Curve:
    """Times of one pattern against size.

    Attributes:
        of: The smallest cell of it, in its state of the machine.
        rows: By size, each with a time and that of each launch.
        within: Comparisons within its result; None to compare each pair of curves by itself.
    """

    of: Subject
    rows: Mapping[int, Row]
    within: Within | None = None

    @property
    def cell(self) -> Cell:
        """The smallest cell of it."""
        return self.of.cell

    @cached_property
    def times(self) -> Mapping[int, Timing]:
        """Timing by size in bytes."""
        return {size: row.time for size, row in self.rows.items() if row.time is not None}

    def over(self, other: Curve, size: int) -> Ratio | None:
        """Return how many times as long it takes, paired by launch where both have the same ones.

        In one place only what was measured at one distance is compared; another place is another distance.

        Returns:
            None if there is no interval: of a single launch nothing is said.
        """
        over, under = self.rows[size], other.rows[size]
        ratio = self.within.ratio(over, under) if self.within is not None else None
        ratio = ratio or like_ratio(self.times[size], other.times[size], self._at(other, size))
        return None if ratio is None or ratio.low is None else ratio

    def besides(self, base: Curve) -> list[SizePair]:
        """Return the ratios of its times to those of another, at all sizes of both."""
        same = _place(self.cell) == _place(base.cell)
        return size_pairs(base.rows.values(), self.rows.values(), same_place=same, within=self.within)

    def apart(self, other: Curve, size: int) -> DistanceMismatch | None:
        """Return why there is no ratio, if their ranks were at different distances."""
        return apart(self.times[size], other.times[size], self._at(other, size))

    def _at(self, other: Curve, size: int) -> tuple[Distances, Distances]:
        if _place(self.cell) != _place(other.cell):
            return ANYWHERE
        return distances_apart(self.rows[size], other.rows[size])


def several_windows(rows: Iterable[Row]) -> frozenset[Cell]:
    """Return cells, without their window, that were measured with several windows."""
    same = Counter(without_window(cell) for cell in {row.cell for row in rows} if cell.window)
    return frozenset(cell for cell, count in same.items() if count > 1)


def without_window(cell: Cell) -> Cell:
    """Return a cell with its window set to 0."""
    return replace(cell, window=0)


def rows_by_curve(rows: Sequence[Row]) -> Iterable[list[Row]]:
    """Return rows grouped by curve: they differ in size only.

    A window that large messages shorten makes no curve of its own.
    """
    several = several_windows(rows)

    def curve(row: Row) -> Key:
        return row_key(row, {"bytes"} if without_window(row.cell) in several else SIZE)

    return group_by(rows, curve).values()


def curves_of(groups: Iterable[Sequence[Row]], within: Within | None = None) -> list[Curve]:
    """Return the curves of messages among these; imported ones have no launches.

    Args:
        groups: Rows that differ in size only; the window of large messages follows from their size.
        within: `Curve.within`.
    """
    measured = ([row for row in rows if row.cell.pattern in MESSAGES and _launches(row)] for rows in groups)
    return [_curve(rows, within) for rows in measured if rows]


def _launches(row: Row) -> Mapping[int, float]:
    return {} if row.time is None else row.time.by_launch


def _curve(rows: Sequence[Row], within: Within | None) -> Curve:
    """Return the curve of rows; its cell is the smallest, which has the window that was asked for."""
    smallest = min((row.cell for row in rows), key=lambda cell: cell.bytes)
    return Curve(rows[0].of._replace(cell=smallest), {row.cell.bytes: row for row in rows}, within)


def _place(cell: Cell) -> tuple[str, str]:
    return cell.transport, cell.placement
