"""Intervals across launches, and how many launches a narrower one takes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mpigauge.analysis.limits import LAUNCHES_COUNTABLE
from mpigauge.analysis.percentiles import LEVEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mpigauge.analysis.percentiles import Values

    Counts = NDArray[np.int64]

UNIFORM_VARIANCE = 1 / 12
"""Of a uniform distribution over one step."""

DISTANCE_MOST = 230.0
"""From the centre of an interval to its ends: a factor of 10^100. A file may claim a clock of any step."""

_SPREAD_POINTS = (0.2, 0.8)


def launch_interval(
    medians: Values, clock_step: float = 0.0
) -> tuple[float, float | None, float | None, float | None]:
    """Centre, interval and relative half-width of a cell: Student's t on the logarithms of launch medians.

    Args:
        medians: One number a launch, shape ``(launches,)``, in seconds.
        clock_step: The step of the clock over the time. All launches share it, so it is not divided by how
            many there are.

    Returns:
        Geometric mean, low, high in seconds and ``high / centre - 1``. For one launch the last three are
        None. A median of 0 (the clock stood still) has no logarithm: then the median of the medians, and None
        thrice.

    Source:
        docs/method.md#launches, docs/method.md#steps-of-the-clock
    """
    count = medians.size
    if count == 1 or medians.min() <= 0:
        return float(np.median(medians)), None, None, None
    # Relative to the first, so that equal launches differ by exactly 0.
    logs = np.log(medians / medians[0])
    centre = float(medians[0]) * math.exp(logs.mean())
    error = float(logs.std(ddof=1)) / math.sqrt(count)
    growth = math.exp(with_step(student(count - 1) * error, clock_step))
    return centre, centre / growth, centre * growth, growth - 1.0


def with_step(distance: float, clock_step: float) -> float:
    """The half-width of an interval of a logarithm, and in quadrature what a step of the clock hides."""
    return min(DISTANCE_MOST, math.sqrt(distance**2 + clock_step**2 * UNIFORM_VARIANCE))


@lru_cache(maxsize=4096)
def student(freedom: float, level: float = LEVEL) -> float:
    """How many standard errors a two-sided t interval reaches."""
    return float(special.stdtrit(freedom, (1 + level) / 2))


def launches_needed(
    half_width: float, launches: int, precision: float, clock_step: float = 0.0
) -> tuple[int | None, int | None, int | None]:
    """How many launches would give an interval of the precision asked for.

    The standard deviation of launches follows from the interval; its own uncertainty is that of chi-square.

    Args:
        half_width: Relative, of the interval that there is.
        launches: It is of so many.
        precision: The relative half-width asked for.
        clock_step: The step of the clock over the time.

    Returns:
        The number, and between which two it most likely is: 20 and 80 % points. None for more than 1000, or
        if the step of the clock alone is wider.

    Source:
        docs/method.md#enough-launches
    """
    hidden = clock_step**2 * UNIFORM_VARIANCE
    wanted = math.log1p(precision) ** 2 - hidden
    freedom = launches - 1
    reach = max(0.0, math.log1p(half_width) ** 2 - hidden)
    deviation = math.sqrt(reach * launches) / student(freedom)
    low, high = (
        deviation * math.sqrt(freedom / float(special.chdtri(freedom, point))) for point in _SPREAD_POINTS
    )
    return _needed(deviation, wanted), _needed(low, wanted), _needed(high, wanted)


def _needed(deviation: float, wanted: float) -> int | None:
    """The fewest launches whose squared distance is at most `wanted`."""
    if wanted <= 0:
        return None
    counts, errors = _standard_errors()
    enough = np.flatnonzero((errors * deviation) ** 2 <= wanted)
    return int(counts[enough[0]]) if enough.size else None


@lru_cache(maxsize=1)
def _standard_errors() -> tuple[Counts, Values]:
    """Numbers of launches, and the half-width of an interval of each in standard deviations."""
    counts = np.arange(2, LAUNCHES_COUNTABLE + 1)
    return counts, special.stdtrit(counts - 1, (1 + LEVEL) / 2) / np.sqrt(counts)
