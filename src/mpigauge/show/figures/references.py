"""Grey lines of references for curves of bandwidth, with their labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mpigauge.show.figures.lines import MARK_DASHES, write_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.show.figures.scales import SizeAxis, ValueAxis
    from mpigauge.show.references import Reference

GREY = "0.35"
LINE_STYLE: Any = {"color": GREY, "linestyle": MARK_DASHES, "linewidth": 0.9, "zorder": 1.5}


FAR = 2.0
"""Multiple of the largest value beyond which a linear axis leaves out curves, which would flatten others. It
always includes a rate, since who names one wants to see how far away it is.
"""


def near(references: Sequence[Reference], values: Sequence[float], *, linear: bool) -> list[float]:
    """Return the rates of references that an axis of these values should include."""
    most = FAR * max(values) if linear and values else math.inf
    return [
        reference.rate_bytes_per_s
        for reference in references
        if not reference.points or reference.rate_bytes_per_s <= most
    ]


def draw(axes: Any, references: Sequence[Reference], sizes: SizeAxis, axis: ValueAxis) -> None:
    """Draw each reference as a line, or through its points; name those beyond the axis, too.

    The axes must have their ranges.
    """
    top, beyond = axes.get_ylim()[1], list[str]()
    for number, reference in enumerate(references):
        low, high = axes.get_xlim()
        inside = [(x, point.y) for point in reference.points if low <= (x := sizes.x(point.x)) <= high]
        places = (
            list(zip(*inside, strict=True)) if inside else [(low, high), (reference.rate_bytes_per_s,) * 2]
        )
        if max(places[1]) > top:
            beyond.append(f"{reference.words}: up to {axis.words(max(places[1]))}")
        if 2 * sum(rate > top for rate in places[1]) > len(places[1]):
            continue  # what is left of it within the axes would be a stub
        single_marker = (
            {"marker": "D", "markersize": 4, "markerfacecolor": "none"} if len(inside) == 1 else {}
        )
        (line,) = axes.plot(*places, **LINE_STYLE, **single_marker, scalex=False)
        line.set_gid(f"reference-{number}")
        if max(places[1]) > top:
            continue
        best = max(range(len(inside)), key=lambda place: inside[place][1], default=-1)
        _write_label(axes, (places[0][best], places[1][best]), reference.words, number, at_end=not inside)
    if beyond:
        write_note(axes, 0.98, "; ".join(beyond), "top").set_gid("words-of-references-beyond")


def _write_label(axes: Any, place: tuple[float, float], words: str, number: int, *, at_end: bool) -> None:
    """Label the line, on white: at its end, or at the best point of a curve."""
    text = axes.annotate(
        words,
        place,
        xytext=(-2 if at_end else 0, 2),
        textcoords="offset points",
        fontsize="x-small",
        color=GREY,
        ha="right" if at_end else "center",
        va="bottom",
        zorder=5,
        parse_math=False,
    )
    text.set_bbox({"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.6})
    text.set_gid(f"words-of-reference-{number}")
