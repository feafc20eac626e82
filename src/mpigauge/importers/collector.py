"""Times of other programs, collected by table and cell, and the result that they become."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace as replace_fields

from mpigauge.importers import READERS
from mpigauge.importers.command_lines import (
    command_in,
    continues_line,
    is_repeating_loop,
    ranks_of,
    ranks_stated,
)
from mpigauge.importers.run_labels import TextTable, join_labels, label_tables
from mpigauge.importers.text import relative_step
from mpigauge.importers.text_between import counts, telling_line, where_prompted
from mpigauge.plan.benchmarks import OWN_CELL
from mpigauge.plan.model import Cell, Measure, Plan, check_words
from mpigauge.plan.patterns import ONE, Mode, Pattern, Sampling, Terms, Volumes, known
from mpigauge.plan.strings import SHORT_MOST
from mpigauge.result.constraints import MAX_NUMBER
from mpigauge.result.provenance import LibraryRecord
from mpigauge.result.records import End, Failure, Imported, Record, Unread, campaign_of
from mpigauge.sequences import first_words, group_by
from mpigauge.vocabulary import IMPORTED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.importers.text import LineError, TextLine
    from mpigauge.result.provenance import Environment
    from mpigauge.vocabulary import FailureKind

_UNNAMED = {"ranks": 0, "mpi": UNKNOWN, "mpi_version": ""}
LAUNCH = 1
"""Launch number of a table that was printed once."""

MAX_TITLES = 2
MAX_QUOTED = 60
TOO_SHORT = "is printed as 0: smaller than its last digit"


@dataclass(frozen=True, slots=True)
class TableMeaning:
    """Meaning of the numbers of a table: what was measured, how, and whether rates follow.

    Attributes:
        pattern: Our name, or that of the other program for a measurement that is not ours.
        time_of: What one time spans, in words.
        directions: Directions in which a message's bytes move at once; 2 doubles the rate.
        operation: Bytes moved by an operation, for patterns that are not ours.
        rated: Whether a rate follows: not where it depends on an unknown number of ranks.
        windowed: Whether its numbers are rates of many messages in flight.
        overlaps: Whether its time includes a computation.
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
        """Return this meaning with another mode."""
        return replace(self, mode=mode)

    def without_computation(self, mode: str) -> TableMeaning:
        """Return the meaning of the operation alone, where this one overlaps it with a computation."""
        return replace(self, mode=mode, overlaps=False)


@dataclass(slots=True)
class _Entry:
    """Collected time or failure."""

    table: TextTable
    meaning: TableMeaning
    cell: Cell
    record: Imported | Failure


class Collector:
    """Collector of times and failures by table and cell.

    Attributes:
        titles: Titles that were read, in their order.
        format_name: Format that is read now.
        environment: Machine, where a text describes it.
        unread: Lines of all files that were no rows of their tables.
        given_ranks: Number of ranks that the user states; 0 if none.
    """

    def __init__(self, ranks: int = 0, *, same: bool = False) -> None:
        """Make an empty collector.

        Args:
            ranks: Number of ranks, where neither text nor command line says it; 0 if unknown.
            same: Whether tables of the same cells are launches of one run, whatever is printed above them.
        """
        self.titles: dict[str, None] = {}
        self.environment: Environment | None = None
        self.format_name = ""
        self.unread: list[Unread] = []
        self.given_ranks, self._same = ranks, same
        self._entries: list[_Entry] = []
        self._lines: Sequence[TextLine] = ()
        self._texts: Sequence[str] = ()
        self._table = TextTable("", 0)
        self._read_to = 0
        self._printed = set[object]()
        self._last_row, self._prompted = 0, ""
        self._ranks_started = self._ranks_stated = 0
        self._ends: dict[object, tuple[TextTable, bool]] = {}

    # ---- Where a reader is -----------------------------------------------------------------------

    def begin_file(self, file: str, lines: Sequence[TextLine]) -> None:
        """Begin a file; what is taken before a table begins is of a table without a title."""
        self._end_file()
        self._lines, self._read_to, self._table = lines, 0, TextTable(file, 0, self.format_name)
        self._texts = [line.text for line in lines]
        self._last_row, self._prompted = 0, ""
        self._ranks_started = self._ranks_stated = 0

    def _end_file(self) -> None:
        """Read what stands below the last table of the file."""
        self._read_between(len(self._texts))

    def begin_table(
        self, title: str, line: TextLine, command: str = "", what: object = None, *, new: bool = False
    ) -> None:
        """Begin a table.

        Args:
            title: Program and version, as results name it; empty if there is none.
            line: Line of its title, or of its heading if it has none.
            command: The command line, where the program itself writes it.
            what: Key of the table, where one command prints several, each once; None for one that prints
                one.
            new: Whether the program has printed its title since the table before: it was started again.
        """
        if title:
            self.titles[title] = None
        old = self._table
        at = bisect_left(self._lines, line.number, key=_number)
        visible = command or self._read_between(at)
        self._read_to, self._ranks_started = max(self._read_to, at + 1), 0
        self._table = TextTable(line.file, line.number, self.format_name, title, prompted=self._prompted)
        self._table.above, self._table.counted = old.below, old.counted_below
        if not old.cells:
            self._table.above = [*old.above, *old.below]
            self._table.counted |= old.counted
        continues = is_repeating_loop(old.command) or (
            what is not None and not new and what not in self._printed
        )
        self._table.command = visible or (old.command if continues else "")
        if visible or new:
            self._printed.clear()
        self._printed.add(what)

    def _read_between(self, end: int) -> str:
        """Read what stands between the table and a place in the file; return the last command line there."""
        command = ""
        for at in range(self._read_to, end):
            if continues_line(self._texts, at):
                continue
            text = self._texts[at]
            self._prompted = where_prompted(text) or self._prompted
            shown = command_in(self._texts, at)
            self._note_ranks(text, shown)
            if shown:
                command = shown
            elif self._lines[at].number > self._last_row:
                self._table.counted_below |= counts(text)
                if told := telling_line(text):
                    self._table.below.append(told)
        self._read_to = max(self._read_to, end)
        return command

    def _note_ranks(self, text: str, command: str) -> None:
        """Keep how many ranks a line above a table says there are, for tables without a command."""
        if command:
            self._ranks_started, self._ranks_stated = ranks_of(command), 0
        elif stated := ranks_stated(text):
            self._ranks_stated = stated
        elif self._ranks_started and telling_line(text).endswith(":"):
            # A caption between a command and its table: the command has started the next ones, too.
            self._ranks_stated, self._ranks_started = self._ranks_started, 0

    def above(self, line: TextLine) -> Sequence[TextLine]:
        """Return the lines of the file between the beginning of the last table and a line."""
        return self._lines[self._read_to : bisect_left(self._lines, line.number, key=_number)]

    def below(self, line: TextLine) -> Iterator[TextLine]:
        """Return the lines of the file below a line of it."""
        first = bisect_right(self._lines, line.number, key=_number)
        return (self._lines[at] for at in range(first, len(self._lines)))

    @property
    def file_name(self) -> str:
        """Name of the file that is read, without its folder."""
        return PurePath(self._table.file).name

    @property
    def command(self) -> str:
        """Command line that is visible above the table; empty if none is."""
        return self._table.command

    @property
    def ranks(self) -> int:
        """Ranks that took part, by the command or a line above the table, or by the user; 0 if unknown."""
        return ranks_of(self._table.command) or self._ranks_stated or self.given_ranks

    # ---- What it finds ---------------------------------------------------------------------------

    def add_time(
        self,
        meaning: TableMeaning,
        cell: Cell,
        time_s: float,
        statistic: str,
        line: TextLine,
        printed: str = "",
    ) -> None:
        """Add a time; one that is printed as 0 becomes a failure, since it is too short to be known.

        Args:
            printed: Number that it follows from, as printed: its last digit gives the resolution.

        Raises:
            LineError: The table has the cell already; or no result can hold it, or the time.
        """
        if math.isnan(time_s) or time_s > MAX_NUMBER:
            raise line.refused("has a time that is not a number", "correct the line, or delete it")
        if time_s <= 0:
            self.add_failure(meaning, cell, "refused", TOO_SHORT, line)
            return
        record = Imported(cell, time_s, None, statistic, line.where, step=relative_step(printed))
        self._add(meaning, cell, line, record)

    def add_failure(
        self, meaning: TableMeaning, cell: Cell, kind: FailureKind, words: str, line: TextLine
    ) -> None:
        """Add a cell without a number, and why it has none.

        Raises:
            LineError: The table has the cell already.
        """
        self._add(meaning, cell, line, Failure(LAUNCH, kind, first_words(words, SHORT_MOST), None, cell))

    def _add(self, meaning: TableMeaning, cell: Cell, line: TextLine, record: Imported | Failure) -> None:
        if unreadable := _unreadable(cell):
            raise line.refused(f"no result can have this: {unreadable}", "correct the line, or delete it")
        if cell in self._table.cells:
            raise line.refused(
                f"measures the same cell as {self._table.cells[cell].rpartition(': ')[2]}",
                "put each table below its title",
            )
        self._table.cells[cell] = line.where
        self._last_row = max(self._last_row, line.number)
        self._entries.append(_Entry(self._table, meaning, cell, record))

    def add_unread(self, error: LineError, below: int = 0) -> None:
        """Record a line that was not understood, at which its table ends.

        Args:
            below: Number of rows below it that were not read, either.
        """
        quoted = " ".join(error.line.text.split())[:MAX_QUOTED]
        why = first_words(error.why, SHORT_MOST)
        self.unread.append(Unread(error.line.where, why, quoted, below))

    def keeps_end(self, connection: object, *, preferred: bool) -> bool:
        """Return whether the table counts, if both ends of a connection print what one run measured.

        Of both the first one counts, and what it gave is dropped if the other is preferred.
        """
        table, was_preferred = self._ends.setdefault(connection, (self._table, preferred))
        if table is not self._table and preferred and not was_preferred:
            self._entries = [entry for entry in self._entries if entry.table is not table]
            self._ends[connection] = (self._table, preferred)
        return self._ends[connection][0] is self._table

    @property
    def count(self) -> int:
        """Number of times and failures collected."""
        return len(self._entries)

    def has_numbers(self, file: str) -> bool:
        """Return whether a file has given a time, or a cell that says why it has none."""
        return any(entry.table.file == file for entry in self._entries)

    # ---- The result that it becomes --------------------------------------------------------------

    def records(self) -> list[Record]:
        """Return the records of the result, the campaign first."""
        self._end_file()
        labelled = self._labelled_entries()
        # A table of several columns has labels already.
        labels = join_labels((entry.cell.label, run) for entry, run, _ in labelled)
        for entry, run, launch in labelled:
            entry.cell = replace_fields(entry.cell, label=labels[entry.cell.label, run])
            entry.record = replace_fields(entry.record, cell=entry.cell, launch=launch)
        cells = tuple(dict.fromkeys(entry.cell for entry in self._entries))
        patterns = group_by(self._entries, lambda entry: entry.cell.pattern)
        libraries = dict.fromkeys((cell.mpi, cell.mpi_version, cell.label) for cell in cells)
        campaign = campaign_of(
            Plan(tuple(map(Measure, patterns)), title=self._title),
            (LibraryRecord(mpi, version, origin=IMPORTED, label=label) for mpi, version, label in libraries),
            (self._pattern(name, [entry.meaning for entry in entries]) for name, entries in patterns.items()),
            cells,
            environment=self.environment,
        )
        return [campaign, *(entry.record for entry in self._entries), *self.unread, End(IMPORTED, 0.0, "")]

    def _labelled_entries(self) -> list[tuple[_Entry, str, int]]:
        """Return each entry with the label of its run, and its launch number in that run."""
        tables: dict[Cell, dict[TextTable, None]] = defaultdict(dict)
        seen, repeated = set[Cell](), set[Cell]()
        for entry in self._entries:
            key = replace_fields(entry.cell, bytes=0)
            tables[key][entry.table] = None
            # A table has each of its cells once: a cell that was seen is of another table.
            repeated |= {key} if entry.cell in seen else set()
            seen.add(entry.cell)
        several = {key: list(tables_of_key) for key, tables_of_key in tables.items()}
        places = label_tables(several, [key for key in several if key in repeated], same=self._same)
        return [(entry, *places[entry.table, replace_fields(entry.cell, bytes=0)]) for entry in self._entries]

    @property
    def _title(self) -> str:
        programs = (
            READERS[format_name].program
            for entry in self._entries
            if (format_name := entry.table.format_name)
        )
        names = list(self.titles) or list(dict.fromkeys(programs)) or [""]
        title = ", ".join(names) if len(names) <= MAX_TITLES else f"{names[0]} and {len(names) - 1} more"
        return first_words(title, SHORT_MOST)

    def _pattern(self, name: str, meanings: Sequence[TableMeaning]) -> Pattern:
        """Return what is known of a pattern: of our own, kind and volumes, never how samples are taken."""
        first, own = meanings[0], known().get(name)
        modes = {meaning.mode: _mode(meaning) for meaning in meanings}
        sized = any(meaning.sized for meaning in meanings)
        rated = all(meaning.rated for meaning in meanings)
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
        return replace_fields(
            bare,
            family=own.family,
            one_way=own.one_way,
            one_sided=own.one_sided,
            reduces=own.reduces,
            sampled=Sampling(),
            **kept,
        )


class LineParser(ABC):
    """Parser of the lines of one format; made anew for each piece of a file.

    Attributes:
        collector: Collects what is read.
    """

    def __init__(self, collector: Collector) -> None:
        self.collector = collector

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


def _number(line: TextLine) -> int:
    return line.number


def _mode(meaning: TableMeaning) -> Mode:
    return Mode(meaning.mode, "", meaning.directions, False, False, False, overlaps=meaning.overlaps)


def cell_of(
    meaning: TableMeaning, size_bytes: int, ranks: int, own_factors: Cell | None = None, **more: Any
) -> Cell:
    """Return a cell whose library and placement are unknown.

    Args:
        own_factors: All other factors, where mpigauge has written the text.
    """
    if own_factors is not None:
        return replace_fields(own_factors, pattern=meaning.pattern, mode=meaning.mode, bytes=size_bytes)
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


def _unreadable(cell: Cell) -> str:
    """Return why a result with this cell could be written but not read again; empty if it could be read."""
    try:
        check_words(msgspec.convert(msgspec.to_builtins(cell), Cell))
    except msgspec.ValidationError as error:
        return str(error)
    return ""


def factors_in_comment(line: TextLine) -> Cell | None:
    """Return the factors that a comment written by mpigauge names; None if the line is no such comment.

    Raises:
        LineError: They are damaged.
    """
    if not line.text.startswith(OWN_CELL):
        return None
    try:
        stated = msgspec.json.decode(line.text.removeprefix(OWN_CELL), type=dict[str, Any])
        cell = msgspec.convert({**_UNNAMED, **stated, "pattern": "", "mode": "", "bytes": 0}, Cell)
        check_words(cell)
    except (msgspec.ValidationError, msgspec.DecodeError, ValueError) as error:
        why = str(error).splitlines()[0][:100]
        raise line.refused(f"the factors of the table are damaged: {why}", "delete the line") from None
    return cell
