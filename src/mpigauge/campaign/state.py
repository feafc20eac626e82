"""What a campaign has measured, and what is left of it: the result file and its memory."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from mpigauge.plan.model import Cell, JobKey
from mpigauge.result.reader import Result
from mpigauge.result.records import Blocked, Done, Eager, Failure, Launch, Record, Visit
from mpigauge.result.writer import ResultFile

FAILURES_MOST = 2
"""Launches in which a cell may fail; after that it is not started any more."""


class LaunchKey(NamedTuple):
    """A launch: its number, and the job that it is of; its parts share both."""

    number: int
    job: JobKey

    @classmethod
    def of(cls, number: int, cell: Cell) -> "LaunchKey":
        """The launch of this number that measures a cell."""
        return cls(number, cell.job)


@dataclass(slots=True)
class CampaignState:
    """The result file, and of its content what decides what is still to be done.

    Attributes:
        visits: All of them, for the stop rule.
        launches: All of them, for the step of their clocks.
        blocked: Cells that would deadlock.
        finished: Visits by launch that need not be done again.
        done: Launches that have nothing left to do.
        parts: How often each launch has been started.
        failures: In how many launches a cell has failed.
        spent_s: Time of earlier sessions on the same file.
    """

    file: ResultFile
    visits: list[Visit] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    blocked: set[Cell] = field(default_factory=set)
    finished: dict[LaunchKey, set[int]] = field(default_factory=dict)
    done: set[LaunchKey] = field(default_factory=set)
    parts: Counter[LaunchKey] = field(default_factory=Counter)
    failures: Counter[Cell] = field(default_factory=Counter)
    spent_s: float = 0.0

    def remember(self, before: Result) -> None:
        """Takes up what a file holds that is to be continued."""
        for records in (
            before.launches,
            before.visits,
            before.eager,
            before.blocked,
            before.failures,
            before.done,
        ):
            for record in records:
                self._note(record)
        # A killed session left no end, but its finished launches say what they took.
        ended_s, launches_s = (
            sum(record.elapsed_s for record in list_) for list_ in (before.ends, before.done)
        )
        self.spent_s = max(ended_s, launches_s)

    def append(self, record: Record) -> None:
        """Writes a record and remembers it."""
        self.file.append(record)
        self._note(record)

    def finish(self, key: LaunchKey, visits: set[int]) -> None:
        """These visits of a launch need not be done again."""
        self.finished.setdefault(key, set()).update(visits)

    def given_up(self, cell: Cell) -> bool:
        """Whether a cell has failed too often to be started again."""
        return self.failures[cell] >= FAILURES_MOST

    def _note(self, record: Record) -> None:
        match record:
            case Launch():
                self.parts[LaunchKey(record.number, record.job)] += 1
                self.launches.append(record)
            case Visit() | Eager() | Blocked():
                self.finish(LaunchKey.of(record.launch, record.cell), {record.id})
                if isinstance(record, Visit):
                    self.visits.append(record)
                elif isinstance(record, Blocked):
                    self.blocked.add(record.cell)
            case Failure(cell=Cell() as cell):
                if record.id is not None:
                    self.finish(LaunchKey.of(record.launch, cell), {record.id})
                self.failures[cell] += FAILURES_MOST if record.kind == "refused" else 1
            case Done():
                self.done.add(LaunchKey(record.launch, record.job))
