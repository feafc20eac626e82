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

from mpigauge.plan.round_robin import pair_ranks
from mpigauge.rows.rates import wire_bytes
from mpigauge.rows.reasons import Refutation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.records import Launch, Visit

HEADER_BYTES = 20
"""An empty message over a network has at least so many."""

NETWORK_LEAST = 0.4
SHARED_MOST = 0.1
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
        """Why this was not the transport that a cell's label says; None if it may have been.

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
        least = NETWORK_LEAST / (len(hosts) if spread else 1)
        if past_ip := self._past_ip(transport, least):
            return Refutation("on-cards", transport, past_ip)
        if transport == "tcp" and self.share < least:
            return Refutation("not-on-network", transport, self.share)
        if transport == "shm" and self.share > SHARED_MOST:
            return Refutation("on-network", transport, self.share)
        if emulated and spread and self.share < least:
            return Refutation("around-the-lab", transport, self.share)
        return None

    def _past_ip(self, transport: str, least: float) -> float | None:
        """The share that cards carried in place of what the label says; of IP they may carry all."""
        if self.cards is None:
            return None
        most = {"shm": SHARED_MOST, "tcp": NETWORK_LEAST if self.share < least else math.inf}
        is_past = self.cards.usual_share > most.get(transport, math.inf)
        return self.cards.usual_share if is_past else None


def excludes(transport: str, report: str) -> bool:
    """Whether what a library says of its transports leaves no doubt that it does not use this one."""
    return transport in _EXCLUDE and _EXCLUDE[transport].fullmatch(report) is not None


def reports(launches: Iterable[Launch]) -> dict[JobKey, tuple[str, ...]]:
    """What the library said of its transports in each job; of launches that differ, all in their order."""
    said: dict[JobKey, dict[str, None]] = defaultdict(dict)
    for launch in launches:
        if launch.reported:
            said[launch.job][launch.reported] = None
    return {job: tuple(words) for job, words in said.items()}


def evidence(
    visits: Iterable[Visit], patterns: Mapping[str, Pattern], launches: Iterable[Launch] = ()
) -> dict[Cell, TransportEvidence]:
    """Of every cell whose ranks send messages, over all its visits.

    Cell by cell, since a library may send some messages another way: Intel MPI, told to use the network,
    still takes shared memory for the collectives of one host.
    """
    said = reports(launches)
    sent = payloads(visits, patterns)
    return {cell: evidence_of(mine, said.get(cell.job, ())) for cell, mine in sent.items()}


def payloads(visits: Iterable[Visit], patterns: Mapping[str, Pattern]) -> dict[Cell, list[tuple[Visit, int]]]:
    """Of every cell whose ranks send messages, its visits, each with the payload of the calls that count."""
    sent: dict[Cell, list[tuple[Visit, int]]] = defaultdict(list)
    for visit in visits:
        pattern = patterns.get(visit.cell.pattern)
        if visit.net_calls == 0 or visit.cell.ranks == 1 or pattern is None or not pattern.talks:
            continue
        operations = visit.net_calls * visit.ops // visit.batch
        if operations <= 0:  # as no kernel says it, but a file may
            continue
        sent[visit.cell].append((visit, operations * max(HEADER_BYTES, wire_bytes(visit.cell, pattern))))
    return sent


def evidence_of(visits: Sequence[tuple[Visit, int]], reported: tuple[str, ...]) -> TransportEvidence:
    """Of all visits of a cell, each with its payload."""
    payload = sum(bytes_ for _, bytes_ in visits)
    return TransportEvidence(
        sum(visit.net_bytes for visit, _ in visits), payload, reported, _on_cards(visits)
    )


def _on_cards(visits: Sequence[tuple[Visit, int]]) -> OnCards | None:
    """None if one of the visits did not count them, or sent nothing."""
    if any(visit.uncounted_cards < 0 or payload == 0 for visit, payload in visits):
        return None
    carried = [max(visit.rdma_received_bytes, visit.rdma_sent_bytes) for visit, _ in visits]
    return OnCards(
        share=sum(carried) / sum(payload for _, payload in visits),
        usual_share=median(bytes_ / payload for bytes_, (_, payload) in zip(carried, visits, strict=True)),
        uncounted=max(visit.uncounted_cards for visit, _ in visits),
    )


def talkers(cell: Cell, pattern: Pattern) -> Sequence[int]:
    """The ranks between which its messages go."""
    return pair_ranks(cell.pair) if cell.pair else range(pattern.active_ranks or cell.ranks)
