"""Times, rates, ratios and means against size."""

from __future__ import annotations

from itertools import chain
from statistics import median
from typing import TYPE_CHECKING, Any

from mpigauge.find.comparisons import missing_ratios
from mpigauge.models.modelled import modelled as models_of_series
from mpigauge.query.kinds import maker
from mpigauge.query.series import (
    Point,
    against_size,
    limits_of,
    pieces_of,
    rate_point,
    time_point,
    title_words,
)
from mpigauge.show.figures import MAKERS, lines, modelled, ratios, references, scales, style
from mpigauge.show.figures.line_styles import looks_of
from mpigauge.show.references import references_of
from mpigauge.units import format_half_width, format_size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row
    from mpigauge.show.figures.ratios import Pieces, Ratios
    from mpigauge.show.references import Reference

STRIP, LINE = 0.045, 0.06
"""Heights of the hatched strip over sizes that would deadlock, and of its words, of the axes."""

INTERVALS = "bands: 95 % intervals across launches"
OF_RATIOS = "bands: 95 % intervals that hold for all numbers at once"

FEW = 0.5
"""Of the sizes: if fewer have a ratio, it is said why."""


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
    lines_of = references_of(query, found)
    values = values_of(pieces)
    values += references.near(lines_of, values, linear=query.linear)
    axis = scales.rates("bandwidth", values, query.units.rate, linear=query.linear)
    return _with_ratios(query, found, pieces, axis, rate=True, beside=lines_of)


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


def _with_ratios(
    query: Query,
    found: Sequence[Series],
    pieces: Sequence[Pieces],
    axis: scales.ValueAxis,
    *,
    rate: bool,
    beside: Sequence[Reference] = (),
) -> Figure:
    """The curves and, on logarithmic axes, their ratios below: 5 % cannot be seen above."""
    over = ratios.like_with_like(query, found) if _comparable(query, found) else None
    below = not query.linear and over is not None and any(over.pieces)
    looks = lines.seen_through(looks_of(query, found), pieces)
    rows = lines.legend_rows(labels_of(found))
    whole = style.paper(4.8 if below else 3.4, rows)
    sizes = scales.SizeAxis(sizes_of(pieces), linear=query.linear)
    axes, low = whole.subplots(2, 1, sharex=True, height_ratios=(2.2, 1)) if below else (None, None)
    axes = axes or whole.add_subplot()
    models = models_of_series(found) if query.model else [None] * len(found)
    for number, mine in enumerate(pieces):
        drawn = modelled.apart(mine) if query.model else mine
        lines.curve(axes, str(number), looks[number], drawn, sizes.x)
        modelled.overlay(axes, str(number), looks[number], models[number], sizes, rate=rate)
    sizes.dress(low or axes)
    axis.dress(axes)
    references.draw(axes, beside, sizes, axis)
    mark_breaks(axes, found)
    if over is not None and low is not None:
        for number, mine in enumerate(over.pieces):
            lines.curve(low, f"ratio-{number}", lines.usual_width(looks[number]), mine, sizes.x)
        ratios.dress(low, [over])
        mark_breaks(low, found, named=False)
    note = _note(intervals(found), over) if low else intervals(found)
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


def mark_breaks(axes: Any, found: Sequence[Series], *, named: bool = True) -> None:
    """A line at each eager limit among the sizes that are drawn, where curves are broken, and what hangs.

    The axes must have their range.
    """
    sizes = [row.cell.bytes for one in found for row in one.rows]
    for limit, words in limits_of(found).items():
        if min(sizes) <= limit < max(sizes):
            lines.mark(axes, limit, f"eager-{limit}", words if named else "", lines.BREAK_DASHES)
    if named:
        _mark_blocked(axes, found)


def _mark_blocked(axes: Any, found: Sequence[Series]) -> None:
    """A hatched strip over the sizes that were not measured since they would deadlock, its words above it."""
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


def values_of(pieces: Sequence[Pieces]) -> list[float]:
    """All y."""
    return [point.y for piece in chain.from_iterable(pieces) for point in piece]


def sizes_of(pieces: Sequence[Pieces]) -> set[float]:
    """All x."""
    return {point.x for piece in chain.from_iterable(pieces) for point in piece}


def every(pieces: Sequence[Pieces], get: Callable[[Point], float | None]) -> list[float | None]:
    """Something of all points."""
    return [get(point) for piece in chain.from_iterable(pieces) for point in piece]
