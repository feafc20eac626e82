"""From a plan to cells: all combinations of factors that are to be measured and possible."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

from msgspec.structs import replace

from mpigauge import units
from mpigauge.errors import UsageError, choose_from
from mpigauge.plan.factors import FACTORS, STRIDE_IN_BLOCKS, Factor, Value, default_value
from mpigauge.plan.groups import active_ranks, groups_of, selected, sender_count, set_at_once
from mpigauge.plan.hosts import placement_of, places_of, ranks_of
from mpigauge.plan.left_out import LeftOut, with_sets
from mpigauge.plan.model import Cell, JobKey, Measure, Plan
from mpigauge.plan.patterns import KernelDescription, Mode, Pattern, modes_of
from mpigauge.plan.round_robin import pair_name
from mpigauge.plan.sizes import USUAL_SIZES, parse_sizes
from mpigauge.sequences import group_by
from mpigauge.vocabulary import ALL, AUTO, DIFFERENT_HOSTS, NATURAL, ROTATING, SAME_HOST

INT_MAX = 2**31 - 1
MAX_RANKS_PER_CORE = 64
IN_FLIGHT_BYTES = 16 * 2**20
AT_A_ROOT_BYTES = 2**30
MIN_WINDOW = 2
EAGER_DEFAULT_BYTES = 4 * 2**20
SHARED_MEMORY = "shm"

MAX_VISITS = 1_000_000
"""Most visits of a launch: every rank keeps about 140 bytes per visit, and the campaign half a kilobyte."""


class Expanded(NamedTuple):
    """The cells of a plan.

    Attributes:
        cells: Cells to be measured.
        left_out: Cells that cannot be measured, with the reasons.
    """

    cells: list[Cell]
    left_out: list[LeftOut]


def cells_of(
    plan: Plan, description: KernelDescription, mpi: str, mpi_version: str, where: str, label: str = ""
) -> Expanded:
    """Return all cells of one MPI library, each once, with the floor.

    Impossible sizes are left out if others remain.

    Args:
        label: The user's name for the library.

    Raises:
        UsageError: A pattern or mode does not exist, or none of the sizes can be measured; begins with
            `where`.
    """
    cells: dict[Cell, None] = {}
    left_out: dict[Cell, LeftOut] = {}
    visits: Counter[JobKey] = Counter()
    # The floor is measured with all numbers of ranks in use, and no others.
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
        for cell in _expanded(_Table(plan, measure, pattern, description, where), start, EXPANDED):
            if (why := _impossible(pattern, cell, description)) is not None:
                left_out[cell] = why
            elif cell not in cells:
                cells[cell] = None
                _check_visits(visits, cell, plan, where)
    if not cells:
        raise UsageError(
            f"{where}: shared memory does not reach other hosts", "use --transport tcp or auto between hosts"
        )
    possible, gone = without(cells, with_sets(list(left_out.values()), cells))
    expanded = without(possible, [*gone, *_of_same_ranks(possible)])
    check_remaining(expanded, description, where)
    return expanded


def _of_same_ranks(cells: Iterable[Cell]) -> Iterator[LeftOut]:
    """Yield cells whose order or rule of groups gives the same ranks as that of an earlier cell."""
    first: dict[object, Cell] = {}
    choosing = (cell for cell in cells if not cell.pair)
    for whole, at_once in group_by(choosing, set_at_once).items():
        same = replace(whole, group="", groups="", order="")
        key = (same, bool(whole.groups), frozenset(cell.group for cell in at_once))
        earlier = first.setdefault(key, whole)
        if earlier is not whole:
            yield from (_same_ranks(cell, earlier) for cell in at_once)


def _same_ranks(cell: Cell, earlier: Cell) -> LeftOut:
    if cell.groups != earlier.groups:
        reason = f"--groups {cell.groups} makes the groups of --groups {earlier.groups}"
    else:
        ranks = units.counted(active_ranks(cell, None), "rank")
        orders = [one.order or NATURAL for one in (cell, earlier)]
        reason = f"the {orders[0]} order of {ranks} is their {orders[1]} order"
    return LeftOut(cell, "same-ranks", f"{reason}, which is measured", "ask for one of them")


def without(cells: Iterable[Cell], left_out: list[LeftOut]) -> Expanded:
    """Return the cells but for those that are left out."""
    gone = {one.cell for one in left_out}
    return Expanded([cell for cell in cells if cell not in gone], left_out)


def check_remaining(expanded: Expanded, description: KernelDescription, where: str) -> None:
    """Refuse a plan of which only the floor remains, with the first reason."""
    floor = description.floor.name
    if expanded.left_out and all(cell.pattern == floor for cell in expanded.cells):
        why = expanded.left_out[0]
        raise UsageError(f"{where}: {why.reason}", why.hint)


def _check_visits(visits: Counter[JobKey], cell: Cell, plan: Plan, where: str) -> None:
    """Count the visits of one more cell, and refuse more than a launch can have."""
    visits[cell.job] += plan.visits
    if visits[cell.job] > MAX_VISITS:
        raise UsageError(
            f"{where}: a launch of {cell.ranks} ranks would have more than {MAX_VISITS:,} visits, which is "
            "the most that fits into the memory of its ranks",
            "use fewer sizes or modes, or several plans",
        )


def _check_pairs(ranks: int, sizes: Sequence[int], plan: Plan, where: str) -> None:
    """Refuse too many pairs, before all of their cells are made."""
    pairs = ranks * (ranks - 1) // 2
    visits = pairs * len(sizes) * plan.visits
    if visits > MAX_VISITS:
        raise UsageError(
            f"{where}: {ranks} ranks are {pairs:,} pairs, which with {units.counted(len(sizes), 'size')} and "
            f"{plan.visits} visits of each are {visits:,} visits of a launch, of at most {MAX_VISITS:,}",
            ", or ".join(_fewer_ranks_or_sizes(pairs, sizes, plan.visits)) or "use fewer visits",
        )


def _fewer_ranks_or_sizes(pairs: int, sizes: Sequence[int], visits: int) -> Iterator[str]:
    """Yield what makes few enough visits of all pairs: the most ranks, or the smallest and largest size."""
    cells = MAX_VISITS // visits - 1  # one is the floor, which is in every launch
    ranks = (1 + math.isqrt(1 + 8 * (cells // len(sizes)))) // 2
    if ranks > 1:
        yield f"use at most {ranks} ranks: --np {ranks}"
    if outermost := sorted({min(sizes), max(sizes)})[: cells // pairs]:
        words = ",".join(units.format_size(size).removesuffix(" B").replace(" ", "") for size in outermost)
        yield f"{units.counted(len(outermost), 'size')}: --sizes {words}"


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of a plan, with what is needed to expand it."""

    plan: Plan
    measure: Measure
    pattern: Pattern
    description: KernelDescription
    where: str


EXPANDED = tuple(factor for factor in FACTORS if factor.asked)
"""Factors that are expanded within one table of a plan; others are libraries, transports and placements."""


def _expanded(table: _Table, cell: Cell, factors: Sequence[Factor]) -> Iterator[Cell]:
    """Yield cells with all combinations of values of these factors; values may depend on earlier factors."""
    if not factors:
        yield cell
        return
    first, *others = factors
    for value in _values(table, cell, first):
        yield from _expanded(table, replace(cell, **{first.name: value}), others)


def _values(table: _Table, cell: Cell, factor: Factor) -> Iterable[Value]:
    """Return the values of one factor: those asked for, else the default; one if the pattern lacks it."""
    if factor.has and not getattr(table.pattern, factor.has):
        return (getattr(cell, factor.name),)
    if factor.name in VALUES:
        return VALUES[factor.name](table, cell)
    chosen = getattr(table.measure, factor.asked)
    values = chosen if isinstance(chosen, tuple) else (chosen,) if chosen else ()
    return values or (default_value(factor.name),)


def _modes(table: _Table, _: Cell) -> Iterator[str]:
    traits = [
        factor.has
        for factor in FACTORS
        if factor.has in Mode.__struct_fields__ and getattr(table.measure, factor.asked)
    ]
    for mode in modes_of(table.pattern, table.measure.modes, table.where, traits):
        _check_mode(table.pattern, mode, table.measure, table.where)
        yield mode.name


def _rank_counts(table: _Table, cell: Cell) -> Iterator[int]:
    """Yield the numbers of ranks, or that of a list placement; none where shared memory does not reach."""
    listed = ranks_of(cell.placement)
    for ranks in (listed,) if listed else table.measure.ranks or table.plan.ranks:
        hosts = places_of(cell.placement, table.plan.hosts, ranks, table.where)
        if cell.transport != SHARED_MEMORY or len(set(hosts)) <= 1:
            _check_ranks(table.pattern, ranks, table.where)
            yield ranks


def _orders(table: _Table, _: Cell) -> tuple[str, ...]:
    """Return the orders asked for, "" for the natural one."""
    asked = table.measure.orders or (NATURAL,)
    return tuple(dict.fromkeys("" if order == NATURAL else order for order in asked))


def _senders(table: _Table, cell: Cell) -> Iterator[int]:
    """Yield the numbers of senders asked for, each once; 0 if none is.

    Raises:
        UsageError: There cannot be so many, or they are asked for in groups at once.
    """
    asked = table.measure.senders
    if asked and table.measure.groups:
        raise UsageError(
            f"{table.where}: {table.pattern.name} cannot have groups at once and fewer senders",
            "measure them one after the other: --groups in one run, --senders in another",
        )
    counts = (sender_count(one, table.pattern, cell.ranks, table.where) for one in asked)
    yield from dict.fromkeys(counts) if asked else (0,)


def _groups_at_once(table: _Table, _: Cell) -> tuple[str, ...]:
    """Return the rules that were asked for, after none: each group is measured alone, too."""
    return ("", *dict.fromkeys(table.measure.groups))


def _groups(table: _Table, cell: Cell) -> Iterator[str]:
    """Yield the groups of a rule, or those of all rules, each alone; "" for all ranks as they are."""
    every = tuple(range(cell.ranks))
    hosts = places_of(cell.placement, table.plan.hosts, cell.ranks, table.where)
    several = len(table.plan.placements) > 1
    where = f"{table.where}: placement {cell.placement}" if several else table.where
    rules = (cell.groups,) if cell.groups else table.measure.groups if table.pattern.in_groups else ()
    of_rules = (group for rule in rules for group in groups_of(rule, cell.ranks, hosts, where))
    for group in dict.fromkeys(of_rules) if rules else (every,):
        text = selected(cell.order, cell.senders, group, table.pattern, cell.ranks, hosts, table.where)
        _check_ranks(table.pattern, active_ranks(replace(cell, group=text), None), table.where)
        yield text


def _roots(table: _Table, cell: Cell) -> Iterator[str]:
    mode = table.pattern.mode(cell.mode)
    for root in table.measure.roots or (default_value("root"),):
        if root == ROTATING and mode is not None and mode.binds_buffers:
            raise UsageError(
                f"{table.where}: {table.pattern.name} {mode.name} is bound to one root, which cannot rotate",
                "use a fixed --root for this mode",
            )
        ranks = active_ranks(cell, None)
        if isinstance(root, int) and root >= ranks:
            raise UsageError(
                f"{table.where}: rank {root} cannot be the root of {ranks} ranks", f"use 0 to {ranks - 1}"
            )
        yield str(root)


def _datatypes(table: _Table, _: Cell) -> Iterator[str]:
    """Yield the datatypes asked for, after checking that each operation asked for fits one of them."""
    names = table.measure.datatypes or (str(default_value("datatype")),)
    known = table.description.datatypes
    datatypes = known if ALL in names else [table.description.datatype(n, table.where) for n in names]
    for op in _operations_asked(table):
        if not any(op in datatype.operations for datatype in datatypes):
            raise UsageError(
                f"{table.where}: MPI does not define {op} for {' or '.join(names)}", "use --datatype int32"
            )
    yield from (datatype.name for datatype in datatypes)


def _operations(table: _Table, cell: Cell) -> Iterator[str]:
    """Yield the operations asked for that MPI defines for the cell's datatype."""
    datatype = table.description.datatype(cell.datatype, table.where)
    yield from (op for op in _operations_asked(table) if op in datatype.operations)


def _operations_asked(table: _Table) -> Sequence[str]:
    datatypes = table.description.datatypes
    known = tuple(dict.fromkeys(op for datatype in datatypes for op in datatype.operations))
    ops = table.measure.ops or (str(default_value("op")),)
    for op in () if ALL in ops else ops:
        if op not in known:
            raise UsageError(f"{table.where}: no operation is called {op!r}", choose_from([*known, ALL], op))
    return known if ALL in ops else ops


def _pairs(table: _Table, cell: Cell) -> Iterator[str]:
    """Yield each pair of ranks if that was asked for, else ""."""
    if not table.measure.pairs:
        yield ""
        return
    if table.pattern.active_ranks != 2:  # noqa: PLR2004 - a pair
        raise UsageError(
            f"{table.where}: {table.pattern.name} is not between two ranks and has no pairs",
            "use pingpong, for example",
        )
    if table.pattern.one_sided:
        raise UsageError(
            f"{table.where}: {table.pattern.name} has one window of ranks 0 and 1, and none of other pairs",
            "use --placement to choose where these two are",
        )
    _check_pairs(cell.ranks, list(_sizes(table, cell)), table.plan, table.where)
    yield from (pair_name(pair) for pair in combinations(range(cell.ranks), 2))


DEPTHS = (0, 16, 256, 4096)
PARTITIONS = (1, 8, 64)


def _depths(table: _Table, cell: Cell) -> Iterable[int]:
    """Return the depths asked for; the kernel refuses those that a mode cannot have, with the reason."""
    mode = table.pattern.mode(cell.mode)
    most = (mode.depth_most if mode else 0) or max(DEPTHS)
    return table.measure.depths or [depth for depth in DEPTHS if depth <= most]


def _blocks_asked(table: _Table) -> Sequence[int]:
    return table.measure.blocks or (int(default_value("block_bytes")),)


def _blocks(table: _Table, cell: Cell) -> Iterable[int]:
    return _blocks_asked(table) if _is(table, cell, "strided") else (0,)


def _strides(table: _Table, cell: Cell) -> Iterable[int]:
    """Return the distances asked for at which blocks do not overlap, else twice the block."""
    if not _is(table, cell, "strided"):
        return (0,)
    asked = table.measure.strides or (STRIDE_IN_BLOCKS * cell.block_bytes,)
    if not any(stride >= cell.block_bytes for stride in asked):
        raise UsageError(
            f"{table.where}: blocks of {units.format_size(cell.block_bytes)} overlap at a stride of "
            f"{units.format_size(max(asked))}",
            "use a stride as long as the block, or longer",
        )
    return [stride for stride in asked if stride >= cell.block_bytes]


def _partitions_asked(table: _Table) -> Sequence[int]:
    return table.measure.partitions or PARTITIONS


def _partitions(table: _Table, cell: Cell) -> Iterable[int]:
    return _partitions_asked(table) if _is(table, cell, "partitioned") else (0,)


def _tests(table: _Table, cell: Cell) -> Iterable[int]:
    mode = table.pattern.mode(cell.mode)
    if mode is None or not mode.may_test:
        return (0,)
    return table.measure.tests or (mode.tests_usual,)


def _is(table: _Table, cell: Cell, trait: str) -> bool:
    """Return whether the mode of a cell has a trait."""
    return bool(getattr(table.pattern.mode(cell.mode), trait, False))


def _units(table: _Table, cell: Cell) -> Iterable[int]:
    """Yield what sizes are multiples of: one number, but several for a mode that others are compared with."""
    pattern, mode = table.pattern, table.pattern.mode(cell.mode)
    own = (mode.unit_bytes if mode else 0) or pattern.unit_bytes
    if cell.datatype:
        yield table.description.datatype(cell.datatype, "").bytes
    elif cell.block_bytes or cell.partitions:
        yield cell.block_bytes or cell.partitions
    elif mode and mode.unit_bytes:
        yield own
    elif pattern.strided:
        yield from _blocks_asked(table)
    elif pattern.partitioned:
        yield from _partitions_asked(table)
    else:
        yield own


def _sizes(table: _Table, cell: Cell) -> Iterable[int]:
    pattern, sizes, seed = table.pattern, table.measure.sizes, table.plan.seed
    if pattern.sized:
        mode = pattern.mode(cell.mode)
        most = mode.most_bytes if mode is not None else 0
        chosen = parse_sizes(sizes or AUTO, seed)
        # Of sizes that nobody chose, those beyond an operand would be told as left out in every run.
        unnamed = sizes in {None, AUTO, USUAL_SIZES}
        wanted = [min(size, most) for size in chosen] if most and unnamed else chosen
        return dict.fromkeys(
            _rounded_up(size, unit, bool(pattern.unit_bytes))
            for unit in _units(table, cell)
            for size in wanted
        )
    if pattern.probes:
        return (max(parse_sizes(sizes, seed)) if sizes else EAGER_DEFAULT_BYTES,)
    return (0,)


def _rounded_up(size: int, unit: int, never_empty: bool) -> int:
    """Return the size rounded up to a whole number of units."""
    return max(unit if never_empty else 0, -(-size // unit) * unit) if unit else size


def _windows(table: _Table, cell: Cell) -> Iterable[int]:
    mode = table.pattern.mode(cell.mode)
    if mode is not None and mode.one_message:
        return (1,)
    ends = active_ranks(cell, table.pattern) - 1 if table.pattern.senders == "others" else 1
    return (window_for(table.measure.window or int(default_value("window")), cell.bytes, ends),)


VALUES: Mapping[str, Callable[[_Table, Cell], Iterable[Value]]] = {
    "mode": _modes,
    "ranks": _rank_counts,
    "order": _orders,
    "senders": _senders,
    "groups": _groups_at_once,
    "group": _groups,
    "root": _roots,
    "datatype": _datatypes,
    "op": _operations,
    "depth": _depths,
    "block_bytes": _blocks,
    "stride_bytes": _strides,
    "partitions": _partitions,
    "tests": _tests,
    "pair": _pairs,
    "pairing": lambda table, _: (table.measure.pairs,),
    "bytes": _sizes,
    "window": _windows,
}
"""Functions for factors whose values are checked, or follow from others."""


def window_for(window: int, size: int, ends: int = 1) -> int:
    """Return how many messages of `size` bytes are in flight at once.

    The window asked for, but no more than 16 MiB in flight: a few large messages fill any link, and a window
    of 64 would measure the memory of its receive buffers instead. One rank that has the windows of many has
    memory for all of them.

    Args:
        ends: Ranks at the other end, of which each has a window.
    """
    most = min(IN_FLIGHT_BYTES, AT_A_ROOT_BYTES // max(1, ends)) // max(1, size)
    return min(window, max(MIN_WINDOW, most))


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
    """Return why a cell of this size is impossible; None if it is possible."""
    size, mode = cell.bytes, pattern.mode(cell.mode)
    if calls := description.lacks(pattern.name, cell.mode):
        return LeftOut(
            cell,
            "library",
            f"{pattern.name} needs {calls}, which this MPI library lacks",
            "use another library: --mpi mpich",
        )
    if mode is not None and 0 < mode.most_bytes < size:
        return _beyond_operand(cell, mode)
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


def _beyond_operand(cell: Cell, mode: Mode) -> LeftOut:
    most = units.format_size(mode.most_bytes)
    return LeftOut(
        cell,
        "largest",
        f"the operand of {cell.pattern} {mode.name} has {most}, not {units.format_size(cell.bytes)}",
        f"use --sizes {mode.most_bytes}, or leave it out",
    )


def _counted_most(pattern: Pattern, mode: Mode | None, cell: Cell, description: KernelDescription) -> int:
    """Return the largest size whose elements an int counts, in one call or in the blocks of all ranks."""
    width = description.datatype(cell.datatype, "").bytes if pattern.reduces else 1
    blocks = active_ranks(cell, pattern) if mode is not None and mode.counts_all else 1
    return INT_MAX // blocks * width


def _beyond_counts(pattern: Pattern, cell: Cell, most: int) -> LeftOut:
    mode = pattern.mode(cell.mode)
    ranks = active_ranks(cell, pattern)
    each = f" for each of {ranks} ranks" if mode is not None and mode.counts_all else ""
    return LeftOut(
        cell,
        "counts",
        f"{units.format_size(cell.bytes)}{each} exceed the counts of {pattern.name} {cell.mode}",
        f"use sizes up to {units.format_size(most)}",
    )


def check_ranks(plan: Plan, cores: int, where: str) -> None:
    """Refuse far more ranks than a machine of so many cores can run; hosts limit ranks by their slots."""
    if plan.hosts:
        return
    most = MAX_RANKS_PER_CORE * cores
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
