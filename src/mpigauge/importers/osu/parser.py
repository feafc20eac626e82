"""Parser of the OSU Micro-Benchmarks, versions 2 to 8: times, rates, overlap, failed validation.

Of the numbers of a row one is kept, the mean; MB are 10^6 bytes. Source: their sources, output and README.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.importers.collector import LineParser, TableMeaning, cell_of, factors_in_comment
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
    has_column,
    has_unit_of_column,
    make_title,
    title_of,
)
from mpigauge.importers.osu.meaning import (
    OF_PAIRS,
    OVER_RANKS,
    UNTITLED,
    foreign_meaning,
    may_have_column,
    own_benchmark,
    own_meaning,
    pure_mode,
    ranks_of,
    rma_window_of,
    statistic_of,
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
from mpigauge.importers.run_labels import label_of
from mpigauge.importers.text import (
    LineError,
    agree,
    begins_row,
    column_mismatch,
    has_exponent,
    is_headless_row,
    is_whole,
    number,
    number_hint,
    rounding_range,
    without_note,
)
from mpigauge.plan.benchmarks import DATATYPES, OWN, OWN_DECIMALS
from mpigauge.plan.patterns import known
from mpigauge.units import TIME_UNITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.importers.collector import Collector
    from mpigauge.importers.text import TextLine
    from mpigauge.plan.model import Cell

PAIRS = re.compile(r"# (?:\[ pairs: ([0-9]{1,7}) \]|Pairs: ([0-9]{1,7}))")
WINDOW = re.compile(r".*window size: ([0-9]{1,7})\b")
SIGN_MISSING = re.compile(
    r"Datatype: \w+\.?\s*\Z|Window creation: MPI_|Synchronization: MPI_|Send Buffer on |Rank 0 Memory on "
    r"|Number of (?:Sender |Receiver |forked )|\[ pairs: [0-9]|Partitions: [0-9]"
)
"""Beginnings of comments whose sign a copy has lost."""

VARIED = re.compile(r"# \[ pairs: [0-9]+ \] \[ window size: varied \]")
WINDOWS = re.compile(r"#(?: +[0-9]{1,7}){2,}")
VARIED_RATES = re.compile(r"# Uni-directional Bandwidth \(MB/sec\)")
VARIED_COUNTS = re.compile(r"# Message Rate Profile")
DATATYPE = re.compile(r"# Datatype: (\w+)\.?")
MISNAMING = ("7.1", "7.2", "7.3")
"""Versions that print the datatype below the heading, and each further heading as one of latencies."""

FAILED = ("Fail", "failed")
"""Entries below Validation for wrong data; atomic operations print the second."""

INIT = re.compile(r"nprocs: (\d+), min: [\d.]+ (\w+), max: [\d.]+ (\w+), avg: ([\d.]+) (\w+)", re.ASCII)
ONE_RUN = "leave each run all its columns, or keep those of one run"
GREETING = "hello world"
"""The title of osu_hello, which measures nothing."""

USUAL_TYPE = "MPI_CHAR"
SUM = "sum"
"""Operation of all its reductions; no option changes it."""

OURS = {theirs: ours for ours, theirs in DATATYPES.items()}
KIND_COLUMNS = (LATENCY, RATE, OVERALL, MESSAGES, PURE)
"""Columns that say what a table is of, by the first one that it has."""

MANY_PAIRS, MANY_THREADS, MANY_PROCESSES = (
    TITLES[program] for program in ("osu_mbw_mr", "osu_latency_mt", "osu_latency_mp")
)
VALUES = frozenset({*KIND_COLUMNS, "Million ops/s"})
DERIVED = "derived datatype"
NUMBER = re.compile(r"[0-9]{1,15}(?:\.([0-9]{1,9}))?", re.ASCII)
WORD = re.compile(r"[A-Za-z]{3,}:?")
INTERRUPTED = re.compile(r"(?!0x)[0-9]+[A-Za-z\[(*].*")
"""A size with output of another program right behind it: its other digits may be on the next line."""

NO_NUMBERS = ("inf", "nan")
NOT_RUN = ("", "n/a", "na")
"""Words, without dashes, in place of the numbers of a size that one of several runs lacks."""

LEAST_DIGITS, OLD_RATE_DIGITS = 2, 6
"""Digits behind the point that OSU prints at least, and for rates of version 2: with fewer, a number was
rounded by somebody, or is truncated."""


class _Time(NamedTuple):
    """Time that a row gives.

    Attributes:
        printed: Number that it follows from, as printed.
    """

    meaning: TableMeaning
    cell: Cell
    time_s: float
    printed: str


@dataclass(slots=True)
class _Table:
    """State of the table being read.

    Attributes:
        number: Number of its first line.
        factors: Conditions stated above it.
        above: Line above it that names a program; empty if there is none.
        own_factors: All its factors but size, if mpigauge has written the text.
        rates: Columns of the first heading, if it has a rate.
        varied: Whether it has several windows.
        windows: Windows of its columns.
        counts: Whether the columns count messages; None if unknown.
        seen: Rates by size and window, if it has several windows.
        digits: Most digits behind the point, by column.
        has_rows: Whether a row was read below the last heading.
        ended: Whether a line that was no row ended it.
        pending: Row that may be truncated, until the next one shows that it is not.
        runs: Labels of the runs whose columns stand side by side; empty if there is one run.
        label: Label of the run whose numbers are added.
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
    own_factors: Cell | None = None
    datatype: str = ""
    rates: list[OsuColumn] = field(default_factory=list)
    digits: dict[str, int] = field(default_factory=dict)
    largest: int = -1
    has_rows: bool = False
    ended: bool = False
    pending: tuple[TextLine, dict[str, str]] | None = None
    runs: tuple[str, ...] = ()
    label: str = ""

    @property
    def misnames(self) -> bool:
        """Return whether its version calls rates a latency above the second datatype."""
        return self.title.version.startswith(MISNAMING)

    @property
    def averaged(self) -> bool:
        """Return whether its times are averages, by the heading or because it has overlap."""
        return any(column.averaged or column.name == OVERALL for column in self.columns)

    def digits_of(self, name: str) -> int:
        """Return the digits behind the point that an untruncated number of a column has."""
        if name in self.digits:
            return self.digits[name]
        if self.own_factors is not None:
            return OWN_DECIMALS
        return OLD_RATE_DIGITS if name == RATE and self.title.version.startswith("2.") else LEAST_DIGITS

    def begin_again(self) -> None:
        """Expect a heading, and sizes from the smallest on."""
        self.columns, self.windows, self.largest, self.has_rows = [], (), -1, False


class Parser(LineParser):
    """Parser of the output of OSU's programs, with a launcher's lines between and after."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(collector)
        self._table: _Table | None = None
        self._above = Factors()
        self._titles: dict[str, Title | None] = {}
        self._line_between = ""
        self._datatype = ""
        self._title_unreadable = False

    # ---- Lines -----------------------------------------------------------------------------------

    def take(self, line: TextLine) -> None:
        """Read a line.

        Raises:
            LineError: A title, heading or row is not understood.
        """
        try:
            title = title_of(line)
        except LineError:
            self._drop_pending()
            self._table, self._title_unreadable = None, True
            raise
        if title is not None:
            self._title(line, title)
        elif line.text.startswith("#"):
            self._comment(line)
        elif match := INIT.match(line.text):
            self._init(match, line)
        elif SIGN_MISSING.match(line.text):
            self._comment(replace(line, text=f"# {line.text}"))
        elif line.words and not self._row(line):
            # Output on the next line may hide the rest of a row.
            self._drop_pending()
            self._heading_or_words(line)

    def end_table(self) -> None:
        """Leave the table: rows are read again below the next heading or title."""
        self._drop_pending()
        if self._table is not None:
            self._table.columns, self._table.windows, self._table.ended = [], (), True
            self._table.counts = None

    def finish(self) -> None:
        """Refuse a last row that may be truncated.

        Raises:
            LineError: There is one.
        """
        if self._table is not None and self._table.pending is not None:
            raise _truncated_row(self._table, *self._table.pending)

    def _drop_pending(self) -> None:
        """Drop a row that may be truncated, and report it: no other row has followed it."""
        if self._table is not None and self._table.pending is not None:
            self.collector.add_unread(_truncated_row(self._table, *self._table.pending))
            self._table.pending = None

    def _title(self, line: TextLine, title: Title) -> None:
        """Begin a table; osu_mbw_mr prints its title twice, the second time right below."""
        old = self._table
        if old is not None and not old.columns and old.title == title and line.number <= old.number + 2:
            return
        self._drop_pending()
        self.collector.begin_table("" if title.name == GREETING else title.text, line)
        self._title_unreadable = False
        # None: several titles of one name, such as of host and of device memory.
        known_title = self._titles.get(title.name, title)
        self._titles[title.name] = title if known_title == title else None
        if (program := program_in(self.collector.command)) in MISTITLED:
            title = title.renamed(program)
        self._table = self._new_table(line, title, self._above.above_title.restricted_to(title))

    def _new_table(self, line: TextLine, title: Title, factors: Factors) -> _Table:
        """Return the table that begins with a title or a heading."""
        above, self._line_between, self._datatype = self._line_between, "", ""
        return _Table(title, line.number, factors, above)

    def _comment(self, line: TextLine) -> None:
        """Read a comment: facts about a table, or its columns."""
        table = self._table
        if (above := self._above.with_line(line)) is not None:
            # Threads and processes are printed above the title, by some versions below it.
            self._above = above
            stated = table.factors.with_line(line) if table is not None else None
            if table is not None and stated is not None and stated.restricted_to(table.title) == stated:
                table.factors = stated
            return
        if table is not None and table.varied and _is_profile_line(line):
            self._drop_pending()
        if table is not None and _read_comment(line, table):
            return
        if match := DATATYPE.fullmatch(line.text.rstrip()):
            self._datatype = match[1]
            if table is not None and match[1] != table.datatype:
                self._drop_pending()
                _datatype(match[1], table)
        elif not line.text.startswith(OWN) and (columns := columns_of(line)):
            self._heading(line, columns)
        elif table is not None and table.varied and not table.windows and len(line.words) > 1:
            table.counts = None

    def _heading_or_words(self, line: TextLine) -> None:
        """Read a heading that has lost its sign, or keep a line that may name the table below."""
        first = line.words[0]
        if first.startswith((SIZE, "Latency", "Avg", RATE, "Overall")) and (columns := columns_of(line)):
            self._heading(line, columns)
        elif self._table is not None and self._table.has_rows and has_unit_of_column(line):
            raise line.refused("the columns are not understood", HINT)
        elif program_in(line.text):
            self._line_between = line.text

    def _heading(self, line: TextLine, columns: list[OsuColumn]) -> None:
        """Read the columns."""
        if self._title_unreadable:
            return
        runs = tuple[str, ...]()
        if len({column.name for column in columns}) < len(columns):
            block = _columns_of_a_run(columns)
            if not block:
                raise line.refused("two columns have one name", ONE_RUN)
            runs = _run_labels(self._line_above(line), (len(columns) - 1) // len(block))
            columns = [columns[0], *block]
        table = self._table
        goes_on = table is not None and table.misnames and title_by_words(self._line_between) is None
        if table is not None and goes_on and table.rates and has_column(columns, LATENCY):
            columns = table.rates
        if table is None or table.has_rows or table.ended or _begins_another_table(table, columns):
            table = self._begin_untitled(line, columns)
        if has_column(columns, RATE):
            table.rates = columns
        table.columns, table.ended, table.runs = columns, False, runs

    def _line_above(self, line: TextLine) -> str:
        """Return the line right above a heading; empty if it is blank, or the title."""
        above = [one.text for one in self.collector.above(line)[-1:] if title_of(one) is None]
        return "".join(above).removeprefix("#").strip()

    def _begin_untitled(self, line: TextLine, columns: list[OsuColumn]) -> _Table:
        """Begin a table that has no title; return it."""
        self._drop_pending()
        line_between, datatype = self._line_between, self._datatype
        self.collector.begin_table("", line)
        kind = next((kind for kind in KIND_COLUMNS if has_column(columns, kind)), "")
        title = next((one for one in self._possible_titles(line_between) if may_have_column(one, kind)), None)
        if title is None:
            title = make_title("OSU", "MPI Test").renamed(UNTITLED)
            if has_column(columns, RATE) and has_column(columns, MESSAGES):
                title = make_title("OSU", MANY_PAIRS)
        if self._above.buffers and not title.device:
            title = title.on_device(SOME_DEVICE)
        self._table = self._new_table(line, title, self._above)
        self._table.datatype = datatype
        return self._table

    def _possible_titles(self, line_between: str) -> list[Title]:
        """Return the titles that a table without one can have, the surest first."""
        found = [title_by_command(self.collector.command)]
        if any(self._above.threads):
            found.append(make_title("OSU", MANY_THREADS))
        if any(self._above.processes):
            found.append(make_title("OSU", MANY_PROCESSES))
        if (by_words := title_by_words(line_between)) is not None:
            seen = self._titles.get(by_words.name)
            found += [seen if seen and (seen.device or not by_words.device) else None, by_words]
        if not self._titles:
            found.append(title_by_words(self.collector.file_name))
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
        self.collector.add_time(meaning, cell, float(avg) * TIME_UNITS[unit], OVER_RANKS, line, printed=avg)

    # ---- Rows --------------------------------------------------------------------------------------

    def _row(self, line: TextLine) -> bool:
        """Read a row; return whether the line is one."""
        table = self._table
        if table is None:
            return False
        names = _names(table)
        noted = without_note(line.words, len(names))
        words = [number(word, whole=SIZE in names[at : at + 1]) for at, word in enumerate(noted)]
        if not names:
            if begins_row(words) and not (table.ended or self._title_unreadable):
                raise line.refused("numbers without a heading that says what they are", HINT)
            return begins_row(words)
        if table.runs:
            return self._row_of_runs(line, table, words)
        if not _is_row(words, names):
            if SIZE in names and INTERRUPTED.fullmatch(words[0]):
                raise line.refused(f"{words[0][:40]!r} is no size", "complete the row")
            return False
        if len(words) != len(names):
            raise line.refused(column_mismatch(words, len(names)), "complete the row")
        row = dict(zip(names, words, strict=True))
        _check_size(line, table, row)
        fewer = _has_fewer_digits(line, table, row)
        if table.pending is not None:
            (pending, its_row), table.pending = table.pending, None
            self._add_row(pending, table, its_row)
        if fewer:
            table.pending, table.has_rows, self._datatype = (line, row), True, ""
        else:
            self._add_row(line, table, row)
        return True

    def _row_of_runs(self, line: TextLine, table: _Table, words: Sequence[str]) -> bool:
        """Read a row with the numbers of several runs side by side; return whether the line is one."""
        if not begins_row(words):
            return False
        size, *names = _names(table)
        if len(words) != 1 + len(table.runs) * len(names):
            raise line.refused(column_mismatch(words, 1 + len(table.runs) * len(names)), "complete the row")
        _check_size(line, table, {size: words[0]})
        if table.pending is not None:
            (pending, its_row), table.pending = table.pending, None
            self._add_row(pending, table, its_row)
        for at, label in enumerate(table.runs):
            table.label = label
            its_words = words[1 + at * len(names) :][: len(names)]
            if all(word.strip("-\u2013\u2014").lower() in NOT_RUN for word in its_words):
                continue
            row = dict(zip([size, *names], [words[0], *its_words], strict=True))
            if _has_fewer_digits(line, table, row) and table.label == table.runs[-1]:
                table.pending, table.has_rows = (line, row), True
            else:
                self._add_row(line, table, row)
        return True

    def _add_row(self, line: TextLine, table: _Table, row: dict[str, str]) -> None:
        """Add the times or the failure of a row."""
        _note_digits(table, row)
        table.has_rows, self._above, self._line_between, self._datatype = True, Factors(), "", ""
        statistic = statistic_of(
            table.title, is_own_text=table.own_factors is not None, averaged=table.averaged
        )
        for row_time in self._times(line, table, row):
            if row.get(VALIDATION) in FAILED:
                self.collector.add_failure(
                    row_time.meaning, row_time.cell, "corrupt", "Validation: Fail", line
                )
            else:
                self.collector.add_time(
                    row_time.meaning,
                    row_time.cell,
                    row_time.time_s,
                    statistic,
                    line,
                    printed=row_time.printed,
                )

    def _times(self, line: TextLine, table: _Table, row: dict[str, str]) -> list[_Time]:
        """Return the time of a row; two if it has overlap; one per window if there are several."""
        if table.windows:
            return self._times_by_window(line, table, row)
        kind = next((kind for kind in KIND_COLUMNS if kind in row), "")
        if not kind or sum(name in row for name in (LATENCY, RATE, OVERALL)) > 1 or _lacks_pure(row):
            raise line.refused("its heading has no time or rate that is known", HINT)
        if table.title.name != UNTITLED and not may_have_column(table.title, kind):
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
        pure = meaning.without_computation(pure_mode(own_benchmark(table.title, factors), meaning.mode))
        return [first, self._time(table, pure, size, float(row[PURE]) * scales[PURE], row[PURE])]

    def _factors(self, table: _Table, row: dict[str, str]) -> str:
        """Return the mode words of a row."""
        stated = table.factors
        if not stated.buffers and (table.title.device or table.title.subject not in {"MPI", "OpenSHMEM"}):
            stated = stated.with_buffers(buffers_in(self.collector.command) or buffers_in(table.above))
        derived = DERIVED if TRANSMITTED in row else ""
        return " ".join(filter(None, (stated.words, derived, row.get(OPERATION, ""))))

    def _meaning(self, table: _Table, kind: str, factors: str) -> TableMeaning:
        benchmark = own_benchmark(table.title, factors)
        if benchmark is not None:
            is_own_text = table.own_factors is not None
            return own_meaning(
                benchmark, is_own_text=is_own_text, averaged=table.averaged, ranks=self.collector.ranks
            )
        of_pairs = table.title.name in OF_PAIRS
        pairs = self._pairs(table) if of_pairs or table.pairs else 0
        sized = has_column(table.columns, SIZE) or bool(table.windows)
        return foreign_meaning(table.title, kind, factors, pairs=pairs, sized=sized)

    def _pairs_in(self, table: _Table) -> int:
        """Return the pairs whose messages its rates count together."""
        return max(self._pairs(table) if table.title.name in OF_PAIRS else table.pairs, 1)

    def _pairs(self, table: _Table) -> int:
        """Return the pairs that were busy at once: half of all ranks if not stated; 0 if unknown."""
        return table.pairs or self.collector.ranks // 2

    def _time(
        self, table: _Table, meaning: TableMeaning, size: int, time_s: float, printed: str, window: int = 0
    ) -> _Time:
        own = known().get(meaning.pattern)
        fixed = own.active_ranks if own is not None else ranks_of(table.title)
        ranks = 2 * table.pairs or fixed or self.collector.ranks
        reduces = own is not None and own.reduces
        more: dict[str, str] = {}
        if table.datatype and (reduces or table.datatype != USUAL_TYPE):
            more = {"datatype": OURS.get(table.datatype, table.datatype), "op": SUM if reduces else ""}
        if own is not None and own.one_sided:
            more["rma_window"] = rma_window_of(table.factors.words)
        if table.label:
            more["label"] = table.label
        cell = cell_of(meaning, size, ranks, table.own_factors, window=window or table.window, **more)
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
        """Return the seconds of one message, from the message rate if there is one: it is more exact."""
        pairs = 1 if meaning.pattern in known() else self._pairs_in(table)
        if MESSAGES in row:
            if RATE in row:
                _check_rates(line, row[RATE], row[MESSAGES], size / bytes_per_s)
            count_per_s = float(row[MESSAGES])
            return pairs / count_per_s if count_per_s else 0.0
        rate_bytes_per_s = float(row[RATE]) * bytes_per_s
        return size * meaning.directions * pairs / rate_bytes_per_s if rate_bytes_per_s else 0.0

    def _times_by_window(self, line: TextLine, table: _Table, row: dict[str, str]) -> list[_Time]:
        """Return the time of one message per window; below the second heading, from message rates."""
        size, meaning = int(row[SIZE]), self._meaning(table, RATE, self._factors(table, row))
        pairs = 1 if meaning.pattern in known() else max(self._pairs(table), 1)
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


def _read_comment(line: TextLine, table: _Table) -> bool:
    """Read a comment about pairs, windows or our own factors; return whether it is one."""
    if match := PAIRS.match(line.text):
        table.pairs = int(match[1] or match[2])
        table.varied = VARIED.match(line.text) is not None
        if window := WINDOW.match(line.text):
            table.window = int(window[1])
        return True
    if table.varied and _is_profile_line(line):
        table.begin_again()
        table.counts, table.ended = VARIED_COUNTS.match(line.text) is not None, False
        table.digits = {}
        return True
    if table.varied and WINDOWS.fullmatch(line.text):
        if table.counts is None or table.has_rows:
            raise line.refused("no line above it says what its numbers are", HINT)
        table.windows = tuple(map(int, line.words[1:]))
        return True
    if (own_factors := factors_in_comment(line)) is not None:
        table.own_factors = own_factors
        return True
    return False


def _is_profile_line(line: TextLine) -> bool:
    """Return whether a line says what the numbers below it are, in a table of several windows."""
    return bool(VARIED_RATES.match(line.text) or VARIED_COUNTS.match(line.text))


def _datatype(name: str, table: _Table) -> None:
    """Keep another datatype: named below the heading or above it, and by each thread."""
    if table.datatype or table.has_rows:
        table.begin_again()
        table.ended = False
    table.datatype = name


def _columns_of_a_run(columns: Sequence[OsuColumn]) -> list[OsuColumn]:
    """Return the columns behind the sizes that each of several runs has; none if they do not repeat."""
    first, *others = columns
    if first.name != SIZE:
        return []
    width = next((at for at in range(1, len(others)) if others[at] == others[0]), len(others))
    block = others[:width]
    repeats = len(others) // width
    unlike = len({column.name for column in block}) == width and SIZE not in {one.name for one in block}
    return block if unlike and repeats > 1 and block * repeats == others else []


def _run_labels(above: str, count: int) -> tuple[str, ...]:
    """Return the labels of runs side by side: the words above their columns, if there are as many."""
    for words in (re.split(r"\s{2,}|\t|\s*\|\s*", above), above.split()):
        labels = tuple(map(label_of, words))
        if len(words) == count == len({*labels} - {""}):
            return labels
    return tuple(f"run-{number}" for number in range(1, count + 1))


def _begins_another_table(table: _Table, columns: Sequence[OsuColumn]) -> bool:
    """Return whether a heading cannot belong to the table above it."""
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
    """Return whether a line can only be a row, whole or damaged."""
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
    """Refuse a size that is not above the one before: it is of another table, or damaged."""
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
    """Return the digits behind the point by column, of numbers without exponent; -1 for no number."""
    found = {}
    for name, word in row.items():
        if (name in VALUES or name.isdigit()) and not has_exponent(word):
            match = NUMBER.fullmatch(word)
            found[name] = -1 if match is None else len(match[1] or "")
    return found


def _has_fewer_digits(line: TextLine, table: _Table, row: dict[str, str]) -> bool:
    """Return whether a number has fewer digits than those above it, or than OSU prints: it may be truncated.

    Raises:
        LineError: One is no number.
    """
    digits = _digits(row)
    for name, count in digits.items():
        if count < 0:
            raise line.refused(f"{name}: {row[name][:40]!r} is not a number", number_hint(row[name]))
    if table.pending is not None:
        # Another row follows it, so that its number of digits is not a truncation.
        _note_digits(table, table.pending[1])
    return any(count < table.digits_of(name) for name, count in digits.items())


def _note_digits(table: _Table, row: dict[str, str]) -> None:
    for name, count in _digits(row).items():
        table.digits[name] = max(count, table.digits.get(name, 0))


def _truncated_row(table: _Table, line: TextLine, row: dict[str, str]) -> LineError:
    """Return the error for a row that may be truncated."""
    name = next(name for name, count in _digits(row).items() if count < table.digits_of(name))
    return line.refused(
        f"{name}: {row[name]!r} may be torn: fewer digits than others, no row below",
        "complete the row",
    )


def _check_rates(line: TextLine, rate: str, count: str, size_per_unit_s: float) -> None:
    """Refuse byte and message rates that disagree; size_per_unit_s is the size in units of the rate."""
    low, high = rounding_range(count)
    if not agree(rounding_range(rate), (low * size_per_unit_s, high * size_per_unit_s)):
        raise line.refused("its rates in bytes and in messages contradict each other", HINT)
