"""The first step from a result to its rows: visits by cell, and what their times need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.rows.clock_resolution import clock_resolution
from mpigauge.rows.samples import by_cell, restarts
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Imported, Visit
    from mpigauge.rows.clock_resolution import Steps


@dataclass(frozen=True, slots=True)
class LoadedResult:
    """A result by cell.

    Attributes:
        patterns: Those of its campaign, by name.
        visits: The visits of each cell of its plan, in the order of the plan.
        imported: Numbers of each cell that others have published.
        steps: The step of the clock of each job.
        restarted: Numbers of launches of each job that have several parts.
    """

    result: Result
    patterns: Mapping[str, Pattern]
    visits: Mapping[Cell, Sequence[Visit]]
    imported: Mapping[Cell, Sequence[Imported]]
    steps: Steps
    restarted: Mapping[JobKey, frozenset[int]]


def load(result: Result) -> LoadedResult:
    """Return a result by cell; samples become numbers only when a time is computed of them.

    All samples as floating-point numbers at once would be a second result.
    """
    visits = by_cell(result.visits)
    return LoadedResult(
        result=result,
        patterns={pattern.name: pattern for pattern in result.campaign.patterns},
        visits={cell: visits.get(cell, []) for cell in result.campaign.cells},
        imported=group_by(result.imported, lambda one: one.cell),
        steps=clock_resolution(result.launches, result.visits),
        restarted=restarts(result.launches),
    )
