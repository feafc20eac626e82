"""The states that a machine was in: near or far, as the handing over of a cache line tells.

A virtual machine whose cores are moved about, ranks that are not bound, or bound otherwise from launch to
launch: small messages then have several times, each as good as the other, and their mean is none of them.
Source: docs/method.md#states-of-the-machine
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.machine.conditions import readings_of
from mpigauge.rows.machine.rank_groups import by_seat
from mpigauge.stats.kmeans import best_split
from mpigauge.vocabulary import STATE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mpigauge.plan.model import JobKey
    from mpigauge.result.records import Launch, Visit
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import Distance, Seats, StateName

    Found = NDArray[np.intp]

STATES_MOST = 3
FACTOR_LEAST = 1.3
"""Between the hand-over times of neighbouring states."""

WITHIN_MOST = {2: 0.1, 3: 0.05}
"""What may be left of the squares of ln(hand-over time) within so many states. Times that are spread evenly,
in which there is nothing to tell apart, leave 1/4 within two parts and 1/9 within three."""

SHARE_LEAST = 0.02
"""Of the visits, in a state ..."""

EPISODES_LEAST = 2
"""... or else how often the machine was in it, for as many visits in a row."""

HEADLINE_SHARE = 0.8
"""Of the time: a state that has more stands for the machine."""

ASKED_SHARE = 0.2
"""Of the time: a state that has so much is to be measured precisely, too."""


@dataclass(frozen=True, slots=True)
class State:
    """One of the states that a machine was in.

    Attributes:
        name: By order: near, far, and mid between them.
        of: What was handed over: a cache line (line) or an empty message between hosts (path).
        handover_s: How long that took, one way: geometric mean of its visits.
        visits: How many were made in it.
        time_share: Of the time of all visits of which that is known, between states included.
        episodes: How often the machine came into it, as far as visits tell.
    """

    name: StateName
    of: Distance
    handover_s: float
    visits: int
    time_share: float
    episodes: int


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """The states of a result and whose visits are in which; none where the machine was always the same.

    Attributes:
        states: Of each distance from near to far.
        between: Visits that saw the machine change: in no state.
        between_share: Of the time.
        visits: All of them; as long as they are here, nothing else has their identity.
        names: The state by the identity of a visit: to compare cells of many visits would take long.
    """

    states: tuple[State, ...] = ()
    between: int = 0
    between_share: float = 0.0
    visits: Sequence[Visit] = ()
    names: Mapping[int, StateName | None] = field(default_factory=dict)

    def of(self, visit: Visit) -> StateName | None:
        """The state that a visit was made in; None if it was between two, or if there are none."""
        return self.names.get(id(visit))

    def knows(self, visit: Visit) -> bool:
        """Whether it was made in a state or between two."""
        return id(visit) in self.names

    @property
    def usual(self) -> StateName | None:
        """The state with most of the time; None if there are none."""
        return max(self.states, key=lambda state: state.time_share).name if self.states else None

    def headline(self, of: Distance) -> StateName | None:
        """The state that stands for the machine; None if none has that much of the time."""
        return next((s.name for s in self.states if s.of == of and s.time_share > HEADLINE_SHARE), None)

    def asked(self, of: Distance) -> list[StateName]:
        """The states in which precision is asked for: the one with most of the time, and all with much."""
        mine = sorted((s for s in self.states if s.of == of), key=lambda s: -s.time_share)
        return [s.name for number, s in enumerate(mine) if number == 0 or s.time_share >= ASKED_SHARE]


def states_of(visits: Sequence[Visit]) -> States:
    """The states that visits were made in.

    Args:
        visits: In the order of time, of all cells. Those of a map are in no state: how far its pairs are from
            each other is what it is about.
    """
    mine = [visit for visit in visits if not visit.cell.pair]
    names: dict[int, StateName | None] = {}
    states: list[State] = []
    between: list[Visit] = []
    for of, (places, readings) in readings_of(mine).items():
        known = [mine[place] for place in places]
        logs = np.log(readings)
        found, order = _found(logs, known)
        if not order:
            continue
        # One more for what is between: -1 is the last.
        labels = (*order, None)
        names |= {id(visit): labels[state] for visit, state in zip(known, found.tolist(), strict=True)}
        states += _states(of, known, logs.mean(axis=1), found, order)
        between += [known[place] for place in np.flatnonzero(found < 0)]
    known_s = math.fsum(visit.elapsed_s for visit in visits if id(visit) in names) if names else 0.0
    share = math.fsum(visit.elapsed_s for visit in between) / known_s if known_s else 0.0
    return States(tuple(states), len(between), share, visits if names else (), names)


def _states(
    of: Distance, visits: Sequence[Visit], logs: Values, found: Found, order: Sequence[StateName]
) -> Iterable[State]:
    """What is said of each state.

    Args:
        logs: Of the hand-over time of each visit, shape ``(visits,)``.
        found: The state of each, -1 between two.
    """
    spent_s = np.fromiter((visit.elapsed_s for visit in visits), np.float64, len(visits))
    whole_s = math.fsum(spent_s)
    runs, _ = _runs(found)
    for state, name in enumerate(order):
        members = found == state
        count = int(np.count_nonzero(members))
        if count:
            yield State(
                name=name,
                of=of,
                handover_s=math.exp(float(logs[members].mean())),
                visits=count,
                time_share=math.fsum(spent_s[members]) / whole_s if whole_s > 0 else count / found.size,
                episodes=int(np.count_nonzero(runs == state)),
            )


def _runs(found: Found) -> tuple[Found, Found]:
    """The states one after the other without what is between, and for how many visits each went on."""
    known = found[found >= 0]
    begins = np.flatnonzero(np.diff(known, prepend=-1))
    return known[begins], np.diff(begins, append=known.size)


# ---- Where the ranks were ------------------------------------------------------------------------


def seats_of(launches: Iterable[Launch]) -> Seats:
    """Whether ranks were bound, and to the same cores in all launches of a job; the worst of all jobs."""
    jobs: dict[JobKey, set[tuple[tuple[str, str], ...]]] = defaultdict(set)
    for launch in launches:
        if launch.job.ranks > 1:
            jobs[launch.job].add(tuple((place.host, place.cpus) for place in launch.ranks_at))
    if not jobs:
        return "unknown"
    if any(not cpus.isdigit() for seats in jobs.values() for seat in seats for _, cpus in seat):
        return "free"
    return "fixed" if all(len(seats) == 1 for seats in jobs.values()) else "changed"


# ---- How many there are --------------------------------------------------------------------------


def _found(logs: Values, visits: Sequence[Visit]) -> tuple[Found, Sequence[StateName]]:
    """The state of each visit, from 0, and -1 where it changed, with their names; no name of one state only.

    Args:
        logs: Of the readings, shape ``(visits, 2)``.
    """
    for number in range(STATES_MOST, 1, -1):
        borders, within = best_split(logs.ravel(), number)
        if not borders or within >= WITHIN_MOST[number]:
            continue
        places = np.searchsorted(borders, logs)
        centres = np.array([logs[places == place].mean() for place in range(number)])
        if np.diff(centres).min() <= math.log(FACTOR_LEAST):
            continue
        found = np.where(places[:, 0] == places[:, 1], places[:, 0], -1)
        if _often_enough(found, number) and _one_seat_has_two(found, visits, logs, places):
            return found, STATE_NAMES if number == STATES_MOST else (STATE_NAMES[0], STATE_NAMES[-1])
    return np.array([], dtype=np.intp), ()


def _often_enough(found: Found, number: int) -> bool:
    """Whether each state has its share of the visits, or more than one episode of several visits."""
    runs, lengths = _runs(found)
    for state in range(number):
        episodes = np.count_nonzero((runs == state) & (lengths >= EPISODES_LEAST))
        if np.count_nonzero(found == state) < SHARE_LEAST * found.size and episodes < EPISODES_LEAST:
            return False
    return True


def _one_seat_has_two(found: Found, visits: Sequence[Visit], logs: Values, places: Found) -> bool:
    """Whether the same ranks were in two states: others are far from each other by where they sit.

    Ranks are the same in visits of one pattern in one job. What is left within their states must be as
    little as is asked of all visits together, in which the way from host to host may outweigh all else.
    """
    return any(
        _several_often(found[mine]) and _fall_apart(logs[mine], places[mine]) for mine in by_seat(visits)
    )


def _several_often(found: Found) -> bool:
    counts = np.bincount(found[found >= 0], minlength=STATES_MOST)
    return bool(np.count_nonzero(counts >= EPISODES_LEAST) > 1)


def _fall_apart(logs: Values, places: Found) -> bool:
    """Whether little is left of the squares within states, those that lie between two included."""
    within = sum(
        logs[places == place].var() * np.count_nonzero(places == place) for place in np.unique(places)
    )
    return bool(within < WITHIN_MOST[2] * logs.var() * logs.size)
