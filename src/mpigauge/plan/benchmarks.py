"""What other benchmarks call what our patterns measure: TWINS is the one list of it.

Importers and exporters of their texts read it. What means something else there has no row: it keeps its
own name. Names of OSU are the titles of version 7.4, those of IMB of version 2021.11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OSU_VERSION = "7.4"
IMB_VERSION = "2021.11"
"""Whose texts ours look like."""

OWN = "# mpigauge "
"""What the comment begins with that says whose numbers such a text has."""

OWN_CELL = f"{OWN}cell "
"""What the comment begins with that has all factors of a table but its sizes, as JSON: to read it again."""

LEFT_OUT = f"{OWN}leaves out "
"""What the line begins with that names what has no other name."""

OWN_DECIMALS = 4
"""Of times in microseconds and of rates: two, as others print, are 5 % of 100 ns."""


@dataclass(frozen=True, slots=True)
class Twin:
    """A mode of a pattern, and what others call it.

    Attributes:
        osu: The title behind "OSU MPI "; "" if OSU has none that means the same.
        imb: The name behind "# Benchmarking "; likewise.
        ranks: Of how many ranks alone it means the same; 0 for any.
        hides: Whether it computes while the operation goes on: the text has how much of it was hidden.
        rate: Whether the text has the rate alone.
    """

    pattern: str
    mode: str
    osu: str = ""
    imb: str = ""
    ranks: int = 0
    hides: bool = False
    rate: bool = False


_COLLECTIVES = (
    ("barrier", "Barrier", "Barrier", "Barrier"),
    ("bcast", "Broadcast", "Broadcast", "Bcast"),
    ("reduce", "Reduce", "Reduce", "Reduce"),
    ("allreduce", "Allreduce", "Allreduce", "Allreduce"),
    ("gather", "Gather", "Gather", "Gather"),
    ("gatherv", "Gatherv", "Gatherv", "Gatherv"),
    ("scatter", "Scatter", "Scatter", "Scatter"),
    ("scatterv", "Scatterv", "Scatterv", "Scatterv"),
    ("allgather", "Allgather", "Allgather", "Allgather"),
    ("allgatherv", "Allgatherv", "Allgatherv", "Allgatherv"),
    ("alltoall", "All-to-All Personalized Exchange", "All-to-All", "Alltoall"),
    ("alltoallv", "All-to-Allv Personalized Exchange", "All-to-Allv", "Alltoallv"),
)
"""Pattern, title of OSU, that of its nonblocking form, name of IMB. Of reductions that are scattered, OSU and
IMB count all blocks where we count one: they are none of these."""


def _of_collectives() -> Iterator[Twin]:
    for pattern, osu, nonblocking, imb in _COLLECTIVES:
        yield Twin(pattern, "blocking", f"{osu} Latency Test", imb)
        yield Twin(
            pattern, "overlap", f"Non-blocking {nonblocking} Latency Test", f"I{imb.lower()}", hides=True
        )


TWINS = (
    Twin("pingpong", "standard", "Latency Test", "PingPong"),
    Twin("pingpong", "persistent", "Latency Test Persistent"),
    Twin("stream", "unidirectional", "Bandwidth Test", "Uniband", ranks=2, rate=True),
    Twin("stream", "bidirectional", "Bi-Directional Bandwidth Test", "Biband", ranks=2, rate=True),
    Twin("exchange", "nonblocking", imb="PingPing"),
    Twin("shift", "sendrecv", imb="Sendrecv"),
    *_of_collectives(),
)

BY_CELL = {(twin.pattern, twin.mode): twin for twin in TWINS}

WITHOUT_COMPUTATION = {twin: "nonblocking" for twin in TWINS if twin.hides}
"""The mode that is timed beside it, with nothing to hide."""

DATATYPES = {
    "double": "MPI_DOUBLE",
    "float": "MPI_FLOAT",
    "int64": "MPI_INT64_T",
    "int32": "MPI_INT",
    "uint8": "MPI_UINT8_T",
}
"""What the kernel's datatypes of reductions are called in their headers."""


def plain(title: str) -> str:
    """A title of OSU without what differs between its versions: case, "Test", "Personalized Exchange"."""
    words = title.lower().replace("personalized exchange", "").split()
    return " ".join(word for word in words if word != "test")


BY_OSU = {plain(twin.osu): twin for twin in TWINS if twin.osu}
BY_IMB = {twin.imb: twin for twin in TWINS if twin.imb}
