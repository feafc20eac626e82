"""When visits were made, on one axis for a whole campaign."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.plan.model import JobKey
    from mpigauge.result.reader import Result


def begins_s(result: Result) -> list[float]:
    """When each visit of a result began, in seconds after the first launch.

    A launch that was started again has several starts: visits of a later part begin earlier after their
    start than those before them. Where starts are not known, as of an import, visits follow each other.
    """
    starts = _starts_s(result)
    parts: dict[tuple[int, JobKey], int] = defaultdict(int)
    last: dict[tuple[int, JobKey], float] = {}
    found: list[float] = []
    end_s = 0.0
    for visit in result.visits:
        key = visit.launch, visit.cell.job
        if visit.at_s < last.get(key, 0.0):
            parts[key] += 1
        last[key] = visit.at_s
        mine = starts.get(key, [])
        # Starts are whole seconds: nothing begins before what came before it is over.
        begin_s = mine[min(parts[key], len(mine) - 1)] + visit.at_s if mine else end_s
        found.append(max(begin_s, end_s))
        end_s = found[-1] + visit.elapsed_s if not visit.cell.pair else max(end_s, found[-1])
    return found


def _starts_s(result: Result) -> dict[tuple[int, JobKey], list[float]]:
    """When the parts of each launch began, after the first of all."""
    known = [launch for launch in result.launches if launch.started]
    times_s = [datetime.fromisoformat(launch.started).timestamp() for launch in known]
    starts: dict[tuple[int, JobKey], list[float]] = defaultdict(list)
    for launch, time_s in zip(known, times_s, strict=True):
        starts[launch.number, launch.job].append(time_s - min(times_s))
    return starts
