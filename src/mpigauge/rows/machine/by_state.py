"""The visits of a cell by the state that they were made in, and which states stand in a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.rows.machine.conditions import condition_of
from mpigauge.vocabulary import STATE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.result.records import Visit
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.machine.states import States
    from mpigauge.vocabulary import Distance, StateChoice, StateName

VISITS_LEAST = 2
"""Of a launch in a state, so that it stands for the launch there."""


@dataclass(frozen=True, slots=True)
class StateTime:
    """The time of a cell in one state of the machine."""

    state: StateName
    time: Timing


@dataclass(frozen=True, slots=True)
class InState:
    """The visits of a cell in one state; of all of them where `state` is None.

    Attributes:
        visits: Those of launches that have enough of them.
    """

    state: StateName | None
    visits: tuple[Visit, ...]


def by_state(visits: Sequence[Visit], states: States) -> list[InState]:
    """A cell's visits by state, from near to far.

    A launch counts in a state with two visits or all that it has. Visits of which nothing is known, and
    those of a cell that was never long enough in one state, stay together.

    Returns:
        One entry without a name if there is nothing to tell apart.
    """
    if not any(states.knows(visit) for visit in visits):
        return [InState(None, tuple(visits))]
    made = Counter(visit.launch for visit in visits)
    found = [InState(name, _of_launches(_in(name, visits, states), made)) for name in STATE_NAMES]
    return [one for one in found if one.visits] or [InState(None, tuple(visits))]


def _in(name: StateName, visits: Iterable[Visit], states: States) -> list[Visit]:
    return [visit for visit in visits if states.of(visit) == name]


def _of_launches(mine: Sequence[Visit], made: Counter[int]) -> tuple[Visit, ...]:
    """Without those of launches in which they are too few."""
    counts = Counter(visit.launch for visit in mine)
    return tuple(visit for visit in mine if counts[visit.launch] >= min(VISITS_LEAST, made[visit.launch]))


def shown(found: Sequence[InState], states: States, choice: StateChoice | None) -> list[InState]:
    """Which of them a table has: the one that was chosen, the machine's usual one, else all.

    Args:
        choice: None for the usual.

    Returns:
        Nothing if the cell was not measured in the state that was chosen.
    """
    if [one.state for one in found] == [None] or choice == "all":
        return list(found)
    name = choice or states.headline(_distance(found))
    of_it = [one for one in found if one.state == name]
    return of_it if of_it or choice else list(found)


def asked_for(found: Sequence[InState], states: States) -> list[InState]:
    """In which of them a campaign is to be precise; one that the cell was not measured in is empty."""
    if [one.state for one in found] == [None]:
        return list(found)
    mine = {one.state: one for one in found}
    return [mine.get(name, InState(name, ())) for name in states.asked(_distance(found))]


def _distance(found: Sequence[InState]) -> Distance:
    """What tells their state; ranks of several hosts have lines and paths, but never both in one cell."""
    condition = condition_of(found[0].visits[0])
    assert condition is not None  # noqa: S101 - its state is known by it
    return condition.of
