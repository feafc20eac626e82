"""The campaign that measures suspicious cells of a comparison again, interleaving both sides."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mpigauge.errors import UsageError
from mpigauge.plan.factors import FACTORS
from mpigauge.plan.groups import group_asked, groups_of
from mpigauge.plan.hosts import places_of
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import known
from mpigauge.plan.rank_lists import group_text
from mpigauge.result.home_paths import expanded
from mpigauge.vocabulary import AUTO, ROTATING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.compare.pairs import Pair
    from mpigauge.plan.model import Plan
    from mpigauge.result.provenance import LibraryRecord
    from mpigauge.result.reader import Result

ARMS = ("base", "other")
"""Labels for two libraries of the same kind and version that have no labels."""


def remeasure_plan(results: Sequence[Result], pairs: Iterable[Pair], launches: int, seed: int) -> Plan:
    """Return the plan of a second stage: cells of both sides, interleaved in new launches.

    Args:
        results: One result that has both sides, or the base and the other.

    Raises:
        UsageError: One campaign cannot measure both results.
    """
    picked = [cell for pair in pairs for cell in (pair.base.cell, pair.other.cell)]
    floors = {name for name, pattern in known().items() if pattern.is_floor}
    plan = plan_for_cells(
        results[0].campaign.plan, (c for c in picked if c.pattern not in floors), launches, seed
    )
    return plan if len(results) == 1 else _varied_over_both(plan, results)


def remeasure_factor(results: Sequence[Result], by: str | None) -> str | None:
    """Return the factor that the second stage is compared by; None for the first that differs."""
    return by if len(results) == 1 else _differing(results)


def _varied_over_both(plan: Plan, results: Sequence[Result]) -> Plan:
    """Return a plan that varies what the two results differ in."""
    if _differing(results) == "transport":
        transports = tuple(one.campaign.plan.transports[0] for one in results)
        return replace(plan, transports=transports, control=AUTO)
    libraries = [_library(one) for one in results]
    labels = [one.label for one in libraries]
    if len({(one.name, one.version, one.label) for one in libraries}) == 1:
        labels = list(ARMS)
    named = zip(labels, libraries, strict=True)
    mpi = tuple(f"{label}={one.mpicc}" if label else one.mpicc for label, one in named)
    return replace(plan, mpi=mpi, control=AUTO)


def _differing(results: Sequence[Result]) -> str:
    """Return the one factor in which two results differ."""
    base, other = (_library(one) for one in results)
    if (base.name, base.version) != (other.name, other.version):
        return "mpi"
    if base.label != other.label or base.mpicc != other.mpicc:
        return "label"
    first, second = (one.campaign.plan.transports for one in results)
    if len(first) == len(second) == 1 and first != second:
        return "transport"
    raise UsageError(
        f"{results[0].path} and {results[1].path} are of one library: nothing can be measured in turn",
        "--remeasure takes results of two libraries that are both here, or one result with both",
    )


def _library(result: Result) -> LibraryRecord:
    libraries = expanded(result.campaign.libraries)
    if len(libraries) != 1 or not libraries[0].mpicc.startswith("/"):
        raise UsageError(
            f"{result.path}: --remeasure of two results takes one library that is here in each",
            "measure both in one campaign: mpigauge run --mpi A --mpi B",
        )
    return libraries[0]


FOLLOWING = {"group"}
"""Factors that follow from others: which ranks take part, from the groups, the order and the senders."""

TABLE_FACTORS = tuple(
    factor for factor in FACTORS if factor.asked and not factor.along and factor.name not in FOLLOWING
)
"""Factors that tables of a plan choose, except sizes, which are listed, and pairs."""

ANY_SIZE = (1,)
"""Blocks or partitions of which every size is a multiple, for modes without any."""


def plan_for_cells(plan: Plan, cells: Iterable[Cell], launches: int, seed: int) -> Plan:
    """Return a plan of exactly these cells, in new launches; hosts and launchers stay.

    Pairs and groups come with all others of their table: they are measured at once.

    Args:
        launches: The exact number of launches.
        seed: Seed of the new campaign.
    """
    tables: dict[Measure, dict[int, None]] = defaultdict(dict)
    for cell in cells:
        tables[_table(cell, plan)][cell.bytes] = None
    measure = tuple(replace(table, sizes=",".join(map(str, sizes))) for table, sizes in tables.items())
    return replace(
        plan,
        measure=measure,
        launches_min=launches,
        launches_max=launches,
        seed=seed,
        budget_s=None,
        over_s=None,
        until="precise",
        hosts_skipped=(),
    )


def _table(cell: Cell, plan: Plan) -> Measure:
    """Return the table that asks for a cell, with the factors of its pattern."""
    values = {factor.asked: _table_value(factor.name, getattr(cell, factor.name)) for factor in TABLE_FACTORS}
    values["groups"] = _rules(cell, plan)
    if pattern := known().get(cell.pattern):
        values |= {"depths": (cell.depth,)} if pattern.queues else {}
        values |= {"tests": (cell.tests,)} if pattern.may_test else {}
        values |= {"blocks": ANY_SIZE} if pattern.strided and not cell.block_bytes else {}
        values |= {"partitions": ANY_SIZE} if pattern.partitioned and not cell.partitions else {}
    if cell.window:
        values["window"] = cell.window
    return Measure(cell.pattern, **{name: value for name, value in values.items() if value})


def _rules(cell: Cell, plan: Plan) -> tuple[str, ...]:
    """Return the rule of groups that made a cell: of a group alone, the first one that makes it."""
    if cell.groups or not (group := group_asked(cell)):
        return (cell.groups,) if cell.groups else ()
    hosts = places_of(cell.placement, plan.hosts, cell.ranks, "the plan")
    rules = (rule for table in plan.measure if table.pattern == cell.pattern for rule in table.groups)
    made = (rule for rule in rules if _makes(rule, group, cell, hosts))
    return tuple(islice(made, 1))


def _makes(rule: str, group: str, cell: Cell, hosts: Sequence[str]) -> bool:
    groups = groups_of(rule, cell.ranks, hosts, "the plan")
    return any(group_text(sorted(members)) == group for members in groups)


def _table_value(name: str, value: Any) -> Any:
    """Return a value as tables have it: for most factors a tuple."""
    if name == "root" and value:
        return (value if value == ROTATING else int(value),)
    is_tuple = isinstance(getattr(Measure("x"), TABLE_KEYS[name]), tuple)
    return (value,) if is_tuple and value else value


TABLE_KEYS = {factor.name: factor.asked for factor in TABLE_FACTORS}
