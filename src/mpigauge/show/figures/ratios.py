"""Times over those of another series: of which one, their points, and the axis that says so."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter

from mpigauge.compare.size_ratio import besides, by_size
from mpigauge.query.series import FILE, Point, pieces_of
from mpigauge.rows.group import same_state
from mpigauge.rows.machine.conditions import distances_of
from mpigauge.rows.ratios import bounds
from mpigauge.rows.same_distance import ANYWHERE, apart
from mpigauge.show.figures import lines, scales
from mpigauge.show.figures.line_styles import varying, words_of
from mpigauge.units import format_factor

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

LOG_FROM = 3.0
"""Ratios that differ by more are on a log axis."""

FAR = 20.0
"""Series whose ratios are all beyond this, either way, do not stretch the axis; they are said in words."""

ROOM_FOR_WORDS = 0.15
"""Of the axis, below what is drawn, for what is said of series that are lower."""

LETTERS_OF_LINE = 22
"""Of a name beside an axis."""


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """Ratios of series to others of them.

    Attributes:
        series: All of them.
        bases: Of each series the one below the line; None where it is itself below that of others.
        pieces: Points of each, that may be connected.
        below: What the denominator is called.
    """

    series: Sequence[Series]
    bases: Sequence[Series | None]
    pieces: list[Pieces]
    below: str

    def label_of_base(self, one: Series) -> str:
        """Return what the denominator of a series is called."""
        base = next((base for mine, base in zip(self.series, self.bases, strict=True) if mine is one), None)
        return base.label if base else self.below

    @property
    def ranks_apart(self) -> list[DistanceMismatch]:
        """Why ratios are missing, if it is because ranks were at different distances."""
        pairs = (
            (one, row, base, by_size(base.rows).get(row.cell.bytes))
            for one, base in zip(self.series, self.bases, strict=True)
            if base is not None
            for row in one.rows
        )
        return [
            why
            for one, row, base, under in pairs
            if row.time and under and under.time and row.cell.bytes not in _points(one, base)
            if (why := apart(row.time, under.time, _distances(row, under), paired=one.source is base.source))
        ]

    @property
    def sizes(self) -> tuple[int, int]:
        """How many sizes have both a series and what it is held against, and how many either of them has."""
        pairs = [(one, base) for one, base in zip(self.series, self.bases, strict=True) if base is not None]
        both = {size for one, base in pairs for size in _timed(one) & _timed(base)}
        return len(both), len({size for one, base in pairs for size in _timed(one) | _timed(base)})


def _timed(one: Series) -> set[int]:
    return {row.cell.bytes for row in one.rows if row.time is not None}


def to_first(found: Sequence[Series]) -> Ratios:
    """Of every series but the first, to that."""
    return _ratios(found, [None, *([found[0]] * (len(found) - 1))], found[0].label)


def like_with_like(query: Query, found: Sequence[Series]) -> Ratios:
    """To the series that differs in one thing only, where each has one; else to the first.

    With several libraries in several places, a library is held against the first one in the same place. Users
    who list series mean the first of them.
    """
    groups = varying(found)
    if len(query.series) > 1 or not groups or len({one.imported for one in found}) + len(groups) < 3:  # noqa: PLR2004 - two things
        return to_first(found)
    across = next((group for group in groups if group == (FILE,)), groups[0])
    bases = _bases(found, across)
    if not any(bases):
        return to_first(found)
    words = words_of(found[0], across, found)
    return _ratios(found, bases, words) if words else to_first(found)


def _bases(found: Sequence[Series], across: Group) -> list[Series | None]:
    """Of each the one of its class that has of this group what the first has; none if a class lacks it.

    Numbers of others that have no such one are beside ours all the same, and without a ratio.
    """
    wanted = [found[0].factors.get(name) for name in across]

    def class_of(one: Series) -> Key:
        return one.imported, one.key(across)

    bases = {class_of(one): one for one in found if [one.factors.get(name) for name in across] == wanted}
    if any(class_of(one) not in bases for one in found if not one.imported):
        return [None] * len(found)
    mine = [bases.get(class_of(one)) for one in found]
    return [None if base is one else base for one, base in zip(found, mine, strict=True)]


def _ratios(found: Sequence[Series], bases: Sequence[Series | None], below: str) -> Ratios:
    pieces = [_pieces(one, base) if base else [] for one, base in zip(found, bases, strict=True)]
    return Ratios(found, bases, pieces, below)


def _pieces(one: Series, base: Series) -> Pieces:
    points = _points(one, base)
    return pieces_of(_both(one, base), lambda row: points.get(row.cell.bytes))


def _both(one: Series, base: Series) -> Series:
    """A series that breaks where the other does, too, and has only the sizes of both."""
    known = {row.cell.bytes for row in base.rows}
    rows = [row for row in one.rows if row.cell.bytes in known]
    return replace(one, rows=rows, breaks=(*one.breaks, *base.breaks))


def _points(one: Series, base: Series) -> dict[int, Point]:
    """By size; without an interval where one of both has no launches that tell."""
    rows, under = by_size(one.rows), by_size(base.rows)
    known = besides(
        base.rows,
        one.rows,
        same_place=_alike(one.rows[0], base.rows[0]),
        paired=one.source is base.source,
        within=one.source.against(base.source),
    )
    found = {size: _quotient(rows[size], under[size]) for size in rows.keys() & under}
    found |= {at.bytes: Point(at.bytes, at.ratio.estimate, at.ratio.low, at.ratio.high) for at in known}
    return {size: point for size, point in found.items() if point is not None}


def _distances(row: Row, under: Row) -> tuple[Distances, Distances]:
    """How far apart the ranks of either were, where it is not distances that are compared."""
    return (distances_of(row.visits), distances_of(under.visits)) if _alike(row, under) else ANYWHERE


def _alike(row: Row, under: Row) -> bool:
    """Whether it is not distances that are compared."""
    return row.cell.placement == under.cell.placement and same_state(row, under)


def _quotient(row: Row, under: Row) -> Point | None:
    """Of what others have printed, and of single launches."""
    if row.time is None or under.time is None or not min(row.time.estimate, under.time.estimate) > 0:
        return None
    if min(len(row.time.by_launch), len(under.time.by_launch)) > 1:
        return None
    return Point(row.cell.bytes, row.time.estimate / under.time.estimate)


# ---- The axis ------------------------------------------------------------------------------------


def dress(axes: Any, several: Sequence[Ratios], below: str = "") -> None:
    """Range, ticks and label of an axis of ratios, the margin, and 1.

    Args:
        several: Of all panels that share the axis, the first those that are drawn here.
        below: The denominator, if it is not that of the first.
    """
    least, most = bounds()
    axes.axhspan(least, most, color="0.5", alpha=0.18, linewidth=0, zorder=0)
    axes.axhline(1, color="0.3", linewidth=0.9, zorder=1)
    everything = [pieces for one in several for pieces in one.pieces]
    low, high = _range(everything)
    if any(0 < point.y < low for pieces in everything for piece in pieces for point in piece):
        low /= (high / low) ** ROOM_FOR_WORDS
    if high / low > LOG_FROM:
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        scales.log_ticks(axes.yaxis, lambda value: f"{value:g}")
    else:
        axes.set_ylim(low, high)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    _say_far(axes, several[0], low, high)
    axes.set_ylabel("time /\n" + "\n".join(textwrap.wrap(below or several[0].below, LETTERS_OF_LINE)))


def _range(everything: Sequence[Pieces]) -> tuple[float, float]:
    """Where points are, but of series that are far off, and of their intervals what is not much farther."""
    there = [[point for piece in pieces for point in piece] for pieces in everything]
    there = [points for points in there if points]
    points = list(chain.from_iterable([near for near in there if not _far(near)] or there))
    least, most = bounds()
    values = [point.y for point in points]
    low, high = min([*values, least]), max([*values, most])
    room, edge = (high / low) ** 0.25, (high / low) ** 0.08
    ends = [end for point in points for end in (point.low, point.high) if end]
    return max(min([*ends, low]), low / room) / edge, min(max([*ends, high]), high * room) * edge


def _far(points: Sequence[Point]) -> bool:
    return all(abs(math.log(point.y)) > math.log(FAR) for point in points)


def _say_far(axes: Any, shown: Ratios, low: float, high: float) -> None:
    """What lies outside of the range, in words at its edge."""
    for edge, where in ((0.04, "below"), (0.96, "above")):
        words = []
        for one, pieces in zip(shown.series, shown.pieces, strict=True):
            values = [point.y for piece in pieces for point in piece]
            outside = values and (max(values) < low if where == "below" else min(values) > high)
            if outside:
                span = dict.fromkeys(format_factor(value) for value in (min(values), max(values)))
                words.append(f"{one.label}: {' to '.join(span)}")
        if words:
            lines.say(axes, edge, "; ".join(words), "bottom" if where == "below" else "top")
