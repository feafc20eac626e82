"""The stop rule of precision: which cells have narrow enough intervals after whole replications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.stats.limits import ENOUGH_LAUNCHES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Launch, Visit
    from mpigauge.rows.samples import LaunchMedianCache

EVERY_UP_TO = 20
"""The rule is evaluated after each of so many replications; after that, whenever 2.5 to 5 % have been added.

Each evaluation reads all samples: after every one of a thousand launches, that would take longer than the
launches. This way all evaluations together take a fixed multiple of the last one.
"""


def last_evaluated(number: int) -> int:
    """Return the last replication up to this one after which the rule is evaluated."""
    # A power of two that grows with the number, so that evaluations become rarer.
    interval = 1 << max(1, number // EVERY_UP_TO).bit_length() - 1
    return number - number % interval


class StopRule:
    """Decision on which cells are precise.

    It depends on the replications before it alone, so that it is the same in a campaign that is resumed.

    Args:
        precision: Relative half-width up to which an interval is precise.
        visits: The visits in the order of time; the list grows from launch to launch.
        launches: The launches; likewise.
        least: Fewest launches with which a cell can be precise.
    """

    def __init__(
        self,
        precision: float,
        visits: Sequence[Visit],
        launches: Sequence[Launch],
        least: int = ENOUGH_LAUNCHES,
        widths: Callable[..., dict[Cell, float | None]] | None = None,
    ) -> None:
        self._precision = precision
        self._visits = visits
        self._launches = launches
        self._least = least
        self._widths = widths
        self._medians: LaunchMedianCache | None = None
        self._asked = 0
        self._precise: frozenset[Cell] = frozenset()

    def precise_after(self, number: int) -> frozenset[Cell]:
        """Return the cells that were precise at the last evaluation up to a replication.

        Args:
            number: The replication; all launches up to it have been made.
        """
        asked = last_evaluated(number)
        if asked != self._asked:
            self._asked, self._precise = asked, self._evaluate(asked)
        return self._precise

    def _evaluate(self, number: int) -> frozenset[Cell]:
        # They stand on numpy, which takes long to import: the first launch does not wait for it.
        from mpigauge.rows.clock_resolution import clock_resolution  # noqa: PLC0415
        from mpigauge.rows.precision import widths_asked  # noqa: PLC0415
        from mpigauge.rows.samples import LaunchMedianCache  # noqa: PLC0415

        self._medians = self._medians or LaunchMedianCache()
        visits = [visit for visit in self._visits if visit.launch <= number]
        steps = clock_resolution((launch for launch in self._launches if launch.number <= number), visits)
        widths = (self._widths or widths_asked)(visits, steps, self._medians, self._least)
        return frozenset(
            cell for cell, width in widths.items() if width is not None and width <= self._precision
        )
