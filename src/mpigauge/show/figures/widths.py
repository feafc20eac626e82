"""Widths of intervals below curves whose own axis spans too much for them to be seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar

from matplotlib.ticker import FuncFormatter

from mpigauge.query.series import Point, pieces_of
from mpigauge.show.figures import scales
from mpigauge.show.figures.ratios import LOG_FROM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.figures.ratios import Pieces

HIDDEN = 0.04
"""Share of the height of a logarithmic axis below which an interval is little more than its line."""

LEAST = 1e-4
"""Least relative half-width that is drawn: clocks and rounding are coarser than the intervals below it."""


@dataclass(frozen=True, slots=True, eq=False)
class Widths:
    """Relative half-widths of the intervals of series.

    Attributes:
        pieces: Points of each series, in pieces that may be connected.
    """

    pieces: list[Pieces]
    prefix: ClassVar[str] = "width-"
    """Prefix of the SVG ids of its curves."""


def hidden_widths(curves: Sequence[Series], values: Sequence[Sequence[Sequence[Point]]]) -> Widths | None:
    """Return the widths of intervals that a logarithmic axis of these values hides; None if they can be seen.

    Args:
        values: Points of each series, which the axis covers.
    """
    points = [point for pieces in values for piece in pieces for point in piece if point.y > 0]
    spans = [math.log(point.high / point.low) for point in points if point.low and point.high]
    if len(spans) < 2:  # noqa: PLR2004 - a line
        return None
    whole = math.log(max(point.y for point in points) / min(point.y for point in points))
    widths = Widths([pieces_of(curve, _width) for curve in curves])
    return widths if median(spans) < HIDDEN * whole and any(widths.pieces) else None


def _width(row: Row) -> Point | None:
    half_width = row.time.half_width if row.time else None
    if half_width is None or not math.isfinite(half_width):
        return None
    return Point(row.cell.bytes, max(half_width, LEAST))


def set_up(axes: Any, several: Sequence[Widths]) -> None:
    """Set range, ticks and label of an axis of widths.

    Args:
        several: Widths of all panels that share the axis.
    """
    values = [point.y for one in several for pieces in one.pieces for piece in pieces for point in piece]
    low, high = min(values), max(values)
    if high > LOG_FROM * low:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.3, high * 1.3)
        scales.log_ticks(axes.yaxis, _percent)
    else:
        axes.set_ylim(0, high * 1.2)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _percent(value)))
    axes.set_ylabel("95 % interval")


def _percent(value: float) -> str:
    return f"\N{PLUS-MINUS SIGN}{100 * value:.3g} %"
