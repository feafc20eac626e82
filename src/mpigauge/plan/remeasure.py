"""Plans that measure some cells of another plan again."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mpigauge.plan.factors import FACTORS
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import known
from mpigauge.vocabulary import ROTATING

if TYPE_CHECKING:
    from collections.abc import Iterable

TABLE_FACTORS = tuple(factor for factor in FACTORS if factor.asked and not factor.along)
"""Factors that tables of a plan choose, except sizes, which are listed, and pairs."""


def plan_for_cells(plan: Plan, cells: Iterable[Cell], launches: int, seed: int) -> Plan:
    """Return a plan of exactly these cells, in new launches; hosts and launchers stay.

    Args:
        launches: The exact number of launches.
        seed: Seed of the new campaign.
    """
    tables: dict[Measure, dict[int, None]] = defaultdict(dict)
    for cell in cells:
        tables[_table(cell)][cell.bytes] = None
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


def _table(cell: Cell) -> Measure:
    """Return the table that asks for a cell, with the factors of its pattern."""
    values = {factor.asked: _table_value(factor.name, getattr(cell, factor.name)) for factor in TABLE_FACTORS}
    if (pattern := known().get(cell.pattern)) and pattern.queues:
        values["depths"] = (cell.depth,)
    if cell.window:
        values["window"] = cell.window
    return Measure(cell.pattern, **{name: value for name, value in values.items() if value})


def _table_value(name: str, value: Any) -> Any:
    """Return a value as tables have it: for most factors a tuple."""
    if name == "root" and value:
        return (value if value == ROTATING else int(value),)
    is_tuple = isinstance(getattr(Measure("x"), TABLE_KEYS[name]), tuple)
    return (value,) if is_tuple and value else value


TABLE_KEYS = {factor.name: factor.asked for factor in TABLE_FACTORS}
