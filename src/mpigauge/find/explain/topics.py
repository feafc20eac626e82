"""All topics of conclusions: TOPICS is the one list of them, in the order in which they are told.

To add one: a module of facts here, a word in `vocabulary.Topic`, and its sentence in `show.words.explain`.
A fact is a frozen dataclass with `launches`, in which it rests, and `weight`, by which the most telling
ones of a topic are chosen.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from mpigauge.find.explain import (
    contrasts,
    copies,
    eager_limits,
    first_message,
    first_round,
    lab_truth,
    plateau,
    ranks,
    send_modes,
    spread,
    waiting,
    yielding,
)
from mpigauge.plan.model import Cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.vocabulary import Topic

T = TypeVar("T")


class Fact(Protocol):
    """What all facts have."""

    @property
    def launches(self) -> int:
        """In which it rests; the fewest of its cells."""

    @property
    def weight(self) -> float:
        """How much it says, beside others of its topic."""


class Conclusion(NamedTuple):
    """A fact and what it is about."""

    topic: Topic
    fact: Fact


TOPICS: Mapping[Topic, Callable[[Evidence], Iterator[Fact]]] = {
    "place": contrasts.places,
    "library": contrasts.libraries,
    "setting": contrasts.settings,
    "mode": contrasts.modes,
    "eager-limit": eager_limits.eager_limits,
    "handshake": send_modes.handshakes,
    "buffer-copy": send_modes.buffer_copies,
    "plateau": plateau.plateaus,
    "copies": copies.copies,
    "planted": lab_truth.planted,
    "ranks": ranks.growths,
    "waiting": waiting.waitings,
    "spread": spread.spreads,
    "first-message": first_message.first_messages,
    "first": first_round.firsts,
}


class FactAcross(Fact, Protocol):
    """What facts have that may be about two results."""

    @property
    def results(self) -> tuple[int, int]:
        """Their places among those that were asked for; twice the same for one."""


class ConclusionAcross(NamedTuple):
    """A fact about one or two results of several."""

    topic: Topic
    fact: FactAcross


ACROSS: Mapping[Topic, Callable[[Sequence[Evidence]], Iterator[FactAcross]]] = {
    "yielding": yielding.yieldings,
}
"""Topics that take two results, or two jobs of one."""


def conclusions(evidence: Evidence) -> list[Conclusion]:
    """All that follows: the most telling of each topic first, then the next of each.

    What ranks measure that share cores tells more of the scheduler than of MPI, and collectives say less than
    the messages that they are made of: of one topic they come later.
    """
    crowded, messages = evidence.crowded, evidence.messages

    def telling(one: Conclusion) -> tuple[bool, bool, float]:
        cell = _cell_of(one.fact)
        return cell.job not in crowded, cell.pattern in messages, one.fact.weight

    found = [
        sorted((Conclusion(topic, fact) for fact in find(evidence)), key=telling, reverse=True)
        for topic, find in TOPICS.items()
    ]
    return [*_in_turn(found)]


def _cell_of(fact: Any) -> Cell:
    """The first cell that a fact names."""
    values = (getattr(fact, field.name) for field in fields(fact))
    found = (one for value in values for one in (value if isinstance(value, tuple) else (value,)))
    return next(one for one in found if isinstance(one, Cell))


def conclusions_across(evidences: Sequence[Evidence]) -> list[ConclusionAcross]:
    """All that follows from several results together, or from two jobs of one."""
    found = [
        sorted((ConclusionAcross(topic, fact) for fact in find(evidences)), key=_weight, reverse=True)
        for topic, find in ACROSS.items()
    ]
    return [*_in_turn(found)]


def _weight(one: ConclusionAcross) -> float:
    return one.fact.weight


def _in_turn(found: Sequence[Iterable[T]]) -> Iterator[T]:
    for level in zip_longest(*found):
        yield from (one for one in level if one is not None)
