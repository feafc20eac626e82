"""All topics of conclusions: TOPICS is the one list of them, in the order in which they are told.

To add one: a file with its facts, their finder and their sentence, a row here, and one in docs/explain.md.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.document.document import AUTOMATIC
from mpigauge.find.explain import (
    contrasts,
    copies,
    datatypes,
    eager_limits,
    first_message,
    first_round,
    groups,
    lab_truth,
    moving,
    one_sided,
    pairs,
    plateau,
    queues_and_parts,
    ranks,
    send_modes,
    spread,
    start_up,
    waiting,
    yielding,
)
from mpigauge.find.fact import cell_of, weight_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence


class Topic(NamedTuple):
    """A kind of facts: how they are found and told.

    Attributes:
        find: Yields the facts of a result, given its evidence; given that of all results if it is across.
        headline: Says one in one line, given the factors in which cells of its results differ, and units.
        sentence: Says it with all details, of which the line is a part.
        with_ratios: Whether its sentences have two times and their ratio.
        told: Whether texts have it; without a decision that follows it is a record of JSON and CSV alone.
        across: Whether a fact is about two results, or two jobs of one; then it has `results`.
        within: Topic whose facts have this one's in them: texts leave it out beside one of the same cell.
        unasked: Whether every campaign has it, whatever it asked: texts have it after all others.
        remedy: Says what to do where it leaves something open; empty where there is nothing to do.
    """

    find: Callable[[Any], Iterator[Any]]
    headline: Callable[[Any, Collection[str], Units], str]
    sentence: Callable[[Any, Collection[str], Units], str]
    with_ratios: bool = False
    told: bool = True
    across: bool = False
    within: str = ""
    unasked: bool = False
    remedy: Callable[[Any], str] = lambda _: ""


TOPICS: Mapping[str, Topic] = {
    "one-sided": Topic(
        one_sided.notified, one_sided.notified_headline, one_sided.notified_sentence, with_ratios=True
    ),
    "moving": Topic(moving.movings, moving.headline, moving.sentence),
    "hidden-beside": Topic(moving.hidden_beside, moving.beside, moving.beside),
    "progress": Topic(one_sided.progresses, one_sided.progress_headline, one_sided.progress_sentence),
    "synchronisation": Topic(
        one_sided.synchronisations,
        one_sided.synchronisation_headline,
        one_sided.beside_sentence,
        with_ratios=True,
    ),
    "window-kind": Topic(
        one_sided.window_kinds, one_sided.window_headline, one_sided.beside_sentence, with_ratios=True
    ),
    "atomics": Topic(
        one_sided.contended, one_sided.contended_headline, one_sided.beside_sentence, with_ratios=True
    ),
    "own-memory": Topic(one_sided.own_copies, one_sided.own_copy, one_sided.own_copy),
    "place": Topic(contrasts.places, contrasts.headline, contrasts.sentence, with_ratios=True),
    "library": Topic(contrasts.libraries, contrasts.headline, contrasts.sentence, with_ratios=True),
    "setting": Topic(contrasts.settings, contrasts.headline, contrasts.sentence, with_ratios=True),
    "mode": Topic(contrasts.modes, contrasts.headline, contrasts.sentence, with_ratios=True),
    "order": Topic(contrasts.orders, contrasts.headline, contrasts.sentence, with_ratios=True),
    "senders": Topic(contrasts.senders, contrasts.headline, contrasts.sentence, with_ratios=True),
    "groups": Topic(groups.togethers, groups.headline, groups.sentence, with_ratios=True),
    "eager-limit": Topic(eager_limits.eager_limits, eager_limits.sentence, eager_limits.sentence),
    "handshake": Topic(send_modes.handshakes, send_modes.handshake_headline, send_modes.handshake),
    "buffer-copy": Topic(send_modes.buffer_copies, send_modes.buffer_copy, send_modes.buffer_copy),
    "plateau": Topic(plateau.plateaus, plateau.headline, plateau.sentence),
    "copies": Topic(copies.copies, copies.headline, copies.sentence, with_ratios=True),
    "matching": Topic(queues_and_parts.queues, queues_and_parts.headline, queues_and_parts.sentence),
    "layout": Topic(queues_and_parts.layouts, queues_and_parts.headline, queues_and_parts.sentence),
    "datatype": Topic(datatypes.makings, datatypes.headline, datatypes.sentence, with_ratios=True),
    "partitioned": Topic(queues_and_parts.partitions, queues_and_parts.headline, queues_and_parts.sentence),
    "planted": Topic(lab_truth.planted, lab_truth.headline, lab_truth.sentence),
    "ranks": Topic(ranks.growths, ranks.headline, ranks.sentence, with_ratios=True),
    "pairs": Topic(pairs.pairs, pairs.headline, pairs.sentence, with_ratios=True, remedy=pairs.remedy),
    "yielding": Topic(yielding.yieldings, yielding.headline, yielding.sentence, across=True),
    "waiting": Topic(waiting.waitings, waiting.headline, waiting.sentence, unasked=True),
    "spread": Topic(spread.spreads, spread.sentence, spread.sentence, told=False),
    "start-up": Topic(
        start_up.start_ups, start_up.headline, start_up.sentence, with_ratios=True, unasked=True
    ),
    "first-message": Topic(
        first_message.first_messages,
        first_message.headline,
        first_message.sentence,
        with_ratios=True,
        within="start-up",
        unasked=True,
    ),
    "first": Topic(first_round.firsts, first_round.sentence, first_round.sentence, told=False),
}


class Conclusion(NamedTuple):
    """A fact and what it is about.

    Attributes:
        topic: A name in TOPICS.
        results: The places of the results it is about, among those that were asked for.
    """

    topic: str
    fact: Any
    results: tuple[int, ...] = (0,)

    def headline(self, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
        """Return what is said of the fact in one line: arguments as of `sentence`."""
        return TOPICS[self.topic].headline(self.fact, varied, chosen)

    def sentence(self, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
        """Return what is said of the fact, with all details.

        Args:
            varied: Factors in which cells of its results differ.
            chosen: Units that were asked for.
        """
        return TOPICS[self.topic].sentence(self.fact, varied, chosen)


def telling(evidence: Evidence, fact: object) -> tuple[bool, bool, float]:
    """Return how much a fact says among others of its topic.

    What ranks measure that share cores tells more of the scheduler than of MPI, and collectives say less than
    the messages that they are made of.
    """
    cell = cell_of(fact)
    return cell.job not in evidence.crowded, cell.pattern in evidence.messages, weight_of(fact)


def conclusions(evidence: Evidence) -> list[Conclusion]:
    """Return all that follows from a result: the most telling of each topic first, then the next of each."""
    return _in_turn(
        sorted(
            (Conclusion(name, fact) for fact in topic.find(evidence)),
            key=lambda one: telling(evidence, one.fact),
            reverse=True,
        )
        for name, topic in TOPICS.items()
        if not topic.across
    )


def conclusions_across(evidences: Sequence[Evidence]) -> list[Conclusion]:
    """Return all that follows from several results together, or from two jobs of one."""
    return _in_turn(
        sorted(
            (Conclusion(name, fact, fact.results) for fact in topic.find(evidences)),
            key=lambda one: weight_of(one.fact),
            reverse=True,
        )
        for name, topic in TOPICS.items()
        if topic.across
    )


def _in_turn(found: Iterable[Sequence[Conclusion]]) -> list[Conclusion]:
    """Return the first of each topic, then the second of each, and so on."""
    return [one for level in zip_longest(*found) for one in level if one is not None]
