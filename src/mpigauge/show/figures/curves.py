"""Times, rates, ratios and means against size."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter

from mpigauge.analysis.conditions import distances_of
from mpigauge.analysis.like_ratio import ANYWHERE, apart, like_ratio
from mpigauge.analysis.verdict import bounds
from mpigauge.show.figures import MAKERS, lines, modelled, scales, style
from mpigauge.show.registry import maker
from mpigauge.show.series import (
    Point,
    against_size,
    common_words,
    pieces_of,
    rate_point,
    time_point,
)
from mpigauge.show.words.ranks_apart import missing_ratios
from mpigauge.units import format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from mpigauge.analysis.conditions import Distances
    from mpigauge.analysis.like_ratio import Apart
    from mpigauge.analysis.rows import Row
    from mpigauge.show.query import Query
    from mpigauge.show.series import Series

Pieces = list[list[Point]]

LOG_FROM = 3.0
"""Ratios that differ by more are on a log axis."""

LABEL_MOST = 14
"""Letters of a series' name beside an axis."""

INTERVALS = "bands: 95 % intervals across launches"


@maker(MAKERS, "time")
def time_figure(query: Query) -> Figure:
    """Time against size."""
    found, pieces = with_points(query, against_size(query), time_point, "all its times are 0")
    values = values_of(pieces)
    axis = scales.times(time_words(found), values, query.units.time, linear=query.linear)
    return _with_ratios(query, found, pieces, axis, rate=False)


@maker(MAKERS, "rate")
def rate_figure(query: Query) -> Figure:
    """Rate against size."""
    found = against_size(query, lambda row: row.rate_bytes_per_s is not None or row.time is None)
    found, pieces = with_points(query, found, rate_point, "all its times are 0")
    axis = scales.rates("bandwidth", values_of(pieces), query.units.rate, linear=query.linear)
    return _with_ratios(query, found, pieces, axis, rate=True)


@maker(MAKERS, "ratio")
def ratio_figure(query: Query) -> Figure:
    """Time over that of the first series."""
    found = against_size(query)
    pieces = ratios(found)
    if not any(pieces[1:]):
        unlike = missing_ratios(ranks_apart(found))
        raise query.lacks(unlike or f"no other series has a size in common with the first, {found[0].label}")
    looks = looks_of(found)
    whole = style.paper(3.2, lines.legend_rows(labels_of(found)))
    axes = whole.add_subplot()
    sizes = scales.SizeAxis(sizes_of(pieces[1:]), linear=query.linear)
    for number in range(1, len(found)):
        lines.curve(axes, str(number), looks[number], pieces[number], sizes.x)
    dress_ratios(axes, pieces, found)
    mark_breaks(axes, found)
    sizes.dress(axes)
    finish(whole, query, found, looks, _note(found))
    return whole


@maker(MAKERS, "mean")
def mean_figure(query: Query) -> Figure:
    """Mean with standard deviation as error bars."""
    unknown = "the means of its samples are not known"
    found, pieces = with_points(query, against_size(query), _mean_point, unknown)
    axis = scales.times("mean time", values_of(pieces), query.units.time, linear=query.linear)
    looks = looks_of(found)
    whole = style.paper(3.4, lines.legend_rows(labels_of(found)))
    axes = whole.add_subplot()
    sizes = scales.SizeAxis(sizes_of(pieces), linear=query.linear)
    for number, mine in enumerate(pieces):
        lines.curve(
            axes,
            str(number),
            looks[number],
            [[p._replace(low=None, high=None) for p in piece] for piece in mine],
            sizes.x,
        )
        _bars(axes, str(number), looks[number]["color"], [point for piece in mine for point in piece], sizes)
    mark_breaks(axes, found)
    sizes.dress(axes)
    axis.dress(axes)
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


def _bars(axes: Any, name: str, colour: str, points: Sequence[Point], sizes: scales.SizeAxis) -> None:
    """Error bars; one that reaches below 0 ends at the edge of a logarithmic axis."""
    known = [point for point in points if point.low is not None and point.high is not None]
    if not known:
        return
    least = min(point.y for point in points) / scales.BEYOND
    xs, ys = [sizes.x(point.x) for point in known], [point.y for point in known]
    down = [
        point.y - (max(point.low or 0.0, least) if not sizes.linear else point.low or 0.0) for point in known
    ]
    up = [(point.high or 0.0) - point.y for point in known]
    bars = axes.errorbar(xs, ys, (down, up), fmt="none", ecolor=colour, elinewidth=1, capsize=2)
    bars[2][0].set_gid(f"errors-{name}")


# ---- The parts -----------------------------------------------------------------------------------


def _with_ratios(
    query: Query, found: Sequence[Series], pieces: Sequence[Pieces], axis: scales.ValueAxis, *, rate: bool
) -> Figure:
    """The curves and, on logarithmic axes, their ratios to the first below: 5 % cannot be seen above."""
    over = ratios(found) if _comparable(query, found) else []
    below = not query.linear and any(over[1:])
    looks = looks_of(found)
    rows = lines.legend_rows(labels_of(found))
    whole = style.paper(4.8 if below else 3.4, rows)
    sizes = scales.SizeAxis(sizes_of(pieces), linear=query.linear)
    if below:
        axes, low = whole.subplots(2, 1, sharex=True, height_ratios=(2.2, 1))
        for number in range(1, len(found)):
            lines.curve(low, f"ratio-{number}", looks[number], over[number], sizes.x)
        dress_ratios(low, over, found)
        mark_breaks(low, found, named=False)
    else:
        axes = low = whole.add_subplot()
    for number, mine in enumerate(pieces):
        drawn = modelled.apart(mine) if query.model else mine
        lines.curve(axes, str(number), looks[number], drawn, sizes.x)
        if query.model:
            modelled.overlay(axes, str(number), looks[number], found[number], sizes, rate=rate)
    mark_breaks(axes, found)
    sizes.dress(low)
    axis.dress(axes)
    note = _note(found) if below else INTERVALS
    finish(whole, query, found, looks, f"{note}; {modelled.NOTE}" if query.model else note)
    return whole


def _note(found: Sequence[Series]) -> str:
    """What the marks of ratios mean, and why some are missing."""
    return "; ".join(filter(None, [INTERVALS, missing_ratios(ranks_apart(found))]))


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


def ratios(found: Sequence[Series]) -> list[Pieces]:
    """Of every series the time over that of the first at the same size; the first has none."""
    first = found[0]
    base = {row.cell.bytes: row for row in first.rows if row.time is not None}

    def point(one: Series, row: Row) -> Point | None:
        under = base.get(row.cell.bytes)
        return None if under is None or row.time is None else _ratio_point(one, row, first, under)

    return [[], *(pieces_of(_both(one, first), lambda row, one=one: point(one, row)) for one in found[1:])]  # type: ignore[misc]


def _both(one: Series, first: Series) -> Series:
    """A series that breaks where the first does, too, and has only the sizes of both."""
    known = {row.cell.bytes for row in first.rows}
    return replace(
        one, rows=[row for row in one.rows if row.cell.bytes in known], breaks=(*one.breaks, *first.breaks)
    )


def _ratio_point(one: Series, row: Row, first: Series, under: Row) -> Point | None:
    if row.time is None or under.time is None or not under.time.estimate > 0:
        return None
    if row.time.by_launch and under.time.by_launch:
        found = like_ratio(row.time, under.time, _distances(row, under), paired=one.source is first.source)
        return None if found is None else Point(row.cell.bytes, found.estimate, found.low, found.high)
    return Point(row.cell.bytes, row.time.estimate / under.time.estimate)


def _distances(row: Row, under: Row) -> tuple[Distances, Distances]:
    """How far apart the ranks of either were, where it is not distances that are compared."""
    alike = row.cell.placement == under.cell.placement and row.state == under.state
    return (distances_of(row.visits), distances_of(under.visits)) if alike else ANYWHERE


def ranks_apart(found: Sequence[Series]) -> list[Apart]:
    """Why ratios to the first series are missing, if it is because ranks were at different distances."""
    first = found[0]
    base = {row.cell.bytes: row for row in first.rows if row.time is not None}
    pairs = ((one, row, base.get(row.cell.bytes)) for one in found[1:] for row in one.rows)
    return [
        why
        for one, row, under in pairs
        if row.time and under and under.time and _ratio_point(one, row, first, under) is None
        if (why := apart(row.time, under.time, _distances(row, under), paired=one.source is first.source))
    ]


def dress_ratios(axes: Any, pieces: Sequence[Pieces], found: Sequence[Series]) -> None:
    values = [point.y for piece in chain.from_iterable(pieces) for point in piece]
    least, most = bounds()
    axes.axhspan(least, most, color="0.5", alpha=0.18, linewidth=0, zorder=0)
    axes.axhline(1, color=style.COLOURS[0], linewidth=1.0, zorder=1)
    low, high = min([*values, least]), max([*values, most])
    room = (high / low) ** 0.25
    ends = [end for piece in chain.from_iterable(pieces) for p in piece for end in (p.low, p.high) if end]
    edge = (high / low) ** 0.08
    low, high = max(min([*ends, low]), low / room) / edge, min(max([*ends, high]), high * room) * edge
    axes.set_ylim(low, high)
    if high / low > LOG_FROM:
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        scales.log_ticks(axes.yaxis, lambda value: f"{value:g}")
    else:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    label = found[0].label
    axes.set_ylabel(f"time / {label}" if len(label) <= LABEL_MOST else "time / first")


def mark_breaks(axes: Any, found: Sequence[Series], *, named: bool = True) -> None:
    """A line at each eager limit among the sizes that are drawn, where the curves are broken."""
    sizes = [row.cell.bytes for one in found for row in one.rows]
    limits = {limit for one in found for limit in one.breaks}
    for limit in sorted(limit for limit in limits if min(sizes) <= limit < max(sizes)):
        words = f"eager limit {format_size(limit)}" if named else ""
        lines.mark(axes, limit, f"eager-{limit}", words, lines.BREAK_DASHES)


def finish(
    whole: Figure,
    query: Query,
    found: Sequence[Series],
    looks: Sequence[dict[str, Any]],
    note: str = INTERVALS,
) -> None:
    """Title and legend."""
    words = common_words(found)
    measured = [one for one in found if not one.imported]
    statement = [] if not measured else [note]
    statement += [f"{query.stat} of each launch"] if query.stat != "median" and measured else []
    lines.caption(
        whole, words or (found[0].label if len(found) == 1 else ""), "; ".join(statement), found, looks
    )


def looks_of(found: Sequence[Series]) -> list[dict[str, Any]]:
    """How each is drawn."""
    return [lines.look(number, imported=one.imported) for number, one in enumerate(found)]


def labels_of(found: Sequence[Series]) -> list[str]:
    """What the legend says."""
    return [one.label for one in found]


def values_of(pieces: Sequence[Pieces]) -> list[float]:
    """All y."""
    return [point.y for piece in chain.from_iterable(pieces) for point in piece]


def sizes_of(pieces: Sequence[Pieces]) -> set[float]:
    """All x."""
    return {point.x for piece in chain.from_iterable(pieces) for point in piece}


def every(pieces: Sequence[Pieces], get: Callable[[Point], float | None]) -> list[float | None]:
    """Something of all points."""
    return [get(point) for piece in chain.from_iterable(pieces) for point in piece]
