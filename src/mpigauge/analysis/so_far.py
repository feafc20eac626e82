"""What a campaign has measured so far: the middle of each launch alone, cheap enough between visits."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.analysis.baselines import ratios_of
from mpigauge.analysis.estimate import Timing
from mpigauge.analysis.interval import launch_interval
from mpigauge.analysis.rates import algorithm_bytes, directions_of
from mpigauge.analysis.rows import Row
from mpigauge.analysis.samples import seconds_of
from mpigauge.result.reader import Result
from mpigauge.result.records import Done, Eager, Launch, Visit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.analysis.percentiles import Values
    from mpigauge.analysis.ratios import Ratio
    from mpigauge.plan.model import Cell
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickTiming(Timing):
    """A time of which only the launches are known.

    Attributes:
        medians: Launch number to median in seconds.
    """

    medians: Mapping[int, float]

    @property
    def by_launch(self) -> Mapping[int, float]:
        """What stands for each launch, in seconds, by its number."""
        return self.medians


class SoFar:
    """The rows of a campaign that goes on.

    Estimates and intervals are those of the finished result; what else is said of samples is not computed.

    Attributes:
        patterns: Those of the campaign, by name.
        result: Its launches; its visits are not kept.
    """

    def __init__(self, before: Result) -> None:
        self.patterns: Mapping[str, Pattern] = {one.name: one for one in before.campaign.patterns}
        self.result = Result(before.path, before.campaign)
        self._samples: dict[Cell, dict[int, list[Values]]] = defaultdict(lambda: defaultdict(list))
        self._medians: dict[Cell, dict[int, float]] = defaultdict(dict)
        self._limits: dict[Cell, int] = {}
        for records in (before.launches, before.visits, before.eager, before.done):
            for record in records:
                self.take(record)

    def take(self, record: Record) -> None:
        """Takes up a record; a corrupt visit says nothing."""
        match record:
            case Launch():
                self.result.launches.append(record)
            case Done():
                self.result.done.append(record)
            case Visit(corrupt=""):
                self._samples[record.cell][record.launch].append(seconds_of(record))
                self._medians[record.cell].pop(record.launch, None)
            case Eager(limit_bytes=int(limit)):
                self._limits[record.cell] = limit

    def rows(self) -> list[Row]:
        """Of every cell that was visited or probed, in the order of the plan."""
        times = {cell: _timing(self._medians_of(cell)) for cell in self._samples}
        ratios = ratios_of({cell: time for cell, time in times.items() if time is not None})
        return [
            self._row(cell, times.get(cell), ratios.get(cell, {}))
            for cell in self.result.campaign.cells
            if cell in times or cell in self._limits
        ]

    def _medians_of(self, cell: Cell) -> dict[int, float]:
        """Launch number to median in seconds; those of launches that are over were computed before."""
        known, samples = self._medians[cell], self._samples[cell]
        for number in samples.keys() - known.keys():
            found = np.concatenate(samples[number])
            if found.size:
                known[number] = float(np.median(found))
        return {number: known[number] for number in sorted(known)}

    def _row(self, cell: Cell, time: Timing | None, ratios: Mapping[str, Ratio]) -> Row:
        pattern = self.patterns[cell.pattern]
        moves = pattern.moves_bytes and cell.bytes > 0 and time is not None and time.estimate > 0
        return Row(
            cell=cell,
            status="ok",
            reason=None,
            time=time,
            rate_bytes_per_s=algorithm_bytes(cell, pattern) / time.estimate if moves and time else None,
            directions=directions_of(cell, pattern),
            cpu_s_per_op=None,
            first_s=None,
            limit_bytes=self._limits.get(cell),
            advised_samples=None,
            batch=0,
            warnings=(),
            ratios=ratios,
            sized=pattern.sized,
            talks=pattern.active_ranks != 1,
        )


def _timing(medians: Mapping[int, float]) -> Timing | None:
    """The estimate and its interval; None without any launch."""
    if not medians:
        return None
    centre, low, high, half_width = launch_interval(np.array(list(medians.values())))
    return QuickTiming(
        estimate=centre, low=low, high=high, half_width=half_width, launches=len(medians), medians=medians
    )
