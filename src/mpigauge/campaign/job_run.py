"""One mpiexec: from its command line to its last line, with a watch on its silence."""

import signal
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from mpigauge import units
from mpigauge.campaign.check_placement import check_landed
from mpigauge.campaign.failure_remedies import cause_of
from mpigauge.campaign.hang_timeout import Patience
from mpigauge.campaign.hosts import fault_of
from mpigauge.campaign.jobs import answer_to_refusal, command_of, ending_of_job, is_all_here, shells_of
from mpigauge.campaign.lab.context import CurrentLab
from mpigauge.campaign.lab.counters import Counters
from mpigauge.campaign.launch.awake import awake_s
from mpigauge.campaign.launch.interruption import ECHO_S, Interruption
from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.process import RunningJob
from mpigauge.campaign.launch.ranks import LocalRanks
from mpigauge.campaign.start import SilenceWatch
from mpigauge.campaign.state import CampaignState, LaunchKey
from mpigauge.campaign.targets import Target, now
from mpigauge.campaign.troubles import Troubles
from mpigauge.mpi import kernel
from mpigauge.plan.kernel_plan import parts_of
from mpigauge.plan.model import Cell, Plan
from mpigauge.plan.visit_order import PlannedVisit
from mpigauge.result import control_groups, environment, journal
from mpigauge.result.from_journal import answers, incomplete, records_of, visit_of
from mpigauge.result.records import Failure, Launch, Record, Visit
from mpigauge.rows.failure_cause import CAUSE, OURS
from mpigauge.vocabulary import FailureKind, SkipReason

SAID_MOST_LINES = 10_000
SAID_MOST_BYTES = 4096
"""Kept of such a line, in bytes."""

BROKEN_MOST_BYTES = 200
"""Kept of a line that begins as the kernel's lines do, in bytes."""

END_PATIENCE_S = 10.0
TERMINATED = {-signal.SIGTERM, signal.SIGTERM, 128 + signal.SIGTERM}
"""What launchers end with whose ranks were asked to; whoever asked them may be about to ask us."""


class Observer(Protocol):
    """What the campaign tells of its course; the command line draws it."""

    def launch_begins(self, number: int, part: int, job: str, visits: int) -> None:
        """A launch, or another part of it, with so many visits ahead."""

    def visit_begins(self, cell: Cell) -> None:
        """A cell is being measured."""

    def recorded(self, record: Record) -> None:
        """A record of a job is in the file."""

    def visit_ends(self) -> None:
        """One more visit is done."""

    def launch_ends(self, number: int, job: str, seconds: float, samples: int) -> None:
        """A launch has nothing left to do."""

    def waits(self, number: int, seconds: float) -> None:
        """A launch begins later, since launches are spread over time."""

    def rests(self) -> None:
        """The campaign is stopped for a while."""

    def goes_on(self, seconds: float) -> None:
        """It was stopped for so long, which no limit of time counts."""

    def trouble(self, sentence: str) -> None:
        """Something failed; the campaign goes on."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every attempt of a campaign works with."""

    state: CampaignState
    observer: Observer
    interruption: Interruption
    plan: Plan
    lab: CurrentLab | None
    troubles: Troubles


class JobRun:
    """One mpiexec for some visits of a launch.

    Attributes:
        began: Whether the kernel said anything at all.
        failed: Whether it ended before that.
        ended: Whether every visit has its answer and the kernel said its last line: the proof that the launch
            is whole.
        startup_s: From the launcher's start to the kernel's first line.
        prelude_s: The same to the first visit, after clocks of several hosts were compared.
        skipped: Cells with visits that there was no time for.
        suspects: Visits made at the same time when the job failed: one of them may be why.
        options_found: With which it is to be started again, since its launcher counted too few places.
        host_gone: Whether it failed and a host of it does not answer any more.
    """

    def __init__(
        self,
        around: Surroundings,
        target: Target,
        key: LaunchKey,
        job: Job,
        visits: Sequence[PlannedVisit],
        plan_text: str,
        usual_start_s: float = 0.0,
        warmup_bytes: int = 0,
    ) -> None:
        self._around = around
        self._state = around.state
        self._target = target
        self._key = key
        self._job = job
        self._visits = {visit.id: visit.cell for visit in visits}
        self._steps = {visit.id: visit.step for visit in visits}
        hosts = len(set(job.hosts)) or 1
        self._patience = Patience(visits, hosts, target.description, around.plan.patience_s)
        self._usual_start_s = usual_start_s
        self._warmup_bytes = warmup_bytes
        self._answered: set[int] = set()  # visits of which we know what has become
        self._tells_of_visits = False  # of one at least that was made, or could not be
        self._has_broken_line = False  # a line came that begins as the kernel's do, and is none
        self._has_end = False  # its last line was an end, of the kernel or of somebody else
        self._seen: str | None = None  # its words before we ended it, and what we saw
        self._text = plan_text
        self._carried = Counters()  # by the relay of our lab, before the visit
        self._said: deque[bytes] = deque(maxlen=SAID_MOST_LINES)  # of its output, before its first line
        self.began = False
        self.failed = False
        self.ended = False
        self.startup_s = 0.0
        self.prelude_s = 0.0
        self.skipped: set[Cell] = set()
        self.suspects: frozenset[int] = frozenset()
        self.options_found: tuple[str, ...] = ()
        self.host_gone = False

    @property
    def reached_visits(self) -> bool:
        """Whether it came as far as its first visit, or found nothing left to do.

        Of a journal of which nothing can be read, nobody knows.
        """
        return self.ended or not (self._patience.untried or self._is_unreadable)

    @property
    def died_warming_up(self) -> bool:
        """Whether it began, and ended by itself before its first visit."""
        return self.began and self.failed and self._patience.untried

    @property
    def _is_incomplete(self) -> bool:
        """Whether its journal has an end, and lacks answers."""
        return self._has_end and not self.ended

    @property
    def _is_unreadable(self) -> bool:
        """Whether its journal has an end, and tells of no visit but those left out."""
        return self._is_incomplete and not self._tells_of_visits

    @property
    def name(self) -> str:
        """The job, in words."""
        return self._key.job.name

    def run(self) -> None:
        """Runs the job to its end; what fails is recorded and will not be tried again in this launch.

        Raises:
            EnvironmentLacksError: Launcher and library do not fit, or the disk is full.
        """
        command = command_of(self._around.plan, self._target, self._job)
        self._words = command.words
        self._around.observer.launch_begins(
            self._key.number, self._state.parts[self._key] + 1, self.name, len(self._visits)
        )
        self._begun = awake_s()
        parts = parts_of(self._text)
        with RunningJob(
            self._words,
            self._job.environment,
            parts,
            self._around.interruption,
            ending_of_job(self._around.plan, self._target, self._job),
            command.files,
            all_here=is_all_here(self._job),
            elsewhere=shells_of(self._around.plan, self._job),
        ) as running:
            trouble = self._follow(running)
        if trouble == "crash" and not self.began:
            words, plan = running.last_words, self._around.plan
            self.options_found = answer_to_refusal(words, plan, self._target, self._job)
        if self.options_found:
            self._tell_of_answer()
        elif trouble:
            self.failed = True
            self._fail(trouble, running)
        if running.undead:
            self._tell_of(running.undead)

    def _follow(self, running: RunningJob) -> FailureKind | None:
        """Takes line after line; returns what went wrong, if anything."""
        watch = self._watch = self._watching(running)
        try:
            for text in running.lines(self._patience.seconds, self._is_busy, journal.is_ours, watch):
                line = self._ours(journal.parse(text))
                if line is None:
                    self._hear(text, running)
                    continue
                if isinstance(line, journal.ReadyLine):
                    running.feed()
                elif isinstance(line, journal.LaunchLine):
                    self._launch(line.launch, self._report(running))
                else:
                    self._take(line)
                if self.ended:
                    running.wait(END_PATIENCE_S)
                    return None
        except TimeoutError:
            since_s = awake_s() - self._begun
            late = f"it has not begun after {since_s:.0f} s; --patience gives a start more time"
            self._sees(running, watch.death or ("" if self.began else late))
            return "crash" if watch.death else "timeout"
        except InterruptedError:
            return None
        if running.is_mute:
            self._sees(running, "its standard output was closed while its launcher went on")
        return None if self._ended_by_signal(running) else "crash"

    def _sees(self, running: RunningJob, seen: str) -> None:
        """Keep the words before we end a job, and what we have seen if they give no reason."""
        words = running.last_words
        self._seen = words if CAUSE.search(words) or not seen else f"{words}\n{OURS} {seen}"

    def _watching(self, running: RunningJob) -> SilenceWatch:
        """Return who looks at the job while it is silent."""
        most = units.format_duration(self._patience.seconds())
        ranks = LocalRanks(self._job.program[0], running.processes)
        begun = awake_s()

        def tell(said: str) -> None:
            since_s = awake_s() - begun
            self._around.observer.trouble(
                f"{self.name}: launch {self._key.number} has not begun after {since_s:.0f} s; "
                f"it may take up to {most} (--patience); {said}"
            )

        return SilenceWatch(ranks, running, tell, self._usual_start_s)

    def _ours(self, line: journal.Line | None) -> journal.Line | None:
        """A line if it can be of this launch: other programs of the job may print what looks like one."""
        if line is None or isinstance(line, journal.ReadyLine):
            return line
        if self.began == isinstance(line, journal.LaunchLine):  # the first of a launch, and no other
            return None
        number = visit_of(line)
        known = number is None or (number in self._visits and number not in self._answered)
        return line if known else None

    def _hear(self, text: bytes, running: RunningJob) -> None:
        """A line that is not the kernel's: before its first it may be the library's report.

        One that begins as the kernel's do is cut off, or another program's; the first of them says enough.
        """
        if journal.is_ours(text):
            if self._has_broken_line:
                return
            self._has_broken_line, text = True, text[:BROKEN_MOST_BYTES]
        elif not self.began:
            self._said.append(text[:SAID_MOST_BYTES])
        running.add_words(text)

    def _report(self, running: RunningJob) -> str:
        """What the library said of its transports; then none of that will be why the job failed."""
        lines = [text.decode("utf-8", "replace") for text in self._said]
        reported = self._target.library.kind.parse_report(lines)
        if reported:
            running.drop_words(self._said)
        self._said.clear()
        return reported

    def _ended_by_signal(self, running: RunningJob) -> bool:
        """Whether it fell to a SIGTERM that is meant for us, too: a scheduler sends it to every rank."""
        fell = running.wait(ECHO_S) in TERMINATED
        return self._around.interruption.comes_within(ECHO_S if fell else 0)

    # ---- Lines become records --------------------------------------------------------------------

    def _take(self, line: journal.Line) -> None:
        number = visit_of(line)
        if number is not None and answers(line):
            self._answered.add(number)
            self._tells_of_visits = self._tells_of_visits or not isinstance(line, journal.SkipLine)
        self._has_end = isinstance(line, journal.EndLine)
        match line:
            case journal.BeginLine(number):
                self._begin(number, line.expect_s)
                self._around.observer.visit_begins(self._visits[number])
            case journal.TickLine():
                self._patience.slow_round(line.round_s)
            case journal.SkipLine(number, reason):
                self._skip(number, reason)
            case journal.EndLine():  # unless it is somebody else's: then the kernel's comes later
                self.ended = self._visits.keys() <= self._answered
            case _:
                self._keep(line)

    def _begin(self, number: int, expect_s: float) -> None:
        """A visit, alone or beside those of its step."""
        step, running = self._steps[number], self._patience.running
        if step is None or any(self._steps[other] != step for other in running):
            running.clear()
        if self._patience.untried:
            self.prelude_s = awake_s() - self._begun
        self._patience.begin(number, expect_s)
        self._carried = self._relay()

    def _relay(self) -> Counters:
        """What the relay of our lab has done until now; all zero outside of one."""
        return Counters() if self._around.lab is None else self._around.lab.counters()

    def _is_busy(self) -> bool:
        return bool(self._patience.running)

    def _launch(self, facts: journal.Facts, reported: str) -> None:
        library = self._target.library
        kernel.check_linked(library, facts.library, facts.ranks_asked, facts.ranks)
        check_landed(self._job.hosts, [place.host for place in facts.placement])
        self.began = self._watch.began = True
        self.startup_s = self.prelude_s = awake_s() - self._begun
        self._record(
            Launch(
                number=self._key.number,
                part=self._state.parts[self._key] + 1,
                job=self._key.job,
                started=now(),
                command=self._words,
                library=facts.library,
                mpi_standard=facts.mpi_standard,
                clock=facts.clock,
                ranks_at=facts.placement,
                cards=facts.cards,
                machines=facts.machines_named,
                first_round_trip_ns=facts.first_round_trip_ns,
                traced_ranks=facts.traced_ranks,
                load_average=environment.load_average(),
                steal_s=environment.steal_s(),
                startup_s=self.startup_s,
                variables=environment.recordable(self._job.environment),
                built_by=self._target.built_by,
                reported=reported,
                throttled=control_groups.throttled(),
                options_found=self._job.options_found,
                warmup_bytes=self._warmup_bytes,
            )
        )

    def _record(self, record: Record) -> None:
        """First into the file, then to whoever watches."""
        self._state.append(record)
        self._around.observer.recorded(record)

    def _skip(self, number: int, reason: SkipReason) -> None:
        if reason == "time":
            self.skipped.add(self._visits[number])
        self._state.finish(self._key, {number})

    def _keep(self, line: journal.Line) -> None:
        for record in records_of(line, self._key, self._visits):
            if isinstance(record, Visit):
                late = self._relay().since(self._carried).late_share
                record = replace(record, relay_late=late)  # noqa: PLW2901 - the record, with what we know
            self._record(record)
            if isinstance(record, Failure) and record.kind == "corrupt" and record.cell is not None:
                self._around.observer.trouble(f"{say(record.cell)}: corrupt payload: {record.words}")
        if (number := visit_of(line)) is not None:
            self._patience.running.pop(number, None)
            self._around.observer.visit_ends()

    # ---- Failures --------------------------------------------------------------------------------

    def _fail(self, kind: FailureKind, running: RunningJob) -> None:
        """Records what failed: the visit that was running, else the launch itself.

        Of several at once nobody knows which it was: they are suspects, to be measured one by one.
        """
        visit = self._torn_visit() if self._is_incomplete else self._visit_running()
        cell = None if visit is None else self._visits[visit]
        launch, words, status = self._key.number, self._last_words(running), running.wait(0)
        failure = Failure(launch, kind, words, visit, cell, status, self._key.job)
        self._state.append(failure)
        why = cause_of(failure).line
        if cell is None:
            sentence = f"{self.name}: launch {launch} failed ({kind}): {why}"
            self._around.troubles.failed(self.name, why, launch, sentence)
            return
        self._around.troubles.failed(say(cell), why, launch, f"{say(cell)}: {kind} in launch {launch}: {why}")

    def _visit_running(self) -> int | None:
        """The visit that was running, if it was one."""
        running_now, several = self._patience.running, self._patience.several
        self.suspects = frozenset(running_now) if several else frozenset()
        return None if several else next(iter(running_now), None)

    def _torn_visit(self) -> int | None:
        """The first visit without an answer, where to make the missing ones again brings none either.

        Otherwise it is not the visit's fault that its line is torn.
        """
        worked = self._key.job in self._state.launches_with
        return min(self._visits.keys() - self._answered) if worked and self._is_unreadable else None

    def _tell_of_answer(self) -> None:
        """Says that the job is started again, and with what."""
        told = " ".join(self.options_found)
        self._around.observer.trouble(
            f"{self.name}: its launcher counts fewer places than ranks; started again with {told}"
        )

    def _tell_of(self, undead: Sequence[str]) -> None:
        """Processes that even SIGKILL does not end wait for a disk or a card: they may hold a core."""
        words = f"{OURS} these processes could not be ended: {', '.join(undead)}"
        self._state.append(Failure(self._key.number, "undead", words))
        self._around.observer.trouble(f"{self.name}: launch {self._key.number}: {words.removeprefix(OURS)}")

    def _last_words(self, running: RunningJob) -> str:
        """Of a job on several hosts, with what we find: not all launchers name a host that is gone."""
        words = running.last_words if self._seen is None else self._seen
        if self._is_incomplete:
            missing = incomplete(len(self._visits.keys() - self._answered), len(self._visits))
            return f"{OURS} {missing}\n{words}".rstrip()
        hosts = self._job.hosts
        if len(set(hosts)) < 2 or self._around.interruption.signal is not None:  # noqa: PLR2004 - several
            return words
        fault = fault_of(hosts, self._around.plan, [self._target])
        self.host_gone = bool(fault)
        return f"{words}\n{OURS} {fault}" if fault else words


def say(cell: Cell) -> str:
    """A cell, for a sentence."""
    between = f" between ranks {cell.pair.replace('-', ' and ')}" if cell.pair else ""
    job = f"{cell.library}, {cell.ranks} ranks"
    return f"{cell.pattern} {cell.mode} of {cell.bytes} B{between} ({job})"
