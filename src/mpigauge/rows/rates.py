"""What rates mean: bytes over time, and the bus bandwidth that the field gives beside it.

Formulas by number of ranks p and the bytes n of one rank's block, with t the time of the operation:

    algorithm bandwidth    n / t, or p n / t where every rank has a block for or from every rank
    bus bandwidth          algorithm bandwidth times a factor of the operation: what a link carries

The factors are those of nccl-tests (doc/PERFORMANCE.md there derives them), so that figures of any
number of ranks compare with the speed of the hardware.
"""

from collections.abc import Mapping

from mpigauge.plan.groups import active_ranks
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import Pattern, Terms, blocks_of, known
from mpigauge.rows.estimate import Timing
from mpigauge.rows.reasons import ImplausibleRate

PLAUSIBLE_BYTES_PER_S = 384e9
"""No core is faster with what is larger than its L2: one cache line per cycle at 6 GHz.

Rates of 135 GB/s have been measured in the L3 of a Zen 5: a limit of half a line per cycle refuses true ones.
"""

POSSIBLE_BYTES_PER_S = 1e12
L2_BYTES = 4 * 2**20


def algorithm_bytes(cell: Cell, pattern: Pattern) -> int | None:
    """Return the bytes that an operation is about, all directions; None if they depend on unknown ranks."""
    mode = pattern.mode(cell.mode)
    if mode is not None and mode.no_rate:
        return 0
    blocks = _blocks_of_operation(cell, pattern)
    return None if blocks is None else directions_of(cell, pattern) * blocks * cell.bytes


def bus_bytes(cell: Cell, pattern: Pattern) -> float | None:
    """Return the bytes that an operation sends over a link; None where the field gives none, or as above."""
    blocks = _blocks(pattern.volumes.bus, cell) if any(pattern.volumes.bus) else None
    return None if blocks is None else blocks * directions_of(cell, pattern) * cell.bytes


def wire_bytes(cell: Cell, pattern: Pattern) -> int:
    """Return bytes that all ranks together must get from others in one operation, whatever the algorithm."""
    return (
        int(directions_of(cell, pattern) * blocks_of(pattern.volumes.wire, active_ranks(cell, None)))
        * cell.bytes
    )


def _blocks_of_operation(cell: Cell, pattern: Pattern) -> int | None:
    """Return the messages or blocks that a rate counts, per direction; the last of odd ranks has no pair."""
    blocks = _blocks(pattern.volumes.operation, cell)
    return None if blocks is None else int(blocks)


def _blocks(terms: Terms, cell: Cell) -> float | None:
    """Return how many blocks a volume is; None where that depends on a number of ranks that nobody says."""
    inverse, _, each, squared = terms
    if cell.ranks == 0 and (inverse or each or squared):
        return None
    return blocks_of(terms, active_ranks(cell, None))


def directions_of(cell: Cell, pattern: Pattern | None) -> int:
    """Return messages in flight at once between a pair of ranks."""
    mode = pattern.mode(cell.mode) if pattern is not None else None
    return mode.directions if mode is not None else 1


def rate_of(cell: Cell, pattern: Pattern | None, time: Timing | None) -> float | None:
    """Return bytes over the time of one operation (docs/numbers.md#rates: never a mean of rates)."""
    if time is None or pattern is None or not pattern.moves_bytes or time.estimate <= 0 or cell.bytes == 0:
        return None
    moved = algorithm_bytes(cell, pattern)
    return moved / time.estimate if moved else None


def bus_rate_of(cell: Cell, pattern: Pattern | None, time: Timing | None) -> float | None:
    """Return the bus bandwidth; None where there is none."""
    if time is None or pattern is None or time.estimate <= 0 or cell.bytes == 0:
        return None
    moved = bus_bytes(cell, pattern)
    return None if moved is None else moved / time.estimate


def message_rate_of(cell: Cell, pattern: Pattern | None, time: Timing | None) -> float | None:
    """Return messages over the time of one operation: those whose bytes the bandwidth counts, all directions.

    Of collectives of ours, one in each direction: how many messages they send is the library's choice.
    """
    if time is None or time.estimate <= 0:
        return None
    messages = _messages(cell, pattern)
    return None if messages is None else messages * directions_of(cell, pattern) / time.estimate


def _messages(cell: Cell, pattern: Pattern | None) -> int | None:
    """Return the messages of an operation per direction; None if they depend on unknown ranks."""
    if pattern is None or (pattern.name in known() and pattern.family != "message"):
        return 1
    return _blocks_of_operation(cell, pattern) if any(pattern.volumes.operation) else 1


def implausible(
    cell: Cell, pattern: Pattern | None, time: Timing, caches: Mapping[str, int]
) -> ImplausibleRate | None:
    """Return why a rate of memory cannot be true; None if it can (docs/method-memory.md#memory).

    Args:
        caches: Level and type to size in bytes, as the system claims it.
    """
    rate = rate_of(cell, pattern, time)
    if rate is None or pattern is None or not pattern.in_memory:
        return None
    l2_bytes = max((size for name, size in caches.items() if name.startswith("L2")), default=L2_BYTES)
    most = PLAUSIBLE_BYTES_PER_S if cell.bytes > l2_bytes else POSSIBLE_BYTES_PER_S
    return ImplausibleRate(rate) if rate > most else None
