"""Times of other programs as they are read, and the result that they become."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace as with_fields

from mpigauge.importers import READERS
from mpigauge.importers.commands import command_in, is_prose, ranks_of, repeats, setting_in
from mpigauge.importers.runs import TextTable, joined, named
from mpigauge.importers.text import step_of
from mpigauge.plan.benchmarks import OWN_CELL
from mpigauge.plan.model import Cell, Measure, Plan, check_words
from mpigauge.plan.patterns import ONE, Mode, Pattern, Sampling, Terms, Volumes, known
from mpigauge.result.constraints import MAX_NUMBER
from mpigauge.result.provenance import LibraryRecord
from mpigauge.result.records import End, Failure, Imported, Record, Unread, campaign_of
from mpigauge.vocabulary import IMPORTED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.importers.text import LineError, TextLine
    from mpigauge.result.provenance import Environment
    from mpigauge.vocabulary import FailureKind

_UNNAMED = {"ranks": 0, "mpi": UNKNOWN, "mpi_version": ""}
LAUNCH = 1
"""The number of what was printed once."""

TITLES_MOST = 2
QUOTED_MOST = 60
TOO_SHORT = "is printed as 0: smaller than its last digit"


@dataclass(frozen=True, slots=True)
class TableMeaning:
    """What the numbers of a table are of.

    Attributes:
        pattern: Our name, or that of the other program for what we do not measure.
        time_of: What one time is.
        directions: How many times its size a message moves; 2 doubles the rate.
        operation: Bytes of an operation, for patterns that are not ours.
        rated: Whether a rate makes sense: not where it depends on ranks that nobody names.
        windowed: Whether its numbers are rates of many messages in flight.
        overlaps: Whether its time has a computation in it.
    """

    pattern: str
    mode: str = "standard"
    time_of: str = ""
    directions: int = 1
    operation: Terms = ONE
    sized: bool = True
    rated: bool = True
    windowed: bool = False
    overlaps: bool = False

    def with_mode(self, mode: str) -> TableMeaning:
        """The same, done otherwise."""
        return replace(self, mode=mode)

    def alone(self, mode: str) -> TableMeaning:
        """The operation without the computation."""
        return replace(self, mode=mode, overlaps=False)


@dataclass(slots=True)
class _Entry:
    """A time or a failure."""

    table: TextTable
    meaning: TableMeaning
    cell: Cell
    record: Imported | Failure


class Collected:
    """Times and failures by table and cell.

    Attributes:
        titles: Of what was read, in its order.
        form: The format of what is read now.
        environment: Of the machine, where a text says it.
        unread: Lines that were no rows of their tables, of all files.
        given_ranks: How many took part, by who imports; 0 if they do not say.
    """

    def __init__(self, ranks: int = 0, *, same: bool = False) -> None:
        """Begin without anything.

        Args:
            ranks: How many took part, where neither text nor command line says it; 0 if nobody knows.
            same: Whether tables of the same cells are launches of one thing, whatever stands above them.
        """
        self.titles: dict[str, None] = {}
        self.environment: Environment | None = None
        self.form = ""
        self.unread: list[Unread] = []
        self.given_ranks, self._same = ranks, same
        self._entries: list[_Entry] = []
        self._lines: Sequence[TextLine] = ()
        self._texts: Sequence[str] = ()
        self._table = TextTable("", 0)
        self._looked = 0
        self._printed = set[object]()
        self._settings: dict[str, str] = {}

    # ---- Where a reader is -----------------------------------------------------------------------

    def enter(self, file: str, lines: Sequence[TextLine]) -> None:
        """Begin a file; what is taken before a table begins is of a table without a title."""
        self._lines, self._looked, self._table = lines, 0, TextTable(file, 0, self.form)
        self._texts = [line.text for line in lines]
        self._settings = {}

    def begin(
        self, title: str, line: TextLine, command: str = "", what: object = None, *, new: bool = False
    ) -> None:
        """Begin a table.

        Args:
            title: Of the program and its version, as results name it; empty if there is none.
            line: Its title, or its heading if it has none.
            command: The command line, where the program itself writes it.
            what: What it is of, where one command prints several tables, each once; None for a program that
                prints one.
            new: Whether the program has said its title since the table before: it was started again.
        """
        if title:
            self.titles[title] = None
        old = self._table
        self._table = TextTable(line.file, line.number, self.form)
        texts, prose, visible = self._texts, "", command
        for at in range(self._looked, len(texts)):
            if self._lines[at].number > line.number:
                break
            self._looked = at + 1
            if self._lines[at].number == line.number:
                continue
            if shown := command_in(texts, at):
                visible = command or shown
            elif setting := setting_in(texts[at]):
                self._settings |= dict([setting])
            elif is_prose(texts[at]):
                prose = texts[at].strip()
        goes_on = repeats(old.command) or (what is not None and not new and what not in self._printed)
        self._table.command = visible or (old.command if goes_on else "")
        self._table.settings = " ".join(self._settings.values())
        self._table.above = prose
        self._printed = {what} if visible or new else {*self._printed, what}

    def above(self, line: TextLine) -> Sequence[TextLine]:
        """Return the lines of the file between the beginning of the last table and a line."""
        return self._lines[self._looked : bisect_left(self._lines, line.number, key=_number)]

    def below(self, line: TextLine) -> Iterator[TextLine]:
        """The lines of the file below a line of it."""
        first = bisect_right(self._lines, line.number, key=_number)
        return (self._lines[at] for at in range(first, len(self._lines)))

    @property
    def file_name(self) -> str:
        """Name of the file that is read, without its folder."""
        return PurePath(self._table.file).name

    @property
    def command(self) -> str:
        """The command line that is visible above the table; empty if none is."""
        return self._table.command

    @property
    def ranks(self) -> int:
        """How many ranks took part by the command line above the table, or by who imports; 0 if unknown."""
        return ranks_of(self._table.command) or self.given_ranks

    # ---- What it finds ---------------------------------------------------------------------------

    def take(
        self,
        meaning: TableMeaning,
        cell: Cell,
        time_s: float,
        statistic: str,
        line: TextLine,
        printed: str = "",
    ) -> None:
        """Take a time; one that is printed as 0 is too short to be known, and no number.

        Args:
            printed: The number that it is from, as it is printed, whose last digit says how exact it is.

        Raises:
            LineError: The table has the same cell before; or no result can have it, or the time.
        """
        if math.isnan(time_s) or time_s > MAX_NUMBER:
            raise line.refused("has a time that is not a number", "correct the line, or delete it")
        if time_s <= 0:
            self.fail(meaning, cell, "refused", TOO_SHORT, line)
            return
        found = Imported(cell, time_s, None, statistic, line.where, step=step_of(printed))
        self._enter(meaning, cell, line, found)

    def fail(self, meaning: TableMeaning, cell: Cell, kind: FailureKind, words: str, line: TextLine) -> None:
        """Take a cell without a number, and why it has none.

        Raises:
            LineError: The table has the same cell before.
        """
        self._enter(meaning, cell, line, Failure(LAUNCH, kind, words, None, cell))

    def _enter(self, meaning: TableMeaning, cell: Cell, line: TextLine, record: Imported | Failure) -> None:
        if wrong := _wrong(cell):
            raise line.refused(f"no result can have this: {wrong}", "correct the line, or delete it")
        if cell in self._table.cells:
            raise line.refused(
                f"measures the same cell as {self._table.cells[cell]}", "put each table below its title"
            )
        self._table.cells[cell] = line.where
        self._entries.append(_Entry(self._table, meaning, cell, record))

    def doubt(self, error: LineError, below: int = 0) -> None:
        """Keep a line that was not understood, and that its table ends there.

        Args:
            below: Lines of numbers below it that were not read, either.
        """
        quoted = " ".join(error.line.text.split())[:QUOTED_MOST]
        self.unread.append(Unread(error.line.where, error.why, quoted, below))

    @property
    def count(self) -> int:
        """How many times and failures were taken."""
        return len(self._entries)

    def has_numbers(self, file: str) -> bool:
        """Return whether a file has given a time, or a cell that says why it has none."""
        return any(entry.table.file == file for entry in self._entries)

    # ---- The result that it becomes --------------------------------------------------------------

    def records(self) -> list[Record]:
        """Return a result, the campaign first."""
        told = self._told_apart()
        # A table of several columns has labels of its own.
        labels = joined((entry.cell.label, run) for entry, run, _ in told)
        for entry, run, launch in told:
            entry.cell = with_fields(entry.cell, label=labels[entry.cell.label, run])
            entry.record = with_fields(entry.record, cell=entry.cell, launch=launch)
        cells = tuple(dict.fromkeys(entry.cell for entry in self._entries))
        patterns = dict.fromkeys(cell.pattern for cell in cells)
        libraries = dict.fromkeys((cell.mpi, cell.mpi_version, cell.label) for cell in cells)
        campaign = campaign_of(
            Plan(tuple(map(Measure, patterns)), title=self._title),
            (LibraryRecord(mpi, version, origin=IMPORTED, label=label) for mpi, version, label in libraries),
            map(self._pattern, patterns),
            cells,
            environment=self.environment,
        )
        return [campaign, *(entry.record for entry in self._entries), *self.unread, End(IMPORTED, 0.0, "")]

    def _told_apart(self) -> list[tuple[_Entry, str, int]]:
        """Each entry with the label of its run, and its number among the launches of that."""
        tables: dict[Cell, dict[TextTable, None]] = defaultdict(dict)
        for entry in self._entries:
            tables[with_fields(entry.cell, bytes=0)][entry.table] = None
        several = {key: list(alike) for key, alike in tables.items() if _overlap(key, alike)}
        places = named(several, same=self._same)
        return [
            (entry, *places.get((entry.table, with_fields(entry.cell, bytes=0)), ("", LAUNCH)))
            for entry in self._entries
        ]

    @property
    def _title(self) -> str:
        programs = (READERS[form].program for entry in self._entries if (form := entry.table.form))
        names = list(self.titles) or list(dict.fromkeys(programs)) or [""]
        return ", ".join(names) if len(names) <= TITLES_MOST else f"{names[0]} and {len(names) - 1} more"

    def _pattern(self, name: str) -> Pattern:
        """What is known of a pattern: of ours its kind and volumes, never how samples are taken."""
        meanings = [entry.meaning for entry in self._entries if entry.cell.pattern == name]
        first, own = meanings[0], known().get(name)
        modes = {one.mode: _mode(one) for one in meanings}
        sized = any(one.sized for one in meanings)
        rated = all(one.rated for one in meanings)
        bare = Pattern(
            name=name,
            about=self._title,
            time_of=first.time_of,
            sampling=IMPORTED,
            min_ranks=1,
            active_ranks=own.active_ranks if own else 0,
            windowed=first.windowed,
            moves_bytes=sized and rated,
            modes=tuple(modes.values()),
            spans_bytes=sized and not rated,
            volumes=Volumes(operation=first.operation),
        )
        if own is None:
            return bare
        kept = {"volumes": own.volumes, "bus": own.bus} if rated else {}
        return with_fields(
            bare, family=own.family, one_way=own.one_way, reduces=own.reduces, sampled=Sampling(), **kept
        )


class LineParser(ABC):
    """Reads the lines of one format; made anew for each piece of a file.

    Attributes:
        found: Takes what is read.
    """

    def __init__(self, found: Collected) -> None:
        self.found = found

    @abstractmethod
    def take(self, line: TextLine) -> None:
        """Read a line.

        Raises:
            LineError: It can be no row, heading or title of its table.
        """

    @abstractmethod
    def end_table(self) -> None:
        """Leave the table: rows below are read under the next heading or title alone."""

    def finish(self) -> None:  # noqa: B027 - most have read all by then
        """Read what needs all lines, if anything does.

        Raises:
            LineError: It is not what it must be.
        """


def _overlap(key: Cell, tables: Iterable[TextTable]) -> bool:
    """Whether tables have a cell twice, so that they cannot be pieces of one."""
    cells = [cell for table in tables for cell in table.cells if with_fields(cell, bytes=0) == key]
    return len(cells) > len(set(cells))


def _number(line: TextLine) -> int:
    return line.number


def _mode(meaning: TableMeaning) -> Mode:
    return Mode(meaning.mode, "", meaning.directions, False, False, False, overlaps=meaning.overlaps)


def cell_of(
    meaning: TableMeaning, size_bytes: int, ranks: int, given: Cell | None = None, **more: Any
) -> Cell:
    """Return a cell of which nobody says with which library, and where its ranks were.

    Args:
        given: All other factors, where the text is one that we have written.
    """
    if given is not None:
        return with_fields(given, pattern=meaning.pattern, mode=meaning.mode, bytes=size_bytes)
    return Cell(
        pattern=meaning.pattern,
        mode=meaning.mode,
        bytes=size_bytes,
        ranks=ranks,
        mpi=UNKNOWN,
        mpi_version="",
        placement=UNKNOWN,
        **more,
    )


def _wrong(cell: Cell) -> str:
    """What a result could be written with, and not be read again; empty if nothing is."""
    try:
        check_words(msgspec.convert(msgspec.to_builtins(cell), Cell))
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def given_by(line: TextLine) -> Cell | None:
    """Return the factors that a comment of ours names; None if the line is none.

    Raises:
        LineError: They are damaged.
    """
    if not line.text.startswith(OWN_CELL):
        return None
    try:
        named_ones = msgspec.json.decode(line.text.removeprefix(OWN_CELL), type=dict[str, Any])
        cell = msgspec.convert({**_UNNAMED, **named_ones, "pattern": "", "mode": "", "bytes": 0}, Cell)
        check_words(cell)
    except (msgspec.ValidationError, msgspec.DecodeError, ValueError) as error:
        why = str(error).splitlines()[0][:100]
        raise line.refused(f"the factors of the table are damaged: {why}", "delete the line") from None
    return cell
