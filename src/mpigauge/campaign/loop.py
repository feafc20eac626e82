"""The main loop of a campaign: replications of interleaved launches, and its stop rules."""

import gc
import math
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from mpigauge.campaign.budget import Budget, JobBudget
from mpigauge.campaign.failure_remedies import cause_of
from mpigauge.campaign.job_run import JobRun, Observer, RunContext, Troubles
from mpigauge.campaign.jobs import job_of
from mpigauge.campaign.lab import context
from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.campaign.launch.janitor import wait_for_all
from mpigauge.campaign.state import CampaignState, LaunchKey
from mpigauge.campaign.targets import Target, pool_bytes, utc_now
from mpigauge.errors import JobError
from mpigauge.mpi.init_sleep import REMEDY, SLEEP_S
from mpigauge.plan.kernel_plan import kernel_plan
from mpigauge.plan.model import Cell, Plan, by_job
from mpigauge.plan.patterns import patterns_with
from mpigauge.plan.visit_order import (
    PlannedVisit,
    complete_steps,
    replication_start_s,
    shuffled,
    time_slots,
    visits_of,
    with_suspects_alone,
)
from mpigauge.result import control_groups
from mpigauge.result.reader import Result
from mpigauge.result.records import Done, End, Launch, Visit
from mpigauge.result.writer import ResultFile
from mpigauge.stats.limits import ENOUGH_LAUNCHES
from mpigauge.units import counted
from mpigauge.vocabulary import EndReason

if TYPE_CHECKING:
    from mpigauge.rows.samples import LaunchMedianCache

MAX_STARTS = 40
"""Most starts of one launch; each failed start excludes at most one cell."""

MAX_SILENT_STARTS = 3
"""Consecutive starts without a visit after which a job is given up."""

SILENT_STARTS_OF_WORKING = 12
"""Likewise for a job that has worked before: it is not broken, so something kills it."""

MIN_WARMUP_BYTES = 1
"""Largest warm-up message after a launch died in its warm-up; larger ones may fail in their own visits."""

CONVERGED_SHARE = 0.95

LAST = 3
"""Replications from which follows what the next one takes."""

UNTIMED = patterns_with(lambda pattern: pattern.probes or pattern.is_floor)
"""Patterns without times that a user asks for."""

PROBES = patterns_with(lambda pattern: pattern.probes)
"""Patterns that search for a limit and have no samples."""


@dataclass(slots=True)
class JobState:
    """The state of one job over all replications.

    Attributes:
        silent_starts: Consecutive starts that reached no visit.
        has_worked: Whether any start has reached a visit.
        host_gone: Whether one of its hosts does not answer any more.
        warmup_bytes: Largest warm-up message after a launch died in its warm-up; 0 for no limit.
        sleeps: Whether its library sleeps for a second in each MPI_Init.
    """

    target: Target
    cells: list[Cell]
    budget: JobBudget
    silent_starts: int = 0
    has_worked: bool = False
    host_gone: bool = False
    warmup_bytes: int = 0
    sleeps: bool = False

    @property
    def is_given_up(self) -> bool:
        """Whether the job is given up."""
        most = SILENT_STARTS_OF_WORKING if self.has_worked else MAX_SILENT_STARTS
        return self.host_gone or self.silent_starts >= most

    def key(self, number: int) -> LaunchKey:
        """Return the key of its launch of this number."""
        return LaunchKey.of(number, self.cells[0])


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
                self.interruption.obey()


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


class CampaignLoop:
    """A campaign in progress. A replication is one launch of every job; they share its number."""

    def __init__(
        self,
        plan: Plan,
        targets: Sequence[Target],
        file: ResultFile,
        observer: Observer,
        interruption: Interruption,
        before: Result | None = None,
        wall_s: Callable[[], float] = time.time,
        allowed_s: float = math.inf,
    ) -> None:
        self._plan = plan
        self._jobs = _jobs_of(targets)
        self._budget = Budget(plan, len(self._jobs), allowed_s=allowed_s)
        self._started = utc_now()
        self._replications = self._budget.replications_planned if plan.over_s else plan.launches_max
        self._took_s: deque[float] = deque(maxlen=LAST)
        self._has_told_of_sleep = False
        # With a fixed number of launches, the stop rule is not evaluated: no samples are kept.
        several_looks = plan.until == "precise" and self._replications > plan.launches_min
        self._state = CampaignState(file, keeps_visits=several_looks)
        if before is not None:
            self._state.load(before)
            for job in self._jobs:
                warmups = (
                    launch.warmup_bytes
                    for launch in before.launches
                    if launch.job == job.key(launch.number).job
                )
                job.warmup_bytes = max(warmups, default=0)
            self._budget.spent_s = self._state.spent_s
            self._took_s.extend(_replications_s(before))
        self._file = file
        # Plans with fewer launches, such as a map, end with these if they agree.
        least = min(plan.launches_min, ENOUGH_LAUNCHES)
        self._stop_rule = StopRule(plan.precision, self._state.visits, self._state.launches, least)
        troubles = Troubles(observer.trouble)
        self._context = RunContext(self._state, observer, interruption, plan, context.current(), troubles)
        self._pacing = Pacing(plan, self._replications, interruption, wall_s, _begun_s(before))

    @property
    def is_cut_short(self) -> bool:
        """Whether the scheduler ends the session before the budget is used up."""
        return self._budget.total_s != self._plan.budget_s

    @property
    def has_measured(self) -> bool:
        """Whether the file has any result."""
        return self._state.measured

    @property
    def launches_short(self) -> tuple[int, int] | None:
        """The fewest launches of a job, and the exact number asked for; None if all were made."""
        if self._plan.launches_min < self._plan.launches_max or self._plan.until != "precise":
            return None
        launches_made = [
            len(self._state.launches_with.get(job.key(1).job, ()))
            for job in self._jobs
            if any(cell.pattern not in UNTIMED and cell not in self._state.blocked for cell in job.cells)
        ]
        fewest = min(launches_made, default=self._plan.launches_min)
        return (fewest, self._plan.launches_min) if fewest < self._plan.launches_min else None

    def run(self) -> EndReason:
        """Measure until a stop rule is met or a signal arrives.

        Returns:
            Why it stopped: converged, decided, launches, budget, interrupted or failed.

        Raises:
            JobError: Nothing was measured, and a launch has failed.
            EnvironmentLacksError: The disk is full, or library and launcher do not match.
        """
        try:
            reason = self._replicate()
        finally:
            gc.unfreeze()
            wait_for_all(self._context.dismissed)
            self._context.failures_reported.end()
        self._state.append(End(reason, self._budget.elapsed_s, self._started))
        failure = self._state.last_failure
        if reason != "interrupted" and failure is not None and not self._state.measured:
            cause = cause_of(failure)
            raise JobError(
                f"{self._state.file.path}: no launch came as far as its first number: {cause.line}",
                cause.hint,
            )
        return reason

    def _replicate(self) -> EndReason:
        number = 0
        begun_s = self._budget.elapsed_s
        while (reason := self._reason_to_stop(number)) is None:
            number += 1
            self._wait(number)
            is_new = not self._is_made(number)
            for job in self._order(number):
                if self._context.interruption.signal is None:
                    self._launch(number, job)
            if is_new:
                self._took_s.append(self._budget.elapsed_s - begun_s)
                self._report_sleep(number)
            begun_s = self._budget.elapsed_s
        return reason

    def _report_sleep(self, number: int) -> None:
        """Say once that launches sleep, and how many more there would be without."""
        sleep_s = SLEEP_S * sum(job.sleeps for job in self._jobs)
        to_come = self._replications - number
        if self._has_told_of_sleep or not sleep_s or not to_come:
            return
        self._has_told_of_sleep = True
        left_s, took_s = self._budget.left_s, self._replication_s
        gain = f"which {REMEDY} avoids"
        if left_s is not None and took_s > sleep_s and not self._plan.over_s:
            with_it, without = (min(to_come, int(left_s / each)) for each in (took_s, took_s - sleep_s))
            if more := without - with_it:
                gain = f"and {REMEDY} makes {counted(more, 'more launch')} in this budget"
        self._context.observer.trouble(f"each launch sleeps 1 s in MPI_Init, {gain}")

    @property
    def _replication_s(self) -> float:
        """Expected time of a replication: the median of the last ones, of which one may be odd."""
        return sorted(self._took_s)[len(self._took_s) // 2] if self._took_s else 0.0

    def _wait(self, number: int) -> None:
        """Wait until a replication begins that has something to do, if they are spread over time."""
        if not self._plan.over_s or self._is_made(number):
            return
        with self._budget.pause():
            if (left_s := self._pacing.left_s(number)) > 0:
                self._context.observer.waits(number, left_s)
            self._pacing.wait(number)

    def _is_made(self, number: int) -> bool:
        """Return whether a replication has nothing left to do, as an earlier session has made it."""
        return all(job.is_given_up or job.key(number) in self._state.done for job in self._jobs)

    def _order(self, number: int) -> list[JobState]:
        jobs = {job.cells[0]: job for job in self._jobs}
        return [jobs[cell] for cell in shuffled(list(jobs), self._plan, "round", number)]

    # ---- Enough? ---------------------------------------------------------------------------------

    def _reason_to_stop(self, number: int) -> EndReason | None:
        """Return why to stop after a replication (docs/method-launches.md#enough-launches); None to go on."""
        self._context.interruption.obey()
        if self._context.interruption.signal is not None:
            return "interrupted"
        if all(job.is_given_up or not self._open_cells(job) for job in self._jobs):
            return "failed"
        if number >= self._replications:
            return "launches"
        if self._is_made(number + 1):  # it takes no time, and what it measured counts
            return None
        startup_s = sum(job.budget.startup_s for job in self._jobs)
        if self._budget.overspends(number, startup_s, self._replication_s):
            return "budget"
        # Launches that are spread over time have to cover all of it.
        return None if self._plan.over_s or number < self._plan.launches_min else self._enough(number)

    def _enough(self, number: int) -> EndReason | None:
        """Return the reason to stop if the goal of the plan is reached, else None."""
        if self._plan.until == "decided":
            # What compares takes long to import, and no launch waits for it.
            from mpigauge.campaign.comparison_stop_rule import ComparisonStopRule  # noqa: PLC0415

            return "decided" if ComparisonStopRule(self._plan, self._file).is_decided(number) else None
        return "converged" if self._converged(number) else None

    def _converged(self, number: int) -> bool:
        """Return whether enough cells are precise; a cell without an interval yet is not."""
        wanted = {cell for job in self._jobs if not job.is_given_up for cell in self._open_cells(job)}
        wanted = {c for c in wanted if c.pattern not in PROBES} - self._state.blocked
        precise = wanted & self._stop_rule.precise_after(number)
        return bool(wanted) and len(precise) >= CONVERGED_SHARE * len(wanted)

    def _settled(self, number: int) -> frozenset[Cell]:
        """Return the cells that were precise before a launch, the same set when the launch is resumed."""
        if number <= self._plan.launches_min or self._plan.until == "decided":
            return frozenset()
        return self._stop_rule.precise_after(number - 1)

    def _open_cells(self, job: JobState) -> list[Cell]:
        return [cell for cell in job.cells if not self._state.is_given_up(cell)]

    # ---- One launch ------------------------------------------------------------------------------

    def _launch(self, number: int, job: JobState) -> None:
        """Make one launch; after each failure start it again for the visits left."""
        key = job.key(number)
        if key in self._state.done or job.is_given_up:
            return
        begun_s = self._budget.elapsed_s
        skipped: set[Cell] = set()
        suspects: frozenset[int] = frozenset()
        for _ in range(MAX_STARTS):
            visits = with_suspects_alone(self._visits_left(number, job), suspects)
            if not visits or job.is_given_up:
                break
            if self._budget.is_spent:
                skipped |= {visit.cell for visit in visits}
                break
            attempt = self._attempt(number, job, visits)
            skipped |= attempt.skipped
            suspects |= attempt.suspects
            if self._context.interruption.signal is not None:
                return
            if attempt.ended:
                break
        self._close(key, job, self._budget.elapsed_s - begun_s, skipped)

    def _attempt(self, number: int, job: JobState, visits: Sequence[PlannedVisit]) -> JobRun:
        limits = replace(job.budget.limits(self._budget, number, pool_bytes()), warmup_bytes=job.warmup_bytes)
        key = job.key(number).job
        start = job_of(self._plan, job.target, key, self._state.options_found.get(key, ()))
        text = kernel_plan(visits, self._plan, limits, start.cores)
        attempt = JobRun(
            self._context,
            job.target,
            job.key(number),
            start,
            visits,
            text,
            job.budget.startup_s,
            job.warmup_bytes,
        )
        _freeze_garbage_collector()
        attempt.run()
        if attempt.options_found:  # not a failure: it is restarted with these options
            self._state.options_found[key] = attempt.options_found
            return attempt
        # What a start lacks, another one does not find either.
        starts = MAX_SILENT_STARTS if attempt.lacks else 1
        job.silent_starts = 0 if attempt.reached_visits else job.silent_starts + starts
        job.host_gone = attempt.host_gone
        if attempt.reached_visits:
            job.has_worked = True
        if attempt.began:
            job.budget.startup_s = attempt.prelude_s
            job.sleeps = attempt.sleeps
        if attempt.died_warming_up and not job.warmup_bytes:
            job.warmup_bytes = MIN_WARMUP_BYTES
            self._context.observer.trouble(
                f"{attempt.name}: ended in its warm-up: further launches send only small messages in theirs"
            )
        return attempt

    def _visits_left(self, number: int, job: JobState) -> list[PlannedVisit]:
        finished = self._state.finished.get(job.key(number), set())
        allowed = set(self._open_cells(job)) - self._state.excluded.get(job.key(number), set())
        settled = self._settled(number)
        visits = visits_of(job.cells, self._plan, job.target.description, number, settled)
        left = [visit for visit in visits if visit.id not in finished and visit.cell in allowed]
        return complete_steps(left, visits)

    def _close(self, key: LaunchKey, job: JobState, seconds: float, skipped: set[Cell]) -> None:
        progress = self._state.progress_of(key)
        # Of visits that are made at once, only one takes time.
        together = job.budget.cells / len(job.cells)
        job.budget.adapt(self._budget, key.number, seconds, progress.sampling_ns * 1e-9 * together)
        unmeasured = skipped - progress.cells
        done = Done(
            key.number,
            key.job,
            seconds,
            tuple(sorted(unmeasured)),
            throttled=control_groups.throttle_count(),
        )
        self._state.append(done)
        self._context.observer.recorded(done)
        self._context.observer.launch_ends(key.number, key.job.name, seconds, progress.samples)


def _freeze_garbage_collector() -> None:
    """Exempt all objects from garbage collection while ranks are timed.

    A collection of a large campaign's objects would occupy a core for a tenth of a second.
    """
    gc.collect()
    gc.freeze()


def _replications_s(before: Result) -> list[float]:
    """Return how long each replication of earlier sessions took, in their order."""
    seconds: dict[int, float] = defaultdict(float)
    for done in before.done:
        seconds[done.launch] += done.elapsed_s
    return [seconds[number] for number in sorted(seconds)]


def _begun_s(before: Result | None) -> float | None:
    """Return when the resumed campaign began, in seconds since 1970; None if it begins now."""
    if before is None or not before.campaign.started:
        return None
    return datetime.fromisoformat(before.campaign.started).timestamp()


def _jobs_of(targets: Sequence[Target]) -> list[JobState]:
    return [
        JobState(target, cells, JobBudget(time_slots(cells)))
        for target in targets
        for cells in by_job(target.cells).values()
    ]
