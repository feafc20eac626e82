"""How quiet a machine was while it was watched, as facts: docs/numbers-verbs.md#doctor---watch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.machine.conditions import condition_of, is_disturbed
from mpigauge.rows.machine.speeds import speeds_of
from mpigauge.rows.machine.split import State, split_visits
from mpigauge.rows.machine.steadiness import core_sharing, stolen_share
from mpigauge.units import NS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.records import Launch, Visit

STALL = 1.5
"""Fixed work that takes so many times the least was interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What was seen of a machine; None is what could not be seen.

    Attributes:
        seconds: How long it was watched.
        looks: Short stretches of work that were looked at.
        disturbed_share: Of them, those that something else disturbed.
        lost_share: Of their time, in which the work was ready to run and had no core, or was stopped.
        stolen_share: Of the time of all cores, what a hypervisor took.
        slowdown: How many times the least the same work took in one of twenty looks.
        usual_share: Of the looks, those at the speed that the machine had most of the time.
        shared_share: Of the looks, those in which another hardware thread used the same core.
        shared_slowdown: How many times the least arithmetic took in them, in the middle.
        line_s: Handing over a cache line from core to core, one way, in the middle.
        states: Distances of the cores, if there were several.
        moves: How often a rank ended a look on another core than it began on.
    """

    seconds: float
    looks: int
    disturbed_share: float | None = None
    lost_share: float | None = None
    stolen_share: float | None = None
    slowdown: float | None = None
    usual_share: float | None = None
    shared_share: float | None = None
    shared_slowdown: float | None = None
    line_s: float | None = None
    states: tuple[State, ...] = ()
    moves: int | None = None


def watched_by_ranks(
    visits: Sequence[Visit], seconds: float, cores: int, launches: Sequence[Launch] = ()
) -> Watched:
    """Return what is seen of a machine by two ranks that hand a cache line to each other.

    Args:
        seconds: How long it took, pauses between launches included.
        cores: That the machine has.
        launches: Of the visits.
    """
    known = [visit for visit in visits if is_disturbed(visit) is not None]
    lines_s = [condition.middle_s for visit in visits if (condition := condition_of(visit))]
    sharing, speeds = core_sharing(visits, launches), speeds_of(visits)
    moves = [visit.moves for visit in visits if visit.moves >= 0]
    return Watched(
        seconds=seconds,
        looks=len(visits),
        disturbed_share=sum(bool(is_disturbed(one)) for one in known) / len(known) if known else None,
        lost_share=_share([max(0, one.wait_ns) for one in known], known),
        stolen_share=stolen_share(visits, cores),
        slowdown=_slowdown([ns for visit in visits for ns in visit.alu_ns]),
        usual_share=speeds.usual_share if speeds else None,
        shared_share=sharing.share if sharing else None,
        shared_slowdown=sharing.slowdown if sharing else None,
        line_s=float(np.median(lines_s)) if lines_s else None,
        states=split_visits(visits).states,
        moves=sum(moves) if moves else None,
    )


def watched_alone(work_ns: Sequence[int], seconds: float, stolen_s: float, cores: int) -> Watched:
    """Return what is seen of a machine by one process at constant work: where there is no MPI library.

    Args:
        work_ns: What it took each time.
        stolen_s: What a hypervisor took meanwhile, of all cores.
        cores: That the machine has.
    """
    times_ns = np.asarray(work_ns, dtype=float)
    if not times_ns.size:
        return Watched(seconds=seconds, looks=0)
    stalled = times_ns > STALL * times_ns.min()
    lost_ns = float((times_ns[stalled] - times_ns.min()).sum())
    return Watched(
        seconds=seconds,
        looks=times_ns.size,
        disturbed_share=float(stalled.mean()),
        lost_share=lost_ns / float(times_ns.sum()),
        stolen_share=stolen_s / (cores * seconds) if seconds > 0 else None,
        slowdown=_slowdown(work_ns),
    )


def _share(lost_ns: Sequence[int], visits: Sequence[Visit]) -> float | None:
    whole_s = sum(visit.elapsed_s for visit in visits)
    return sum(lost_ns) * NS / whole_s if whole_s > 0 else None


def _slowdown(times_ns: Sequence[float]) -> float | None:
    known = [ns for ns in times_ns if ns > 0]
    return float(np.percentile(known, 95)) / min(known) if known else None
