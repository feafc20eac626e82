"""The order of visits in a launch, and other orders shuffled by the plan's seed."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from msgspec.structs import replace as with_fields

from mpigauge.plan import round_robin
from mpigauge.plan.groups import set_at_once
from mpigauge.plan.model import Cell, Plan
from mpigauge.plan.patterns import KernelDescription
from mpigauge.sequences import group_by

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class PlannedVisit:
    """A visit of a launch: its place in the full order, and its cell.

    Attributes:
        step: Consecutive visits of pairs or groups with the same number run concurrently.
    """

    id: int
    cell: Cell
    step: int | None = None


def shuffled(items: Sequence[Item], plan: Plan, *key: object) -> list[Item]:
    """Return the items in an order that follows from the plan's seed and the key alone."""
    order = list(items)
    random.Random(f"{plan.seed}/{'/'.join(map(str, key))}").shuffle(order)  # noqa: S311 - not for secrets
    return order


def replication_start_s(plan: Plan, number: int, replications: int) -> float:
    """Return when a replication begins, in seconds after the start, if they are spread over time.

    It begins at a random moment of its part of the time, which follows from the plan's seed.

    Source:
        docs/method-comparison.md#other-minutes
    """
    part = random.Random(f"{plan.seed}/over/{number}").random()  # noqa: S311 - not for secrets
    return (number - 1 + part) * (plan.over_s or 0.0) / replications


def visits_of(
    cells: Sequence[Cell],
    plan: Plan,
    description: KernelDescription,
    launch: int,
    settled: frozenset[Cell] = frozenset(),
) -> list[PlannedVisit]:
    """Return all visits of a launch, shuffled; those of a step stay together.

    The order: docs/method.md#visits-and-their-order. A probe is visited once. Settled cells, which are
    precise already, get half of the visits (docs/method-launches.md#enough-launches): without them, launches
    would differ in load. All pairs are measured always, since each is the load of the others.
    """

    def visits(cell: Cell) -> int:
        if description.pattern(cell.pattern, "").probes:
            return 1
        return (plan.visits + 1) // 2 if cell in settled else plan.visits

    key = (launch, *cells[0].job.seed_words)
    plain = [cell for cell in cells if not (cell.pair or cell.group)]
    every = [[cell] for cell in plain for _ in range(visits(cell))]
    for curve, pairs in _curves_of_pairs(cells).items():
        times = 1 if description.pattern(curve.pattern, "").probes else plan.visits
        for time in range(times):
            every += _steps(
                curve, pairs, shuffled(range(curve.ranks), plan, *key, "seats", time, curve.bytes)
            )
    for step in _steps_of_groups(cells):
        every += [step] * max(map(visits, step))
    order = shuffled(every, plan, *key)
    flat = [(cell, number) for number, step in enumerate(order) for cell in step]
    return [
        PlannedVisit(number, cell, step if cell.pair or cell.group else None)
        for number, (cell, step) in enumerate(flat)
    ]


def _steps_of_groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return cells of groups: those that are measured at once together, every other one alone."""
    groups = [cell for cell in cells if cell.group]
    return [*group_by(groups, set_at_once).values()]


def _curves_of_pairs(cells: Sequence[Cell]) -> dict[Cell, dict[str, Cell]]:
    """Return cells of pairs, by the cell without its pair and by pair."""
    curves: dict[Cell, dict[str, Cell]] = {}
    for cell in cells:
        if cell.pair:
            curves.setdefault(with_fields(cell, pair=""), {})[cell.pair] = cell
    return curves


def _steps(curve: Cell, pairs: dict[str, Cell], ranks: Sequence[int]) -> Iterator[list[Cell]]:
    """Yield all pairs once, in steps; ranks are shuffled each time, so that concurrent pairs vary."""
    for step in round_robin.steps(curve.ranks):
        names = [round_robin.pair_name((min(ranks[a], ranks[b]), max(ranks[a], ranks[b]))) for a, b in step]
        cells = [pairs[name] for name in sorted(names) if name in pairs]
        yield from [cells] if curve.pairing == "tournament" else ([cell] for cell in cells)


def time_slots(cells: Sequence[Cell]) -> int:
    """Return the number of cells to share time among, counting concurrent ones as one."""
    together = sum(cell.pairing == "tournament" for cell in cells)
    at_once = max(1, cells[0].ranks // 2) if cells else 1
    beside = sum(len(step) - 1 for step in _steps_of_groups(cells))
    return len(cells) - together + -(-together // at_once) - beside


def complete_steps(left: Sequence[PlannedVisit], every: Sequence[PlannedVisit]) -> list[PlannedVisit]:
    """Return visits without those of groups at once that lack another group of their step."""
    planned, there = (Counter(visit.step for visit in some) for some in (every, left))
    return [visit for visit in left if not visit.cell.groups or there[visit.step] == planned[visit.step]]


def with_suspects_alone(visits: Sequence[PlannedVisit], suspects: frozenset[int]) -> list[PlannedVisit]:
    """Return the visits with suspects in steps of their own, to see which of the concurrent ones fails."""
    beyond = max((visit.id for visit in visits), default=0) + 1
    return [
        replace(visit, step=beyond + visit.id) if visit.id in suspects and visit.step is not None else visit
        for visit in visits
    ]
