"""Promise of the instrument for a time at best: docs/method-one-sided.md#an-operation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.plan.patterns import patterns_with
from mpigauge.stats.limits import PROMISED

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell

ONE_SIDED = patterns_with(lambda pattern: pattern.family == "one-sided")

ONE_SIDED_S = 5e-9
"""Time by which what runs before a one-sided operation moves it, beside bare loops of three libraries."""

ONE_SIDED_MOST = 0.1
"""And by no larger share of it."""


def promised_of(cell: Cell, time_s: float) -> float:
    """Return the half-width of what the instrument promises of a time of a cell, as a logarithm."""
    if cell.pattern not in ONE_SIDED or time_s <= 0:
        return PROMISED
    return math.hypot(PROMISED, min(ONE_SIDED_S / time_s, ONE_SIDED_MOST))
