"""Whether a machine stayed as fast as it was while a result was measured: docs/method-launches.md#steadiness.

Beside every visit a fixed piece of arithmetic is timed, which has nothing to do with messages. Where it takes
longer in one launch than in another, so do messages, and the next minutes may be of neither kind.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.errors import UsageError
from mpigauge.rows.machine.conditions import LEAST_NS, is_disturbed
from mpigauge.rows.machine.crowding import with_processors
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.machine.rank_groups import seat_numbers
from mpigauge.rows.machine.speeds import STEADY, at_other_speeds, in_densest, speeds_of
from mpigauge.rows.machine.split import split_of, with_split
from mpigauge.units import NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch, Visit
    from mpigauge.rows.machine.conditions import Flags, Places
    from mpigauge.stats.percentiles import Values


MAX_STOLEN = 0.01
"""Of the time of all cores: less is nothing."""

MAX_OTHER_SPEEDS = 0.1
"""Of the visits: fewer are nothing to speak of."""

LEAST_VISITS = 4
"""Of a launch: a median of fewer says little about it."""


@dataclass(frozen=True, slots=True)
class Steadiness:
    """How fast a machine was from launch to launch, and for whom; None is what could not be seen.

    Attributes:
        middle_s: What the arithmetic took, median over launches.
        fast_s: In the fastest launch.
        slow_s: And in the slowest.
        stolen_share: Of the time of all cores, what a hypervisor took while visits were made.
        shared_share: Of the visits, those in which a rank shared the units of its core with something else.
        shared_slowdown: How many times the least arithmetic took in them, in the middle.
        usual_s: What the arithmetic took at the speed that the machine had most of the time.
        usual_share: Of the visits, those that began and ended at it.
    """

    middle_s: float | None = None
    fast_s: float | None = None
    slow_s: float | None = None
    stolen_share: float | None = None
    shared_share: float | None = None
    shared_slowdown: float | None = None
    usual_s: float | None = None
    usual_share: float | None = None

    @property
    def ratio(self) -> float | None:
        """Of the slowest launch to the fastest."""
        return self.slow_s / self.fast_s if self.fast_s and self.slow_s else None

    @property
    def changes(self) -> bool:
        """Whether its speed did."""
        return self.ratio is not None and self.ratio > STEADY

    @property
    def has_steal(self) -> bool:
        """Whether a hypervisor gave a part of it to others."""
        return self.stolen_share is not None and self.stolen_share > MAX_STOLEN

    @property
    def shares_cores(self) -> bool:
        """Whether ranks shared cores for a part of the time."""
        return self.shared_share is not None and self.shared_share > MAX_SHARED

    @property
    def has_speeds(self) -> bool:
        """Whether it ran at other speeds than the usual one for a part of the time."""
        return self.usual_share is not None and self.usual_share < 1 - MAX_OTHER_SPEEDS

    @property
    def steady(self) -> bool:
        """Whether nothing is known against it."""
        return not (self.changes or self.has_speeds or self.has_steal or self.shares_cores)


def steadiness_of(result: Result) -> Steadiness:
    """Return how steady the machine of a result was; of several hosts, what their slowest rank took."""
    speeds_s = [*_launch_speeds_s(result.visits).values()]
    # What takes the units of a core that ranks share is the other rank.
    sharing = core_sharing(with_processors(result), result.launches)
    speeds = speeds_of(result.visits)
    return Steadiness(
        median(speeds_s) if speeds_s else None,
        min(speeds_s, default=None),
        max(speeds_s, default=None),
        stolen_share(result.visits, result.campaign.environment.cores_online),
        *(sharing or (None, None)),
        *(speeds or ()),
    )


@dataclass(frozen=True, slots=True)
class SpeedsApart:
    """One machine that was slower in one result than in another.

    Attributes:
        fast: The place of the result in which it was fastest.
        slow: And slowest.
        fast_s: What the arithmetic took in the one, median over launches.
        slow_s: And in the other.
    """

    fast: int
    slow: int
    fast_s: float
    slow_s: float

    @property
    def ratio(self) -> float:
        """Of the slower to the faster."""
        return self.slow_s / self.fast_s


def speeds_apart(results: Sequence[Result]) -> SpeedsApart | None:
    """Return how far apart results of the first one's machine are in speed; None if they are not."""
    if len(results) == 1:
        return None
    machines = [(machine.host, machine.cpu) for machine in map(measured_machine, results)]
    speeds = [
        (speed_s, place)
        for place, one in enumerate(results)
        if machines[place] == machines[0] and (speed_s := steadiness_of(one).middle_s) is not None
    ]
    if not speeds:
        return None
    (fast_s, fast), (slow_s, slow) = min(speeds), max(speeds)
    return SpeedsApart(fast, slow, fast_s, slow_s) if slow_s > STEADY * fast_s else None


def stolen_share(visits: Iterable[Visit], cores: int) -> float | None:
    """Return the stolen share of the time of all cores of the first rank's host; None if it is not known.

    Args:
        cores: That the host has.
    """
    known = [visit for visit in visits if visit.steal_ns >= 0]
    whole_s = cores * sum(visit.elapsed_s for visit in known)
    return sum(visit.steal_ns for visit in known) * NS / whole_s if whole_s > 0 else None


def times_of_slowest_launch(result: Result, times_s: Iterable[Mapping[int, float]]) -> float | None:
    """Return how many times as long numbers took in the slowest launch as in the fastest, in the middle.

    Args:
        times_s: Of each number what stands for its launches.

    Returns:
        None where no number is of both launches, or one of them is not known.
    """
    speeds_s = _launch_speeds_s(result.visits)
    if not speeds_s:
        return None
    slow, fast = max(speeds_s, key=lambda one: speeds_s[one]), min(speeds_s, key=lambda one: speeds_s[one])
    ratios = [one[slow] / one[fast] for one in times_s if slow in one and one.get(fast)]
    return median(ratios) if ratios else None


def _launch_speeds_s(visits: Iterable[Visit]) -> Mapping[int, float]:
    """Return medians over the visits of each launch of what the arithmetic took."""
    launches: dict[int, list[float]] = defaultdict(list)
    for visit in visits:
        if visit.alu_ns and min(visit.alu_ns) > 0:
            launches[visit.launch].append(fmean(visit.alu_ns) * NS)
    return {launch: median(times) for launch, times in launches.items() if len(times) >= LEAST_VISITS}


# ---- Shared cores --------------------------------------------------------------------------------


SHARED = 1.03
"""Times the least that this arithmetic takes, beyond what a lower frequency explains ..."""

STEPS = 3
"""... or by so many steps of the clock more than the least, if that is more."""

MAX_SHARED = 0.1
"""Of the visits: fewer are nothing to speak of."""

MAX_STEP = 0.05
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
    """Return how much ranks shared cores in visits of these launches; None if it is known of no visit."""
    slowdowns, limit = _slowdowns(visits, launches)
    known = slowdowns[np.isfinite(slowdowns)]
    if not known.size:
        return None
    shared = known[known > limit]
    return CoreSharing(shared.size / known.size, float(np.median(shared)) if shared.size else None)


def on_shared_cores(visits: Sequence[Visit], launches: Iterable[Launch]) -> Flags:
    """Return which visits of these launches are known to have been of shared cores, shape ``(visits,)``."""
    slowdowns, limit = _slowdowns(visits, launches)
    flags: Flags = slowdowns > limit
    return flags


def on_cores_shared_more_than_usual(visits: Sequence[Visit], launches: Iterable[Launch]) -> Flags:
    """Return which visits are known to have been of cores that were shared more than most of the time.

    The least reading may be a lucky one: what the machine usually is, it is in the stretch of one value that
    has most visits.
    """
    slowdowns, limit = _slowdowns(visits, launches)
    flags: Flags = np.zeros(len(visits), dtype=bool)
    known = np.isfinite(slowdowns)
    if known.any():
        logs = np.log(slowdowns[known])
        flags[known] = logs > logs[in_densest(logs, limit)].max()
    return flags


def _slowdowns(visits: Sequence[Visit], launches: Iterable[Launch]) -> tuple[Values, float]:
    """Return how many times the least the arithmetic took that needs all units of a core, beside each visit.

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
    if known.size and step <= MAX_STEP:
        seats = seat_numbers([visits[place] for place in known.tolist()])
        wide, chains = (_over_least(part, seats) for part in (readings[:, :2], readings[:, 2:]))
        # A core at a lower frequency does everything slower and is not shared.
        found[known] = (wide / chains).max(axis=1)
    return found, max(SHARED, 1 + STEPS * step)


def _over_least(readings: Values, seats: Places) -> Values:
    """Return readings before and after visits over the least of their seat, shape ``(visits, 2)``."""
    least = np.full(seats.max(initial=-1) + 1, math.inf)
    np.minimum.at(least, seats, readings.min(axis=1))
    over: Values = readings / least[seats, np.newaxis]
    return over


# ---- Quiet visits --------------------------------------------------------------------------------


def only_quiet(result: Result) -> Result:
    """Return a result of its quiet visits: undisturbed, of cores shared no more than usual, at usual speed.

    Those of which nothing is known stay.

    Raises:
        UsageError: It is known of none.

    Source:
        docs/method-launches.md#states-of-the-machine
    """
    shared = on_cores_shared_more_than_usual(result.visits, result.launches)
    unlike = shared | at_other_speeds(result.visits)
    disturbed = [is_disturbed(visit) for visit in result.visits]
    if all(one is None for one in disturbed) and not unlike.any() and speeds_of(result.visits) is None:
        raise UsageError(
            f"{result.path}: does not know which visits were disturbed",
            "measure anew: this mpigauge counts it beside every visit",
        )
    lost = [bool(one) or other for one, other in zip(disturbed, unlike.tolist(), strict=True)]
    return _without(result, lost)


def at_usual_speed(result: Result) -> Result:
    """Return a result without the visits that were made at another speed than the usual one."""
    return _without(result, at_other_speeds(result.visits).tolist())


def _without(result: Result, lost: Sequence[bool]) -> Result:
    """Return a result without some of its visits."""
    kept: list[Visit] = []
    left_out: list[Visit] = []
    for visit, is_lost in zip(result.visits, lost, strict=True):
        (left_out if is_lost else kept).append(visit)
    return with_split(replace(result, visits=kept, left_out=left_out), split_of(result))
