"""CPU time of waiting, and skew between ranks that should start together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter

from mpigauge.query.kinds import maker
from mpigauge.query.series import Point, against_size, pieces_of
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.chart import mark_breaks, sizes_of, values_of
from mpigauge.show.figures.curves import finish, labels_of, with_points
from mpigauge.show.figures.line_styles import styles_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row

PERCENT = 100.0


@maker(MAKERS, "cpu")
def cpu_figure(query: Query) -> Figure:
    """Draw the CPU time of one operation over all ranks, and the share of their time that it is."""
    curves = against_size(query, lambda row: row.cpu_s_per_op is not None and row.talks, sized=False)
    unknown = "the CPU time of its ranks is not known"
    curves, costs = with_points(query, curves, _value(lambda row: row.cpu_s_per_op), unknown)
    shares = [pieces_of(curve, _value(lambda row: row.cpu_share)) for curve in curves]
    styles = lines.widened_below(styles_of(query, curves), costs)
    whole = style.paper(4.6, lines.legend_rows(labels_of(curves)))
    upper, lower = whole.subplots(2, 1, sharex=True, height_ratios=(1.8, 1))
    sizes = scales.SizeAxis(sizes_of(costs), linear=query.linear)
    for number, curve_style in enumerate(styles):
        lines.curve(upper, str(number), curve_style, costs[number], sizes.x)
        lines.curve(lower, f"share-{number}", curve_style, shares[number], sizes.x)
    sizes.set_up(lower)
    scales.times("CPU time, all ranks", values_of(costs), query.units.time, linear=query.linear).set_up(upper)
    _set_up_share(lower, "on a core")
    mark_breaks(upper, curves)
    mark_breaks(lower, curves, named=False)
    below = "below: share of the time of messages that their ranks were on a core"
    finish(whole, query, curves, styles, "; ".join([below, *_ceilings(curves)]))
    return whole


def _ceilings(curves: Sequence[Series]) -> list[str]:
    """Return the share of a core that ranks on shared cores use if they are never idle."""
    crowds = {
        (row.cell.ranks, curve.source.result.campaign.environment.cores)
        for curve in curves
        for row in curve.rows
        if row.oversubscribed
    }
    return [
        f"all there is for {ranks} ranks on {cores} cores: {PERCENT * cores / ranks:.3g} %"
        for ranks, cores in sorted(crowds)
        if cores
    ]


@maker(MAKERS, "skew")
def skew_figure(query: Query) -> Figure:
    """Draw median and 99th percentile of the start skew, and the share of rounds that started late."""
    curves = against_size(query, lambda row: row.start is not None, sized=False)
    curves, halves = with_points(
        query,
        curves,
        _value(lambda row: row.start.skew_p50_s if row.start else None),
        "all ranks started at one moment",
    )
    tails = [
        pieces_of(curve, _value(lambda row: row.start.skew_p99_s if row.start else None)) for curve in curves
    ]
    late = [pieces_of(curve, _late_share) for curve in curves]
    styles = styles_of(query, curves)
    tardy = any(value > 0 for value in values_of(late))
    whole = style.paper(4.6 if tardy else 3.4, lines.legend_rows([*labels_of(curves), ""]))
    upper, *below = (
        whole.subplots(2, 1, sharex=True, height_ratios=(1.8, 1)) if tardy else [whole.add_subplot()]
    )
    sizes = scales.SizeAxis(sizes_of(halves), linear=query.linear)
    for number, curve_style in enumerate(styles):
        lines.curve(upper, str(number), curve_style, halves[number], sizes.x)
        lines.curve(
            upper,
            f"p99-{number}",
            curve_style | {"markerfacecolor": "white", "linestyle": (0, (1, 2))},
            tails[number],
            sizes.x,
        )
        for lower in below:
            lines.curve(lower, f"late-{number}", curve_style, late[number], sizes.x)
    sizes.set_up(below[0] if below else upper)
    values = [*values_of(halves), *values_of(tails)]
    scales.times("skew of starts", values, query.units.time, linear=query.linear).set_up(upper)
    for lower in below:
        _set_up_share(lower, "late", top=None)
    finish(whole, query, curves, styles, "filled: median of rounds; hollow: 99th percentile")
    return whole


def _value(get: Callable[[Row], float | None]) -> Callable[[Row], Point | None]:
    def point(row: Row) -> Point | None:
        value = get(row)
        return Point(row.cell.bytes, value) if value is not None and value > 0 else None

    return point


def _late_share(row: Row) -> Point | None:
    return None if row.start is None else Point(row.cell.bytes, row.start.late_share)


def _set_up_share(axes: Any, label: str, *, top: float | None = 1.05) -> None:
    axes.set_ylim(0, top)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * PERCENT:.3g} %"))
    axes.set_ylabel(label)
