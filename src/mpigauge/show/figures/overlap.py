"""Part of an operation's time that a computation hides, against size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.query.kinds import maker
from mpigauge.query.series import Point, against_size
from mpigauge.show.figures import MAKERS, style
from mpigauge.show.figures.chart import stacked
from mpigauge.show.figures.curves import described, finish, legend_rows, looks_of, with_points

if TYPE_CHECKING:
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
    chart = described(query, curves, parts, "share", "hidden part of the time", widened=False)
    low, high = max(FLOOR, min([0.0, *chart.values])), min(CEILING, max([1.0, *chart.values]))
    whole = style.paper(3.4, legend_rows(curves))
    stacked(whole, [replace(chart, span=(low - 0.1, high + 0.1), levels=(0.0, 1.0))])
    finish(whole, query, curves, looks_of(chart))
    return whole


def _hidden(row: Row) -> Point | None:
    return Point(row.cell.bytes, *row.overlap.ends) if row.overlap is not None else None
