"""Figures against size: which rows of a result each keeps, and which values it draws of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mpigauge.query.kinds import maker
from mpigauge.query.series import Point, against_size, pieces_of
from mpigauge.show.figures import MAKERS, lines, style
from mpigauge.show.figures.chart import stacked
from mpigauge.show.figures.curves import INTERVALS, described, finish, labels_of, looks_of, with_points

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.chart import Chart, ChartCurve, Quantity

HEIGHTS_IN = (3.4, 4.6)
"""Heights of figures of one panel and of two, without their legends."""


@dataclass(frozen=True, slots=True)
class DrawnValue:
    """One value of all curves, on axes of its own below those before it.

    Attributes:
        point: Value of a row, with its interval if it has one; None if the row has no such value.
        what: Label of the vertical axis, of at most 20 letters where there is another panel.
        quantity: What scale and ticks are of; only that of shares has a span.
        p99: The 99th percentile of what the value is the median of, drawn hollow.
        span: Ends of the vertical axis, from the values; None where these decide.
        levels: Values of horizontal reference lines.
        name: Prefix of the SVG ids of its curves; empty of the first panel alone.
        optional: Whether it is left out where no value is above 0.
    """

    point: Callable[[Row], Point | None]
    what: str
    quantity: Quantity = "time"
    p99: Callable[[Row], Point | None] | None = None
    span: Callable[[Sequence[float]], tuple[float | None, float | None]] = lambda _: (None, None)
    levels: Sequence[float] = ()
    name: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class AgainstSize:
    """A figure against size.

    Attributes:
        keep: Whether a row belongs to it.
        panels: The values; series are those with a value in the first.
        lacks: What results have not that lack the first value.
        note: What its curves are; None for what bands are, where it has any.
        limits: Whether eager limits are marked.
        widened: Whether a curve is wider where others cover it.
    """

    keep: Callable[[Row], object]
    panels: Sequence[DrawnValue]
    lacks: str
    note: Callable[[Sequence[Series]], str] | None = None
    limits: bool = True
    widened: bool = False


def figure_of(kind: AgainstSize, query: Query) -> Figure:
    """Draw a figure against size.

    Raises:
        UsageError: No series has its first value, or there are too many.
    """
    first = kind.panels[0]
    curves = against_size(query, lambda row: bool(kind.keep(row)), sized=False)
    curves, pieces = with_points(query, curves, first.point, kind.lacks)
    chart = described(query, curves, pieces, first.quantity, first.what, widened=kind.widened)
    chart = chart if kind.limits else replace(chart, limits_of=())
    panels = [(panel, _panel(panel, chart, curves)) for panel in kind.panels]
    shown = [one for panel, one in panels if not panel.optional or any(value > 0 for value in one.values)]
    # The legend has an empty label more where a curve has two values, so that the note has room below it.
    labels = [*labels_of(curves), *[""] * any(panel.p99 for panel in kind.panels)]
    whole = style.paper(HEIGHTS_IN[len(shown) > 1], lines.legend_rows(labels))
    stacked(whole, shown)
    bands = INTERVALS if any(point.low is not None for one in shown for point in one.points) else ""
    finish(whole, query, curves, looks_of(chart), kind.note(curves) if kind.note else bands)
    return whole


def _panel(panel: DrawnValue, chart: Chart, series: Sequence[Series]) -> Chart:
    """Return the chart of a panel, whose curves look as those of the first."""
    curves = _curves(chart, panel.point, panel.name, series)
    hollow = _curves(chart, panel.p99, f"{panel.name}p99", series) if panel.p99 else []
    hollow = [replace(curve, style={**curve.style, **HOLLOW}) for curve in hollow]
    drawn = replace(
        chart,
        curves=[*curves, *hollow],
        quantity=panel.quantity,
        what=panel.what,
        levels=panel.levels,
    )
    return replace(drawn, span=panel.span(drawn.values))


def _curves(
    chart: Chart, point: Callable[[Row], Point | None], name: str, series: Sequence[Series]
) -> list[ChartCurve]:
    return [
        replace(curve, pieces=pieces_of(one, point), gid=f"{name}-{number}" if name else "")
        for number, (curve, one) in enumerate(zip(chart.curves, series, strict=True))
    ]


HOLLOW: Mapping[str, Any] = {"markerfacecolor": "white", "linestyle": (0, (1, 2))}


def _above_zero(get: Callable[[Row], float | None]) -> Callable[[Row], Point | None]:
    """Return the point of a value that a logarithmic axis can show."""

    def point(row: Row) -> Point | None:
        value = get(row)
        return Point(row.cell.bytes, value) if value is not None and value > 0 else None

    return point


# ---- CPU time, skew, overlap ---------------------------------------------------------------------


def _cpu_note(curves: Sequence[Series]) -> str:
    """Return what is below, and the share of a core that ranks on shared cores use if they are never idle."""
    crowds = {
        (row.cell.ranks, curve.source.result.campaign.environment.cores)
        for curve in curves
        for row in curve.rows
        if row.oversubscribed
    }
    ceilings = [
        f"all there is for {ranks} ranks on {cores} cores: {100 * cores / ranks:.3g} %"
        for ranks, cores in sorted(crowds)
        if cores
    ]
    return "; ".join(["below: share of the time of messages that their ranks were on a core", *ceilings])


def _hidden_span(parts: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis: of a short operation, noise is many times what could be hidden."""
    return max(-1.0, min([0.0, *parts])) - 0.1, min(2.0, max([1.0, *parts])) + 0.1


FIGURES = {
    "cpu": AgainstSize(
        keep=lambda row: row.cpu_s_per_op is not None and row.talks,
        panels=[
            DrawnValue(_above_zero(lambda row: row.cpu_s_per_op), "CPU time, all ranks"),
            DrawnValue(
                _above_zero(lambda row: row.cpu_share),
                "on a core",
                "share",
                span=lambda _: (0, 1.05),
                name="share",
            ),
        ],
        lacks="the CPU time of its ranks is not known",
        note=_cpu_note,
        widened=True,
    ),
    "skew": AgainstSize(
        keep=lambda row: row.start is not None,
        panels=[
            DrawnValue(
                _above_zero(lambda row: row.start.skew_p50_s if row.start else None),
                "skew of starts",
                p99=_above_zero(lambda row: row.start.skew_p99_s if row.start else None),
            ),
            DrawnValue(
                lambda row: Point(row.cell.bytes, row.start.late_share) if row.start else None,
                "late",
                "share",
                span=lambda _: (0, None),
                name="late",
                optional=True,
            ),
        ],
        lacks="all ranks started at one moment",
        note=lambda _: "filled: median of rounds; hollow: 99th percentile",
        limits=False,
    ),
    "overlap": AgainstSize(
        keep=lambda row: row.overlap is not None,
        panels=[
            DrawnValue(
                lambda row: Point(row.cell.bytes, *row.overlap.ends) if row.overlap else None,
                "hidden part of the time",
                "share",
                span=_hidden_span,
                levels=(0.0, 1.0),
            )
        ],
        lacks="nothing was measured beside a computation",
    ),
}

for figure, row_of_it in FIGURES.items():
    maker(MAKERS, figure)(partial(figure_of, row_of_it))
