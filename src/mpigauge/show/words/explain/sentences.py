"""The sentence of every conclusion: a row in SENTENCES for each topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.show.words.explain import (
    contrasts,
    copies,
    eager_limits,
    first_message,
    first_round,
    planted,
    plateau,
    ranks,
    send_modes,
    spread,
    waiting,
    yielding,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from mpigauge.analysis.explain.topics import Conclusion, ConclusionAcross
    from mpigauge.vocabulary import Topic

SENTENCES: Mapping[Topic, Callable[[Any, Collection[str]], str]] = {
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
    "planted": planted.sentence,
    "waiting": waiting.sentence,
    "ranks": ranks.sentence,
    "yielding": yielding.sentence,
    "copies": copies.sentence,
    "first-message": first_message.sentence,
}
"""From a fact, and the factors in which cells of its result differ."""


def sentence_of(one: Conclusion | ConclusionAcross, varied: Collection[str]) -> str:
    """What is said of a fact."""
    return SENTENCES[one.topic](one.fact, varied)
