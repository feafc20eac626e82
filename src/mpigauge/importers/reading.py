"""Files of other programs: parted by the format of their pieces, and handed line by line to who reads it."""

from __future__ import annotations

import importlib
import re
import shlex
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.importers import READERS
from mpigauge.importers.collector import Collected, LineParser
from mpigauge.importers.text import LineError, begins_row, content_of, lines_of, may_be_row
from mpigauge.importers.unknown_format import seems

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.importers.text import TextLine
    from mpigauge.result.records import Record


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines of one format."""

    form: str
    lines: Sequence[TextLine]


def read_text(
    paths: Sequence[Path], form: str | None = None, *, ranks: int = 0, same: bool = False
) -> list[Record]:
    """Return the records of files that other programs have printed, the campaign first.

    Args:
        form: The format that is read, by its name in READERS; None: whatever each piece of a file is.
        ranks: How many ranks took part, where no text says it.
        same: Whether tables of the same cells are launches of one thing.

    Raises:
        UsageError: A file cannot be read, or gives no number; names the file, and the line that is why.
    """
    found = Collected(ranks, same=same)
    for path in paths:
        lines = lines_of(str(path), content_of(path), _any_mark())
        _read(path, lines, _pieces(lines), form, found)
    return found.records()


def recognised(content: bytes) -> tuple[str, ...]:
    """Return the formats of the pieces of a text, in their order; none if nothing tells."""
    return tuple(piece.form for piece in _pieces(lines_of("", content, _any_mark())))


def left_out(path: Path, form: str) -> list[str]:
    """Return the formats of a file that reading it as one format has left out."""
    return [one for one in dict.fromkeys(recognised(content_of(path))) if one != form]


def read_any(path: Path) -> list[Record] | None:
    """Return the records of a file of any format that is recognised by what is in it; None if none is.

    Raises:
        UsageError: The file cannot be read, or gives no number; names the line that is why.
    """
    lines = lines_of(str(path), content_of(path), _any_mark())
    pieces, found = _pieces(lines), Collected()
    if not pieces:
        return None
    _read(path, lines, pieces, None, found)
    return found.records()


def _read(
    path: Path, lines: Sequence[TextLine], pieces: Sequence[_Piece], form: str | None, found: Collected
) -> None:
    """Read the pieces of a file that are of a format.

    Raises:
        UsageError: None of them has a number.
    """
    name = str(path)
    mine = [piece for piece in pieces if form in {None, piece.form}]
    if form is not None and not pieces:
        mine = [_Piece(form, lines)]
    found.enter(name, lines)
    before = len(found.unread)
    first: LineError | None = None
    for piece in mine:
        error = _read_piece(piece, found)
        first = first or error
    if found.has_numbers(name):
        return
    del found.unread[before:]
    if first is not None:
        raise first
    raise _nothing(path, form, [piece.form for piece in pieces], lines)


def _nothing(path: Path, form: str | None, others: Sequence[str], lines: Sequence[TextLine]) -> UsageError:
    """What there is to say of a file that gives no number."""
    if others and form is not None and form not in others:
        return UsageError(
            f"{path}: is of the format {others[0]}, not {form}",
            f"mpigauge import {others[0]} {shlex.quote(str(path))}",
        )
    name = "" if others else seems("\n".join(line.text for line in lines))
    what = f"; it seems to be output of {name}, which is not read" if name else ""
    return UsageError(f"{path}: has no number in it{what}", "it must have a heading and rows below it")


def _read_piece(piece: _Piece, found: Collected) -> LineError | None:
    """Read a piece; the first line that was not understood, if there is any."""
    found.form = piece.form
    parser = parser_of(piece.form)(found)
    first: LineError | None = None
    ended: LineError | None = None
    below = 0
    for line in piece.lines:
        count = found.count
        try:
            parser.take(line)
        except LineError as error:
            if ended is not None:
                found.doubt(ended, below)
            parser.end_table()
            first, ended, below = first or error, error, 0
            continue
        if ended is not None and found.count == count and begins_row(line.words):
            below += 1
        elif ended is not None and found.count > count:
            found.doubt(ended, below)
            ended = None
    if ended is not None:
        found.doubt(ended, below)
    try:
        parser.finish()
    except LineError as error:
        found.doubt(error)
        first = first or error
    return first


def parser_of(form: str) -> type[LineParser]:
    """Return what reads a format; its module is imported when it is used."""
    module = importlib.import_module(f"mpigauge.importers.{READERS[form].module}")
    parser: type[LineParser] = module.Parser
    return parser


# ---- Which format ----------------------------------------------------------------------------------


@cache
def _marks() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(reader.mark) for name, reader in READERS.items() if reader.mark}


@cache
def _any_mark() -> re.Pattern[str]:
    marks = "|".join(f"(?:{mark.pattern})" for mark in _marks().values())
    # Not in the middle of a word, a heading or the name of a file.
    return re.compile(rf"(?<![\w#/.-])(?:{marks})")


def _pieces(lines: Sequence[TextLine]) -> list[_Piece]:
    """The lines by format: a piece goes on to the last row before a title of another one."""
    begins = list[tuple[int, str]]()
    for at, line in enumerate(lines):
        if not _any_mark().match(line.text):
            continue
        form = next((name for name, mark in _marks().items() if mark.match(line.text)), None)
        if form is not None and (not begins or begins[-1][1] != form):
            begins.append((_behind_rows(lines, at, begins[-1][0]) if begins else 0, form))
    if not begins:
        form = next((name for name in READERS if READERS[name].by_shape and _has_shape(name, lines)), None)
        return [] if form is None else [_Piece(form, lines)]
    ends = [*(at for at, _ in begins[1:]), len(lines)]
    return [_Piece(form, lines[at:end]) for (at, form), end in zip(begins, ends, strict=True)]


def _behind_rows(lines: Sequence[TextLine], at: int, least: int) -> int:
    """Where the lines begin that stand between a title and the last row above it."""
    while at - 1 > least and not may_be_row(lines[at - 1].text):
        at -= 1
    return at


def _has_shape(name: str, lines: Sequence[TextLine]) -> bool:
    module = importlib.import_module(f"mpigauge.importers.{READERS[name].module}")
    has_shape: bool = module.has_shape(lines)
    return has_shape
