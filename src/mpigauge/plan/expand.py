"""A plan becomes cells: every combination that is to be measured, checked against what is possible."""

from collections.abc import Iterator

from mpigauge import units
from mpigauge.errors import UsageError
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import Description, Mode, Pattern, modes_of
from mpigauge.plan.sizes import parse_sizes

INT_MAX = 2**31 - 1
RANKS_PER_CORE_MOST = 64
IN_FLIGHT_BYTES = 16 * 2**20
WINDOW_LEAST = 2
EAGER_DEFAULT_BYTES = 4 * 2**20
FLOOR = "null"


def cells_of(plan: Plan, description: Description, mpi: str, mpi_version: str, where: str) -> list[Cell]:
    """All cells of one MPI library, each once, the instrument's floor included.

    Raises:
        UsageError: A pattern, mode or size that does not exist or cannot be measured; begins with
            `where`.
    """
    cells: dict[Cell, None] = {}
    # Wherever something is measured, the floor is, and nowhere else.
    ranks_used = dict.fromkeys(ranks for measure in plan.measure for ranks in measure.ranks or plan.ranks)
    for measure in (Measure(FLOOR, ranks=tuple(ranks_used)), *plan.measure):
        pattern = description.pattern(measure.pattern, where)
        for mode in modes_of(pattern, measure.modes, where):
            _check_mode(pattern, mode, measure, where)
            for ranks in measure.ranks or plan.ranks:
                _check_ranks(pattern, ranks, where)
                for size in _sizes(pattern, measure, plan.seed):
                    _check_size(mode, size, description, where)
                    cells[_cell(measure, pattern, mode, size, ranks, mpi, mpi_version)] = None
    return list(cells)


def _cell(
    measure: Measure, pattern: Pattern, mode: Mode, size: int, ranks: int, mpi: str, mpi_version: str
) -> Cell:
    return Cell(
        pattern=pattern.name,
        mode=mode.name,
        bytes=size,
        ranks=ranks,
        mpi=mpi,
        mpi_version=mpi_version,
        buffers=measure.buffers or "warm",
        window=window_for(measure.window, size) if pattern.windowed else 0,
    )


def window_for(window: int, size: int) -> int:
    """How many messages of `size` bytes are under way at once.

    The window asked for, but no more than 16 MiB in flight: large messages fill any link with a few
    of them, and a window of 64 would measure the memory that its receive buffers need instead.
    """
    return min(window, max(WINDOW_LEAST, IN_FLIGHT_BYTES // max(1, size)))


def _sizes(pattern: Pattern, measure: Measure, seed: int) -> tuple[int, ...]:
    if pattern.moves_bytes:
        return parse_sizes(measure.sizes or "auto", seed)
    if pattern.probes:
        return (max(parse_sizes(measure.sizes, seed)) if measure.sizes else EAGER_DEFAULT_BYTES,)
    return (0,)


def _check_mode(pattern: Pattern, mode: Mode, measure: Measure, where: str) -> None:
    if mode.binds_buffers and measure.buffers == "cold":
        raise UsageError(
            f"{where}: {pattern.name} {mode.name} ties its buffers to requests and cannot use cold ones",
            "take --buffers warm for this mode",
        )


def _check_ranks(pattern: Pattern, ranks: int, where: str) -> None:
    if ranks < pattern.min_ranks:
        raise UsageError(
            f"{where}: {pattern.name} needs at least {pattern.min_ranks} ranks, not {ranks}",
            f"take --np {pattern.min_ranks} or more",
        )


def _check_size(mode: Mode, size: int, description: Description, where: str) -> None:
    if size > INT_MAX and not description.large_counts:
        raise UsageError(
            f"{where}: messages of {units.format_size(size)} need the large counts of MPI 4, which this "
            "MPI library does not have",
            "take sizes below 2 GiB, or another library: --mpi mpich",
        )
    if mode.attaches_buffer and size > INT_MAX // 4 - 1024:
        raise UsageError(
            f"{where}: {mode.name} lends MPI a buffer of four messages, and four of "
            f"{units.format_size(size)} are more than MPI_Buffer_attach can take",
            "take sizes below 511 MiB for this mode",
        )


def check_ranks(plan: Plan, cores: int, where: str) -> None:
    """Refuses numbers of ranks that no machine of so many cores would survive."""
    most = RANKS_PER_CORE_MOST * cores
    for ranks in _all_ranks(plan):
        if ranks > most:
            raise UsageError(
                f"{where}: {ranks} ranks are too many for {cores} cores",
                f"take at most {most} on this machine",
            )


def _all_ranks(plan: Plan) -> Iterator[int]:
    yield from plan.ranks
    for measure in plan.measure:
        yield from measure.ranks


def memory_need(cell: Cell, description: Description, pool_bytes: int) -> int:
    """Bytes that all ranks of a cell together allocate: send and receive buffers, and what MPI is lent."""
    pattern = description.pattern(cell.pattern, "")
    mode = pattern.mode(cell.mode)
    active = pattern.active_ranks or cell.ranks
    received = max(1, cell.window) * cell.bytes
    lent = 4 * cell.bytes if mode is not None and mode.attaches_buffer else 0
    if cell.buffers == "cold":
        return active * (2 * max(pool_bytes, received) + lent)
    return active * (cell.bytes + received + lent)


def check_memory(
    cells: list[Cell], description: Description, pool_bytes: int, available_bytes: int, where: str
) -> None:
    """Refuses messages that do not fit into this machine's memory, before the kernel is killed for it."""
    for cell in cells:
        need = memory_need(cell, description, pool_bytes)
        if need > available_bytes:
            raise UsageError(
                f"{where}: {cell.pattern} {cell.mode} of {units.format_size(cell.bytes)} needs "
                f"{need / 2**30:.1f} GiB for its buffers, and {available_bytes / 2**30:.1f} GiB are free",
                "take smaller --sizes, fewer ranks, or --buffers warm",
            )
