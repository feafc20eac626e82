"""From visits to samples: times of operations, by cell and launch, in the order of time."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from mpigauge.analysis.estimate import launch_interval
from mpigauge.analysis.percentiles import Values
from mpigauge.analysis.synchrony import in_time
from mpigauge.plan.model import Cell
from mpigauge.result.records import Visit


def seconds_of(visit: Visit) -> Values:
    """Time of one operation, one value a sample, in seconds; late rounds do not count."""
    return np.asarray(visit.samples_ns, dtype=np.float64)[in_time(visit)] * visit.operation_s


def by_launch_number(visits: Iterable[Visit]) -> dict[int, list[Values]]:
    """Samples of one cell by number of launch, a list of visits each, both in the order of time."""
    launches: dict[int, list[Visit]] = defaultdict(list)
    for visit in visits:
        if not visit.corrupt:
            launches[visit.launch].append(visit)
    return {
        number: [seconds_of(visit) for visit in sorted(launches[number], key=lambda v: v.id)]
        for number in sorted(launches)
    }


def by_launch(visits: Iterable[Visit]) -> list[list[Values]]:
    """The same without the numbers."""
    return list(by_launch_number(visits).values())


def by_cell(visits: Iterable[Visit]) -> dict[Cell, list[Visit]]:
    """Visits grouped by their cell."""
    cells: dict[Cell, list[Visit]] = defaultdict(list)
    for visit in visits:
        cells[visit.cell].append(visit)
    return cells


def half_widths(visits: Sequence[Visit]) -> dict[Cell, float | None]:
    """Relative half-width of every cell's interval; None where there is none yet."""
    widths: dict[Cell, float | None] = {}
    for cell, mine in by_cell(visits).items():
        medians = [float(np.median(np.concatenate(launch))) for launch in by_launch(mine)]
        widths[cell] = launch_interval(np.asarray(medians))[3] if medians else None
    return widths
