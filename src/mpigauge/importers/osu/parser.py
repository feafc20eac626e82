"""Text of the OSU Micro-Benchmarks, versions 2 to 8: times, rates, overlap, failed validation.

Of the numbers of a row one is kept, the mean; MB are 10^6 bytes. Source: their sources, output and README.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.importers.collector import LineParser, TableMeaning, cell_of, given_by
from mpigauge.importers.osu.heading import (
    HINT,
    LATENCY,
    MESSAGES,
    MPI4PY,
    OPERATION,
    OVERALL,
    PURE,
    RATE,
    SIZE,
    TRANSMITTED,
    VALIDATION,
    Factors,
    OsuColumn,
    Title,
    columns_of,
    has,
    has_unit_of_column,
    title_of,
    titled,
)
from mpigauge.importers.osu.meaning import (
    OF_PAIRS,
    OVER_RANKS,
    UNTITLED,
    agrees,
    alone_mode,
    foreign_meaning,
    own_meaning,
    ranks_of,
    statistic_of,
    twin_of,
)
from mpigauge.importers.osu.programs import (
    MISTITLED,
    SOME_DEVICE,
    TITLES,
    buffers_in,
    program_in,
    title_by_command,
    title_by_words,
)
from mpigauge.importers.text import (
    LineError,
    agree,
    begins_row,
    ends_of,
    is_headless_row,
    is_whole,
    number,
    unlike,
    without_note,
)
from mpigauge.plan.benchmarks import DATATYPES, OWN, OWN_DECIMALS
from mpigauge.plan.patterns import known
from mpigauge.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.importers.collector import Collected
    from mpigauge.importers.text import TextLine
    from mpigauge.plan.model import Cell

PAIRS = re.compile(r"# (?:\[ pairs: ([0-9]{1,7}) \]|Pairs: ([0-9]{1,7}))")
WINDOW = re.compile(r".*window size: ([0-9]{1,7})\b")
SIGN_LOST = re.compile(
    r"Datatype: \w+\.?\s*\Z|Window creation: MPI_|Synchronization: MPI_|Send Buffer on |Rank 0 Memory on "
    r"|Number of (?:Sender |Receiver |forked )|\[ pairs: [0-9]|Partitions: [0-9]"
)
"""What comments begin with where a copy has lost their sign."""

VARIED = re.compile(r"# \[ pairs: [0-9]+ \] \[ window size: varied \]")
WINDOWS = re.compile(r"#(?: +[0-9]{1,7}){2,}")
VARIED_RATES = re.compile(r"# Uni-directional Bandwidth \(MB/sec\)")
VARIED_COUNTS = re.compile(r"# Message Rate Profile")
DATATYPE = re.compile(r"# Datatype: (\w+)\.?")
MISNAMING = ("7.1", "7.2", "7.3")
"""Versions that print the datatype below the heading, and each further heading as one of latencies."""

FAILED = ("Fail", "failed")
"""What stands below Validation of data that was wrong; atomic operations have the second word."""

INIT = re.compile(r"nprocs: (\d+), min: [\d.]+ (\w+), max: [\d.]+ (\w+), avg: ([\d.]+) (\w+)", re.ASCII)
GREETING = "hello world"
"""The title of osu_hello, which measures nothing."""

USUAL_TYPE = "MPI_CHAR"
SUM = "sum"
"""Of all its reductions; no option changes it."""

OURS = {theirs: ours for ours, theirs in DATATYPES.items()}
KINDS = (LATENCY, RATE, OVERALL, MESSAGES, PURE)
"""Columns that say what a table is of, the first that it has."""

MANY_PAIRS, MANY_THREADS, MANY_PROCESSES = (
    TITLES[program] for program in ("osu_mbw_mr", "osu_latency_mt", "osu_latency_mp")
)
VALUES = frozenset({*KINDS, "Million ops/s"})
DERIVED = "derived datatype"
NUMBER = re.compile(r"[0-9]{1,15}(?:\.([0-9]{1,9}))?", re.ASCII)
WORD = re.compile(r"[A-Za-z]{3,}:?")
TALKED_INTO = re.compile(r"(?!0x)[0-9]+[A-Za-z\[(*].*")
"""A size, and at once what another program has written: the rest of the size may stand in the next line."""

NO_NUMBERS = ("inf", "nan")
LEAST_DIGITS, OLD_RATE_DIGITS = 2, 6
"""Behind the point, of all that OSU prints, and of rates of version 2: fewer were rounded by somebody, or are
torn."""


class _Time(NamedTuple):
    """A time that a row says.

    Attributes:
        printed: The number that it follows from.
    """

    meaning: TableMeaning
    cell: Cell
    time_s: float
    printed: str


@dataclass(slots=True)
class _Table:
    """What is known of the table that is read.

    Attributes:
        number: Of the line that it begins with.
        factors: How it was done.
        above: The line of words above it that names a program; empty if there is none.
        given: All its factors but sizes, if the text is ours.
        rates: The columns of the first heading, if it has a rate.
        varied: Whether it is of several windows.
        windows: That its columns are of.
        counts: Whether these are messages; None if no line says it.
        seen: Rates by size and window, of a table of several.
        digits: Most behind the point, of each column that is read.
        begun: Whether a row was read below the last heading.
        ended: Whether a line that was no row ended it.
        held: A row that may be torn, until the next one shows that it is not.
    """

    title: Title
    number: int
    factors: Factors
    above: str = ""
    columns: list[OsuColumn] = field(default_factory=list)
    pairs: int = 0
    window: int = 0
    varied: bool = False
    windows: tuple[int, ...] = ()
    counts: bool | None = None
    seen: dict[tuple[int, int], str] = field(default_factory=dict)
    given: Cell | None = None
    datatype: str = ""
    rates: list[OsuColumn] = field(default_factory=list)
    digits: dict[str, int] = field(default_factory=dict)
    largest: int = -1
    begun: bool = False
    ended: bool = False
    held: tuple[TextLine, dict[str, str]] | None = None

    @property
    def misnames(self) -> bool:
        """Whether its program calls rates a latency above the second datatype."""
        return self.title.version.startswith(MISNAMING)

    @property
    def averaged(self) -> bool:
        """Whether its heading calls the times an average, or they are, as of all that have overlap."""
        return any(column.averaged or column.name == OVERALL for column in self.columns)

    def digits_of(self, name: str) -> int:
        """Return how many digits behind the point a whole number of a column has."""
        if name in self.digits:
            return self.digits[name]
        if self.given is not None:
            return OWN_DECIMALS
        return OLD_RATE_DIGITS if name == RATE and self.title.version.startswith("2.") else LEAST_DIGITS

    def begin_again(self) -> None:
        """Expect a heading, and sizes from the smallest on."""
        self.columns, self.windows, self.largest, self.begun = [], (), -1, False


class Parser(LineParser):
    """Reads what OSU's programs have printed, with anything of a launcher between and after."""

    def __init__(self, found: Collected) -> None:
        super().__init__(found)
        self._table: _Table | None = None
        self._above = Factors()
        self._titles: dict[str, Title | None] = {}
        self._between = ""
        self._datatype = ""
        self._lost = False

    # ---- Lines -----------------------------------------------------------------------------------

    def take(self, line: TextLine) -> None:
        """Read a line.

        Raises:
            LineError: A title, heading or row is not understood.
        """
        try:
            title = title_of(line)
        except LineError:
            self._let_go()
            self._table, self._lost = None, True
            raise
        if title is not None:
            self._title(line, title)
        elif line.text.startswith("#"):
            self._comment(line)
        elif match := INIT.match(line.text):
            self._init(match, line)
        elif SIGN_LOST.match(line.text):
            self._comment(replace(line, text=f"# {line.text}"))
        elif line.words and not self._row(line):
            # What goes on in another line may be the rest of a row.
            self._let_go()
            self._heading_or_words(line)

    def end_table(self) -> None:
        """Leave the table: rows below are read under the next heading or title alone."""
        self._let_go()
        if self._table is not None:
            self._table.columns, self._table.windows, self._table.ended = [], (), True
            self._table.counts = None

    def finish(self) -> None:
        """Say of a last row that may be torn that it is not read.

        Raises:
            LineError: There is one.
        """
        if self._table is not None and self._table.held is not None:
            raise _torn(self._table, *self._table.held)

    def _let_go(self) -> None:
        """Leave out a row that may be torn, and say so: no other row has followed it."""
        if self._table is not None and self._table.held is not None:
            self.found.doubt(_torn(self._table, *self._table.held))
            self._table.held = None

    def _title(self, line: TextLine, title: Title) -> None:
        """Begin a table; osu_mbw_mr prints its title twice, the second time right below."""
        old = self._table
        if old is not None and not old.columns and old.title == title and line.number <= old.number + 2:
            return
        self._let_go()
        self.found.begin("" if title.name == GREETING else title.text, line)
        self._lost = False
        # None: several, such as of the memory of hosts and of a device.
        known_title = self._titles.get(title.name, title)
        self._titles[title.name] = title if known_title == title else None
        if (program := program_in(self.found.command)) in MISTITLED:
            title = title.called(program)
        self._table = self._begun(line, title, self._above.before_title.of(title))

    def _begun(self, line: TextLine, title: Title, factors: Factors) -> _Table:
        """The table that begins with a title or a heading."""
        above, self._between, self._datatype = self._between, "", ""
        return _Table(title, line.number, factors, above)

    def _comment(self, line: TextLine) -> None:
        """Read a line that says more of a table, or what its columns are."""
        table = self._table
        if (above := self._above.with_line(line)) is not None:
            # Threads and processes are told above the title, by some versions below it.
            self._above = above
            said = table.factors.with_line(line) if table is not None else None
            if table is not None and said is not None and said.of(table.title) == said:
                table.factors = said
            return
        if table is not None and table.varied and _names_profile(line):
            self._let_go()
        if table is not None and _says_more(line, table):
            return
        if match := DATATYPE.fullmatch(line.text.rstrip()):
            self._datatype = match[1]
            if table is not None and match[1] != table.datatype:
                self._let_go()
                _datatype(match[1], table)
        elif not line.text.startswith(OWN) and (columns := columns_of(line)):
            self._heading(line, columns)
        elif table is not None and table.varied and not table.windows and len(line.words) > 1:
            table.counts = None

    def _heading_or_words(self, line: TextLine) -> None:
        """Read a heading that has lost its sign; or keep a line of words, which may name what follows."""
        first = line.words[0]
        if first.startswith((SIZE, "Latency", "Avg", RATE, "Overall")) and (columns := columns_of(line)):
            self._heading(line, columns)
        elif self._table is not None and self._table.begun and has_unit_of_column(line):
            raise line.refused("the columns are not understood", HINT)
        elif program_in(line.text):
            self._between = line.text

    def _heading(self, line: TextLine, columns: list[OsuColumn]) -> None:
        """Read what the columns are."""
        if self._lost:
            return
        if len({column.name for column in columns}) < len(columns):
            raise line.refused("two columns have one name", HINT)
        table = self._table
        goes_on = table is not None and table.misnames and title_by_words(self._between) is None
        if table is not None and goes_on and table.rates and has(columns, LATENCY):
            columns = table.rates
        if table is None or table.begun or table.ended or _is_other(table, columns):
            table = self._untitled(line, columns)
        if has(columns, RATE):
            table.rates = columns
        table.columns, table.ended = columns, False

    def _untitled(self, line: TextLine, columns: list[OsuColumn]) -> _Table:
        """The table that begins with its heading."""
        self._let_go()
        between, datatype = self._between, self._datatype
        self.found.begin("", line)
        kind = next((kind for kind in KINDS if has(columns, kind)), "")
        title = next((one for one in self._named(between) if agrees(one, kind)), None)
        if title is None:
            title = titled("OSU", "MPI Test").called(UNTITLED)
            if has(columns, RATE) and has(columns, MESSAGES):
                title = titled("OSU", MANY_PAIRS)
        if self._above.buffers and not title.device:
            title = title.on(SOME_DEVICE)
        self._table = self._begun(line, title, self._above)
        self._table.datatype = datatype
        return self._table

    def _named(self, between: str) -> list[Title]:
        """What a table without a title can be, the surest first."""
        found = [title_by_command(self.found.command)]
        if any(self._above.threads):
            found.append(titled("OSU", MANY_THREADS))
        if any(self._above.processes):
            found.append(titled("OSU", MANY_PROCESSES))
        if (by_words := title_by_words(between)) is not None:
            seen = self._titles.get(by_words.name)
            found += [seen if seen and (seen.device or not by_words.device) else None, by_words]
        if not self._titles:
            found.append(title_by_words(self.found.file_name))
        return [title for title in found if title is not None]

    def _init(self, match: re.Match[str], line: TextLine) -> None:
        """Read the one line of osu_init."""
        ranks, *units, avg, unit = match.groups()
        if {*units, unit} - {unit} or unit not in TIME_UNITS:
            raise line.refused(f"no unit is called {unit!r}, or there are several", HINT)
        if self._table is None or self._table.title.name != "init":
            raise line.refused("times of MPI_Init, and no title above it", "restore the title of the table")
        meaning = TableMeaning("osu_init", time_of="MPI_Init, mean over ranks", sized=False)
        cell = cell_of(meaning, 0, int(ranks))
        self.found.take(meaning, cell, float(avg) * TIME_UNITS[unit], OVER_RANKS, line, printed=avg)

    # ---- Rows --------------------------------------------------------------------------------------

    def _row(self, line: TextLine) -> bool:
        """Read a row, and say whether the line is one: others begin alike."""
        table = self._table
        if table is None:
            return False
        names = _names(table)
        noted = without_note(line.words, len(names))
        words = [number(word, whole=SIZE in names[at : at + 1]) for at, word in enumerate(noted)]
        if not names:
            if begins_row(words) and not (table.ended or self._lost):
                raise line.refused("numbers without a heading that says what they are", HINT)
            return begins_row(words)
        if not _is_row(words, names):
            if SIZE in names and TALKED_INTO.fullmatch(words[0]):
                raise line.refused(f"{words[0][:40]!r} is no size", "complete the row")
            return False
        if len(words) != len(names):
            raise line.refused(unlike(words, len(names)), "complete the row")
        row = dict(zip(names, words, strict=True))
        _check_size(line, table, row)
        fewer = _has_fewer_digits(line, table, row)
        if table.held is not None:
            (held, its_row), table.held = table.held, None
            self._enter(held, table, its_row)
        if fewer:
            table.held, table.begun, self._datatype = (line, row), True, ""
        else:
            self._enter(line, table, row)
        return True

    def _enter(self, line: TextLine, table: _Table, row: dict[str, str]) -> None:
        """Take what a row says."""
        _note_digits(table, row)
        table.begun, self._above, self._between, self._datatype = True, Factors(), "", ""
        statistic = statistic_of(table.title, given=table.given is not None, averaged=table.averaged)
        for one in self._times(line, table, row):
            if row.get(VALIDATION) in FAILED:
                self.found.fail(one.meaning, one.cell, "corrupt", "Validation: Fail", line)
            else:
                self.found.take(one.meaning, one.cell, one.time_s, statistic, line, printed=one.printed)

    def _times(self, line: TextLine, table: _Table, row: dict[str, str]) -> list[_Time]:
        """Of a row its time, or that with a computation and that without; or one for each window."""
        if table.windows:
            return self._of_windows(line, table, row)
        kind = next((kind for kind in KINDS if kind in row), "")
        if not kind or sum(name in row for name in (LATENCY, RATE, OVERALL)) > 1 or _lacks_pure(row):
            raise line.refused("its heading has no time or rate that is known", HINT)
        if table.title.name != UNTITLED and not agrees(table.title, kind):
            raise line.refused(
                "its columns are not those of the title above it", "restore the title of the table"
            )
        factors = self._factors(table, row)
        meaning = self._meaning(table, kind, factors)
        size = int(row.get(TRANSMITTED, row.get(SIZE, "0")))
        scales = {column.name: column.scale for column in table.columns}
        if kind in {RATE, MESSAGES}:
            time_s = self._time_of_rate(line, table, row, meaning, size, scales.get(RATE, 1.0))
            return [self._time(table, meaning, size, time_s, row.get(MESSAGES, row.get(RATE, "")))]
        first = self._time(table, meaning, size, float(row[kind]) * scales[kind], row[kind])
        if kind != OVERALL:
            return [first]
        alone = meaning.alone(alone_mode(twin_of(table.title, factors), meaning.mode))
        return [first, self._time(table, alone, size, float(row[PURE]) * scales[PURE], row[PURE])]

    def _factors(self, table: _Table, row: dict[str, str]) -> str:
        """How it was done, in words."""
        said = table.factors
        if not said.buffers and (table.title.device or table.title.subject not in {"MPI", "OpenSHMEM"}):
            said = said.with_buffers(buffers_in(self.found.command) or buffers_in(table.above))
        derived = DERIVED if TRANSMITTED in row else ""
        return " ".join(filter(None, (said.words, derived, row.get(OPERATION, ""))))

    def _meaning(self, table: _Table, kind: str, factors: str) -> TableMeaning:
        twin = twin_of(table.title, factors)
        if twin is not None:
            given = table.given is not None
            return own_meaning(twin, given=given, averaged=table.averaged, ranks=self.found.ranks)
        of_pairs = table.title.name in OF_PAIRS
        pairs = self._pairs(table) if of_pairs or table.pairs else 0
        sized = has(table.columns, SIZE) or bool(table.windows)
        return foreign_meaning(table.title, kind, factors, pairs=pairs, sized=sized)

    def _pairs(self, table: _Table) -> int:
        """How many pairs were busy at once: half of all ranks, where it is not said; 0 if unknown."""
        return table.pairs or self.found.ranks // 2

    def _time(
        self, table: _Table, meaning: TableMeaning, size: int, time_s: float, printed: str, window: int = 0
    ) -> _Time:
        own = known().get(meaning.pattern)
        fixed = own.active_ranks if own is not None else ranks_of(table.title)
        ranks = 2 * table.pairs or fixed or self.found.ranks
        reduces = own is not None and own.reduces
        more: dict[str, str] = {}
        if table.datatype and (reduces or table.datatype != USUAL_TYPE):
            more = {"datatype": OURS.get(table.datatype, table.datatype), "op": SUM if reduces else ""}
        cell = cell_of(meaning, size, ranks, table.given, window=window or table.window, **more)
        return _Time(meaning, cell, time_s, printed)

    def _time_of_rate(
        self,
        line: TextLine,
        table: _Table,
        row: dict[str, str],
        meaning: TableMeaning,
        size: int,
        bytes_per_s: float,
    ) -> float:
        """Of one message: what it moves over the rate, or by the count of messages, which is more exact."""
        pairs = max(self._pairs(table) if table.title.name in OF_PAIRS else table.pairs, 1)
        if MESSAGES in row:
            if RATE in row:
                _check_rates(line, row[RATE], row[MESSAGES], size / bytes_per_s)
            count_per_s = float(row[MESSAGES])
            return pairs / count_per_s if count_per_s else 0.0
        rate_bytes_per_s = float(row[RATE]) * bytes_per_s
        return size * meaning.directions * pairs / rate_bytes_per_s if rate_bytes_per_s else 0.0

    def _of_windows(self, line: TextLine, table: _Table, row: dict[str, str]) -> list[_Time]:
        """Of each window the time of one message; below the second heading stand the same in messages."""
        size, pairs = int(row[SIZE]), max(self._pairs(table), 1)
        meaning = self._meaning(table, RATE, self._factors(table, row))
        times: list[_Time] = []
        for window in table.windows:
            word = row[str(window)]
            if not table.counts:
                table.seen[size, window] = word
                rate_bytes_per_s = float(word) * 1e6
                time_s = size * pairs / rate_bytes_per_s if rate_bytes_per_s else 0.0
                times.append(self._time(table, meaning, size, time_s, word, window))
            elif (rate := table.seen.get((size, window))) is not None:
                _check_rates(line, rate, word, size / 1e6)
            else:
                time_s = pairs / float(word) if float(word) else 0.0
                times.append(self._time(table, meaning, size, time_s, word, window))
        return times


# ---- Headings --------------------------------------------------------------------------------------


def _says_more(line: TextLine, table: _Table) -> bool:
    """Whether a comment says how many pairs and messages there are, or is of ours; keeps what it says."""
    if match := PAIRS.match(line.text):
        table.pairs = int(match[1] or match[2])
        table.varied = VARIED.match(line.text) is not None
        if window := WINDOW.match(line.text):
            table.window = int(window[1])
        return True
    if table.varied and _names_profile(line):
        table.begin_again()
        table.counts, table.ended = VARIED_COUNTS.match(line.text) is not None, False
        table.digits = {}
        return True
    if table.varied and WINDOWS.fullmatch(line.text):
        if table.counts is None or table.begun:
            raise line.refused("no line above it says what its numbers are", HINT)
        table.windows = tuple(map(int, line.words[1:]))
        return True
    if (given := given_by(line)) is not None:
        table.given = given
        return True
    return False


def _names_profile(line: TextLine) -> bool:
    """Whether a line says what the numbers below it are, of a table of several windows."""
    return bool(VARIED_RATES.match(line.text) or VARIED_COUNTS.match(line.text))


def _datatype(name: str, table: _Table) -> None:
    """Keep another datatype: named below the heading or above it, and by each thread."""
    if table.datatype or table.begun:
        table.begin_again()
        table.ended = False
    table.datatype = name


def _is_other(table: _Table, columns: Sequence[OsuColumn]) -> bool:
    """Whether a heading cannot be that of a table that has none yet, or another one."""
    bracketed = any(column.bracketed for column in columns)
    if table.title.suite == MPI4PY and not bracketed:
        return True
    return bool(table.columns) and table.columns != columns


# ---- Rows ------------------------------------------------------------------------------------------


def _lacks_pure(row: dict[str, str]) -> bool:
    return OVERALL in row and PURE not in row


def _names(table: _Table) -> list[str]:
    if table.windows:
        return [SIZE, *map(str, table.windows)]
    return [column.name for column in table.columns]


def _is_row(words: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a line can only be a row, whole or torn."""
    if names[0] == OPERATION:
        return len(words) == len(names) and all(map(NUMBER.fullmatch, words[1:]))
    if SIZE not in names:
        return NUMBER.fullmatch(words[0]) is not None and (len(words) == len(names) or len(names) > 1)
    if begins_row(words):
        return True
    if is_whole(words[0]) and len(words) == len(names):
        return words[1].lower().strip("+-") in NO_NUMBERS or not any(map(str.isalnum, words[1]))
    return is_headless_row(words, len(names)) and WORD.fullmatch(words[0]) is None


def _check_size(line: TextLine, table: _Table, row: dict[str, str]) -> None:
    """Sizes grow from row to row: one that does not is of another table, or damaged."""
    if SIZE not in row:
        return
    for name in (SIZE, TRANSMITTED):
        if name in row and not is_whole(row[name]):
            raise line.refused(f"{row[name][:40]!r} is no size", "complete the row")
    size = int(row[SIZE])
    if size <= table.largest:
        raise line.refused(f"the size {size} comes after {table.largest}", "put each table below its title")
    table.largest = size


def _digits(row: dict[str, str]) -> dict[str, int]:
    """How many digits stand behind the points of a row's numbers, by column; -1 where a word is no number."""
    found = {}
    for name, word in row.items():
        if name in VALUES or name.isdigit():
            match = NUMBER.fullmatch(word)
            found[name] = -1 if match is None else len(match[1] or "")
    return found


def _has_fewer_digits(line: TextLine, table: _Table, row: dict[str, str]) -> bool:
    """Whether a number has fewer digits than those above it, or than OSU prints: it may be torn.

    Raises:
        LineError: One is no number.
    """
    digits = _digits(row)
    for name, count in digits.items():
        if count < 0:
            raise line.refused(f"{name}: {row[name][:40]!r} is not a number", "complete the row")
    if table.held is not None:
        # It is followed by another row: so many digits are whole.
        _note_digits(table, table.held[1])
    return any(count < table.digits_of(name) for name, count in digits.items())


def _note_digits(table: _Table, row: dict[str, str]) -> None:
    for name, count in _digits(row).items():
        table.digits[name] = max(count, table.digits.get(name, 0))


def _torn(table: _Table, line: TextLine, row: dict[str, str]) -> LineError:
    """What there is to say of a row that may be torn."""
    name = next(name for name, count in _digits(row).items() if count < table.digits_of(name))
    return line.refused(
        f"{name}: {row[name]!r} has fewer digits than others, and no row follows: it may be torn",
        "complete the row",
    )


def _check_rates(line: TextLine, rate: str, count: str, size_per_unit_s: float) -> None:
    """Rates in bytes and in messages must agree; size_per_unit_s is the size in units of the rate."""
    low, high = ends_of(count)
    if not agree(ends_of(rate), (low * size_per_unit_s, high * size_per_unit_s)):
        raise line.refused("its rates in bytes and in messages contradict each other", HINT)
