"""What the fake kernel's numbers follow from, and what it has of the real one's description.

The law: one operation takes the library's latency, 10 ns for each mode that `--describe` lists before its
own, and 1 ns for every 10 B. An empty round takes 20 ns, a lap of the ring one operation a rank. Pairs do
not hinder each other: where an operation is a message of one of them, it takes a share of that. One rank
serves all others in turn. An exchange with two neighbours takes an operation each. A collective, also one
of the other broadcasts, takes the latency ceil(log2(ranks)) times, one rank alone 10 ns instead, and so
does what programs do once (family `startup`), of which a datatype is made by one rank alone; its ranks
start 5 ns apart, and each is as long in it as the whole. After our barrier it takes 100 ns more and the
ranks start 150 ns apart, after MPI_Barrier 200 ns and 250 ns. Half of it hides behind a computation that
takes as long (`overlap`). A message is copied by its receiver (`message-overlap`): it is hidden from a
sender that computes alone, and from nobody else. A one-sided operation takes 20 ns and 1 ns for every 100 B
where MPI has made the memory of its window (allocate, shared), the latency and 1 ns for every 10 B
elsewhere; 10 ns more for each mode before its own. One that notifies its target takes one and a half times
the latency, and 1 ns for every 10 B; one of all ranks on a word the latency for each of them. While its
target computes, what needs more than a copy takes 0.8 of the computation. Memory:

    memcpy, read, write    5 ns and 1 ns for every 100 B; copy twice that with O3, four times with O0
    reduce_local           5 ns and 1 ns for every 50 B
    crosscopy              50 ns and 1 ns for every 50 B
    cacheline              60 ns one way
    send-overhead          65 ns, reading the clock (25 ns) in it, and 1 ns for every 50 B
    recv-overhead          55 ns, likewise, and 1 ns for every 100 B
    matching               3 ns for each entry of the queue
    layout                 for each block 4 ns by a datatype, 3 ns packed by MPI, 1 ns copied by hand
    partitioned            5 ns for each partition
    early-bird             of a message in partitions the bytes of the last alone
    chase                  a load takes 1 ns up to 32 KiB, 4 ns up to 1 MiB, 30 ns up to 16 MiB, then 100 ns

It runs without site-packages and imports little, so that a launch takes a few hundredths of a second.
"""

from __future__ import annotations

import marshal
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = 2
MPI_STANDARD = 3
FLOOR_NS = 20
ALONE_NS = 10

SYNCS = {"common": (0, 5), "barrier": (100, 150), "mpi_barrier": (200, 250)}
"""How much longer a collective takes than after a common start, and how far apart the ranks start."""

RMA_WINDOWS = ("allocate", "create", "dynamic", "shared")
OF_MPI = {"allocate", "shared"}
"""Kinds of windows whose memory MPI has made."""

OWN_MEMORY_NS = 20

DESCRIPTION = os.path.join(os.path.dirname(__file__), "../../src/mpigauge/kernel/describe.json")  # noqa: PTH118, PTH120
"""What the real kernel says of itself; the fake has its patterns, datatypes and operations."""


def _read() -> dict[str, Any]:
    """As JSON, once; later from a compiled copy, since to import json alone takes as long as a launch."""
    copy = os.path.join(os.path.dirname(__file__), "__pycache__", "describe.marshal")  # noqa: PTH118, PTH120
    known = os.stat(DESCRIPTION).st_mtime_ns  # noqa: PTH116
    try:
        with open(copy, "rb") as file:  # noqa: PTH123
            of, kept = marshal.load(file)  # noqa: S302 - our own
        if of == known:
            return dict(kept)
    except (OSError, EOFError, ValueError, TypeError):
        pass
    import json  # noqa: PLC0415

    with open(DESCRIPTION, encoding="ascii") as file_:  # noqa: PTH123 - pathlib is slow to import
        kept = json.load(file_)
    _write(copy, marshal.dumps((known, kept)))
    return dict(kept)


def _write(path: str, data: bytes) -> None:
    """In one piece, since several kernels may do it at once."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        with open(f"{path}.{os.getpid()}", "wb") as file:  # noqa: PTH123
            file.write(data)
        os.replace(f"{path}.{os.getpid()}", path)  # noqa: PTH105
    except OSError:
        return


def _kept() -> dict[str, Any]:
    kept = _read()
    for pattern in kept["patterns"]:
        pattern["modes"] = [mode for mode in pattern["modes"] if mode["needs_mpi"] <= MPI_STANDARD]
    return kept


KEPT = _kept()
DATATYPES: dict[str, int] = {datatype["name"]: datatype["bytes"] for datatype in KEPT["datatypes"]}
OPERATIONS: tuple[str, ...] = tuple(dict.fromkeys(op for of in KEPT["datatypes"] for op in of["operations"]))
PATTERNS: dict[str, dict[str, Any]] = {pattern["name"]: pattern for pattern in KEPT["patterns"]}
COLLECTIVES = [
    name
    for name, pattern in PATTERNS.items()
    if pattern["sampled"]["starts_together"] and pattern["family"] == "collective"
]

MEMORY = {"memcpy": (5, 100), "copy": (5, 100), "read": (5, 100), "write": (5, 100), "reduce_local": (5, 50)}
"""What an operation takes in one rank's memory, in ns, and how many bytes take one more."""

CACHES = ((32 * 2**10, 1), (2**20, 4), (16 * 2**20, 30))
"""Up to how many bytes a load takes how long, in ns."""

MAIN_MEMORY_NS = 100


def modes_of(pattern: str) -> list[str]:
    """The names of its modes."""
    return [mode["name"] for mode in PATTERNS[pattern]["modes"]]


def has(visit: dict[str, Any], property_: str) -> bool:
    """Whether the mode of a visit has a property."""
    modes = PATTERNS[visit["pattern"]]["modes"]
    return next(bool(mode[property_]) for mode in modes if mode["name"] == visit["mode"])


def has_number(visit: dict[str, Any], property_: str) -> int:
    """A number of the mode of a visit."""
    modes = PATTERNS[visit["pattern"]]["modes"]
    return next(int(mode[property_]) for mode in modes if mode["name"] == visit["mode"])


def operations_of(datatype: str) -> tuple[str, ...]:
    """What MPI defines for a datatype."""
    found = [of["operations"] for of in KEPT["datatypes"] if of["name"] == datatype]
    return tuple(found[0]) if found else ()


def describe(library: str = "") -> dict[str, Any]:
    """What `--describe` prints.

    Args:
        library: What MPI_Get_library_version says.
    """
    return {**KEPT, "large_counts": False, "library": library}


def operation_ns(
    pattern: str,
    mode: str,
    size: int,
    ranks: int,
    latency_ns: int,
    sync: str = "common",
    rma_window: str = "allocate",
) -> float:
    """The law: what one operation takes, without the computation of `overlap`."""
    place = modes_of(pattern).index(mode)
    if PATTERNS[pattern]["family"] in {"collective", "startup"}:
        later_ns = SYNCS[sync][0] if pattern in COLLECTIVES else 0
        at_work = PATTERNS[pattern]["active_ranks"] or ranks
        steps_ns = (at_work - 1).bit_length() * latency_ns or ALONE_NS
        return steps_ns + 10 * place + size // 10 + later_ns
    if PATTERNS[pattern]["family"] == "one-sided":
        return 10 * place + _one_sided_ns(pattern, size, ranks, latency_ns, rma_window)
    if pattern in MEMORY:
        empty_ns, bytes_per_ns = MEMORY[pattern]
        return (empty_ns + size // bytes_per_ns) * (2 << place if pattern == "copy" else 1)
    one_ns = latency_ns + 10 * place + size // 10
    if PATTERNS[pattern]["trips"] == "pairs":
        return one_ns / (ranks // 2)
    return {
        "null": FLOOR_NS,
        "ring": one_ns * ranks,
        "neighbours": 2 * one_ns,
        "chase": next((load_ns for most, load_ns in CACHES if size <= most), MAIN_MEMORY_NS),
        "crosscopy": 50 + size // 50,
        "cacheline": 60,
        "send-overhead": 65 + 10 * place + size // 50,
        "recv-overhead": 55 + size // 100,
    }.get(pattern, one_ns)


BLOCK_NS = {"derived": 4, "elements": 4, "pack": 3, "manual": 1}
ENTRY_NS = 3
PARTITION_NS = 5


def parts_ns(visit: dict[str, Any]) -> int:
    """What an operation takes longer for its queue, blocks or partitions; less than 0: shorter."""
    if has(visit, "computes_first"):
        return last_bytes(visit) // 10 - int(visit["bytes"] // 10)
    blocks = visit["bytes"] // visit["block_bytes"] if visit["block_bytes"] else 0
    told = PATTERNS[visit["pattern"]]["family"] == "message"
    of_blocks = BLOCK_NS.get(visit["mode"], 0) * blocks if told else 0
    return int(ENTRY_NS * visit["depth"] + of_blocks + PARTITION_NS * visit["partitions"])


def last_bytes(visit: dict[str, Any]) -> int:
    """Bytes of the last partition."""
    return int(visit["bytes"] // max(1, visit["partitions"]))


def _one_sided_ns(pattern: str, size: int, ranks: int, latency_ns: int, rma_window: str) -> int:
    """What an operation on the memory of another rank takes in its first mode."""
    if PATTERNS[pattern]["one_way"]:
        return latency_ns + latency_ns // 2 + size // 10
    if PATTERNS[pattern]["sampled"]["starts_together"]:
        return ranks * latency_ns
    if rma_window in OF_MPI:
        return OWN_MEMORY_NS + size // 100
    return latency_ns + size // 10


def trips(visit: dict[str, Any], ranks: int) -> int:
    """Reported operations in a call."""
    own = has_number(visit, "trips")
    trips, window = PATTERNS[visit["pattern"]]["trips"], visit["window"]
    if has(visit, "message_each"):
        return int(trips * max(1, visit["depth"]))
    counts = {"window": window, "ranks": ranks, "repeats": 1}
    counts |= {"pairs": ranks // 2 * window, "others": (ranks - 1) * window}
    return own or int(counts.get(trips, trips))


def partners(visit: dict[str, Any], ranks: int) -> list[str]:
    """With whom each rank works, as a pair, where the times of ranks are told; "" for one that rests."""
    pattern = PATTERNS[visit["pattern"]]
    if not pattern["rank_times"]:
        return []
    root, half = visit["root"], ranks // 2
    others = [root if pattern["rooted"] else (rank + half) % (2 * half) for rank in range(ranks)]
    pairs = [f"{min(pair)}-{max(pair)}" for pair in enumerate(others)]
    return pairs if pattern["rooted"] else [*pairs[: 2 * half], *[""] * (ranks % 2)]


def starts_together(visit: dict[str, Any]) -> bool:
    return bool(PATTERNS[visit["pattern"]]["sampled"]["starts_together"])


def target_work_ns(visit: dict[str, Any], call_ns: int) -> int:
    """How long the target of a visit computes, as visit.c has it; 0 if it does not."""
    return max(2_000_000, 100 * call_ns) if has(visit, "target_computes") else 0


def while_computing_ns(visit: dict[str, Any], call_ns: int) -> int:
    """What the operation takes while its target computes."""
    return call_ns if visit["rma_window"] in OF_MPI else target_work_ns(visit, call_ns) * 4 // 5


def overlaps(visit: dict[str, Any]) -> bool:
    return has(visit, "overlaps")


def computes_as_long(visit: dict[str, Any]) -> bool:
    """Whether it computes for as long as the operation takes, during it or before."""
    return overlaps(visit) or has(visit, "computes_first")


def work_ns(visit: dict[str, Any], call_ns: int) -> int:
    """How long ranks compute beside or before an operation that takes so long; 0 if they do not."""
    return has_number(visit, "work_times") * call_ns if computes_as_long(visit) else 0


def seen_of_work_ns(visit: dict[str, Any], call_ns: int) -> int:
    """What of the computation is seen: of a message all, unless the sender alone computes; else half."""
    if not overlaps(visit):
        return 0
    traits = PATTERNS[visit["pattern"]]
    mode = next(one for one in traits["modes"] if one["name"] == visit["mode"])
    told = traits["family"] == "message"
    hidden_ns = call_ns * (mode["computing"] == "send") if told else call_ns // 2
    return work_ns(visit, call_ns) - hidden_ns


def is_blind(visit: dict[str, Any]) -> bool:
    """Whether it deadlocks above the eager limit."""
    return has(visit, "needs_eager")


def knows_cpu_time(visit: dict[str, Any]) -> bool:
    """Not where preparations, acknowledgements or barriers lie between the samples, or a rank only waits."""
    if starts_together(visit):
        return bool(visit["sync"] == "common")
    if has(visit, "sampling") or has(visit, "target_waits"):
        return False
    return bool(PATTERNS[visit["pattern"]]["sampled"]["cpu_known"])
