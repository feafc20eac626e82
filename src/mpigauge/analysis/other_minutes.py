"""What an interval over launches cannot know of the next minutes: docs/method.md#other-minutes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from mpigauge.analysis.estimate import Printed, Timing
from mpigauge.analysis.interval import UNIFORM_VARIANCE
from mpigauge.analysis.sessions import spread_s
from mpigauge.analysis.speeds import spans_of
from mpigauge.analysis.within_launch import WIDTH_OF_NORMAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.analysis.conditions import Places
    from mpigauge.analysis.percentiles import Values
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit

Known = TypeVar("Known", bound=Timing)

PROMISED = 0.01
"""Half-width of what the instrument promises at best: up to 1 % of a sample is the clock."""

SPAN_LEAST = 0.02
"""Between speeds, as a logarithm: less is noise of the readings."""

UNIFORM_REACH = WIDTH_OF_NORMAL / 2 * math.sqrt(UNIFORM_VARIANCE)
"""Half-width of a 95 % interval over the width of a uniform distribution."""

MINUTES_S = 600.0
"""Launches that were spread over more have seen other minutes, and differ by what these do."""

_FREEDOM_LEAST = 8
"""Degrees of freedom within launches; with fewer visits, launches are not told apart."""


def spans_meanwhile(result: Result) -> dict[object, float]:
    """How far apart the speeds were while launches were made; nothing of launches that were spread over more.

    Returns:
        As `speeds.spans_of`.
    """
    return {} if spread_s(result.launches, result.done) > MINUTES_S else spans_of(result.visits)


def for_other_minutes(time: Known, visits: Sequence[Visit], span: float) -> Known:
    """The same time with an interval that holds also when the machine is at another of its speeds.

    At another minute it may be at each speed that it had meanwhile, for any share of the time. So the time is
    uniformly distributed over what it would be at the ends.

    Args:
        visits: Of the cell.
        span: How far apart these speeds are, as a logarithm.

    Source:
        JCGM 100:2008 (GUM) 4.3.7, for a quantity of which only its bounds are known.
    """
    if isinstance(time, Printed) or time.half_width is None:
        return time
    reach = UNIFORM_REACH * span * speed_exponent(visits) if span > SPAN_LEAST else 0.0
    growth = math.exp(math.hypot(math.log1p(time.half_width), reach, PROMISED))
    return replace(time, low=time.estimate / growth, high=time.estimate * growth, half_width=growth - 1)


def speed_exponent(visits: Iterable[Visit]) -> float:
    """The power of what arithmetic takes with which a time grows, by visits of equal launches.

    Returns:
        That of least squares within launches and its standard error, from 0 to 1; 1 if nothing is known.
    """
    times, speeds, launches = _logs(visits)
    if times.size - launches.max(initial=0) - 2 < _FREEDOM_LEAST:
        launches = np.zeros_like(launches)
    freedom = times.size - launches.max(initial=0) - 2
    if freedom <= 0:
        return 1.0
    times, speeds = (_about_launches(values, launches) for values in (times, speeds))
    squares = float(speeds @ speeds)
    if squares <= 0:
        return 1.0
    slope = float(speeds @ times) / squares
    residues = times - slope * speeds
    error = math.sqrt(float(residues @ residues) / freedom / squares)
    return min(max(slope, 0.0) + error, 1.0)


def _logs(visits: Iterable[Visit]) -> tuple[Values, Values, Places]:
    """Logarithms of times and of what arithmetic took, and a number for each launch, from 0 on."""
    known = [
        (middle / visit.ops, sum(visit.alu_ns), visit.launch)
        for visit in visits
        if visit.alu_ns and min(visit.alu_ns) > 0 and (middle := _middle(visit.samples_ns)) > 0
    ]
    times, speeds, launches = np.array(known, dtype=float).reshape(-1, 3).T
    _, numbers = np.unique(launches, return_inverse=True)
    return np.log(times), np.log(speeds), numbers


def _middle(samples_ns: Sequence[int]) -> int:
    return sorted(samples_ns)[len(samples_ns) // 2] if samples_ns else 0


def _about_launches(values: Values, launches: Places) -> Values:
    """Values without the mean of their launch."""
    about: Values = values - (np.bincount(launches, values) / np.bincount(launches))[launches]
    return about
