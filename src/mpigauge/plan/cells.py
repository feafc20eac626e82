"""A plan becomes cells: every combination that is to be measured, checked against what is possible."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

from msgspec.structs import replace

from mpigauge import units
from mpigauge.errors import UsageError, choose_from
from mpigauge.plan.factors import FACTORS, Factor, Value, usual
from mpigauge.plan.hosts import placement_of, places_of, ranks_of
from mpigauge.plan.left_out import LeftOut
from mpigauge.plan.model import Cell, JobKey, Measure, Plan
from mpigauge.plan.patterns import KernelDescription, Mode, Pattern, modes_of
from mpigauge.plan.round_robin import name_of
from mpigauge.plan.sizes import parse_sizes
from mpigauge.vocabulary import ALL, AUTO, DIFFERENT_HOSTS, ROTATING, SAME_HOST

INT_MAX = 2**31 - 1
RANKS_PER_CORE_MOST = 64
IN_FLIGHT_BYTES = 16 * 2**20
WINDOW_LEAST = 2
EAGER_DEFAULT_BYTES = 4 * 2**20
SHARED_MEMORY = "shm"

VISITS_MOST = 1_000_000
"""Of a launch: every rank keeps some 140 bytes of each, and the campaign half a kilobyte of those made."""


class Expanded(NamedTuple):
    """What a plan is made of.

    Attributes:
        cells: To be measured.
        left_out: Those that cannot be, with their reasons.
    """

    cells: list[Cell]
    left_out: list[LeftOut]


def cells_of(
    plan: Plan, description: KernelDescription, mpi: str, mpi_version: str, where: str, label: str = ""
) -> Expanded:
    """All cells of one MPI library, each once, the instrument's floor included.

    A size that cannot be is left out where something else remains.

    Args:
        label: What the user calls the library.

    Raises:
        UsageError: A pattern or mode that does not exist, or none of the sizes can be measured; begins
            with `where`.
    """
    cells: dict[Cell, None] = {}
    left_out: dict[Cell, LeftOut] = {}
    visits: Counter[JobKey] = Counter()
    # Wherever something is measured, the floor is, and nowhere else.
    ranks_used = dict.fromkeys(ranks for measure in plan.measure for ranks in measure.ranks or plan.ranks)
    measures = (Measure(description.floor.name, ranks=tuple(ranks_used)), *plan.measure)
    usual = DIFFERENT_HOSTS if len(plan.hosts) > 1 else SAME_HOST
    placements = [placement_of(text, plan.hosts, where) for text in plan.placements or (usual,)]
    for setting, transport, placement, measure in product(
        plan.settings, plan.transports, placements, measures
    ):
        pattern = description.pattern(measure.pattern, where)
        start = Cell(
            pattern.name, "", 0, 0, mpi, mpi_version, transport, placement, label=label, setting=setting
        )
        for cell in _expanded(_Asked(plan, measure, pattern, description, where), start, EXPANDED):
            if (why := _impossible(pattern, cell, description)) is not None:
                left_out[cell] = why
            elif cell not in cells:
                cells[cell] = None
                _check_visits(visits, cell, plan, where)
    if not cells:
        raise UsageError(
            f"{where}: shared memory does not reach other hosts", "use --transport tcp or auto between hosts"
        )
    expanded = Expanded(list(cells), list(left_out.values()))
    check_remaining(expanded, description, where)
    return expanded


def check_remaining(expanded: Expanded, description: KernelDescription, where: str) -> None:
    """Refuses a plan of which nothing remains but the floor, with the first reason."""
    floor = description.floor.name
    if expanded.left_out and all(cell.pattern == floor for cell in expanded.cells):
        why = expanded.left_out[0]
        raise UsageError(f"{where}: {why.reason}", why.hint)


def _check_visits(visits: Counter[JobKey], cell: Cell, plan: Plan, where: str) -> None:
    """Counts those of one more cell and refuses more than a launch can have."""
    visits[cell.job] += plan.visits
    if visits[cell.job] > VISITS_MOST:
        raise UsageError(
            f"{where}: a launch of {cell.ranks} ranks would have more than {VISITS_MOST:,} visits, which is "
            "the most that fits into the memory of its ranks",
            "use fewer sizes or modes, or several plans",
        )


def _check_pairs(ranks: int, sizes: int, plan: Plan, where: str) -> None:
    """Refuses pairs before there are millions of them."""
    pairs = ranks * (ranks - 1) // 2
    visits = pairs * sizes * plan.visits
    if visits > VISITS_MOST:
        raise UsageError(
            f"{where}: {ranks} ranks are {pairs:,} pairs, which with {units.counted(sizes, 'size')} and "
            f"{plan.visits} visits of each are {visits:,} visits of a launch, of at most {VISITS_MOST:,}",
            "use fewer ranks: a part of the hosts, or one rank on each; or one size",
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one table of a plan asks for, and of what."""

    plan: Plan
    measure: Measure
    pattern: Pattern
    description: KernelDescription
    where: str


EXPANDED = tuple(factor for factor in FACTORS if factor.asked)
"""What is combined within one table of a plan; the others are libraries, transports and placements."""


def _expanded(asked: _Asked, cell: Cell, factors: Sequence[Factor]) -> Iterator[Cell]:
    """All combinations of the values of these factors; each may depend on those before it."""
    if not factors:
        yield cell
        return
    first, *others = factors
    for value in _values(asked, cell, first):
        yield from _expanded(asked, replace(cell, **{first.name: value}), others)


def _values(asked: _Asked, cell: Cell, factor: Factor) -> Iterable[Value]:
    """The values of one factor: those asked for, else the usual one; the cell's own where it has none."""
    if factor.has and not getattr(asked.pattern, factor.has):
        return (getattr(cell, factor.name),)
    if factor.name in VALUES:
        return VALUES[factor.name](asked, cell)
    said = getattr(asked.measure, factor.asked)
    values = said if isinstance(said, tuple) else (said,) if said else ()
    return values or (usual(factor.name),)


def _modes(asked: _Asked, _: Cell) -> Iterator[str]:
    for mode in modes_of(asked.pattern, asked.measure.modes, asked.where):
        _check_mode(asked.pattern, mode, asked.measure, asked.where)
        yield mode.name


def _rank_counts(asked: _Asked, cell: Cell) -> Iterator[int]:
    """Numbers of ranks, or the one of a placement that lists them; none where shared memory ends."""
    listed = ranks_of(cell.placement)
    for ranks in (listed,) if listed else asked.measure.ranks or asked.plan.ranks:
        places = places_of(cell.placement, asked.plan.hosts, ranks, asked.where)
        if cell.transport != SHARED_MEMORY or len(set(places)) <= 1:
            _check_ranks(asked.pattern, ranks, asked.where)
            yield ranks


def _roots(asked: _Asked, cell: Cell) -> Iterator[str]:
    mode = asked.pattern.mode(cell.mode)
    for root in asked.measure.roots or (usual("root"),):
        if root == ROTATING and mode is not None and mode.binds_buffers:
            raise UsageError(
                f"{asked.where}: {asked.pattern.name} {mode.name} is bound to one root, which cannot rotate",
                "use a fixed --root for this mode",
            )
        if isinstance(root, int) and root >= cell.ranks:
            raise UsageError(
                f"{asked.where}: rank {root} cannot be the root of {cell.ranks} ranks",
                f"use 0 to {cell.ranks - 1}",
            )
        yield str(root)


def _datatypes(asked: _Asked, _: Cell) -> Iterator[str]:
    """Those asked for that know one of the operations asked for."""
    names = asked.measure.datatypes or (str(usual("datatype")),)
    known = asked.description.datatypes
    datatypes = known if ALL in names else [asked.description.datatype(n, asked.where) for n in names]
    for op in _operations_asked(asked):
        if not any(op in datatype.operations for datatype in datatypes):
            raise UsageError(
                f"{asked.where}: MPI does not define {op} for {' or '.join(names)}", "use --datatype int32"
            )
    yield from (datatype.name for datatype in datatypes)


def _operations(asked: _Asked, cell: Cell) -> Iterator[str]:
    """Those that MPI defines for the cell's datatype."""
    datatype = asked.description.datatype(cell.datatype, asked.where)
    yield from (op for op in _operations_asked(asked) if op in datatype.operations)


def _operations_asked(asked: _Asked) -> Sequence[str]:
    datatypes = asked.description.datatypes
    known = tuple(dict.fromkeys(op for datatype in datatypes for op in datatype.operations))
    ops = asked.measure.ops or (str(usual("op")),)
    for op in () if ALL in ops else ops:
        if op not in known:
            raise UsageError(f"{asked.where}: no operation is called {op!r}", choose_from([*known, ALL], op))
    return known if ALL in ops else ops


def _pairs(asked: _Asked, cell: Cell) -> Iterator[str]:
    """Each pair of ranks, where that was asked for."""
    if not asked.measure.pairs:
        yield ""
        return
    if asked.pattern.active_ranks != 2:  # noqa: PLR2004 - a pair
        raise UsageError(
            f"{asked.where}: {asked.pattern.name} is not between two ranks and has no pairs",
            "use pingpong, for example",
        )
    _check_pairs(cell.ranks, len(list(_sizes(asked, cell))), asked.plan, asked.where)
    yield from (name_of(pair) for pair in combinations(range(cell.ranks), 2))


def _sizes(asked: _Asked, cell: Cell) -> Iterable[int]:
    pattern, sizes, seed = asked.pattern, asked.measure.sizes, asked.plan.seed
    if pattern.sized:
        datatype = asked.description.datatype(cell.datatype, "") if cell.datatype else None
        unit = datatype.bytes if datatype else pattern.unit_bytes
        wanted = parse_sizes(sizes or AUTO, seed)
        return dict.fromkeys(_whole(size, unit, bool(pattern.unit_bytes)) for size in wanted)
    if pattern.probes:
        return (max(parse_sizes(sizes, seed)) if sizes else EAGER_DEFAULT_BYTES,)
    return (0,)


def _whole(size: int, unit: int, never_empty: bool) -> int:
    """The next larger whole number of units."""
    return max(unit if never_empty else 0, -(-size // unit) * unit) if unit else size


def _windows(asked: _Asked, cell: Cell) -> Iterable[int]:
    return (window_for(asked.measure.window or int(usual("window")), cell.bytes),)


VALUES: Mapping[str, Callable[[_Asked, Cell], Iterable[Value]]] = {
    "mode": _modes,
    "ranks": _rank_counts,
    "root": _roots,
    "datatype": _datatypes,
    "op": _operations,
    "pair": _pairs,
    "pairing": lambda asked, _: (asked.measure.pairs,),
    "bytes": _sizes,
    "window": _windows,
}
"""Of factors whose values are more than what was asked for: they are checked, or follow from others."""


def window_for(window: int, size: int) -> int:
    """How many messages of `size` bytes are in flight at once.

    The window asked for, but no more than 16 MiB in flight: large messages fill any link with a few
    of them, and a window of 64 would measure the memory that its receive buffers need instead.
    """
    return min(window, max(WINDOW_LEAST, IN_FLIGHT_BYTES // max(1, size)))


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


def _impossible(pattern: Pattern, cell: Cell, description: KernelDescription) -> LeftOut | None:
    """Why a cell of this size cannot be, if it cannot."""
    size, mode = cell.bytes, pattern.mode(cell.mode)
    if pattern.counted:
        most = _counted_most(pattern, mode, cell, description)
        return _beyond_counts(pattern, cell, most) if size > most else None
    if pattern.sends and size > INT_MAX and not description.large_counts:
        return LeftOut(
            cell,
            "library",
            f"messages of {units.format_size(size)} need the large counts of MPI 4, which this MPI library "
            "lacks",
            "use sizes below 2 GiB, or another library: --mpi mpich",
        )
    if mode is not None and mode.attaches_buffer and size > INT_MAX // 4 - 1024:
        return LeftOut(
            cell,
            "buffer",
            f"{mode.name} lends MPI a buffer of four messages, and four of {units.format_size(size)} exceed "
            "what MPI_Buffer_attach can take",
            "use sizes below 511 MiB for this mode",
        )
    return None


def _counted_most(pattern: Pattern, mode: Mode | None, cell: Cell, description: KernelDescription) -> int:
    """The largest size of which an int counts the elements: of one call, or the blocks of all ranks."""
    width = description.datatype(cell.datatype, "").bytes if pattern.reduces else 1
    blocks = (pattern.active_ranks or cell.ranks) if mode is not None and mode.counts_all else 1
    return INT_MAX // blocks * width


def _beyond_counts(pattern: Pattern, cell: Cell, most: int) -> LeftOut:
    mode = pattern.mode(cell.mode)
    ranks = pattern.active_ranks or cell.ranks
    each = f" for each of {ranks} ranks" if mode is not None and mode.counts_all else ""
    return LeftOut(
        cell,
        "counts",
        f"{units.format_size(cell.bytes)}{each} exceed the counts of {pattern.name} {cell.mode}",
        f"use sizes up to {units.format_size(most)}",
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
