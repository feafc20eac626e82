"""What rates mean: bytes over time, and the bus bandwidth that the field gives beside it.

Formulas by number of ranks p and the bytes n of one rank's block, with t the time of the operation:

    algorithm bandwidth    n / t, or p n / t where every rank has a block for or from every rank
    bus bandwidth          algorithm bandwidth times a factor of the operation: what a link carries

The factors are those of nccl-tests (doc/PERFORMANCE.md there derives them), so that figures of any
number of ranks compare with the speed of the hardware.
"""

from collections.abc import Callable, Mapping

from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import Pattern

BUS_FACTORS: Mapping[str, Callable[[int], float]] = {
    "same": lambda _: 1.0,
    "others": lambda ranks: (ranks - 1) / ranks,
    "twice": lambda ranks: 2 * (ranks - 1) / ranks,
}


def algorithm_bytes(cell: Cell, pattern: Pattern) -> int:
    """Bytes that one operation is about, in all directions."""
    mode = pattern.mode(cell.mode)
    directions = mode.directions if mode is not None else 1
    blocks = cell.ranks if pattern.send_each or pattern.recv_each else 1
    return directions * blocks * cell.bytes


def bus_bytes(cell: Cell, pattern: Pattern) -> float | None:
    """Bytes that one operation sends over a link; None where the field gives no bus bandwidth."""
    factor = BUS_FACTORS.get(pattern.bus)
    return None if factor is None else factor(cell.ranks) * algorithm_bytes(cell, pattern)
