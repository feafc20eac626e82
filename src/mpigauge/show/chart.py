"""Description of a chart: curves with the texts of their points, axes and lines, before anything is drawn.

Figures and the report draw the same description, by `figures.chart`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from mpigauge.units import AUTO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.query.series import Point, Series

Quantity = Literal["time", "rate", "ratio", "share"]
"""Quantity on the vertical axis: seconds, bytes per second, a ratio, or a share of one."""


@dataclass(frozen=True, slots=True, eq=False)
class ChartCurve:
    """Points of one style.

    Attributes:
        style: Style: colour, marker and dashes, as from `figures.line_styles`.
        pieces: Points, with intervals where they have one; a line connects those of one piece.
        texts: Texts of the points, in the order of the pieces, for whoever points at them; may be empty.
        cells: Numbers of the points' cells on a page; empty where there is no page, or no cell.
        variant: Choice of the page's switch that shows it; empty if it is always shown.
        hidden: Whether it is hidden until its variant is chosen.
        gid: Part of the SVG ids of its elements; empty for its number.
    """

    label: str
    style: Mapping[str, Any]
    pieces: Sequence[Sequence[Point]]
    texts: Sequence[str] = ()
    cells: Sequence[int] = ()
    variant: str = ""
    hidden: bool = False
    gid: str = ""

    @property
    def points(self) -> list[Point]:
        """Points of all pieces, in their order."""
        return [*chain.from_iterable(self.pieces)]


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Curves on one pair of axes, and the curves of those below: ratios, or widths of intervals.

    Attributes:
        what: Label of the vertical axis; empty where only its unit is named.
        unit: Unit of the vertical axis; each tick has its own if it is automatic.
        linear: Whether no axis may be logarithmic.
        across: Quantity on the horizontal axis: sizes in bytes, or seconds.
        levels: Values of horizontal reference lines.
        span: Ends of the vertical axis of shares; None where the values decide.
        limits_of: Series whose eager limits are marked.
        reach: Values besides those of its curves that the vertical axis covers.
        first_in_front: Whether the first curve is drawn over the others, not the last one.
        below: Ratios of its curves to one of them, or the widths of their intervals.
    """

    curves: Sequence[ChartCurve]
    quantity: Quantity
    what: str = ""
    unit: str = AUTO
    linear: bool = False
    across: Literal["size", "seconds"] = "size"
    across_label: str = "message size"
    levels: Sequence[float] = ()
    span: tuple[float | None, float | None] = (None, None)
    limits_of: Sequence[Series] = ()
    reach: Sequence[float] = ()
    first_in_front: bool = False
    below: Sequence[ChartCurve] = ()

    @property
    def points(self) -> list[Point]:
        """Points of all curves, without the ratios."""
        return [point for curve in self.curves for point in curve.points]

    @property
    def sizes(self) -> set[float]:
        """Positions of all points on the horizontal axis."""
        return {point.x for point in self.points}

    @property
    def values(self) -> list[float]:
        """Values that the vertical axis covers."""
        return [*(point.y for point in self.points), *self.reach]
