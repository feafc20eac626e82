"""What an interval over launches cannot know of the next minutes: docs/method-launches.md#speeds."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from mpigauge.rows.estimate import Printed, Timing
from mpigauge.rows.machine.instrument import promised_of
from mpigauge.rows.machine.rank_groups import seat_of
from mpigauge.rows.machine.sessions import spread_s
from mpigauge.rows.machine.speeds import spans_of
from mpigauge.rows.within_launch import WIDTH_OF_NORMAL
from mpigauge.stats.interval import UNIFORM_VARIANCE
from mpigauge.stats.limits import PROMISED
from mpigauge.stats.ragged import in_batches, ragged_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.result.reader import Result
    from mpigauge.result.records import Visit
    from mpigauge.rows.machine.conditions import Places
    from mpigauge.stats.percentiles import Values

Known = TypeVar("Known", bound=Timing)

MIN_SPAN = 0.02
"""Between speeds, as a logarithm: less is noise of the readings."""

UNIFORM_REACH = WIDTH_OF_NORMAL / 2 * math.sqrt(UNIFORM_VARIANCE)
"""Half-width of a 95 % interval over the width of a uniform distribution."""

MINUTES_S = 600.0
"""Launches spread over more time than this already differ by changes of speed."""

_MIN_FREEDOM = 8
"""Degrees of freedom within launches; with fewer visits, launches are not told apart."""


class Response(NamedTuple):
    """How times follow the speed of the cores.

    Attributes:
        slope: Exponent k where a time grows with the k-th power of what arithmetic takes.
        error: Its standard error; infinite if nothing is known.
    """

    slope: float = 1.0
    error: float = math.inf

    @property
    def exponent(self) -> float:
        """The slope plus its standard error, between 0 and 1."""
        return min(max(self.slope, 0.0) + self.error, 1.0)


class SpeedRanges(NamedTuple):
    """The speeds that the cores of some ranks had.

    Attributes:
        span: How far apart they are, as a logarithm.
        response: How all times of these ranks follow them.
    """

    span: float = 0.0
    response: Response = Response()


def speed_ranges_of(result: Result) -> dict[object, SpeedRanges]:
    """Return the speeds while launches were made; nothing for launches that were spread over more time.

    Returns:
        By what `rank_groups.seat_of` says of cells; without ranks whose cores had one speed.
    """
    if spread_s(result.launches, result.done) > MINUTES_S:
        return {}
    spans = {seat: span for seat, span in spans_of(result.visits).items() if span > MIN_SPAN}
    seats: Mapping[object, list[Visit]] = defaultdict(list)
    for visit in result.visits if spans else ():
        seats[seat_of(visit.cell)].append(visit)
    return {seat: SpeedRanges(span, response_of(seats[seat])) for seat, span in spans.items()}


def widened_for_speed_changes(time: Known, visits: Sequence[Visit], meanwhile: SpeedRanges | None) -> Known:
    """Return a time with an interval that also holds when the machine is at another of its speeds.

    Later, the machine may run at each speed that it had while measuring, for any share of the time. So the
    time is uniformly distributed over what it would be at the ends.

    Args:
        visits: Of the cell.
        meanwhile: The speeds of its ranks; None if they had one.

    Source:
        JCGM 100:2008 (GUM) 4.3.7, for a quantity of which only its bounds are known.
    """
    if isinstance(time, Printed) or time.half_width is None:
        return time
    reach = 0.0
    if meanwhile is not None:
        own = response_of(visits)
        response = own if own.error <= meanwhile.response.error else meanwhile.response
        reach = UNIFORM_REACH * meanwhile.span * response.exponent
    promised = promised_of(visits[0].cell, time.estimate) if visits else PROMISED
    return time.with_machine(reach, promised)


def response_of(visits: Iterable[Visit]) -> Response:
    """Return how times of visits follow the speed of the cores: least squares within launches of a cell."""
    times, speeds, launches, cells = _logs(visits)
    groups = launches if times.size - _count(launches) - 1 >= _MIN_FREEDOM else cells
    freedom = times.size - _count(groups) - 1
    if freedom <= 0:
        return Response()
    times, speeds = (_about_means(values, groups) for values in (times, speeds))
    squares = float(speeds @ speeds)
    if squares <= 0:
        return Response()
    slope = float(speeds @ times) / squares
    residues = times - slope * speeds
    return Response(slope, math.sqrt(float(residues @ residues) / freedom / squares))


def _logs(visits: Iterable[Visit]) -> tuple[Values, Values, Places, Places]:
    """Return logarithms of times and of what arithmetic took; numbers of launches of a cell, and of cells."""
    known = [visit for visit in visits if visit.alu_ns and min(visit.alu_ns) > 0 and visit.samples_ns]
    cells: dict[int, int] = {}
    each = [
        (middle / visit.ops, sum(visit.alu_ns), visit.launch, cells.setdefault(id(visit.cell), len(cells)))
        for visit, middle in zip(known, _middles(known), strict=True)
        if middle > 0
    ]
    times, speeds, launches, numbers = np.array(each, dtype=float).reshape(-1, 4).T
    _, of_launches = np.unique(launches + numbers * (launches.max(initial=0) + 1), return_inverse=True)
    return np.log(times), np.log(speeds), of_launches, numbers.astype(np.intp)


def _middles(visits: Sequence[Visit]) -> Iterator[float]:
    """Yield the middle of the samples of each visit, in ns: the upper one of two."""
    for some in in_batches(visits, lambda visit: len(visit.samples_ns)):
        yield from ragged_of([np.asarray(visit.samples_ns) for visit in some]).ascending().middles().tolist()


def _count(groups: Places) -> int:
    return int(groups.max(initial=-1)) + 1


def _about_means(values: Values, groups: Places) -> Values:
    """Return values without the mean of their group."""
    about: Values = values - (np.bincount(groups, values) / np.bincount(groups))[groups]
    return about
