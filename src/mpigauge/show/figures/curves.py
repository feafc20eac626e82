"""Figures of times, rates, ratios and means against size."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from mpigauge.find.comparisons import missing_ratios
from mpigauge.models.modelled import modelled as models_of_series
from mpigauge.query.kinds import maker
from mpigauge.query.series import Point, against_size, pieces_of, rate_point, time_point, title_words
from mpigauge.show.chart import Chart, ChartCurve
from mpigauge.show.figures import (
    MAKERS,
    end_labels,
    lines,
    modelled,
    ratios,
    references,
    scales,
    style,
    widths,
)
from mpigauge.show.figures.chart import draw_curves, mark_breaks, set_up_values, size_axis, value_axis
from mpigauge.show.figures.line_styles import styles_of
from mpigauge.show.references import references_of
from mpigauge.units import format_half_width

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from matplotlib.figure import Figure

    from mpigauge.models.modelled import CurveModel
    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.chart import Quantity
    from mpigauge.show.figures.ratios import Pair, Pieces, Ratios
    from mpigauge.show.figures.widths import Widths
    from mpigauge.show.references import Reference

INTERVALS = "bands: 95 % intervals across launches"
OF_RATIOS = "bands: 95 % intervals that hold for all numbers at once"

FEW = 0.5
"""Share of sizes: if fewer have a ratio, the figure says why."""


@maker(MAKERS, "time")
def time_figure(query: Query) -> Figure:
    """Draw time against size."""
    curves, pieces = with_points(query, against_size(query), time_point, "all its times are 0")
    return _with_ratios(query, curves, described(query, curves, pieces, "time", time_words(curves)))


@maker(MAKERS, "rate")
def rate_figure(query: Query) -> Figure:
    """Draw rate against size."""
    curves = against_size(query, lambda row: row.rate_bytes_per_s is not None or row.time is None)
    curves, pieces = with_points(query, curves, rate_point, "all its times are 0")
    lines_of = references_of(query, curves)
    chart = described(query, curves, pieces, "rate", "bandwidth")
    reach = references.near(lines_of, chart.values, linear=query.linear)
    return _with_ratios(query, curves, replace(chart, reach=reach), lines_of)


@maker(MAKERS, "ratio")
def ratio_figure(query: Query) -> Figure:
    """Draw time relative to the first series."""
    curves = against_size(query)
    over = ratios.to_first(curves)
    if not any(over.pieces):
        unlike = missing_ratios(over.mismatches)
        raise query.lacks(unlike or f"no other series has a size in common with the first, {curves[0].label}")
    numbers = [number for number, points in enumerate(over.pieces) if points]
    whole = style.paper(3.2, lines.legend_rows([curves[number].label for number in numbers]))
    axes, chart = whole.add_subplot(), described(query, curves, over.pieces, "ratio")
    sizes = size_axis(chart)
    draw_curves(axes, chart, sizes.x)
    ratios.set_up(axes, [over])
    sizes.set_up(axes)
    mark_breaks(axes, curves)
    finish(whole, query, curves, looks_of(chart), _note(OF_RATIOS, over), numbers)
    return whole


@maker(MAKERS, "mean")
def mean_figure(query: Query) -> Figure:
    """Draw means with standard deviations as error bars."""
    unknown = "the means of its samples are not known"
    curves, pieces = with_points(query, against_size(query), _mean_point, unknown)
    chart = described(query, curves, pieces, "time", "mean time", widened=False)
    whole = style.paper(3.4, legend_rows(curves))
    axes, sizes = whole.add_subplot(), size_axis(chart)
    placed = []
    for number, curve in enumerate(chart.curves):
        place = sizes.side_by_side(number, len(curves))
        placed.append(_moved(curve, lambda point, place=place: point._replace(x=place(point.x))))  # type: ignore[misc]
    bare = [_moved(curve, lambda point: point._replace(low=None, high=None)) for curve in placed]
    draw_curves(axes, replace(chart, curves=bare))
    for number, curve in enumerate(placed):
        _bars(axes, str(number), curve, linear=sizes.linear)
    sizes.set_up(axes)
    set_up_values(axes, chart)
    mark_breaks(axes, curves)
    is_cut = any(point.low is not None and point.low <= 0 for point in chart.points)
    cut = "; cut where they reach 0" if is_cut else ""
    note = f"bars: standard deviation of all samples, not an interval{cut}"
    finish(whole, query, curves, looks_of(chart), note)
    return whole


def _moved(curve: ChartCurve, move: Callable[[Point], Point]) -> ChartCurve:
    return replace(curve, pieces=[[*map(move, piece)] for piece in curve.pieces])


def _mean_point(row: Row) -> Point | None:
    """Return mean and standard deviation of all samples."""
    time = row.time
    if time is None or not time.mean:
        return None
    spread = time.stddev
    return Point(
        row.cell.bytes,
        time.mean,
        *((None, None) if spread is None else (time.mean - spread, time.mean + spread)),
    )


def _bars(axes: Any, name: str, curve: ChartCurve, *, linear: bool) -> None:
    """Draw error bars with caps; one that reaches below 0 is cut on a logarithmic axis, without a cap."""
    known = [point for point in curve.points if point.low is not None and point.high is not None]
    if not known:
        return
    colour, least = curve.style["color"], min(point.y for point in curve.points) / scales.BEYOND
    xs = [point.x for point in known]
    lows = [point.low or 0.0 if linear else max(point.low or 0.0, least) for point in known]
    highs = [point.high or 0.0 for point in known]
    axes.vlines(xs, lows, highs, color=colour, linewidth=1).set_gid(f"errors-{name}")
    whole = [(x, low) for x, low, point in zip(xs, lows, known, strict=True) if low == point.low]
    for what, ends in (("tops", list(zip(xs, highs, strict=True))), ("feet", whole)):
        if ends:
            (caps,) = axes.plot(*zip(*ends, strict=True), "_", color=colour, markersize=4)
            caps.set_gid(f"{what}-{name}")


# ---- The parts -----------------------------------------------------------------------------------


def described(
    query: Query,
    curves: Sequence[Series],
    pieces: Sequence[Pieces],
    quantity: Quantity,
    what: str = "",
    *,
    first_in_front: bool = False,
    widened: bool = True,
    styles: Sequence[dict[str, Any]] | None = None,
) -> Chart:
    """Return the description of curves against size.

    Args:
        styles: Styles of the curves; None for those by which they can be told apart.
        widened: Whether a curve is wider where others cover it.
    """
    styles = styles_of(query, curves) if styles is None else styles
    if widened:
        order = slice(None, None, -1) if first_in_front else slice(None)
        styles = lines.widened_below(styles[order], pieces[order])[order]
    return Chart(
        [
            ChartCurve(curve.label, look, points)
            for curve, look, points in zip(curves, styles, pieces, strict=True)
        ],
        quantity,
        what,
        query.units.rate if quantity == "rate" else query.units.time,
        query.linear,
        limits_of=curves,
        first_in_front=first_in_front,
    )


def below(
    query: Query,
    curves: Sequence[Series],
    pieces: Sequence[Sequence[Sequence[Point]]],
    known: Collection[Pair] = (),
) -> Ratios | Widths | None:
    """Return what stands below curves on logarithmic axes, where neither 5 % nor an interval can be seen.

    Args:
        pieces: Points of the curves.
        known: Pairs of curves whose ratios stand elsewhere in the figure or on the page.
    """
    if query.linear:
        return None
    over = ratios.like_with_like(query, curves) if ratios.comparable(query, curves) else None
    if over is None or not any(over.pieces):
        return widths.hidden_widths(curves, pieces)
    return None if over.pairs <= {*known} else over


def set_up_below(axes: Any, several: Sequence[Ratios | Widths]) -> None:
    """Set up the axes below curves.

    Args:
        several: What stands below all panels that share the axes; the first is drawn here.
    """
    all_ratios = [one for one in several if isinstance(one, ratios.Ratios)]
    if all_ratios:
        ratios.set_up(axes, all_ratios)
    else:
        widths.set_up(axes, [one for one in several if isinstance(one, widths.Widths)])


def with_below(chart: Chart, over: Ratios | Widths | None) -> Chart:
    """Return a chart with the curves below it, which look as those that they are of."""
    if over is None:
        return chart
    curves = [
        ChartCurve(curve.label, lines.usual_width(curve.style), pieces)
        for curve, pieces in zip(chart.curves, over.pieces, strict=False)
    ]
    return replace(chart, below=curves)


def draw(
    whole: Figure,
    chart: Chart,
    over: Ratios | Widths | None,
    models: Sequence[CurveModel | None] = (),
    lines_of_references: Sequence[Reference] = (),
) -> None:
    """Draw a chart into an empty figure, what stands below it, and lines of models and references in it."""
    axes, low = whole.subplots(2, 1, sharex=True, height_ratios=(2.2, 1)) if over else (None, None)
    axes = axes or whole.add_subplot()
    sizes, axis = size_axis(chart), value_axis(chart)
    single = [replace(one, pieces=modelled.as_single_points(one.pieces)) for one in chart.curves]
    draw_curves(axes, replace(chart, curves=single) if models else chart, sizes.x)
    for number, (curve, model) in enumerate(zip(chart.curves, models, strict=False)):
        modelled.overlay(axes, str(number), curve.style, model, sizes, rate=chart.quantity == "rate")
    sizes.set_up(low or axes)
    axis.set_up(axes)
    references.draw(axes, lines_of_references, sizes, axis)
    mark_breaks(axes, chart.limits_of)
    if over is not None:
        draw_curves(low, chart, sizes.x, over.prefix, below=True)
        set_up_below(low, [over])
        mark_breaks(low, chart.limits_of, named=False)


def _with_ratios(
    query: Query, curves: Sequence[Series], chart: Chart, references: Sequence[Reference] = ()
) -> Figure:
    """Draw curves and, on logarithmic axes, their ratios below: 5 % cannot be seen in the curves."""
    over = below(query, curves, [curve.pieces for curve in chart.curves])
    whole = style.paper(4.8 if over else 3.4, legend_rows(curves))
    draw(whole, with_below(chart, over), over, models_of_series(curves) if query.model else (), references)
    note = _note(intervals(curves), over)
    finish(whole, query, curves, looks_of(chart), f"{note}; {modelled.NOTE}" if query.model else note)
    return whole


def _note(bands: str, over: Ratios | Widths | None) -> str:
    """Return the meaning of bands, and why some ratios are missing."""
    if not isinstance(over, ratios.Ratios):
        return bands
    return "; ".join(filter(None, [bands, missing_ratios(over.mismatches), _in_common(over)]))


def _in_common(over: Ratios) -> str:
    """Return why there are few ratios; empty if there are many."""
    both, either = over.sizes
    return f"ratios at the {both} of {either} sizes that both have" if 0 < both < FEW * either else ""


def intervals(curves: Sequence[Series]) -> str:
    """Return the meaning of bands, and their width: many are narrower than the line."""
    halves = [
        half
        for curve in curves
        for row in curve.rows
        if row.time and (half := row.time.half_width) is not None
    ]
    return f"{INTERVALS}, half of them within {format_half_width(median(halves))}" if halves else INTERVALS


def time_words(curves: Sequence[Series]) -> str:
    """Return what the times are of, if they are all of one kind."""
    patterns = {curve.source.patterns[curve.factors["pattern"]] for curve in curves}
    if all(pattern.one_way and pattern.talks for pattern in patterns):
        return "latency, one way"
    names = sorted({pattern.name for pattern in patterns})
    return f"time of one {names[0]}" if len(names) == 1 else "time"


def with_points(
    query: Query, curves: Sequence[Series], point: Callable[[Row], Point | None], why: str
) -> tuple[list[Series], list[Pieces]]:
    """Return the series that have points, and their points in pieces.

    Raises:
        UsageError: None has any; gives the reason.
    """
    pairs = [(curve, pieces) for curve in curves if (pieces := pieces_of(curve, point))]
    if not pairs:
        raise query.lacks(why)
    return [curve for curve, _ in pairs], [pieces for _, pieces in pairs]


def finish(
    whole: Figure,
    query: Query,
    curves: Sequence[Series],
    styles: Sequence[dict[str, Any]],
    note: str = INTERVALS,
    drawn: Sequence[int] | None = None,
) -> None:
    """Add title, and labels at the ends of the curves of the first axes, or a legend.

    Args:
        drawn: Numbers of the series with a line of their own; None for all.
    """
    words = title_words(curves)
    measured = [curve for curve in curves if not curve.imported]
    statement = [note] if measured and note else []
    statement += [f"{query.stat} of each launch"] if query.stat != "median" and measured else []
    title = words or (curves[0].label if len(curves) == 1 else "")
    shown = list(range(len(curves)) if drawn is None else drawn)
    labels, looks = [curves[curve].label for curve in shown], [styles[curve] for curve in shown]
    names = [str(curve) for curve in shown]
    if len(shown) > 1 and end_labels.label_ends(whole.axes[0], names, labels, looks):
        shown = []
        whole.set_figheight(whole.get_figheight() - style.LEGEND_INCHES * (lines.legend_rows(labels) - 1))
    lines.caption(
        whole,
        title,
        "; ".join(statement),
        [curves[curve] for curve in shown],
        [styles[curve] for curve in shown],
    )


def labels_of(curves: Sequence[Series]) -> list[str]:
    """Return the labels of the legend."""
    return [curve.label for curve in curves]


def legend_rows(curves: Sequence[Series]) -> int:
    """Return how many rows a legend of series has."""
    return lines.legend_rows(labels_of(curves))


def looks_of(chart: Chart) -> list[dict[str, Any]]:
    """Return the styles of the curves of a chart."""
    return [dict(curve.style) for curve in chart.curves]
