"""Evidence of results that are made in memory, where what follows is known before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from mpigauge.document.cell_names import varied_in
from mpigauge.find.explain.evidence import Evidence
from mpigauge.rows.rows import rows
from tests.made import ENVIRONMENT, PLACE, campaign, launches_of, measured, result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from mpigauge.plan.lab import Lab
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Launch, Visit

LAUNCHES = range(1, 7)


def hosts_of(cell: Cell) -> list[str]:
    """The host of each rank: as its placement names them, or one for all."""
    return cell.placement.split(",") if "," in cell.placement else [PLACE.host] * cell.ranks


def evidence(
    cells: Sequence[Cell],
    samples_ns: Callable[[Cell, int], list[int]],
    *,
    launches: Collection[int] = LAUNCHES,
    lab: Lab | None = None,
    cores: int = 2,
    of: Callable[[Visit], Visit] = lambda visit: visit,
) -> Evidence:
    """Of a visit of every cell in each launch.

    Args:
        samples_ns: Of a cell in a launch: round trips of what is one way, as `made.visit` has them.
        of: Changes each visit.
    """
    first = campaign(*cells)
    plan, machine = replace(first.plan, lab=lab), replace(ENVIRONMENT, cores=cores, cores_online=cores)
    visits = [of(one) for one in measured(cells, launches, samples_ns)]
    started = [_placed(one, cells) for one in launches_of(cells, launches)]
    result = result_of(replace(first, plan=plan, environment=machine), *started, *visits)
    return Evidence(result, rows(result))


def varied(found: Evidence) -> Collection[str]:
    """In what its cells differ, as sentences want it."""
    return varied_in(found.rows)


def _placed(launch: Launch, cells: Sequence[Cell]) -> Launch:
    cell = next(one for one in cells if one.job == launch.job)
    return replace(launch, ranks_at=tuple(replace(PLACE, host=host) for host in hosts_of(cell)))
