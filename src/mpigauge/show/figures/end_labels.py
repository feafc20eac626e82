"""Labels at the right ends of curves, which need no legend, where all of them fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D
from matplotlib.transforms import Affine2D, ScaledTranslation

from mpigauge.show.figures import fit, lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_LABELS = 8
MAX_WIDTH = 0.25
"""Largest share of labels, with samples of their lines, in the width that axes have to themselves."""

MIN_END = 0.9
"""Share of the axis beyond which all curves must end: a label far from its curve is worse than a legend."""

MAX_AWAY = 2.0
"""Farthest that a label may be from the height of its end, in lines."""

LINE_POINTS, SMALLER = 10.5, 0.9
"""Height of a line of labels, and the share of the axes' height that is left with the notes below them."""

SAMPLE_POINTS, GAP_POINTS = (4.0, 11.0, 18.0), 22.0
"""Positions right of the axes: of the ends and the marker of a sample of a line, and of its label."""

POINTS_PER_INCH = 72

LABEL, SAMPLE = "label-", "sample-"
"""Prefixes of the ids of labels and of samples of their lines."""


def label_ends(
    axes: Any, names: Sequence[str], labels: Sequence[str], styles: Sequence[Mapping[str, Any]]
) -> bool:
    """Write the label of each curve right of its end, if all fit; return whether they do.

    Args:
        axes: Axes with their range and all curves.
        names: Name of each curve, as in `lines.curve`.
    """
    heights = heights_of(axes, names, labels)
    write(axes, names, labels, styles, heights)
    return bool(heights)


def heights_of(axes: Any, names: Sequence[str], labels: Sequence[str]) -> list[float]:
    """Return the height of each label, as a share of the axes; empty if they do not fit."""
    if len(labels) > MAX_LABELS:
        return []
    fit.lay_out(axes.figure)
    left, right = fit.room_of(axes)
    ends = _ends(axes, names)
    if not ends or _width(axes, labels) > MAX_WIDTH * (right - left):
        return []
    step = LINE_POINTS / (SMALLER * axes.get_window_extent().height * POINTS_PER_INCH / axes.figure.dpi)
    heights = spread(ends, step)
    far = [abs(height - end) > MAX_AWAY * step for height, end in zip(heights, ends, strict=bool(heights))]
    return [] if any(far) else heights


def write(
    axes: Any,
    names: Sequence[str],
    labels: Sequence[str],
    styles: Sequence[Mapping[str, Any]],
    heights: Sequence[float],
) -> None:
    """Write labels at heights, each after a sample of its line; nothing where there are no heights."""
    for name, label, look, height in zip(names, labels, styles, heights, strict=bool(heights)):
        text = axes.annotate(
            label,
            (1.0, height),
            xycoords="axes fraction",
            xytext=(GAP_POINTS, 0),
            textcoords="offset points",
            ha="left",
            va="center",
            annotation_clip=False,
            **_TEXT,
        )
        text.set_gid(f"{LABEL}{name}")
        _draw_sample(axes, name, height, lines.usual_width(look))


_TEXT: Mapping[str, Any] = {"fontsize": "small", "color": "0.15"}


def _width(axes: Any, labels: Sequence[str]) -> float:
    """Return the width of the longest label with the sample before it, in pixels."""
    text = axes.figure.text(0, 0, "\n".join(labels), **_TEXT)
    pixels = float(fit.box_of(text).width)
    text.remove()
    return pixels + GAP_POINTS * float(axes.figure.dpi) / POINTS_PER_INCH


def _ends(axes: Any, names: Sequence[str]) -> list[float]:
    """Return the height of the last point of each curve, as a share of the axes; empty if one ends early."""
    ends: list[float] = []
    for name in names:
        points = next((line for line in axes.lines if line.get_gid() == f"points-{name}"), None)
        if points is None:
            return []
        last = max(points.get_xydata().tolist())
        x, y = axes.transAxes.inverted().transform(axes.transData.transform(last))
        if x < MIN_END:
            return []
        ends.append(float(min(1.0, max(0.0, y))))
    return ends


def spread(ends: Sequence[float], step: float) -> list[float]:
    """Return heights between 0 and 1 that are near the ends and a step apart; empty if so many do not fit.

    Of equal ends the first is the highest.
    """
    if (len(ends) - 1) * step > 1:
        return []
    order = sorted(range(len(ends)), key=lambda at: (ends[at], -at))
    blocks: list[list[float]] = []
    for place, at in enumerate(order):
        blocks.append([ends[at] - place * step])
        while len(blocks) > 1 and _mean(blocks[-2]) > _mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    most = 1 - (len(ends) - 1) * step
    bases = [min(most, max(0.0, _mean(block))) for block in blocks for _ in block]
    heights = dict(zip(order, (base + place * step for place, base in enumerate(bases)), strict=True))
    return [heights[at] for at in range(len(ends))]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _draw_sample(axes: Any, name: str, height: float, look: Mapping[str, Any]) -> None:
    """Draw a short piece of a curve's line with its marker before the label: curves may end in one place."""
    inches = Affine2D().scale(1 / POINTS_PER_INCH) + axes.figure.dpi_scale_trans
    place = inches + ScaledTranslation(1.0, height, axes.transAxes)
    sample = Line2D(SAMPLE_POINTS, [0, 0, 0], transform=place, clip_on=False, markevery=[1], **look)
    sample.set_gid(f"{SAMPLE}{name}")
    axes.add_artist(sample)
