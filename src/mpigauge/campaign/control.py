"""The control arm of a comparison: the base measured a second time, in launches of its own.

If the two differ, the machine has changed, not the library: see `compare.comparison`.
docs/method-comparison.md#the-control-arm. And whether a budget has time for a verdict.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from mpigauge.campaign.jobs import job_of
from mpigauge.compare.cells import CONTROLS, compared_by, compared_cells, factors_varied
from mpigauge.errors import UsageError
from mpigauge.mpi.init_sleep import SLEEP_S, may_sleep
from mpigauge.plan.model import by_job
from mpigauge.plan.patterns import FLOORS, patterns_with
from mpigauge.plan.visit_order import time_slots
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
from mpigauge.units import counted, format_duration
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

START_S, VISIT_S = 0.5, 0.0015
"""Time of a launch beside its visits, and of a visit of a small message, on an ordinary machine."""

ROUND_S = 5
"""Budgets are proposed in steps of so much."""


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
    if not groups or max(map(len, groups)) != ARMS_CONTROLLED or plan.launches_max < LAUNCHES_OF_A_VERDICT:
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


# ---- Time for a verdict ---------------------------------------------------------------------------


def too_short_for_verdict(plan: Plan, targets: Iterable[Target]) -> str:
    """Return that a budget hardly makes the launches that a comparison needs, and which one would; else "".

    A plan that says how many launches to make, or until when, is taken at its word.
    """
    if (
        plan.budget_s is None
        or plan.over_s
        or plan.until != "precise"
        or plan.launches_min == plan.launches_max
    ):
        return ""
    targets = list(targets)
    if not compared_groups(cell for target in targets for cell in target.cells)[1]:
        return ""
    launches_s = [_launch_s(plan, target) for target in targets]
    replication_s = sum(map(sum, launches_s))
    made = int(plan.budget_s / replication_s)
    if made >= LAUNCHES_OF_A_VERDICT:
        return ""
    jobs = sum(map(len, launches_s))
    of_each = f" of each of {jobs} jobs" if jobs > 1 else ""
    needed_s = ROUND_S * math.ceil(LAUNCHES_OF_A_VERDICT * replication_s / ROUND_S)
    return (
        f"{format_duration(plan.budget_s)}: about {counted(made, 'launch')}{of_each}, and a verdict takes "
        f"{LAUNCHES_OF_A_VERDICT}: --budget {needed_s}s"
    )


def _launch_s(plan: Plan, target: Target) -> list[float]:
    """Return what a launch of each job is expected to take at least, in seconds."""
    library = target.library
    found = []
    for key, cells in by_job(target.cells).items():
        variables = {**os.environ, **job_of(plan, target, key).variables}
        sleeps = may_sleep(library.name, library.version, variables, plan.mpi_options)
        found.append(START_S + SLEEP_S * sleeps + VISIT_S * plan.visits * time_slots(cells))
    return found
