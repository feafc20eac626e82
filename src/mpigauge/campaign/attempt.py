"""One mpiexec: from its command line to its last line, with a watch on its silence."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from mpigauge.analysis.cells import telling_line
from mpigauge.campaign.ledger import LaunchKey, Ledger
from mpigauge.campaign.targets import Target, now
from mpigauge.launch.launchers import Job, command_of
from mpigauge.launch.process import INPUT, Interruption, RunningJob
from mpigauge.mpi import kernel
from mpigauge.plan.model import Cell
from mpigauge.plan.schedule import PlannedVisit
from mpigauge.result import environment, journal
from mpigauge.result.records import Blocked, Clock, Eager, Failure, Launch, Record, Visit

STARTUP_PATIENCE_S = 60.0
SILENCE_LEAST_S = 10.0
SILENCE_FACTOR = 10.0
SLOWEST_BYTES_PER_S = 1e6
TRIAL_MESSAGES = 20
END_PATIENCE_S = 10.0


class Observer(Protocol):
    """What the campaign tells of its course; the command line draws it."""

    def launch_begins(self, number: int, part: int, job: str, visits: int) -> None:
        """A launch, or another part of it, with so many visits ahead."""

    def visit_begins(self, cell: Cell) -> None:
        """A cell is being measured."""

    def visit_ends(self) -> None:
        """One more visit is in the file."""

    def launch_ends(self, number: int, job: str, seconds: float, samples: int) -> None:
        """A launch has nothing left to do."""

    def trouble(self, sentence: str) -> None:
        """Something failed; the campaign goes on."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every attempt of a campaign works with."""

    ledger: Ledger
    observer: Observer
    interruption: Interruption
    variables: Mapping[str, str]
    mpi_options: tuple[str, ...]


class Attempt:
    """One mpiexec for some visits of a launch.

    Attributes:
        began: Whether the kernel said anything at all.
        ended: Whether it said its last line: the only proof that the launch is whole.
        startup_s: From the launcher's start to the kernel's first line.
        skipped: Cells with visits that there was no time for.
        suspects: Visits made at the same time when the job failed: one of them may be why.
    """

    def __init__(
        self,
        around: Surroundings,
        target: Target,
        key: LaunchKey,
        visits: Sequence[PlannedVisit],
        plan_text: str,
    ) -> None:
        self._around = around
        self._ledger = around.ledger
        self._target = target
        self._key = key
        self._visits = {visit.id: visit.cell for visit in visits}
        self._steps = {visit.id: visit.step for visit in visits}
        self._text = plan_text
        self._running: dict[int, float] = {}  # what they should take, s; 0 if that is not known
        self._slowest_round_s = 0.0
        self.began = False
        self.ended = False
        self.startup_s = 0.0
        self.skipped: set[Cell] = set()
        self.suspects: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        """The job, in words."""
        return self._key.name

    def run(self) -> None:
        """Runs the job to its end; what fails is recorded and will not be tried again in this launch.

        Raises:
            EnvironmentLacksError: Launcher and library do not fit, or the disk is full.
        """
        job = self._job()
        self._variables = job.environment
        self._command = command_of(job, self._target.library.kind.launcher)
        self._around.observer.launch_begins(
            self._key.number, self._ledger.parts[self._key] + 1, self.name, len(self._visits)
        )
        self._begun = time.monotonic()
        with RunningJob(self._command, job.environment, self._text, self._around.interruption) as running:
            trouble = self._follow(running)
        if trouble:
            self._fail(trouble, running)

    def _job(self) -> Job:
        library = self._target.library
        cores = environment.cores_allowed()
        return Job(
            mpiexec=library.mpiexec,
            ranks=self._key.ranks,
            program=(str(self._target.program), INPUT, "-"),
            cores=cores,
            as_root=environment.user_is_root(),
            environment={
                **library.environment_for(self._key.ranks > cores, self._key.transport),
                **self._around.variables,
            },
            options=self._around.mpi_options,
        )

    def _follow(self, running: RunningJob) -> str:
        """Takes line after line; returns what went wrong, if anything."""
        try:
            for text in running.lines(self._patience_s):
                line = journal.parse(text)
                if line is None:
                    if not journal.is_torn(text):
                        running.add_words(text)
                    continue
                self._take(line)
                if self.ended:
                    running.wait(END_PATIENCE_S)
                    return ""
        except TimeoutError:
            return "timeout"
        except InterruptedError:
            return ""
        return "crash"

    def _patience_s(self) -> float:
        """How long silence is no hang: at least ten seconds, and ten times what the visit should take.

        Before a cell has been tried, a network of 1 MB/s is allowed for; the kernel tells of slow
        rounds, so that this covers one round and not the whole trial.
        """
        if not self.began:
            return STARTUP_PATIENCE_S
        if not self._running:
            return SILENCE_LEAST_S + self._slow_s(max(cell.bytes for cell in self._visits.values()))
        known_s = SILENCE_FACTOR * max(self._running.values())
        if all(self._running.values()):
            return SILENCE_LEAST_S + known_s
        if self._slowest_round_s:
            return SILENCE_LEAST_S + max(known_s, TRIAL_MESSAGES * self._slowest_round_s)
        untried = (self._visits[number] for number, expect_s in self._running.items() if not expect_s)
        sent_s = max(self._slow_s(cell.bytes * max(1, cell.window)) for cell in untried)
        return SILENCE_LEAST_S + max(known_s, sent_s)

    @staticmethod
    def _slow_s(size: int) -> float:
        return TRIAL_MESSAGES * size / SLOWEST_BYTES_PER_S

    # ---- Lines become records --------------------------------------------------------------------

    def _take(self, line: journal.Line) -> None:
        match line:
            case journal.LaunchLine(facts):
                self._launch(facts)
            case journal.BeginLine(number, _, expect_ns):
                self._begin(number, expect_ns * 1e-9)
                self._around.observer.visit_begins(self._visits[number])
            case journal.TickLine(_, round_ns):
                self._slowest_round_s = max(self._slowest_round_s * self._several, round_ns * 1e-9)
            case journal.ClockLine():
                self._clock(line)
            case journal.SkipLine(number, reason):
                self._skip(number, reason)
            case journal.RefusedLine(number, reason):
                failure = Failure(self._key.number, "refused", reason, number, self._visits[number])
                self._finish(number, failure)
            case journal.VisitLine():
                self._visit(line)
            case journal.BlockedLine() | journal.EagerLine():
                self._limit(line)
            case journal.EndLine():
                self.ended = True

    def _begin(self, number: int, expect_s: float) -> None:
        """A visit, alone or beside those of its step."""
        step = self._steps[number]
        if step is None or any(self._steps[other] != step for other in self._running):
            self._running.clear()
        self._running[number] = expect_s
        self._slowest_round_s = 0.0

    @property
    def _several(self) -> bool:
        return len(self._running) > 1

    def _launch(self, facts: journal.Facts) -> None:
        library = self._target.library
        kernel.check_linked(library, facts.library, facts.ranks_asked, facts.ranks)
        self.began = True
        self.startup_s = time.monotonic() - self._begun
        self._ledger.append(
            Launch(
                number=self._key.number,
                part=self._ledger.parts[self._key] + 1,
                mpi=library.name,
                mpi_version=library.version,
                transport=self._key.transport,
                ranks=facts.ranks,
                started=now(),
                command=tuple(self._command),
                library=facts.library,
                mpi_standard=facts.mpi_standard,
                clock=facts.clock,
                placement=facts.placement,
                load_average=environment.load_average(),
                steal_s=environment.steal_s(),
                startup_s=self.startup_s,
                variables=dict(self._variables),
            )
        )

    def _clock(self, line: journal.ClockLine) -> None:
        key = self._key
        self._ledger.append(
            Clock(
                key.number,
                key.mpi,
                key.mpi_version,
                key.ranks,
                line.clock * 1e-9,
                line.shared,
                line.checks,
                line.models,
                key.transport,
            )
        )

    def _skip(self, number: int, reason: str) -> None:
        if reason == "time":
            self.skipped.add(self._visits[number])
        self._ledger.finish(self._key, {number})

    def _visit(self, line: journal.VisitLine) -> None:
        cell = self._visits[line.visit]
        self._finish(
            line.visit,
            Visit(
                launch=self._key.number,
                id=line.visit,
                cell=cell,
                at_s=line.at_ns * 1e-9,
                elapsed_s=line.elapsed_ns * 1e-9,
                batch=line.batch,
                ops=line.ops,
                pool_bytes=line.pool_bytes,
                cpu_ns=line.cpu_ns if line.cpu_ns >= 0 else None,
                net_bytes=line.net_bytes,
                net_calls=line.net_calls,
                trial_ns=line.trial_ns,
                warmup_ns=line.warmup_ns,
                samples_ns=line.samples_ns,
                correlation_time=line.correlation_time,
                effective=line.effective,
                half_width=line.half_width,
                corrupt=line.corrupt,
                lead_ns=line.lead_ns,
                late=line.late,
                skew_ns=line.skew_ns,
                root_ns=line.root_ns,
                local_ns=line.local_ns,
                pure_ns=line.pure_ns,
                work_ns=line.work_ns,
            ),
        )
        if line.corrupt:
            self._ledger.append(Failure(self._key.number, "corrupt", line.corrupt, line.visit, cell))
            self._around.observer.trouble(f"{say(cell)}: corrupt payload: {line.corrupt}")

    def _limit(self, line: journal.BlockedLine | journal.EagerLine) -> None:
        """What the probe for the eager limit has found, or kept from being started."""
        launch = self._key.number
        if isinstance(line, journal.BlockedLine):
            cell = self._visits[line.blocked]
            self._finish(line.blocked, Blocked(launch, line.blocked, cell, line.found, line.longer_bytes))
            return
        self._finish(
            line.eager,
            Eager(
                launch=launch,
                id=line.eager,
                cell=self._visits[line.eager],
                found=line.found,
                control_held=line.control_held,
                limit_bytes=line.limit_bytes,
                longer_bytes=line.longer_bytes,
                max_bytes=line.max_bytes,
                probes=line.probes,
            ),
        )

    def _finish(self, number: int, record: Record) -> None:
        self._ledger.append(record)
        self._running.pop(number, None)
        self._around.observer.visit_ends()

    # ---- Failures --------------------------------------------------------------------------------

    def _fail(self, kind: str, running: RunningJob) -> None:
        """Records what failed: the visit that was under way, else the launch itself.

        Of several at once nobody knows which it was: they are suspects, to be measured one by one.
        """
        words = running.last_words
        last = telling_line(words)
        self.suspects = frozenset(self._running) if self._several else frozenset()
        number = None if self._several else next(iter(self._running), None)
        cell = None if number is None else self._visits[number]
        status = running.wait(0)
        self._ledger.append(Failure(self._key.number, kind, words, number, cell, status))
        if cell is None:
            self._around.observer.trouble(f"{self.name}: launch {self._key.number} failed ({kind}): {last}")
            return
        self._around.observer.trouble(f"{say(cell)}: {kind} in launch {self._key.number}: {last}")
        # All its visits of this launch: what ended the job once would most likely do so again.
        self._ledger.finish(self._key, {number for number, other in self._visits.items() if other == cell})


def say(cell: Cell) -> str:
    """A cell, for a sentence."""
    between = f" between ranks {cell.pair.replace('-', ' and ')}" if cell.pair else ""
    job = f"{cell.mpi} {cell.mpi_version}, {cell.ranks} ranks"
    return f"{cell.pattern} {cell.mode} of {cell.bytes} B{between} ({job})"
