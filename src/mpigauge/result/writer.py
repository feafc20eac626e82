"""Writing a result file record by record, so that all finished records survive a crash."""

import contextlib
import errno
import gzip
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, Self, TypeVar

import msgspec

from mpigauge.atomic_file import is_name_of, open_output, sync_to_disk, write_atomically
from mpigauge.errors import NO_ROOM, EnvironmentLacksError, MpigaugeError, UsageError
from mpigauge.inputs import check_output
from mpigauge.locks import try_lock
from mpigauge.result.compact import as_list
from mpigauge.result.decompressed import Decompressed, is_packed
from mpigauge.result.files import as_argument, resume_command
from mpigauge.result.home_paths import may_name_home, shortened
from mpigauge.result.records import Campaign, Done, End, Failure, Record, Resumed

Made = TypeVar("Made")

PACKED = ".gz"
"""Suffix of a compressed result."""


DAMAGED = ".damaged"
"""Suffix for a damaged compressed result that is continued."""

DAMAGED_LINE = b"{}\n"
"""A line that is no record, in a copy of a result that has a damaged one there."""

MOVED_HINT = "choose a place where nobody cleans up while it is measured: -o FILE.jsonl"
"""Hint for a result that another process has moved or deleted."""

NAMES_OF_DELETED = ".nfs"
"""Prefix of names that NFS gives to open files that were deleted."""

BEGIN = b'{"type":"campaign"'
"""Beginning of a result."""

MAX_TORN_FIRST_LINE_BYTES = 1 << 26
"""Size from which an unfinished first line is kept: a kill leaves less."""

SETTLED = (Campaign, Resumed, Done, Failure, End)
"""Records after which no rank runs, so that there is time to flush the file to disk."""


MAX_KEPT_BYTES = 64 << 20
"""Largest result that is kept in memory; of a larger one only the first line is."""

COMPARED_BYTES = 4096
READ_BYTES = 1 << 20
NEWLINE = b"\n"
BLANKS = b" \t\r"
TAIL_BYTES = 1 << 16
"""Bytes before a line that are read to see whether others have begun it."""

Change = Literal["appended", "cut"]
"""Changes of a file by others: all of ours is there with more, or some of it is not."""


class WrittenLines:
    """The lines that an open file should have, and where in it others have put theirs.

    Args:
        size_bytes: As for `reset`.

    Attributes:
        lost: Sentence on what cannot be written again; empty while nothing is lost.
    """

    def __init__(self, descriptor: int, size_bytes: int | None = None) -> None:
        self.lost = ""
        self.reset(descriptor, size_bytes)

    def reset(self, descriptor: int, size_bytes: int | None = None) -> None:
        """Take the present content of the file as what it should have.

        Args:
            size_bytes: Size up to which it is; what follows is of others. None for all of it.
        """
        self._end = os.fstat(descriptor).st_size if size_bytes is None else size_bytes
        self._foreign: list[tuple[int, int]] = []
        self._is_cut = False  # it was shorter than we had left it
        self._last, self._last_at = b"", self._end
        self._first_line = _first_line_of(descriptor, self._end)
        kept = self._end <= MAX_KEPT_BYTES
        self._lines = bytearray().join(_pieces(descriptor, 0, self._end)) if kept else None

    def rewritten(self, size_bytes: int) -> None:
        """Note that the file was written again: it has `content`, of this size, and nothing else."""
        if self._lines is None:  # what is left of it may end in another line
            self._last = b""
        self._end, self._last_at = size_bytes, size_bytes - len(self._last)
        self._foreign, self._is_cut = [], False

    @property
    def is_known(self) -> bool:
        """Whether all lines are in memory."""
        return self._lines is not None

    def add(self, descriptor: int, line: bytes, end: int) -> bool:
        """Note a line that was written up to `end`.

        Returns:
            Whether it can be read; if not, bytes of others came between, and it has to be written again.
        """
        begin = end - len(line)
        if begin != self._end and not self._is_readable(descriptor, line, begin):
            self._note_foreign(descriptor, end)
            return False
        self._note_foreign(descriptor, begin)
        self._end, self._last, self._last_at = end, line, begin
        self._keep(line)
        return True

    def miss(self, line: bytes) -> None:
        """Note a line that others have made unreadable as often as it was written."""
        self._keep(line)
        self._is_cut = self._is_cut or self._lines is None

    def _keep(self, line: bytes) -> None:
        self._first_line = self._first_line or line.removesuffix(NEWLINE)
        if self._lines is not None:
            self._lines += line
            if len(self._lines) > MAX_KEPT_BYTES:
                self._lines = None

    def _note_foreign(self, descriptor: int, end: int) -> None:
        """Note what others have changed up to `end`, where the next of our lines begins."""
        if end < self._end:
            self._is_cut = True
            self._foreign = [(first, min(last, end)) for first, last in self._foreign if first < end]
        elif end > self._end:
            self._is_cut = self._is_cut or not self._has_last_line(descriptor)
            begin = self._end
            if self._foreign and self._foreign[-1][1] == begin:
                begin, _ = self._foreign.pop()
            self._foreign.append((begin, end))
        self._end = end

    def change(self, descriptor: int) -> Change | None:
        """Return what others did to the content, by its size, its first line and its last one."""
        try:
            size = os.fstat(descriptor).st_size
            has_ends = self._has_first_line(descriptor) and self._has_last_line(descriptor)
        except OSError:
            return "cut"
        if self._is_cut or size < self._end or not has_ends:
            return "cut"
        return "appended" if self._foreign or size > self._end else None

    def content(self, descriptor: int) -> Iterator[bytes]:
        """Yield all lines in pieces, or what is left of them, without what others have added."""
        if self._lines is not None:
            for at in range(0, len(self._lines), READ_BYTES):
                yield bytes(self._lines[at : at + READ_BYTES])
            return
        if not self._has_first_line(descriptor):
            yield self._first_line + NEWLINE
        at, piece = 0, NEWLINE
        for begin, end in [*self._foreign, (self._end, self._end)]:
            for piece in _pieces(descriptor, at, begin):
                yield piece
            at = end
        if not piece.endswith(NEWLINE):  # cut there
            yield NEWLINE

    def _has_first_line(self, descriptor: int) -> bool:
        first = self._first_line[:COMPARED_BYTES]
        at = next((end for begin, end in self._foreign if begin == 0), 0)
        return os.pread(descriptor, len(first), at) == first

    def _has_last_line(self, descriptor: int) -> bool:
        return os.pread(descriptor, len(self._last), self._last_at) == self._last

    def _is_readable(self, descriptor: int, line: bytes, begin: int) -> bool:
        """Return whether a line is in the file, with nothing but blanks before it."""
        before = os.pread(descriptor, min(begin, TAIL_BYTES), max(0, begin - TAIL_BYTES))
        is_alone = not before.rpartition(NEWLINE)[2].strip(BLANKS)
        return is_alone and os.pread(descriptor, len(line), begin) == line


def ends_within_line(descriptor: int) -> bool:
    """Return whether a file ends in the middle of a line."""
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != NEWLINE


def _first_line_of(descriptor: int, end: int) -> bytes:
    """Return the first line without its newline; a large campaign's is longer than a piece."""
    first_line = b""
    for piece in _pieces(descriptor, 0, end):
        line, newline, _ = piece.partition(NEWLINE)
        first_line += line
        if newline:
            break
    return first_line


def _pieces(descriptor: int, at: int, end: int) -> Iterator[bytes]:
    """Yield a range of a file in pieces, as far as the file has it."""
    while at < end and (piece := os.pread(descriptor, min(READ_BYTES, end - at), at)):
        yield piece
        at += len(piece)


class ResultFile:
    """An open result file that only grows; a context manager.

    Clean-up jobs and other programs may rename, delete or overwrite it while it grows, or append to it. It is
    checked at the end of each launch; content that was changed is saved again, which is reported at once.

    Args:
        size_bytes: Size up to which its content is ours; None for all of it.

    Attributes:
        path: Its current name.
        locked: Whether it is locked against other writers; some file systems have no locks.
        lost: Sentence on what the file of this name lacks, and why; empty if nothing.
    """

    def __init__(
        self, path: Path, descriptor: int, *, locked: bool = True, size_bytes: int | None = None
    ) -> None:
        self.path = path
        self.locked = locked
        self.lost = ""
        self._descriptor = descriptor
        self._written = WrittenLines(descriptor, size_bytes)
        self._is_packed = self._is_discarded = False
        self._is_unsaved = False  # which was reported
        self._untold: list[str] = []
        self.tell: Callable[[str], None] = self._untold.append

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._check()
        try:
            os.close(self._descriptor)
        except OSError as late:  # some file systems report a full disk only now
            if error is None:
                raise _write_error(self.path, late, is_begun=True) from None

    def content(self) -> Iterator[bytes]:
        """Yield all that was written, in pieces, whatever others have done to the file."""
        return self._written.content(self._descriptor)

    def set_reporter(self, tell: Callable[[str], None]) -> None:
        """Set the callback for reports on the file, and pass it those made so far."""
        self.tell = tell
        while self._untold:
            tell(self._untold.pop(0))

    def append(self, record: Record) -> None:
        """Write one line; at the end of a launch, flush the file to disk and check it.

        Raises:
            EnvironmentLacksError: The disk is full or gone; all lines before are complete.
        """
        line, settled = line_of(record), isinstance(record, SETTLED)
        try:
            self._write(line, settled=settled)
        except OSError as error:
            self._check()  # the error message says where the lines before are
            if self.lost or error.errno != errno.ESTALE:
                raise self._append_error(error) from None
            self._write_again(line)
        if settled:
            self._check()

    def compress(self) -> Path:
        """Compress the complete result, and return its new name.

        A kill meanwhile leaves the file as it was, as does an error, such as a full disk or an existing file
        of the new name; then the old name is returned.
        """
        new = self.path.with_name(self.path.name + PACKED)
        try:
            with write_atomically(new) as raw:
                self._pack(raw)
        except OSError:
            return self.path
        is_appended = self._written.change(self._descriptor) == "appended"
        if is_name_of(self._descriptor, self.path) and not (is_appended and not self.locked):
            self.path.unlink()
        if self._written.change(self._descriptor) == "appended":
            self.tell(f"{self.path}: was appended to; all of it, without that, is in {new}")
        self.path, self._is_packed = new, True
        return new

    def discard(self) -> None:
        """Remove the file, which nothing is in that anybody could want."""
        if is_name_of(self._descriptor, self.path):
            self.path.unlink()
        self._is_discarded = True

    def _pack(self, raw: BinaryIO) -> None:
        with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
            file.writelines(self.content())
        if self._written.change(self._descriptor) == "cut":
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    def has_size(self, size_bytes: int) -> bool:
        """Return whether the file has this size."""
        return os.fstat(self._descriptor).st_size == size_bytes

    def truncate(self, size_bytes: int) -> None:
        """Truncate the file to this size."""
        os.ftruncate(self._descriptor, size_bytes)
        self._written.reset(self._descriptor, size_bytes)

    def leave_out(self, numbers: Collection[int]) -> int:
        """Save it without the lines of these numbers, and keep what it was under another name.

        Returns:
            Its size in bytes.
        """
        name, damaged = self.path.with_name(self.path.name + DAMAGED), self.path.resolve()
        aside = _first_free(name, partial(_kept_as, damaged))
        try:
            with self.path.open("rb") as lines:
                kept = (line for number, line in enumerate(lines, start=1) if number not in numbers)
                _, size_bytes = _save_as(self.path, lambda: kept, over=True)
        except BaseException:
            aside.unlink()
            raise
        self._go_on_with(self.path, *_open_locked(self.path, 0))
        self._written.reset(self._descriptor, size_bytes)
        self.tell(f"{self.path}: is damaged: its whole lines go on under its name, it is kept as {aside}")
        return size_bytes

    def _go_on_with(self, path: Path, descriptor: int, locked: bool) -> None:
        """Write to another open file from now on."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
        self.path, self._descriptor, self.locked = path, descriptor, locked

    def _write(self, line: bytes, *, settled: bool) -> None:
        """Write a line as one that can be read, whatever others append at the same time."""
        apart = NEWLINE + line
        for text in (apart if ends_within_line(self._descriptor) else line, apart):
            if self._written.add(self._descriptor, line, self._put(text, settled=settled)):
                return
        self._written.miss(line)

    def _put(self, text: bytes, *, settled: bool) -> int:
        """Write at the end of the file, and return where that is then; an error leaves nothing of it."""
        left = text
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
            end = os.lseek(self._descriptor, 0, os.SEEK_CUR)
            if settled:
                sync_to_disk(self._descriptor)
        except OSError:
            with contextlib.suppress(OSError):
                self._cut_off(text[: len(text) - len(left)])
            raise
        return end

    def _cut_off(self, piece: bytes) -> None:
        """Cut off what was just written, unless others have written behind it or into it."""
        end = os.lseek(self._descriptor, 0, os.SEEK_CUR)
        begin = end - len(piece)
        if piece and self.has_size(end) and os.pread(self._descriptor, len(piece), begin) == piece:
            os.ftruncate(self._descriptor, begin)

    def _write_again(self, line: bytes) -> None:
        """Write a line again after the open file was gone, as on NFS when another host has deleted it."""
        try:
            self._write(line, settled=True)
        except OSError as error:
            raise self._append_error(error) from None

    def _append_error(self, error: OSError) -> EnvironmentLacksError:
        """Return the error for a line that cannot be written."""
        if self.lost:
            return EnvironmentLacksError(self.lost, MOVED_HINT)
        return _write_error(self.path, error, is_begun=not self.has_size(0))

    # ---- What others do to it --------------------------------------------------------------------

    def _check(self) -> None:
        """Check that it has its name, its content and nothing else; follow it to its new name, or save it."""
        if self._is_packed or self._is_discarded:
            return
        if not is_name_of(self._descriptor, self.path) and (moved := _moved_to(self._descriptor, self.path)):
            self.tell(f"{self.path}: was moved while it grew; the result goes on as {moved}")
            self.path = moved
        change, named = self._written.change(self._descriptor), is_name_of(self._descriptor, self.path)
        if change is None and named:
            self.lost, self._is_unsaved = self._written.lost, False
        else:
            self._save(change, named=named)

    def _save(self, change: Change | None, *, named: bool) -> None:
        """Write the file again: complete, or else all that is left of it."""
        happened = f"{self.path}: was {_what_happened(self.path, change, named=named)} while it grew"
        if change == "cut" and not self._written.is_known:
            self._written.lost = f"{happened}: a part of it is lost"
        # What was appended where no file is locked may be another mpigauge's: that file is left to it.
        over = named and (self.locked or change == "cut")
        try:
            new_path, size_bytes = _save_again(
                self.content, self.path, over=over, elsewhere=change == "cut" or not named
            )
            opened = _open_locked(new_path, 0)
        except (OSError, MpigaugeError) as error:
            why = f"{happened}, and cannot be saved: {getattr(error, 'strerror', None) or error}"
            if not self._is_unsaved:
                self.tell(f"{why}; this is tried again after each launch")
            self._is_unsaved = True
            if change == "cut" or not named:
                self.lost = why
            return
        saved = "what is left of it" if self._written.lost else "all of it"
        but = ", without that," if change == "appended" else ""
        where = "again under its name" if new_path == self.path else f"as {new_path}"
        self.tell(f"{happened}; {saved}{but} is saved {where}")
        self._go_on_with(new_path, *opened)
        self.lost, self._is_unsaved = self._written.lost, False
        self._written.rewritten(size_bytes)


def write_whole(path: Path, records: Iterable[Record | None]) -> None:
    """Write a result that is complete, compressed if its name says so; existing files are never overwritten.

    Args:
        records: Its records; None for a line that is damaged, which stays one.

    Raises:
        UsageError: There is such a file already.
        EnvironmentLacksError: It cannot be written there.
    """
    lines = (DAMAGED_LINE if record is None else line_of(record) for record in records)
    with open_output(path, other_name="choose another name: results are never overwritten") as raw:
        if path.suffix != PACKED:
            raw.writelines(lines)
            return
        with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
            file.writelines(lines)


def line_of(record: Record) -> bytes:
    """Return a record as a line, with ~ for the user's home."""
    line = line_with_home(record)
    return line_with_home(shortened(record)) if may_name_home(line) else line


def line_with_home(record: Record) -> bytes:
    """Return a record as a line, its words as they are; bytes that are not UTF-8 are written as escapes."""
    try:
        return msgspec.json.encode(record, enc_hook=as_list) + b"\n"
    except UnicodeEncodeError:
        return msgspec.json.encode(_as_utf8(msgspec.to_builtins(record, enc_hook=as_list))) + b"\n"


def is_utf8(text: str) -> bool:
    """Return whether a string of the system is valid UTF-8, so that it can be written unchanged."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _as_utf8(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {_as_utf8(key): _as_utf8(item) for key, item in value.items()}
    return list(map(_as_utf8, value)) if isinstance(value, list | tuple) else value


def _moved_to(descriptor: int, path: Path) -> Path | None:
    """Return the current name of an open file; None if it has none, or only one of NFS."""
    try:
        target = Path(f"/proc/self/fd/{descriptor}").readlink()
    except OSError:
        return None
    if target.name.startswith(NAMES_OF_DELETED) or not is_name_of(descriptor, target):
        return None
    with contextlib.suppress(OSError, ValueError):
        return target if path.is_absolute() else target.relative_to(Path.cwd())
    return target


def _what_happened(path: Path, change: Change | None, *, named: bool) -> str:
    if named:
        return "appended to" if change == "appended" else "cut or overwritten"
    gone = "replaced by another file" if os.path.lexists(path) else "deleted"
    return f"appended to and {gone}" if change == "appended" else gone


def _save_again(
    content: Callable[[], Iterator[bytes]], path: Path, *, over: bool, elsewhere: bool
) -> tuple[Path, int]:
    """Write a result again, complete or not at all: under its name, or the first free one like it.

    Without room or folder it can be saved in the folder of temporary files.

    Args:
        over: Whether the name is still the result's own.
        elsewhere: Whether it is saved there rather than nowhere, as where its name has lost it.

    Returns:
        Its new name, and its size in bytes.

    Raises:
        OSError: It cannot be written; the error of its own folder.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if over:
            return _save_as(path, content, over=True)
        return _first_free(path, partial(_save_as, content=content))
    except OSError as error:
        if elsewhere:
            with contextlib.suppress(OSError):
                return _first_free(
                    Path(tempfile.gettempdir()) / path.name, partial(_save_as, content=content)
                )
        raise error from None


def _save_as(path: Path, content: Callable[[], Iterator[bytes]], *, over: bool = False) -> tuple[Path, int]:
    with write_atomically(path.resolve() if over else path, overwrite=over) as file:
        file.writelines(content())
        return path, file.tell()


def _write_error(path: Path, error: OSError, *, is_begun: bool) -> EnvironmentLacksError:
    """Return the error for a result that cannot be written.

    Args:
        is_begun: Whether its first line is there, without which nothing can be resumed.
    """
    kept = "everything measured before is in it" if is_begun else "nothing is in it yet"
    then = f"then: {resume_command(path)}" if is_begun else "then run again"
    if error.errno == errno.EFBIG:
        return EnvironmentLacksError(
            f"{path}: no file may grow so large here; {kept}", f"raise ulimit -f, {then}"
        )
    if error.errno in NO_ROOM:
        return EnvironmentLacksError(f"{path}: the disk is full; {kept}", f"free some space, {then}")
    if is_begun:
        return EnvironmentLacksError(
            f"{path}: cannot be written any more: {error.strerror}; {kept}",
            f"when it can be: {resume_command(path)}",
        )
    return EnvironmentLacksError(
        f"{path}: cannot be written: {error.strerror}", "choose another place: -o FILE.jsonl"
    )


def plain_name(path: Path) -> Path:
    """Return the name of a result while it grows uncompressed, so that a kill loses one line at most."""
    return path.with_suffix("") if path.suffix == PACKED else path


def _decompressed(path: Path) -> ResultFile:
    """Decompress a result to continue it, and open it.

    A damaged one is decompressed up to the damage, and kept under another name.
    """
    plain = plain_name(path)
    with path.open("rb") as raw:
        if try_lock(raw.fileno()) and os.fstat(raw.fileno()).st_nlink == 0:
            raise BlockingIOError  # the process that had the lock has decompressed it
        aside = _lines_to(plain, raw, path)
        if plain != path:
            path.unlink()
    file = _open(plain, 0)
    if aside:
        file.tell(f"{path}: is damaged: what it has before that goes on as {plain}, it is kept as {aside}")
    return file


def _lines_to(plain: Path, raw: io.BufferedReader, path: Path) -> Path | None:
    """Write the lines of a compressed file; return the name that it is kept under if it is damaged."""
    unpacked = Decompressed(raw) if is_packed(raw) else None
    aside = None
    try:
        with write_atomically(plain, overwrite=plain == path) as file:
            shutil.copyfileobj(raw if unpacked is None else io.BufferedReader(unpacked), file)
            if unpacked is not None and unpacked.damage:
                aside = _first_free(path.with_name(path.name + DAMAGED), partial(_kept_as, path))
    except BaseException as error:
        if aside is not None:
            aside.unlink()
        if isinstance(error, FileExistsError):
            raise _plain_name_exists_error(plain, path) from None
        raise
    return aside


def _is_compressed(path: Path) -> bool:
    """Return whether a file is compressed, whatever its name."""
    with path.open("rb") as file:
        return is_packed(file)


def _kept_as(path: Path, name: Path) -> Path:
    """Give a file a second name, or copy it where the file system has no links."""
    try:
        os.link(path, name)
    except FileExistsError:
        raise
    except OSError:
        with path.open("rb") as file, write_atomically(name) as copy:
            shutil.copyfileobj(file, copy)
    return name


def _plain_name_exists_error(plain: Path, path: Path) -> UsageError:
    return UsageError(
        f"{path}: would be unpacked to {plain}, which exists already",
        f"continue that one, which may have more in it: {resume_command(plain)}; or rename one of the two",
    )


def create(path: Path) -> ResultFile:
    """Open a new result file; existing files are never overwritten.

    It has its plain name until `packed` compresses it.

    Raises:
        UsageError: There is such a file already.
        EnvironmentLacksError: It cannot be written there.
    """
    check_output(path)
    try:
        if _lacks_first_line(path):
            return _begin_over(path)
        _expect_free(path)  # the plain name may be free where the compressed one is taken
        return _create(plain_name(path))
    except FileExistsError:
        raise _exists_error(path) from None


def check_free(path: Path) -> None:
    """Refuse the name of a result that `create` would refuse; nothing is opened.

    Raises:
        UsageError: There is such a file already.
    """
    check_output(path)
    if not _lacks_first_line(path) and any(map(os.path.lexists, (path, plain_name(path)))):
        raise _exists_error(path)


def _exists_error(path: Path) -> UsageError:
    if path.is_symlink() and not path.exists():
        return UsageError(
            f"{path}: is a link to {path.readlink()}, which is not there",
            f"name that file, or remove the link: rm {as_argument(path)}",
        )
    return UsageError(
        f"{path}: exists already, and results are never overwritten",
        f"choose another name, or continue it: {resume_command(path)}",
    )


def create_numbered(path: Path) -> ResultFile:
    """Open a new result file under this name, or the first free of NAME-2, NAME-3 and so on.

    Raises:
        EnvironmentLacksError: It cannot be written there.
    """
    return _first_free(path, _create)


def _first_free(path: Path, make: Callable[[Path], Made]) -> Made:
    """Call `make` with this name, or the first free of NAME-2, NAME-3 and so on; return its result."""
    name, number = path, 1
    while True:
        try:
            _expect_free(name.with_name(name.name + PACKED))
            return make(name)
        except FileExistsError:
            number += 1
            name = path.with_stem(f"{path.stem}-{number}")


def _lacks_first_line(path: Path) -> bool:
    """Return whether a file has only a part of its first line, since its writer was killed."""
    try:
        with path.open("rb") as file:
            first = file.readline(MAX_TORN_FIRST_LINE_BYTES)
            is_result = BEGIN.startswith(first[: len(BEGIN)]) and not first.endswith(b"\n")
            return is_result and len(first) < MAX_TORN_FIRST_LINE_BYTES
    except OSError:
        return False


def _begin_over(path: Path) -> ResultFile:
    file = _open_or_explain(path, 0)
    if not _lacks_first_line(path):  # another process had the lock, and wrote
        file.__exit__(None, None, None)
        raise FileExistsError
    file.truncate(0)
    return file


def _expect_free(path: Path) -> None:
    """Raise FileExistsError if a file exists; other errors show when it is opened."""
    if os.path.lexists(path):
        raise FileExistsError


def _create(path: Path) -> ResultFile:
    try:
        path.parent.mkdir(exist_ok=True)
    except FileNotFoundError as error:
        if path.parent.parent.exists():  # as when the working folder was deleted
            raise _write_error(path, error, is_begun=False) from None
        raise EnvironmentLacksError(
            f"{path}: there is no folder {path.parent.parent}",
            f"make it, if it is meant: mkdir -p {as_argument(path.parent)}",
        ) from None
    except OSError as error:
        raise _write_error(path, error, is_begun=False) from None
    return _open_or_explain(path, os.O_CREAT | os.O_EXCL)


def _open_or_explain(path: Path, flags: int) -> ResultFile:
    try:
        return _open(path, flags)
    except FileExistsError:
        raise
    except OSError as error:
        raise _write_error(path, error, is_begun=False) from None


def reopen(path: Path, known_bytes: int, without: Collection[int] = ()) -> ResultFile:
    """Open a result file to continue it; a torn last line is cut off, a compressed file decompressed.

    Args:
        known_bytes: Its uncompressed size when it was read.
        without: Numbers of lines that are left out of it; if there are any, all of it is kept under another
            name.

    Raises:
        UsageError: Another process is writing it, or has written since it was read.
        EnvironmentLacksError: It cannot be written.
    """
    try:
        file = _decompressed(path) if path.suffix == PACKED or _is_compressed(path) else _open(path, 0)
        path = file.path
        if not file.has_size(known_bytes):
            file.__exit__(None, None, None)
            raise UsageError(f"{path}: another mpigauge has just continued it", "then: mpigauge resume again")
        if without:
            known_bytes = file.leave_out(frozenset(without))
        if (end := _end_of_last_line(path, known_bytes)) < known_bytes:
            file.truncate(end)
    except BlockingIOError:
        raise _locked_error(path) from None
    except OSError as error:
        raise _write_error(path, error, is_begun=True) from None
    return file


def _open(path: Path, flags: int) -> ResultFile:
    descriptor, is_locked = _open_locked(path, flags)
    return ResultFile(path, descriptor, locked=is_locked, size_bytes=0 if flags & os.O_EXCL else None)


def _open_locked(path: Path, flags: int) -> tuple[int, bool]:
    """Return the descriptor of a result to write to, and whether it is locked."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o644)
    try:
        return descriptor, try_lock(descriptor)
    except BlockingIOError:
        os.close(descriptor)
        raise _locked_error(path) from None
    except OSError:
        os.close(descriptor)
        if flags & os.O_EXCL:
            path.unlink()
        raise


def _locked_error(path: Path) -> UsageError:
    return UsageError(f"{path}: another mpigauge is writing it", "wait for it, or stop it, and then resume")


def _end_of_last_line(path: Path, size: int) -> int:
    with path.open("rb") as file:
        end = size
        while end > 0:
            begin = max(0, end - TAIL_BYTES)
            file.seek(begin)
            at = file.read(end - begin).rfind(b"\n")
            if at >= 0:
                return begin + at + 1
            end = begin
    return 0
