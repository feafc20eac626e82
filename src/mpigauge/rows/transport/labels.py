"""Whether the transport of a cell is the one that it is labelled with: refuted, proven, or not known.

A label is proven only where all network cards of all hosts of its ranks were counted: what nobody counts may
have carried the messages.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.rows.transport.card_traffic import HostTraffic, cards_by_job, lost_cards, traffic_of
from mpigauge.rows.transport.proof import (
    SHARED_MOST,
    TransportEvidence,
    evidence_of,
    payloads,
    reports,
    talkers,
)
from mpigauge.vocabulary import AUTO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch, Visit
    from mpigauge.rows.reasons import Refutation
    from mpigauge.vocabulary import DoubtOfProof, Proof


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
        """How its messages travelled; None if nothing was counted, or there were none."""
        if cell not in self._sent:
            return None
        if cell not in self._known:
            self._known[cell] = self._travel(cell, self._sent[cell])
        return self._known[cell]

    def _travel(self, cell: Cell, sent: Sequence[tuple[Visit, int]]) -> Travel:
        visits, hosts = [visit for visit, _ in sent], self._hosts(cell)
        places, cards = self._places.get(cell.job, ()), self._cards.get(cell.job, {})
        seen = evidence_of(sent, self._reported.get(cell.job, ()))
        refutation = seen.refutes(cell.transport, hosts, emulated=self._emulated)
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
        """Of the ranks that talk."""
        places = self._places.get(cell.job, ())
        ranks = talkers(cell, self._patterns[cell.pattern])
        there = ranks[: len(places)]  # they ascend, and a file may claim many more than it has places of
        return [places[rank] for rank in there if rank < len(places)]

    def _uncounted(self, job: JobKey, hosts: Sequence[str], visits: Iterable[Visit]) -> tuple[Uncounted, ...]:
        """What its launches say of these hosts, and what was lost later."""
        found: dict[str, list[str]] = defaultdict(list)
        lost = set(lost_cards(visits, self._places.get(job, ())))
        for host in dict.fromkeys(hosts):
            later = sorted(card for where, card in lost if where == host)
            for card in dict.fromkeys((*self._silent.get((job, host), ()), *later)):
                found[card].append(host)
        return tuple(Uncounted(card, tuple(where)) for card, where in found.items())


def _silent_cards(launches: Iterable[Launch]) -> Mapping[tuple[JobKey, str], Mapping[str, None]]:
    """Of each job and host, the cards that could not be counted in one of its launches."""
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
    """What the bytes say of a label, and why they leave it open."""
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
    return "uneven" if transport == "shm" and seen.cards.share > SHARED_MOST else None
