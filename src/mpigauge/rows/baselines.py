"""Communication measured by memory: what a message costs in copies of the same size.

Source: docs/method-memory.md#messages-in-units-of-copies
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.plan.patterns import baselines, patterns_with
from mpigauge.rows.same_distance import ANYWHERE, like_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from mpigauge.plan.model import Cell
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.machine.conditions import Distances
    from mpigauge.stats.decision import Ratio

MESSAGES = patterns_with(lambda pattern: pattern.one_way and pattern.family == "message")
"""Patterns whose time is that of one message one way."""

YARDSTICKS = baselines()
"""What one-way times are divided by: name of the ratio to pattern and mode."""

NAMES = {kind: name for name, kind in YARDSTICKS.items()}
"""The other way round."""

LINES = patterns_with(lambda pattern: pattern.one_way and pattern.in_memory)
"""Patterns whose time is that of handing over one cache line."""

CHASES = patterns_with(lambda pattern: pattern.spans_bytes)
"""Patterns whose time is that of one load from a working set."""


def ratios_of(
    times: Mapping[Cell, Timing],
    distances: Callable[[Cell, Cell], tuple[Distances, Distances]] = lambda *_: ANYWHERE,
) -> dict[Cell, dict[str, Ratio]]:
    """Return every message's time over that of copies of its size, paired by launch.

    Args:
        distances: How far apart the ranks of two cells were in their launches, where that is known: what was
            copied over another distance is no measure of a message.
    """
    found: dict[Cell, dict[str, Ratio]] = {}
    for cell, stick in measured_in(times):
        ratio = like_ratio(times[cell], times[stick], distances(cell, stick))
        if ratio is not None:
            found.setdefault(cell, {})[NAMES[stick.pattern, stick.mode]] = ratio
    return found


def measured_in(cells: Iterable[Cell]) -> Iterator[tuple[Cell, Cell]]:
    """Yield each message with each copy of its size in the job that it is measured in."""
    cells = list(cells)
    sticks = {(c.pattern, c.mode, c.bytes, c.job): c for c in cells if c.buffers == "warm"}
    for cell in cells:
        if cell.pattern in MESSAGES:
            keys = ((*kind, cell.bytes, cell.job) for kind in YARDSTICKS.values())
            yield from ((cell, sticks[key]) for key in keys if key in sticks)
