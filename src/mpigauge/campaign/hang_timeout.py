"""Timeout after which a silent launch counts as hung."""

from collections.abc import Mapping, Sequence

from mpigauge.plan.buffers import memory_need
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import KernelDescription
from mpigauge.plan.visit_order import PlannedVisit

STARTUP_PER_RANK_S = 0.05
"""Launchers start daemons host by host, ranks connect to each other, and clocks are compared."""

MIN_SILENCE_S = 10.0
CONNECT_FACTOR = 2.0
"""How much longer it is between hosts where a cell has not been tried: ranks that have not talked yet
connect, and TCP repeats a first packet that was lost after 1, 3, 7 and 15 s."""

SILENCE_FACTOR = 10.0
TRIAL_MESSAGES = 20
SLOWEST_BYTES_PER_S = 1e6
SLOWEST_HOST_BYTES_PER_S = 1e7
"""Slowest total traffic of a host when many ranks communicate at once: 100 Mbit/s."""

SLOWEST_MEMORY_BYTES_PER_S = 1e8
"""Slowest total traffic where all ranks are on one host."""


class HangTimeout:
    """Longest silence that is not a hang: at least ten seconds, and ten times what the visit should take.

    Between hosts it is at least 20 s before a cell has been tried.

    Before a cell has been tried, a network of 1 MB/s is assumed, and one of 10 MB/s per host for what all
    ranks send at once. The kernel reports slow rounds, so this has to cover one round, not a whole trial.

    Args:
        visits: Visits of the launch.
        hosts: Number of hosts of its ranks.
        description: What the kernel says of its patterns.
        startup_s: How long start-up may take, before the allowance per rank.

    Attributes:
        running: Expected seconds of each visit in progress, by its id; 0 if not known.
        slowest_round_s: The slowest round of these visits that the kernel has reported.
    """

    def __init__(
        self, visits: Sequence[PlannedVisit], hosts: int, description: KernelDescription, startup_s: float
    ) -> None:
        cells = {visit.cell for visit in visits}
        slow_s = {cell: _slow_round_s(cell, hosts, description) for cell in cells}
        self._ranks = max((cell.ranks for cell in cells), default=1)
        self._slow_s: Mapping[int, float] = {visit.id: slow_s[visit.cell] for visit in visits}
        self._slowest_s = max(slow_s.values(), default=0.0)
        self._startup_s = startup_s
        self._untried_s = MIN_SILENCE_S if hosts == 1 else CONNECT_FACTOR * MIN_SILENCE_S
        self._before_first_visit = True
        self.running: dict[int, float] = {}
        self.slowest_round_s = 0.0

    @property
    def before_first_visit(self) -> bool:
        """Whether no visit has begun yet."""
        return self._before_first_visit

    @property
    def is_concurrent(self) -> bool:
        """Whether more than one visit is running."""
        return len(self.running) > 1

    def begin(self, number: int, expect_s: float) -> None:
        """Note that a visit begins, in addition to those running."""
        self.running[number] = max(0.0, expect_s)
        self.slowest_round_s = 0.0
        self._before_first_visit = False

    def slow_round(self, round_s: float) -> None:
        """Note a slow round that the kernel reports; of several visits the slowest counts."""
        self.slowest_round_s = max(self.slowest_round_s * self.is_concurrent, round_s)

    def seconds(self) -> float:
        """Return the timeout in seconds after the kernel's last line."""
        if self._before_first_visit:
            return self._startup_s + STARTUP_PER_RANK_S * self._ranks
        if not self.running:
            return MIN_SILENCE_S + self._slowest_s
        known_s = SILENCE_FACTOR * max(self.running.values())
        if all(self.running.values()):
            return MIN_SILENCE_S + known_s
        if self.slowest_round_s:
            return self._untried_s + max(known_s, TRIAL_MESSAGES * self.slowest_round_s)
        sent_s = max(self._slow_s[number] for number, expect_s in self.running.items() if not expect_s)
        return self._untried_s + max(known_s, sent_s)


def _slow_round_s(cell: Cell, hosts: int, description: KernelDescription) -> float:
    """Return the seconds of a round on the slowest network that is worth waiting for."""
    alone_s = TRIAL_MESSAGES * cell.bytes * max(1, cell.window) / SLOWEST_BYTES_PER_S
    slowest = SLOWEST_HOST_BYTES_PER_S if hosts > 1 else SLOWEST_MEMORY_BYTES_PER_S
    return max(alone_s, memory_need(cell, description, 0) / max(1, hosts) / slowest)
