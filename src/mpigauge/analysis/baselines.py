"""Communication measured by memory: what a message costs in copies of the same size.

Source: docs/method.md#messages-in-units-of-copies
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.analysis.ratios import ratio_between
from mpigauge.plan.patterns import baselines, patterns_with

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def ratios_of(times: Mapping[Cell, Timing]) -> dict[Cell, dict[str, Ratio]]:
    """Every message's time over that of copies of its size, paired by launch."""
    sticks: dict[tuple[object, ...], Timing] = {
        (c.pattern, c.mode, c.bytes, c.job): mine for c, mine in times.items() if c.buffers == "warm"
    }
    found: dict[Cell, dict[str, Ratio]] = {}
    for cell, mine in times.items():
        if cell.pattern not in MESSAGES:
            continue
        for name, (pattern, mode) in YARDSTICKS.items():
            under = sticks.get((pattern, mode, cell.bytes, cell.job))
            ratio = ratio_between(mine, under, paired=True) if under else None
            if ratio is not None:
                found.setdefault(cell, {})[name] = ratio
    return found
