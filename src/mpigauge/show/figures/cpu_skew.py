"""What waiting costs in CPU time, and how far apart ranks start that should start together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter

from mpigauge.query.kinds import maker
from mpigauge.query.series import Point, against_size, pieces_of
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.chart import mark_breaks, sizes_of, values_of
from mpigauge.show.figures.curves import finish, labels_of, with_points
from mpigauge.show.figures.line_styles import looks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row

PERCENT = 100.0


@maker(MAKERS, "cpu")
def cpu_figure(query: Query) -> Figure:
    """CPU time of one operation of all ranks, and the share of their time that it is."""
    found = against_size(query, lambda row: row.cpu_s_per_op is not None and row.talks, sized=False)
    unknown = "the CPU time of its ranks is not known"
    found, costs = with_points(query, found, _value(lambda row: row.cpu_s_per_op), unknown)
    shares = [pieces_of(one, _value(lambda row: row.cpu_share)) for one in found]
    looks = lines.seen_through(looks_of(query, found), costs)
    whole = style.paper(4.6, lines.legend_rows(labels_of(found)))
    upper, lower = whole.subplots(2, 1, sharex=True, height_ratios=(1.8, 1))
    sizes = scales.SizeAxis(sizes_of(costs), linear=query.linear)
    for number, look in enumerate(looks):
        lines.curve(upper, str(number), look, costs[number], sizes.x)
        lines.curve(lower, f"share-{number}", look, shares[number], sizes.x)
    sizes.dress(lower)
    scales.times("CPU time, all ranks", values_of(costs), query.units.time, linear=query.linear).dress(upper)
    _dress_share(lower, "on a core")
    mark_breaks(upper, found)
    mark_breaks(lower, found, named=False)
    below = "below: share of the time of messages that their ranks were on a core"
    finish(whole, query, found, looks, "; ".join([below, *_ceilings(found)]))
    return whole


def _ceilings(found: Sequence[Series]) -> list[str]:
    """What it is that ranks which share cores have of them, if they are never idle."""
    crowds = {
        (row.cell.ranks, one.source.result.campaign.environment.cores)
        for one in found
        for row in one.rows
        if row.oversubscribed
    }
    return [
        f"all there is for {ranks} ranks on {cores} cores: {PERCENT * cores / ranks:.3g} %"
        for ranks, cores in sorted(crowds)
        if cores
    ]


@maker(MAKERS, "skew")
def skew_figure(query: Query) -> Figure:
    """Median and 99th percentile of last start - first start, and the share of rounds that came late."""
    found = against_size(query, lambda row: row.start is not None, sized=False)
    found, halves = with_points(
        query,
        found,
        _value(lambda row: row.start.skew_p50_s if row.start else None),
        "all ranks started at one moment",
    )
    tails = [pieces_of(one, _value(lambda row: row.start.skew_p99_s if row.start else None)) for one in found]
    late = [pieces_of(one, _late) for one in found]
    looks = looks_of(query, found)
    tardy = any(value > 0 for value in values_of(late))
    whole = style.paper(4.6 if tardy else 3.4, lines.legend_rows([*labels_of(found), ""]))
    upper, *below = (
        whole.subplots(2, 1, sharex=True, height_ratios=(1.8, 1)) if tardy else [whole.add_subplot()]
    )
    sizes = scales.SizeAxis(sizes_of(halves), linear=query.linear)
    for number, look in enumerate(looks):
        lines.curve(upper, str(number), look, halves[number], sizes.x)
        lines.curve(
            upper,
            f"p99-{number}",
            look | {"markerfacecolor": "white", "linestyle": (0, (1, 2))},
            tails[number],
            sizes.x,
        )
        for lower in below:
            lines.curve(lower, f"late-{number}", look, late[number], sizes.x)
    sizes.dress(below[0] if below else upper)
    values = [*values_of(halves), *values_of(tails)]
    scales.times("skew of starts", values, query.units.time, linear=query.linear).dress(upper)
    for lower in below:
        _dress_share(lower, "late", top=None)
    finish(whole, query, found, looks, "filled: median of rounds; hollow: 99th percentile")
    return whole


def _value(get: Callable[[Row], float | None]) -> Callable[[Row], Point | None]:
    def point(row: Row) -> Point | None:
        value = get(row)
        return Point(row.cell.bytes, value) if value is not None and value > 0 else None

    return point


def _late(row: Row) -> Point | None:
    return None if row.start is None else Point(row.cell.bytes, row.start.late_share)


def _dress_share(axes: Any, label: str, *, top: float | None = 1.05) -> None:
    axes.set_ylim(0, top)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * PERCENT:.3g} %"))
    axes.set_ylabel(label)
