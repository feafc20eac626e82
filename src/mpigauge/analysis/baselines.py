"""Communication measured by memory: what a message costs in copies of the same size.

Source: docs/method.md#messages-in-units-of-copies
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.analysis.like_ratio import like_ratio
from mpigauge.plan.patterns import baselines, patterns_with

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.analysis.conditions import Distances
    from mpigauge.analysis.estimate import Timing
    from mpigauge.analysis.ratios import Ratio
    from mpigauge.plan.model import Cell

MESSAGES = patterns_with(lambda pattern: pattern.one_way and pattern.talks)
"""Patterns whose time is that of one message one way."""

YARDSTICKS = baselines()
"""What one-way times are divided by: name of the ratio to pattern and mode."""

LINES = patterns_with(lambda pattern: pattern.one_way and pattern.in_memory)
"""Patterns whose time is that of handing over one cache line."""

CHASES = patterns_with(lambda pattern: pattern.spans_bytes)
"""Patterns whose time is that of one load from a working set."""


def ratios_of(
    times: Mapping[Cell, Timing], distances: Mapping[Cell, Distances] | None = None
) -> dict[Cell, dict[str, Ratio]]:
    """Every message's time over that of copies of its size, paired by launch.

    Args:
        distances: How far apart the ranks of a cell were in its launches, where that is known: what was
            copied over another distance is no measure of a message.
    """
    at = distances or {}
    sticks: dict[tuple[object, ...], tuple[Timing, Distances]] = {
        (c.pattern, c.mode, c.bytes, c.job): (mine, at.get(c, {}))
        for c, mine in times.items()
        if c.buffers == "warm"
    }
    found: dict[Cell, dict[str, Ratio]] = {}
    for cell, mine in times.items():
        if cell.pattern not in MESSAGES:
            continue
        for name, (pattern, mode) in YARDSTICKS.items():
            if (stick := sticks.get((pattern, mode, cell.bytes, cell.job))) is None:
                continue
            ratio = like_ratio(mine, stick[0], (at.get(cell, {}), stick[1]))
            if ratio is not None:
                found.setdefault(cell, {})[name] = ratio
    return found
