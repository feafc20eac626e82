"""Which intervals are worth a sentence: those that leave a factor open say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from mpigauge.units import REACH_MOST

if TYPE_CHECKING:
    from mpigauge.rows.ratios import Ratio


def reaches_less(estimate: float, low: float | None, high: float | None) -> bool:
    """Whether an interval goes less than ten times beyond its number, on either side."""
    if low is None or high is None or not low > 0:
        return False
    return estimate / low < REACH_MOST and high / estimate < REACH_MOST


def tells(ratio: Ratio | None) -> TypeGuard[Ratio]:
    """Whether a ratio has an interval that says something."""
    return ratio is not None and reaches_less(ratio.estimate, ratio.low, ratio.high)
