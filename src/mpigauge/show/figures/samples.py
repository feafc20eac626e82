"""Samples themselves: how they are spread, and in what order they came."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from mpigauge.query.kinds import maker
from mpigauge.query.query import spread
from mpigauge.query.series import against_size, alike_but, labelled, title_words
from mpigauge.rows.estimate import Estimate
from mpigauge.rows.group import STATE, words_key
from mpigauge.rows.machine.split import split_of
from mpigauge.rows.samples import by_launch, seconds_of
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.line_styles import looks_of
from mpigauge.show.figures.ratios import LOG_FROM
from mpigauge.show.figures.style import STATE_COLOURS as COLOURS
from mpigauge.units import format_size, format_time
from mpigauge.vocabulary import STATE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.result.records import Visit
    from mpigauge.rows.machine.split import Split
    from mpigauge.rows.rows import Row
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import StateName

PANELS_MOST = 4
SIZES_MOST = 30
LABELS_MOST = 11
BINS = 48
HALF_WIDTH = 0.42
BULK = (1.0, 99.0)
"""Percentiles between which a shape is drawn; beyond them a thin line to the least and the largest sample."""

SHOWN = (0.5, 99.5)
"""Percentiles of all samples of a figure, over their medians, that its axis reaches from and to."""

LEAST_RANGE = 1.05
"""Around the median at least: what is steadier looks so."""

_BEYOND: Any = {
    "linestyle": "none",
    "marker": "^",
    "markersize": 5,
    "color": style.RED,
    "clip_on": False,
    "zorder": 5,
}

RASTER_FROM = 5000
"""Points that are an image, also in SVG and PDF: nobody reads a file of a million dots."""

NUMBERS_MOST = 24
"""Of launches that are numbered; of more, every second, third and so on."""

ROOM_FOR_NUMBERS = 0.1
"""Of the axis, above the samples."""

STATE_MARKERS: Mapping[StateName | None, str] = {"near": ".", "mid": "+", "far": "2", None: "."}
"""In grey their colours are alike."""

SPREAD = (
    "width: density from p1 to p99; white: median; thick: quartiles; thin: all samples; "
    "the axis has 99 % of them, triangles mark a p99 beyond it"
)
FIRST, WARMUP = "first calls, timed one by one", "warm-up"


@maker(MAKERS, "distribution")
def distribution_figure(query: Query) -> Figure:
    """How the samples of every size are spread around their median, a panel per series."""
    found, note = _thinned(query, _with_samples(query, against_size(query, sized=False)))
    looks = looks_of(query, found)
    whole = style.paper(1.7 * len(found) + 0.7)
    panels = list(whole.subplots(len(found), 1, squeeze=False, sharey=True)[:, 0])
    everything = [[_over_median(row) for row in one.rows] for one in found]
    for number, (axes, one) in enumerate(zip(panels, found, strict=True)):
        for place, values in enumerate(everything[number]):
            _shape(axes, f"{number}-{place}", place, values, looks[number]["color"])
        _dress_places(axes, one, query.units.time)
        axes.set_ylabel("time / median")
        if len(found) > 1:
            axes.set_title(one.label)
    _dress_spread(panels, everything, linear=query.linear)
    panels[-1].set_xlabel("message size, and median below it")
    lines.caption(whole, title_words(found), "; ".join(filter(None, [SPREAD, note])), [], [])
    return whole


def _thinned(query: Query, found: list[Series]) -> tuple[list[Series], str]:
    """Series with as many sizes as fit beside each other, and which these are of more.

    Raises:
        UsageError: So many were asked for.
    """
    most = max(len(one.rows) for one in found)
    if most <= SIZES_MOST:
        return found, ""
    if query.sizes:
        raise query.lacks(
            f"{most} sizes are more than the {SIZES_MOST} that fit", "choose fewer with --sizes"
        )
    step = -(-most // SIZES_MOST)
    kept = [replace(one, rows=one.rows[::step]) for one in found]
    return kept, f"{max(len(one.rows) for one in kept)} of {most} sizes; --sizes chooses others"


def _over_median(row: Row) -> Values:
    """Its samples in units of their median."""
    values = _samples_of(row)
    return np.asarray(values / np.median(values))


def _samples_of(row: Row) -> Values:
    """All of a cell; a time of 0 is what a coarse clock says, and has no ratio."""
    launches = by_launch(row.visits)
    values = np.concatenate([visit for launch in launches for visit in launch])
    return values[values > 0]


def _dress_spread(panels: Sequence[Any], everything: Sequence[Sequence[Values]], *, linear: bool) -> None:
    """One axis for nearly all samples of all panels, with marks where the shape of a cell goes beyond."""
    values = np.concatenate([one for mine in everything for one in mine])
    low, high = (float(end) for end in np.percentile(values, SHOWN))
    low, high = min(low, 1 / LEAST_RANGE), max(high, LEAST_RANGE)
    room = (high / low) ** 0.06
    for number, (axes, mine) in enumerate(zip(panels, everything, strict=True)):
        if high / low > LOG_FROM and not linear:
            axes.set_yscale("log")
        axes.set_ylim(low / room, high * room)
        beyond = [place for place, one in enumerate(mine) if np.percentile(one, BULK[1]) > high * room]
        if beyond:
            (marks,) = axes.plot(beyond, [high * room] * len(beyond), **_BEYOND)
            marks.set_gid(f"beyond-{number}")
        if high / low > LOG_FROM and not linear:
            scales.log_ticks(axes.yaxis, lambda value: f"{value:g}")


def _with_samples(query: Query, found: Sequence[Series]) -> list[Series]:
    """Those of which there are samples, as many as there is room for."""
    kept = [replace(one, rows=[row for row in one.rows if _has_samples(row)]) for one in found]
    kept = [one for one in kept if one.rows]
    if not kept:
        raise query.lacks("it has no samples")
    if query.series and len(kept) > PANELS_MOST:
        raise query.lacks(f"{len(kept)} panels are more than {PANELS_MOST}", "choose fewer with --series")
    return kept[:PANELS_MOST]


def _has_samples(row: Row) -> bool:
    """Whether there are any, and not all of them 0 by a coarse clock."""
    return isinstance(row.time, Estimate) and row.time.max > 0


def _shape(axes: Any, name: str, place: int, values: Values, colour: str) -> None:
    """Density to both sides, quartiles, median, and the whole range."""
    low, high = np.percentile(values, BULK)
    if high > low:
        count = min(BINS, max(4, values.size // 4))
        counts, edges = np.histogram(np.log(values), bins=count, range=(np.log(low), np.log(high)))
        heights = np.exp((edges[1:] + edges[:-1]) / 2)
        widths = HALF_WIDTH * counts / max(1, counts.max())  # two samples are both beyond the bulk
        shape = axes.fill_betweenx(
            heights, place - widths, place + widths, color=colour, alpha=0.45, linewidth=0
        )
        shape.set_gid(f"shape-{name}")
    axes.vlines(place, values.min(), values.max(), color="0.6", linewidth=0.6).set_gid(f"range-{name}")
    axes.vlines(place, *np.percentile(values, (25, 75)), color="black", linewidth=3).set_gid(
        f"quartiles-{name}"
    )
    (dot,) = axes.plot(place, 1.0, "o", color="white", markeredgecolor="black", markersize=4, zorder=4)
    dot.set_gid(f"median-{name}")


def _dress_places(axes: Any, one: Series, unit: str) -> None:
    """Sizes side by side: every one has the same room, 0 B too."""
    medians = [float(np.median(_samples_of(row))) for row in one.rows]
    names = [
        f"{format_size(row.cell.bytes) if row.sized else one.factors['pattern']}\n{format_time(median, unit)}"
        for row, median in zip(one.rows, medians, strict=True)
    ]
    step = -(-len(names) // LABELS_MOST)
    axes.set_xticks(range(0, len(names), step), names[::step], fontsize=7)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(visible=False, axis="x")


# ---- In the order of time ------------------------------------------------------------------------


@maker(MAKERS, "samples")
def samples_figure(query: Query) -> Figure:
    """Every sample in the order of measuring, a panel per cell."""
    found = _with_samples(query, _of_all_states(against_size(query, sized=False)))
    cells = _cells(query, found)
    whole = style.paper(1.9 * len(cells) + 0.8, 1)
    panels = whole.subplots(len(cells), 1, squeeze=False)[:, 0]
    for number, (axes, (one, row)) in enumerate(zip(panels, cells, strict=True)):
        shown = _course(axes, str(number), one.source.visits[row.cell], split_of(one.source.result))
        scales.times("time", shown, query.units.time, linear=query.linear).dress(axes)
        _make_room(axes, linear=query.linear)
        words = [one.label if len(found) > 1 else "", format_size(row.cell.bytes) if row.sized else ""]
        axes.set_title(", ".join(filter(None, words)), loc="left")
    panels[-1].set_xlabel("sample, in the order of measuring; launches one after the other")
    lines.caption(whole, title_words(found), "", [], [])
    _legend(whole, [split_of(one.source.result) for one in found])
    return whole


def _cells(query: Query, found: Sequence[Series]) -> list[tuple[Series, Row]]:
    """As many as there is room for: of each series those whose sizes are far apart."""
    each = max(1, PANELS_MOST // len(found))
    if query.sizes and sum(len(one.rows) for one in found) > PANELS_MOST:
        count = sum(len(one.rows) for one in found)
        raise query.lacks(
            f"{count} panels are more than {PANELS_MOST}", "choose fewer with --series and --sizes"
        )
    if query.sizes:
        return [(one, row) for one in found for row in one.rows]
    return [(one, row) for one in found for row in spread(one.rows, each)]


def _of_all_states(found: Sequence[Series]) -> list[Series]:
    """One panel for all states of the machine: they follow each other in it."""
    firsts = [mine[0] for mine in alike_but({STATE}, found)]
    return labelled([replace(one, factors=dict(words_key(one.factors, {STATE}))) for one in firsts])


def _course(axes: Any, name: str, visits: Iterable[Visit], split: Split) -> list[float]:
    """Draws the visits of a cell, each in the colour of its state; returns all times."""
    trials: list[tuple[int, float]] = []
    warmups: list[tuple[int, float]] = []
    counted: list[tuple[int, float]] = []
    by_state: dict[StateName | None, list[tuple[int, float]]] = {}
    launches: dict[int, list[int]] = {}
    place = 0
    for visit in sorted(visits, key=lambda visit: (visit.launch, visit.id)):
        one = visit.operation_s
        launches.setdefault(visit.launch, [place, place])
        for values, into in (
            ([ns * one * visit.batch for ns in visit.trial_ns], trials),
            ([ns * one for ns in visit.warmup_ns], warmups),
            (seconds_of(visit).tolist(), counted),
        ):
            into.extend((place + number, value) for number, value in enumerate(values))
            place += len(values)
        fresh = counted[sum(map(len, by_state.values())) :]
        by_state.setdefault(split.of(visit), []).extend(fresh)
        launches[visit.launch][1] = place
    _bands(axes, launches, counted)
    looks = {
        "first": (trials, {"marker": "x", "color": style.ORANGE}),
        "warmup": (warmups, {"marker": "o", "markerfacecolor": "white", "color": style.BLACK}),
    } | {
        f"samples{f'-{state}' if state else ''}": (
            points,
            {"marker": STATE_MARKERS[state], "color": _colour(state, split)},
        )
        for state, points in by_state.items()
    }
    for what, (points, look) in looks.items():
        if points:
            xs, ys = zip(*points, strict=True)
            small = 2.5 if len(counted) > RASTER_FROM / 5 else 4.0
            (dots,) = axes.plot(
                xs, ys, linestyle="none", markersize=small, rasterized=len(points) > RASTER_FROM, **look
            )
            dots.set_gid(f"{what}-{name}")
    axes.set_xlim(-0.01 * place - 0.5, place * 1.01 - 0.5)
    return [value for points in (trials, warmups, counted) for _, value in points if value > 0]


def _bands(axes: Any, launches: dict[int, list[int]], counted: Sequence[tuple[int, float]]) -> None:
    """Every second launch on grey, with its number, and the median of each."""
    for order, (number, (begin, end)) in enumerate(launches.items()):
        if order % 2:
            axes.axvspan(begin - 0.5, end - 0.5, color="0.5", alpha=0.12, linewidth=0, zorder=0)
        mine = [value for place, value in counted if begin <= place < end]
        if mine:
            axes.hlines(
                float(np.median(mine)), begin - 0.5, end - 0.5, color="black", linewidth=1.2, zorder=4
            ).set_gid(f"launch-{number}")
        if order % -(-len(launches) // NUMBERS_MOST) == 0:
            axes.text(
                (begin + end) / 2,
                0.995,
                str(number),
                transform=axes.get_xaxis_transform(),
                fontsize="x-small",
                color="0.35",
                ha="center",
                va="top",
            )
    axes.grid(visible=False, axis="x")


def _make_room(axes: Any, *, linear: bool) -> None:
    """No sample stands where launches are numbered. The axes must have their range."""
    low, high = axes.get_ylim()
    share = ROOM_FOR_NUMBERS / (1 - ROOM_FOR_NUMBERS)
    axes.set_ylim(top=high + share * (high - low) if linear else high * (high / low) ** share)


def _colour(state: StateName | None, split: Split) -> str:
    return COLOURS[state] if split.states else style.BLUE


def _legend(whole: Figure, found: Sequence[Split]) -> None:
    """What the marks mean; of several states the samples of each."""
    names = [name for name in STATE_NAMES if any(one.name == name for of in found for one in of.states)]
    marks = [
        *(
            Line2D([], [], linestyle="none", marker=STATE_MARKERS[name], color=COLOURS[name])
            for name in names
        ),
        *([] if names else [Line2D([], [], linestyle="none", marker=".", color=style.BLUE)]),
        Line2D([], [], linestyle="none", marker="o", markerfacecolor="white", color=style.BLACK),
        Line2D([], [], linestyle="none", marker="x", color=style.ORANGE),
        Line2D([], [], color="black", linewidth=1.2),
    ]
    labels = [
        *([f"samples, {name}" for name in names] or ["samples"]),
        WARMUP,
        FIRST,
        "median of a launch (numbered)",
    ]
    lines.below(whole, marks, labels)
