"""Which network cards carried the messages, where others stood still, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.document.finding import finding
from mpigauge.linkmap.host_sentences import names
from mpigauge.units import counted, format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.document.finding import Finding
    from mpigauge.rows.transport.cards_used import CardShare, CardsUsed
    from mpigauge.vocabulary import CardKind

KINDS: Mapping[CardKind, str] = {"ip": "IP interface", "rdma": "RDMA card"}
CARDS_NAMED = 4
ONE_WAY_FROM = 0.5
"""Between a card's share of what was sent and of what was received: then it is mostly a card for one way."""


def cards_finding(fact: CardsUsed) -> Finding:
    """What is said of cards that stood still."""
    return finding("cards-used", fact, cards_line(fact))


def cards_line(fact: CardsUsed) -> str:
    """Which cards of which hosts, how much, and which others could have."""
    of = counted(len(fact.used) + len(fact.idle), KINDS[fact.kind])
    patterns = ", ".join(dict.fromkeys(cell.pattern for cell in fact.cells))
    used = _listed([_used(one, alone=len(fact.used) == 1) for one in fact.used])
    where = f"{len(fact.used)} of {of} on {names(fact.hosts)} carried messages of {patterns}"
    usual = f"; more hosts used {_listed(fact.usual)}" if fact.usual else ""
    return f"cards, {fact.cells[0].job.name}: {where}: {used}; idle: {_listed(fact.idle)}{usual}"


def _used(one: CardShare, *, alone: bool) -> str:
    if abs(one.sent_share - one.received_share) > ONE_WAY_FROM:
        sent, received = format_percent(one.sent_share), format_percent(one.received_share)
        return f"{one.card} {sent} of what was sent, {received} of what was received"
    return f"{one.card}" if alone and one.share == 1 else f"{one.card} {format_percent(one.share)}"


def _listed(cards: Sequence[str]) -> str:
    more = len(cards) - CARDS_NAMED
    return ", ".join(cards) if more <= 1 else f"{', '.join(cards[:CARDS_NAMED])} and {more} more"
