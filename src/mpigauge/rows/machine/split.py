"""The states that a machine was in: near or far, as the handing over of a cache line tells.

A virtual machine whose cores are moved about, ranks that are not bound, or bound otherwise from launch to
launch: small messages then have several times, each as good as the other, and their mean is none of them.
Source: docs/method-launches.md#states-of-the-machine
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from mpigauge.plan.groups import group_asked
from mpigauge.rows.group import Subject
from mpigauge.rows.machine.conditions import condition_of, readings_of
from mpigauge.rows.machine.rank_groups import by_seat
from mpigauge.sequences import group_by
from mpigauge.stats.kmeans import best_split
from mpigauge.vocabulary import STATE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch, Visit
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import CoreBinding, Distance, StateChoice, StateName

    Found = NDArray[np.intp]

MAX_STATES = 3
MIN_FACTOR = 1.3
"""Between the hand-over times of neighbouring states."""

MAX_WITHIN = {2: 0.1, 3: 0.05}
"""What may be left of the squares of ln(hand-over time) within so many states. Times that are spread evenly,
in which there is nothing to tell apart, leave 1/4 within two parts and 1/9 within three."""

MIN_SHARE = 0.02
"""Of the visits, in a state ..."""

MIN_EPISODES = 2
"""... or else how often the machine was in it, for as many visits in a row."""

HEADLINE_SHARE = 0.8
"""Of the time: a state that has more stands for the machine."""

ASKED_SHARE = 0.2
"""Of the time: a state that has so much is to be measured precisely, too."""

MIN_VISITS = 2
"""Of a launch in a state, so that it stands for the launch there."""

SPLIT = "split"
"""Name under which a result keeps its split."""


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


@dataclass(frozen=True, slots=True)
class SplitPart:
    """The visits of a cell in one state; of all of them where `state` is None.

    Attributes:
        visits: Those of launches that have enough of them.
    """

    state: StateName | None
    visits: tuple[Visit, ...]

    def subject(self, cell: Cell) -> Subject:
        """Return what its number is of: its cell, in its state."""
        return Subject(cell, self.state)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The visits of a result, parted by the state of the machine; no state where it was always the same.

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

    def __bool__(self) -> bool:
        """Return whether there are several states."""
        return bool(self.states)

    def of(self, visit: Visit) -> StateName | None:
        """Return the state that a visit counts in; None if it was between two, or if there are none."""
        return self.names.get(id(visit))

    def knows(self, visit: Visit) -> bool:
        """Return whether a visit was made in a state or between two."""
        return id(visit) in self.names

    @property
    def usual(self) -> StateName | None:
        """The state with most of the time; None if there are none."""
        return max(self.states, key=lambda state: state.time_share).name if self.states else None

    @property
    def unchosen(self) -> frozenset[StateName]:
        """States that tables have unless one is chosen: that which stands for the machine, else each."""
        each = {state.of: self.headline(state.of) for state in self.states}
        return frozenset(s.name for s in self.states if each[s.of] in {None, s.name})

    def parts(self, visits: Sequence[Visit]) -> list[SplitPart]:
        """Return a cell's visits by state, from near to far; one part without a name if nothing parts them.

        A launch counts in a state with two visits or all that it has. Visits of which nothing is known, and
        those of a cell that was never long enough in one state, stay together.
        """
        if not any(self.knows(visit) for visit in visits):
            return [SplitPart(None, tuple(visits))]
        made = Counter(visit.launch for visit in visits)
        named = group_by(visits, self.of)
        found = [SplitPart(name, _of_launches(named.get(name, ()), made)) for name in STATE_NAMES]
        return [one for one in found if one.visits] or [SplitPart(None, tuple(visits))]

    def shown(self, parts: Sequence[SplitPart], choice: StateChoice | None) -> list[SplitPart]:
        """Return the parts that a table has: the one that was chosen, the machine's usual one, else all.

        Args:
            choice: None for the usual.

        Returns:
            Nothing if the cell was not measured in the state that was chosen.
        """
        if [one.state for one in parts] == [None] or choice == "all":
            return list(parts)
        name = choice or self.headline(self._distance(parts))
        of_it = [one for one in parts if one.state == name]
        return of_it if of_it or choice else list(parts)

    def asked_for(self, parts: Sequence[SplitPart]) -> list[SplitPart]:
        """Return the parts in which a campaign is to be precise; one that the cell was never in is empty."""
        if [one.state for one in parts] == [None]:
            return list(parts)
        mine = {one.state: one for one in parts}
        return [mine.get(name, SplitPart(name, ())) for name in self._asked(self._distance(parts))]

    def is_short(self, state: StateName | None) -> bool:
        """Return whether a state had so little of the time that no precision was asked for in it."""
        return any(state == one.name and state not in self._asked(one.of) for one in self.states)

    def _distance(self, parts: Sequence[SplitPart]) -> Distance:
        """Return what tells the state of a cell's visits; never lines and paths in one cell."""
        visits = (visit for part in parts for visit in part.visits)
        known = (condition.of for visit in visits if (condition := condition_of(visit)) is not None)
        return next(known, self.states[0].of)

    def headline(self, of: Distance) -> StateName | None:
        """Return the state that stands for the machine; None if none has that much of the time."""
        return next((s.name for s in self.states if s.of == of and s.time_share > HEADLINE_SHARE), None)

    def _asked(self, of: Distance) -> list[StateName]:
        """Return the states in which precision is asked for: the one with most of the time, all with much."""
        mine = sorted((s for s in self.states if s.of == of), key=lambda s: -s.time_share)
        return [s.name for number, s in enumerate(mine) if number == 0 or s.time_share >= ASKED_SHARE]


NO_SPLIT = Split()


def split_of(result: Result) -> Split:
    """Return the split of a result: made when it is first asked for, and anew when it has other visits."""
    visits, count, known = result.memo.get(SPLIT, (None, 0, NO_SPLIT))
    if visits is result.visits and count == len(result.visits):
        return cast("Split", known)
    split = split_visits(result.visits)
    with_split(result, split)
    return split


def is_split(result: Result) -> bool:
    """Return whether the machine had several states while a result was measured."""
    return bool(split_of(result))


def with_split(result: Result, split: Split) -> Result:
    """Return the same result with a split that was made of more visits than it has."""
    result.memo[SPLIT] = result.visits, len(result.visits), split
    return result


def split_visits(visits: Sequence[Visit]) -> Split:
    """Return the states that visits were made in, and which were made in each.

    Args:
        visits: In the order of time, of all cells. Those of a map are in no state, nor those of groups that
            are measured at once and alone: how far their ranks are from each other is what they are about.
    """
    mine = [visit for visit in visits if not (visit.cell.pair or group_asked(visit.cell))]
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
    split = Split(tuple(states), len(between), share, visits if names else (), names)
    return replace(split, names=names | dict(_of_waiting(split, mine)))


def _of_waiting(split: Split, visits: Sequence[Visit]) -> Iterator[tuple[int, StateName]]:
    """Yield visits of which nothing is known, as of ranks that waited for a core, with where they count.

    That is the state that stands for the machine, if there is one and others of the same ranks are known.
    """
    standing = {of: name for of in dict.fromkeys(s.of for s in split.states) if (name := split.headline(of))}
    if not standing or len(split.names) == len(visits):
        return
    for places in by_seat(visits):
        mine = [visits[place] for place in places]
        known = next((one.of for visit in filter(split.knows, mine) if (one := condition_of(visit))), None)
        if known in standing:
            yield from ((id(visit), standing[known]) for visit in mine if not split.knows(visit))


def _of_launches(mine: Sequence[Visit], made: Counter[int]) -> tuple[Visit, ...]:
    """Return visits without those of launches in which they are too few."""
    counts = Counter(visit.launch for visit in mine)
    return tuple(visit for visit in mine if counts[visit.launch] >= min(MIN_VISITS, made[visit.launch]))


def _states(
    of: Distance, visits: Sequence[Visit], logs: Values, found: Found, order: Sequence[StateName]
) -> Iterable[State]:
    """Yield what is said of each state.

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
    """Return the states one after the other without what is between, and for how many visits each went on."""
    known = found[found >= 0]
    begins = np.flatnonzero(np.diff(known, prepend=-1))
    return known[begins], np.diff(begins, append=known.size)


# ---- Where the ranks were ------------------------------------------------------------------------


def core_binding(launches: Iterable[Launch]) -> CoreBinding:
    """Return whether ranks were bound, and to the same cores in all launches; the worst of all jobs."""
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
    """Return the state of each visit, from 0, and -1 where it changed, and their names; none of a single one.

    Args:
        logs: Of the readings, shape ``(visits, 2)``.
    """
    for number in range(MAX_STATES, 1, -1):
        borders, within = best_split(logs.ravel(), number)
        if not borders or within >= MAX_WITHIN[number]:
            continue
        places = np.searchsorted(borders, logs)
        centres = np.array([logs[places == place].mean() for place in range(number)])
        if np.diff(centres).min() <= math.log(MIN_FACTOR):
            continue
        found = np.where(places[:, 0] == places[:, 1], places[:, 0], -1)
        if _often_enough(found, number) and _seats_share(found, visits, logs, places):
            return found, STATE_NAMES if number == MAX_STATES else (STATE_NAMES[0], STATE_NAMES[-1])
    return np.array([], dtype=np.intp), ()


def _often_enough(found: Found, number: int) -> bool:
    """Return whether each state has its share of the visits, or more than one episode of several visits."""
    return len(_often(found)) == number


def _often(found: Found) -> set[int]:
    """Return the states that have that."""
    runs, lengths = _runs(found)

    def is_often(state: int) -> bool:
        episodes = np.count_nonzero((runs == state) & (lengths >= MIN_EPISODES))
        return bool(np.count_nonzero(found == state) >= MIN_SHARE * found.size or episodes >= MIN_EPISODES)

    return {state for state in np.unique(found[found >= 0]).tolist() if is_often(state)}


def _lasting(found: Found) -> set[int]:
    """Return the states that the same ranks were in often, and in more visits than saw the machine change.

    What only now and then takes as long as others take from farther away was late on its way.
    """
    changes = np.count_nonzero(found < 0)
    return {state for state in _often(found) if np.count_nonzero(found == state) > changes}


def _seats_share(found: Found, visits: Sequence[Visit], logs: Values, places: Found) -> bool:
    """Return whether the same ranks were in several states, and thereby all states are of one machine.

    Others are far from each other by where they sit. Ranks are the same in visits of one pattern in one job.
    What is left within their states must be as little as is asked of all visits together, in which the way
    from host to host may outweigh all else.
    """
    several = (_lasting(found[mine]) for mine in by_seat(visits) if _fall_apart(logs[mine], places[mine]))
    parts: list[set[int]] = [{state} for state in _often(found)]
    for states in several:
        joined = [part for part in parts if part & states]
        parts = [part for part in parts if not part & states] + ([set().union(*joined)] if joined else [])
    return len(parts) == 1


def _fall_apart(logs: Values, places: Found) -> bool:
    """Return whether little is left of the squares within states, those that lie between two included."""
    within = sum(
        logs[places == place].var() * np.count_nonzero(places == place) for place in np.unique(places)
    )
    return bool(within < MAX_WITHIN[2] * logs.var() * logs.size)
