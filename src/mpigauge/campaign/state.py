"""The state of a campaign: its result file, and what decides what is left to measure."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from mpigauge.campaign.launch.launchers import known_options
from mpigauge.plan.model import Cell, JobKey
from mpigauge.plan.patterns import FLOORS
from mpigauge.result.compact import essential_launch, essential_visit
from mpigauge.result.reader import Result
from mpigauge.result.records import Blocked, Done, Eager, Failure, Launch, Record, Visit
from mpigauge.result.writer import ResultFile
from mpigauge.vocabulary import ENDS_JOB

MAX_FAILURES = 2
"""Launches in which a cell may fail before it is given up."""


class LaunchKey(NamedTuple):
    """The identity of a launch: its number and its job, which its parts share."""

    number: int
    job: JobKey

    @classmethod
    def of(cls, number: int, cell: Cell) -> "LaunchKey":
        """Return the key of the launch of this number that measures a cell."""
        return cls(number, cell.job)


@dataclass(slots=True)
class LaunchProgress:
    """The cells and samples that a launch has measured so far.

    Attributes:
        cells: Cells with a visit.
        samples: Number of samples of all cells.
        sampling_ns: What they took together.
    """

    cells: set[Cell] = field(default_factory=set)
    samples: int = 0
    sampling_ns: int = 0


@dataclass(slots=True)
class CampaignState:
    """The result file, and an index of its content for deciding what is left to measure.

    Attributes:
        keeps_visits: Whether visits are kept for the stop rule.
        visits: Visits for the stop rule, reduced to what it needs; empty if they are not kept.
        launches: Launches for the stop rule, which needs the steps of their clocks; likewise.
        visits_made: Number of visits, kept or not.
        blocked: Cells that would deadlock.
        finished: Visits of unfinished launches that need not be made again.
        progress: What unfinished launches have measured.
        excluded: Cells that made a launch fail, by launch; not tried again in it.
        cut_off: Visits during which a launch was ended from outside, by launch.
        done: Launches that have nothing left to do.
        parts: How often each launch has been started.
        failures: In how many launches a cell has failed.
        options_found: Launcher options that jobs were found to need, as their launchers count fewer slots.
        spent_s: Time used by earlier sessions on the same file, without what went to incomplete launches.
        measured: Whether there is any result: a visit, an eager limit, or a predicted deadlock.
        last_failure: The last failure of a launch or cell, in this session or an earlier one.
        launches_with: Launches that have measured something asked for, by job.
    """

    file: ResultFile
    keeps_visits: bool = True
    visits: list[Visit] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    visits_made: int = 0
    blocked: set[Cell] = field(default_factory=set)
    finished: dict[LaunchKey, set[int]] = field(default_factory=dict)
    progress: dict[LaunchKey, LaunchProgress] = field(default_factory=dict)
    excluded: dict[LaunchKey, set[Cell]] = field(default_factory=dict)
    cut_off: dict[LaunchKey, set[int]] = field(default_factory=dict)
    done: set[LaunchKey] = field(default_factory=set)
    parts: Counter[LaunchKey] = field(default_factory=Counter)
    failures: Counter[Cell] = field(default_factory=Counter)
    options_found: dict[JobKey, tuple[str, ...]] = field(default_factory=dict)
    spent_s: float = 0.0
    measured: bool = False
    last_failure: Failure | None = None
    launches_with: dict[JobKey, set[int]] = field(default_factory=dict)

    def load(self, before: Result) -> None:
        """Take over the content of the file that is to be continued."""
        done = [record for record in before.done if (record.launch, record.job) not in before.incomplete]
        # Finished launches first, since less is kept of their visits.
        for records in (
            done,
            before.launches,
            before.visits,
            before.eager,
            before.blocked,
            before.failures,
        ):
            for record in records:
                self._index(record)
        # A killed session has no `end` record, but its finished launches have their durations. What an
        # incomplete launch took is in those of sessions only, and it needs that time again.
        ended_s, launches_s = (sum(record.elapsed_s for record in list_) for list_ in (before.ends, done))
        self.spent_s = launches_s if before.incomplete else max(ended_s, launches_s)

    def append(self, record: Record) -> None:
        """Write a record to the file and index it."""
        self.file.append(record)
        self._index(record)

    def finish(self, key: LaunchKey, visits: set[int]) -> None:
        """Note visits of a launch that need not be made again."""
        if key not in self.done:
            self.finished.setdefault(key, set()).update(visits)

    def progress_of(self, key: LaunchKey) -> LaunchProgress:
        """Return what an unfinished launch has measured."""
        return self.progress.get(key) or LaunchProgress()

    def is_given_up(self, cell: Cell) -> bool:
        """Return whether a cell has failed too often to be tried again."""
        return self.failures[cell] >= MAX_FAILURES

    def _index(self, record: Record) -> None:
        self._index_outcome(record)
        match record:
            case Launch():
                self.parts[LaunchKey(record.number, record.job)] += 1
                self.options_found[record.job] = known_options(record.options_found)
                if self.keeps_visits:
                    self.launches.append(essential_launch(record))
            case Visit() | Eager() | Blocked():
                key = LaunchKey.of(record.launch, record.cell)
                self.finish(key, {record.id})
                if isinstance(record, Visit):
                    self._index_visit(key, record)
                elif isinstance(record, Blocked):
                    self.blocked.add(record.cell)
            case Failure():
                self._index_failure(record)
            case Done():
                key = LaunchKey(record.launch, record.job)
                self.done.add(key)
                self.finished.pop(key, None)
                self.progress.pop(key, None)
                self.excluded.pop(key, None)
                self.cut_off.pop(key, None)

    def _index_outcome(self, record: Record) -> None:
        """Index what decides whether the campaign has measured anything, and why not."""
        if isinstance(record, Visit | Eager | Blocked):
            self.measured = True
        elif isinstance(record, Failure) and record.kind != "undead":
            self.last_failure = record

    def _index_failure(self, failure: Failure) -> None:
        cell = failure.cell
        if cell is None:
            if failure.id is not None and failure.job is not None:
                self.cut_off.setdefault(LaunchKey(failure.launch, failure.job), set()).add(failure.id)
            return
        key = LaunchKey.of(failure.launch, cell)
        if failure.id is not None:
            self.finish(key, {failure.id})
        if failure.kind in ENDS_JOB:
            self.excluded.setdefault(key, set()).add(cell)
        self.failures[cell] += MAX_FAILURES if failure.kind == "refused" else 1

    def _index_visit(self, key: LaunchKey, visit: Visit) -> None:
        self.visits_made += 1
        if visit.cell.pattern not in FLOORS:
            self.launches_with.setdefault(key.job, set()).add(key.number)
        if self.keeps_visits:
            self.visits.append(essential_visit(visit))
        if key not in self.done:
            progress = self.progress.setdefault(key, LaunchProgress())
            progress.cells.add(visit.cell)
            progress.samples += len(visit.samples_ns)
            progress.sampling_ns += sum(visit.samples_ns) + sum(visit.pure_ns)
