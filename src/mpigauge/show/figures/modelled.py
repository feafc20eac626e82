"""Lines of a model over the points that they describe."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.show.figures import lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.models.model import Model
    from mpigauge.models.modelled import CurveModel
    from mpigauge.query.series import Point
    from mpigauge.show.figures.scales import SizeAxis
    from mpigauge.stats.percentiles import Values

PLACES = 50
"""Points per segment through which its line is drawn."""

NOTE = "lines: model; points: measured; dashed: breaks"


def as_single_points(pieces: Sequence[Sequence[Point]]) -> list[list[Point]]:
    """Return each point as a piece of its own, so that only the model draws lines."""
    return [[point] for piece in pieces for point in piece]


def overlay(
    axes: Any,
    name: str,
    curve_style: Mapping[str, Any],
    modelled: CurveModel | None,
    sizes: SizeAxis,
    *,
    rate: bool,
) -> None:
    """Draw the model of a series; nothing if it has too few sizes for one.

    Args:
        name: Part of the SVG ids of its elements.
        rate: Whether the axis shows rates.
    """
    if modelled is None:
        return
    for number in range(len(modelled.model.segments)):
        bytes_, values = _line(modelled.model, number, rate=rate)
        places = [sizes.x(size) for size in bytes_]
        (drawn,) = axes.plot(places, values, color=curve_style["color"], linestyle=curve_style["linestyle"])
        drawn.set_gid(f"model-{name}-{number}")
    for break_ in modelled.model.breaks:
        if break_.above < break_.upto:
            middle = math.sqrt(max(break_.above, 1) * break_.upto)
            lines.mark(axes, middle, f"break-{name}-{break_.above}", "", lines.MARK_DASHES)


def _line(model: Model, number: int, *, rate: bool) -> tuple[Values, Values]:
    """Return sizes of a segment, and the values of the model there."""
    segment = model.segments[number]
    bytes_ = np.geomspace(max(segment.first, 1), max(segment.last, 1), PLACES)
    if segment.first == 0 and not rate:
        bytes_ = np.concatenate([[0.0], bytes_])
    times = np.maximum(model.cut.alpha[number] + model.cut.beta[number] * bytes_, 1e-300)
    return bytes_, model.points.moved * bytes_ / times if rate else times
