"""How precise a campaign is so far: each cell, in every state of the machine that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.machine.serial_correlation import widening_of
from mpigauge.rows.machine.split import split_visits
from mpigauge.rows.samples import NO_STEPS, LaunchMedianCache, by_cell, launch_medians
from mpigauge.stats.interval import interval_of
from mpigauge.stats.limits import ENOUGH_LAUNCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit
    from mpigauge.rows.machine.split import Split
    from mpigauge.rows.samples import Steps


def widths_asked(
    visits: Sequence[Visit],
    steps: Steps = NO_STEPS,
    medians: LaunchMedianCache | None = None,
    least: int = ENOUGH_LAUNCHES,
) -> dict[Cell, float | None]:
    """Return what every cell's launches alone give of its precision, the widest of the states asked for.

    That is the state that has most of the time, and every other that has a fifth of it. Where the machine has
    one state only, it is the precision of the one interval that there is.

    Args:
        visits: In the order of time, of all cells.
        steps: Of the clock of each job.
        medians: Those that are known of these visits; it learns the others.
        least: Fewer launches say nothing of how precise a cell is.

    Returns:
        None where an interval, or launches for one, are missing in one of these states.

    Source:
        docs/method-launches.md#states-of-the-machine
    """
    split, medians = split_visits(visits), medians or LaunchMedianCache()
    found = {
        cell: [launch_medians(part, steps, medians) for part in _parts(split, mine)]
        for cell, mine in by_cell(visits).items()
    }
    # As intervals of tables: launches in several states are told apart, not widened for following each other.
    widening = 1.0 if split else widening_of(known for parts in found.values() for known, _ in parts)
    widths: dict[Cell, float | None] = {}
    for cell, parts in found.items():
        each = [
            interval_of(np.array([*known.values()]), step, widening=widening).precision
            if len(known) >= max(1, least)
            else None
            for known, step in parts
        ]
        wide = [width for width in each if width is not None]
        widths[cell] = max(wide) if len(wide) == len(each) else None
    return widths


def _parts(split: Split, visits: Sequence[Visit]) -> list[Sequence[Visit]]:
    """Return the visits of a cell in each state that is asked for."""
    return [part.visits for part in split.asked_for(split.parts(visits))] if split else [visits]
