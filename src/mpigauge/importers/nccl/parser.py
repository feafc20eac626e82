"""Output of nccl-tests and rccl-tests: tables on the screen, or the files of options -J and -Z.

Operations of NCCL on GPUs are none of MPI's: they keep the name of their program. A time is checked by the
rate beside it, which proves both units. Source: src/util.cu and src/common.cu of nccl-tests 2.0 to 2.19, the
same of rccl-tests, and the tests that came with NCCL 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from mpigauge.importers.collector import LineParser
from mpigauge.importers.nccl.csv_file import CsvFile
from mpigauge.importers.nccl.job import (
    UNCHECKED_IN_PLACE,
    UNEVEN_BLOCKS,
    NcclJob,
    Proof,
    blocks_of,
    collective,
)
from mpigauge.importers.nccl.json_file import FILE_BEGINNING, read_json
from mpigauge.importers.nccl.operation import MS, PLACES, US, Operation
from mpigauge.importers.text import (
    LineError,
    column_mismatch,
    is_number,
    is_whole,
    number,
    number_hint,
    without_note,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.importers.collector import Collector
    from mpigauge.importers.text import TextLine

HINT = "nccl-tests prints size (B), time (us) and algbw (GB/s)"
WITH_MPI = "build nccl-tests with MPI=1, so that its processes are ranks of one job"

_TITLE = re.compile(
    r"#? *(?:(nccl-tests version) (\S+)|(Collective test starting): *(\S+)"
    r"|(nThreads?):? ([0-9]{1,5}) nGpus:? ([0-9]{1,5})(?: nRanks:? ([0-9]{1,5}))?(.*))"
)
_ONE_SIZE = re.compile(r"minBytes:? ([0-9]+) maxBytes:? \1 ")
_RCCL = re.compile(r"#? *rccl-tests: Version(?: ([0-9A-Za-z]\S*)| |\Z)")
_DEVICE = re.compile(
    r"Rank +([0-9]{1,7}) +(?:(?:Group +([0-9]+) +)?Pid\b|on\b|uses device\b)|Device +([0-9]{1,7}) +->"
)
_LOGGED_RANKS = re.compile(r"\A(?>.*?NCCL INFO ).*\brank [0-9]+ nranks ([0-9]{1,7})\b")
_PLACES = re.compile(r"out-of-place|in-place")
_UNITS = re.compile(r"\([^\s()]{1,12}\) \(")
_BLOCKING = re.compile(r"#? *Blocking Enabled: (.*)")
_CYCLE = re.compile(r"#? *Testing [0-9]+ cycle")
_CONCLUDED = re.compile(r"#? *Collective test concluded: *(\S+)")
_IN_BOUNDS = re.compile(r"#? *Out of bounds values *: 0 OK")
_FOOTER = re.compile(r"#? *(?:Avg bus bandwidth|Out of bounds values) *:")

HEADINGS = {("size", "count", "type"): US, ("bytes", "N", "type"): MS}
"""Beginnings of headings, and seconds of their unit of time: NCCL 1's tests printed milliseconds and named no
units."""

FIRST, COUNTS_FIRST = 3, 2
"""Words before the optional columns, and how many of them are counts: size and elements."""

NAMES = ("redop", "op", "root")
"""Optional columns between type and time: older versions leave out those an operation lacks."""

TIME = ["time", "algbw", "busbw"]
CPU_TIME = "cputime"
COUNTS, DEVIATIONS = {"#wrong", "wrong"}, {"error", "res"}
"""Columns that count wrong elements, and those of older versions with the largest deviation instead."""

MAX_DEVIATIONS = {"half": 1e-2, "bfloat16": 1e-2, "float": 1e-5, "double": 1e-12}
"""Deviations that older versions allow per rank but one; 0 for whole numbers."""

TRAILING = {"algo": 1, "proto": 1, "nchannels": 1, "timestamp": 2}
"""Columns behind those of both places, and the words of each."""

UNITS = {
    **dict(zip(TIME, ("(us)", "(GB/s)", "(GB/s)"), strict=True)),
    **dict.fromkeys(("i_min", "i_max", "i_p99"), "(us)"),
    "i_cv%": "(%)",
}
PLACE_UNKNOWN = "place unknown"
NOT_AVAILABLE = "N/A"


@dataclass(frozen=True, slots=True)
class PlaceColumns:
    """Numbers of a row for one place, as printed."""

    place: str
    time: str
    algbw: str
    busbw: str
    wrong: str


@dataclass(frozen=True, slots=True)
class NcclRow:
    """Row of a table.

    Attributes:
        op: Operation of a reduction; empty if there is none.
        root: Root; empty if there is none.
        missing: Why the words behind the places are not read; empty if all are.
    """

    size: int
    count: int
    datatype: str
    op: str
    root: str
    places_printed: tuple[PlaceColumns, ...]
    missing: str = ""


@dataclass(frozen=True, slots=True)
class NcclColumns:
    """Columns of a table.

    Attributes:
        second_s: Seconds per unit of its times.
        names: Columns between type and time.
        place_columns: Columns of one place.
        places: Names of the places.
        trailing: Words behind them.
        cut: Whether the heading is shorter than its rows.
    """

    second_s: float
    names: tuple[str, ...]
    place_columns: tuple[str, ...]
    places: tuple[str, ...]
    trailing: int = 0
    cut: bool = False

    @property
    def deviates(self) -> bool:
        """Return whether its last column is the largest deviation."""
        return not DEVIATIONS.isdisjoint(self.place_columns)

    @property
    def checks(self) -> bool:
        """Return whether a column says if data were wrong."""
        return len(self.place_columns) > len(TIME) and self.place_columns[len(TIME)] in COUNTS | DEVIATIONS

    @property
    def units(self) -> list[str]:
        """Units in the line below the heading."""
        return [
            "(B)",
            "(elements)",
            *(UNITS[name] for name in self.place_columns * len(self.places) if name in UNITS),
        ]

    def row(self, line: TextLine) -> NcclRow:
        """Return the row in a line.

        Raises:
            LineError: The line is none of this table.
        """
        first, total = FIRST + len(self.names), self._width
        words = without_note(_numbers(line), total)
        op, root = "", ""
        for at, name in enumerate(self.names, start=FIRST):
            if name == "root":
                root = "".join(words[first - 1 : first])
            elif at >= len(words) or words[at][0].isalpha():
                op = "".join(words[at : at + 1])
            else:  # blank for operations that do not reduce
                first, total = first - 1, total - 1
                words = without_note(words, total)
        places, cut = self.places, self.cut
        if len(words) > total and places in {PLACES[:1], (PLACE_UNKNOWN,)} and not self.trailing:
            # The heading was cut off after the first place.
            places, cut, total = PLACES, True, total + len(self.place_columns)
        refusal = column_mismatch(words, total)
        if len(words) > total:
            raise line.refused(refusal, "complete the row")
        places_printed = list[PlaceColumns]()
        for at, place in enumerate(places):
            begin = first + at * len(self.place_columns)
            if len(words) >= begin + len(self.place_columns):
                checked = words[begin + len(TIME)] if self.checks else NOT_AVAILABLE
                time, algbw, busbw = words[begin : begin + len(TIME)]
                places_printed.append(PlaceColumns(place, time, algbw, busbw, checked))
        whole = {total, first + len(self.place_columns)}
        missing = "" if len(words) in whole or (places_printed and cut) else refusal
        if missing and not places_printed:
            raise line.refused(missing, "complete the row")
        return NcclRow(
            int(words[0]),
            int(words[1]) if is_whole(words[1]) else 0,
            words[2],
            "" if op == "none" else op,
            root,
            tuple(places_printed),
            missing,
        )

    @property
    def _width(self) -> int:
        return FIRST + len(self.names) + len(self.place_columns) * len(self.places) + self.trailing


def _words(line: TextLine) -> list[str]:
    """Return the words of a line without the sign of a comment."""
    words = line.words
    return words[1:] if words[:1] == ["#"] else words


def _numbers(line: TextLine) -> list[str]:
    """Return the words of a row without thousands commas."""
    return [number(word, whole=at < COUNTS_FIRST) for at, word in enumerate(_words(line))]


def _begins_row(line: TextLine) -> bool:
    """Return whether a line can only be a row, whole or damaged: two counts, the second perhaps as 1e+06."""
    words = _numbers(line)
    if len(words) < COUNTS_FIRST or not is_whole(words[0]):
        return False
    return is_whole(words[1]) or (
        is_number(words[1]) and words[FIRST - 1 : FIRST] != [] and words[2][0].isalpha()
    )


# ---- Headings ----------------------------------------------------------------------------------------


def _is_heading(words: Sequence[str]) -> bool:
    return tuple(words[:FIRST]) in HEADINGS


def columns_of(line: TextLine, places: Sequence[str]) -> NcclColumns:
    """Return the columns of a heading.

    Args:
        places: Places that the line above the heading names.

    Raises:
        LineError: They are not understood.
    """
    words = _words(line)
    names = tuple(takewhile(NAMES.__contains__, words[FIRST:]))
    rest = words[FIRST + len(names) :]
    if rest[:1] == [CPU_TIME]:
        raise line.refused(
            "its times are those of starting an operation (option -C), not of doing it", "run it without -C 1"
        )
    trailing = list(takewhile(TRAILING.__contains__, reversed(rest)))
    rest = rest[: len(rest) - len(trailing)]
    starts = [at for at, word in enumerate(rest) if word == TIME[0]]
    if len(starts) == 1 and rest[-1] != TIME[0] and TIME[0].startswith(rest[-1]):
        starts.append(len(rest) - 1)  # the heading was cut off within the word
    place_columns = tuple(rest[: starts[1]] if len(starts) > 1 else rest)
    if place_columns[: len(TIME)] != tuple(TIME) or len(starts) > len(PLACES):
        raise line.refused("the columns are not understood", HINT)
    second = tuple(rest[len(place_columns) :])
    cut = bool(second) and second != place_columns
    if cut and not _begins(second, place_columns):
        raise line.refused("the columns are not understood", HINT)
    found = PLACES if second else tuple(places) if len(places) == 1 else (PLACE_UNKNOWN,)
    if not second and len(places) > 1:
        found, cut = PLACES, True
    return NcclColumns(
        HEADINGS[words[0], words[1], words[2]],
        names,
        place_columns,
        found,
        sum(TRAILING[word] for word in trailing),
        cut,
    )


def _begins(cut: Sequence[str], whole: Sequence[str]) -> bool:
    """Return whether words are the first of others, the last of them perhaps truncated."""
    return (
        len(cut) <= len(whole)
        and tuple(cut[:-1]) == tuple(whole[: len(cut) - 1])
        and whole[len(cut) - 1].startswith(cut[-1])
    )


# ---- Tables -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Table:
    """State of the table being read.

    Attributes:
        step: Last line of its title that was read, from 1; 0 if none was.
        mode_words: Words of the mode for unusual options.
        one_size: Whether only one size was requested.
        ranks: Number of ranks; 0 if unknown.
        last: Size of the last row, by datatype, operation and root.
    """

    step: int = 0
    program: str = ""
    version: str = "nccl-tests"
    job: NcclJob = field(default_factory=NcclJob)
    mode_words: list[str] = field(default_factory=list)
    one_size: bool = False
    columns: NcclColumns | None = None
    proof: Proof = field(default_factory=Proof)
    name: str = ""
    ranks: int = 0
    last: dict[tuple[str, str, str], int] = field(default_factory=dict)


class Parser(LineParser):
    """Parser of tables of nccl-tests, or of its files."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(collector)
        self._table = _Table()
        self._csv_file = CsvFile(collector)
        self._places: tuple[str, ...] = ()
        self._begun = self._ended = self._ran_alone = self._mixed = self._json = False
        self._command = ""

    def take(self, line: TextLine) -> None:
        """Read a line.

        Raises:
            LineError: It can be no row or heading of its table; or it shows that processes ran alone.
        """
        if self._json:
            return
        text = line.text
        if FILE_BEGINNING.match(text) or (line.number == 1 and text.startswith("{")):
            self._json = True
            read_json(line, self.collector)
        elif self._csv_file.take(line):
            return
        elif (match := _TITLE.match(text)) is not None:
            self._title(line, match)
        elif _DEVICE.match(text.removeprefix("#").lstrip(" ")) is not None:
            # A copy may have joined lines of several ranks.
            for match in _DEVICE.finditer(text):
                self._device(line, match)
        elif not self._remark(line):
            self._numbers(line)

    def end_table(self) -> None:
        """Leave the table: rows are read again below the next heading."""
        self._table.columns, self._ended = None, True
        self._csv_file.columns = []

    # ---- Above the heading -----------------------------------------------------------------------

    def _title(self, line: TextLine, match: re.Match[str]) -> None:
        version, starting = match[1], match[3]
        step = 1 if version else 2 if starting else 3
        table = self._table
        if table.columns or self._ended or step <= table.step:
            self._mixed |= bool(table.job.listed) and not (table.columns or self._ended)
            self._table = table = _Table()
        if not table.step:
            self._begin(line)
        table.step = step
        if version:
            table.version = f"nccl-tests {match[2]}"
        elif starting:
            table.program = match[4]
        else:
            table.job.ranks_per_process = int(match[6]) * int(match[7]) * int(match[8] or 1)
            table.mode_words += _mode_words(match[9])
            table.one_size = _ONE_SIZE.search(match[9]) is not None

    def _begin(self, line: TextLine) -> None:
        self.collector.begin_table("", line)
        self._begun = True
        if self._ended:
            self._ended = self._ran_alone = self._mixed = False

    def _device(self, line: TextLine, match: re.Match[str]) -> None:
        if self._table.last:
            self._table = _Table()
            self._begin(line)
        job, rank = self._table.job, int(match[1] or match[3])
        if rank in job.listed and not self._ran_alone:
            self._ran_alone = True
            raise line.refused(f"rank {rank} a second time: each process ran alone", WITH_MPI)
        job.listed[rank] = match[2] or ""

    def _remark(self, line: TextLine) -> bool:
        """Read a line of a table without numbers; return whether it is one."""
        text, table = line.text, self._table
        if (match := _RCCL.match(text)) is not None:
            table.version = f"rccl-tests {match[1]}" if match[1] else "rccl-tests"
        elif (match := _LOGGED_RANKS.search(text)) is not None:
            table.job.logged_ranks = int(match[1])
        elif (match := _BLOCKING.match(text)) is not None:
            words = "blocking, no barrier" if "no barrier" in match[1] else "blocking"
            table.mode_words += [words] if words not in table.mode_words else []
        elif _CYCLE.match(text) is not None:
            if table.last:
                self._begin_cycle(line)
        elif _FOOTER.match(text) is not None or _CONCLUDED.match(text) is not None:
            self._end_table_normally()
        elif "".join(_words(line)[:1]) in PLACES:
            self._places = tuple(dict.fromkeys(_PLACES.findall(text)))
        else:
            return False
        return True

    def _end_table_normally(self) -> None:
        """End a table at its footer: numbers below need a heading."""
        if self._table.columns or self._ended:
            self._table, self._begun = _Table(), False
            self._ran_alone = False

    def _begin_cycle(self, line: TextLine) -> None:
        """Begin the same table once more, as option -N does."""
        self.collector.begin_table("", line)
        self._table.last.clear()

    # ---- Heading and rows ------------------------------------------------------------------------

    def _numbers(self, line: TextLine) -> None:
        words = _words(line)
        if _is_heading(words):
            self._heading(line)
        elif _UNITS.match(" ".join(words)) and self._table.columns and not self._table.last:
            self._check_units(line, self._table.columns)
        elif _begins_row(line):
            self._row(line)

    def _heading(self, line: TextLine) -> None:
        places, self._places = self._places, ()
        if self._ran_alone:
            return
        if self._table.columns or not self._begun:
            if self._mixed and self._table.columns and not self._table.last:
                self._ran_alone = True
                raise line.refused("a second heading above one table: each process ran alone", WITH_MPI)
            if self._table.columns:
                self._table = _Table()
            self._begin(line)
        self._ended = False
        table, collector = self._table, self.collector
        table.columns = columns_of(line, places)
        table.proof = self._proof(line, table.columns)
        table.name = collective(table.program, collector.command, collector.file_name, table.proof)
        self._command = collector.command or self._command
        if table.job.ran_alone(table.proof, self._command):
            self._ran_alone = True
            raise line.refused(
                "its numbers are of one process, of several that were started: each ran alone", WITH_MPI
            )
        table.ranks = table.job.ranks(table.name, table.proof, collector.command, collector.ranks)
        if table.job.group_count > 1:
            table.mode_words.append(f"{table.job.group_count} groups")
        collector.titles[table.version] = None

    def _check_units(self, line: TextLine, columns: NcclColumns) -> None:
        found = [word for word in _words(line) if word.startswith("(")]
        expected = columns.units
        if not _begins(found, expected):
            raise line.refused("the units are not understood", HINT)

    def _proof(self, heading: TextLine, columns: NcclColumns) -> Proof:
        """Return the evidence of the rows and remarks below a heading."""
        proof = Proof()
        for line in self.collector.below(heading):
            words = _words(line)
            if _TITLE.match(line.text) or _is_heading(words):
                break
            if (match := _CONCLUDED.match(line.text)) is not None:
                proof.concluded = match[1]
                break
            if (match := _LOGGED_RANKS.search(line.text)) is not None:
                proof.logged_ranks = int(match[1])
            proof.in_bounds |= _IN_BOUNDS.match(line.text) is not None
            if _begins_row(line):
                _prove(proof, line, columns)
        return proof

    def _row(self, line: TextLine) -> None:
        columns = self._table.columns
        if columns is None:
            words = _words(line)
            if (
                not (self._ended or self._ran_alone)
                and len(words) > FIRST + len(TIME)
                and words[2][0].isalpha()
            ):
                raise line.refused("numbers without a heading that says what they are", HINT)
            return
        if line.text.startswith("#") and not _is_row(line, columns):
            return
        row = columns.row(line)
        if not row.size:
            return  # less than one block per rank: nothing was done
        self._check(line, row)
        if not self._is_new(line, row):
            return
        for place_columns in row.places_printed:
            if place_columns.time != NOT_AVAILABLE:
                self._take(line, row, place_columns, columns)
        if row.missing:
            raise line.refused(row.missing, "complete the row")

    def _is_new(self, line: TextLine, row: NcclRow) -> bool:
        """Return whether a row adds a measurement; sizes that start again are the next cycle of option -N.

        Raises:
            LineError: It is of another process.
        """
        table, key = self._table, (row.datatype, row.op, row.root)
        last = table.last.get(key, 0)
        if row.size <= last:
            if table.ranks == 1:
                raise line.refused(f"the size {row.size} after {last}: each process ran alone", WITH_MPI)
            if row.size == last and not table.one_size:
                return False  # size steps of less than one block per rank
            self._begin_cycle(line)
        table.last[key] = row.size
        return True

    def _check(self, line: TextLine, row: NcclRow) -> None:
        """Refuse a row with an impossible datatype, operation, root or size.

        Raises:
            LineError: A word is impossible; names it.
        """
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", row.datatype, re.ASCII):
            raise line.refused(f"{row.datatype!r} is no datatype", "complete the row")
        if not re.fullmatch(r"(?:[A-Za-z][A-Za-z0-9_]{0,63})?", row.op, re.ASCII):
            raise line.refused(f"{row.op!r} is no operation", "complete the row")
        if not re.fullmatch(r"(?:-1|[0-9]{1,7})?", row.root, re.ASCII):
            raise line.refused(f"{row.root!r} is no root", "complete the row")
        if self._table.name != UNEVEN_BLOCKS and row.count and row.size % row.count:
            raise line.refused("its size is not that of its count of elements", "correct the row")

    def _take(self, line: TextLine, row: NcclRow, printed: PlaceColumns, columns: NcclColumns) -> None:
        """Add one time, or what was wrong with its data."""
        table = self._table
        for word in (printed.time, printed.algbw):
            if not is_number(word):
                raise line.refused(
                    f"{printed.place}: {word!r} is not a {'time' if word is printed.time else 'rate'}",
                    number_hint(word, HINT),
                )
        operation = Operation(
            name=table.name,
            place=printed.place,
            mode_words=table.mode_words,
            size=row.size,
            ranks=table.ranks,
            datatype=row.datatype,
            op=row.op,
            root=row.root,
            blocks=table.proof.blocks if printed.algbw == printed.busbw else 0,
        )
        wrong = self._wrong(line, row, printed, columns)
        operation.take(
            self.collector,
            line,
            printed.time,
            printed.algbw,
            wrong=wrong,
            second_s=columns.second_s,
        )

    def _wrong(self, line: TextLine, row: NcclRow, printed: PlaceColumns, columns: NcclColumns) -> str:
        """Return what was wrong with the data, in words; empty if nothing was, or it was not checked."""
        word, table = printed.wrong.rstrip("*"), self._table
        if word == NOT_AVAILABLE:
            return ""
        if not columns.deviates:
            if not is_number(word):
                raise line.refused(f"{printed.place}: {word!r} is not a number of wrong elements", HINT)
            return f"{word} wrong elements" if float(word) else ""
        if table.proof.in_bounds or (printed.place == PLACES[1] and table.name in UNCHECKED_IN_PLACE):
            return ""
        most = MAX_DEVIATIONS.get(row.datatype, 0.0) * max(1, table.ranks - 1)
        return "" if is_number(word) and float(word) <= most else f"a deviation of {word}"


def _mode_words(preamble: str) -> list[str]:
    """Return the mode words for unusual options."""
    found = {
        name: int(count) for name, count in re.findall(r"(agg iters|graph|unalign): ([0-9]{1,9})", preamble)
    }
    mode_words = [f"{found['agg iters']} aggregated"] if found.get("agg iters", 1) > 1 else []
    return mode_words + [
        name for name, key in (("graph", "graph"), ("unaligned", "unalign")) if found.get(key)
    ]


def _is_row(line: TextLine, columns: NcclColumns) -> bool:
    """Return whether a comment is a commented-out row."""
    try:
        row = columns.row(line)
    except LineError:
        return False
    return not row.missing and all(is_number(place_columns.time) for place_columns in row.places_printed)


def _prove(proof: Proof, line: TextLine, columns: NcclColumns) -> None:
    """Add a row to the evidence, if it is complete."""
    try:
        row = columns.row(line)
    except LineError:
        return
    proof.count_blocks(blocks_of(row.size, row.count, row.datatype))
    proof.ops |= {row.op} - {""}
    proof.moves |= row.op == ""
    proof.rooted |= row.root.isdigit()
    for printed in row.places_printed:
        if columns.checks and row.size:
            unchecked = proof.unchecked.get(printed.place, True)
            proof.unchecked[printed.place] = unchecked and printed.wrong == NOT_AVAILABLE
        if row.size and all(map(is_number, (printed.time, printed.algbw, printed.busbw))):
            proof.add(row.size, printed.time, printed.algbw, printed.busbw, columns.second_s)
