"""CPU time of waiting, and skew between ranks that should start together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mpigauge.query.kinds import maker
from mpigauge.query.series import Point, against_size, pieces_of
from mpigauge.show.figures import MAKERS, lines, style
from mpigauge.show.figures.chart import stacked
from mpigauge.show.figures.curves import described, finish, labels_of, legend_rows, looks_of, with_points

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.chart import Chart
    from mpigauge.show.figures.ratios import Pieces

PERCENT = 100.0


@maker(MAKERS, "cpu")
def cpu_figure(query: Query) -> Figure:
    """Draw the CPU time of one operation over all ranks, and the share of their time that it is."""
    curves = against_size(query, lambda row: row.cpu_s_per_op is not None and row.talks, sized=False)
    unknown = "the CPU time of its ranks is not known"
    curves, costs = with_points(query, curves, _value(lambda row: row.cpu_s_per_op), unknown)
    chart = described(query, curves, costs, "time", "CPU time, all ranks")
    shares = [pieces_of(curve, _value(lambda row: row.cpu_share)) for curve in curves]
    whole = style.paper(4.6, legend_rows(curves))
    stacked(whole, [chart, _share(chart, "share", shares, "on a core", (0, 1.05))])
    below = "below: share of the time of messages that their ranks were on a core"
    finish(whole, query, curves, looks_of(chart), "; ".join([below, *_ceilings(curves)]))
    return whole


def _share(
    above: Chart, name: str, pieces: Sequence[Pieces], what: str, span: tuple[float, float | None]
) -> Chart:
    """Return a chart of shares below one whose curves look alike."""
    curves = [
        replace(curve, pieces=points, gid=f"{name}-{number}")
        for number, (curve, points) in enumerate(zip(above.curves, pieces, strict=True))
    ]
    return replace(above, curves=curves, quantity="share", what=what, span=span)


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
    chart = replace(described(query, curves, halves, "time", "skew of starts", widened=False), limits_of=())
    hollow = [
        replace(curve, pieces=points, style={**curve.style, **HOLLOW}, gid=f"p99-{number}")
        for number, (curve, points) in enumerate(zip(chart.curves, tails, strict=True))
    ]
    below = _share(chart, "late", late, "late", (0, None))
    tardy = any(value > 0 for value in below.values)
    whole = style.paper(4.6 if tardy else 3.4, lines.legend_rows([*labels_of(curves), ""]))
    stacked(whole, [replace(chart, curves=[*chart.curves, *hollow]), *([below] if tardy else [])])
    finish(whole, query, curves, looks_of(chart), "filled: median of rounds; hollow: 99th percentile")
    return whole


HOLLOW: Mapping[str, Any] = {"markerfacecolor": "white", "linestyle": (0, (1, 2))}


def _value(get: Callable[[Row], float | None]) -> Callable[[Row], Point | None]:
    def point(row: Row) -> Point | None:
        value = get(row)
        return Point(row.cell.bytes, value) if value is not None and value > 0 else None

    return point


def _late_share(row: Row) -> Point | None:
    return None if row.start is None else Point(row.cell.bytes, row.start.late_share)
