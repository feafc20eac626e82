"""From visits to samples: times of operations, by cell and launch, in the order of time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.plan.groups import active_ranks
from mpigauge.plan.model import Cell, JobKey
from mpigauge.rows.clock_resolution import median_of, relative_step
from mpigauge.rows.estimate import Launches
from mpigauge.rows.synchrony import in_time
from mpigauge.sequences import group_by
from mpigauge.stats.interval import interval_of
from mpigauge.stats.ragged import Ragged, in_batches, ragged_of
from mpigauge.units import NS

if TYPE_CHECKING:
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.records import Launch, Visit
    from mpigauge.stats.percentiles import Values


Steps = Mapping[JobKey, float]
"""Step of the clock of each job, in nanoseconds, from `clock_resolution`; a job that is missing has none."""

NO_STEPS: Steps = {}

_place = attrgetter("id")


def seconds_of(visit: Visit) -> Values:
    """Return the time of one operation, one value a sample, in seconds; late rounds do not count."""
    samples_ns = np.asarray(visit.samples_ns, dtype=np.float64)
    return (samples_ns[in_time(visit)] if visit.late else samples_ns) * visit.operation_s


def visits_by_launch(visits: Iterable[Visit]) -> dict[int, list[Visit]]:
    """Return visits of a cell by number of launch, in the order of time; without those that are corrupt."""
    launches = group_by((visit for visit in visits if not visit.corrupt), lambda visit: visit.launch)
    return {number: sorted(_in_time(launches[number]), key=_place) for number in sorted(launches)}


def _in_time(visits: Sequence[Visit]) -> Sequence[Visit]:
    """Return visits whose rounds were not all late; all of them if no visit of the launch had one in time.

    Else the many late rounds of one visit would outweigh the few of the others that were in time.
    """
    return [visit for visit in visits if len(visit.late) < len(visit.samples_ns)] or visits


def by_launch_number(visits: Iterable[Visit]) -> dict[int, list[Values]]:
    """Return samples of one cell by number of launch, a list of visits each."""
    return {
        number: [seconds_of(visit) for visit in mine] for number, mine in visits_by_launch(visits).items()
    }


def by_launch(visits: Iterable[Visit]) -> list[list[Values]]:
    """Return the samples of one cell launch by launch, a list of visits each."""
    return list(by_launch_number(visits).values())


def launches_of(launches: Mapping[int, Sequence[Visit]], steps: Steps) -> Launches:
    """Return the launches of one cell, from `visits_by_launch`, as numbers."""
    visits = [visit for mine in launches.values() for visit in mine]
    pooled = None if any(visit.late for visit in visits) else _pooled_seconds(visits)
    each = iter([seconds_of(visit) for visit in visits] if pooled is None else pooled.arrays())
    samples = [list(islice(each, len(mine))) for mine in launches.values()]
    steps_s = _steps_of(launches.values(), steps)
    return Launches(list(launches), samples, steps_s, None if pooled is None else pooled.values)


def _pooled_seconds(visits: Sequence[Visit]) -> Ragged:
    """Return what `seconds_of` does of visits without late rounds, in one array, made of some at a time."""
    lengths = np.array([len(visit.samples_ns) for visit in visits], dtype=np.intp)
    pooled = Ragged(np.empty(lengths.sum()), lengths)
    end = 0
    for some in in_batches(visits, lambda visit: len(visit.samples_ns)):
        samples_ns = ragged_of([np.asarray(visit.samples_ns) for visit in some])
        operations_s = samples_ns.repeat(np.array([visit.operation_s for visit in some]))
        begin, end = end, end + samples_ns.values.size
        np.multiply(samples_ns.values, operations_s, out=pooled.values[begin:end])
    return pooled


def _steps_of(launches: Collection[Sequence[Visit]], steps: Steps) -> list[list[float]]:
    """Return the step of the clock of each visit of a cell in seconds of one operation; 0 where unknown."""
    first = next((visit for mine in launches for visit in mine), None)
    step_ns = 0.0 if first is None else steps.get(first.cell.job, 0.0)
    return [[step_ns * NS / visit.ops for visit in mine] for mine in launches]


def by_cell(visits: Iterable[Visit]) -> dict[Cell, list[Visit]]:
    """Return visits grouped by their cell."""
    cells: dict[Cell, list[Visit]] = defaultdict(list)
    for visit in visits:
        cells[visit.cell].append(visit)
    return cells


def restarts(launches: Iterable[Launch]) -> dict[JobKey, frozenset[int]]:
    """Return numbers of the launches of each job that were started more than once."""
    found: dict[JobKey, set[int]] = defaultdict(set)
    for launch in launches:
        if launch.part > 1:
            found[launch.job].add(launch.number)
    return {job: frozenset(numbers) for job, numbers in found.items()}


class LaunchMedianCache:
    """Medians of launches, each computed once: whoever asks again after every launch asks for the same ones.

    They are known by the identity of their visits, which must all be kept as long as this is.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[int, ...], tuple[float, ...]], float] = {}

    def of(self, visits: Sequence[Visit], steps_s: Sequence[float]) -> float:
        """Return the median of a launch in seconds, from its visits in order of time and the step of each."""
        key = tuple(map(id, visits)), tuple(steps_s)
        if key not in self._known:
            self._known[key] = median_of([seconds_of(visit) for visit in visits], steps_s)
        return self._known[key]


def launch_medians(
    visits: Sequence[Visit], steps: Steps, known: LaunchMedianCache | None = None
) -> tuple[dict[int, float], float]:
    """Return the median of each launch of a cell in s, by number, and the clock's step over the time."""
    known, launches = known or LaunchMedianCache(), visits_by_launch(visits)
    by = dict(zip(launches, _steps_of(launches.values(), steps), strict=True))
    medians = {number: known.of(mine, by[number]) for number, mine in launches.items()}
    coarse = [step for mine in by.values() for step in mine]
    return medians, relative_step(np.array(list(medians.values())), coarse)


def first_s(visits: Sequence[Visit]) -> float | None:
    """Return the first round of a cell in a launch, median over launches; None if it is not known."""
    firsts = [visit.first_s for visit in visits if visit.first_s > 0]
    return interval_of(np.array(firsts)).estimate if firsts else None


# ---- CPU time ------------------------------------------------------------------------------------


def cpu_s(cell: Cell, pattern: Pattern | None, visits: Sequence[Visit]) -> float | None:
    """Return user and system time of all ranks for one operation, in seconds; None if not known."""
    known = _with_cpu(cell, pattern, visits)
    operations = sum(len(visit.samples_ns) * visit.ops for visit in known)
    return sum(visit.cpu_ns or 0 for visit in known) * NS / operations if operations else None


def cpu_share(cell: Cell, pattern: Pattern | None, visits: Sequence[Visit]) -> float | None:
    """Return CPU time over wall time of all ranks, in the median visit: one that was interrupted says little.

    At most 1, however the two clocks disagree.
    """
    known = _with_cpu(cell, pattern, visits)
    if pattern is None or not known:
        return None
    walls_ns = ragged_of([np.asarray(visit.samples_ns) for visit in known]).sums()
    spent_ns = np.array([visit.cpu_ns for visit in known], dtype=np.float64)
    there = walls_ns > 0
    if not there.any():
        return None
    ranks = active_ranks(cell, pattern)
    return min(1.0, float(np.median(spent_ns[there] / (ranks * walls_ns[there]))))


def _with_cpu(cell: Cell, pattern: Pattern | None, visits: Sequence[Visit]) -> list[Visit]:
    """Return the visits that know the CPU time of all ranks: none where one waits for the end."""
    mode = pattern.mode(cell.mode) if pattern is not None else None
    if mode is not None and mode.target_waits:
        return []
    return [visit for visit in visits if visit.cpu_ns is not None]
