"""What a relay has done so far: it writes the numbers where we can read them at any time."""

import struct
from dataclasses import dataclass

_LAYOUT = struct.Struct("=4Q")
BYTES = _LAYOUT.size


@dataclass(frozen=True, slots=True)
class Counters:
    """Since the lab began.

    Attributes:
        forwarded: Packets that reached their destination.
        late: Those of them that were more than 50 us behind their time, since the relay was not scheduled.
        dropped: Packets that found a queue full.
        latest_s: How far behind the latest was.
    """

    forwarded: int = 0
    late: int = 0
    dropped: int = 0
    latest_s: float = 0.0

    @property
    def late_share(self) -> float:
        """Of all forwarded, between 0 and 1."""
        return self.late / self.forwarded if self.forwarded else 0.0

    def since(self, before: "Counters") -> "Counters":
        """What came after an earlier reading; the latest is still that of the whole time."""
        return Counters(
            self.forwarded - before.forwarded,
            self.late - before.late,
            self.dropped - before.dropped,
            self.latest_s,
        )


def read(data: bytes) -> Counters:
    """The numbers of `struct counters` in relay.c."""
    forwarded, late, dropped, latest_ns = _LAYOUT.unpack_from(data)
    return Counters(forwarded, late, dropped, latest_ns / 1e9)
