"""Reading a result file, whole or torn, and saying clearly when it is neither."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from mpigauge.errors import UsageError
from mpigauge.plan.model import Cell, check_words
from mpigauge.plan.patterns import completed
from mpigauge.result import older
from mpigauge.result.compact import pack
from mpigauge.result.records import (
    FORMAT,
    VERSION,
    Blocked,
    Campaign,
    Clock,
    Done,
    Eager,
    End,
    Failure,
    Imported,
    Launch,
    Record,
    Resumed,
    Visit,
)


@dataclass(slots=True)
class Result:
    """A result file in memory, its records by type and in their order.

    Attributes:
        torn: Whether the last line was incomplete and has been dropped, as after a kill.
        left_out: Visits that were not to be shown, since they were not quiet.
        size_bytes: Of the file as lines, a torn one included.
        damaged: Numbers of lines that are no records and have been left out.
        mixed: Cells measured before and after the campaign went on otherwise; which of `resumed` that was.
    """

    path: Path
    campaign: Campaign
    launches: list[Launch] = field(default_factory=list)
    clocks: list[Clock] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    eager: list[Eager] = field(default_factory=list)
    blocked: list[Blocked] = field(default_factory=list)
    imported: list[Imported] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    resumed: list[Resumed] = field(default_factory=list)
    torn: bool = False
    left_out: int = 0
    size_bytes: int = 0
    damaged: list[int] = field(default_factory=list)
    mixed: dict[Cell, set[int]] = field(default_factory=dict)


STANDARD_INPUT = Path("-")
GZIP_MAGIC = b"\x1f\x8b"
NEWLINE = b"\n"
UNPACKED_LEAST_BYTES = 1 << 26
UNPACKED_RATIO = 200
"""Of a compressed result; samples hardly compress, so that more is a file made to fill the memory."""

BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a line that is not JSON of ours can raise."""


class _Head(Struct):
    """As much of a first line as any version has."""

    type: str
    format: str = ""
    version: int = 0


_LISTS = {
    Launch: "launches",
    Clock: "clocks",
    Visit: "visits",
    Eager: "eager",
    Blocked: "blocked",
    Imported: "imported",
    Failure: "failures",
    Done: "done",
    End: "ends",
    Resumed: "resumed",
}


class NotAResultError(UsageError):
    """A file that is no result of ours; it may be one of somebody else's."""


def load(path: Path) -> Result:
    """Reads a result file, `.jsonl` or `.jsonl.gz`; `-` is standard input, either way.

    What a damaged line had is lost, and all others are read. Lines are read one by one, and of a visit its
    numbers are kept in machine words: the result takes about as much memory as its lines are long.
    Floating-point numbers of all samples at once would take several times as much.

    Raises:
        NotAResultError: It is not ours; names the file.
        UsageError: It cannot be read, is empty, or newer than this mpigauge, or its first line is damaged;
            names the file.
    """
    with closing(_lines(path)) as lines:
        first = next(lines, b"")
        if not first.endswith(NEWLINE):
            raise _not_ours(path, first)
        result = Result(path, _campaign(path, first[:-1]), size_bytes=len(first))
        _take_all(result, lines)
    return result


def made_of(path: Path, records: Sequence[Record]) -> Result:
    """A result that is no file: of records that somebody has read of another format.

    Args:
        path: What it is called.
        records: The campaign first.
    """
    first, *others = records
    assert isinstance(first, Campaign)  # noqa: S101 - its callers have made it
    result = Result(path, replace(first, patterns=tuple(map(completed, first.patterns))))
    known = {cell: cell for cell in first.cells}
    for number, record in enumerate(others, start=2):
        _take(result, record, number, known)
    return result


def _lines(path: Path) -> Generator[bytes, None, None]:
    """Each line with its end; the last has none if the file was cut in the middle of it."""
    try:
        with _opened(path) as (file, most_bytes):
            left_bytes = most_bytes
            while line := file.readline(left_bytes + 1):
                left_bytes -= len(line)
                if left_bytes < 0:
                    raise _too_much(path)
                yield line
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file", "mpigauge run writes one") from None
    except (OSError, EOFError, zlib.error) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path}: cannot be read: {words}", "give the path of a result file") from None


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes] | gzip.GzipFile, int]]:
    """The file as lines, and how many bytes of them there may be."""
    if path == STANDARD_INPUT:
        data = sys.stdin.buffer.read()
        file: IO[bytes] = io.BytesIO(data)
        size_bytes, packed = len(data), data.startswith(GZIP_MAGIC)
    else:
        file = path.open("rb")
        size_bytes, packed = os.fstat(file.fileno()).st_size, path.suffix == ".gz"
    with file:
        if not packed:
            yield file, sys.maxsize - 1
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield unpacked, max(UNPACKED_LEAST_BYTES, UNPACKED_RATIO * size_bytes)


def _too_much(path: Path) -> UsageError:
    return UsageError(
        f"{path}: unpacks to more than {UNPACKED_RATIO} times its size, as no result does",
        "if you trust it, unpack it yourself: gunzip",
    )


def _not_ours(path: Path, start: bytes) -> UsageError:
    if not start:
        if path == STANDARD_INPUT:
            return UsageError(
                "standard input: is empty", "pipe a result into it: zcat r.jsonl.gz | mpigauge show -"
            )
        return UsageError(f"{path}: is empty", "measure again: mpigauge run")
    return NotAResultError(f"{path}: is not a result file of mpigauge", "mpigauge run writes one")


def _campaign(path: Path, line: bytes) -> Campaign:
    try:
        head = msgspec.json.decode(line, type=_Head)
    except BROKEN:
        raise _not_ours(path, line or b" ") from None
    if head.type != "campaign" or head.format != FORMAT:
        raise _not_ours(path, line)
    if head.version > VERSION:
        raise UsageError(
            f"{path}: has format version {head.version}, this mpigauge reads up to {VERSION}",
            "upgrade mpigauge: pip install --upgrade mpigauge",
        )
    try:
        record = _with_checked_words(_reader_of(head.version)(line), {})
    except BROKEN as error:
        raise UsageError(
            f"{path}: line 1 is damaged: {error}", "without it, nothing is known of the others"
        ) from None
    assert isinstance(record, Campaign)  # noqa: S101 - its type says so
    return replace(record, patterns=tuple(map(completed, record.patterns)))


def _reader_of(version: int) -> Callable[[bytes], Record]:
    """What makes records of the lines of a file; those of today need no conversion."""
    return older.DECODER.decode if version == VERSION else partial(older.record_of, version=version)


def _take_all(result: Result, lines: Iterator[bytes]) -> None:
    """All lines after the first. Visits of one cell get one object of it: such are compared at a glance."""
    read = _reader_of(result.campaign.version)
    known = {cell: cell for cell in result.campaign.cells}
    before: list[set[Cell]] = []
    for number, line in enumerate(lines, start=2):
        result.size_bytes += len(line)
        if not line.endswith(NEWLINE):
            result.torn = True
            return
        try:
            record = _with_checked_words(read(line), known)
        except BROKEN:
            result.damaged.append(number)
        else:
            _take(result, record, number, known)
            _note_mixed(result, record, before)


def _with_checked_words(record: Record, known: Mapping[Cell, Cell]) -> Record:
    """The same record; words of cells that are known have been looked at, and most visits are of such.

    Raises:
        ValidationError: A word is none that could be there.
    """
    for cell in _cells_of(record):
        if cell not in known:
            check_words(cell)
    if isinstance(record, Launch | Clock | Done):
        check_words(record.job)
    return record


def _cells_of(record: Record) -> Sequence[Cell]:
    match record:
        case Visit() | Eager() | Blocked() | Imported():
            return (record.cell,)
        case Failure(cell=Cell() as cell):
            return (cell,)
        case Campaign():
            return record.cells
        case Done():
            return record.skipped
    return ()


def _note_mixed(result: Result, record: Record, before: list[set[Cell]]) -> None:
    """Only the order of the lines says what was measured before a campaign went on, and what after."""
    if isinstance(record, Resumed):
        before.append({visit.cell for visit in result.visits})
    elif before and isinstance(record, Visit):
        mixed = {session for session, cells in enumerate(before) if record.cell in cells}
        if mixed:
            result.mixed.setdefault(record.cell, set()).update(mixed)


def _take(result: Result, record: Record, number: int, known: dict[Cell, Cell]) -> None:
    if isinstance(record, Campaign):
        raise UsageError(
            f"{result.path}: line {number} begins a second campaign",
            "two results were joined into one file: split it there",
        )
    if isinstance(record, Visit):
        force_setattr(record, "cell", known.setdefault(record.cell, record.cell))
        pack(record)
    getattr(result, _LISTS[type(record)]).append(record)
