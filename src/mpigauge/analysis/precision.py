"""How precise a campaign is so far: each cell, in every state of the machine that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.analysis.by_state import asked_for, by_state
from mpigauge.analysis.samples import NO_STEPS, by_cell, half_widths
from mpigauge.analysis.states import states_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.analysis.samples import Steps
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Visit


def widths_asked(visits: Sequence[Visit], steps: Steps = NO_STEPS) -> dict[Cell, float | None]:
    """Relative half-width of every cell's interval, the widest of the states in which precision is asked for.

    That is the state that has most of the time, and every other that has a fifth of it. Where the machine has
    one state only, it is the width of the one interval that there is.

    Args:
        visits: In the order of time, of all cells.
        steps: Of the clock of each job.

    Returns:
        None where an interval is missing in one of these states.

    Source:
        docs/method.md#states-of-the-machine
    """
    states = states_of(visits)
    if not states.states:
        return half_widths(visits, steps)
    widths: dict[Cell, float | None] = {}
    for cell, mine in by_cell(visits).items():
        parts = asked_for(by_state(mine, states), states)
        found = [half_widths(part.visits, steps).get(cell) for part in parts]
        known = [width for width in found if width is not None]
        widths[cell] = max(known) if len(known) == len(found) else None
    return widths
