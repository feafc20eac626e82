"""Reading a result file, whole or torn, and saying clearly when it is neither."""

import gzip
import io
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from mpigauge.errors import UsageError
from mpigauge.plan.patterns import completed
from mpigauge.result import older
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
    Visit,
)


@dataclass(slots=True)
class Result:
    """A result file in memory, its records by type and in their order.

    Attributes:
        torn: Whether the last line was incomplete and has been dropped, as after a kill.
        left_out: Visits that were not to be shown, since they were disturbed.
        size_bytes: Of the file as lines, a torn one included.
        damaged: Numbers of lines that are no records and have been left out.
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
    torn: bool = False
    left_out: int = 0
    size_bytes: int = 0
    damaged: list[int] = field(default_factory=list)


STANDARD_INPUT = Path("-")
GZIP_MAGIC = b"\x1f\x8b"
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
}


def load(path: Path) -> Result:
    """Reads a result file, `.jsonl` or `.jsonl.gz`; `-` is standard input, either way.

    What a damaged line had is lost, and all others are read.

    Raises:
        UsageError: It cannot be read, is empty, not ours, or newer than this mpigauge, or its first line is
            damaged; names the file.
    """
    data = _read(path)
    lines = data.split(b"\n")
    last = lines.pop()  # empty, unless the file was cut in the middle of a line
    if not lines:
        raise _not_ours(path, last)
    result = Result(path, _campaign(path, lines[0]), torn=bool(last), size_bytes=len(data))
    read = _reader_of(result.campaign.version)
    for number, line in enumerate(lines[1:], start=2):
        try:
            _take(result, read(line), number)
        except BROKEN:
            result.damaged.append(number)
    _share_cells(result)
    return result


def _read(path: Path) -> bytes:
    try:
        given = path == STANDARD_INPUT
        data = sys.stdin.buffer.read() if given else path.read_bytes()
        packed = data.startswith(GZIP_MAGIC) if given else path.suffix == ".gz"
        return _unpacked(path, data) if packed else data
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file", "mpigauge run writes one") from None
    except (OSError, EOFError, zlib.error) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path}: cannot be read: {words}", "give the path of a result file") from None


def _unpacked(path: Path, data: bytes) -> bytes:
    most = max(UNPACKED_LEAST_BYTES, UNPACKED_RATIO * len(data))
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        lines = file.read(most + 1)
    if len(lines) > most:
        raise UsageError(
            f"{path}: unpacks to more than {UNPACKED_RATIO} times its size, as no result does",
            "if you trust it, unpack it yourself: gunzip",
        )
    return lines


def _not_ours(path: Path, start: bytes) -> UsageError:
    if not start:
        return UsageError(f"{path}: is empty", "measure again: mpigauge run")
    return UsageError(f"{path}: is not a result file of mpigauge", "mpigauge run writes one")


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
        record = _reader_of(head.version)(line)
    except BROKEN as error:
        raise UsageError(
            f"{path}: line 1 is damaged: {error}", "without it, nothing is known of the others"
        ) from None
    assert isinstance(record, Campaign)  # noqa: S101 - its type says so
    return replace(record, patterns=tuple(map(completed, record.patterns)))


def _reader_of(version: int) -> Callable[[bytes], Record]:
    """What makes records of the lines of a file; those of today need no conversion."""
    return older.DECODER.decode if version == VERSION else partial(older.record_of, version=version)


def _take(result: Result, record: Record, number: int) -> None:
    if isinstance(record, Campaign):
        raise UsageError(
            f"{result.path}: line {number} begins a second campaign",
            "two results were joined into one file: split it there",
        )
    getattr(result, _LISTS[type(record)]).append(record)


def _share_cells(result: Result) -> None:
    """Gives the visits of one cell one object of it, not one each: such are compared at a glance."""
    known = {cell: cell for cell in result.campaign.cells}
    for visit in result.visits:
        force_setattr(visit, "cell", known.setdefault(visit.cell, visit.cell))
