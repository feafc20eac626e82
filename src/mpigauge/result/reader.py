"""Reading a result file, whole or torn, and saying clearly when it is neither."""

import io
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from mpigauge.errors import UsageError
from mpigauge.inputs import LINE_MOST_BYTES, opened
from mpigauge.plan.model import Cell, JobKey, check_words
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
    Unread,
    Visit,
)
from mpigauge.result.unpacked import Unpacked, is_packed
from mpigauge.vocabulary import PackedDamage


@dataclass(slots=True)
class Result:
    """A result file in memory, its records by type and in their order.

    Attributes:
        torn: Whether the last line was incomplete and has been dropped, as after a kill.
        left_out: Visits that were not to be shown, since they were not quiet.
        size_bytes: Of the file as lines, a torn one included.
        damaged: Numbers of lines that are no records and have been left out.
        packed_damage: What is wrong with the compressed file; None of one that is whole, or is none.
        mixed: Cells measured before and after the campaign went on otherwise; which of `resumed` that was.
        memo: What others have computed of the whole result, by name, so that it is computed once; no copy
            has it.
    """

    path: Path
    campaign: Campaign
    launches: list[Launch] = field(default_factory=list)
    clocks: list[Clock] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    eager: list[Eager] = field(default_factory=list)
    blocked: list[Blocked] = field(default_factory=list)
    imported: list[Imported] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    done: list[Done] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    resumed: list[Resumed] = field(default_factory=list)
    torn: bool = False
    left_out: int = 0
    size_bytes: int = 0
    damaged: list[int] = field(default_factory=list)
    packed_damage: PackedDamage | None = None
    mixed: dict[Cell, set[int]] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)


STANDARD_INPUT = Path("-")
NEWLINE = b"\n"
READ_BYTES = 1 << 17
PIECE_BYTES = 1 << 20
NAME_A_RESULT = "give the path of a result file"
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
    Unread: "unread",
    Failure: "failures",
    Done: "done",
    End: "ends",
    Resumed: "resumed",
}


class NotAResultError(UsageError):
    """A file that is no result of ours; it may be one of somebody else's."""


def load(path: Path, place: Path | None = None) -> Result:
    """Reads a result file, compressed or not, whatever it is called; `-` is standard input, either way.

    What a damaged line had is lost, and all others are read; of a compressed file that is cut or damaged,
    all lines before that. Lines are read one by one, and of a visit its numbers are kept in machine words:
    the result takes about as much memory as its lines are long; floating-point numbers of all samples at
    once would take several times as much.

    Args:
        place: Where it is read from, if its name may be another file's by now.

    Raises:
        NotAResultError: It is not ours; names the file.
        UsageError: It cannot be read, is empty, or newer than this mpigauge, or its first line is damaged;
            names the file.
    """
    of_file = _Lines(path, place)
    with closing(of_file.each()) as lines:
        first = next(lines, b"")
        if not first.endswith(NEWLINE):
            raise _without_beginning(path) if of_file.damage else _not_ours(path, first)
        result = Result(path, _campaign(path, first[:-1]), size_bytes=len(first))
        _take_all(result, lines)
        result.packed_damage = of_file.damage
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


class _Lines:
    """The lines of a file, each with its end; the last has none if the file was cut in the middle of it.

    Args:
        path: What errors name.
        place: Where it is, if not there.
    """

    def __init__(self, path: Path, place: Path | None) -> None:
        self._path = path
        self._place = place or path
        self._unpacked: Unpacked | None = None

    @property
    def damage(self) -> PackedDamage | None:
        """What is wrong with a compressed file, as far as its lines have been asked for."""
        return None if self._unpacked is None else self._unpacked.damage

    def each(self) -> Generator[bytes, None, None]:
        """One after the other.

        Raises:
            UsageError: They cannot be read, or are more than any result has.
        """
        try:
            with self._opened() as (file, most_bytes):
                left_bytes = most_bytes
                while line := file.readline(min(left_bytes, LINE_MOST_BYTES) + 1):
                    left_bytes -= len(line)
                    if left_bytes < 0:
                        raise _too_much(self._path)
                    if len(line) > LINE_MOST_BYTES:
                        raise _endless(str(self._path))
                    yield line
        except FileNotFoundError:
            raise UsageError(f"{self._path}: there is no such file", "mpigauge run writes one") from None
        except OSError as error:
            raise UsageError(
                f"{self._path}: cannot be read: {error.strerror or error}", NAME_A_RESULT
            ) from None

    @contextmanager
    def _opened(self) -> Iterator[tuple[IO[bytes], int]]:
        """The file as lines, and how many bytes of them there may be."""
        with self._stream() as (file, size_bytes):
            if not is_packed(file):
                yield file, sys.maxsize - 1
                return
            self._unpacked = Unpacked(file)
            with io.BufferedReader(self._unpacked, READ_BYTES) as lines:
                yield lines, max(UNPACKED_LEAST_BYTES, UNPACKED_RATIO * size_bytes)

    @contextmanager
    def _stream(self) -> Iterator[tuple[io.BufferedReader, int]]:
        """The file as it is, and how long that is."""
        if self._place == STANDARD_INPUT:
            data = _standard_input(sys.stdin.buffer)
            yield io.BufferedReader(io.BytesIO(data)), len(data)
            return
        with opened(self._place, NAME_A_RESULT) as file:
            yield file, os.fstat(file.fileno()).st_size


def _without_beginning(path: Path) -> UsageError:
    return UsageError(
        f"{path}: cannot be read: it is compressed, and damaged in its first line",
        "copy it again from where it came from",
    )


def _standard_input(stream: IO[bytes]) -> bytes:
    """Return all that stands there.

    Raises:
        UsageError: It goes on and on without a line.
    """
    pieces, line_bytes = [], 0
    while piece := stream.read(PIECE_BYTES):
        pieces.append(piece)
        end = piece.rfind(NEWLINE)
        line_bytes = line_bytes + len(piece) if end < 0 else len(piece) - end - 1
        if line_bytes > LINE_MOST_BYTES:
            raise _endless("standard input")
    return b"".join(pieces)


def _endless(name: str) -> UsageError:
    most = LINE_MOST_BYTES >> 30
    return UsageError(f"{name}: has a line of more than {most} GiB, as no result has", NAME_A_RESULT)


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
        _refuse_no_ranks(record.job)
    elif isinstance(record, Visit | Eager | Blocked):
        _refuse_no_ranks(record.cell)
    return record


def _refuse_no_ranks(of: Cell | JobKey) -> None:
    """Only of what others have printed may it be unknown how many ranks took part.

    Raises:
        ValidationError: A launch or what it measured has no ranks.
    """
    if not of.ranks:
        raise msgspec.ValidationError("there is no launch of 0 ranks")


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
