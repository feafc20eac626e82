"""Figure of the states of the machine over time: distance and speed of cores, and times of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from mpigauge import units
from mpigauge.document.phrases import state_name
from mpigauge.document.state_words import HANDED_OVER
from mpigauge.plan.patterns import patterns_with
from mpigauge.query.kinds import maker
from mpigauge.query.series import MAX_SERIES, against_size, common_words
from mpigauge.rows.group import STATE
from mpigauge.rows.machine.conditions import LEAST_NS, condition_of
from mpigauge.rows.machine.sessions import visits_begin_s
from mpigauge.rows.machine.split import split_of
from mpigauge.rows.machine.steadiness import core_sharing, on_shared_cores
from mpigauge.rows.samples import seconds_of
from mpigauge.sequences import group_by
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.ratios import LOG_FROM
from mpigauge.units import NS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.plan.model import Cell
    from mpigauge.query.query import Query, Source
    from mpigauge.query.series import Series
    from mpigauge.result.records import Visit
    from mpigauge.vocabulary import Distance, StateName

COLOURS: Mapping[StateName | None, str] = {
    "near": style.BLUE,
    "mid": style.GREEN,
    "far": style.RED,
    None: "0.6",
}
"""Colours of the states of the machine; grey for visits in none."""

BETWEEN = "changed within the visit"
SHARED_CORES = "ring: another hardware thread used a rank's core"
MESSAGES = patterns_with(lambda pattern: pattern.one_way and pattern.talks)
SPEEDS_IN = 1.2
"""Height of the panel of speeds, if they are known."""

SMALL_BYTES = 4096
"""Largest size at which the time of a message is mostly distance."""

RASTER_FROM = 5000
SHARED_STYLE: dict[str, Any] = {
    "marker": "o",
    "markersize": 2.6,
    "markerfacecolor": "none",
    "markeredgewidth": 0.4,
}


@maker(MAKERS, "states")
def states_figure(query: Query) -> Figure:
    """Draw distance and speed of the cores in every visit, and its times, against time."""
    if len(query.sources) > 1:
        raise query.lacks("it is about one result", "name one result")
    (source,) = query.sources
    begins = dict(zip(map(id, source.result.visits), visits_begin_s(source.result), strict=True))
    of, known = _known(query, source)
    curves = _chosen(query)
    fast = [visit for visit in source.result.visits if visit.alu_ns and min(visit.alu_ns) > LEAST_NS]
    whole = style.paper(4.6 + (SPEEDS_IN if fast else 0), 2)
    heights = (1, 0.8, 1.3) if fast else (1, 1.3)
    top, *middle, low = whole.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    _distances(top, source, known, of, begins)
    for axes in middle:
        _speeds(axes, source, fast, begins)
    words = _times(low, query, source, curves, begins)
    low.set_xlabel("time since the first launch (s)")
    lines.caption(whole, words, "", [], [])
    _legend(whole, source, of)
    return whole


def _known(query: Query, source: Source) -> tuple[Distance, list[Visit]]:
    """Return visits with a known distance between ranks, by the kind of reading that most of them have."""
    known = ((condition.of, visit) for visit in source.result.visits if (condition := condition_of(visit)))
    visits_by_kind = group_by(known, lambda pair: pair[0])
    if not visits_by_kind:
        raise query.lacks("nothing is known of the state of the machine")
    of = max(visits_by_kind, key=lambda kind: len(visits_by_kind[kind]))
    return of, [visit for _, visit in visits_by_kind[of]]


def _chosen(query: Query) -> list[Series]:
    """Return the selected series, by default all small messages, which take longer between distant cores."""
    curves = against_size(query, sized=False)
    if query.series or query.sizes:
        return curves[:MAX_SERIES]
    small = [curve for curve in curves if curve.factors["pattern"] in MESSAGES]
    return small or curves[:1]


# ---- Panels --------------------------------------------------------------------------------------


def _distances(
    axes: Any, source: Source, visits: Sequence[Visit], of: Distance, begins: Mapping[int, float]
) -> None:
    """Draw two points per visit: readings before and after its samples."""
    values: list[float] = []
    for state in COLOURS:
        visits_in_state = [visit for visit in visits if split_of(source.result).of(visit) == state]
        conditions = [
            condition for visit in visits_in_state if (condition := condition_of(visit)) is not None
        ]
        ends = [(begins[id(visit)], begins[id(visit)] + visit.elapsed_s) for visit in visits_in_state]
        readings = [(condition.before_s, condition.after_s) for condition in conditions]
        values += [value for pair in readings for value in pair]
        if readings:
            _dots(axes, f"distance-{state or 'none'}", ends, readings, COLOURS[state])
    scales.times(_takes(of), values, units.AUTO, linear=False).set_up(axes)
    for known in split_of(source.result).states:
        if known.of == of:
            axes.axhline(known.handover_s, color=COLOURS[known.name], linewidth=0.8, alpha=0.6, zorder=1)


def _speeds(axes: Any, source: Source, visits: Sequence[Visit], begins: Mapping[int, float]) -> None:
    """Draw times of arithmetic before and after each visit: a level per frequency."""
    values: list[float] = []
    for state in COLOURS:
        visits_in_state = [visit for visit in visits if split_of(source.result).of(visit) == state]
        ends = [(begins[id(visit)], begins[id(visit)] + visit.elapsed_s) for visit in visits_in_state]
        readings = [(visit.alu_ns[0] * NS, visit.alu_ns[1] * NS) for visit in visits_in_state]
        values += [value for pair in readings for value in pair]
        if readings:
            _dots(axes, f"speed-{state or 'none'}", ends, readings, COLOURS[state])
    scales.times("arithmetic", values, units.AUTO, linear=False).set_up(axes)


def _takes(of: Distance) -> str:
    return {"line": "hand-over of a line", "path": "path, one way"}[of]


def _dots(
    axes: Any, name: str, xs: Sequence[tuple[float, float]], ys: Sequence[tuple[float, float]], colour: str
) -> None:
    flat_x = [x for pair in xs for x in pair]
    flat_y = [y for pair in ys for y in pair]
    (dots,) = axes.plot(
        flat_x,
        flat_y,
        linestyle="none",
        marker=".",
        markersize=3.0,
        color=colour,
        rasterized=len(flat_x) > RASTER_FROM,
    )
    dots.set_gid(name)


def _times(
    axes: Any, query: Query, source: Source, curves: Sequence[Series], begins: Mapping[int, float]
) -> str:
    """Draw times of visits, of several cells relative to their medians; return the title."""
    cells = list(dict.fromkeys(row.cell for curve in curves for row in curve.rows if row.visits))
    if not (query.series or query.sizes):
        cells = [cell for cell in cells if cell.bytes <= SMALL_BYTES] or cells[:1]
    medians = {cell: _medians(source, cell) for cell in cells}
    units_s = {cell: float(np.median(times)) if len(cells) > 1 else 1.0 for cell, times in medians.items()}
    shared = _of_shared_cores(source)
    points: dict[tuple[StateName | None, bool], list[tuple[float, float]]] = {}
    for cell in cells:
        for visit, median in zip(source.visits[cell], medians[cell], strict=True):
            if median > 0:
                times = points.setdefault((split_of(source.result).of(visit), id(visit) in shared), [])
                times.append((begins[id(visit)], median / units_s[cell]))
    # Unshared cores last, on top: their times can be reproduced.
    for (state, is_shared), times in sorted(points.items(), key=lambda group: not group[0][1]):
        _marks(axes, state, times, is_shared=is_shared)
    values = [y for times in points.values() for _, y in times]
    _set_up(axes, query, values, relative=len(cells) > 1)
    return _title(curves, cells)


def _marks(
    axes: Any, state: StateName | None, points: Sequence[tuple[float, float]], *, is_shared: bool
) -> None:
    """Draw a dot per visit; a ring where a core was shared."""
    xs, ys = zip(*points, strict=True)
    dot_style: dict[str, Any] = SHARED_STYLE if is_shared else {"marker": ".", "markersize": 4.0}
    (dots,) = axes.plot(xs, ys, linestyle="none", color=COLOURS[state], **dot_style)
    dots.set_gid(f"times-{state or 'none'}{'-shared' if is_shared else ''}")


def _of_shared_cores(source: Source) -> set[int]:
    """Return ids of the visits in which a rank shared its core."""
    visits = source.result.visits
    return {id(visits[place]) for place in np.flatnonzero(on_shared_cores(visits, source.result.launches))}


def _medians(source: Source, cell: Cell) -> list[float]:
    return [float(np.median(seconds_of(visit))) for visit in source.visits[cell]]


def _set_up(axes: Any, query: Query, values: Sequence[float], *, relative: bool) -> None:
    if not relative:
        scales.times("time", values, query.units.time, linear=query.linear).set_up(axes)
        return
    axes.set_ylabel("time / median of the cell")
    if values and max(values) > LOG_FROM * min(values):
        axes.set_yscale("log")
        scales.log_ticks(axes.yaxis, lambda value: f"{value:g}")


def _title(curves: Sequence[Series], cells: Sequence[Cell]) -> str:
    words = common_words(curves, without=(STATE,)) or curves[0].factors["pattern"]
    sizes = list(dict.fromkeys(units.format_size(cell.bytes) for cell in cells))
    size = units.span(sizes[0], sizes[-1])
    return f"{words}, {size}; a point per visit"


def _legend(whole: Figure, source: Source, of: Distance) -> None:
    """Draw the legend of states with times and shares; a single state is only mentioned."""
    states = [state for state in split_of(source.result).states if state.of == of]
    names: list[StateName | None] = [state.name for state in states]
    labels = [
        f"{state_name(of, state.name)}: {HANDED_OVER[of]} takes {units.format_time(state.handover_s)}, "
        f"{units.format_percent(state.time_share)} of the time"
        for state in states
    ]
    if split_of(source.result).between:
        names, labels = [*names, None], [*labels, BETWEEN]
    if not states:
        names, labels = [None], ["the machine was in one state"]
    marks = [Line2D([], [], linestyle="none", marker="o", color=COLOURS[name]) for name in names]
    if (sharing := core_sharing(source.result.visits, source.result.launches)) and sharing.share > 0:
        marks.append(Line2D([], [], linestyle="none", color=COLOURS[None], **SHARED_STYLE))
        labels.append(f"{SHARED_CORES}, {units.format_percent(sharing.share)} of the visits")
    lines.below(whole, marks, labels)
