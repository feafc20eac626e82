"""Grey lines that curves of bandwidth are held against, with their words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mpigauge.show.figures.lines import MARK_DASHES, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.show.figures.scales import SizeAxis, ValueAxis
    from mpigauge.show.references import Reference

GREY = "0.35"
LOOKS: Any = {"color": GREY, "linestyle": MARK_DASHES, "linewidth": 0.9, "zorder": 1.5}


FAR = 2.0
"""Times the largest value: a linear axis does not reach to curves beyond it, which would press others down.
To a rate it does: who names one wants to see how far away it is."""


def near(found: Sequence[Reference], values: Sequence[float], *, linear: bool) -> list[float]:
    """The rates of references that an axis of these values reaches to."""
    most = FAR * max(values) if linear and values else math.inf
    return [one.rate_bytes_per_s for one in found if not one.points or one.rate_bytes_per_s <= most]


def draw(axes: Any, found: Sequence[Reference], sizes: SizeAxis, axis: ValueAxis) -> None:
    """Each as a line over all sizes, or through its points; what lies beyond the axis is said as well.

    The axes must have their ranges.
    """
    top, beyond = axes.get_ylim()[1], list[str]()
    for number, one in enumerate(found):
        low, high = axes.get_xlim()
        inside = [(x, point.y) for point in one.points if low <= (x := sizes.x(point.x)) <= high]
        places = list(zip(*inside, strict=True)) if inside else [(low, high), (one.rate_bytes_per_s,) * 2]
        alone = {"marker": "D", "markersize": 4, "markerfacecolor": "none"} if len(inside) == 1 else {}
        (line,) = axes.plot(*places, **LOOKS, **alone, scalex=False)
        line.set_gid(f"reference-{number}")
        if max(places[1]) > top:
            beyond.append(f"{one.words}: up to {axis.words(max(places[1]))}")
            continue
        best = max(range(len(inside)), key=lambda place: inside[place][1], default=-1)
        _say(axes, (places[0][best], places[1][best]), one.words, number, at_end=not inside)
    if beyond:
        say(axes, 0.98, "; ".join(beyond), "top").set_gid("words-of-references-beyond")


def _say(axes: Any, place: tuple[float, float], words: str, number: int, *, at_end: bool) -> None:
    """Above the line on white: at its end, or around the best point of a curve."""
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
