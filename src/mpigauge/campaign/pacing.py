"""Launches that are spread over time: each replication waits for its moment."""

from collections.abc import Callable
from dataclasses import dataclass

from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.plan.model import Plan
from mpigauge.plan.visit_order import moment_s

NAP_S = 60.0
"""The clock is asked anew at least this often, in case it was set."""


@dataclass(slots=True)
class Pacing:
    """When replications begin.

    Attributes:
        plan: Says over how much time they are spread.
        replications: How many there will be.
        interruption: Wakes us up.
        wall_s: The time of day, in seconds.
        origin_s: When the campaign began; later if it was continued so late that moments have passed.
    """

    plan: Plan
    replications: int
    interruption: Interruption
    wall_s: Callable[[], float]
    origin_s: float | None = None

    def left_s(self, number: int) -> float:
        """Until a replication begins.

        Where its moment has passed, as after an interruption, it begins at once, and those that follow keep
        their distances.
        """
        moment, now = moment_s(self.plan, number, self.replications), self.wall_s()
        if self.origin_s is None:
            self.origin_s = now
        self.origin_s = max(self.origin_s, now - moment)
        return self.origin_s + moment - now

    def wait(self, number: int) -> None:
        """Sleeps until a replication begins, or a signal comes."""
        while self.interruption.signal is None and (left_s := self.left_s(number)) > 0:
            if not self.interruption.comes_within(min(left_s, NAP_S)):
                self.interruption.calm()
                self.interruption.heed()
