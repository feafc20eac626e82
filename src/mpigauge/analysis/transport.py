"""Whether the transport that a label names was really used: bytes on the network, and the library's word.

The kernel counts what the interfaces of rank 0's host receive, or send if that is more, while an
operation is repeated. Over shared memory that is nothing; over the network stack of one host it is the
payload and headers. Between hosts it is the part of rank 0: half of a ping-pong, and of an operation of p
ranks at least about 1/p. What the library reports of itself counts only where it leaves no doubt.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.analysis.rates import wire_bytes
from mpigauge.analysis.reasons import Refutation
from mpigauge.plan.round_robin import ranks_of

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
class Evidence:
    """What went over the interfaces of rank 0's host while a cell was measured, and what the library said.

    Attributes:
        net_bytes: Carried by all interfaces, the larger of both directions.
        payload_bytes: What the ranks had to get from others, 20 B at least for an operation.
        reported: What the library said of its transports; of launches that differ, all.
    """

    net_bytes: int
    payload_bytes: int
    reported: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Network bytes over payload."""
        return self.net_bytes / self.payload_bytes

    def refutes(self, transport: str, hosts: Sequence[str], *, emulated: bool = False) -> Refutation | None:
        """Why this was not the transport that a cell's label says; None if it may have been.

        Args:
            hosts: Of the ranks that talk.
            emulated: The hosts are a lab's, so that whatever is between them must be on its network.
        """
        return self._by_bytes(transport, hosts, emulated=emulated) or self._by_report(transport)

    def _by_report(self, transport: str) -> Refutation | None:
        for report in self.reported if transport in _EXCLUDE else ():
            if _EXCLUDE[transport].fullmatch(report):
                return Refutation("reported", transport, reported=report)
        return None

    def _by_bytes(self, transport: str, hosts: Sequence[str], *, emulated: bool) -> Refutation | None:
        if self.payload_bytes < PAYLOAD_LEAST_BYTES:
            return None
        spread = len(set(hosts)) > 1
        least = NETWORK_LEAST / (len(hosts) if spread else 1)
        if transport == "tcp" and self.share < least:
            return Refutation("not-on-network", transport, self.share)
        if transport == "shm" and self.share > SHARED_MOST:
            return Refutation("on-network", transport, self.share)
        if emulated and spread and self.share < least:
            return Refutation("around-the-lab", transport, self.share)
        return None


def reports(launches: Iterable[Launch]) -> dict[JobKey, tuple[str, ...]]:
    """What the library said of its transports in each job; of launches that differ, all in their order."""
    said: dict[JobKey, dict[str, None]] = defaultdict(dict)
    for launch in launches:
        if launch.reported:
            said[launch.job][launch.reported] = None
    return {job: tuple(words) for job, words in said.items()}


def evidence(
    visits: Iterable[Visit], patterns: Mapping[str, Pattern], launches: Iterable[Launch] = ()
) -> dict[Cell, Evidence]:
    """Of every cell whose ranks send messages, over all its visits.

    Cell by cell, since a library may send some messages another way: Intel MPI, told to use the network,
    still takes shared memory for the collectives of one host.
    """
    net: dict[Cell, int] = defaultdict(int)
    payload: dict[Cell, int] = defaultdict(int)
    for visit in visits:
        pattern = patterns.get(visit.cell.pattern)
        if visit.net_calls == 0 or visit.cell.ranks == 1 or pattern is None or not pattern.talks:
            continue
        operations = visit.net_calls * visit.ops // visit.batch
        net[visit.cell] += visit.net_bytes
        payload[visit.cell] += operations * max(HEADER_BYTES, wire_bytes(visit.cell, pattern))
    said = reports(launches)
    return {cell: Evidence(net[cell], payload[cell], said.get(cell.job, ())) for cell in payload}


def talkers(cell: Cell, pattern: Pattern) -> Sequence[int]:
    """The ranks between which its messages go."""
    return ranks_of(cell.pair) if cell.pair else range(pattern.active_ranks or cell.ranks)
