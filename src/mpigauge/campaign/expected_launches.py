"""How many launches a budget is expected to make, before the first one has shown what they take."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from mpigauge.campaign.control import compared_groups
from mpigauge.campaign.jobs import job_of
from mpigauge.mpi.init_sleep import SLEEP_S, may_sleep
from mpigauge.plan.model import by_job
from mpigauge.plan.visit_order import time_slots
from mpigauge.stats.decision import MIN_LAUNCHES
from mpigauge.units import counted, format_duration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.campaign.targets import Target
    from mpigauge.plan.model import Plan

START_S, VISIT_S = 0.5, 0.0015
"""What a launch takes beside its visits, and a visit of a small message, on an ordinary machine."""

ROUND_S = 5
"""Budgets are proposed in steps of so much."""


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
    if made >= MIN_LAUNCHES:
        return ""
    jobs = sum(map(len, launches_s))
    of_each = f" of each of {jobs} jobs" if jobs > 1 else ""
    needed_s = ROUND_S * math.ceil(MIN_LAUNCHES * replication_s / ROUND_S)
    return (
        f"{format_duration(plan.budget_s)}: about {counted(made, 'launch')}{of_each}, and a verdict takes "
        f"{MIN_LAUNCHES}: --budget {needed_s}s"
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
