"""Launches that were unusual as a whole: far from the others in several cells at once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from mpigauge.plan.patterns import FLOORS
from mpigauge.rows.estimate import Estimate
from mpigauge.rows.machine.sessions import begins_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row

LEAST_CELLS = 2
"""In a single one it is said of that cell."""


@dataclass(frozen=True, slots=True)
class OddLaunch:
    """What a launch did as a whole.

    Attributes:
        job: What it was a launch of.
        number: Its number.
        factor: How many times as long as usual it took; the median over the cells in which it is far off.
        least: The smallest of these.
        most: The largest.
        cells: Those cells.
        measured: How many cells it has measured.
        begin_s: When it began, after the first launch; None if that is not known.
    """

    job: JobKey
    number: int
    factor: float
    least: float
    most: float
    cells: tuple[Cell, ...]
    measured: int
    begin_s: float | None


def odd_launches(result: Result, rows: Iterable[Row]) -> list[OddLaunch]:
    """Return the odd launches of all jobs, in the order of jobs and launches."""
    begins = begins_s(result.launches)
    jobs: dict[JobKey, list[tuple[Cell, Estimate]]] = defaultdict(list)
    for row in rows:
        if isinstance(row.time, Estimate) and row.cell.pattern not in FLOORS:
            jobs[row.cell.job].append((row.cell, row.time))
    return [
        odd
        for job, mine in jobs.items()
        for number in sorted({number for _, time in mine for number in time.outliers})
        for odd in _odd(job, number, mine, begins.get(number))
    ]


def unexplained(rows: Iterable[Row], odd: Sequence[OddLaunch]) -> frozenset[Cell]:
    """Return cells with a launch that is far from the others in that cell alone."""
    known = {(one.job, one.number) for one in odd}
    return frozenset(
        row.cell
        for row in rows
        if isinstance(row.time, Estimate) and any((row.cell.job, n) not in known for n in row.time.outliers)
    )


def _odd(
    job: JobKey, number: int, times: Sequence[tuple[Cell, Estimate]], begin_s: float | None
) -> Iterator[OddLaunch]:
    """Yield a launch if it is far off in several cells."""
    factors = {
        cell: time.by_launch[number] / median(time.by_launch.values())
        for cell, time in times
        if number in time.outliers
    }
    if len(factors) >= LEAST_CELLS:
        measured = sum(number in time.by_launch for _, time in times)
        middle, least, most = median(factors.values()), min(factors.values()), max(factors.values())
        yield OddLaunch(job, number, middle, least, most, tuple(factors), measured, begin_s)
