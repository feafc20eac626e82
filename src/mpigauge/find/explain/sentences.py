"""The sentence of every conclusion: a row in SENTENCES for each topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.document.document import AUTOMATIC
from mpigauge.find.explain import (
    contrasts_sentence,
    copies_sentence,
    eager_limits_sentence,
    first_message_sentence,
    first_round_sentence,
    lab_truth_sentence,
    plateau_sentence,
    ranks_sentence,
    send_modes_sentence,
    spread_sentence,
    waiting_sentence,
    yielding_sentence,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from mpigauge.document.document import Units
    from mpigauge.find.explain.topics import Conclusion, ConclusionAcross
    from mpigauge.vocabulary import Topic

SENTENCES: Mapping[Topic, Callable[[Any, Collection[str], Units], str]] = {
    "place": contrasts_sentence.sentence,
    "library": contrasts_sentence.sentence,
    "setting": contrasts_sentence.sentence,
    "mode": contrasts_sentence.sentence,
    "eager-limit": eager_limits_sentence.sentence,
    "handshake": send_modes_sentence.handshake,
    "buffer-copy": send_modes_sentence.buffer_copy,
    "spread": spread_sentence.sentence,
    "first": first_round_sentence.sentence,
    "plateau": plateau_sentence.sentence,
    "planted": lab_truth_sentence.sentence,
    "waiting": waiting_sentence.sentence,
    "ranks": ranks_sentence.sentence,
    "yielding": yielding_sentence.sentence,
    "copies": copies_sentence.sentence,
    "first-message": first_message_sentence.sentence,
}
"""From a fact, the factors in which cells of its result differ, and the units that were asked for."""


def sentence_of(
    one: Conclusion | ConclusionAcross, varied: Collection[str], chosen: Units = AUTOMATIC
) -> str:
    """What is said of a fact."""
    return SENTENCES[one.topic](one.fact, varied, chosen)
