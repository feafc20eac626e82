"""The lines of a model over the points that they describe."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.show.figures import lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.models.model import Model
    from mpigauge.models.modelled import Modelled
    from mpigauge.query.series import Point
    from mpigauge.show.figures.scales import SizeAxis
    from mpigauge.stats.percentiles import Values

PLACES = 50
"""Of a segment, that its line goes through."""

NOTE = "lines: model; points: measured; dashed: breaks"


def apart(pieces: Sequence[Sequence[Point]]) -> list[list[Point]]:
    """Points that nothing connects, so that the line is the model's alone."""
    return [[point] for piece in pieces for point in piece]


def overlay(
    axes: Any, name: str, looks: Mapping[str, Any], found: Modelled | None, sizes: SizeAxis, *, rate: bool
) -> None:
    """Draws the model of a series; nothing if it has too few sizes for one.

    Args:
        name: Becomes part of the names of its elements in SVG.
        rate: Whether the axis is that of rates.
    """
    if found is None:
        return
    for number in range(len(found.model.segments)):
        bytes_, values = _line(found.model, number, rate=rate)
        places = [sizes.x(each) for each in bytes_]
        (drawn,) = axes.plot(places, values, color=looks["color"], linestyle=looks["linestyle"])
        drawn.set_gid(f"model-{name}-{number}")
    for one in found.model.breaks:
        if one.above < one.upto:
            middle = math.sqrt(max(one.above, 1) * one.upto)
            lines.mark(axes, middle, f"break-{name}-{one.above}", "", lines.MARK_DASHES)


def _line(model: Model, number: int, *, rate: bool) -> tuple[Values, Values]:
    """Sizes of a segment, and what the model says there."""
    segment = model.segments[number]
    bytes_ = np.geomspace(max(segment.first, 1), max(segment.last, 1), PLACES)
    if segment.first == 0 and not rate:
        bytes_ = np.concatenate([[0.0], bytes_])
    times = np.maximum(model.cut.alpha[number] + model.cut.beta[number] * bytes_, 1e-300)
    return bytes_, model.points.moved * bytes_ / times if rate else times
