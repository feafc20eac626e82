"""Draw the description of a chart into axes: for figures, and for the pictures of a report."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from mpigauge.query.series import limits_of
from mpigauge.show.figures import lines, scales
from mpigauge.show.figures.ratios import LOG_FROM
from mpigauge.units import format_percent, format_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.query.series import Series
    from mpigauge.show.chart import Chart
    from mpigauge.show.figures.ratios import Pieces

STRIP, LINE = 0.045, 0.06
"""Heights of the hatched strip over sizes that would deadlock, and of its words, of the axes."""


def draw(axes: Any, chart: Chart, name: str = "", most: int | None = None) -> None:
    """Draw curves, axes and marks; what stands below has axes of its own.

    Args:
        name: Begins the names of the elements of its curves in SVG.
        most: Sizes with a label; None for as many as there is room for.
    """
    sizes = size_axis(chart, most)
    place = sizes.x if chart.across == "size" else float
    numbered = [*enumerate(chart.curves)]
    for number, one in reversed(numbered) if chart.first_in_front else numbered:
        lines.curve(axes, f"{name}{number}", one.look, one.pieces, place)
    if chart.across == "size":
        sizes.dress(axes, chart.across_label)
    else:
        axes.set_xlabel(chart.across_label)
    for level in chart.levels:
        axes.axhline(level, color="0.45", linewidth=0.8, zorder=1)
    dress_values(axes, chart)
    if chart.limits_of:
        mark_breaks(axes, chart.limits_of)


def size_axis(chart: Chart, most: int | None = None) -> scales.SizeAxis:
    """Return the axis of the sizes of a chart."""
    return scales.SizeAxis(chart.sizes, linear=chart.linear or chart.across != "size", most=most)


def value_axis(chart: Chart) -> scales.ValueAxis:
    """Return the upward axis of a chart of times or rates."""
    make = scales.rates if chart.quantity == "rate" else scales.times
    return make(chart.what, chart.values, chart.unit, linear=chart.linear)


def dress_values(axes: Any, chart: Chart) -> None:
    """Set scale, ticks and label of the upward axis, once everything is drawn."""
    axes.set_ylabel(chart.what)
    match chart.quantity:
        case "time" | "rate":
            value_axis(chart).dress(axes)
        case "ratio" if min(chart.values) > 0 and max(chart.values) > LOG_FROM * min(chart.values):
            axes.set_yscale("log")
            scales.log_ticks(axes.yaxis, lambda value: f"{value:g}")
        case "share":
            axes.yaxis.set_major_formatter(lambda value, _: format_percent(value))
        case _:
            pass


# ---- Marks of eager limits -----------------------------------------------------------------------


def mark_breaks(axes: Any, found: Sequence[Series], *, named: bool = True) -> None:
    """Mark each eager limit among the sizes that are drawn, where curves are broken, and what would deadlock.

    The axes must have their range.
    """
    sizes = [row.cell.bytes for one in found for row in one.rows]
    for limit, words in limits_of(found).items():
        if min(sizes) <= limit < max(sizes):
            lines.mark(axes, limit, f"eager-{limit}", words if named else "", lines.BREAK_DASHES)
    if named:
        _mark_blocked(axes, found)


def _mark_blocked(axes: Any, found: Sequence[Series]) -> None:
    """Hatch a strip over the sizes that were not measured since they would deadlock, with its words above."""
    begins: dict[str, int] = {}
    for one in found:
        sizes = [row.cell.bytes for row in one.rows if row.status == "blocked"]
        if sizes:
            known = [limit for limit in one.breaks if limit < min(sizes)]
            begin = max(known, default=min(sizes))
            words = f"{one.label} would deadlock {'above' if known else 'from'} {format_size(begin)}"
            begins.setdefault(words, begin)
    for number, (words, begin) in enumerate(begins.items()):
        low, right = number * (STRIP + LINE), axes.get_xlim()[1]
        strip = axes.axvspan(begin, right, low, low + STRIP, **_HATCHED)
        strip.set_gid(f"blocked-{number}")
        lines.say(axes, low + 1.2 * STRIP, words, "bottom")


_HATCHED: Any = {"facecolor": "none", "edgecolor": "0.45", "hatch": "//////", "linewidth": 0}


# ---- What is drawn of several series -------------------------------------------------------------


def values_of(pieces: Sequence[Pieces]) -> list[float]:
    """Return all values of several series."""
    return [point.y for piece in chain.from_iterable(pieces) for point in piece]


def sizes_of(pieces: Sequence[Pieces]) -> set[float]:
    """Return all places of several series to the right."""
    return {point.x for piece in chain.from_iterable(pieces) for point in piece}
