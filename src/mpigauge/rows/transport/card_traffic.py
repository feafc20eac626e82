"""What each card of each host carried while a cell was measured, and which others might have.

The kernel tells the cards of a visit that carried most. Of fewer than it has room for the others carried
nothing; otherwise none of them carried more than the least that is told.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.result.kernel_data import MAX_CARDS_REPORTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.plan.model import JobKey
    from mpigauge.result.kernel_data import Card, CardTraffic
    from mpigauge.result.records import Launch, Visit
    from mpigauge.vocabulary import CardKind

CardsOfHosts = dict[str, dict[str, "Card"]]
"""By host and name."""


@dataclass(frozen=True, slots=True)
class CardBytes:
    """What a card carried."""

    card: str
    received_bytes: int
    sent_bytes: int

    @property
    def both_bytes(self) -> int:
        """Both ways."""
        return self.received_bytes + self.sent_bytes


@dataclass(frozen=True, slots=True)
class HostTraffic:
    """What the cards of one kind carried on one host.

    Attributes:
        able: Cards that messages could have gone through: of IP no virtual ones, and none that is down.
        carried: Those that carried something, in the order of their names.
        unseen_bytes: What any other carried at most; infinite if nobody knows.
        part_bytes: The host's part of the payload, if all hosts have the same.
    """

    host: str
    kind: CardKind
    able: tuple[str, ...]
    carried: tuple[CardBytes, ...]
    unseen_bytes: float
    part_bytes: float


def cards_by_job(launches: Iterable[Launch]) -> dict[JobKey, CardsOfHosts]:
    """The network cards of the hosts of each job; where its launches differ, as the last one says."""
    found: dict[JobKey, CardsOfHosts] = defaultdict(dict)
    for launch in launches:
        for group in launch.cards:
            cards = {card.name: card for card in group.cards}
            found[launch.job] |= dict.fromkeys(group.hosts, cards)
    return found


def able_cards(cards: Iterable[Card], kind: CardKind) -> tuple[str, ...]:
    """Those of a kind that messages to another host may go through, and that were counted.

    A virtual interface has no driver. A card that is down has no speed; but some systems say none at all.
    """
    counted = [card for card in cards if card.kind == kind and card.counted]
    real = [card for card in counted if kind == "rdma" or card.driver]
    fast = [card for card in real if card.speed]
    return tuple(card.name for card in fast or real)


def traffic_of(
    visits: Iterable[Visit], places: Sequence[str], cards: CardsOfHosts, part_bytes: float
) -> tuple[HostTraffic, ...]:
    """What the cards of each host and kind carried during some visits; of a file that says nothing, none.

    Args:
        places: The host of each rank.
        cards: Of the hosts.
        part_bytes: The part of each host in the payload.
    """
    visits = [visit for visit in visits if visit.by_card]
    unseen_bytes = sum(map(_unseen_bytes, visits))
    by_host: dict[tuple[str, CardKind], list[CardTraffic]] = defaultdict(list)
    for visit in visits:
        for host, one in _told(visit, places):
            by_host[host, one.kind].append(one)
    return tuple(
        HostTraffic(
            host=host,
            kind=kind,
            able=_never_lost(able_cards(cards.get(host, {}).values(), kind), told),
            carried=tuple(_summed(told)),
            unseen_bytes=unseen_bytes,
            part_bytes=part_bytes,
        )
        for (host, kind), told in sorted(by_host.items(), key=lambda of: of[1][0].rank)
    )


def lost_cards(visits: Iterable[Visit], places: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Host and name of the cards that could not be counted any more during one of these visits."""
    for visit in visits:
        for host, one in _told(visit, places):
            if one.is_lost:
                yield host, one.card


def _told(visit: Visit, places: Sequence[str]) -> Iterator[tuple[str, CardTraffic]]:
    """What a visit tells, and of which host: a file may name ranks that there are not."""
    return ((places[one.rank], one) for one in visit.by_card if one.rank < len(places))


def _unseen_bytes(visit: Visit) -> float:
    """What any card carried at most that a visit does not tell of."""
    if len(visit.by_card) < MAX_CARDS_REPORTED:
        return 0
    return math.inf if visit.by_card[-1].is_lost else visit.by_card[-1].both_bytes


def _never_lost(cards: tuple[str, ...], told: Iterable[CardTraffic]) -> tuple[str, ...]:
    lost = {one.card for one in told if one.is_lost}
    return tuple(card for card in cards if card not in lost)


def _summed(told: Iterable[CardTraffic]) -> Iterator[CardBytes]:
    both: Mapping[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in told:
        if not one.is_lost:
            both[one.card][0] += one.received_bytes
            both[one.card][1] += one.sent_bytes
    return (CardBytes(card, *ways) for card, ways in sorted(both.items()))
