"""The order of things: shuffled visits of a launch, and the text in which the kernel is told.

Only this module and the kernel's plan.c know that text: a line of limits, a line a visit, `end`.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from msgspec.structs import replace as with_fields

from mpigauge.plan import round_robin
from mpigauge.plan.model import Cell, Plan
from mpigauge.plan.patterns import KERNEL_VERSION, Description
from mpigauge.vocabulary import ROTATING

PART_BYTES = 32_768
"""Half of what a pipe holds, so that a part never has to wait for who reads the last."""

MORE = "more\n"
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class PlannedVisit:
    """A visit of a launch: its place in the full order, and its cell.

    Attributes:
        step: Visits of pairs that follow each other with the same number are made at the same time.
    """

    id: int
    cell: Cell
    step: int | None = None


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


def shuffled(items: Sequence[Item], plan: Plan, *key: object) -> list[Item]:
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
    """All visits of a launch, shuffled whole (method 1.6); those of a step stay together.

    A probe is visited once. Cells that are precise already are measured on with half of the visits
    (method 1.11): left out, they would make launches unequal. Pairs are always measured whole, since each
    is company for others.
    """

    def visits(cell: Cell) -> int:
        if description.pattern(cell.pattern, "").probes:
            return 1
        return (plan.visits + 1) // 2 if cell in settled else plan.visits

    key = (launch, *cells[0].job.seed_words)
    every = [[cell] for cell in cells if not cell.pair for _ in range(visits(cell))]
    for curve, pairs in _curves_of_pairs(cells).items():
        times = 1 if description.pattern(curve.pattern, "").probes else plan.visits
        for time in range(times):
            every += _steps(
                curve, pairs, shuffled(range(curve.ranks), plan, *key, "seats", time, curve.bytes)
            )
    order = shuffled(every, plan, *key)
    flat = [(cell, number) for number, step in enumerate(order) for cell in step]
    return [
        PlannedVisit(number, cell, step if cell.pair else None) for number, (cell, step) in enumerate(flat)
    ]


def _curves_of_pairs(cells: Sequence[Cell]) -> dict[Cell, dict[str, Cell]]:
    """Cells that differ in their pair only, by pair."""
    curves: dict[Cell, dict[str, Cell]] = {}
    for cell in cells:
        if cell.pair:
            curves.setdefault(with_fields(cell, pair=""), {})[cell.pair] = cell
    return curves


def _steps(curve: Cell, pairs: dict[str, Cell], seats: Sequence[int]) -> Iterator[list[Cell]]:
    """All pairs once. Ranks are seated anew each time, so that nobody always has the same company."""
    for step in round_robin.steps(curve.ranks):
        names = [round_robin.name_of((min(seats[a], seats[b]), max(seats[a], seats[b]))) for a, b in step]
        cells = [pairs[name] for name in sorted(names) if name in pairs]
        yield from [cells] if curve.pairing == "tournament" else ([cell] for cell in cells)


def turns_of(cells: Sequence[Cell]) -> int:
    """How many cells that would be, had those that are measured at the same time only one time to share."""
    together = sum(cell.pairing == "tournament" for cell in cells)
    at_once = max(1, cells[0].ranks // 2) if cells else 1
    return len(cells) - together + -(-together // at_once)


def one_by_one(visits: Sequence[PlannedVisit], suspects: frozenset[int]) -> list[PlannedVisit]:
    """The same with some visits in steps of their own, to see which of those made together fails."""
    beyond = max((visit.id for visit in visits), default=0) + 1
    return [
        replace(visit, step=beyond + visit.id) if visit.id in suspects and visit.step is not None else visit
        for visit in visits
    ]


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
        **({} if visit.step is None else {"pair": cell.pair, "step": visit.step}),
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
