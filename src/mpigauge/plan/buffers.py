"""The memory that cells need for their buffers, refused before a launch if there is less."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from mpigauge import units
from mpigauge.errors import UsageError
from mpigauge.plan.patterns import blocks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import Description


class Need(NamedTuple):
    """What each rank of a cell allocates, in bytes.

    Attributes:
        active: The ranks that do.
        sent: To send from.
        received: To receive into.
        lent: To lend to MPI, and to work in.
    """

    active: int
    sent: int
    received: int
    lent: int

    @property
    def all_ranks(self) -> int:
        """Of all ranks together."""
        return self.active * (self.sent + self.received + self.lent)


def need_of(cell: Cell, description: Description, pool_bytes: int) -> Need:
    """Of one cell.

    Args:
        pool_bytes: Of memory that is walked through, where buffers are cold.
    """
    pattern = description.pattern(cell.pattern, "")
    mode = pattern.mode(cell.mode)
    active = cell.ranks if cell.pair else pattern.active_ranks or cell.ranks
    sent = int(blocks_of(pattern.volumes.sent, active)) * cell.bytes
    received = max(1, cell.window) * int(blocks_of(pattern.volumes.received, active)) * cell.bytes
    if cell.in_place:
        received = max(received, sent)
    lent = 4 * cell.bytes if mode is not None and mode.attaches_buffer else 0
    lent += int(blocks_of(mode.scratch, active)) * cell.bytes if mode is not None else 0
    if cell.buffers == "cold":
        sent, received = max(pool_bytes, sent), max(pool_bytes, received)
    return Need(active, sent, received, lent)


def memory_need(cell: Cell, description: Description, pool_bytes: int) -> int:
    """Bytes that all ranks of a cell together allocate: send and receive buffers, and what MPI is lent."""
    return need_of(cell, description, pool_bytes).all_ranks


def together(needs: Sequence[Need]) -> int:
    """Bytes that all ranks of a launch allocate: the kernel keeps the largest buffer of each kind."""
    steps = sorted({need.active for need in needs} | {0}, reverse=True)
    total = 0
    for active, fewer in itertools.pairwise(steps):
        mine = [need for need in needs if need.active >= active]
        largest = sum(max(kind) for kind in zip(*(need[1:] for need in mine), strict=True))
        total += (active - fewer) * largest
    return total


def check_memory(
    cells: Sequence[Cell], description: Description, pool_bytes: int, available_bytes: int, where: str
) -> None:
    """Refuses cells of a job that do not fit into the memory of their hosts: the kernel would be killed.

    Raises:
        UsageError: The buffers of a cell are too large, or those that all cells leave behind.
    """
    needs = [need_of(cell, description, pool_bytes) for cell in cells]
    free = f"but only {available_bytes / 2**30:.1f} GiB are free"
    hint = "use smaller --sizes, fewer ranks, or --buffers warm"
    for cell, need in zip(cells, needs, strict=True):
        if need.all_ranks > available_bytes:
            raise UsageError(
                f"{where}: {cell.pattern} {cell.mode} of {units.format_size(cell.bytes)} needs "
                f"{need.all_ranks / 2**30:.1f} GiB of buffers, {free}",
                hint,
            )
    if (whole := together(needs)) > available_bytes:
        most = f"the largest buffers of its {len(cells)} cells"
        raise UsageError(f"{where}: {most} need {whole / 2**30:.1f} GiB, {free}", hint)
