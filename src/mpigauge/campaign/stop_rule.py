"""When cells are precise enough: asked between replications, of which only whole ones count."""

from collections.abc import Callable, Sequence

from mpigauge.plan.model import Cell
from mpigauge.result.records import Launch, Visit
from mpigauge.rows.clock_steps import clock_steps
from mpigauge.rows.precision import widths_asked
from mpigauge.rows.samples import Medians
from mpigauge.stats.limits import ENOUGH_LAUNCHES

EVERY_UP_TO = 20
"""After each of so many replications it is asked; of more, whenever 2.5 to 5 % have been added.

Each time, all that was measured is looked at: after every one of a thousand launches, that would take longer
than the launches. So it takes a fixed multiple of one look at the whole.
"""


def last_asked(number: int) -> int:
    """The last replication up to this one after which it is asked how precise cells are."""
    # A power of two, which stays while the number doubles: multiples of it are far apart.
    apart = 1 << max(1, number // EVERY_UP_TO).bit_length() - 1
    return number - number % apart


class StopRule:
    """Which cells are precise, by what a campaign has measured.

    The answer for a replication depends on those before it alone, so that it is the same in a campaign that
    is continued.

    Args:
        precision: Relative half-width of an interval that is precise.
        visits: What is kept of them, in the order of time; grows from launch to launch.
        launches: Likewise.
        least: With fewer launches no cell is precise.
    """

    def __init__(
        self,
        precision: float,
        visits: Sequence[Visit],
        launches: Sequence[Launch],
        least: int = ENOUGH_LAUNCHES,
        widths: Callable[..., dict[Cell, float | None]] = widths_asked,
    ) -> None:
        self._precision = precision
        self._visits = visits
        self._launches = launches
        self._least = least
        self._widths = widths
        self._medians = Medians()
        self._asked = 0
        self._precise: frozenset[Cell] = frozenset()

    def precise_after(self, number: int) -> frozenset[Cell]:
        """Cells that are precise after a replication, as it was last asked.

        Args:
            number: All launches up to it have been made.
        """
        asked = last_asked(number)
        if asked != self._asked:
            self._asked, self._precise = asked, self._look(asked)
        return self._precise

    def _look(self, number: int) -> frozenset[Cell]:
        visits = [visit for visit in self._visits if visit.launch <= number]
        steps = clock_steps((launch for launch in self._launches if launch.number <= number), visits)
        widths = self._widths(visits, steps, self._medians, self._least)
        return frozenset(
            cell for cell, width in widths.items() if width is not None and width <= self._precision
        )
