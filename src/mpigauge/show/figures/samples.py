"""Figures of samples: their distribution, and their order in time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from mpigauge.document.phrases import state_name
from mpigauge.query.kinds import maker
from mpigauge.query.query import thinned
from mpigauge.query.series import against_size, grouped_except, title_words, with_labels
from mpigauge.rows.estimate import Estimate
from mpigauge.rows.group import STATE, words_key
from mpigauge.rows.machine.split import split_of
from mpigauge.rows.samples import by_launch, seconds_of
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.show.figures.line_styles import styles_of
from mpigauge.show.figures.ratios import LOG_FROM
from mpigauge.show.figures.states import COLOURS
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

MAX_PANELS = 4
MAX_SIZES = 30
MAX_LABELS = 11
BINS = 48
HALF_WIDTH = 0.42
BULK = (1.0, 99.0)
"""Percentiles that limit the density; beyond them a thin line extends to the extreme samples."""

SHOWN = (1.0, 98.0)
"""Percentiles of all samples of a figure, relative to their medians, that the axis covers: with more of the
upper tail, the middle half of the samples would be a dot."""

LEAST_RANGE = 1.05
"""Least range around the median, so that steady samples look steady."""

_BEYOND: Any = {
    "linestyle": "none",
    "marker": "^",
    "markersize": 5,
    "color": style.RED,
    "clip_on": False,
    "zorder": 5,
}

RASTER_FROM = 5000
"""Number of points from which they are an image, also in SVG and PDF: a million points make a huge file."""

MAX_NUMBERS = 24
"""Most launches with a number; of more, every second, third and so on is numbered."""

ROOM_FOR_NUMBERS = 0.1
"""Share of the axis above the samples, for numbers of launches."""

STATE_MARKERS: Mapping[StateName | None, str] = {"near": ".", "mid": "+", "far": "2", None: "."}
"""Markers of states, whose colours are alike in grey."""

SPREAD = (
    "width: density from p1 to p99; white: median; thick: quartiles; thin: all samples; "
    "the axis has 97 % of them, triangles mark a p99 beyond it"
)
FIRST, WARMUP = "first calls, timed one by one", "warm-up"


@maker(MAKERS, "distribution")
def distribution_figure(query: Query) -> Figure:
    """Draw the distribution of samples around the median per size, with a panel per series."""
    curves, note = _thinned(_with_samples(query, against_size(query, sized=False)))
    styles = styles_of(query, curves)
    whole = style.paper(1.7 * len(curves) + 0.7)
    panels = list(whole.subplots(len(curves), 1, squeeze=False, sharey=True)[:, 0])
    everything = [[_over_median(row) for row in curve.rows] for curve in curves]
    for number, (axes, curve) in enumerate(zip(panels, curves, strict=True)):
        for place, values in enumerate(everything[number]):
            _shape(axes, f"{number}-{place}", place, values, styles[number]["color"])
        _set_up_places(axes, curve, query.units.time)
        axes.set_ylabel("time / median")
        if len(curves) > 1:
            axes.set_title(curve.label)
    _set_up_spread(panels, everything, linear=query.linear)
    panels[-1].set_xlabel("message size, and median below it")
    lines.caption(whole, title_words(curves), "; ".join(filter(None, [SPREAD, note])), [], [])
    return whole


def _thinned(curves: list[Series]) -> tuple[list[Series], str]:
    """Return series with as many sizes as fit side by side, evenly chosen, and a note on the choice."""
    most = max(len(curve.rows) for curve in curves)
    if most <= MAX_SIZES:
        return curves, ""
    step = -(-most // MAX_SIZES)
    kept = [replace(curve, rows=curve.rows[::step]) for curve in curves]
    return kept, f"{max(len(curve.rows) for curve in kept)} of {most} sizes; --sizes chooses others"


def _over_median(row: Row) -> Values:
    """Return samples relative to their median."""
    values = _samples_of(row)
    return np.asarray(values / np.median(values))


def _samples_of(row: Row) -> Values:
    """Return all samples of a cell but times of 0, which coarse clocks give and which have no ratio."""
    launches = by_launch(row.visits)
    values = np.concatenate([visit for launch in launches for visit in launch])
    return values[values > 0]


def _set_up_spread(panels: Sequence[Any], everything: Sequence[Sequence[Values]], *, linear: bool) -> None:
    """Set one axis for nearly all samples of all panels, with marks where some lie beyond it."""
    values = np.concatenate([ratios for cells in everything for ratios in cells])
    low, high = (float(end) for end in np.percentile(values, SHOWN))
    low, high = min(low, 1 / LEAST_RANGE), max(high, LEAST_RANGE)
    room = (high / low) ** 0.06
    for number, (axes, cells) in enumerate(zip(panels, everything, strict=True)):
        if high / low > LOG_FROM and not linear:
            axes.set_yscale("log")
        axes.set_ylim(low / room, high * room)
        beyond = [place for place, ratios in enumerate(cells) if np.percentile(ratios, BULK[1]) > high * room]
        if beyond:
            (marks,) = axes.plot(beyond, [high * room] * len(beyond), **_BEYOND)
            marks.set_gid(f"beyond-{number}")
        if high / low > LOG_FROM and not linear:
            scales.log_ticks(axes.yaxis, lambda value: f"{value:g}")


def _with_samples(query: Query, curves: Sequence[Series]) -> list[Series]:
    """Return series with samples, as many as fit."""
    kept = [replace(curve, rows=[row for row in curve.rows if _has_samples(row)]) for curve in curves]
    kept = [curve for curve in kept if curve.rows]
    if not kept:
        raise query.lacks("it has no samples")
    if query.series and len(kept) > MAX_PANELS:
        raise query.lacks(f"{len(kept)} panels are more than {MAX_PANELS}", "choose fewer with --series")
    return kept[:MAX_PANELS]


def _has_samples(row: Row) -> bool:
    """Return whether a row has samples other than 0, which coarse clocks give."""
    return isinstance(row.time, Estimate) and row.time.max > 0


def _shape(axes: Any, name: str, place: int, values: Values, colour: str) -> None:
    """Draw density to both sides, quartiles, median, and the whole range."""
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


def _set_up_places(axes: Any, curve: Series, unit: str) -> None:
    """Set up an axis of sizes with equal room for each, including 0 B."""
    pattern = curve.factors["pattern"]
    medians = [float(np.median(_samples_of(row))) for row in curve.rows]
    names = [
        f"{format_size(row.cell.bytes) if row.sized else pattern}\n{format_time(median, unit)}"
        for row, median in zip(curve.rows, medians, strict=True)
    ]
    step = -(-len(names) // MAX_LABELS)
    axes.set_xticks(range(0, len(names), step), names[::step], fontsize=7)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(visible=False, axis="x")


# ---- In the order of time ------------------------------------------------------------------------


@maker(MAKERS, "samples")
def samples_figure(query: Query) -> Figure:
    """Draw every sample in the order of measuring, with a panel per cell."""
    curves = _with_samples(query, _of_all_states(against_size(query, sized=False)))
    cells = _cells(query, curves)
    whole = style.paper(1.9 * len(cells) + 0.8, 1)
    panels = whole.subplots(len(cells), 1, squeeze=False)[:, 0]
    for number, (axes, (curve, row)) in enumerate(zip(panels, cells, strict=True)):
        shown = _visits(axes, str(number), curve.source.visits[row.cell], split_of(curve.source.result))
        scales.times("time", shown, query.units.time, linear=query.linear).set_up(axes)
        _make_room(axes, linear=query.linear)
        words = [curve.label if len(curves) > 1 else "", format_size(row.cell.bytes) if row.sized else ""]
        axes.set_title(", ".join(filter(None, words)), loc="left")
    panels[-1].set_xlabel("sample, in the order of measuring; launches one after the other")
    lines.caption(whole, title_words(curves), "", [], [])
    _legend(whole, [split_of(curve.source.result) for curve in curves])
    return whole


def _cells(query: Query, curves: Sequence[Series]) -> list[tuple[Series, Row]]:
    """Return as many cells as fit: of each series sizes that are far apart."""
    per_curve = max(1, MAX_PANELS // len(curves))
    if query.sizes and sum(len(curve.rows) for curve in curves) > MAX_PANELS:
        count = sum(len(curve.rows) for curve in curves)
        raise query.lacks(
            f"{count} panels are more than {MAX_PANELS}", "choose fewer with --series and --sizes"
        )
    if query.sizes:
        return [(curve, row) for curve in curves for row in curve.rows]
    return [(curve, row) for curve in curves for row in thinned(curve.rows, per_curve)]


def _of_all_states(curves: Sequence[Series]) -> list[Series]:
    """Merge the states of the machine, which follow each other in one panel."""
    firsts = [alike[0] for alike in grouped_except({STATE}, curves)]
    return with_labels([replace(curve, factors=dict(words_key(curve.factors, {STATE}))) for curve in firsts])


def _visits(axes: Any, name: str, visits: Iterable[Visit], split: Split) -> list[float]:
    """Draw the visits of a cell, coloured by state; return all times."""
    trials: list[tuple[int, float]] = []
    warmups: list[tuple[int, float]] = []
    counted: list[tuple[int, float]] = []
    by_state: dict[StateName | None, list[tuple[int, float]]] = {}
    launches: dict[int, list[int]] = {}
    place = 0
    for visit in sorted(visits, key=lambda visit: (visit.launch, visit.id)):
        operation_s = visit.operation_s
        launches.setdefault(visit.launch, [place, place])
        for values, into in (
            ([ns * operation_s * visit.batch for ns in visit.trial_ns], trials),
            ([ns * operation_s for ns in visit.warmup_ns], warmups),
            (seconds_of(visit).tolist(), counted),
        ):
            into.extend((place + number, value) for number, value in enumerate(values))
            place += len(values)
        fresh = counted[sum(map(len, by_state.values())) :]
        by_state.setdefault(split.of(visit), []).extend(fresh)
        launches[visit.launch][1] = place
    _bands(axes, launches, counted)
    styles = {
        "first": (trials, {"marker": "x", "color": style.ORANGE}),
        "warmup": (warmups, {"marker": "o", "markerfacecolor": "white", "color": style.BLACK}),
    } | {
        f"samples{f'-{state}' if state else ''}": (
            points,
            {"marker": STATE_MARKERS[state], "color": _colour(state, split)},
        )
        for state, points in by_state.items()
    }
    for what, (points, dot_style) in styles.items():
        if points:
            xs, ys = zip(*points, strict=True)
            small = 2.5 if len(counted) > RASTER_FROM / 5 else 4.0
            (dots,) = axes.plot(
                xs, ys, linestyle="none", markersize=small, rasterized=len(points) > RASTER_FROM, **dot_style
            )
            dots.set_gid(f"{what}-{name}")
    axes.set_xlim(-0.01 * place - 0.5, place * 1.01 - 0.5)
    return [value for points in (trials, warmups, counted) for _, value in points if value > 0]


def _bands(axes: Any, launches: dict[int, list[int]], counted: Sequence[tuple[int, float]]) -> None:
    """Draw every second launch on grey, with its number, and the median of each."""
    for order, (number, (begin, end)) in enumerate(launches.items()):
        if order % 2:
            axes.axvspan(begin - 0.5, end - 0.5, color="0.5", alpha=0.12, linewidth=0, zorder=0)
        of_launch = [value for place, value in counted if begin <= place < end]
        if of_launch:
            axes.hlines(
                float(np.median(of_launch)), begin - 0.5, end - 0.5, color="black", linewidth=1.2, zorder=4
            ).set_gid(f"launch-{number}")
        if order % -(-len(launches) // MAX_NUMBERS) == 0:
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
    """Extend the axis for the numbers of launches. The axes must have their range."""
    low, high = axes.get_ylim()
    share = ROOM_FOR_NUMBERS / (1 - ROOM_FOR_NUMBERS)
    axes.set_ylim(top=high + share * (high - low) if linear else high * (high / low) ** share)


def _colour(state: StateName | None, split: Split) -> str:
    return COLOURS[state] if split.states else style.BLUE


def _legend(whole: Figure, splits: Sequence[Split]) -> None:
    """Draw the legend of the marks; with several states, the samples of each."""
    states = [state for split in splits for state in split.states]
    names = [name for name in STATE_NAMES if any(state.name == name for state in states)]
    called = {
        name: dict.fromkeys(state_name(state.of, name) for state in states if state.name == name)
        for name in names
    }
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
        *([f"samples, {' or '.join(called[name])}" for name in names] or ["samples"]),
        WARMUP,
        FIRST,
        "median of a launch (numbered)",
    ]
    lines.below(whole, marks, labels)
