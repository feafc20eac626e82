"""The sentence of every conclusion: a row in SENTENCES for each topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.document.document import AUTOMATIC
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

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from mpigauge.document.document import Units
    from mpigauge.find.explain.topics import Conclusion, ConclusionAcross
    from mpigauge.vocabulary import Topic

SENTENCES: Mapping[Topic, Callable[[Any, Collection[str], Units], str]] = {
    "place": contrasts.sentence,
    "library": contrasts.sentence,
    "setting": contrasts.sentence,
    "mode": contrasts.sentence,
    "eager-limit": eager_limits.sentence,
    "handshake": send_modes.handshake,
    "buffer-copy": send_modes.buffer_copy,
    "spread": spread.sentence,
    "first": first_round.sentence,
    "plateau": plateau.sentence,
    "planted": lab_truth.sentence,
    "waiting": waiting.sentence,
    "ranks": ranks.sentence,
    "yielding": yielding.sentence,
    "copies": copies.sentence,
    "first-message": first_message.sentence,
}
"""From a fact, the factors in which cells of its result differ, and the units that were asked for."""


def sentence_of(
    one: Conclusion | ConclusionAcross, varied: Collection[str], chosen: Units = AUTOMATIC
) -> str:
    """What is said of a fact."""
    return SENTENCES[one.topic](one.fact, varied, chosen)
