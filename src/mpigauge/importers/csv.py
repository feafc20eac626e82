"""Published times or rates in columns, and the TOML file that says which column is what."""

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from mpigauge.errors import UsageError
from mpigauge.importers.text import content_of, decoded, number_hint, relative_step
from mpigauge.plan.model import Cell, Measure, Plan, check_words
from mpigauge.plan.patterns import Mode, Pattern, completed
from mpigauge.plan.plan_file import read_toml
from mpigauge.plan.shipped import PRINTED, check_there
from mpigauge.result.constraints import MAX_NUMBER
from mpigauge.result.provenance import LibraryRecord
from mpigauge.result.records import (
    Campaign,
    End,
    Imported,
    Record,
    campaign_of,
)
from mpigauge.units import RATE_UNITS, SIZE_UNITS, TIME_UNITS, parse_size
from mpigauge.vocabulary import AUTO, IMPORTED, SAME_HOST, UNKNOWN

HINT = "mpigauge list printed --format json names files of columns that work"
BITS = {"bit": 1 / 8, **SIZE_UNITS}
"""Bytes in each unit of size that people print."""

COMMENT, NUL = "#", "\0"
DELIMITERS = (",", ";", "\t", " ")
BLANK = DELIMITERS[-1]
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+|[+-]?[0-9]{1,3}(?:,[0-9]{3}){2,}", re.ASCII)
_HAS_SIZE_UNIT = re.compile(r"[0-9]+(?:\.[0-9]+)?\s*[A-Za-z]+", re.ASCII)


class CsvColumn(Struct, frozen=True, forbid_unknown_fields=True):
    """A column of the table, by its heading.

    Attributes:
        column: Its heading.
        unit: Unit of its numbers; empty means bytes, seconds or bytes per second.
        factor: Factor by which its numbers become what mpigauge counts.
        values: Meanings of its words; empty means themselves.
    """

    column: str
    unit: str = ""
    factor: Annotated[float, Meta(gt=0)] = 1.0
    values: dict[str, str | int] = {}


class ColumnMap(Struct, frozen=True, forbid_unknown_fields=True):
    """A file that says which column is what; a plain word or number holds for all lines.

    Attributes:
        title: Description of the table.
        pattern: Pattern of its times, by mpigauge's name.
        time_of: What one time spans, in words.
        time: Time of one operation. Either this or a rate.
        rate: Bytes moved by one operation in all directions over its time.
        statistic: Statistic of a time over its samples: mean, best of three.
        ranks: Number of ranks; 0 if unknown.
        directions: Messages in flight at once between a pair; 2 doubles the rate.
        only: Words by heading: rows with other words are left out.
    """

    title: str
    bytes: CsvColumn | int
    pattern: str = "pingpong"
    time_of: str = ""
    time: CsvColumn | None = None
    rate: CsvColumn | None = None
    stddev: CsvColumn | None = None
    statistic: str = ""
    mode: CsvColumn | str = "standard"
    ranks: CsvColumn | Annotated[int, Meta(ge=0)] = 2
    mpi: CsvColumn | str = UNKNOWN
    mpi_version: CsvColumn | str = ""
    transport: CsvColumn | str = AUTO
    placement: CsvColumn | str = SAME_HOST
    directions: Annotated[int, Meta(ge=1, le=2)] = 1
    only: dict[str, tuple[str, ...]] = {}


@dataclass(frozen=True, slots=True)
class _Line:
    """Row of a table."""

    where: str
    words: Mapping[str, str]

    def text(self, column: CsvColumn | str) -> str:
        """Return the text of a column, or the value given for all rows."""
        if isinstance(column, str):
            return column
        word = self._word(column)
        if not column.values:
            return word
        if word not in column.values:
            known = ", ".join(map(repr, column.values))
            raise UsageError(
                f"{self.where}: {column.column}: {word!r} is not explained", f"it may be {known}"
            )
        return str(column.values[word])

    def number(self, column: CsvColumn, scales: Mapping[str, float]) -> float:
        """Return a number in SI base units."""
        if column.unit and column.unit not in scales:
            raise UsageError(
                f"{column.column}: no unit is called {column.unit!r}", f"choose from {', '.join(scales)}"
            )
        value = _number(self.text(column)) * scales.get(column.unit, 1.0) * column.factor
        if not math.isfinite(value):
            word = self._word(column)
            raise UsageError(
                f"{self.where}: {column.column}: {word!r} is not a number", _number_hint(word, column)
            )
        return value

    def whole(self, column: CsvColumn | int, scales: Mapping[str, float]) -> int:
        """Return a whole number that is not negative."""
        if isinstance(column, int):
            return column
        if (size_bytes := self._size(column)) is not None:
            return size_bytes
        value = self.number(column, scales)
        if value < 0 or value != round(value):
            raise UsageError(
                f"{self.where}: {column.column}: {self._word(column)!r} is not a whole number", HINT
            )
        return round(value)

    def _size(self, column: CsvColumn) -> int | None:
        """Return the bytes of a word that has its own unit, such as 64KiB; None if it has none."""
        word = self.text(column)
        if column.unit or column.factor != 1 or not _HAS_SIZE_UNIT.fullmatch(word):
            return None
        try:
            return parse_size(word)
        except UsageError as error:
            raise UsageError(f"{self.where}: {column.column}: {error.sentence}", error.hint) from None

    def _word(self, column: CsvColumn) -> str:
        return self.words[column.column].strip()


@dataclass(slots=True)
class _Table:
    """Rows read so far.

    Attributes:
        lines: Line of each cell, to refuse one that comes twice.
    """

    columns: ColumnMap
    imported: list[Imported] = field(default_factory=list)
    lines: dict[Cell, str] = field(default_factory=dict)

    def take(self, line: _Line) -> None:
        """Add a row."""
        cell = _cell(self.columns, line)
        if cell in self.lines:
            raise UsageError(
                f"{line.where}: measures the same cell as {self.lines[cell]}",
                "name a column that tells them apart, or choose lines with [only]",
            )
        self.lines[cell] = line.where
        self.imported.append(_imported(self.columns, line, cell))


def read(paths: Sequence[Path], columns: Path) -> list[Record]:
    """Return a result of published tables.

    Raises:
        UsageError: A file cannot be read or is not what it should be; names the line or the key.
    """
    table = _Table(read_columns(columns))
    for path in paths:
        for line in _lines(path, table.columns):
            if all(line.text(CsvColumn(name)) in words for name, words in table.columns.only.items()):
                table.take(line)
    if not table.imported:
        raise UsageError(f"{paths[0]}: no line was chosen", f"see [only] in {columns}")
    return [_campaign(table), *table.imported, End(IMPORTED, 0.0, "")]


def read_columns(path: Path) -> ColumnMap:
    """Return the meaning of columns, as a file has it.

    Raises:
        UsageError: It cannot be read, or something in it is not understood.
    """
    check_there(path, PRINTED)
    try:
        values = read_toml(path, "the file of columns", ", or a name: mpigauge list printed")
        columns = msgspec.convert(values, ColumnMap)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}", HINT) from None
    if (columns.time is None) == (columns.rate is None):
        raise UsageError(f"{path}: must name exactly one of time and rate", HINT)
    return columns


def _number(word: str) -> float:
    """Return a number, with thousands separators where they can be nothing else; NaN if it is none."""
    try:
        return float(_without_separators(word))
    except ValueError:
        return math.nan


def _without_separators(word: str) -> str:
    return word.replace(",", "") if _THOUSANDS.fullmatch(word) else word


def _number_hint(word: str, column: CsvColumn) -> str:
    """Return what to do about a word that is no number."""
    if not word:
        return "delete the line, or choose lines with [only]"
    otherwise = "correct the line, delete it, or choose lines with [only]; "
    return number_hint(word, f"{otherwise}{column.column} is a column of numbers")


# ---- Lines of a table ----------------------------------------------------------------------------


def _lines(path: Path, columns: ColumnMap) -> Iterator[_Line]:
    """Yield the rows below the heading, the first line that has all columns that are named.

    Raises:
        UsageError: The file cannot be read, has no such line, or a row is longer than the heading.
    """
    text = _text(path)
    names, delimiter, at = _heading(path, text, columns)
    rows = [*[""] * at, *map(_without_comment, text[at:])]
    table = csv.reader(rows, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for words in table:
            where = f"{path}: line {table.line_num}"
            if not any(word.strip() for word in words):
                continue
            if len(words) > len(names):
                raise UsageError(
                    f"{where} has more fields than there are headings: {len(words)}, not {len(names)}",
                    "put quotes around a field that has a separator in it",
                )
            yield _Line(where, dict(zip(names, [*words, *[""] * len(names)], strict=False)))
    except csv.Error as error:
        raise UsageError(
            f"{path}: line {table.line_num} is not separated values: {error}", "correct the line"
        ) from None


def _text(path: Path) -> list[str]:
    """Return the lines of a file, each with its end.

    Raises:
        UsageError: It cannot be read, or is no text.
    """
    text = decoded(content_of(path))
    if NUL in text:
        raise UsageError(f"{path}: is no text", HINT)
    return list(io.StringIO(text, newline=None))


def _without_comment(line: str) -> str:
    """Return a line, empty if it is a comment, with nothing behind its last field."""
    text = "" if line.lstrip().startswith(COMMENT) else line.rstrip(" \n")
    return f"{text}\n"


def _heading(path: Path, text: Sequence[str], columns: ColumnMap) -> tuple[list[str], str, int]:
    """Return the names of a heading, what stands between them, and how many lines are above the first row.

    Raises:
        UsageError: No line has all columns that are named; names the line that has the most of them.
    """
    wanted = _named(columns)
    nearest: tuple[int, int, int, list[str]] = (-1, 0, 0, [])
    for number, line in enumerate(text, start=1):
        for delimiter in DELIMITERS:
            names = _fields(line, delimiter)
            named = len(wanted.keys() & set(names))
            if named == len(wanted):
                _check_once(path, number, names, wanted)
                return names, delimiter, number
            if line.strip() and delimiter != BLANK and (named, len(names)) > nearest[:2]:
                nearest = (named, len(names), number, names)
    *_, number, names = nearest
    if not names:
        raise UsageError(f"{path}: has no line", "it must have a heading and rows below it")
    missing = next(name for name in wanted if name not in names)
    raise UsageError(
        f"{path}: line {number}: there is no column {missing!r}", f"there are {', '.join(names)}"
    )


def _fields(line: str, delimiter: str) -> list[str]:
    """Return the fields of a line that may be a heading, which some begin with a sign of a comment."""
    text = line.strip().removeprefix(COMMENT).strip()
    try:
        words = next(csv.reader([text], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []
    return [word.strip() for word in words]


def _check_once(path: Path, number: int, names: Sequence[str], wanted: Mapping[str, None]) -> None:
    for name in wanted:
        if names.count(name) > 1:
            raise UsageError(
                f"{path}: line {number}: two columns are called {name!r}",
                "give each column a name of its own",
            )


def _named(columns: ColumnMap) -> dict[str, None]:
    """Return the headings that a file of columns names, in its order."""
    values = msgspec.structs.asdict(columns).values()
    return dict.fromkeys([value.column for value in values if isinstance(value, CsvColumn)] + [*columns.only])


def _cell(columns: ColumnMap, line: _Line) -> Cell:
    found = {
        "pattern": columns.pattern,
        "mode": line.text(columns.mode),
        "bytes": line.whole(columns.bytes, BITS),
        "ranks": line.whole(columns.ranks, {}),
        "mpi": line.text(columns.mpi),
        "mpi_version": line.text(columns.mpi_version),
        "transport": line.text(columns.transport),
        "placement": line.text(columns.placement),
    }
    try:
        cell = msgspec.convert(found, Cell)
        check_words(cell)
    except msgspec.ValidationError as error:
        raise UsageError(f"{line.where}: no result can have this: {error}", HINT) from None
    return cell


def _imported(columns: ColumnMap, line: _Line, cell: Cell) -> Imported:
    if columns.time is not None:
        printed, time_s = line.text(columns.time), line.number(columns.time, TIME_UNITS)
    else:
        assert columns.rate is not None  # noqa: S101 - one of them is there
        printed, rate = line.text(columns.rate), line.number(columns.rate, RATE_UNITS)
        time_s = columns.directions * cell.bytes / rate if rate > 0 else 0.0
    if not 0 < time_s <= MAX_NUMBER:
        raise UsageError(f"{line.where}: the time must be above 0, and finite", HINT)
    stddev_s = None if columns.stddev is None else line.number(columns.stddev, TIME_UNITS)
    if stddev_s is not None and not 0 <= stddev_s <= MAX_NUMBER:
        raise UsageError(f"{line.where}: the standard deviation must not be negative, and finite", HINT)
    step = relative_step(_without_separators(printed))
    return Imported(cell, time_s, stddev_s, columns.statistic, line.where, step=step)


# ---- What a result begins with -------------------------------------------------------------------


def _campaign(table: _Table) -> Campaign:
    columns, cells = table.columns, tuple(table.lines)
    libraries = dict.fromkeys((cell.mpi, cell.mpi_version) for cell in cells)
    return campaign_of(
        Plan((Measure(columns.pattern),), title=columns.title),
        (LibraryRecord(*names, origin=IMPORTED) for names in libraries),
        (completed(_pattern(columns, cells)),),
        cells,
    )


def _pattern(columns: ColumnMap, cells: Sequence[Cell]) -> Pattern:
    modes = dict.fromkeys(cell.mode for cell in cells)
    return Pattern(
        name=columns.pattern,
        about=columns.title,
        time_of=columns.time_of,
        sampling=IMPORTED,
        min_ranks=1,
        active_ranks=0,
        windowed=False,
        moves_bytes=True,
        modes=tuple(Mode(name, "", columns.directions, False, False, False) for name in modes),
    )
