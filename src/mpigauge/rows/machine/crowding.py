"""Ranks that did not have a processor, or a core, of their own.

Source: docs/method-collectives.md#more-ranks-than-cores

How many ranks and cores there are does not tell how ranks are bound. The kernel says where each may run, and
gives way by the same rule where they are too many for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from mpigauge.plan.groups import ranks_in
from mpigauge.result.cpu_lists import ranges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.kernel_data import RankPlace
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch, Visit

MAX_CPUS = 8192
"""A list of more is none of a machine that the kernel knows."""

CUT = "..."
"""At the end of a list for which the kernel had no more room."""

OLDER_CUT = range(230, 256)
"""Characters of a list that an older kernel may have cut without a mark."""

BINDS = re.compile(r"(?<!S)PIN|BIND|AFFINITY|RANKFILE|CPU_?(SET|LIST)", re.IGNORECASE)
"""Parts (no SPIN) of the names of variables that say where ranks may run."""

GIVES_WAY = re.compile(r"YIELD|PROGRESS_THROTTLE$")
"""Parts of the names of variables that make waiting ranks yield, unless they are 0."""

PROGRESS = re.compile(r"ASYNC_PROGRESS$")
"""Parts of the names of variables that give every rank a progress thread."""

Lacks = Literal["processor", "core"]
Cpus = frozenset[int]


@dataclass(frozen=True, slots=True)
class Crowd:
    """Ranks of one host that are more than the processors, or the cores, that they may run on.

    Attributes:
        lacks: What at least one of them has not for itself.
        host: Its name.
        ranks: Their numbers.
        cpus: The processors.
        bound: Whether each of them may run on one processor only.
        threads: How many a rank has that keep looking for messages.
    """

    lacks: Lacks
    host: str
    ranks: tuple[int, ...]
    cpus: tuple[int, ...]
    bound: bool
    threads: int = 1


class Crowding:
    """The crowds of a result, by what the launches of its jobs said.

    Attributes:
        binding: Variables by which the user has said where ranks may run: "I_MPI_PIN_PROCESSOR_LIST=1,1".
        progress: Those that give every rank a thread that looks for messages.
    """

    def __init__(self, result: Result) -> None:
        self._patterns: Mapping[str, Pattern] = {one.name: one for one in result.campaign.patterns}
        self._launches: dict[JobKey, list[Launch]] = {}
        self._found: dict[tuple[JobKey, Sequence[int]], Crowd | None] = {}
        self._environment = result.campaign.environment.variables
        plan = result.campaign.plan
        self._cores = result.campaign.environment.cores if not plan.hosts or plan.lab is not None else 0
        for launch in result.launches:
            self._launches.setdefault(launch.job, []).append(launch)
        self.binding = _named(BINDS, self._environment)
        self.progress = _named(PROGRESS, self._environment)

    def of(self, cell: Cell) -> Crowd | None:
        """Return the ranks of a cell that were too many for their processors, else for their cores.

        Ranks that take no part in a cell sleep, but for groups that are measured at once.
        """
        pattern = self._patterns.get(cell.pattern)
        active = range(cell.ranks) if cell.groups else ranks_in(cell, pattern)
        if (cell.job, active) not in self._found:
            self._found[cell.job, active] = self._crowd(cell.job, active)
        return self._found[cell.job, active]

    def lacks_processors(self, cell: Cell) -> bool:
        """Return whether ranks of a cell waited for each other's processor.

        Nothing tells then whether something else had it, too.
        """
        if 0 < self._cores < cell.ranks:
            return True
        crowd = self.of(cell)
        return crowd is not None and crowd.lacks == "processor"

    def cause_of(self, crowd: Crowd | None) -> str:
        """Return the variables that bind ranks so, or add threads to them; empty if none is known."""
        if crowd is None:
            return ""
        return " ".join(self.progress if crowd.threads > 1 else self.binding)

    def is_told(self, job: JobKey) -> bool:
        """Return whether the library was told that waiting ranks must give way."""
        set_ = [self._environment, *(one.variables for one in self._launches.get(job, ()))]
        return any(value != "0" and GIVES_WAY.search(name) for given in set_ for name, value in given.items())

    def _crowd(self, job: JobKey, active: Sequence[int]) -> Crowd | None:
        placements = {
            tuple((one.host, one.cpus, one.cores, one.threads) for one in launch.ranks_at): launch.ranks_at
            for launch in self._launches.get(job, ())
        }
        found = [crowd for one in placements.values() if (crowd := crowd_of(one, active)) is not None]
        return min(found, key=lambda one: one.lacks != "processor", default=None)


def with_processors(result: Result) -> list[Visit]:
    """Return the visits of cells whose ranks had a processor each."""
    crowding = Crowding(result)
    lacking = {cell for cell in result.campaign.cells if crowding.lacks_processors(cell)}
    return [visit for visit in result.visits if visit.cell not in lacking]


def crowd_of(places: Sequence[RankPlace], ranks: Sequence[int]) -> Crowd | None:
    """Return those of these ranks that are too many for their processors, else for their cores.

    Args:
        ranks: Each above those before it.
    """
    hosts: dict[str, list[int]] = {}
    for rank in ranks[: len(places)]:  # a file may claim many more than it has places of
        if rank < len(places):
            hosts.setdefault(places[rank].host, []).append(rank)
    lacking: tuple[Lacks, ...] = ("processor", "core")
    found = (_on_host(places, mine, lacks) for lacks in lacking for mine in hosts.values())
    return next((crowd for crowd in found if crowd is not None), None)


def _on_host(places: Sequence[RankPlace], mine: Sequence[int], lacks: Lacks) -> Crowd | None:
    threads = max(places[rank].threads for rank in mine) if lacks == "processor" else 1
    may = {rank: _cpus(places[rank].cpus if lacks == "processor" else places[rank].cores) for rank in mine}
    if (seats := _too_few({rank: cpus for rank, cpus in may.items() if cpus}, max(1, threads))) is None:
        return None
    crowd = tuple(rank for rank, cpus in may.items() if cpus and cpus <= seats)
    on = frozenset[int]().union(*(_cpus(places[rank].cpus) for rank in crowd))
    bound = all(len(_cpus(places[rank].cpus)) == 1 for rank in crowd)
    return Crowd(lacks, places[mine[0]].host, crowd, tuple(sorted(on)), bound, max(1, threads))


def _too_few(may: Mapping[int, Cpus], threads: int) -> Cpus | None:
    """Return processors that more ranks need than there are; None if every rank can have one for each thread.

    Source:
        Augmenting paths of a bipartite matching; what a failed search has reached violates Hall's condition.
    """
    had: dict[int, int] = {}  # by which taker a processor is had
    seat: dict[int, int] = {}
    takers = [rank for rank in may for _ in range(threads)]
    for newcomer in range(len(takers)):
        reached: dict[int, int] = {}
        queue = [newcomer]
        free = None
        for taker in queue:
            new = may[takers[taker]] - reached.keys()
            reached |= dict.fromkeys(new, taker)
            free = next((cpu for cpu in new if cpu not in had), None)
            if free is not None:
                break
            queue += [had[cpu] for cpu in new]
        if free is None:
            return frozenset(reached)
        while free is not None:
            taker = reached[free]
            had[free] = taker
            seat[taker], free = free, seat.get(taker)
    return None


@lru_cache(maxsize=4096)
def _cpus(text: str) -> Cpus:
    """Return the processors of a list; none if it may be cut, or names more than a machine has.

    Ranks of large jobs have the same few lists.
    """
    parts = [] if text.endswith(CUT) or len(text) in OLDER_CUT else ranges(text)
    if sum(map(len, parts)) > MAX_CPUS:
        return frozenset()
    return frozenset(cpu for part in parts for cpu in part)


def _named(names: re.Pattern[str], variables: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in variables.items() if names.search(name))
