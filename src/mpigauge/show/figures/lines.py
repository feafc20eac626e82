"""Curves with bands for their intervals, marks, and legends outside the data."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from mpigauge.show.figures import fit
from mpigauge.show.figures.style import SMALL, width_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.query.series import Point, Series

MARKERS = ("o", "s", "^", "D", "v", "<", "X", ">", "P")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (6, 1.5, 1.5, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (3, 3)),
    (0, (10, 3)),
)
"""As many as colours, so that no two of a figure are alike."""

IMPORTED_DASHES = (0, (1, 2))
BREAK_DASHES, MARK_DASHES = (0, (1, 1.5)), (0, (4, 2))
MANY_POINTS, MANY_SIZE = 40, 2.0
WIDTH_OF_LINE, SIZE_OF_MARKER = 1.3, 4.0
NEAR, MAX_NEAR = 0.01, 0.03
"""Curves closer than this coincide for the eye: share of the logarithmic range of values, and of a value."""

MOST_UNDER, WIDER_LINE, WIDER_MARKER = 2, 1.3, 1.4
"""Most curves above another for which it becomes wider, and by how many points for each."""

NOTE_LETTERS_A_INCH = 17
NOTE_INCHES = 0.14
"""Height of another line of small text."""
LETTERS_A_INCH = 17.5


def curve(
    axes: Any, name: str, curve_style: Mapping[str, Any], pieces: Sequence[Sequence[Point]], scale: Any
) -> None:
    """Draw a series: per piece a line and a band, per point a marker; a single point gets a bar.

    Args:
        name: Part of the SVG ids of its elements.
        curve_style: Style; a larger linewidth than usual makes it visible below another curve.
        scale: Maps the x of a point to its position.
    """
    colour, width = curve_style["color"], curve_style.get("linewidth", WIDTH_OF_LINE)
    flat = [point for piece in pieces for point in piece]
    if not flat:
        return
    for number, piece in enumerate(pieces):
        xs = [scale(point.x) for point in piece]
        if len(piece) > 1:
            (line,) = axes.plot(
                xs,
                [point.y for point in piece],
                color=colour,
                linestyle=curve_style["linestyle"],
                linewidth=width,
            )
            line.set_gid(f"line-{name}-{number}")
        _uncertainty(axes, f"{name}-{number}", colour, xs, piece)
    small = MANY_SIZE if len(flat) > MANY_POINTS else SIZE_OF_MARKER
    (points,) = axes.plot(
        [scale(point.x) for point in flat],
        [point.y for point in flat],
        color=colour,
        linestyle="none",
        marker=curve_style["marker"],
        markerfacecolor=curve_style["markerfacecolor"],
        markersize=small * curve_style.get("markersize", SIZE_OF_MARKER) / SIZE_OF_MARKER,
        zorder=3,
    )
    points.set_gid(f"points-{name}")


def widened_below(styles: Sequence[dict[str, Any]], pieces: Sequence[Sequence[Sequence[Point]]]) -> list[Any]:
    """Return styles in which curves below others are wider, and so stay visible.

    Args:
        styles: Styles of the series in drawing order.
        pieces: Points of the series.
    """
    places = [{point.x: point.y for piece in curve_pieces for point in piece} for curve_pieces in pieces]
    everything = [y for curve_pieces in places for y in curve_pieces.values() if y > 0] or [1.0]
    within = min(NEAR * math.log(max(everything) / min(everything)), MAX_NEAR)
    widened = []
    for number, curve_style in enumerate(styles):
        over = sum(_covered(places[number], later, within) for later in places[number + 1 :])
        wider = min(over, MOST_UNDER)
        widened.append(
            curve_style
            | {
                "linewidth": WIDTH_OF_LINE + WIDER_LINE * wider,
                "markersize": SIZE_OF_MARKER + WIDER_MARKER * wider,
            }
        )
    return widened


def _covered(lower: Mapping[float, float], upper: Mapping[float, float], within: float) -> bool:
    """Return whether a third of the points of a curve coincide with those of another."""
    common = [x for x in lower if x in upper and lower[x] > 0 and upper[x] > 0]
    hidden = sum(abs(math.log(lower[x] / upper[x])) <= within for x in common)
    return bool(hidden) and 3 * hidden >= len(lower)


def _uncertainty(axes: Any, name: str, colour: str, xs: Sequence[float], piece: Sequence[Point]) -> None:
    """Draw a band over points with an interval; a bar where there is a single one."""
    known = [
        (x, p.low, p.high) for x, p in zip(xs, piece, strict=True) if p.low is not None and p.high is not None
    ]
    if not known:
        return
    places, lows, highs = zip(*known, strict=True)
    if len(known) == len(piece) and len(piece) > 1:
        axes.fill_between(places, lows, highs, color=colour, alpha=0.22, linewidth=0).set_gid(f"band-{name}")
    else:
        axes.vlines(places, lows, highs, color=colour, linewidth=1.1).set_gid(f"bars-{name}")


def usual_width(curve_style: Mapping[str, Any]) -> dict[str, Any]:
    """Return a style with the usual width, for ratios and legends, where no curve covers it."""
    return {name: of for name, of in curve_style.items() if name not in {"linewidth", "markersize"}}


def handle(curve_style: Mapping[str, Any]) -> Line2D:
    """Return the legend handle of a series."""
    return Line2D([], [], **curve_style)


def mark(axes: Any, x: float, name: str, words: str, dashes: Any) -> None:
    """Draw a vertical line with a label above the axes, which `fit` places."""
    axes.axvline(x, color="0.45", linewidth=0.9, linestyle=dashes, zorder=1).set_gid(name)
    if words:
        axes.annotate(
            words,
            (x, 1.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0, fit.POINTS_ABOVE),
            textcoords="offset points",
            fontsize="x-small",
            color="0.35",
            ha="center",
            va="bottom",
        ).set_gid(f"{fit.WORDS_OF_MARK}-{name}")


def write_note(axes: Any, height: float, words: str, side: str) -> Any:
    """Write small text on white at the right end of the axes, at a share of their height."""
    text = axes.text(
        0.995,
        height,
        words,
        transform=axes.transAxes,
        fontsize="x-small",
        color="0.25",
        ha="right",
        va=side,
        zorder=5,
    )
    text.set_bbox({"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8})
    text.set_gid(fit.NOTE)
    text.set_in_layout(False)  # text wraps to the width of the axes, which must not shrink for it
    return text


def caption(
    whole: Figure, words: str, note: str, curves: Sequence[Series], styles: Sequence[Mapping[str, Any]]
) -> None:
    """Add title and notes, and a legend below everything."""
    note = _in_lines(note)
    if words:
        whole.suptitle(words, fontsize=9)
    labels = [curve.label for curve in curves]
    if len(labels) > 1 or (labels and labels[0] not in words):
        handles = [handle(usual_width(curve_style)) for curve_style in styles]
        below(whole, handles, labels, note)
    elif note:
        whole.supxlabel(note, **SMALL)


def below(whole: Figure, handles: Sequence[Line2D], labels: Sequence[str], note: str = "") -> None:
    """Add a legend below everything, headed by a note, in as many columns as fit; long labels wrap."""
    room = whole.bbox.width - 2 * fit.EDGE_INCHES * whole.dpi
    letters = max(map(len, labels))
    for columns in range(columns_of(labels), 0, -1):
        made = whole.legend(handles, labels, loc="outside lower center", ncols=columns)
        if fit.box_of(made).width <= room or columns == 1:
            break
        made.remove()
    while (width := fit.box_of(made).width) > room and letters > fit.MIN_LETTERS:
        letters = min(letters - 1, int(letters * room / width))
        for text, label in zip(made.get_texts(), labels, strict=True):
            text.set_text(fit.in_lines(label, letters))
    made.set_title(note)
    made.get_title().set(**SMALL)


def origin(whole: Figure, words: Sequence[str]) -> None:
    """Add lines of small text at the bottom; the figure grows by them."""
    added = "\n".join(map(_in_lines, words))
    if not added:
        return
    legend = whole.legends[0] if whole.legends else None
    before = legend.get_title().get_text() if legend else whole.get_supxlabel()
    before = "\n".join(map(_in_lines, before.splitlines())) if before != "None" else ""
    text = f"{before}\n{added}" if before else added
    if legend is None:
        whole.supxlabel(text, **SMALL)
    else:
        legend.set_title(text)
        legend.get_title().set(**SMALL, multialignment="center")
    whole.set_figheight(whole.get_figheight() + NOTE_INCHES * (text.count("\n") + (not before)))


def _in_lines(words: str) -> str:
    """Wrap small text to the width of the figure."""
    return textwrap.fill(words, int(NOTE_LETTERS_A_INCH * width_in()))


def columns_of(labels: Sequence[str]) -> int:
    """Return how many labels fit side by side."""
    widest = max(map(len, labels)) / LETTERS_A_INCH + 0.6
    return max(1, min(len(labels), int(width_in() / widest), 6))


def legend_rows(labels: Sequence[str]) -> int:
    """Return how many rows a legend has, including the note above it."""
    return 1 + -(-len(labels) // columns_of(labels))
