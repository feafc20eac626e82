"""Part of an operation's time that a computation hides, against size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.ticker import PercentFormatter

from mpigauge.query.kinds import maker
from mpigauge.query.series import Point, against_size
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.chart import mark_breaks, sizes_of, values_of
from mpigauge.show.figures.curves import finish, labels_of, with_points
from mpigauge.show.figures.line_styles import styles_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query
    from mpigauge.rows.rows import Row

FLOOR, CEILING = -1.0, 2.0
"""Parts beyond these leave the axis: of a short operation, noise is many times what could be hidden."""


@maker(MAKERS, "overlap")
def overlap_figure(query: Query) -> Figure:
    """Draw which part of an operation's time a computation hides, with lines for none and all of it."""
    curves = against_size(query, lambda row: row.overlap is not None, sized=False)
    curves, parts = with_points(query, curves, _hidden, "nothing was measured beside a computation")
    styles = styles_of(query, curves)
    whole = style.paper(3.4, lines.legend_rows(labels_of(curves)))
    axes = whole.add_subplot()
    sizes = scales.SizeAxis(sizes_of(parts), linear=query.linear)
    for number, curve_style in enumerate(styles):
        lines.curve(axes, str(number), curve_style, parts[number], sizes.x)
    sizes.set_up(axes)
    _set_up(axes, values_of(parts))
    mark_breaks(axes, curves)
    finish(whole, query, curves, styles)
    return whole


def _hidden(row: Row) -> Point | None:
    if row.overlap is None:
        return None
    return Point(row.cell.bytes, row.overlap.estimate, row.overlap.low, row.overlap.high)


def _set_up(axes: Any, values: Sequence[float]) -> None:
    low = max(FLOOR, min([0.0, *values]))
    high = min(CEILING, max([1.0, *values]))
    axes.set_ylim(low - 0.1, high + 0.1)
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, symbol=" %"))
    axes.set_ylabel("hidden part of the time")
    for part, name in ((0.0, "none"), (1.0, "all")):
        axes.axhline(part, color="0.45", linewidth=0.8, zorder=1, gid=f"hidden-{name}")
