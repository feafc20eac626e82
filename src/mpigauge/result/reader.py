"""Reading result files, complete, torn or damaged."""

import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from mpigauge.errors import UsageError
from mpigauge.inputs import LINE_MOST_BYTES, open_regular
from mpigauge.plan.model import Cell, JobKey, check_words
from mpigauge.plan.patterns import completed
from mpigauge.result import older_versions
from mpigauge.result.compact import pack
from mpigauge.result.decompressed import Decompressed, is_packed
from mpigauge.result.home_paths import may_name_home, shortened
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
from mpigauge.result.writer import line_with_home
from mpigauge.vocabulary import RESUMABLE, PackedDamage


@dataclass(slots=True)
class Result:
    """A result file in memory, with its records by type, in their order.

    Attributes:
        torn: Whether the last line was incomplete and has been dropped, as after a kill.
        left_out: Visits hidden since they were not quiet.
        size_bytes: Uncompressed size of the file, with a torn line.
        damaged: Numbers of lines that are not records and have been skipped.
        packed_damage: Damage of the compressed file; None if it has none, or is not compressed.
        incomplete: Launches that lack records, by number and job, since lines are damaged or missing: they
            are not done, even if their end was recorded.
        unfounded: How many records are left out of each launch that lacks its own, the first one.
        obsolete: Numbers of lines with these, and with ends of launches that are incomplete.
        mixed: Cells measured both before and after a change recorded in `resumed`, with the indices there.
        memo: Values that were computed of the whole result, by name, so that each is computed once; a copy
            has none.
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
    left_out: list[Visit] = field(default_factory=list)
    size_bytes: int = 0
    damaged: list[int] = field(default_factory=list)
    packed_damage: PackedDamage | None = None
    incomplete: set[tuple[int, JobKey]] = field(default_factory=set)
    unfounded: Counter[tuple[int, JobKey]] = field(default_factory=Counter)
    obsolete: list[int] = field(default_factory=list)
    mixed: dict[Cell, set[int]] = field(default_factory=dict)
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def is_resumable(self) -> bool:
        """Whether its campaign was cut short, or has launches to make again since they lack records."""
        if not self.ends:
            return True
        reason = self.ends[-1].reason
        return reason in RESUMABLE or (reason != "imported" and bool(self.incomplete))


STANDARD_INPUT = Path("-")
NEWLINE = b"\n"
READ_BYTES = 1 << 17
PIECE_BYTES = 1 << 20
NAME_A_RESULT = "give the path of a result file"
MIN_UNPACKED_BYTES = 1 << 26
UNPACKED_RATIO = 200
"""Highest compression ratio; samples hardly compress, so a higher one is a file made to fill the memory."""

BROKEN = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Exceptions of a line that is not a record."""


class _Head(Struct):
    """The part of the first line that all versions have."""

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
    """The file is not an mpigauge result; it may be of another benchmark."""


def load(path: Path, content: Iterable[bytes] | None = None) -> Result:
    """Read a result file, compressed or not, whatever its name; `-` is standard input.

    Damaged lines are skipped; a compressed file that is cut or damaged is read up to there. Lines are read
    one by one, and samples are kept in machine words: the result takes about as much memory as the file has
    bytes uncompressed; floating-point numbers of all samples at once would take several times as much.

    Args:
        content: What it has, in pieces, if the file of its name may have something else.

    Raises:
        NotAResultError: It is not a result of mpigauge; names the file.
        UsageError: It cannot be read, is empty or newer than this mpigauge, or its first line is damaged;
            names the file.
    """
    of_file = _Lines(path)
    with closing(of_file.each() if content is None else _lines_in(content)) as lines:
        first = _first_line(of_file, lines, path)
        result = Result(path, _campaign(path, first[:-1]), size_bytes=len(first))
        _take_all(result, lines)
        result.packed_damage = of_file.damage
    return result


def records_of(path: Path) -> Iterator[Record | None]:
    """Yield the records of a result file in their order, the campaign first; None for a damaged line.

    Raises:
        NotAResultError: It is not a result of mpigauge; names the file.
        UsageError: As `load` raises it.
    """
    of_file = _Lines(path)
    with closing(of_file.each()) as lines:
        campaign = _campaign(path, _first_line(of_file, lines, path)[:-1])
        yield campaign
        read = _reader_of(campaign.version)
        cells = {cell: cell for cell in campaign.cells}
        for line in lines:
            if not line.endswith(NEWLINE):
                return
            try:
                record = _record_of(line, read, cells)
            except BROKEN:
                yield None
                continue
            if isinstance(record, Visit):
                pack(record)
            yield record


def load_campaign(path: Path) -> Campaign:
    """Read the first line of a result file alone: what was asked for.

    Raises:
        NotAResultError: It is not a result of mpigauge; names the file.
        UsageError: As `load` raises it.
    """
    of_file = _Lines(path)
    with closing(of_file.each()) as lines:
        return _campaign(path, _first_line(of_file, lines, path)[:-1])


def _first_line(of_file: "_Lines", lines: Iterator[bytes], path: Path) -> bytes:
    first = next(lines, b"")
    if not first.endswith(NEWLINE):
        raise _without_beginning(path) if of_file.damage else _not_a_result_error(path, first)
    return first


def result_of(path: Path, records: Sequence[Record]) -> Result:
    """Return a result made of records, as an importer reads them from another format.

    Args:
        path: Its name.
        records: Its records, the campaign first.
    """
    first, *others = (shortened(one) if may_name_home(line_with_home(one)) else one for one in records)
    assert isinstance(first, Campaign)  # noqa: S101 - its callers have made it
    result = Result(path, replace(first, patterns=tuple(map(completed, first.patterns))))
    cells = {cell: cell for cell in first.cells}
    for number, record in enumerate(others, start=2):
        _take(result, record, number, cells)
    return result


def _lines_in(pieces: Iterable[bytes]) -> Generator[bytes, None, None]:
    """Yield the lines of a file that comes in pieces, with their newlines."""
    line = bytearray()
    for piece in pieces:
        for part in io.BytesIO(piece):
            line += part
            if line.endswith(NEWLINE):
                yield bytes(line)
                line.clear()
    if line:
        yield bytes(line)


class _Lines:
    """The lines of a file, with their newlines; the last one lacks it if the file was cut there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unpacked: Decompressed | None = None

    @property
    def damage(self) -> PackedDamage | None:
        """The damage of a compressed file, as far as it has been read."""
        return None if self._unpacked is None else self._unpacked.damage

    def each(self) -> Generator[bytes, None, None]:
        """Yield the lines.

        Raises:
            UsageError: The file cannot be read, or is longer than any result.
        """
        try:
            with self._opened() as (file, most_bytes):
                left_bytes = most_bytes
                while line := file.readline(min(left_bytes, LINE_MOST_BYTES) + 1):
                    left_bytes -= len(line)
                    if left_bytes < 0:
                        raise _too_large_error(self._path)
                    if len(line) > LINE_MOST_BYTES:
                        raise _endless_error(str(self._path))
                    yield line
        except FileNotFoundError:
            raise UsageError(f"{self._path}: there is no such file", "mpigauge run writes one") from None
        except OSError as error:
            raise UsageError(
                f"{self._path}: cannot be read: {error.strerror or error}", NAME_A_RESULT
            ) from None

    @contextmanager
    def _opened(self) -> Iterator[tuple[IO[bytes], int]]:
        """Return the uncompressed file, and the most bytes that it may have."""
        with self._stream() as (file, size_bytes):
            if not is_packed(file):
                yield file, sys.maxsize - 1
                return
            self._unpacked = Decompressed(file)
            with io.BufferedReader(self._unpacked, READ_BYTES) as lines:
                yield lines, max(MIN_UNPACKED_BYTES, UNPACKED_RATIO * size_bytes)

    @contextmanager
    def _stream(self) -> Iterator[tuple[io.BufferedReader, int]]:
        """Return the file as it is, and its size."""
        if self._path == STANDARD_INPUT:
            data = _standard_input(sys.stdin.buffer)
            yield io.BufferedReader(io.BytesIO(data)), len(data)
            return
        with open_regular(self._path, NAME_A_RESULT) as file:
            yield file, os.fstat(file.fileno()).st_size


def _without_beginning(path: Path) -> UsageError:
    return UsageError(
        f"{path}: cannot be read: it is compressed, and damaged in its first line",
        "copy it again from where it came from",
    )


def _standard_input(stream: IO[bytes]) -> bytes:
    """Return all of standard input.

    Raises:
        UsageError: A line does not end.
    """
    pieces, line_bytes = [], 0
    while piece := stream.read(PIECE_BYTES):
        pieces.append(piece)
        end = piece.rfind(NEWLINE)
        line_bytes = line_bytes + len(piece) if end < 0 else len(piece) - end - 1
        if line_bytes > LINE_MOST_BYTES:
            raise _endless_error("standard input")
    return b"".join(pieces)


def _endless_error(name: str) -> UsageError:
    most = LINE_MOST_BYTES >> 30
    return UsageError(f"{name}: has a line of more than {most} GiB, as no result has", NAME_A_RESULT)


def _too_large_error(path: Path) -> UsageError:
    return UsageError(
        f"{path}: unpacks to more than {UNPACKED_RATIO} times its size, as no result does",
        "if you trust it, unpack it yourself: gunzip",
    )


def _not_a_result_error(path: Path, start: bytes) -> UsageError:
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
        raise _not_a_result_error(path, line or b" ") from None
    if head.type != "campaign" or head.format != FORMAT:
        raise _not_a_result_error(path, line)
    if head.version > VERSION:
        raise UsageError(
            f"{path}: has format version {head.version}, this mpigauge reads up to {VERSION}",
            "read it with a newer mpigauge",
        )
    try:
        record = _record_of(line, _reader_of(head.version), {})
    except BROKEN as error:
        raise UsageError(
            f"{path}: line 1 is damaged: {error}", "without it, nothing is known of the others"
        ) from None
    assert isinstance(record, Campaign)  # noqa: S101 - its type says so
    return replace(record, patterns=tuple(map(completed, record.patterns)))


def _reader_of(version: int) -> Callable[[bytes], Record]:
    """Return the decoder of the lines of a version; the present one needs no conversion."""
    return (
        older_versions.DECODER.decode
        if version == VERSION
        else partial(older_versions.record_of, version=version)
    )


def _take_all(result: Result, lines: Iterator[bytes]) -> None:
    """Read all lines after the first. Equal cells become one object, which compares quickly."""
    read = _reader_of(result.campaign.version)
    cells = {cell: cell for cell in result.campaign.cells}
    before: list[set[Cell]] = []
    launches = _Launches(result)
    for number, line in enumerate(lines, start=2):
        result.size_bytes += len(line)
        if not line.endswith(NEWLINE):
            result.torn = True
            return
        try:
            record = _record_of(line, read, cells)
        except BROKEN:
            result.damaged.append(number)
            launches.lose_line()
            continue
        if launches.accept(record, number):
            _take(result, record, number, cells)
            _note_mixed(result, record, before)


class _Launches:
    """The launches of a file that lack records, which only the order of lines says.

    Args:
        result: Where they are noted.
    """

    def __init__(self, result: Result) -> None:
        self._result = result
        self._begun: set[tuple[int, JobKey]] = set()
        self._open: tuple[int, JobKey] | None = None  # the last one that has not ended
        self._has_lost_line = False
        self._measured: set[tuple[int, Cell]] = set()  # with records that were accepted, to be quick

    def lose_line(self) -> None:
        """Note a line that cannot be read."""
        self._has_lost_line = True
        self._measured.clear()

    def accept(self, record: Record, number: int) -> bool:
        """Return whether the record of a line can be used, after those before it."""
        if isinstance(record, Visit) and (record.launch, record.cell) in self._measured:
            return True
        launch = _launch_of(record)
        if self._has_lost_line:
            self._note_lost(record, launch)
        if launch is None:
            return True
        match record:
            case Launch():
                self._begun.add(launch)
                self._open = launch
            case Done():
                self._open = None
                if launch in self._result.incomplete:
                    self._result.obsolete.append(number)
            case Visit() | Eager() | Blocked() | Clock() if launch not in self._begun:
                self._result.incomplete.add(launch)
                self._result.unfounded[launch] += 1
                self._result.obsolete.append(number)
                return False
            case Visit():
                self._measured.add((record.launch, record.cell))
        return True

    def _note_lost(self, record: Record, launch: tuple[int, JobKey] | None) -> None:
        """Note the launches that lines before this record may have been of."""
        self._has_lost_line = False
        begins = isinstance(record, Launch) and record.part == 1
        around = (self._open, None if begins else launch)
        self._result.incomplete.update(one for one in around if one is not None)


def _launch_of(record: Record) -> tuple[int, JobKey] | None:
    """Return number and job of the launch that a record is of; None if it says none."""
    match record:
        case Launch():
            return record.number, record.job
        case Clock() | Done():
            return record.launch, record.job
        case Visit(cell=cell) | Eager(cell=cell) | Blocked(cell=cell) | Failure(cell=Cell() as cell):
            return record.launch, cell.job
        case Failure(job=JobKey() as job):
            return record.launch, job
    return None


def _record_of(line: bytes, read: Callable[[bytes], Record], checked: Mapping[Cell, Cell]) -> Record:
    """Return the record of a line, with ~ for the user's home, also where an older mpigauge wrote it whole.

    Raises:
        DecodeError: The line is no record, or a word is not allowed by the schema.
    """
    record = read(line)
    return _with_checked_words(shortened(record) if may_name_home(line) else record, checked)


def _with_checked_words(record: Record, checked: Mapping[Cell, Cell]) -> Record:
    """Return the record after checking the words of its cells, except known ones, as of most visits.

    Raises:
        ValidationError: A word is not allowed by the schema.
    """
    for cell in _cells_of(record):
        if cell not in checked:
            check_words(cell)
    if isinstance(record, Launch | Clock | Done):
        check_words(record.job)
        _refuse_no_ranks(record.job)
    elif isinstance(record, Visit | Eager | Blocked):
        _refuse_no_ranks(record.cell)
    return record


def _refuse_no_ranks(of: Cell | JobKey) -> None:
    """Refuse 0 ranks, which only imported times may have, where the number is not known.

    Raises:
        ValidationError: The number of ranks is 0.
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
    """Note cells measured before and after a `resumed` record, which only the order of lines says."""
    if isinstance(record, Resumed):
        before.append({visit.cell for visit in result.visits})
    elif before and isinstance(record, Visit):
        mixed = {session for session, cells in enumerate(before) if record.cell in cells}
        if mixed:
            result.mixed.setdefault(record.cell, set()).update(mixed)


def _take(result: Result, record: Record, number: int, cells: dict[Cell, Cell]) -> None:
    if isinstance(record, Campaign):
        raise UsageError(
            f"{result.path}: line {number} begins a second campaign",
            "two results were joined into one file: split it there",
        )
    if isinstance(record, Visit):
        force_setattr(record, "cell", cells.setdefault(record.cell, record.cell))
        pack(record)
    getattr(result, _LISTS[type(record)]).append(record)
