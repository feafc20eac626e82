"""The control arm: what others are held against, in launches of its own, which cannot differ from it.

If it does, the machine has moved: `compare.comparison`. docs/method-comparison.md#the-control-arm
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from mpigauge.compare.comparison import CONTROLS
from mpigauge.compare.sides import compared_by
from mpigauge.errors import UsageError
from mpigauge.plan.factors import COMPARED_BY
from mpigauge.plan.patterns import patterns_with
from mpigauge.rows.group import group_cells
from mpigauge.stats.decision import LAUNCHES_LEAST
from mpigauge.vocabulary import AUTO, CONTROL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.campaign.targets import Target
    from mpigauge.plan.model import Cell, Plan

FROM_S = 60.0
"""Of a smaller budget nobody takes a third for it, unless launches are asked for."""

ARMS = 2
"""Of so many it makes three: a third of the time. Of more, labels of the user's own can name one."""

MEANT = frozenset({"label", "setting"})
"""Who varies these compares; libraries of two kinds may stand side by side for a table."""

PROBES = patterns_with(lambda pattern: pattern.probes)
FLOORS = patterns_with(lambda pattern: pattern.is_floor)


def controlled(plan: Plan, targets: Sequence[Target], where: str) -> tuple[Plan, list[Target]]:
    """A plan that says whether it has a control arm, and the targets, with its cells if it has.

    Raises:
        UsageError: It is asked for where nothing is compared.
    """
    factor, groups = compared([cell for target in targets for cell in target.cells])
    if plan.control == "yes" and not groups:
        raise UsageError(
            f"{where}: --control yes: nothing is measured in turn",
            "name two libraries, transports, modes or settings: --mpi A --mpi B, --vary NAME=A,B",
        )
    if plan.control == "no" or (plan.control == AUTO and not _pays(plan, factor, groups)):
        return with_fields(plan, control="no"), list(targets)
    bases = {group[0] for group in groups if group[0].pattern not in CONTROLS | PROBES}
    again = [replace(target, cells=[*target.cells, *_arm(target.cells, bases)]) for target in targets]
    return with_fields(plan, control="yes"), again


def compared(cells: Iterable[Cell]) -> tuple[str, list[list[Cell]]]:
    """What cells are compared by if nobody says, and those that differ in that alone; "" and none."""
    known = list(cells)
    for factor in COMPARED_BY:
        if found := [alike for alike in group_cells(known, compared_by(factor)) if len(alike) > 1]:
            return factor, found
    return "", []


def _pays(plan: Plan, factor: str, groups: Sequence[Sequence[Cell]]) -> bool:
    """Whether exactly two are compared, on purpose, with launches for a verdict and the time for a third."""
    if not groups or max(map(len, groups)) != ARMS or plan.launches_max < LAUNCHES_LEAST:
        return False
    asked = plan.launches_min == plan.launches_max
    if not asked and plan.budget_s is not None and plan.budget_s < FROM_S:
        return False
    return plan.until == "decided" or bool(MEANT & set(_differing(factor, groups)))


def _differing(factor: str, groups: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """What of a factor, and of those that go with it, has several values that users have named."""
    for name in compared_by(factor):
        values = [{getattr(cell, name) for cell in group} for group in groups]
        if any(len(known) > 1 and all(known) for known in values):
            yield name


def _arm(cells: Iterable[Cell], bases: set[Cell]) -> list[Cell]:
    """Cells of a control arm, with the floor of their launches; none if no base is among them."""
    known = list(cells)
    jobs = {cell.job for cell in bases.intersection(known)}
    return [
        with_fields(cell, arm=CONTROL)
        for cell in known
        if cell in bases or (cell.job in jobs and cell.pattern in FLOORS)
    ]
