"""Lines with the bands of their intervals, marks, and legends outside the data."""

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
NEAR, NEAR_MOST = 0.01, 0.03
"""Curves that differ by less are one to the eye: of the logarithm of all values' range, and of a value."""

MOST_UNDER = 2
"""Curves above another for which it becomes wider."""

NOTE_LETTERS_A_INCH = 17
NOTE_INCHES = 0.14
"""A further line of small letters."""
LETTERS_A_INCH = 15.0


def curve(
    axes: Any, name: str, looks: Mapping[str, Any], pieces: Sequence[Sequence[Point]], scale: Any
) -> None:
    """A series: a line and a band a piece, a marker a point; a point that stands alone has a bar.

    Args:
        name: Becomes part of the names of its elements in SVG.
        looks: How it is drawn; a linewidth more than usual shows it below another one.
        scale: From a point's x to its place.
    """
    colour, width = looks["color"], looks.get("linewidth", WIDTH_OF_LINE)
    flat = [point for piece in pieces for point in piece]
    if not flat:
        return
    for number, piece in enumerate(pieces):
        xs = [scale(point.x) for point in piece]
        if len(piece) > 1:
            (line,) = axes.plot(
                xs, [point.y for point in piece], color=colour, linestyle=looks["linestyle"], linewidth=width
            )
            line.set_gid(f"line-{name}-{number}")
        _uncertainty(axes, f"{name}-{number}", colour, xs, piece)
    small = MANY_SIZE if len(flat) > MANY_POINTS else SIZE_OF_MARKER
    (points,) = axes.plot(
        [scale(point.x) for point in flat],
        [point.y for point in flat],
        color=colour,
        linestyle="none",
        marker=looks["marker"],
        markerfacecolor=looks["markerfacecolor"],
        markersize=small * looks.get("markersize", SIZE_OF_MARKER) / SIZE_OF_MARKER,
        zorder=3,
    )
    points.set_gid(f"points-{name}")


def seen_through(looks: Sequence[dict[str, Any]], pieces: Sequence[Sequence[Sequence[Point]]]) -> list[Any]:
    """Looks in which what lies under later ones is wider than them, and so stays visible.

    Args:
        looks: Of series in the order in which they are drawn.
        pieces: What is drawn of each.
    """
    places = [{point.x: point.y for piece in mine for point in piece} for mine in pieces]
    everything = [y for mine in places for y in mine.values() if y > 0] or [1.0]
    within = min(NEAR * math.log(max(everything) / min(everything)), NEAR_MOST)
    found = []
    for number, look in enumerate(looks):
        over = sum(_covered(places[number], later, within) for later in places[number + 1 :])
        wider = min(over, MOST_UNDER)
        found.append(
            look | {"linewidth": WIDTH_OF_LINE + 1.6 * wider, "markersize": SIZE_OF_MARKER + 2.2 * wider}
        )
    return found


def _covered(one: Mapping[float, float], other: Mapping[float, float], within: float) -> bool:
    """Whether a third of the points of a curve lie under those of another."""
    common = [x for x in one if x in other and one[x] > 0 and other[x] > 0]
    hidden = sum(abs(math.log(one[x] / other[x])) <= within for x in common)
    return bool(hidden) and 3 * hidden >= len(one)


def _uncertainty(axes: Any, name: str, colour: str, xs: Sequence[float], piece: Sequence[Point]) -> None:
    """A band over points that have an interval, a bar where only one has."""
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


def usual_width(look: Mapping[str, Any]) -> dict[str, Any]:
    """A look without what makes it wider than others, where nothing lies over it: ratios, and legends."""
    return {name: of for name, of in look.items() if name not in {"linewidth", "markersize"}}


def handle(looks: Mapping[str, Any]) -> Line2D:
    """What a legend shows of a series."""
    return Line2D([], [], **looks)


def mark(axes: Any, x: float, name: str, words: str, dashes: Any) -> None:
    """A vertical line, with its words above the axes if it has some: `fit` finds their place."""
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


def say(axes: Any, height: float, words: str, side: str) -> Any:
    """Small words at the right end of the axes, at a share of their height, on white."""
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
    text.set_in_layout(False)  # they are wrapped to the width of the axes, which must not shrink for them
    return text


def caption(
    whole: Figure, words: str, note: str, found: Sequence[Series], looks: Sequence[Mapping[str, Any]]
) -> None:
    """Title, legend below everything, never over data, and in small letters what must be known."""
    note = _in_lines(note)
    if words:
        whole.suptitle(words, fontsize=9)
    labels = [one.label for one in found]
    if len(labels) > 1 or (labels and labels[0] not in words):
        handles = [handle(usual_width(one)) for one in looks]
        below(whole, handles, labels, note)
    elif note:
        whole.supxlabel(note, **SMALL)


def below(whole: Figure, handles: Sequence[Line2D], labels: Sequence[str], note: str = "") -> None:
    """A legend under everything, headed by a note, in as many columns as fit; long labels are wrapped."""
    room = whole.bbox.width - 2 * fit.EDGE_INCHES * whole.dpi
    letters = max(map(len, labels))
    for columns in range(columns_of(labels), 0, -1):
        made = whole.legend(handles, labels, loc="outside lower center", ncols=columns)
        if fit.box_of(made).width <= room or columns == 1:
            break
        made.remove()
    while (width := fit.box_of(made).width) > room and letters > fit.LETTERS_LEAST:
        letters = min(letters - 1, int(letters * room / width))
        for text, label in zip(made.get_texts(), labels, strict=True):
            text.set_text(fit.in_lines(label, letters))
    made.set_title(note)
    made.get_title().set(**SMALL)


def origin(whole: Figure, words: Sequence[str]) -> None:
    """Lines in small letters under what else must be known, for which the figure grows."""
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
    """Small letters in lines of the figure's width."""
    return textwrap.fill(words, int(NOTE_LETTERS_A_INCH * width_in()))


def columns_of(labels: Sequence[str]) -> int:
    """How many labels fit beside each other."""
    widest = max(map(len, labels)) / LETTERS_A_INCH + 0.65
    return max(1, min(len(labels), int(width_in() / widest), 4))


def legend_rows(labels: Sequence[str]) -> int:
    """How many rows a legend has, the note above it counted."""
    return 1 + -(-len(labels) // columns_of(labels))
