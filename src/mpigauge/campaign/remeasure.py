"""The campaign that measures suspicious cells of a comparison again, interleaving both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from mpigauge.errors import UsageError
from mpigauge.plan.patterns import known
from mpigauge.plan.remeasure import plan_for_cells
from mpigauge.result.home_paths import expanded
from mpigauge.vocabulary import AUTO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.compare.pairs import Pair
    from mpigauge.plan.model import Plan
    from mpigauge.result.provenance import LibraryRecord
    from mpigauge.result.reader import Result

ARMS = ("base", "other")
"""Labels for two libraries of the same kind and version that have no labels."""


def remeasure_plan(results: Sequence[Result], pairs: Iterable[Pair], launches: int, seed: int) -> Plan:
    """Return the plan of a second stage: cells of both sides, interleaved in new launches.

    Args:
        results: One result that has both sides, or the base and the other.

    Raises:
        UsageError: One campaign cannot measure both results.
    """
    picked = [cell for pair in pairs for cell in (pair.base.cell, pair.other.cell)]
    floors = {name for name, pattern in known().items() if pattern.is_floor}
    plan = plan_for_cells(
        results[0].campaign.plan, (c for c in picked if c.pattern not in floors), launches, seed
    )
    return plan if len(results) == 1 else _varied_over_both(plan, results)


def remeasure_factor(results: Sequence[Result], by: str | None) -> str | None:
    """Return the factor that the second stage is compared by; None for the first that differs."""
    return by if len(results) == 1 else _differing(results)


def _varied_over_both(plan: Plan, results: Sequence[Result]) -> Plan:
    """Return a plan that varies what the two results differ in."""
    if _differing(results) == "transport":
        transports = tuple(one.campaign.plan.transports[0] for one in results)
        return replace(plan, transports=transports, control=AUTO)
    libraries = [_library(one) for one in results]
    labels = [one.label for one in libraries]
    if len({(one.name, one.version, one.label) for one in libraries}) == 1:
        labels = list(ARMS)
    named = zip(labels, libraries, strict=True)
    mpi = tuple(f"{label}={one.mpicc}" if label else one.mpicc for label, one in named)
    return replace(plan, mpi=mpi, control=AUTO)


def _differing(results: Sequence[Result]) -> str:
    """Return the one factor in which two results differ."""
    base, other = (_library(one) for one in results)
    if (base.name, base.version) != (other.name, other.version):
        return "mpi"
    if base.label != other.label or base.mpicc != other.mpicc:
        return "label"
    first, second = (one.campaign.plan.transports for one in results)
    if len(first) == len(second) == 1 and first != second:
        return "transport"
    raise UsageError(
        f"{results[0].path} and {results[1].path} are of one library: nothing can be measured in turn",
        "--remeasure takes results of two libraries that are both here, or one result with both",
    )


def _library(result: Result) -> LibraryRecord:
    libraries = expanded(result.campaign.libraries)
    if len(libraries) != 1 or not libraries[0].mpicc.startswith("/"):
        raise UsageError(
            f"{result.path}: --remeasure of two results takes one library that is here in each",
            "measure both in one campaign: mpigauge run --mpi A --mpi B",
        )
    return libraries[0]
