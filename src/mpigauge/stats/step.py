"""A change of a curve in a history, as numbers: where it is, how large, and how sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.splits import SEGMENT_LEAST

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A change of a curve's cells: at once, or little by little.

    Attributes:
        begin: The first session of the piece before it.
        place: The first session after it; of a drift the first that it moved.
        end: The first session that is not of the piece after it.
        mean: Of the logarithms, after over before, or of a drift from begin to end, shape ``(cells,)``.
        error: Its standard error.
        freedom: Degrees of freedom of that.
        reach: How many standard errors an interval takes that holds for all cells and places at once, 95 %.
        p: Adjusted for all cells of all curves, and all places.
        changed: Whether the change is beyond chance and of at least the margin.
        drifts: Whether it goes on from its place to its end.
    """

    begin: int
    place: int
    end: int
    mean: Values
    error: Values
    freedom: Values
    reach: float
    p: Values
    changed: Values
    drifts: bool = False

    @property
    def sides(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Sessions before and after it: of a drift its first third, and its last."""
        if not self.drifts:
            return (self.begin, self.place), (self.place, self.end)
        first = self.place - 1
        third = max(SEGMENT_LEAST, (self.end - first) // 3)
        return (first, first + third), (self.end - third, self.end)

    @property
    def rises(self) -> bool:
        """Whether the cells that changed take longer, in their mean."""
        return bool(self.mean[self.changed].sum() > 0)


def first_with_time(values: Values, place: int) -> int:
    """The first session from a place on that has a time: a change is seen after those that have none.

    Args:
        values: Shape ``(sessions, cells)``.
    """
    there = np.flatnonzero(np.isfinite(values).any(axis=1))
    return int(there[there >= place][0])
