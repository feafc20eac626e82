"""Journals that the kernel wrote under a launcher that mpigauge did not start, and the plan it followed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from mpigauge.errors import UsageError
from mpigauge.inputs import LINE_MOST_BYTES, content_of
from mpigauge.mpi.kinds import identify
from mpigauge.plan.kernel_plan import ExternalPlan, read_external_plan
from mpigauge.plan.model import Cell, JobKey
from mpigauge.plan.patterns import KERNEL_VERSION
from mpigauge.plan.strings import SHORT_MOST
from mpigauge.result import journal
from mpigauge.result.journal import incomplete_sentence, is_answer, launch_core, records_of, visit_of
from mpigauge.result.provenance import Environment, LibraryRecord
from mpigauge.result.records import (
    Campaign,
    Done,
    End,
    Failure,
    Launch,
    Record,
    campaign_of,
)
from mpigauge.vocabulary import AUTO, DIFFERENT_HOSTS, IMPORTED, SAME_HOST

WORDS_KEPT = 40
CPU = re.compile(r"[0-9]{1,5}", re.ASCII)
BEGINNING = b'{"launch":'
OWN_MESSAGE = "mpigauge:"
NO_END = "the journal has no last line: the job did not end by itself"
HINT = "name the plan that the kernel was started with, then its journals"


@dataclass(slots=True)
class JournalLaunch:
    """Launch as its journal records it.

    Attributes:
        cells: Cells by visit.
        current: Visit that is running.
        words: Other output among its lines.
        last_s: Time of its last line other than ticks, in seconds after its start.
        answered: Visits whose outcome it states.
        has_end: Whether its last line is an end, of the kernel or of another program.
        ended: Whether it is complete: every visit had its answer when it ended.
    """

    launch: Launch
    cells: Mapping[int, Cell]
    records: list[Record] = field(default_factory=list)
    skipped: set[Cell] = field(default_factory=set)
    current: int | None = None
    words: list[str] = field(default_factory=list)
    last_s: float = 0.0
    answered: set[int] = field(default_factory=set)
    has_end: bool = False
    ended: bool = False

    @property
    def missing(self) -> int:
        """Number of visits without an answer."""
        return len(self.cells.keys() - self.answered)

    def take(self, line: journal.Line) -> None:
        """Add a line that fits the plan."""
        number = visit_of(line)
        if number is not None and is_answer(line):
            self.answered.add(number)
        self.has_end = isinstance(line, journal.EndLine)
        match line:
            case journal.BeginLine(number):
                self.current, self.last_s = number, line.at_s
            case journal.SkipLine(number, "time"):
                self.skipped.add(self.cells[number])
            case journal.EndLine():
                self.ended, self.last_s = not self.missing, line.at_s
            case journal.TickLine() | journal.SkipLine():
                pass
            case _:
                self.records += records_of(line, self.launch, self.cells)
                self.current = self.current if visit_of(line) is None else None

    def all_records(self) -> Iterator[Record]:
        """Yield all records of the launch; the last says how it ended."""
        yield self.launch
        yield from self.records
        yield self._done() if self.ended else self._failure()

    def _failure(self) -> Failure:
        if self.has_end:
            words = "\n".join(
                [
                    f"{OWN_MESSAGE} {incomplete_sentence(self.missing, len(self.cells))}",
                    *self.words[-WORDS_KEPT:],
                ]
            )
            return Failure(self.launch.number, "crash", words, job=self.launch.job)
        words = "\n".join(self.words[-WORDS_KEPT:]) or NO_END
        cell = None if self.current is None else self.cells[self.current]
        return Failure(self.launch.number, "crash", words, self.current, cell)

    def _done(self) -> Done:
        measured = {getattr(record, "cell", None) for record in self.records}
        skipped = tuple(sorted(self.skipped - measured))
        return Done(self.launch.number, self.launch.job, self.last_s, skipped)


class Journals:
    """Launches of several journals, one after the other.

    Attributes:
        launches: All launches, also those that broke off.
    """

    def __init__(self, handout: ExternalPlan) -> None:
        self._handout = handout
        self._numbers: Counter[tuple[str, str]] = Counter()
        self._known: dict[tuple[bytes, ...], Path] = {}
        self.launches: list[JournalLaunch] = []

    def read(self, path: Path) -> None:
        """Read a journal; a job that was run again may have gone on in the same file.

        Raises:
            UsageError: It cannot be read, is no journal, or follows another plan; names the line.
        """
        journal_launch: JournalLaunch | None = None
        damaged_line = ""
        lines = list(_lines(path))
        if (known := self._known.setdefault(tuple(text for _, text in lines), path)) is not path:
            raise UsageError(
                f"{path}: is the same journal as {known}",
                "name each journal once: two launches never take exactly the same times",
            )
        for number, text in lines:
            where = f"{path}: line {number}"
            line = journal.parse(text)
            if isinstance(line, journal.LaunchLine):
                journal_launch, damaged_line = self._begin(line.launch, where), ""
                self.launches.append(journal_launch)
            elif line is not None and not isinstance(line, journal.ReadyLine):
                journal_launch = self._launch_of(line, journal_launch, where)
                if damaged_line:  # only the last line of a launch may be, if the job died while writing it
                    raise UsageError(f"{damaged_line} is damaged", "delete that line to import the rest")
                journal_launch.take(line)
            elif journal.is_kernel_line(text):
                damaged_line = where
            elif journal_launch is not None and text.strip():
                journal_launch.words.append(text[:SHORT_MOST].decode("utf-8", "replace").strip())
        if journal_launch is None:
            raise UsageError(f"{path}: is not a journal of the kernel: it has no launch", HINT)

    def _begin(self, facts: journal.Facts, where: str) -> JournalLaunch:
        handout = self._handout
        if facts.kernel != KERNEL_VERSION:
            raise UsageError(
                f"{where} comes from kernel version {facts.kernel}, this mpigauge needs {KERNEL_VERSION}",
                "import it with the mpigauge that built the kernel",
            )
        if {facts.ranks_asked, facts.ranks} != {handout.ranks}:
            raise UsageError(
                f"{where} reports {facts.ranks} ranks, but {handout.path} is for {handout.ranks}",
                "does it belong to this plan? All ranks must be in one job: srun needs the right --mpi",
            )
        kind, version = identify(facts.library)
        self._numbers[kind.name, version] += 1
        placement = _placement([rank.host for rank in facts.ranks_at])
        launch = Launch(
            number=self._numbers[kind.name, version],
            part=1,
            job=JobKey(kind.name, version, AUTO, placement, facts.ranks),
            started="",
            command=(),
            **launch_core(facts),
            load_average=None,
            steal_s=None,
            startup_s=None,
        )
        cells = {
            visit: replace(cell, mpi=kind.name, mpi_version=version, placement=placement)
            for visit, cell in handout.cells.items()
        }
        return JournalLaunch(launch, cells)

    def _launch_of(
        self, line: journal.Line, journal_launch: JournalLaunch | None, where: str
    ) -> JournalLaunch:
        """Return the launch that a line belongs to, if it fits the plan."""
        if journal_launch is None:
            raise UsageError(f"{where} comes before a launch: the beginning is missing", HINT)
        if mismatch := _mismatch(line, journal_launch):
            raise UsageError(f"{where} does not fit {self._handout.path}: {mismatch}", HINT)
        return journal_launch


def _mismatch(line: journal.Line, journal_launch: JournalLaunch) -> str:
    if journal_launch.ended:
        return "the launch had ended before"
    number = visit_of(line)
    if number is None:
        return ""
    if number not in journal_launch.cells:
        return f"there is no visit {number}"
    if number in journal_launch.answered:
        return f"visit {number} had its answer before"
    cell = journal_launch.cells[number]
    same = not isinstance(line, journal.VisitLine) or (
        (line.window, line.pool_bytes > 0) == (cell.window, cell.buffers == "cold")
    )
    return "" if same else f"visit {number} has another window or other buffers there"


def read(paths: Sequence[Path]) -> list[Record]:
    """Return the result of a plan and its journals; launches that broke off count, too.

    Raises:
        UsageError: A file is not what it should be, or a journal follows another plan; names the line.
    """
    handout = read_external_plan(paths[0])
    journals = Journals(handout)
    for path in paths[1:]:
        journals.read(path)
    records = [record for journal_launch in journals.launches for record in journal_launch.all_records()]
    end = End(IMPORTED, sum(journal_launch.last_s for journal_launch in journals.launches), "")
    return [_campaign(handout, journals.launches), *records, end]


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines; a launch that begins in the middle of a damaged line gets a line of its own."""
    all_records = content_of(path, HINT, LINE_MOST_BYTES)
    for number, text in enumerate(all_records.split(b"\n"), start=1):
        begin = text.find(BEGINNING, 1) if journal.is_kernel_line(text) else -1
        if begin > 0:
            yield number, text[:begin]
        yield number, text[max(0, begin) :]


def _placement(hosts: Sequence[str]) -> str:
    """Return the placement that a plan would have asked for."""
    if len(set(hosts)) == 1:
        return SAME_HOST
    return DIFFERENT_HOSTS if len(set(hosts)) == len(hosts) else ",".join(hosts)


def _campaign(handout: ExternalPlan, launches: Sequence[JournalLaunch]) -> Campaign:
    cells = {cell for journal_launch in launches for cell in journal_launch.cells.values()}
    order = [pattern.name for pattern in handout.source.patterns]
    libraries = {
        (journal_launch.launch.job.mpi, journal_launch.launch.job.mpi_version): journal_launch.launch
        for journal_launch in launches
    }
    return campaign_of(
        handout.source.plan,
        map(_library, libraries.values()),
        handout.source.patterns,
        # Visits are shuffled; cells of a table are in the order of the plan.
        sorted(cells, key=lambda cell: (cell.mpi, cell.mpi_version, order.index(cell.pattern), cell)),
        environment=_environment(launches[0].launch),
    )


def _library(launch: Launch) -> LibraryRecord:
    return LibraryRecord(
        name=launch.job.mpi,
        version=launch.job.mpi_version,
        standard=launch.mpi_standard,
        origin=IMPORTED,
    )


def _environment(launch: Launch) -> Environment:
    """Return what a journal says of the machine: one host, and the processors that ranks might use."""
    allowed = {(rank.host, cpu) for rank in launch.ranks_at for cpu in _cpus(rank.cpus)}
    return Environment(
        host=launch.ranks_at[0].host if launch.ranks_at else "",
        kernel=launch.machines[0].kernel if launch.machines else "",
        cpu=launch.machines[0].cpu if launch.machines else "",
        cores=len(allowed),
    )


def _cpus(text: str) -> Iterator[int]:
    """Yield the numbers of `0-3,8`."""
    for word in text.split(","):
        first, _, last = word.partition("-")
        if CPU.fullmatch(first) and CPU.fullmatch(last or first):
            yield from range(int(first), int(last or first) + 1)
