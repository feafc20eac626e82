"""Where the two ranks of a job are, and what a lab was told to put between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.plan.lab import HEADERS_BYTES, TCP_SHARE, names, topology

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.lab import Topology
    from mpigauge.plan.model import JobKey

PAIR = 2

PACKET_BYTES = 1448
"""The most payload of one packet of TCP, with time stamps, in a frame of 1500 B."""


@dataclass(frozen=True, slots=True)
class Way:
    """The way from one host of a lab to another.

    Attributes:
        delay_s: One way.
        lanes: Bytes per second of both lanes; 0 is as fast as can be.
    """

    delay_s: float
    lanes: tuple[float, float]

    @property
    def rate_bytes_per_s(self) -> float:
        """The rate of its slower lane; 0 if neither has a rate."""
        return min((rate for rate in self.lanes if rate > 0), default=0.0)

    @property
    def payload_bytes_per_s(self) -> float:
        """The part of the rate that is left to messages over TCP; 0 if it has no rate."""
        return self.rate_bytes_per_s * TCP_SHARE

    def on_lanes_s(self, size_bytes: int) -> float:
        """Return how long a message of one packet is sent on both lanes; without the header of MPI."""
        return sum((HEADERS_BYTES + size_bytes) / rate for rate in self.lanes if rate > 0)


def pairs_of(evidence: Evidence) -> Mapping[JobKey, tuple[str, str]]:
    """Return the hosts of both ranks, for jobs that have two."""
    found: dict[JobKey, tuple[str, str]] = {}
    for launch in evidence.result.launches:
        if len(launch.ranks_at) == PAIR:
            first, second = launch.ranks_at
            found[launch.job] = first.host, second.host
    return found


def ways_of(evidence: Evidence) -> Mapping[JobKey, Way]:
    """Return the ways of jobs with two ranks on two hosts of a lab; none outside of one.

    Raises:
        UsageError: The result has words for its lab that are none.
    """
    lab = evidence.result.campaign.plan.lab
    if lab is None:
        return {}
    whole, known = topology(lab, str(evidence.result.path)), names(lab)
    numbers = {name: number for number, name in enumerate(known, start=1)}
    pairs = pairs_of(evidence).items()
    ends = {job: (numbers.get(one), numbers.get(other)) for job, (one, other) in pairs}
    return {job: way for job, mine in ends.items() for way in _ways(whole, *mine)}


def _ways(whole: Topology, sender: int | None, receiver: int | None) -> Iterator[Way]:
    for route in whole.routes:
        if (route.sender, route.receiver) == (sender, receiver):
            yield Way(route.delay_s, (whole.lanes[route.up], whole.lanes[route.down]))
