"""Whether ranks had their cores for themselves: docs/method.md#shared-cores.

Two hardware threads of a core share its execution units. What runs on the other one, a tenant of the same
host or another rank, is in no counter of ours; but arithmetic that needs all units then takes longer.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.rows.machine.conditions import LEAST_NS
from mpigauge.rows.machine.rank_groups import seat_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.result.records import Launch, Visit
    from mpigauge.rows.machine.conditions import Flags, Places
    from mpigauge.stats.percentiles import Values

SHARED = 1.03
"""Times the least that this arithmetic takes, beyond what a lower frequency explains ..."""

STEPS = 3
"""... or by so many steps of the clock more than the least, if that is more."""

SHARED_MOST = 0.1
"""Of the visits: fewer are nothing to speak of."""

STEP_MOST = 0.05
"""Of the least reading: with a clock of longer steps nothing can be told."""


class CoreSharing(NamedTuple):
    """How much ranks shared their cores.

    Attributes:
        share: Of the visits of which it is known, those in which one of the ranks shared its core.
        slowdown: How many times the least the arithmetic took in them, in the middle; None if there are none.
    """

    share: float
    slowdown: float | None


def core_sharing(visits: Sequence[Visit], launches: Iterable[Launch]) -> CoreSharing | None:
    """Of many visits of these launches; None if it is known of none."""
    slowdowns, limit = _slowdowns(visits, launches)
    known = slowdowns[np.isfinite(slowdowns)]
    if not known.size:
        return None
    shared = known[known > limit]
    return CoreSharing(shared.size / known.size, float(np.median(shared)) if shared.size else None)


def on_shared_cores(visits: Sequence[Visit], launches: Iterable[Launch]) -> Flags:
    """Which visits of these launches are known to have been of shared cores, shape ``(visits,)``."""
    slowdowns, limit = _slowdowns(visits, launches)
    flags: Flags = slowdowns > limit
    return flags


def _slowdowns(visits: Sequence[Visit], launches: Iterable[Launch]) -> tuple[Values, float]:
    """How many times the least the arithmetic took that needs all units of a core, beside each visit.

    The least is that of the same ranks in the same pattern, since ranks that are bound to one core share it
    always. What was shared all the time cannot be told from a core that is slow.

    Returns:
        Shape ``(visits,)``, the larger of both readings, NaN where it is not known; and what a whole core
        does not exceed.
    """
    found = np.full(len(visits), math.nan)
    places = [place for place, visit in enumerate(visits) if visit.issue_ns and visit.alu_ns]
    flat = chain.from_iterable((*visits[place].issue_ns, *visits[place].alu_ns) for place in places)
    readings = np.fromiter(flat, np.float64, 4 * len(places)).reshape(-1, 4)
    whole = (readings > LEAST_NS).all(axis=1)
    known, readings = np.array(places, dtype=np.intp)[whole], readings[whole]
    step_ns = max((place.clock_step_ns for launch in launches for place in launch.ranks_at), default=0)
    step = step_ns / readings[:, :2].min(initial=math.inf)
    if known.size and step <= STEP_MOST:
        seats = seat_numbers([visits[place] for place in known.tolist()])
        wide, chains = (_over_least(part, seats) for part in (readings[:, :2], readings[:, 2:]))
        # A core at a lower frequency does everything slower and is not shared.
        found[known] = (wide / chains).max(axis=1)
    return found, max(SHARED, 1 + STEPS * step)


def _over_least(readings: Values, seats: Places) -> Values:
    """Readings before and after visits over the least of their seat, shape ``(visits, 2)``."""
    least = np.full(seats.max(initial=-1) + 1, math.inf)
    np.minimum.at(least, seats, readings.min(axis=1))
    over: Values = readings / least[seats, np.newaxis]
    return over
