"""Nodes of a job in which a campaign has no rank at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.plan.patterns import known

if TYPE_CHECKING:
    from mpigauge.plan.model import Measure, Plan


def idle_nodes_sentence(plan: Plan, nodes: int) -> str:
    """Return what to do where most nodes of a job would be idle; "" where they are not, or were placed on.

    A placement is somebody's own choice of nodes, and several of them may be all.
    """
    at_work = max((_ranks_at_work(one, plan, nodes) for one in plan.measure), default=0)
    if plan.placements or not at_work or 2 * at_work >= nodes:
        return ""
    ranks = "1 rank is" if at_work == 1 else f"{at_work} ranks are"
    return (
        f"{nodes - at_work} of {nodes} nodes are idle, since no more than {ranks} at work: take --nodes "
        f"{at_work}, or map, which measures all pairs, or what all ranks do: multi-stream, allreduce"
    )


def _ranks_at_work(measure: Measure, plan: Plan, nodes: int) -> int:
    """Return the most ranks that a curve has at work at once, of which each may have a node to itself."""
    pattern = known().get(measure.pattern)
    few = 0 if pattern is None or measure.pairs else pattern.active_ranks
    everywhere = plan.all_ranks and not measure.ranks and not few
    ranks = nodes if everywhere else max(measure.ranks or plan.ranks)
    return min(few or ranks, ranks)
