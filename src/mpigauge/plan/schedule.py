"""The order of things: shuffled visits of a launch, and the text in which the kernel is told.

Only this module and the kernel's plan.c know that text: a line of limits, a line a visit, `end`.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from mpigauge.plan.expand import ROTATING
from mpigauge.plan.hosts import SAME_HOST
from mpigauge.plan.model import Cell, Plan
from mpigauge.plan.patterns import KERNEL_VERSION, Description

PART_BYTES = 32_768
"""Half of what a pipe holds, so that a part never has to wait for who reads the last."""

MORE = "more\n"


@dataclass(frozen=True, slots=True)
class PlannedVisit:
    """A visit of a launch: its place in the full order, and its cell."""

    id: int
    cell: Cell


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a launch may take.

    Attributes:
        cell_s: Time that a cell should take in this launch.
        deadline_s: No visit begins later than this after the start.
        warmup_s: Per group of ranks and size, before the first visit.
        pool_bytes: What cold visits walk through on each side.
    """

    cell_s: float
    deadline_s: float
    warmup_s: float = 0.05
    pool_bytes: int = 0


def shuffled(items: Sequence[Cell], plan: Plan, *key: object) -> list[Cell]:
    """The items in an order that only the plan's seed and the key decide."""
    order = list(items)
    random.Random(f"{plan.seed}/{'/'.join(map(str, key))}").shuffle(order)  # noqa: S311 - not for secrets
    return order


def visits_of(
    cells: Sequence[Cell],
    plan: Plan,
    description: Description,
    launch: int,
    settled: frozenset[Cell] = frozenset(),
) -> list[PlannedVisit]:
    """All visits of a launch, shuffled whole (method 1.6).

    A probe is visited once. Cells that are precise already are measured on with half of the visits
    (method 1.11): left out, they would make launches unequal.
    """

    def visits(cell: Cell) -> int:
        if description.pattern(cell.pattern, "").probes:
            return 1
        return (plan.visits + 1) // 2 if cell in settled else plan.visits

    every = [cell for cell in cells for _ in range(visits(cell))]
    # The usual placement is not part of the key, so that results older than placements resume in their order.
    key = [word for word in cells[0].job if word != SAME_HOST]
    order = shuffled(every, plan, launch, *key)
    return [PlannedVisit(number, cell) for number, cell in enumerate(order)]


def kernel_plan(visits: Sequence[PlannedVisit], plan: Plan, limits: Limits, cores: int) -> str:
    """What the kernel reads; the visits' cells all have the same number of ranks.

    Args:
        cores: That the ranks share; with more ranks than that, waiting ones give way.
    """
    numbers: dict[Cell, int] = {}
    lines = [_launch_line(visits[0].cell.ranks, cores, plan, limits)]
    for visit in visits:
        number = numbers.setdefault(visit.cell, len(numbers))
        lines.append(_visit_line(visit, number, limits.pool_bytes))
    return "\n".join([*lines, "end", ""])


def parts_of(text: str, most_bytes: int = PART_BYTES) -> list[str]:
    """A kernel plan in parts; at the line `more`, the end of all but the last, the kernel asks for the next.

    Args:
        most_bytes: Of a part, unless a single line is longer.
    """
    parts = [""]
    for line in text.splitlines(keepends=True):
        if parts[-1] and len(parts[-1]) + len(line) + len(MORE) > most_bytes:
            parts[-1] += MORE
            parts.append("")
        parts[-1] += line
    return parts


def _launch_line(ranks: int, cores: int, plan: Plan, limits: Limits) -> str:
    return _words(
        "launch",
        version=KERNEL_VERSION,
        ranks=ranks,
        cores=cores,
        visits_per_cell=plan.visits,
        rounds_min=plan.rounds_min,
        rounds_max=plan.rounds_max,
        precision_ppm=max(1, round(plan.precision / 3 * 1e6)),
        cell_ns=_ns(limits.cell_s),
        deadline_ns=_ns(limits.deadline_s),
        warmup_ns=_ns(limits.warmup_s),
    )


def _visit_line(visit: PlannedVisit, number: int, pool_bytes: int) -> str:
    cell = visit.cell
    return _words(
        "visit",
        id=visit.id,
        cell=number,
        pattern=cell.pattern,
        mode=cell.mode,
        bytes=cell.bytes,
        window=max(1, cell.window),
        pool_bytes=pool_bytes if cell.buffers == "cold" else 0,
        **_factors(cell),
    )


def _factors(cell: Cell) -> dict[str, object]:
    """The words of collectives that a cell has."""
    words = {"sync": cell.sync, "datatype": cell.datatype, "op": cell.op}
    words["root"] = "-1" if cell.root == ROTATING else cell.root
    words["in_place"] = "1" if cell.in_place else ""
    return {key: word for key, word in words.items() if word}


def _ns(seconds: float) -> int:
    return max(1, round(seconds * 1e9))


def _words(first: str, **values: object) -> str:
    return " ".join([first, *(f"{key}={value}" for key, value in values.items())])
