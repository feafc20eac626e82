"""The third step from a result to its rows: the time of each cell in each state, with its interval.

Times that were measured come from samples, all others from what somebody has published. Intervals cover what
launches do not show: that neighbouring ones are alike, other speeds of the cores, and the instrument.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.rows.estimate import estimates, printed
from mpigauge.rows.machine.instrument import promised_of
from mpigauge.rows.machine.rank_groups import seat_of
from mpigauge.rows.machine.serial_correlation import launches_in_time
from mpigauge.rows.machine.speed_uncertainty import speed_ranges_of, speed_uncertainty
from mpigauge.rows.machine.split import is_split
from mpigauge.rows.samples import launches_of, visits_by_launch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Imported, Visit
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.group import Subject
    from mpigauge.rows.load import LoadedResult
    from mpigauge.rows.machine.serial_correlation import InTime
    from mpigauge.rows.machine.speed_uncertainty import SpeedRanges
    from mpigauge.rows.machine.split import SplitPart


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a result.

    Attributes:
        by_part: By cell in a state, without those that nobody has measured or published.
        in_time: How much neighbouring launches agree, and widen intervals; None if that is not known.
    """

    by_part: Mapping[Subject, Timing]
    in_time: InTime | None


def estimate(loaded: LoadedResult, parts: Mapping[Cell, Sequence[SplitPart]], stat: str) -> Times:
    """Return the time of each cell in each state.

    Args:
        stat: The statistic that stands for a launch; one of `vocabulary.STATS`.
    """
    visits = {part.subject(cell): part.visits for cell, mine in parts.items() for part in mine}
    measured = _measured(loaded, visits, stat)
    # Launches in several states follow each other by these: they are told apart, not widened for it.
    # Launches in several states follow each other by these: they are told apart, not widened for it.
    in_time = (
        None if is_split(loaded.result) else launches_in_time(time.by_launch for time in measured.values())
    )
    widening, meanwhile = in_time.factor if in_time else 1.0, speed_ranges_of(loaded.result)
    times = _published(loaded, visits) | {
        key: beyond_launches(time, key.cell, visits[key], widening, meanwhile)
        for key, time in measured.items()
    }
    return Times(times, in_time)


def beyond_launches(
    time: Timing,
    cell: Cell,
    visits: Sequence[Visit],
    widening: float,
    meanwhile: Mapping[object, SpeedRanges],
) -> Timing:
    """Return the time of a cell with an interval that covers what its launches do not show.

    Args:
        visits: Of the cell.
        widening: For the serial correlation of launches.
        meanwhile: The speeds of cores while launches were made, from `speed_ranges_of`.
    """
    machine = speed_uncertainty(visits, meanwhile.get(seat_of(cell)))
    return time.beyond_launches(widening, machine, promised_of(cell, time.estimate))


def _measured(
    loaded: LoadedResult, visits: Mapping[Subject, Sequence[Visit]], stat: str
) -> dict[Subject, Timing]:
    known = {key: mine for key, mine in visits.items() if any(not visit.corrupt for visit in mine)}
    # One after the other as they are needed: all samples as floating-point numbers are a second result.
    launches = (launches_of(visits_by_launch(mine), loaded.steps) for mine in known.values())
    return {
        key: replace(time, in_parts=loaded.restarted.get(key.cell.job, frozenset()))
        for key, time in zip(known, estimates(launches, stat), strict=True)
    }


def _published(loaded: LoadedResult, keys: Iterable[Subject]) -> dict[Subject, Timing]:
    return {key: _printed(loaded.imported[key.cell]) for key in keys if key.cell in loaded.imported}


def _printed(imported: Sequence[Imported]) -> Timing:
    """Return the time that others have published of a cell."""
    statistic = "; ".join(filter(None, dict.fromkeys(one.statistic for one in imported)))
    times_s = {one.launch: one.time_s for one in imported}
    return printed(times_s, statistic, imported[0].stddev_s, max(one.step for one in imported))
