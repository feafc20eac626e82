"""What a campaign has measured so far: the middle of each launch alone, cheap enough between visits."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.find.answer import QUOTED_BYTES
from mpigauge.plan.factors import SIZE, is_control
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import PAIR_OF_RANKS
from mpigauge.result.compact import essential_visit
from mpigauge.result.reader import Result
from mpigauge.result.records import Blocked, Done, Eager, Failure, Launch, Visit
from mpigauge.rows.baselines import ratios_of
from mpigauge.rows.clock_resolution import clock_resolution
from mpigauge.rows.estimate import Timing
from mpigauge.rows.group import cell_key, group_cells
from mpigauge.rows.machine.serial_correlation import widening_of
from mpigauge.rows.machine.speed_uncertainty import speed_ranges_of
from mpigauge.rows.machine.split import split_visits
from mpigauge.rows.rates import directions_of, message_rate_of, rate_of
from mpigauge.rows.rows import Row, beyond_launches
from mpigauge.rows.samples import LaunchMedianCache, launch_medians
from mpigauge.rows.warnings import Warning  # noqa: A004 - read as warnings.Warning
from mpigauge.sequences import group_by
from mpigauge.stats.interval import interval_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.records import Record
    from mpigauge.rows.samples import Steps
    from mpigauge.stats.decision import Ratio


# ---- What is unsettled ---------------------------------------------------------------------------

NEIGHBOURS = 2
"""Sizes on either side of the best that must have been measured: beside an eager limit, one may dip."""

Key = tuple[object, ...]


def unsettled(
    cells: Iterable[Cell],
    patterns: Mapping[str, Pattern],
    rates: Mapping[Cell, float],
    awaited: Collection[Cell],
) -> set[Cell]:
    """Return the cells whose rate may not be quoted as the best: a better one is still to be measured.

    Rates of two ranks are quoted as the best of all curves of a job with as many directions; others as the
    best of their curve.

    Args:
        cells: Those of the plan.
        rates: Bytes per second, of cells that have been measured.
        awaited: Cells whose turn has not come yet.
    """
    rated = (cell for cell in cells if patterns[cell.pattern].moves_bytes and cell.bytes)
    rivals = group_by(group_cells(rated, SIZE), lambda curve: _rivals(curve[0], patterns[curve[0].pattern]))
    return {cell for curves in rivals.values() for cell in _in(curves, rates, awaited)}


def untypical(cells: Iterable[Cell], awaited: Collection[Cell]) -> set[Cell]:
    """Return the cells that may not stand for their curve: a more typical size is still to be measured.

    Args:
        cells: Those of the plan.
        awaited: Cells whose turn has not come yet.
    """
    found: set[Cell] = set()
    for curve in group_cells(cells, SIZE):
        curve.sort(key=lambda cell: abs(cell.bytes - QUOTED_BYTES))
        first = next(
            (place for place, cell in enumerate(curve) if cell.bytes and cell in awaited), len(curve)
        )
        found.update(curve[first + 1 :])
    return found


def _rivals(cell: Cell, pattern: Pattern) -> Key:
    """Return what cells have in common of which one is quoted as the best."""
    if pattern.talks and pattern.family == "message" and pattern.active_ranks == PAIR_OF_RANKS:
        return cell.job, directions_of(cell, pattern)
    return cell_key(cell, SIZE)


def _in(
    curves: Iterable[Sequence[Cell]], rates: Mapping[Cell, float], awaited: Collection[Cell]
) -> Iterator[Cell]:
    mine = [sorted(curve, key=lambda cell: cell.bytes) for curve in curves]
    if any(_is_open(curve, rates, awaited) for curve in mine):
        yield from (cell for curve in mine for cell in curve)


def _is_open(curve: Sequence[Cell], rates: Mapping[Cell, float], awaited: Collection[Cell]) -> bool:
    """Return whether a size is still to come that may be the best of this curve."""
    known = [place for place, cell in enumerate(curve) if cell in rates]
    if not known:
        return any(cell in awaited for cell in curve)
    best = max(known, key=lambda place: rates[curve[place]])
    beside = curve[max(0, best - NEIGHBOURS) : best + NEIGHBOURS + 1]
    return any(cell in awaited for cell in beside)


# ---- So far --------------------------------------------------------------------------------------


class SoFar:
    """The rows of a campaign that goes on.

    Estimates and intervals are those of the finished result, of all states of the machine together; what
    else is said of samples is not computed.

    Attributes:
        patterns: Those of the campaign, by name.
        result: Its launches, and of its visits what their times need.
    """

    def __init__(self, before: Result) -> None:
        self.patterns: Mapping[str, Pattern] = {one.name: one for one in before.campaign.patterns}
        self.result = Result(before.path, before.campaign)
        self._visits: dict[Cell, list[Visit]] = defaultdict(list)
        self._limits: dict[Cell, int] = {}
        self._awaited: set[Cell] = set(before.campaign.cells)
        self._medians = LaunchMedianCache()
        for records in (
            *(before.launches, before.visits, before.eager),
            *(before.blocked, before.failures, before.done),
        ):
            for record in records:
                self.take(record)

    def take(self, record: Record) -> None:
        """Take up a record; a corrupt visit says nothing."""
        match record:
            case Launch():
                self.result.launches.append(record)
            case Done():
                self.result.done.append(record)
                self._awaited -= {cell for cell in self._awaited if cell.job == record.job} - {
                    *record.skipped
                }
            case Visit(corrupt=""):
                kept = essential_visit(record)
                self.result.visits.append(kept)
                self._visits[record.cell].append(kept)
                self._awaited.discard(record.cell)
            case Eager(limit_bytes=int(limit)):
                self._limits[record.cell] = limit
            case Blocked(cell=cell) | Failure(cell=Cell() as cell):
                self._awaited.discard(cell)

    def rows(self, *, all_planned: bool = False) -> list[Row]:
        """Return a row for every cell visited or probed, in the order of the plan, without a control arm.

        Args:
            all_planned: Whether there are rows without a time for all other cells of the plan.
        """
        steps = clock_resolution(self.result.launches, self.result.visits)
        meanwhile = speed_ranges_of(self.result)
        alone = {cell: _timing(visits, steps, self._medians) for cell, visits in self._visits.items()}
        # As of a finished result: launches in several states are not widened for following each other.
        split = split_visits(self.result.visits)
        widening = 1.0 if split else widening_of(time.by_launch for time in alone.values())
        times = {
            cell: beyond_launches(time, cell, self._visits[cell], widening, meanwhile)
            for cell, time in alone.items()
        }
        ratios = ratios_of(times)
        found = [
            self._row(cell, times.get(cell), ratios.get(cell, {}))
            for cell in self.result.campaign.cells
            if (all_planned or cell in times or cell in self._limits) and not is_control(cell)
        ]
        rates = {row.cell: row.rate_bytes_per_s for row in found if row.rate_bytes_per_s}
        planned = self.result.campaign.cells
        best, typical = (
            unsettled(planned, self.patterns, rates, self._awaited),
            untypical(planned, self._awaited),
        )
        return [
            replace(row, best_awaited=row.cell in best, typical_awaited=row.cell in typical) for row in found
        ]

    def _row(self, cell: Cell, time: Timing | None, ratios: Mapping[str, Ratio]) -> Row:
        pattern = self.patterns[cell.pattern]
        return Row(
            cell=cell,
            status="ok",
            reason=None,
            time=time,
            rate_bytes_per_s=rate_of(cell, pattern, time),
            messages_per_s=message_rate_of(cell, pattern, time),
            directions=directions_of(cell, pattern),
            cpu_s_per_op=None,
            first_s=None,
            limit_bytes=self._limits.get(cell),
            advised_samples=None,
            batch=0,
            warnings=_marks(time),
            ratios=ratios,
            sized=pattern.sized,
            talks=pattern.active_ranks != 1,
        )


def _marks(time: Timing | None) -> tuple[Warning, ...]:
    """Return what is said of a number whose interval rests on too few launches, as yet."""
    if time is None or not time.of_few_launches:
        return ()
    return (
        Warning("few-launches", {"launches": time.launches, "requested": None, "skipped": 0, "failed": 0}),
    )


def _timing(visits: Sequence[Visit], steps: Steps, known: LaunchMedianCache) -> Timing:
    """Return the estimate and its interval."""
    medians, step = launch_medians(visits, steps, known)
    values = np.array(list(medians.values()))
    found = interval_of(values, step)
    return Timing(
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        launches_half_width=found.half_width,
        launches=values.size,
        by_launch=medians,
        step=step,
    )
