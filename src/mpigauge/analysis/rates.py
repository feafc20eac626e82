"""What rates mean: bytes over time, and the bus bandwidth that the field gives beside it.

Formulas by number of ranks p and the bytes n of one rank's block, with t the time of the operation:

    algorithm bandwidth    n / t, or p n / t where every rank has a block for or from every rank
    bus bandwidth          algorithm bandwidth times a factor of the operation: what a link carries

The factors are those of nccl-tests (doc/PERFORMANCE.md there derives them), so that figures of any
number of ranks compare with the speed of the hardware.
"""

from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import Pattern, blocks_of


def algorithm_bytes(cell: Cell, pattern: Pattern) -> int:
    """Bytes that one operation is about, in all directions."""
    return directions_of(cell, pattern) * int(blocks_of(pattern.volumes.operation, cell.ranks)) * cell.bytes


def bus_bytes(cell: Cell, pattern: Pattern) -> float | None:
    """Bytes that one operation sends over a link; None where the field gives no bus bandwidth."""
    if not any(pattern.volumes.bus):
        return None
    return blocks_of(pattern.volumes.bus, cell.ranks) * directions_of(cell, pattern) * cell.bytes


def wire_bytes(cell: Cell, pattern: Pattern) -> int:
    """Bytes that all ranks together must get from others in one operation, whatever the algorithm."""
    return int(directions_of(cell, pattern) * blocks_of(pattern.volumes.wire, cell.ranks)) * cell.bytes


def directions_of(cell: Cell, pattern: Pattern) -> int:
    """Messages in flight at once between a pair of ranks."""
    mode = pattern.mode(cell.mode)
    return mode.directions if mode is not None else 1
