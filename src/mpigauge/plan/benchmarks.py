"""The benchmarks of OSU and IMB that measure the same as our patterns: TWINS is the one list of them.

Importers and exporters of their outputs use it. A benchmark that measures something else has no row and
keeps its own name. Names of OSU are the titles of version 7.4, names of IMB those of version 2021.11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OSU_VERSION = "7.4"
IMB_VERSION = "2021.11"
"""The versions whose output formats are written."""

OWN = "# mpigauge "
"""Beginning of the comment that says that mpigauge wrote the text."""

OWN_CELL = f"{OWN}cell "
"""Beginning of the comment with all factors of a table but its sizes, as JSON, for reading it again."""

LEFT_OUT = f"{OWN}leaves out "
"""Beginning of the line that names what has no counterpart."""

OWN_DECIMALS = 4
"""Decimals of times in microseconds and of rates: two, as others print, would be 5 % of 100 ns."""


@dataclass(frozen=True, slots=True)
class Counterpart:
    """A mode of a pattern, and its names in OSU and IMB.

    Attributes:
        osu: The title after "OSU MPI "; "" if OSU has no such benchmark.
        imb: The name after "# Benchmarking "; likewise.
        ranks: The only number of ranks for which they measure the same; 0 for any.
        hides: Whether it computes during the operation: the output has the share of overlap.
        rate: Whether the output has rates only.
        time_of: What its time is, where ranks at work together are counted otherwise than by us.
    """

    pattern: str
    mode: str
    osu: str = ""
    imb: str = ""
    ranks: int = 0
    hides: bool = False
    rate: bool = False
    time_of: str = ""


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
"""Pattern, title in OSU, title of the nonblocking form there, name in IMB. Reduce-scatter is not among them:
OSU and IMB count all blocks where we count one."""


def _collectives() -> Iterator[Counterpart]:
    for pattern, osu, nonblocking, imb in _COLLECTIVES:
        yield Counterpart(pattern, "blocking", f"{osu} Latency Test", imb)
        yield Counterpart(
            pattern, "overlap", f"Non-blocking {nonblocking} Latency Test", f"I{imb.lower()}", hides=True
        )


OF_ALL_PAIRS = "one message, of all pairs together"
MEAN_OVER_PAIRS = "half of a round trip, mean over pairs"

COUNTERPARTS = (
    Counterpart("pingpong", "standard", "Latency Test", "PingPong"),
    Counterpart("pingpong", "persistent", "Latency Test Persistent"),
    Counterpart("stream", "unidirectional", "Bandwidth Test", "Uniband", ranks=2, rate=True),
    Counterpart("stream", "bidirectional", "Bi-Directional Bandwidth Test", "Biband", ranks=2, rate=True),
    Counterpart(
        "multi-stream",
        "unidirectional",
        "Multiple Bandwidth / Message Rate Test",
        "Uniband",
        rate=True,
        time_of=OF_ALL_PAIRS,
    ),
    Counterpart("multi-stream", "bidirectional", imb="Biband", rate=True, time_of=OF_ALL_PAIRS),
    Counterpart("multi-pingpong", "standard", "Multi Latency Test", time_of=MEAN_OVER_PAIRS),
    Counterpart("neighbours", "nonblocking", imb="Exchange"),
    Counterpart("exchange", "nonblocking", imb="PingPing"),
    Counterpart("matching", "any-source", imb="PingPongAnySource"),
    Counterpart("shift", "sendrecv", imb="Sendrecv"),
    *_collectives(),
    Counterpart("alltoallw", "blocking", "All-to-Allw Personalized Exchange Latency Test"),
    Counterpart(
        "alltoallw", "overlap", "Non-blocking All-to-Allw Personalized Exchange Latency Test", hides=True
    ),
)

READ_ONLY = (Counterpart("multi-pingpong", "standard", "Multi-pair Latency Test", time_of=MEAN_OVER_PAIRS),)
"""Titles that are read as ours and not written: others have come in their place."""

OF_TWO_RANKS = {twin.imb: twin for twin in COUNTERPARTS if twin.imb and twin.ranks}
OF_MORE_RANKS = {twin.imb: twin for twin in COUNTERPARTS if twin.imb in OF_TWO_RANKS and not twin.ranks}
"""Patterns of IMB's benchmarks for two ranks when they run on more, by name."""

_ONE_SIDED = (
    ("Put Latency", "put", False, "flush flush_local lock lock_all"),
    ("Get latency", "get", False, "flush flush_local lock lock_all"),
    ("Put Bandwidth", "put-window", True, "flush"),
    ("Get Bandwidth", "get-window", True, "flush"),
    ("Accumulate latency", "accumulate", False, "flush lock"),
    ("Get_accumulate latency", "get_accumulate", False, "flush"),
    ("Fetch_and_op latency", "fetch_and_op", False, "flush"),
    ("Compare_and_swap latency", "compare_and_swap", False, "flush"),
)
"""Title in OSU after "MPI_", pattern, whether it has rates only, and the modes that measure the same.

Of a fence OSU takes half of three, with pscw it starts the next epoch inside the time, and the lock of atomic
operations is exclusive there.
"""

ONE_SIDED_OF_IMB = {f"Unidir_{of}": Counterpart(of, "flush", imb=f"Unidir_{of}") for of in ("put", "get")}
"""Operations of IMB-RMA, into a window of `MPI_Win_create`, each flushed (non-aggregate); only read."""

ONE_SIDED = tuple(
    Counterpart(pattern, mode, f"{title} Test", rate=rate)
    for title, pattern, rate, modes in _ONE_SIDED
    for mode in modes.split()
)
"""One-sided operations: their titles follow on `MPI_` in OSU, their heads name the function of the mode."""

BY_CELL = {(twin.pattern, twin.mode): twin for twin in (*COUNTERPARTS, *ONE_SIDED)}

WITHOUT_COMPUTATION = {twin: "nonblocking" for twin in COUNTERPARTS if twin.hides}
"""The mode that is timed along with it, without computation."""

DATATYPES = {
    "double": "MPI_DOUBLE",
    "float": "MPI_FLOAT",
    "int64": "MPI_INT64_T",
    "int32": "MPI_INT",
    "uint8": "MPI_UINT8_T",
}
"""Names of the datatypes of reductions in the headers of OSU and IMB."""


def normalised_title(title: str) -> str:
    """Return a title of OSU without what differs between versions: case, "Test", "Personalized Exchange"."""
    words = title.lower().replace("personalized exchange", "").split()
    return " ".join(word for word in words if word != "test")


BY_OSU = {normalised_title(twin.osu): twin for twin in (*COUNTERPARTS, *READ_ONLY) if twin.osu}
ONE_SIDED_OF_OSU = {
    (normalised_title(twin.osu.replace("_", " ")), f"MPI_Win_{twin.mode}"): twin for twin in ONE_SIDED
}
"""One-sided operations by title in OSU and the function that synchronises."""

BY_IMB = {twin.imb: twin for twin in (*COUNTERPARTS, *READ_ONLY) if twin.imb} | OF_TWO_RANKS
