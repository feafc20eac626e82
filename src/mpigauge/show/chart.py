"""The description of a chart: curves with what their points say, axes and lines, before anything is drawn.

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
"""What stands upward: seconds, bytes per second, times as long, or a share of one."""


@dataclass(frozen=True, slots=True, eq=False)
class ChartCurve:
    """Points of one look.

    Attributes:
        look: Colour, marker and dashes, as `figures.looks` has them.
        pieces: Points with intervals where they have some; a line connects those of one piece.
        said: Per point, in the order of the pieces, what is shown to whoever points at it; may be empty.
        cells: Per point the number of its cell on a page; empty where there is no page, or no cell.
        state: The state of the machine that it is of; empty if that does not matter.
        hidden: Whether it is seen only where its state is asked for.
    """

    label: str
    look: Mapping[str, Any]
    pieces: Sequence[Sequence[Point]]
    said: Sequence[str] = ()
    cells: Sequence[int] = ()
    state: str = ""
    hidden: bool = False

    @property
    def points(self) -> list[Point]:
        """All points, in the order of the pieces."""
        return [*chain.from_iterable(self.pieces)]


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Curves on one pair of axes, and their ratios where these are drawn below.

    Attributes:
        what: What stands upward, in words; empty where only its unit is named.
        unit: Of the upward axis; each tick has its own if it is automatic.
        linear: Whether neither axis may be logarithmic.
        across: What stands to the right: sizes in bytes, or seconds.
        levels: Lines across: values that points are held against.
        limits_of: Series whose eager limits are marked.
        reach: Values besides those of its curves that the upward axis covers.
        first_in_front: Whether the first curve lies over the others, else the last one.
        below: The ratios of its curves to others of them.
    """

    curves: Sequence[ChartCurve]
    quantity: Quantity
    what: str = ""
    unit: str = AUTO
    linear: bool = False
    across: Literal["size", "seconds"] = "size"
    across_label: str = "message size"
    levels: Sequence[float] = ()
    limits_of: Sequence[Series] = ()
    reach: Sequence[float] = ()
    first_in_front: bool = False
    below: Sequence[ChartCurve] = ()

    @property
    def points(self) -> list[Point]:
        """The points of all curves, without the ratios."""
        return [point for one in self.curves for point in one.points]

    @property
    def sizes(self) -> set[float]:
        """All places to the right."""
        return {point.x for point in self.points}

    @property
    def values(self) -> list[float]:
        """All that the upward axis covers."""
        return [*(point.y for point in self.points), *self.reach]
