"""Kernel plan of a single launch that the user starts with a launcher of their own."""

from dataclasses import replace

import mpigauge
from mpigauge.campaign.budget import CELL_UNLIMITED_S, MAX_CELL_S, MIN_CELL_S, NEVER_S
from mpigauge.campaign.targets import pool_bytes, targets_of
from mpigauge.errors import UsageError
from mpigauge.plan.kernel_plan import (
    POOL_CACHES,
    KernelPlanSource,
    Limits,
    chosen_ranks,
    kernel_plan,
    with_source,
)
from mpigauge.plan.left_out import left_out_words
from mpigauge.plan.model import Plan
from mpigauge.plan.visit_order import visits_of

LAUNCHER_KEYS = (
    "transports",
    "hosts",
    "placements",
    "binding",
    "launcher",
    "mpiexec",
    "remote_shell",
    "check_hosts",
    "skip_dead",
    "patience_s",
    "variables",
    "mpi_options",
    "lab",
    "abi",
)
"""Keys of a plan that concern mpigauge's launchers and not the kernel."""

DEADLINE_SHARE = 0.9
"""Share of the budget after which no visit begins: the last visit has to end within the budget, too."""

HANG_S = 60.0
"""Shortest silence after which the kernel aborts: no mpigauge watches such a launch."""


def external_plan(plan: Plan, where: str, cores: int | None = None) -> tuple[str, str]:
    """Return the kernel plan of one launch, readable again by an import, and a sentence on cells left out.

    Args:
        cores: Cores that the ranks share; None means one per rank.

    Raises:
        UsageError: The plan needs more than one launch, or sets options of mpigauge's own launchers.
        EnvironmentLacksError: No MPI library is there to build and describe the kernel.
    """
    _check(plan, where)
    (target,) = targets_of(plan, where, elsewhere=True)
    ranks = {cell.ranks for cell in target.cells}
    if len(ranks) > 1:
        raise UsageError(f"{where}: a launch has one number of ranks, not {len(ranks)}", "use one --np")
    visits = visits_of(target.cells, plan, target.description, launch=1)
    text = kernel_plan(visits, plan, _limits(plan, len(target.cells)), cores or ranks.pop())
    used = {cell.pattern for cell in target.cells}
    patterns = tuple(pattern for pattern in target.description.patterns if pattern.name in used)
    left_out = left_out_words(target.left_out, target.cells)
    source = KernelPlanSource(mpigauge.__version__, plan, patterns, chosen_ranks(visits))
    return with_source(text, source), left_out


def _check(plan: Plan, where: str) -> None:
    if len(plan.mpi) > 1:
        raise UsageError(f"{where}: a launch has one MPI library", "use one --mpi, or none")
    if plan.over_s is not None:
        raise UsageError(
            f"{where}: one launch cannot be spread over time",
            "leave --over out, and start the plan at the times that you want",
        )
    usual = Plan(measure=())
    for name in LAUNCHER_KEYS:
        if getattr(plan, name) != getattr(usual, name):
            raise UsageError(
                f"{where}: {name} is set by your own launcher, not by the plan",
                "leave it out, and tell your launcher",
            )
    if len({measure.pairs for measure in plan.measure if measure.pairs}) > 1:
        raise UsageError(f"{where}: a launch has one order of pairs", "write a plan for each")


def _limits(plan: Plan, cells: int) -> Limits:
    of_all = Limits(
        CELL_UNLIMITED_S, NEVER_S, pool_bytes=pool_bytes(), pool_caches=POOL_CACHES, hang_s=HANG_S
    )
    if plan.budget_s is None:
        return of_all
    cell_s = min(MAX_CELL_S, max(MIN_CELL_S, DEADLINE_SHARE * plan.budget_s / cells))
    return replace(of_all, cell_s=cell_s, deadline_s=DEADLINE_SHARE * plan.budget_s)
