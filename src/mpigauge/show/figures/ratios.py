"""Times relative to another series: which one, the ratios, and their axis."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from matplotlib.ticker import FuncFormatter

from mpigauge.compare.size_ratio import by_size, size_ratios
from mpigauge.query.series import FILE, Point, pieces_of
from mpigauge.rows.group import same_state
from mpigauge.rows.same_distance import ANYWHERE, apart, distances_apart
from mpigauge.show.figures import scales
from mpigauge.show.figures.line_styles import varying, words_of
from mpigauge.stats.decision import bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.rows.group import Key
    from mpigauge.rows.machine.conditions import Distances
    from mpigauge.rows.rows import Row
    from mpigauge.rows.same_distance import DistanceMismatch
    from mpigauge.show.figures.line_styles import Group

Pieces = list[list[Point]]
Pair = tuple["Key", "Key"]
"""Keys of a series and of its denominator."""

LOG_FROM = 3.0
"""Range of ratios from which the axis is logarithmic."""

LETTERS_OF_LINE = 22
"""Most characters per line of a name beside an axis."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """Ratios of series to other series.

    Attributes:
        series: All series.
        bases: Denominator of each series; None if it is itself a denominator.
        pieces: Points of each series, in pieces that may be connected.
        below: Name of the denominator.
    """

    series: Sequence[Series]
    bases: Sequence[Series | None]
    pieces: list[Pieces]
    below: str
    prefix: ClassVar[str] = "ratio-"
    """Prefix of the SVG ids of its curves."""

    @property
    def pairs(self) -> set[Pair]:
        """Each series that has ratios, with its denominator."""
        whole = zip(self.series, self.bases, self.pieces, strict=True)
        return {(curve.key(), base.key()) for curve, base, pieces in whole if base is not None and pieces}

    def label_of_base(self, curve: Series) -> str:
        """Return what the denominator of a series is called."""
        base = next(
            (base for series, base in zip(self.series, self.bases, strict=True) if series is curve), None
        )
        return base.label if base else self.below

    @property
    def mismatches(self) -> list[DistanceMismatch]:
        """Mismatches for which ratios are missing: the ranks were at different distances."""
        pairs = (
            (curve, row, base, by_size(base.rows).get(row.cell.bytes))
            for curve, base in zip(self.series, self.bases, strict=True)
            if base is not None
            for row in curve.rows
        )
        return [
            why
            for curve, row, base, base_row in pairs
            if row.time and base_row and base_row.time and row.cell.bytes not in _points(curve, base)
            if (
                why := apart(
                    row.time, base_row.time, _distances(row, base_row), paired=curve.source is base.source
                )
            )
        ]

    @property
    def sizes(self) -> tuple[int, int]:
        """Number of sizes that both a series and its denominator have, and that either of them has."""
        pairs = [
            (curve, base) for curve, base in zip(self.series, self.bases, strict=True) if base is not None
        ]
        both = {size for curve, base in pairs for size in _timed(curve) & _timed(base)}
        return len(both), len({size for curve, base in pairs for size in _timed(curve) | _timed(base)})


def _timed(curve: Series) -> set[int]:
    return {row.cell.bytes for row in curve.rows if row.time is not None}


def to_first(curves: Sequence[Series]) -> Ratios:
    """Return ratios of all series to the first, named by what it alone has where they differ in one thing."""
    groups = varying(curves)
    words = words_of(curves[0], groups[0], curves) if len(groups) == 1 else ""
    return _ratios(curves, [None, *([curves[0]] * (len(curves) - 1))], words or curves[0].label)


def like_with_like(query: Query, curves: Sequence[Series]) -> Ratios:
    """Return ratios to the series that differs in one thing only, if each has one; else to the first.

    Of several libraries in several places, each is compared with the first one in the same place. If users
    list series, they mean the first of them.
    """
    groups = varying(curves)
    if len(query.series) > 1 or not groups or len({curve.imported for curve in curves}) + len(groups) < 3:  # noqa: PLR2004 - two things
        return to_first(curves)
    across = _across(curves, groups)
    bases = _bases(curves, across)
    if not any(bases):
        return to_first(curves)
    words = words_of(curves[0], across, curves)
    return _ratios(curves, bases, words) if words else to_first(curves)


def _across(curves: Sequence[Series], groups: Sequence[Group]) -> Group:
    """Return the group in which a series differs from its denominator; never in the pattern alone."""
    if (FILE,) in groups:
        return (FILE,)
    within_pattern = [group for group in groups if "pattern" not in group]
    return within_pattern[0] if _several_patterns(curves) and within_pattern else groups[0]


def comparable(query: Query, curves: Sequence[Series]) -> bool:
    """Return whether ratios make sense: within a pattern, or between series selected by name."""
    if query.series or not _several_patterns(curves):
        return True
    groups = varying(curves)
    return "pattern" not in _across(curves, groups) and any(_bases(curves, _across(curves, groups)))


def _several_patterns(curves: Sequence[Series]) -> bool:
    return len({curve.factors["pattern"] for curve in curves}) > 1


def _bases(curves: Sequence[Series], across: Group) -> list[Series | None]:
    """Return, for each, the series that equals the first in this group; none if any lacks one.

    Imported series without one are drawn nevertheless, without a ratio.
    """
    wanted = [curves[0].factors.get(name) for name in across]

    def class_of(curve: Series) -> Key:
        return curve.imported, curve.key(across)

    bases = {
        class_of(curve): curve for curve in curves if [curve.factors.get(name) for name in across] == wanted
    }
    if any(class_of(curve) not in bases for curve in curves if not curve.imported):
        return [None] * len(curves)
    base_of = [bases.get(class_of(curve)) for curve in curves]
    return [None if base is curve else base for curve, base in zip(curves, base_of, strict=True)]


def _ratios(curves: Sequence[Series], bases: Sequence[Series | None], below: str) -> Ratios:
    pieces = [_pieces(curve, base) if base else [] for curve, base in zip(curves, bases, strict=True)]
    return Ratios(curves, bases, pieces, below)


def _pieces(curve: Series, base: Series) -> Pieces:
    points = _points(curve, base)
    return pieces_of(_both(curve, base), lambda row: points.get(row.cell.bytes))


def _both(curve: Series, base: Series) -> Series:
    """Return a series reduced to the sizes that both have, broken where either is broken."""
    known = {row.cell.bytes for row in base.rows}
    rows = [row for row in curve.rows if row.cell.bytes in known]
    return replace(curve, rows=rows, breaks=(*curve.breaks, *base.breaks))


def _points(curve: Series, base: Series) -> dict[int, Point]:
    """Return ratios by size; without an interval where a side has no launches for one."""
    rows, base_rows = by_size(curve.rows), by_size(base.rows)
    known = size_ratios(
        base.rows,
        curve.rows,
        same_place=_compares_no_distances(curve.rows[0], base.rows[0]),
        paired=curve.source is base.source,
        within=curve.source.against(base.source),
    )
    curves = {size: _quotient(rows[size], base_rows[size]) for size in rows.keys() & base_rows}
    curves |= {
        comparison.bytes: Point(
            comparison.bytes, comparison.ratio.estimate, comparison.ratio.low, comparison.ratio.high
        )
        for comparison in known
    }
    return {size: point for size, point in curves.items() if point is not None}


def _distances(row: Row, base: Row) -> tuple[Distances, Distances]:
    """Return the distances between ranks of both sides, unless distances are what is compared."""
    return distances_apart(row, base) if _compares_no_distances(row, base) else ANYWHERE


def _compares_no_distances(row: Row, base: Row) -> bool:
    """Return whether distances are not what is compared."""
    return row.cell.placement == base.cell.placement and same_state(row, base)


def _quotient(row: Row, base: Row) -> Point | None:
    """Return the ratio of imported numbers, or of single launches."""
    if row.time is None or base.time is None or not min(row.time.estimate, base.time.estimate) > 0:
        return None
    if min(len(row.time.by_launch), len(base.time.by_launch)) > 1:
        return None
    return Point(row.cell.bytes, row.time.estimate / base.time.estimate)


# ---- The axis ------------------------------------------------------------------------------------


def set_up(axes: Any, several: Sequence[Ratios], below: str = "") -> None:
    """Set range, ticks and label of an axis of ratios, and draw the margin and 1.

    Args:
        several: Ratios of all panels that share the axis; the first are drawn here.
        below: Name of the denominator; None for that of the first.
    """
    least, most = bounds()
    axes.axhspan(least, most, color="0.5", alpha=0.18, linewidth=0, zorder=0)
    axes.axhline(1, color="0.3", linewidth=0.9, zorder=1)
    everything = [pieces for curve in several for pieces in curve.pieces]
    low, high = _range([point for pieces in everything for piece in pieces for point in piece])
    if high / low > LOG_FROM:
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        scales.log_ticks(axes.yaxis, lambda value: f"{value:g}")
    else:
        axes.set_ylim(low, high)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axes.set_ylabel("time /\n" + "\n".join(textwrap.wrap(below or several[0].below, LETTERS_OF_LINE)))


def _range(points: Sequence[Point]) -> tuple[float, float]:
    """Return the range of points, and of intervals that do not extend much farther."""
    least, most = bounds()
    values = [point.y for point in points]
    low, high = min([*values, least]), max([*values, most])
    room, edge = (high / low) ** 0.25, (high / low) ** 0.08
    ends = [end for point in points for end in (point.low, point.high) if end]
    return max(min([*ends, low]), low / room) / edge, min(max([*ends, high]), high * room) * edge
