"""One mpiexec, from its command line to its last line, with a timeout for silence."""

import os
import platform
import re
import signal
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from msgspec.structs import replace

from mpigauge import units
from mpigauge.campaign.failure_remedies import cause_of
from mpigauge.campaign.hosts import first_fault
from mpigauge.campaign.jobs import (
    command_of,
    ending_of_job,
    is_all_here,
    recorded_variables,
    restart_options,
    shells_of,
)
from mpigauge.campaign.lab.context import CurrentLab
from mpigauge.campaign.lab.counters import Counters
from mpigauge.campaign.launch.awake import awake_s
from mpigauge.campaign.launch.interruption import ECHO_S, Interruption
from mpigauge.campaign.launch.janitor import DismissedJanitor
from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.preflight import is_here
from mpigauge.campaign.launch.process import RunningJob
from mpigauge.campaign.launch.ranks import LocalRanks
from mpigauge.campaign.launch.start_lacks import lack
from mpigauge.campaign.silence import HangTimeout, SilenceWatch
from mpigauge.campaign.state import CampaignState, LaunchKey
from mpigauge.campaign.targets import Target, utc_now
from mpigauge.dependencies import check_packages
from mpigauge.errors import EnvironmentLacksError
from mpigauge.mpi import kernel
from mpigauge.mpi.environments import applied
from mpigauge.mpi.init_sleep import lasts_as_long, may_sleep
from mpigauge.plan.groups import ranks_in
from mpigauge.plan.hosts import short
from mpigauge.plan.kernel_plan import parts_of
from mpigauge.plan.model import Cell, Plan
from mpigauge.plan.patterns import known
from mpigauge.plan.strings import SHORT_MOST
from mpigauge.plan.visit_order import PlannedVisit
from mpigauge.result import control_groups, environment, journal
from mpigauge.result.journal import (
    incomplete_sentence,
    is_answer,
    launch_core,
    records_of,
    visit_of,
)
from mpigauge.result.records import Failure, Launch, Record, Visit
from mpigauge.rows.failure_cause import CAUSE, ENDED_FROM_OUTSIDE, OURS, is_from_outside, line_of
from mpigauge.units import counted
from mpigauge.vocabulary import FailureKind, SkipReason

HOSTS_NAMED = 4
MAX_OUTPUT_LINES = 10_000
MAX_OUTPUT_LINE_BYTES = 4096
"""Length to which a line of the library's output is cut."""

MAX_BROKEN_LINE_BYTES = 200
"""Length to which a broken line of the kernel is cut."""

END_PATIENCE_S = 10.0
TERMINATED = {-signal.SIGTERM, signal.SIGTERM, 128 + signal.SIGTERM}
"""Exit statuses of a launcher whose ranks received SIGTERM; the sender may be about to signal us, too."""

SCHEDULER_S = 5.0
"""Time within which a scheduler that ends ranks signals us, too: it need not reach all hosts at once."""


@dataclass(slots=True)
class Repetitions:
    """The repetitions of a failure: its first launch, its last launch, and how many there were."""

    first: int
    last: int
    times: int = 0


@dataclass(slots=True)
class Troubles:
    """Failures by job or cell and reason."""

    tell: Callable[[str], None]
    seen: dict[tuple[str, str], Repetitions] = field(default_factory=dict)

    def failed(self, of: str, why: str, launch: int, sentence: str) -> None:
        """Report a failure, unless the same job or cell has failed for the same reason before.

        Args:
            of: The job or cell.
            why: The reason; reasons that differ in numbers only, such as process ids, are the same.
            sentence: What to report.
        """
        key = of, re.sub("[0-9]+", "", why)
        if (repetitions := self.seen.get(key)) is None:
            self.seen[key] = Repetitions(launch, launch)
            self.tell(sentence)
            return
        repetitions.times += 1
        repetitions.last = launch

    def end(self) -> None:
        """Report how often each failure was repeated."""
        for (of, _), repetitions in self.seen.items():
            if repetitions.times:
                times = counted(repetitions.times, "more time")
                until = (
                    "" if repetitions.last == repetitions.first else f", last in launch {repetitions.last}"
                )
                self.tell(f"{of}: failed so {times}{until}")


def check_placement(asked_hosts: Sequence[str], actual_hosts: Sequence[str]) -> None:
    """Compare the host asked for with the host that each rank reports.

    A host may report another name than the one that was asked for. But ranks meant for one host must be on
    one host, ranks meant for two on two, and none on a host that was meant for others.

    Args:
        asked_hosts: The host asked for, per rank; empty if all ranks are to run on this machine.
        actual_hosts: The host that each rank reports.

    Raises:
        EnvironmentLacksError: A rank is on the wrong host; names the first one.
    """
    if not asked_hosts:
        _check_here(actual_hosts)
        return
    asked_hosts = [short(host) for host in asked_hosts]
    actual_of: dict[str, str] = {}
    asked_of: dict[str, str] = {}
    for rank, (asked, actual) in enumerate(zip(asked_hosts, map(short, actual_hosts), strict=True)):
        owner = asked_of.setdefault(actual, asked)
        is_wrong = actual != asked and actual in asked_hosts
        if is_wrong or owner != asked or actual_of.setdefault(asked, actual) != actual:
            others = f", like ranks meant for {owner}" if owner not in (asked, actual) else ""
            raise EnvironmentLacksError(
                f"rank {rank} should be on {asked}, but is on {actual}{others}",
                "does the launcher know these hosts? mpigauge run --dry-run shows its command",
            )


def _check_here(actual_hosts: Sequence[str]) -> None:
    """Refuse ranks on other machines: a launcher may take hosts from a default file or a scheduler."""
    this_host = platform.node()
    for rank, actual in enumerate(actual_hosts):
        if short(actual) != short(this_host) and not is_here(actual):
            raise EnvironmentLacksError(
                f"rank {rank} should be on this machine, {this_host}, but is on {actual}",
                "if that host is meant, name it: --hosts; else look for a default host file of the library",
            )


class Observer(Protocol):
    """Callbacks on the progress of a campaign; the command line displays it."""

    def launch_begins(self, number: int, part: int, job: str, visits: int) -> None:
        """Note the start of a launch, or of another part of it, with so many visits ahead."""

    def job_starts(self) -> None:
        """Note that its launcher runs, and waits for us before a rank is timed: now is time to import."""

    def visit_begins(self, cell: Cell) -> None:
        """Note that a visit of this cell begins."""

    def recorded(self, record: Record) -> None:
        """Note that a record has been written to the file."""

    def visit_ends(self) -> None:
        """Note that a visit has ended."""

    def launch_ends(self, number: int, job: str, seconds: float, samples: int) -> None:
        """Note that a launch is done."""

    def waits(self, number: int, seconds: float) -> None:
        """Note that the next launch begins in so many seconds, as launches are spread over time."""

    def rests(self) -> None:
        """Note that the campaign is being suspended."""

    def resizes(self) -> None:
        """Note that the terminal has another size."""

    def goes_on(self, seconds: float) -> None:
        """Note that the campaign continues after a suspension, which no time limit counts."""

    def trouble(self, sentence: str) -> None:
        """Report a failure or a warning; the campaign goes on."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """The objects that all launches of a session share."""

    state: CampaignState
    observer: Observer
    interruption: Interruption
    plan: Plan
    lab: CurrentLab | None
    failures_reported: Troubles
    dismissed: list[DismissedJanitor] = field(default_factory=list)


class JobRun:
    """One mpiexec for some visits of a launch.

    Attributes:
        began: Whether the kernel has printed its first line.
        failed: Whether the job failed.
        ended: Whether every visit is answered and the kernel printed its last line: the launch is complete.
        startup_s: Time from the launcher's start to the kernel's first line.
        prelude_s: Time from the launcher's start to the first visit, after clocks were compared.
        skipped: Cells with visits that there was no time for.
        suspects: Visits that ran concurrently when the job failed: one of them may be the cause.
        options_found: Launcher options to start it again with, since the launcher counted too few slots.
        host_gone: Whether it failed and one of its hosts does not answer any more.
        lacks: What it lacked to begin, and would lack again; empty if that is not known.
        sleeps: Whether its library has slept for a second in MPI_Init.
    """

    def __init__(
        self,
        context: RunContext,
        target: Target,
        key: LaunchKey,
        job: Job,
        visits: Sequence[PlannedVisit],
        plan_text: str,
        usual_start_s: float = 0.0,
        warmup_bytes: int = 0,
    ) -> None:
        self._context = context
        self._state = context.state
        self._target = target
        self._key = key
        self._job = job
        self._visits = {visit.id: visit.cell for visit in visits}
        self._steps = {visit.id: visit.step for visit in visits}
        hosts = len(set(job.hosts)) or 1
        self._timeout = HangTimeout(visits, hosts, target.description, context.plan.patience_s)
        self._usual_start_s = usual_start_s
        self._warmup_bytes = warmup_bytes
        self._answered: set[int] = set()  # visits whose outcome is known
        self._has_visits = False  # at least one visit was made, or was not possible
        self._has_broken_line = False  # a line began as the kernel's do, but was invalid
        self._has_end = False  # its last line was an end line, of the kernel or of another program
        self._observed: str | None = None  # its output before we ended it, and what we observed
        self._silence = ""  # of a job that had begun, in words
        self._text = plan_text
        self._counters_before = Counters()  # of our lab's relay, before the visit
        self._early_output: deque[bytes] = deque(
            maxlen=MAX_OUTPUT_LINES
        )  # of its output, before its first line
        self._reported = ""  # what the library says of its transports
        self._asked = False  # rank 0 has asked for its plan
        self._asks_in_vain = False  # its last line asked for a part of its plan, and none was left
        self._cut_off = False  # it was ended from outside
        self.began = False
        self.failed = False
        self.ended = False
        self.startup_s = 0.0
        self.prelude_s = 0.0
        self.skipped: set[Cell] = set()
        self.suspects: frozenset[int] = frozenset()
        self.options_found: tuple[str, ...] = ()
        self.host_gone = False
        self.lacks = ""
        self.sleeps = False

    @property
    def reached_visits(self) -> bool:
        """Whether it reached its first visit, or had nothing left to do.

        An unreadable journal counts as not having reached a visit.
        """
        return self.ended or not (
            self._timeout.before_first_visit or self._is_unreadable or (self._cut_off and not self._answered)
        )

    @property
    def died_warming_up(self) -> bool:
        """Whether it began and failed before its first visit."""
        return self.began and self.failed and self._timeout.before_first_visit

    @property
    def _is_incomplete(self) -> bool:
        """Whether its journal has an end line but lacks answers to visits."""
        return self._has_end and not self.ended

    @property
    def _is_unreadable(self) -> bool:
        """Whether its journal has an end line but reports no visit except skipped ones."""
        return self._is_incomplete and not self._has_visits

    @property
    def name(self) -> str:
        """The job, in words."""
        return self._key.job.name

    def run(self) -> None:
        """Run the job to its end; what fails is recorded and not tried again in this launch.

        Raises:
            EnvironmentLacksError: Launcher and library do not match, or the disk is full.
        """
        command = command_of(self._context.plan, self._target, self._job)
        self._words = command.words
        self._context.observer.launch_begins(
            self._key.number, self._state.parts[self._key] + 1, self.name, len(self._visits)
        )
        self._begun = awake_s()
        parts = parts_of(self._text)
        with RunningJob(
            self._words,
            self._job.environment,
            parts,
            self._context.interruption,
            ending_of_job(self._context.plan, self._target, self._job),
            command.files,
            all_here=is_all_here(self._job),
            elsewhere=shells_of(self._context.plan, self._job),
            dismissed=self._context.dismissed,
        ) as running:
            check_packages()  # while ranks start, which are not timed before they get their plan
            self._context.observer.job_starts()
            trouble = self._follow(running)
        if trouble == "crash" and not self.began:
            words, plan = running.last_words, self._context.plan
            self.options_found = restart_options(words, plan, self._target, self._job)
        if self.options_found:
            self._report_restart()
        elif trouble:
            self.failed = True
            self._fail(trouble, running)
        if running.undead:
            self._report_undead(running.undead)

    def _follow(self, running: RunningJob) -> FailureKind | None:
        """Process the job's lines; return the kind of failure, or None."""
        watch = self._watch = self._silence_watch(running)
        try:
            for text in running.lines(self._timeout.seconds, self._is_busy, self._is_sign_of_life, watch):
                self._asks_in_vain = False
                line = self._if_expected(journal.parse(text))
                if line is None:
                    self._keep_other_line(text, running)
                    continue
                if isinstance(line, journal.ReadyLine):
                    self._asked = True
                    self._read_report(running)
                    self._asks_in_vain = not running.feed()
                elif isinstance(line, journal.LaunchLine):
                    self._read_report(running)
                    self._launch_begins(line.launch)
                else:
                    self._process_line(line)
                if self.ended:
                    running.wait(END_PATIENCE_S)
                    return None
        except TimeoutError:
            if self._ended_by_signal(running):  # it ended some of the ranks, and the others wait for these
                return None
            self.lacks = watch.death if watch.is_hopeless else ""
            seen = watch.death or ("" if self.began else self._late())
            self._keep_observation(running, "" if self.lacks else seen)
            self._silence = self._silence_of(running) if self.began and not watch.death else ""
            return "crash" if watch.death else "timeout"
        except InterruptedError:
            return None
        if running.is_mute:
            self._keep_observation(running, "its standard output was closed while its launcher went on")
        return None if self._ended_by_signal(running) else "crash"

    def _late(self) -> str:
        """How far a job has come that has not begun, and what would let it."""
        since_s = awake_s() - self._begun
        if not self._asked:
            return f"it has not begun after {since_s:.0f} s; --patience gives a start more time"
        return (
            f"rank 0 has asked what to measure, and nothing came of it after {since_s:.0f} s: "
            "its launcher must pass standard input on, and its ranks reach each other"
        )

    def _keep_observation(self, running: RunningJob, seen: str) -> None:
        """Keep the job's output before we end it, with what we observed if the output names no cause."""
        self._read_report(running)
        words = running.last_words
        self._observed = words if CAUSE.search(words) or not seen else f"{words}\n{OURS} {seen}".lstrip()

    def _silence_watch(self, running: RunningJob) -> SilenceWatch:
        """Return the watch for the time in which the job is silent."""
        most = units.format_duration(self._timeout.seconds())
        ranks = LocalRanks(self._job.program[0], running.processes)
        begun = awake_s()

        def tell(output_line: str) -> None:
            since_s = awake_s() - begun
            self._context.observer.trouble(
                f"{self.name}: launch {self._key.number} has not begun after {since_s:.0f} s; "
                f"it may take up to {most} (--patience); {output_line}"
            )

        return SilenceWatch(ranks, running, tell, self._usual_start_s)

    def _if_expected(self, line: journal.Line | None) -> journal.Line | None:
        """Return a line that can be of this launch, else None: other programs may print look-alikes."""
        if line is None or isinstance(line, journal.ReadyLine):
            return line
        if self.began == isinstance(line, journal.LaunchLine):  # the first of a launch, and no other
            return None
        number = visit_of(line)
        known = number is None or (number in self._visits and number not in self._answered)
        return line if known else None

    def _keep_other_line(self, text: bytes, running: RunningJob) -> None:
        """Keep a line that is not the kernel's; before the kernel's first it may be the library's report.

        Of lines that begin as the kernel's do but are broken, the first is enough.
        """
        if journal.is_kernel_line(text):
            if self._has_broken_line:
                return
            self._has_broken_line, text = True, text[:MAX_BROKEN_LINE_BYTES]
        elif not self.began:
            self._early_output.append(text[:MAX_OUTPUT_LINE_BYTES])
        running.add_words(text)

    def _read_report(self, running: RunningJob) -> None:
        """Read what the library says of its transports in every launch: none of that is why one failed."""
        lines = {text.decode("utf-8", "replace"): text for text in self._early_output}
        if reported := self._target.library.kind.parse_report(lines)[:SHORT_MOST]:
            self._reported = reported
            running.drop_words(text for line, text in lines.items() if not CAUSE.search(line))
        self._early_output.clear()

    def _ended_by_signal(self, running: RunningJob) -> bool:
        """Return whether a signal meant for us, too, ended the job: a scheduler sends it to every rank."""
        status, words = running.wait(ECHO_S), running.last_words
        failure = Failure(self._key.number, "crash", words, status=status)
        by_other = (
            status in TERMINATED or ENDED_FROM_OUTSIDE.search(words) or is_from_outside(line_of(failure))
        )
        return self._context.interruption.arrives_within(SCHEDULER_S if by_other else 0)

    # ---- Lines become records --------------------------------------------------------------------

    def _process_line(self, line: journal.Line) -> None:
        number = visit_of(line)
        if number is not None and is_answer(line):
            self._answered.add(number)
            self._has_visits = self._has_visits or not isinstance(line, journal.SkipLine)
        self._has_end = isinstance(line, journal.EndLine)
        match line:
            case journal.BeginLine(number):
                self._visit_begins(number, line.expect_s)
                self._context.observer.visit_begins(self._visits[number])
            case journal.TickLine():
                self._timeout.slow_round(line.round_s)
            case journal.SkipLine(number, reason):
                self._skip(number, reason)
            case journal.EndLine():  # unless it is another program's: then the kernel's comes later
                self.ended = self._visits.keys() <= self._answered
            case _:
                self._write_records(line)

    def _visit_begins(self, number: int, expect_s: float) -> None:
        """Note that a visit begins, alone or concurrently with others of its step."""
        step, running = self._steps[number], self._timeout.running
        if step is None or any(self._steps[other] != step for other in running):
            running.clear()
        if self._timeout.before_first_visit:
            self.prelude_s = awake_s() - self._begun
        self._timeout.begin(number, expect_s)
        self._counters_before = self._relay_counters()

    def _relay_counters(self) -> Counters:
        """Return the counters of our lab's relay; all zero outside of a lab."""
        return Counters() if self._context.lab is None else self._context.lab.counters()

    def _is_sign_of_life(self, text: bytes) -> bool:
        """Return whether a line that was just processed is one: a job could ask for its plan without end."""
        return journal.is_kernel_line(text) and not self._asks_in_vain

    def _is_busy(self) -> bool:
        return bool(self._timeout.running)

    def _launch_begins(self, facts: journal.Facts) -> None:
        library = self._target.library
        kernel.check_linked(library, facts.library, facts.ranks_asked, facts.ranks)
        check_placement(self._job.hosts, [place.host for place in facts.ranks_at])
        self.began = self._watch.began = True
        self.sleeps = lasts_as_long(facts.init_median_ns * 1e-9) and may_sleep(
            library.name,
            library.version,
            {**os.environ, **self._job.variables},
            self._context.plan.mpi_options,
        )
        self.startup_s = self.prelude_s = awake_s() - self._begun
        self._record(
            Launch(
                number=self._key.number,
                part=self._state.parts[self._key] + 1,
                job=self._key.job,
                started=utc_now(),
                command=environment.words_without_secrets(self._words),
                **launch_core(facts),
                load_average=environment.load_average(),
                steal_s=environment.steal_s(),
                startup_s=self.startup_s,
                variables=recorded_variables(self._job, self._target),
                built_by=self._target.built_by,
                reported=self._reported,
                throttled=control_groups.throttle_count(),
                options_found=self._job.options_found,
                warmup_bytes=self._warmup_bytes,
            )
        )

    def _record(self, record: Record) -> None:
        """Write a record to the file, then report it to the observer."""
        self._state.append(record)
        self._context.observer.recorded(record)

    def _skip(self, number: int, reason: SkipReason) -> None:
        if reason == "time":
            self.skipped.add(self._visits[number])
        self._state.finish(self._key, {number})

    def _write_records(self, line: journal.Line) -> None:
        for record in records_of(line, self._key, self._visits):
            if isinstance(record, Visit):
                late = self._relay_counters().since(self._counters_before).late_share
                record = replace(record, relay_late=late)  # noqa: PLW2901 - the record, with what we know
            self._record(record)
            if isinstance(record, Failure) and record.cell is not None:
                self._give_up_set(record, record.cell)
            if isinstance(record, Failure) and record.kind == "corrupt" and record.cell is not None:
                self._context.observer.trouble(f"{cell_text(record.cell)}: corrupt payload: {record.words}")
        if (number := visit_of(line)) is not None:
            self._timeout.running.pop(number, None)
            self._context.observer.visit_ends()

    def _give_up_set(self, failure: Failure, cell: Cell) -> None:
        """Record that groups are given up of which one is that they are measured at once with."""
        if failure.id is None or not cell.groups or not self._state.is_given_up(cell):
            return
        words = f"{OURS} measured at once with ranks {cell.group}, which are given up: {failure.words}"
        for number, step in self._steps.items():
            other = self._visits[number]
            if step == self._steps[failure.id] and not self._state.is_given_up(other):
                self._record(Failure(failure.launch, "refused", words, cell=other, job=failure.job))

    # ---- Failures --------------------------------------------------------------------------------

    def _fail(self, kind: FailureKind, running: RunningJob) -> None:
        """Record what failed: the visit that was running, else the launch itself.

        Of several concurrent visits the one at fault is not known: all are suspects, to be run one by one.
        """
        self._read_report(running)
        words = environment.text_without_secrets(self._failure_output(running))
        launch, status = self._key.number, running.wait(0)
        failure = Failure(launch, kind, words, status=status, job=self._key.job)
        why = cause_of(failure).line
        self._cut_off = is_from_outside(why)
        visit = self._torn_visit() if self._is_incomplete else self._visit_running()
        cell = None if visit is None or self._is_first_cut(visit) else self._visits[visit]
        self._state.append(replace(failure, id=visit, cell=cell))
        for other in () if cell is None else self._concurrent_visits(visit):
            self._state.append(replace(failure, id=other, cell=self._visits[other]))
        if cell is None:
            sentence = f"{self.name}: launch {launch} failed ({kind}): {why}"
            self._context.failures_reported.failed(self.name, why, launch, sentence)
            return
        self._context.failures_reported.failed(
            cell_text(cell), why, launch, f"{cell_text(cell)}: {kind} in launch {launch}: {why}"
        )

    def _is_first_cut(self, visit: int) -> bool:
        """Return whether it was ended from outside, and not in this visit before.

        What guards a machine against lack of memory ends ranks by the same signals: then it is the visit.
        """
        return self._cut_off and visit not in self._state.cut_off.get(self._key, ())

    def _visit_running(self) -> int | None:
        """Return the visit that was running; None if there was none, or several.

        Groups at once are one: no group of them can be measured alone instead.
        """
        running_now, are_concurrent = self._timeout.running, self._timeout.is_concurrent
        if any(self._visits[number].groups for number in running_now):
            return min(running_now)
        self.suspects = frozenset(running_now) if are_concurrent else frozenset()
        return None if are_concurrent else next(iter(running_now), None)

    def _concurrent_visits(self, visit: int | None) -> list[int]:
        """Return the visits of other groups that ran at once with this one, which they cannot do without."""
        if visit is None or not self._visits[visit].groups or visit not in self._timeout.running:
            return []
        return [number for number in self._timeout.running if number != visit]

    def _torn_visit(self) -> int | None:
        """Return the first visit without an answer where repeating the missing ones did not help; else None.

        Otherwise the torn line is not the fault of the visit.
        """
        has_worked = self._key.job in self._state.launches_with
        return min(self._visits.keys() - self._answered) if has_worked and self._is_unreadable else None

    def _report_restart(self) -> None:
        """Report that the job is started again, with which options."""
        options = " ".join(self.options_found)
        self._context.observer.trouble(
            f"{self.name}: its launcher counts fewer places than ranks; started again with {options}"
        )

    def _report_undead(self, undead: Sequence[str]) -> None:
        """Record and report processes that survive SIGKILL: they wait for a device, and may occupy a core."""
        words = f"{OURS} these processes could not be ended: {', '.join(undead)}"
        self._state.append(Failure(self._key.number, "undead", words))
        self._context.observer.trouble(f"{self.name}: launch {self._key.number}: {words.removeprefix(OURS)}")

    def _failure_output(self, running: RunningJob) -> str:
        """Return the job's output, with what we find wrong: not all launchers name a host that is gone."""
        words = running.last_words if self._observed is None else self._observed
        if self._is_incomplete:
            missing = incomplete_sentence(len(self._visits.keys() - self._answered), len(self._visits))
            return f"{OURS} {missing}\n{words}".rstrip()
        hosts, fault = self._job.hosts, ""
        if len(set(hosts)) > 1 and self._context.interruption.signal is None:
            fault = first_fault(hosts, self._context.plan, [self._target])
        self.host_gone = bool(fault)
        if not (self.began or self.lacks) and is_all_here(self._job):
            line = cause_of(Failure(self._key.number, "crash", words, status=running.wait(0))).line
            self.lacks = lack(line, self._job.ranks, applied(os.environ, self._job.environment))
        seen = fault or self.lacks or ("" if CAUSE.search(words) else self._silence)
        return f"{words}\n{OURS} {seen}".lstrip("\n") if seen else words

    def _silence_of(self, running: RunningJob) -> str:
        """Return how long a job has said nothing, where it measures, and which ranks here are stopped."""
        cells = [self._visits[visit] for visit in self._timeout.running if self._job.hosts]
        ranks = (rank for cell in cells for rank in ranks_in(cell, known().get(cell.pattern)))
        hosts = list(dict.fromkeys(self._job.hosts[rank] for rank in ranks))
        more = f" and {len(hosts) - HOSTS_NAMED} more" if len(hosts) > HOSTS_NAMED else ""
        where = f" while ranks on {', '.join(hosts[:HOSTS_NAMED])}{more} were measured" if hosts else ""
        stopped = LocalRanks(self._job.program[0], running.processes).stopped(self._job.hosts)
        said = f"the job has said nothing for {units.format_duration(self._timeout.seconds())}{where}"
        return f"{said}; {stopped}" if stopped else said


def cell_text(cell: Cell) -> str:
    """Return a cell as words for a sentence."""
    between = f" between ranks {cell.pair.replace('-', ' and ')}" if cell.pair else ""
    between += f" in groups at once ({cell.groups})" if cell.groups else ""
    between += f" of ranks {cell.group}" if cell.group else ""
    job = f"{cell.library}, {cell.ranks} ranks"
    return f"{cell.pattern} {cell.mode} of {cell.bytes} B{between} ({job})"
