"""Whether ranks had their cores for themselves: docs/method.md#shared-cores.

Two hardware threads of a core share its execution units. What runs on the other one, a tenant of the same
host or another rank, is in no counter of ours; but arithmetic that needs all units then takes longer.
"""

from __future__ import annotations

import math
from collections import defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.analysis.conditions import LEAST_NS
from mpigauge.plan.model import JobKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.analysis.percentiles import Values
    from mpigauge.result.records import Launch, Visit

SHARED = 1.1
"""Times the least that this arithmetic takes, beyond what a lower frequency explains."""

SHARED_MOST = 0.05
"""Of the visits: fewer are nothing to speak of."""

STEP_MOST = 0.05
"""Of the least reading: with a coarser clock nothing can be told."""

_seat_of = attrgetter("pattern", *JobKey.__struct_fields__)


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
    slowdowns = slowdowns_of(visits, launches)
    known = slowdowns[np.isfinite(slowdowns)]
    if not known.size:
        return None
    shared = known[known > SHARED]
    return CoreSharing(shared.size / known.size, float(np.median(shared)) if shared.size else None)


def slowdowns_of(visits: Sequence[Visit], launches: Iterable[Launch]) -> Values:
    """How many times the least the arithmetic took that needs all units of a core, beside each visit.

    The least is that of the same ranks in the same pattern, since ranks that are bound to one core share it
    always. What was shared all the time cannot be told from a core that is slow.

    Returns:
        Shape ``(visits,)``, the larger of both readings; NaN where it is not known.
    """
    found = np.full(len(visits), math.nan)
    step_ns = max((place.clock_step_ns for launch in launches for place in launch.ranks_at), default=0)
    for places in _by_seat(visits):
        chains = np.array([visits[place].alu_ns for place in places])
        wide = np.array([visits[place].issue_ns for place in places])
        if step_ns <= STEP_MOST * wide.min():
            # A core at a lower frequency does everything slower and is not shared.
            slower = wide / wide.min() / (chains / chains.min())
            found[places] = slower.max(axis=1)
    return found


def _by_seat(visits: Sequence[Visit]) -> Iterable[list[int]]:
    """Places of the visits with readings, of each pattern and its ranks; a pair of a map is one, too."""
    seats: dict[object, list[int]] = defaultdict(list)
    for place, visit in enumerate(visits):
        if visit.issue_ns and visit.alu_ns and min(*visit.issue_ns, *visit.alu_ns) > LEAST_NS:
            seats[_seat_of(visit.cell), visit.cell.pair].append(place)
    return seats.values()
