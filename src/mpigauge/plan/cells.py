"""A plan becomes cells: every combination that is to be measured, checked against what is possible."""

from collections.abc import Iterator
from itertools import combinations, product
from typing import Literal

from msgspec.structs import replace

from mpigauge import units
from mpigauge.errors import UsageError, choose_from
from mpigauge.plan.hosts import DIFFERENT_HOSTS, SAME_HOST, placement_of, places_of, ranks_of
from mpigauge.plan.model import Cell, Measure, Plan, Sync
from mpigauge.plan.patterns import ALL, Description, Mode, Pattern, modes_of
from mpigauge.plan.round_robin import name_of
from mpigauge.plan.sizes import parse_sizes

INT_MAX = 2**31 - 1
RANKS_PER_CORE_MOST = 64
IN_FLIGHT_BYTES = 16 * 2**20
WINDOW_LEAST = 2
EAGER_DEFAULT_BYTES = 4 * 2**20
FLOOR = "null"
DATATYPE = "double"
OPERATION = "sum"
ROTATING = "rotating"
SHARED_MEMORY = "shm"


def cells_of(plan: Plan, description: Description, mpi: str, mpi_version: str, where: str) -> list[Cell]:
    """All cells of one MPI library, each once, the instrument's floor included.

    Raises:
        UsageError: A pattern, mode or size that does not exist or cannot be measured; begins with
            `where`.
    """
    cells: dict[Cell, None] = {}
    # Wherever something is measured, the floor is, and nowhere else.
    ranks_used = dict.fromkeys(ranks for measure in plan.measure for ranks in measure.ranks or plan.ranks)
    measures = (Measure(FLOOR, ranks=tuple(ranks_used)), *plan.measure)
    usual = DIFFERENT_HOSTS if len(plan.hosts) > 1 else SAME_HOST
    placements = [placement_of(text, plan.hosts, where) for text in plan.placements or (usual,)]
    for transport, placement, measure in product(plan.transports, placements, measures):
        pattern = description.pattern(measure.pattern, where)
        start = Cell("", "", 0, 0, mpi, mpi_version, transport, placement)
        for curve in _curves(plan, measure, pattern, description, start, where):
            for size in _sizes(pattern, curve, measure, plan.seed, description):
                cell = replace(curve, bytes=size, window=_window(pattern, measure, size))
                _check_size(pattern, cell, description, where)
                cells[cell] = None
    if not cells:
        raise UsageError(
            f"{where}: shared memory does not reach other hosts", "use --transport tcp or auto between hosts"
        )
    return list(cells)


def _curves(
    plan: Plan, measure: Measure, pattern: Pattern, description: Description, cell: Cell, where: str
) -> Iterator[Cell]:
    """Cells without a size: all other factors of a measure, combined."""
    cell = replace(
        cell,
        pattern=pattern.name,
        buffers=measure.buffers or "warm",
        in_place=measure.in_place and pattern.may_in_place,
    )
    for mode in modes_of(pattern, measure.modes, where):
        _check_mode(pattern, mode, measure, where)
        for ranks in _rank_counts(plan, measure, cell, where):
            _check_ranks(pattern, ranks, where)
            for sync, root, (datatype, op) in product(
                _syncs(pattern, measure),
                _roots(pattern, mode, measure, ranks, where),
                _reductions(pattern, measure, description, where),
            ):
                whole = replace(
                    cell, mode=mode.name, ranks=ranks, sync=sync, root=root, datatype=datatype, op=op
                )
                yield from _pairs(pattern, measure, whole, where)


def _pairs(pattern: Pattern, measure: Measure, cell: Cell, where: str) -> Iterator[Cell]:
    """A cell for each pair of ranks, where that was asked for."""
    if not measure.pairs:
        yield cell
        return
    if pattern.active_ranks != 2:  # noqa: PLR2004 - a pair
        raise UsageError(
            f"{where}: {pattern.name} is not between two ranks and has no pairs", "use pingpong, for example"
        )
    for pair in combinations(range(cell.ranks), 2):
        yield replace(cell, pair=name_of(pair), pairing=measure.pairs)


def _rank_counts(plan: Plan, measure: Measure, cell: Cell, where: str) -> Iterator[int]:
    """Numbers of ranks, or the one of a placement that lists them; none where shared memory ends."""
    listed = ranks_of(cell.placement)
    for ranks in (listed,) if listed else measure.ranks or plan.ranks:
        places = places_of(cell.placement, plan.hosts, ranks, where)
        if cell.transport != SHARED_MEMORY or len(set(places)) <= 1:
            yield ranks


def _syncs(pattern: Pattern, measure: Measure) -> tuple[Sync | Literal[""], ...]:
    return (measure.sync or ("common",)) if pattern.starts_together else ("",)


def _roots(pattern: Pattern, mode: Mode, measure: Measure, ranks: int, where: str) -> tuple[str, ...]:
    if not pattern.rooted:
        return ("",)
    roots = measure.roots or (0,)
    for root in roots:
        if root == ROTATING and mode.binds_buffers:
            raise UsageError(
                f"{where}: {pattern.name} {mode.name} is bound to one root, which cannot rotate",
                "use a fixed --root for this mode",
            )
        if isinstance(root, int) and root >= ranks:
            raise UsageError(
                f"{where}: rank {root} cannot be the root of {ranks} ranks", f"use 0 to {ranks - 1}"
            )
    return tuple(str(root) for root in roots)


def _reductions(
    pattern: Pattern, measure: Measure, description: Description, where: str
) -> tuple[tuple[str, str], ...]:
    """Datatypes and operations that MPI defines together."""
    if not pattern.reduces:
        return (("", ""),)
    names = measure.datatypes or (DATATYPE,)
    datatypes = (
        description.datatypes if ALL in names else tuple(description.datatype(n, where) for n in names)
    )
    known = tuple(dict.fromkeys(op for datatype in description.datatypes for op in datatype.operations))
    ops = known if ALL in measure.ops else measure.ops or (OPERATION,)
    for op in ops:
        if op not in known:
            raise UsageError(f"{where}: no operation is called {op!r}", choose_from([*known, ALL], op))
        if not any(op in datatype.operations for datatype in datatypes):
            raise UsageError(
                f"{where}: MPI does not define {op} for {' or '.join(names)}", "use --datatype int32"
            )
    return tuple((d.name, op) for d in datatypes for op in ops if op in d.operations)


def _window(pattern: Pattern, measure: Measure, size: int) -> int:
    return window_for(measure.window, size) if pattern.windowed else 0


def window_for(window: int, size: int) -> int:
    """How many messages of `size` bytes are under way at once.

    The window asked for, but no more than 16 MiB in flight: large messages fill any link with a few
    of them, and a window of 64 would measure the memory that its receive buffers need instead.
    """
    return min(window, max(WINDOW_LEAST, IN_FLIGHT_BYTES // max(1, size)))


def _sizes(
    pattern: Pattern, curve: Cell, measure: Measure, seed: int, description: Description
) -> tuple[int, ...]:
    if pattern.sized:
        unit = description.datatype(curve.datatype, "").bytes if curve.datatype else pattern.unit_bytes
        sizes = parse_sizes(measure.sizes or "auto", seed)
        return tuple(dict.fromkeys(_whole(size, unit, bool(pattern.unit_bytes)) for size in sizes))
    if pattern.probes:
        return (max(parse_sizes(measure.sizes, seed)) if measure.sizes else EAGER_DEFAULT_BYTES,)
    return (0,)


def _whole(size: int, unit: int, never_empty: bool) -> int:
    """The next larger whole number of units."""
    return max(unit if never_empty else 0, -(-size // unit) * unit) if unit else size


def _check_mode(pattern: Pattern, mode: Mode, measure: Measure, where: str) -> None:
    if mode.binds_buffers and measure.buffers == "cold":
        raise UsageError(
            f"{where}: {pattern.name} {mode.name} reuses the same buffers in every call "
            "and cannot use cold ones",
            "use --buffers warm for this mode",
        )


def _check_ranks(pattern: Pattern, ranks: int, where: str) -> None:
    if ranks < pattern.min_ranks:
        raise UsageError(
            f"{where}: {pattern.name} needs at least {pattern.min_ranks} ranks, not {ranks}",
            f"use --np {pattern.min_ranks} or more",
        )


def _check_size(pattern: Pattern, cell: Cell, description: Description, where: str) -> None:
    size, mode = cell.bytes, pattern.mode(cell.mode)
    ranks = pattern.active_ranks or cell.ranks
    if (pattern.starts_together or pattern.reduces or pattern.bus) and size > INT_MAX // ranks:
        raise UsageError(
            f"{where}: {units.format_size(size)} for each of {ranks} ranks exceed the counts of "
            f"{pattern.name}",
            f"use sizes up to {units.format_size(INT_MAX // ranks)}",
        )
    sends = pattern.active_ranks != 1 and pattern.sampling != "prepared"
    if sends and size > INT_MAX and not description.large_counts:
        raise UsageError(
            f"{where}: messages of {units.format_size(size)} need the large counts of MPI 4, which this "
            "MPI library lacks",
            "use sizes below 2 GiB, or another library: --mpi mpich",
        )
    if mode is not None and mode.attaches_buffer and size > INT_MAX // 4 - 1024:
        raise UsageError(
            f"{where}: {mode.name} lends MPI a buffer of four messages, and four of "
            f"{units.format_size(size)} exceed what MPI_Buffer_attach can take",
            "use sizes below 511 MiB for this mode",
        )


def check_ranks(plan: Plan, cores: int, where: str) -> None:
    """Refuses numbers of ranks that no machine of so many cores would survive; hosts have slots for that."""
    if plan.hosts:
        return
    most = RANKS_PER_CORE_MOST * cores
    for ranks in _all_ranks(plan):
        if ranks > most:
            raise UsageError(
                f"{where}: {ranks} ranks are too many for {cores} cores",
                f"use at most {most} on this machine",
            )


def _all_ranks(plan: Plan) -> Iterator[int]:
    yield from plan.ranks
    for measure in plan.measure:
        yield from measure.ranks


def memory_need(cell: Cell, description: Description, pool_bytes: int) -> int:
    """Bytes that all ranks of a cell together allocate: send and receive buffers, and what MPI is lent."""
    pattern = description.pattern(cell.pattern, "")
    mode = pattern.mode(cell.mode)
    if pattern.spans_bytes:
        return cell.bytes
    active = cell.ranks if cell.pair else pattern.active_ranks or cell.ranks
    sent = cell.bytes * (active if pattern.send_each else 1)
    received = max(1, cell.window) * cell.bytes * (active if pattern.recv_each or cell.in_place else 1)
    lent = 4 * cell.bytes if mode is not None and mode.attaches_buffer else 0
    if cell.buffers == "cold":
        return active * (max(pool_bytes, sent) + max(pool_bytes, received) + lent)
    return active * (sent + received + lent)


def check_memory(
    cells: list[Cell], description: Description, pool_bytes: int, available_bytes: int, where: str
) -> None:
    """Refuses messages that do not fit into the memory of their hosts, before the kernel is killed for it."""
    for cell in cells:
        need = memory_need(cell, description, pool_bytes)
        if need > available_bytes:
            raise UsageError(
                f"{where}: {cell.pattern} {cell.mode} of {units.format_size(cell.bytes)} needs "
                f"{need / 2**30:.1f} GiB of buffers, but only {available_bytes / 2**30:.1f} GiB are free",
                "use smaller --sizes, fewer ranks, or --buffers warm",
            )
