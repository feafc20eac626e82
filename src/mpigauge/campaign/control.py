"""The control arm of a comparison: the base measured a second time, in launches of its own.

If the two differ, the machine has changed, not the library: see `compare.comparison`.
docs/method-comparison.md#the-control-arm
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from mpigauge.compare.comparison import CONTROLS
from mpigauge.compare.sides import compared_by, compared_cells, factors_varied
from mpigauge.errors import UsageError
from mpigauge.plan.patterns import FLOORS, patterns_with
from mpigauge.stats.decision import MIN_LAUNCHES
from mpigauge.vocabulary import AUTO, CONTROL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.campaign.targets import Target
    from mpigauge.plan.model import Cell, Plan

MIN_BUDGET_S = 60.0
"""Smallest budget of which a third goes to the control arm unasked, unless launches are asked for."""

ARMS_CONTROLLED = 2
"""Number of arms that get a control unasked. With more arms, users can label one themselves."""

COMPARISON_FACTORS = frozenset({"label", "setting"})
"""Factors that are varied only to compare; two kinds of libraries may also be measured for a table."""

PROBES = patterns_with(lambda pattern: pattern.probes)


def with_control_arm(plan: Plan, targets: Sequence[Target], where: str) -> tuple[Plan, list[Target]]:
    """Return the plan with `control` decided, and the targets, with the cells of the control arm if any.

    Raises:
        UsageError: A control arm is asked for, but nothing is compared.
    """
    factor, groups = compared_groups([cell for target in targets for cell in target.cells])
    if plan.control == "yes" and not groups:
        raise UsageError(
            f"{where}: --control yes: nothing is measured in turn",
            "name two libraries, transports, modes or settings: --mpi A --mpi B, --vary NAME=A,B",
        )
    if plan.control == "no" or (plan.control == AUTO and not _is_worthwhile(plan, factor, groups)):
        return with_fields(plan, control="no"), list(targets)
    bases = {group[0] for group in groups if group[0].pattern not in CONTROLS | PROBES}
    with_arms = [
        replace(target, cells=[*target.cells, *_control_cells(target.cells, bases)]) for target in targets
    ]
    return with_fields(plan, control="yes"), with_arms


def check_compares(plan: Plan, targets: Iterable[Target], where: str) -> None:
    """Check that a plan with `until = "decided"` compares anything.

    Raises:
        UsageError: No two cells differ in a compared factor alone.
    """
    if plan.until != "decided":
        return
    factor, _ = compared_groups(cell for target in targets for cell in target.cells)
    if factor:
        return
    raise UsageError(
        f"{where}: --until decided: nothing is measured in turn",
        "name two libraries, transports, modes or settings: --mpi A --mpi B, --vary NAME=A,B",
    )


def compared_groups(cells: Iterable[Cell]) -> tuple[str, list[list[Cell]]]:
    """Return the default factor to compare by and the groups of cells that differ in it, else "" and []."""
    all_cells = list(cells)
    for factor in factors_varied(all_cells):
        if found := [alike for alike in compared_cells(all_cells, factor) if len(alike) > 1]:
            return factor, found
    return "", []


def _is_worthwhile(plan: Plan, factor: str, groups: Sequence[Sequence[Cell]]) -> bool:
    """Return whether exactly two arms are compared, on purpose, with launches and time for a third."""
    if not groups or max(map(len, groups)) != ARMS_CONTROLLED or plan.launches_max < MIN_LAUNCHES:
        return False
    fixed_launches = plan.launches_min == plan.launches_max
    if not fixed_launches and plan.budget_s is not None and plan.budget_s < MIN_BUDGET_S:
        return False
    return plan.until == "decided" or bool(COMPARISON_FACTORS & set(_varied_factors(factor, groups)))


def _varied_factors(factor: str, groups: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield the factors compared together with this one that have several values named by the user."""
    for name in compared_by(factor):
        values = [{getattr(cell, name) for cell in group} for group in groups]
        if any(len(distinct) > 1 and all(distinct) for distinct in values):
            yield name


def _control_cells(cells: Iterable[Cell], bases: set[Cell]) -> list[Cell]:
    """Return the cells of the control arm with the floor of their launches; [] if no base is among them."""
    all_cells = list(cells)
    jobs = {cell.job for cell in bases.intersection(all_cells)}
    return [
        with_fields(cell, arm=CONTROL)
        for cell in all_cells
        if cell in bases or (cell.job in jobs and cell.pattern in FLOORS)
    ]
