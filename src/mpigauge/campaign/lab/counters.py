"""The counters of a lab's relay, which it keeps in memory that can be read at any time."""

import struct
from dataclasses import dataclass

_LAYOUT = struct.Struct("=4Q")
BYTES = _LAYOUT.size


@dataclass(frozen=True, slots=True)
class Counters:
    """Counts of packets since the lab began.

    Attributes:
        forwarded: Packets that reached their destination.
        late: Forwarded packets that were more than 50 us late, since the relay was not scheduled.
        dropped: Packets dropped at a full queue.
        latest_s: Delay of the latest packet beyond its time, in seconds.
    """

    forwarded: int = 0
    late: int = 0
    dropped: int = 0
    latest_s: float = 0.0

    @property
    def late_share(self) -> float:
        """Share of forwarded packets that were late, between 0 and 1."""
        return self.late / self.forwarded if self.forwarded else 0.0

    def since(self, before: "Counters") -> "Counters":
        """Return the counts after an earlier reading; `latest_s` stays that of the whole time."""
        return Counters(
            self.forwarded - before.forwarded,
            self.late - before.late,
            self.dropped - before.dropped,
            self.latest_s,
        )


def read(data: bytes) -> Counters:
    """Return the counters from the bytes of `struct counters` in relay.c."""
    forwarded, late, dropped, latest_ns = _LAYOUT.unpack_from(data)
    return Counters(forwarded, late, dropped, latest_ns / 1e9)
