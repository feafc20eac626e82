"""Lines with the bands of their intervals, marks, and legends outside the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from mpigauge.show.figures.style import COLOURS, SMALL, WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.show.series import Point, Series

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (6, 1.5, 1.5, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
)
IMPORTED_DASHES = (0, (1, 2))
BREAK_DASHES, MARK_DASHES = (0, (1, 1.5)), (0, (4, 2))
MANY_POINTS = 40
LETTERS_A_INCH = 12.0


def look(number: int, *, imported: bool = False) -> dict[str, Any]:
    """Colour, marker and dashes of a series, by its place in the legend."""
    colour = COLOURS[number % len(COLOURS)]
    return {
        "color": colour,
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": IMPORTED_DASHES if imported else DASHES[number % len(DASHES)],
        "markerfacecolor": "white" if imported else colour,
    }


def curve(
    axes: Any, name: str, looks: Mapping[str, Any], pieces: Sequence[Sequence[Point]], scale: Any
) -> None:
    """A series: a line and a band a piece, a marker a point; a point that stands alone has a bar.

    Args:
        name: Becomes part of the names of its elements in SVG.
        scale: From a point's x to its place.
    """
    colour = looks["color"]
    flat = [point for piece in pieces for point in piece]
    for number, piece in enumerate(pieces):
        xs = [scale(point.x) for point in piece]
        if len(piece) > 1:
            (line,) = axes.plot(xs, [point.y for point in piece], color=colour, linestyle=looks["linestyle"])
            line.set_gid(f"line-{name}-{number}")
        _uncertainty(axes, f"{name}-{number}", colour, xs, piece)
    small = 2.0 if len(flat) > MANY_POINTS else 4.0
    (points,) = axes.plot(
        [scale(point.x) for point in flat],
        [point.y for point in flat],
        color=colour,
        linestyle="none",
        marker=looks["marker"],
        markerfacecolor=looks["markerfacecolor"],
        markersize=small,
        zorder=3,
    )
    points.set_gid(f"points-{name}")


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


def handle(looks: Mapping[str, Any]) -> Line2D:
    """What a legend shows of a series."""
    return Line2D([], [], **looks)


def mark(axes: Any, x: float, name: str, words: str, dashes: Any) -> None:
    """A vertical line, with its words above the axes if it has some."""
    axes.axvline(x, color="0.45", linewidth=0.9, linestyle=dashes, zorder=1).set_gid(name)
    if words:
        axes.text(
            x,
            1.0,
            words,
            transform=axes.get_xaxis_transform(),
            fontsize="x-small",
            color="0.35",
            ha="center",
            va="bottom",
        )


def caption(
    whole: Figure, words: str, note: str, found: Sequence[Series], looks: Sequence[Mapping[str, Any]]
) -> None:
    """Title, legend below everything, never over data, and in small letters what must be known."""
    if words:
        whole.suptitle(words, fontsize=9)
    labels = [one.label for one in found]
    if len(labels) > 1 or (labels and labels[0] not in words):
        handles = [handle(one) for one in looks]
        below(whole, handles, labels, note)
    elif note:
        whole.supxlabel(note, **SMALL)


def below(whole: Figure, handles: Sequence[Line2D], labels: Sequence[str], note: str = "") -> None:
    """A legend under everything, headed by a note."""
    made = whole.legend(
        handles, labels, loc="outside lower center", ncols=columns_of(labels), title=note or None
    )
    made.get_title().set(**SMALL)


def columns_of(labels: Sequence[str]) -> int:
    """How many labels fit beside each other."""
    widest = max(map(len, labels)) / LETTERS_A_INCH + 0.65
    return max(1, min(len(labels), int(WIDTH / widest), 4))


def legend_rows(labels: Sequence[str]) -> int:
    """How many rows a legend has, the note above it counted."""
    return 1 + -(-len(labels) // columns_of(labels))
