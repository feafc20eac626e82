"""Whether the transport that a label names was really used: bytes on network cards, and the library's word.

The kernel counts what the IP interfaces of rank 0's host receive, or send if that is more, while an
operation is repeated. Over shared memory that is nothing; over the network stack of one host it is the
payload and headers. Between hosts it is the part of rank 0: half of a ping-pong, and of an operation of p
ranks at least about 1/p. Cards that know RDMA are counted on all hosts and apart, since IP may go through
them, too. What the library reports of itself counts only where it leaves no doubt.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from mpigauge.plan.groups import ranks_in
from mpigauge.plan.patterns import halves
from mpigauge.result.kernel_data import MAX_CARDS_REPORTED
from mpigauge.rows.rates import wire_bytes
from mpigauge.rows.reasons import Refutation
from mpigauge.vocabulary import AUTO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.kernel_data import Card, CardTraffic
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch, Visit
    from mpigauge.vocabulary import CardKind, DoubtOfProof, Proof


HEADER_BYTES = 20
"""An empty message over a network has at least so many."""

MIN_NETWORK = 0.4
MAX_SHARED = 0.1
PAYLOAD_LEAST_BYTES = 1000
"""Of less, some foreign packet could be a large part."""

_EXCLUDE = {
    "tcp": re.compile(r"shm|on-host sm"),
    "shm": re.compile(r"(on-host|ofi, provider) tcp\b.*"),
}
"""By transport, the reports that exclude it: of memory alone, or of a network also within a host."""


@dataclass(frozen=True, slots=True)
class OnCards:
    """What went through the cards that know RDMA, of all hosts of a cell, the larger of both directions.

    Attributes:
        share: Of the payload of all visits.
        usual_share: Of the payload of the median visit, which the traffic of others does not make in a burst.
        uncounted: Cards of a visit that could not be counted, those of IP among them; of its visits the most.
    """

    share: float
    usual_share: float
    uncounted: int


@dataclass(frozen=True, slots=True)
class TransportEvidence:
    """What went through network cards while a cell was measured, and what the library said.

    Attributes:
        net_bytes: Carried by the IP interfaces of rank 0's host, the larger of both directions.
        payload_bytes: What the ranks had to get from others, 20 B at least for an operation.
        reported: What the library said of its transports; of launches that differ, all.
        cards: None in a file of an older mpigauge, which did not look at them.
    """

    net_bytes: int
    payload_bytes: int
    reported: tuple[str, ...] = ()
    cards: OnCards | None = None

    @property
    def share(self) -> float:
        """Bytes on IP interfaces over payload."""
        return self.net_bytes / self.payload_bytes

    @property
    def is_enough(self) -> bool:
        """Whether bytes prove anything."""
        return self.payload_bytes >= PAYLOAD_LEAST_BYTES

    def refutes(self, transport: str, hosts: Sequence[str], *, emulated: bool = False) -> Refutation | None:
        """Return why this was not the transport that a cell's label says; None if it may have been.

        Args:
            hosts: Of the ranks that talk.
            emulated: The hosts are a lab's, so that whatever is between them must be on its network.
        """
        return self._by_bytes(transport, hosts, emulated=emulated) or self._by_report(transport)

    def _by_report(self, transport: str) -> Refutation | None:
        for report in self.reported:
            if excludes(transport, report):
                return Refutation("reported", transport, reported=report)
        return None

    def _by_bytes(self, transport: str, hosts: Sequence[str], *, emulated: bool) -> Refutation | None:
        if not self.is_enough:
            return None
        spread = len(set(hosts)) > 1
        least = MIN_NETWORK / (len(hosts) if spread else 1)
        if past_ip := self._past_ip(transport, least):
            return Refutation("on-cards", transport, past_ip)
        if transport == "tcp" and self.share < least:
            return Refutation("not-on-network", transport, self.share)
        if transport == "shm" and self.share > MAX_SHARED:
            return Refutation("on-network", transport, self.share)
        if emulated and spread and self.share < least:
            return Refutation("around-the-lab", transport, self.share)
        return None

    def _past_ip(self, transport: str, least: float) -> float | None:
        """Return the share that cards carried in place of what the label says; of IP they may carry all."""
        if self.cards is None:
            return None
        most = {"shm": MAX_SHARED, "tcp": MIN_NETWORK if self.share < least else math.inf}
        is_past = self.cards.usual_share > most.get(transport, math.inf)
        return self.cards.usual_share if is_past else None


def excludes(transport: str, report: str) -> bool:
    """Return whether what a library says of its transports leaves no doubt that it does not use this one."""
    return transport in _EXCLUDE and _EXCLUDE[transport].fullmatch(report) is not None


def reports(launches: Iterable[Launch]) -> dict[JobKey, tuple[str, ...]]:
    """Return what the library said of its transports in each job; of launches that differ, all in order."""
    said: dict[JobKey, dict[str, None]] = defaultdict(dict)
    for launch in launches:
        if launch.reported:
            said[launch.job][launch.reported] = None
    return {job: tuple(words) for job, words in said.items()}


def evidence(
    visits: Iterable[Visit], patterns: Mapping[str, Pattern], launches: Iterable[Launch] = ()
) -> dict[Cell, TransportEvidence]:
    """Return what proves the transport of every cell whose ranks send messages, over all its visits.

    Cell by cell, since a library may send some messages another way: Intel MPI, told to use the network,
    still takes shared memory for the collectives of one host.
    """
    said = reports(launches)
    sent = payloads(visits, patterns)
    return {cell: evidence_of(mine, said.get(cell.job, ())) for cell, mine in sent.items()}


def payloads(visits: Iterable[Visit], patterns: Mapping[str, Pattern]) -> dict[Cell, list[tuple[Visit, int]]]:
    """Return each visit with the payload of its calls that count, of every cell whose ranks send messages."""
    sent: dict[Cell, list[tuple[Visit, int]]] = defaultdict(list)
    for visit in visits:
        pattern = patterns.get(visit.cell.pattern)
        if visit.cell.groups:  # cards count what all groups send
            continue
        if visit.net_calls == 0 or visit.cell.ranks == 1 or pattern is None or not pattern.talks:
            continue
        operations = visit.net_calls * visit.ops // visit.batch
        if operations <= 0:  # as no kernel says it, but a file may
            continue
        sent[visit.cell].append((visit, operations * max(HEADER_BYTES, wire_bytes(visit.cell, pattern))))
    return sent


def evidence_of(visits: Sequence[tuple[Visit, int]], reported: tuple[str, ...]) -> TransportEvidence:
    """Return what proves the transport of a cell, from all its visits, each with its payload."""
    payload = sum(bytes_ for _, bytes_ in visits)
    return TransportEvidence(
        sum(visit.net_bytes for visit, _ in visits), payload, reported, _on_cards(visits)
    )


def _on_cards(visits: Sequence[tuple[Visit, int]]) -> OnCards | None:
    """Return what went through cards; None if one of the visits did not count them, or sent nothing."""
    if any(visit.uncounted_cards < 0 or payload == 0 for visit, payload in visits):
        return None
    carried = [max(visit.rdma_received_bytes, visit.rdma_sent_bytes) for visit, _ in visits]
    return OnCards(
        share=sum(carried) / sum(payload for _, payload in visits),
        usual_share=median(bytes_ / payload for bytes_, (_, payload) in zip(carried, visits, strict=True)),
        uncounted=max(visit.uncounted_cards for visit, _ in visits),
    )


def _pairs_of(cell: Cell) -> list[tuple[int, int]]:
    """Return the ranks of the job in each pair across the halves of a cell."""
    ranks = ranks_in(cell, None)
    return [(ranks[first], ranks[other]) for first, other in halves(len(ranks))]


# ---- Traffic of cards ----------------------------------------------------------------------------


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
    """Return the network cards of the hosts of each job, as its last launch says."""
    found: dict[JobKey, CardsOfHosts] = defaultdict(dict)
    for launch in launches:
        for group in launch.cards:
            cards = {card.name: card for card in group.cards}
            found[launch.job] |= dict.fromkeys(group.hosts, cards)
    return found


def able_cards(cards: Iterable[Card], kind: CardKind) -> tuple[str, ...]:
    """Return the cards of a kind that messages to another host may go through, and that were counted.

    A virtual interface has no driver. A card that is down has no speed; but some systems say none at all.
    """
    counted = [card for card in cards if card.kind == kind and card.counted]
    real = [card for card in counted if kind == "rdma" or card.driver]
    fast = [card for card in real if card.speed]
    return tuple(card.name for card in fast or real)


def traffic_of(
    visits: Iterable[Visit], places: Sequence[str], cards: CardsOfHosts, part_bytes: float
) -> tuple[HostTraffic, ...]:
    """Return what the cards of each host and kind carried during visits; nothing of a file that says nothing.

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
    """Return host and name of the cards that could not be counted any more during one of these visits."""
    for visit in visits:
        for host, one in _told(visit, places):
            if one.is_lost:
                yield host, one.card


def _told(visit: Visit, places: Sequence[str]) -> Iterator[tuple[str, CardTraffic]]:
    """Yield what a visit tells, and of which host: a file may name ranks that there are not."""
    return ((places[one.rank], one) for one in visit.by_card if one.rank < len(places))


def _unseen_bytes(visit: Visit) -> float:
    """Return what any card carried at most that a visit does not tell of."""
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


# ---- Labels --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Uncounted:
    """A card that could not be counted, and the hosts where it could not, in their order."""

    card: str
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Travel:
    """How the messages of a cell travelled.

    Attributes:
        ip_share: Bytes on the IP interfaces of rank 0's host over the payload of its messages.
        rdma_share: Bytes on all other cards of all hosts over that payload; None if nobody looked at them.
        proof: Of the cell's label; None where it has none.
        doubt: Why it is neither proven nor refuted.
        uncounted: Which cards could not be counted, where that is the doubt; empty if it is not known.
        refutation: Why the label is not true.
        traffic: What each card of each host carried.
    """

    ip_share: float
    rdma_share: float | None
    proof: Proof | None = None
    doubt: DoubtOfProof | None = None
    uncounted: tuple[Uncounted, ...] = ()
    refutation: Refutation | None = None
    traffic: tuple[HostTraffic, ...] = ()


class Labels:
    """The transports of all cells of a result."""

    def __init__(self, result: Result, patterns: Mapping[str, Pattern]) -> None:
        self._patterns = patterns
        self._sent = payloads(result.visits, patterns)
        self._reported = reports(result.launches)
        self._emulated = result.campaign.plan.lab is not None
        self._places = {launch.job: [rank.host for rank in launch.ranks_at] for launch in result.launches}
        self._silent = _silent_cards(result.launches)
        self._cards = cards_by_job(result.launches)
        self._known: dict[Cell, Travel] = {}

    def of(self, cell: Cell) -> Travel | None:
        """Return how its messages travelled; None if nothing was counted, or there were none."""
        if cell not in self._sent:
            return None
        if cell not in self._known:
            self._known[cell] = self._travel(cell, self._sent[cell])
        return self._known[cell]

    def _travel(self, cell: Cell, sent: Sequence[tuple[Visit, int]]) -> Travel:
        visits, hosts = [visit for visit, _ in sent], self._hosts(cell)
        places, cards = self._places.get(cell.job, ()), self._cards.get(cell.job, {})
        seen = evidence_of(sent, self._reported.get(cell.job, ()))
        refutation = seen.refutes(
            cell.transport, hosts, emulated=self._emulated and self._leaves_first_host(cell)
        )
        proof, doubt = _judged(seen, cell.transport, refutation)
        return Travel(
            ip_share=seen.share,
            rdma_share=seen.cards.share if seen.cards else None,
            proof=proof,
            doubt=doubt,
            uncounted=self._uncounted(cell.job, hosts, visits) if doubt == "uncounted" else (),
            refutation=refutation,
            traffic=traffic_of(visits, places, cards, seen.payload_bytes / max(1, len(set(hosts)))),
        )

    def _hosts(self, cell: Cell) -> Sequence[str]:
        """Return the hosts of the ranks that talk."""
        places = self._places.get(cell.job, ())
        ranks = ranks_in(cell, self._patterns[cell.pattern])
        # Without a list of them they ascend, and a file may claim many more than it has places of.
        there = ranks[: len(places)] if isinstance(ranks, range) else ranks
        return [places[rank] for rank in there if rank < len(places)]

    def _leaves_first_host(self, cell: Cell) -> bool:
        """Return whether messages must leave the first rank's host, whose cards count; pairs need not."""
        places: Sequence[str] = self._places.get(cell.job, ())
        if not self._patterns[cell.pattern].in_halves or len(places) <= max(ranks_in(cell, None), default=0):
            return True
        ends = [{places[rank] for rank in pair} for pair in _pairs_of(cell)]
        first = places[ranks_in(cell, None)[0]]
        return any(len(of_pair) > 1 and first in of_pair for of_pair in ends)

    def _uncounted(self, job: JobKey, hosts: Sequence[str], visits: Iterable[Visit]) -> tuple[Uncounted, ...]:
        """Return what its launches say of these hosts, and what was lost later."""
        found: dict[str, list[str]] = defaultdict(list)
        lost = set(lost_cards(visits, self._places.get(job, ())))
        for host in dict.fromkeys(hosts):
            later = sorted(card for where, card in lost if where == host)
            for card in dict.fromkeys((*self._silent.get((job, host), ()), *later)):
                found[card].append(host)
        return tuple(Uncounted(card, tuple(where)) for card, where in found.items())


def _silent_cards(launches: Iterable[Launch]) -> Mapping[tuple[JobKey, str], Mapping[str, None]]:
    """Return, by job and host, the cards that could not be counted in one of its launches."""
    found: dict[tuple[JobKey, str], dict[str, None]] = defaultdict(dict)
    for launch in launches:
        for group in launch.cards:
            silent = dict.fromkeys(card.name for card in group.cards if not card.counted)
            for host in group.hosts if silent else ():
                found[launch.job, host] |= silent
    return found


def _judged(
    seen: TransportEvidence, transport: str, refutation: Refutation | None
) -> tuple[Proof | None, DoubtOfProof | None]:
    """Return what the bytes say of a label, and why they leave it open."""
    if refutation is not None:
        return "refuted", None
    if transport == AUTO:
        return None, None
    doubt = _doubt(seen, transport)
    return ("unknown", doubt) if doubt else ("proven", None)


def _doubt(seen: TransportEvidence, transport: str) -> DoubtOfProof | None:
    if not seen.is_enough:
        return "small"
    if seen.cards is None:
        return "older"
    if seen.cards.uncounted > 0:
        return "uncounted"
    return "uneven" if transport == "shm" and seen.cards.share > MAX_SHARED else None
