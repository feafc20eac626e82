"""Pacing of launches that are spread over time: each replication waits until it is due."""

from collections.abc import Callable
from dataclasses import dataclass

from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.plan.model import Plan
from mpigauge.plan.visit_order import replication_start_s

MAX_SLEEP_S = 60.0
"""Longest sleep: the wall clock is read again after it, in case it was set."""


@dataclass(slots=True)
class Pacing:
    """The schedule of replications.

    Attributes:
        plan: The plan, with the time that launches are spread over.
        replications: How many there will be.
        interruption: Ends a wait when a signal comes.
        wall_s: Returns the wall-clock time, in seconds since 1970.
        origin_s: Start of the schedule; moved later when replications are overdue.
    """

    plan: Plan
    replications: int
    interruption: Interruption
    wall_s: Callable[[], float]
    origin_s: float | None = None

    def left_s(self, number: int) -> float:
        """Return the seconds until a replication is due.

        An overdue one, as after an interruption, begins at once, and the following ones keep their distances.
        """
        moment, now = replication_start_s(self.plan, number, self.replications), self.wall_s()
        if self.origin_s is None:
            self.origin_s = now
        self.origin_s = max(self.origin_s, now - moment)
        return self.origin_s + moment - now

    def wait(self, number: int) -> None:
        """Sleep until a replication is due, or a signal comes."""
        while self.interruption.signal is None and (left_s := self.left_s(number)) > 0:
            if not self.interruption.arrives_within(min(left_s, MAX_SLEEP_S)):
                self.interruption.clear_wakeup()
                self.interruption.handle_stop()
