"""Figure of one-sided operations: each in each way of synchronising, beside messages and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.ticker import FuncFormatter

from mpigauge.find.explain.one_sided import NOTIFIED
from mpigauge.plan.patterns import default_mode, patterns_with
from mpigauge.query.kinds import maker
from mpigauge.query.query import thinned
from mpigauge.query.series import against_size, timed_rows
from mpigauge.rows.baselines import LINES, MESSAGES, YARDSTICKS
from mpigauge.sequences import group_by
from mpigauge.show.figures import MAKERS, lines, scales, style
from mpigauge.units import format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.query import Query, Source
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row

ONE_SIDED = patterns_with(lambda pattern: pattern.one_sided)
COMPUTING = patterns_with(
    lambda pattern: pattern.one_sided and any(mode.target_computes for mode in pattern.modes)
)
"""Patterns whose time may be that of a computation, which no axis has room for."""

PLAIN_COPY = YARDSTICKS["memcpy_ratio"]

MAX_SIZES = 2
"""Most sizes, unless sizes were selected."""

MAX_LINES = 60
LINE_INCHES = 0.185
AROUND_INCHES = 1.3
"""Height of axis and legend."""

AROUND = 2.0
"""Factor of the times up to which the axis goes on for their intervals."""

DARK = "0.25"
STYLES: Mapping[str, Mapping[str, Any]] = {
    "one-sided operation": {"color": style.BLUE, "marker": "o"},
    "seen by the target": {"color": style.RED, "marker": "D"},
    "message, one way": {"color": style.BLACK, "marker": "s"},
    "copy, cache line": {"color": style.BLACK, "marker": "o", "markerfacecolor": "white"},
}
"""Colour and shape of each kind of line."""


class OneSidedLine(NamedTuple):
    """A line of the figure: what it is of, and one of STYLES."""

    label: str
    kind: str
    row: Row


@maker(MAKERS, "one-sided")
def one_sided_figure(query: Query) -> Figure:
    """Draw the time of each operation in each way of synchronising as a line, by size, shortest first."""
    if not any(row.cell.pattern in ONE_SIDED and row.time is not None for _, row in timed_rows(query)):
        raise query.lacks(
            "no one-sided operation was measured", "measure them: mpigauge run --suite one-sided"
        )
    curves = against_size(query, _is_shown, sized=False, most=MAX_LINES)
    groups = _groups(query, curves)
    whole = style.paper(LINE_INCHES * sum(len(mine) + 1 for mine in groups.values()) + AROUND_INCHES)
    axes = whole.add_subplot()
    _draw(axes, groups)
    drawn = [line for mine in groups.values() for line in mine]
    _set_up(axes, query, [line.row.time.estimate for line in drawn if line.row.time])
    shown = {line.kind for line in drawn}
    kinds = [kind for kind in STYLES if kind in shown]
    handles = [lines.handle({**STYLES[kind], "linestyle": "none"}) for kind in kinds]
    lines.below(whole, handles, kinds, "bars: 95 % intervals of medians over launches")
    return whole


def _is_shown(row: Row) -> bool:
    pattern = row.cell.pattern
    if pattern in ONE_SIDED:
        return pattern not in COMPUTING
    return pattern in MESSAGES | LINES or (pattern, row.cell.mode) == PLAIN_COPY


def _is_usual(source: Source, row: Row) -> bool:
    """Return whether a row is one-sided, or of the usual mode of what it is held against."""
    pattern = source.patterns[row.cell.pattern]
    return row.cell.pattern in ONE_SIDED or row.cell.mode == default_mode(pattern)


def _groups(query: Query, curves: Sequence[Series]) -> Mapping[str, list[OneSidedLine]]:
    """Return lines by size, which is their heading."""
    timed = [
        (curve, row)
        for curve in curves
        for row in curve.rows
        if row.time is not None and row.time.estimate > 0 and _is_usual(curve.source, row)
    ]
    sizes = sorted({row.cell.bytes for _, row in timed if row.sized and row.cell.pattern in ONE_SIDED})
    kept = {*(sizes if query.sizes else thinned(sizes, MAX_SIZES))}
    shown = [(curve, row) for curve, row in timed if not row.sized or row.cell.bytes in kept]
    found = [
        OneSidedLine(curve.label, _kind(row), row) for curve, row in sorted(shown, key=_by_size_and_time)
    ]
    return group_by(found, lambda line: _heading(line.row))


def _by_size_and_time(shown: tuple[Series, Row]) -> tuple[int, float]:
    row = shown[1]
    return row.cell.bytes if row.sized else -1, row.time.estimate if row.time else 0.0


def _heading(row: Row) -> str:
    return format_size(row.cell.bytes) if row.sized else "without data"


def _kind(row: Row) -> str:
    one_sided, seen, message, memory = STYLES
    if row.cell.pattern in NOTIFIED:
        return seen
    if row.cell.pattern in ONE_SIDED:
        return one_sided
    return message if row.cell.pattern in MESSAGES else memory


def _draw(axes: Any, groups: Mapping[str, Sequence[OneSidedLine]]) -> None:
    """Draw a mark and its bar for each line, from the top, below the heading of its size."""
    place, ticks, labels = 0, [], list[str]()
    for heading, mine in groups.items():
        axes.text(
            0.008,
            place,
            heading,
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize=7.5,
            fontweight="bold",
            color=DARK,
        )
        place += 1
        for line in mine:
            _mark(axes, place, line)
            ticks.append(place)
            labels.append(line.label)
            place += 1
    axes.set_yticks(ticks, labels, fontsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(place - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _mark(axes: Any, place: int, line: OneSidedLine) -> None:
    time, mark_style = line.row.time, STYLES[line.kind]
    assert time is not None  # noqa: S101 - it was chosen for its time
    if time.low is not None and time.high is not None and time.low > 0:
        bar = axes.hlines(place, time.low, time.high, color=mark_style["color"])
        bar.set(linewidth=1.2, gid=f"bars-{place}")
    (mark,) = axes.plot([time.estimate], [place], **mark_style, linestyle="none", markersize=4.5, zorder=3)
    mark.set_gid(f"points-{place}")


def _set_up(axes: Any, query: Query, times_s: Sequence[float]) -> None:
    axes.set_xlabel("time of one operation")
    if query.linear:
        axes.set_xlim(0, AROUND * max(times_s))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: format_time(value, query.units.time)))
        return
    axes.set_xscale("log")
    axes.set_xlim(min(times_s) / AROUND, max(times_s) * AROUND)
    scales.log_ticks(axes.xaxis, lambda value: format_time(value, query.units.time))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
