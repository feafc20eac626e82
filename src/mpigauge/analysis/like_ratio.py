"""Ratios of what was measured in like conditions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.analysis.conditions import in_like_conditions
from mpigauge.analysis.ratios import Ratio, ratio_of

if TYPE_CHECKING:
    from mpigauge.analysis.conditions import Distances
    from mpigauge.analysis.estimate import Timing


ANYWHERE: tuple[Distances, Distances] = ({}, {})


def like_ratio(
    over: Timing, under: Timing, at: tuple[Distances, Distances] = ANYWHERE, *, paired: bool = True
) -> Ratio | None:
    """How many times as long one cell takes as another, of launches with ranks at one distance.

    Args:
        at: How far apart the ranks of either were in its launches; empty if distances are compared.
        paired: As of `ratios.ratio_of`.

    Returns:
        None if no launches are left that can be compared.

    Source:
        docs/method.md#states-of-the-machine
    """
    left, other = in_like_conditions(over.by_launch, under.by_launch, *at)
    clock_step = math.hypot(over.step, under.step)
    apart = over.in_parts | under.in_parts
    return ratio_of(left, other, paired=paired, clock_step=clock_step, apart=apart)
