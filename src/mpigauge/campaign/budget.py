"""The time budget of a campaign, divided among replications, launches and cells.

Of what a number varies by, samples have a hundredth, and moments of a launch and launches share the rest: so
a budget is for launches first, then for all visits of a cell in each, and samples have what is left.
docs/method-launches.md#enough-launches
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mpigauge.campaign.launch.awake import awake_s
from mpigauge.plan.kernel_plan import POOL_CACHES, Limits
from mpigauge.plan.model import Plan

LAUNCHES_FIRST = 9
"""Replications that a budget has to pay for, where the plan does not fix their number."""

LAUNCHES_PLANNED = 14
"""Replications to cut samples for; more time than they need makes more samples."""

MIN_LAUNCH_S = 2.0
"""Least time that a launch is taken to need before the first one has shown it."""

STARTUP_GUESS_S = 1.0
LEAST_SHARE, FIRST_SHARE = 0.25, 2.0
"""Time of a cell in its mean share of a launch: the least, below which visits would have too few samples,
and that of the first launch. Small messages use a fraction of it, so that large ones can have more."""

MIN_CELL_S = 0.002
MAX_CELL_S = 2.0
CELL_UNLIMITED_S = 0.05
NEVER_S = 3.5e7
"""Deadline where there is no budget: longer than any job runs, so that no visit is skipped."""

DEADLINE_MARGIN_S = 0.3
MIN_DEADLINE_S = 0.2
OVERSPENDING = 0.05
RESERVE = 0.05
"""Share of what is left that is not planned with: the last launch, longer by chance, would not be begun."""

STARTUP_FACTOR = 1.5
MAX_GROWTH = 4.0
"""Most that the time of a cell grows by from one launch to the next."""


@dataclass(slots=True)
class Budget:
    """Wall-clock time that a campaign may use and has used.

    Attributes:
        spent_s: Time used by earlier sessions of the same campaign.
        jobs: Launches per replication.
        paused_s: Time spent waiting for launches that are spread over time; not charged to the budget.
        allowed_s: Time until the scheduler ends the job that we run in; infinite without a limit.
    """

    plan: Plan
    jobs: int
    spent_s: float = 0.0
    started_s: float = field(default_factory=time.monotonic)
    started_awake_s: float = field(default_factory=awake_s)
    paused_s: float = 0.0
    allowed_s: float = math.inf

    @property
    def elapsed_s(self) -> float:
        """Seconds since this session began, without pauses and without the time that we were stopped."""
        return awake_s() - self.started_awake_s - self.paused_s

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Exclude the time spent in the context from the budget."""
        begun = awake_s()
        yield
        self.paused_s += awake_s() - begun

    @property
    def total_s(self) -> float | None:
        """The budget in seconds, cut to the time that this session may last; None if there is no budget."""
        if self.plan.budget_s is None:
            return None
        return min(self.plan.budget_s, self.spent_s + max(0.0, self.allowed_s))

    @property
    def left_s(self) -> float | None:
        """Seconds left of the budget; None if there is no budget."""
        if self.total_s is None:
            return None
        allowed_s = self.allowed_s - (time.monotonic() - self.started_s)
        return min(self.total_s - self.spent_s - self.elapsed_s, allowed_s)

    @property
    def is_spent(self) -> bool:
        """Whether the budget is used up."""
        return self.left_s is not None and self.left_s <= 0

    def overspends(self, number: int, startup_s: float, replication_s: float) -> bool:
        """Return whether the budget has no room for another replication after `number`.

        One that is expected to end in time is begun. Replications that an interval needs may be cut short
        beside that, as long as they can measure anything at all. The first one begins before it is known
        what it takes.

        Args:
            startup_s: Start-up time of all launches of a replication together.
            replication_s: Expected duration of a replication, with what is between two of them.
        """
        left = self.left_s
        if left is None:
            return False
        if number == 0:
            return left <= 0
        if number < self.plan.launches_min:
            return left < min(STARTUP_FACTOR * startup_s, replication_s)
        return left < replication_s

    def share_s(self, number: int, least_s: float = 0.0) -> float | None:
        """Return the seconds per launch with which all planned replications fit; None without a budget.

        Args:
            number: The next replication.
            least_s: What a launch takes without samples; 0 if no launch has shown it yet.
        """
        left = self.left_s
        if left is None:
            return None
        left = (1 - RESERVE) * max(left, 0.0)
        planned = self.replications_planned
        if least_s > 0 and self.plan.over_s is None:
            affordable = number - 1 + int(left / (least_s * self.jobs))
            # Later ones are begun because samples have had all the time that they can use.
            most = LAUNCHES_PLANNED if number <= LAUNCHES_PLANNED else self.plan.launches_max
            planned = self._within(affordable, most)
        return left / max(1, planned - number + 1) / self.jobs

    @property
    def replications_planned(self) -> int:
        """Replications to divide the budget among before the first one has shown what they take.

        Those that are spread over time keep to it.
        """
        affordable = int((self.total_s or 0.0) / (MIN_LAUNCH_S * self.jobs))
        return self._within(affordable, LAUNCHES_PLANNED if self.plan.over_s is None else LAUNCHES_FIRST)

    def _within(self, affordable: int, most: int) -> int:
        """Return how many replications to plan, of so many that the budget can pay for."""
        wanted = min(self.plan.launches_max, max(most, self.plan.launches_min))
        return max(self.plan.launches_min, min(wanted, affordable))

    def deadline_s(self, number: int, startup_s: float) -> float:
        """Return the seconds after the kernel's start at which the last visit of a launch may begin.

        The replications that an interval needs must still fit the budget, and each of them has to start its
        launcher (startup_s) before the kernel can begin to count.
        """
        left = self.left_s
        if left is None:
            return NEVER_S
        allowed = left + OVERSPENDING * (self.total_s or 0.0)
        launches = max(1, self.plan.launches_min - number + 1) * self.jobs
        return max(MIN_DEADLINE_S, allowed / launches - startup_s - DEADLINE_MARGIN_S)


@dataclass(slots=True)
class JobBudget:
    """Time per cell in the launches of one job, adapted to how long launches really take.

    Attributes:
        startup_s: Time from the launcher's start to the first visit, in the last launch.
        launch_s: Duration of the last launch; 0 before the first.
        least_s: What of it was not for samples, and is needed whatever their number.
    """

    cells: int
    cell_s: float = CELL_UNLIMITED_S
    startup_s: float = STARTUP_GUESS_S
    launch_s: float = 0.0
    least_s: float = 0.0

    def limits(self, budget: Budget, number: int, pool_bytes: int) -> Limits:
        """Return the limits of launch `number`, the next one."""
        share = budget.share_s(number, self.least_s)
        if share is not None:
            mean_s = max(share - self.startup_s, 0.2 * share) / self.cells
            wanted_s = FIRST_SHARE * mean_s if self.launch_s == 0 else self.cell_s
            self.cell_s = max(wanted_s, LEAST_SHARE * mean_s)
        self.cell_s = min(MAX_CELL_S, max(MIN_CELL_S, self.cell_s))
        return Limits(
            cell_s=self.cell_s,
            deadline_s=budget.deadline_s(number, self.startup_s),
            pool_bytes=pool_bytes,
            watched=True,
            pool_caches=POOL_CACHES,
        )

    def adapt(self, budget: Budget, number: int, launch_s: float, samples_s: float) -> None:
        """Adapt the time per cell to the duration of launch `number`, of which samples took a part."""
        self.launch_s = launch_s
        samples_s = min(samples_s, launch_s - self.startup_s)
        if samples_s <= 0:  # it has failed, or lasted no longer than a start
            return
        self.least_s = launch_s - samples_s
        share = budget.share_s(number + 1, self.least_s)
        if share is not None:
            self.cell_s *= min(MAX_GROWTH, max(0.0, share - self.least_s) / samples_s)
