"""Files of other programs, split by format and passed line by line to the parser of each."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.importers import READERS
from mpigauge.importers.collector import Collector, LineParser
from mpigauge.importers.text import (
    LineError,
    begins_row,
    content_of,
    lines_of,
    may_be_row,
    may_be_row_of_fields,
)
from mpigauge.importers.unknown_format import guess_program, in_json
from mpigauge.result.files import as_argument

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.importers.text import TextLine
    from mpigauge.result.records import Record


CSV = "mpigauge import csv reads any table with a heading, from a file that says"
WRITTEN_BY_PEOPLE = "table"
"""Format of tables that no program prints."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines of one format."""

    format_name: str
    lines: Sequence[TextLine]


def read_text(
    paths: Sequence[Path], format_name: str | None = None, *, ranks: int = 0, same: bool = False
) -> list[Record]:
    """Return the records of files that other programs have printed, the campaign first.

    Args:
        format_name: Format to read, by its name in READERS; None reads each piece of a file as what it is.
        ranks: Number of ranks that took part, where the text does not say it.
        same: Whether tables of the same cells are launches of one run.

    Raises:
        UsageError: A file cannot be read, or gives no number; names the file, and the line that is why.
    """
    collector = Collector(ranks, same=same)
    for path in paths:
        lines = lines_of(str(path), content_of(path), _any_mark())
        _read(path, lines, _pieces(lines), format_name, collector)
    return collector.records()


def recognised(content: bytes) -> tuple[str, ...]:
    """Return the formats of the pieces of a text, in their order; none if nothing tells."""
    return tuple(piece.format_name for piece in _pieces(lines_of("", content, _any_mark())))


def left_out(path: Path, format_name: str) -> list[str]:
    """Return the other formats in a file, which reading it as one format has left out."""
    return [one for one in dict.fromkeys(recognised(content_of(path))) if one != format_name]


def read_any(*paths: Path) -> list[Record] | None:
    """Return the records of files of any format, recognised by what is in them; None if none is.

    Files in which nothing is recognised are left out beside others.

    Raises:
        UsageError: A file cannot be read, or gives no number; names the line that is why.
    """
    collector, found = Collector(), False
    for path in paths:
        content = content_of(path)
        lines = lines_of(str(path), content, _any_mark())
        pieces = _pieces(lines)
        if not pieces:
            continue
        try:
            _read(path, lines, pieces, None, collector)
            found = True
        except UsageError as error:
            if not _is_of_other_program(pieces, lines):
                in_other = in_json(path, content, lambda text: bool(recognised(text)))
                raise in_other or error from None
    return collector.records() if found else None


def _read(
    path: Path,
    lines: Sequence[TextLine],
    pieces: Sequence[_Piece],
    format_name: str | None,
    collector: Collector,
) -> None:
    """Read the pieces of a file that are of a format.

    Raises:
        UsageError: None of them has a number.
    """
    name = str(path)
    wanted = [piece for piece in pieces if format_name in {None, piece.format_name}]
    if format_name is not None and not pieces:
        wanted = [_Piece(format_name, lines)]
    collector.begin_file(name, lines)
    before = len(collector.unread)
    first: LineError | None = None
    for piece in wanted:
        error = _read_piece(piece, collector)
        first = first or error
    if collector.has_numbers(name):
        return
    del collector.unread[before:]
    if first is not None and not _is_of_other_program(pieces, lines):
        raise first
    raise _no_numbers(path, format_name, [piece.format_name for piece in pieces], lines)


def _no_numbers(
    path: Path, format_name: str | None, formats: Sequence[str], lines: Sequence[TextLine]
) -> UsageError:
    """Return the error for a file that gives no number."""
    if formats and format_name is not None and format_name not in formats:
        return UsageError(
            f"{path}: is of the format {formats[0]}, not {format_name}",
            f"mpigauge import {formats[0]} {as_argument(path)}",
        )
    name = guess_program(_text(lines)) if {*formats} <= {WRITTEN_BY_PEOPLE} else ""
    what = f"; it seems to be output of {name}, which is not read" if name else ""
    row = next((line for line in lines if len(line.words) > 1 and begins_row(line.words)), None)
    if row is None or name:
        needs = f"{CSV} what its columns are" if name else "it must have a heading and rows below it"
        return UsageError(f"{path}: has no number in it{what}", needs)
    return UsageError(
        f"{row.where}: no line above it names its columns and their units",
        "write them in one line, with words that a program of these prints, as in '# Size  Latency (us)'",
    )


def _is_of_other_program(pieces: Sequence[_Piece], lines: Sequence[TextLine]) -> bool:
    """Return whether what was taken for tables of people is output of a program that is not read."""
    return {piece.format_name for piece in pieces} <= {WRITTEN_BY_PEOPLE} and guess_program(
        _text(lines)
    ) != ""


def _text(lines: Sequence[TextLine]) -> str:
    return "\n".join(line.text for line in lines)


def _read_piece(piece: _Piece, collector: Collector) -> LineError | None:
    """Read a piece; return the error of the first line that was not understood, or None."""
    collector.format_name = piece.format_name
    parser = parser_of(piece.format_name)(collector)
    first: LineError | None = None
    ended: LineError | None = None
    below = 0
    for line in piece.lines:
        count = collector.count
        try:
            parser.take(line)
        except LineError as error:
            if ended is not None:
                collector.add_unread(ended, below)
            parser.end_table()
            first, ended, below = first or error, error, 0
            continue
        if ended is not None and collector.count == count and begins_row(line.words):
            below += 1
        elif ended is not None and collector.count > count:
            collector.add_unread(ended, below)
            ended = None
    if ended is not None:
        collector.add_unread(ended, below)
    try:
        parser.finish()
    except LineError as error:
        collector.add_unread(error)
        first = first or error
    return first


def parser_of(format_name: str) -> type[LineParser]:
    """Return the parser class of a format; its module is imported when it is used."""
    module = importlib.import_module(f"mpigauge.importers.{READERS[format_name].module}")
    parser: type[LineParser] = module.Parser
    return parser


# ---- Which format ----------------------------------------------------------------------------------


@cache
def _marks() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(reader.mark) for name, reader in READERS.items() if reader.mark}


@cache
def _any_mark() -> re.Pattern[str]:
    marks = "|".join(f"(?:{mark.pattern})" for mark in _marks().values())
    # Not within a word, a heading or a file name.
    return re.compile(rf"(?<![\w#/.-])(?:{marks})")


def _pieces(lines: Sequence[TextLine]) -> list[_Piece]:
    """Return the lines split by format: a piece ends with the last row before a title of another format."""
    begins, seen, below_rows = list[tuple[int, str]](), 0, 0
    for at, line in enumerate(lines):
        if not _any_mark().match(line.text):
            continue
        format_name = next((name for name, mark in _marks().items() if mark.match(line.text)), None)
        if format_name is not None and (not begins or begins[-1][1] != format_name):
            texts = ((place, lines[place].text) for place in range(at - 1, seen - 1, -1))
            rows = (place for place, text in texts if may_be_row(text) or may_be_row_of_fields(text))
            seen, below_rows = at, next(rows, below_rows - 1) + 1
            begins.append((max(begins[-1][0] + 1, below_rows) if begins else 0, format_name))
    if not begins:
        format_name = next(
            (name for name in READERS if READERS[name].by_shape and _has_shape(name, lines)), None
        )
        return [] if format_name is None else [_Piece(format_name, lines)]
    ends = [*(at for at, _ in begins[1:]), len(lines)]
    return [_Piece(format_name, lines[at:end]) for (at, format_name), end in zip(begins, ends, strict=True)]


def _has_shape(name: str, lines: Sequence[TextLine]) -> bool:
    module = importlib.import_module(f"mpigauge.importers.{READERS[name].module}")
    has_shape: bool = module.has_shape(lines)
    return has_shape
