"""Whether a machine stayed as fast as it was while a result was measured: docs/method.md#steadiness.

Beside every visit a fixed piece of arithmetic is timed, which has nothing to do with messages. Where it takes
longer in one launch than in another, so do messages, and the next minutes may be of neither kind.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING

from mpigauge.rows.machine.core_sharing import SHARED_MOST, core_sharing
from mpigauge.rows.machine.crowding import with_processors
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.machine.speeds import STEADY, speeds_of
from mpigauge.units import NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit

STOLEN_MOST = 0.01
"""Of the time of all cores: less is nothing."""

OTHER_SPEEDS_MOST = 0.1
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
        return self.stolen_share is not None and self.stolen_share > STOLEN_MOST

    @property
    def shares_cores(self) -> bool:
        """Whether ranks shared cores for a part of the time."""
        return self.shared_share is not None and self.shared_share > SHARED_MOST

    @property
    def has_speeds(self) -> bool:
        """Whether it ran at other speeds than the usual one for a part of the time."""
        return self.usual_share is not None and self.usual_share < 1 - OTHER_SPEEDS_MOST

    @property
    def steady(self) -> bool:
        """Whether nothing is known against it."""
        return not (self.changes or self.has_speeds or self.has_steal or self.shares_cores)


def steadiness_of(result: Result) -> Steadiness:
    """Of the machine that a result was measured on; of several hosts, what their slowest rank took."""
    speeds_s = _launch_speeds_s(result.visits)
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
    """Of the results of the first one's machine; None if it was equally fast in all of them."""
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
    """Of the time of all cores of the first rank's host; None if it is not known.

    Args:
        cores: That the host has.
    """
    known = [visit for visit in visits if visit.steal_ns >= 0]
    whole_s = cores * sum(visit.elapsed_s for visit in known)
    return sum(visit.steal_ns for visit in known) * NS / whole_s if whole_s > 0 else None


def _launch_speeds_s(visits: Iterable[Visit]) -> Sequence[float]:
    """Medians over the visits of each launch of what the arithmetic took."""
    launches: dict[int, list[float]] = defaultdict(list)
    for visit in visits:
        if visit.alu_ns and min(visit.alu_ns) > 0:
            launches[visit.launch].append(fmean(visit.alu_ns) * NS)
    return [median(times) for times in launches.values() if len(times) >= LEAST_VISITS]
