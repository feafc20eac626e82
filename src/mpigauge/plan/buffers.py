"""Memory that cells need for their buffers; cells that do not fit are left out before a launch."""

from __future__ import annotations

import bisect
import itertools
from typing import TYPE_CHECKING, NamedTuple

from mpigauge import units
from mpigauge.plan.groups import active_ranks, ranks_in
from mpigauge.plan.left_out import LeftOut
from mpigauge.plan.patterns import blocks_of
from mpigauge.vocabulary import ROTATING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import KernelDescription, Mode, Pattern

HINT = "use smaller --sizes, fewer ranks, or --buffers warm"


class Need(NamedTuple):
    """Bytes that each rank of a range allocates for a cell.

    Attributes:
        first: The first rank.
        end: The rank after the last one.
        sent: Send buffer.
        received: Receive buffer.
        attached: Memory attached to MPI, and scratch memory.
        exposed: What others reach by one-sided operations, which is in a window and in no buffer.
        window: The window it is in: all cells with this one share it.
    """

    first: int
    end: int
    sent: int
    received: int
    attached: int
    exposed: int = 0
    window: str = ""


def needs_of(cell: Cell, description: KernelDescription, pool_bytes: int) -> list[Need]:
    """Return what the ranks of a cell allocate; the root of an operation may need more.

    Args:
        pool_bytes: Memory that is walked through if buffers are cold.
    """
    pattern = description.pattern(cell.pattern, "")
    mode = pattern.mode(cell.mode)
    active = cell.ranks if cell.pair else active_ranks(cell, pattern)
    sent, received = (int(blocks_of(of, active)) for of in (pattern.volumes.sent, pattern.volumes.received))
    lent = 4 * cell.bytes if mode is not None and mode.attaches_buffer else 0
    lent += int(blocks_of(mode.scratch, active)) * _spread_bytes(cell, mode) if mode is not None else 0

    def need(first: int, past: int, sent: int, received: int) -> Need:
        to_send, to_receive = (max(1, cell.window) * blocks * cell.bytes for blocks in (sent, received))
        if cell.in_place:
            to_receive = max(to_receive, to_send)
        if cell.buffers == "cold":
            to_send, to_receive = max(pool_bytes, to_send), max(pool_bytes, to_receive)
        window = f"{active} {cell.rma_window}" if pattern.one_sided else ""
        if window and pattern.exposes_send:
            return Need(first, past, 0, to_receive, lent, to_send, window)
        if window:
            return Need(first, past, to_send, 0, lent, to_receive, window)
        return Need(first, past, to_send, to_receive, lent)

    spans = _spans(ranks_in(cell, pattern)) if cell.group else [(0, active)]
    if not _root_alone(cell, pattern, mode):
        return [need(*span, sent, received) for span in spans]
    root = ranks_in(cell, pattern)[int(cell.root)]
    others = [need(*span, min(sent, 1), min(received, 1)) for span in spans]
    return [*others, need(root, root + 1, sent, received)]


def _spans(ranks: Sequence[int]) -> list[tuple[int, int]]:
    """Return runs of ranks without a gap: the first of each, and the one after its last."""
    spans: list[tuple[int, int]] = []
    for rank in sorted(ranks):
        if spans and spans[-1][1] == rank:
            spans[-1] = (spans[-1][0], rank + 1)
        else:
            spans.append((rank, rank + 1))
    return spans


def _spread_bytes(cell: Cell, mode: Mode) -> int:
    """Return the bytes of a message with the gaps between its blocks, or of all messages of a queue."""
    if mode.strided and cell.block_bytes:
        return cell.bytes // cell.block_bytes * cell.stride_bytes
    return cell.bytes * max(1, cell.depth) if mode.message_each else cell.bytes


def _root_alone(cell: Cell, pattern: Pattern, mode: Mode | None) -> bool:
    """Return whether only the root needs room for the blocks of all ranks."""
    return pattern.rooted and cell.root not in {"", ROTATING} and not (mode and mode.room_everywhere)


def memory_need(cell: Cell, description: KernelDescription, pool_bytes: int) -> int:
    """Return the bytes that all ranks of a cell together allocate: buffers, and memory attached to MPI."""
    return total_bytes(needs_of(cell, description, pool_bytes))


def total_bytes(needs: Iterable[Need]) -> int:
    """Return the bytes that all ranks of a launch allocate: one buffer of each kind, and all windows."""
    distinct = set(needs)
    ends = sorted({need.first for need in distinct} | {need.end for need in distinct})
    total = 0
    for first, past in itertools.pairwise(ends):
        covering = [need for need in distinct if need.first <= first and past <= need.end]
        largest = [max(kind) for kind in zip(*(need[2:5] for need in covering), strict=True)]
        total += (past - first) * (sum(largest) + _in_windows(covering))
    return total


def _in_windows(needs: Iterable[Need]) -> int:
    """Return the bytes of all windows of a rank: of each, what the cell with most needs of it."""
    largest: dict[str, int] = {}
    for need in needs:
        largest[need.window] = max(largest.get(need.window, 0), need.exposed)
    return sum(largest.values())


def too_large(
    cells: Sequence[Cell], description: KernelDescription, pool_bytes: int, available_bytes: int
) -> list[LeftOut]:
    """Return the cells to leave out so that a job fits into memory: else the kernel would be killed.

    Cells that are too large by themselves; then the largest others, until the rest fits together.
    """
    needs = {cell: tuple(needs_of(cell, description, pool_bytes)) for cell in cells}
    size_of_need = {need: total_bytes(need) for need in set(needs.values())}  # pairs of a map are all alike
    sizes = {cell: size_of_need[need] for cell, need in needs.items()}
    rising = sorted((cell for cell in cells if sizes[cell] <= available_bytes), key=lambda cell: sizes[cell])

    def exceed(count: int) -> bool:
        of_all = {needs[cell] for cell in rising[:count]}
        return total_bytes(itertools.chain.from_iterable(of_all)) > available_bytes

    kept = (
        bisect.bisect_left(range(1, len(rising) + 1), True, key=exceed)
        if exceed(len(rising))
        else len(rising)
    )
    beyond = {*rising[kept:]}
    return [
        _left_out(cell, sizes[cell], available_bytes, len(rising) if cell in beyond else 1)
        for cell in cells
        if sizes[cell] > available_bytes or cell in beyond
    ]


def _left_out(cell: Cell, size: int, available_bytes: int, cells: int) -> LeftOut:
    with_others = f" beside those of {units.counted(cells - 1, 'other cell')}" if cells > 1 else ""
    return LeftOut(
        cell,
        "memory",
        f"{cell.pattern} {cell.mode} of {units.format_size(cell.bytes)} needs {_amount(size)} of "
        f"buffers{with_others}, but only {_amount(available_bytes)} are free",
        HINT,
    )


def _amount(size: int) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"
