"""Times, rates, ratios and means against size."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, zip_longest
from statistics import median
from typing import TYPE_CHECKING, Any

from mpigauge.find.comparisons import missing_ratios
from mpigauge.models.modelled import modelled as models_of_series
from mpigauge.query.kinds import maker
from mpigauge.query.series import Point, against_size, pieces_of, rate_point, time_point, title_words
from mpigauge.show.chart import Chart, ChartCurve
from mpigauge.show.figures import MAKERS, lines, modelled, ratios, references, scales, style
from mpigauge.show.figures.chart import mark_breaks, size_axis, sizes_of, value_axis, values_of
from mpigauge.show.figures.line_styles import looks_of
from mpigauge.show.references import references_of
from mpigauge.units import format_half_width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from mpigauge.models.modelled import Modelled
    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.chart import Quantity
    from mpigauge.show.figures.ratios import Pieces, Ratios
    from mpigauge.show.references import Reference

INTERVALS = "bands: 95 % intervals across launches"
OF_RATIOS = "bands: 95 % intervals that hold for all numbers at once"

FEW = 0.5
"""Of the sizes: if fewer have a ratio, it is said why."""


@maker(MAKERS, "time")
def time_figure(query: Query) -> Figure:
    """Time against size."""
    found, pieces = with_points(query, against_size(query), time_point, "all its times are 0")
    return _with_ratios(query, found, described(query, found, pieces, "time", time_words(found)))


@maker(MAKERS, "rate")
def rate_figure(query: Query) -> Figure:
    """Rate against size."""
    found = against_size(query, lambda row: row.rate_bytes_per_s is not None or row.time is None)
    found, pieces = with_points(query, found, rate_point, "all its times are 0")
    lines_of = references_of(query, found)
    chart = described(query, found, pieces, "rate", "bandwidth")
    reach = references.near(lines_of, chart.values, linear=query.linear)
    return _with_ratios(query, found, replace(chart, reach=reach), lines_of)


@maker(MAKERS, "ratio")
def ratio_figure(query: Query) -> Figure:
    """Time over that of the first series."""
    found = against_size(query)
    over = ratios.to_first(found)
    if not any(over.pieces):
        unlike = missing_ratios(over.ranks_apart)
        raise query.lacks(unlike or f"no other series has a size in common with the first, {found[0].label}")
    looks = lines.seen_through(looks_of(query, found), over.pieces)
    there = [number for number, mine in enumerate(over.pieces) if mine]
    whole = style.paper(3.2, lines.legend_rows([found[number].label for number in there]))
    axes = whole.add_subplot()
    sizes = scales.SizeAxis(sizes_of(over.pieces), linear=query.linear)
    for number in there:
        lines.curve(axes, str(number), looks[number], over.pieces[number], sizes.x)
    ratios.dress(axes, [over])
    sizes.dress(axes)
    mark_breaks(axes, found)
    finish(whole, query, found, looks, _note(OF_RATIOS, over), there)
    return whole


@maker(MAKERS, "mean")
def mean_figure(query: Query) -> Figure:
    """Mean with standard deviation as error bars."""
    unknown = "the means of its samples are not known"
    found, pieces = with_points(query, against_size(query), _mean_point, unknown)
    axis = scales.times("mean time", values_of(pieces), query.units.time, linear=query.linear)
    looks = looks_of(query, found)
    whole = style.paper(3.4, lines.legend_rows(labels_of(found)))
    axes = whole.add_subplot()
    sizes = scales.SizeAxis(sizes_of(pieces), linear=query.linear)
    for number, mine in enumerate(pieces):
        bare = [[p._replace(low=None, high=None) for p in piece] for piece in mine]
        beside = sizes.beside(number, len(pieces))
        lines.curve(axes, str(number), looks[number], bare, beside)
        points = [point for piece in mine for point in piece]
        _bars(axes, str(number), looks[number]["color"], points, beside, linear=sizes.linear)
    sizes.dress(axes)
    axis.dress(axes)
    mark_breaks(axes, found)
    lows = every(pieces, lambda point: point.low)
    cut = "; cut where they reach 0" if any(low is not None and low <= 0 for low in lows) else ""
    finish(whole, query, found, looks, f"bars: standard deviation of all samples, not an interval{cut}")
    return whole


def _mean_point(row: Row) -> Point | None:
    """Mean and standard deviation of all samples."""
    time = row.time
    if time is None or not time.mean:
        return None
    spread = time.stddev
    return Point(
        row.cell.bytes,
        time.mean,
        *((None, None) if spread is None else (time.mean - spread, time.mean + spread)),
    )


def _bars(
    axes: Any,
    name: str,
    colour: str,
    points: Sequence[Point],
    place: Callable[[float], float],
    *,
    linear: bool,
) -> None:
    """Error bars with caps at their ends; one that reaches below 0 is cut on a logarithmic axis, uncapped."""
    known = [point for point in points if point.low is not None and point.high is not None]
    if not known:
        return
    least = min(point.y for point in points) / scales.BEYOND
    xs = [place(point.x) for point in known]
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
    found: Sequence[Series],
    pieces: Sequence[Pieces],
    quantity: Quantity,
    what: str = "",
    *,
    first_in_front: bool = False,
) -> Chart:
    """Return the description of curves against size."""
    looks = looks_of(query, found)
    order = slice(None, None, -1) if first_in_front else slice(None)
    looks = lines.seen_through(looks[order], pieces[order])[order]
    return Chart(
        [ChartCurve(one.label, look, mine) for one, look, mine in zip(found, looks, pieces, strict=True)],
        quantity,
        what,
        query.units.rate if quantity == "rate" else query.units.time,
        query.linear,
        limits_of=found,
        first_in_front=first_in_front,
    )


def below(query: Query, found: Sequence[Series]) -> Ratios | None:
    """Return the ratios that stand below curves on logarithmic axes: 5 % cannot be seen above."""
    if query.linear or not _comparable(query, found):
        return None
    over = ratios.like_with_like(query, found)
    return over if any(over.pieces) else None


def with_below(chart: Chart, over: Ratios | None) -> Chart:
    """Return a chart with curves of the ratios, which look as those that they are of."""
    if over is None:
        return chart
    curves = [
        ChartCurve(one.label, lines.usual_width(one.look), pieces)
        for one, pieces in zip(chart.curves, over.pieces, strict=False)
    ]
    return replace(chart, below=curves)


def draw(
    whole: Figure,
    chart: Chart,
    over: Ratios | None,
    models: Sequence[Modelled | None] = (),
    beside: Sequence[Reference] = (),
) -> None:
    """Draw a chart into an empty figure, and what stands below it; lines of models and of references in it.

    Args:
        over: What the curves below it are ratios of.
    """
    axes, low = whole.subplots(2, 1, sharex=True, height_ratios=(2.2, 1)) if over else (None, None)
    axes = axes or whole.add_subplot()
    sizes, axis = size_axis(chart), value_axis(chart)
    for number, (one, model) in enumerate(zip_longest(chart.curves, models)):
        lines.curve(
            axes, str(number), one.look, modelled.apart(one.pieces) if models else one.pieces, sizes.x
        )
        modelled.overlay(axes, str(number), one.look, model, sizes, rate=chart.quantity == "rate")
    sizes.dress(low or axes)
    axis.dress(axes)
    references.draw(axes, beside, sizes, axis)
    mark_breaks(axes, chart.limits_of)
    if over is not None:
        for number, one in enumerate(chart.below):
            lines.curve(low, f"ratio-{number}", one.look, one.pieces, sizes.x)
        ratios.dress(low, [over])
        mark_breaks(low, chart.limits_of, named=False)


def _with_ratios(
    query: Query, found: Sequence[Series], chart: Chart, beside: Sequence[Reference] = ()
) -> Figure:
    """The curves with their ratios, title and legend."""
    over = below(query, found)
    whole = style.paper(4.8 if over else 3.4, lines.legend_rows(labels_of(found)))
    draw(whole, with_below(chart, over), over, models_of_series(found) if query.model else (), beside)
    note = _note(intervals(found), over) if over else intervals(found)
    looks = [dict(one.look) for one in chart.curves]
    finish(whole, query, found, looks, f"{note}; {modelled.NOTE}" if query.model else note)
    return whole


def _note(bands: str, over: Ratios | None) -> str:
    """What bands are, and why some ratios are missing."""
    missing = missing_ratios(over.ranks_apart) if over else ""
    return "; ".join(filter(None, [bands, missing, _in_common(over) if over else ""]))


def _in_common(over: Ratios) -> str:
    """Why there are few ratios, if there are."""
    both, either = over.sizes
    return f"ratios at the {both} of {either} sizes that both have" if 0 < both < FEW * either else ""


def intervals(found: Sequence[Series]) -> str:
    """What bands are, and how wide: many are narrower than the line."""
    halves = [
        half for one in found for row in one.rows if row.time and (half := row.time.half_width) is not None
    ]
    return f"{INTERVALS}, half of them within {format_half_width(median(halves))}" if halves else INTERVALS


def _comparable(query: Query, found: Sequence[Series]) -> bool:
    """A ratio is one of equals, of one pattern, or one that was asked for by name."""
    return bool(query.series) or len({one.factors["pattern"] for one in found}) == 1


def time_words(found: Sequence[Series]) -> str:
    """What the times are of, where they are all of one kind."""
    patterns = {one.source.patterns[one.factors["pattern"]] for one in found}
    if all(pattern.one_way and pattern.talks for pattern in patterns):
        return "latency, one way"
    names = sorted({pattern.name for pattern in patterns})
    return f"time of one {names[0]}" if len(names) == 1 else "time"


def with_points(
    query: Query, found: Sequence[Series], point: Callable[[Row], Point | None], why: str
) -> tuple[list[Series], list[Pieces]]:
    """Series that have points, and their pieces.

    Raises:
        UsageError: None has any; says why.
    """
    pairs = [(one, pieces) for one in found if (pieces := pieces_of(one, point))]
    if not pairs:
        raise query.lacks(why)
    return [one for one, _ in pairs], [pieces for _, pieces in pairs]


def finish(
    whole: Figure,
    query: Query,
    found: Sequence[Series],
    looks: Sequence[dict[str, Any]],
    note: str = INTERVALS,
    there: Sequence[int] | None = None,
) -> None:
    """Title and legend.

    Args:
        there: Which of them have a line of their own; None for all.
    """
    words = title_words(found)
    measured = [one for one in found if not one.imported]
    statement = [] if not measured else [note]
    statement += [f"{query.stat} of each launch"] if query.stat != "median" and measured else []
    title = words or (found[0].label if len(found) == 1 else "")
    shown = range(len(found)) if there is None else there
    lines.caption(
        whole, title, "; ".join(statement), [found[one] for one in shown], [looks[one] for one in shown]
    )


def labels_of(found: Sequence[Series]) -> list[str]:
    """What the legend says."""
    return [one.label for one in found]


def every(pieces: Sequence[Pieces], get: Callable[[Point], float | None]) -> list[float | None]:
    """Something of all points."""
    return [get(point) for piece in chain.from_iterable(pieces) for point in piece]
