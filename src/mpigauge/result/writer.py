"""Writing a result file: record by record, so that whatever dies, all that was finished is in it."""

import contextlib
import errno
import gzip
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import msgspec

from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.inputs import check_output
from mpigauge.locks import locked
from mpigauge.result.compact import plain
from mpigauge.result.files import resume_words
from mpigauge.result.records import Done, End, Failure, Record

TAIL_BYTES = 1 << 16
PACKED = ".gz"
"""What the name of a compressed result ends in."""


BEGIN = b'{"type":"campaign"'
"""What a result begins with."""

UNBORN_MOST_BYTES = 1 << 26
"""So much of a first line that had no end is more than a kill has ever left: it stays."""

SETTLED = (Done, Failure, End)
"""After these no rank runs, so that there is time to have everything on the disk."""


class ResultFile:
    """An open result file that only grows. Use it in a `with`.

    Attributes:
        path: Its name while it grows.
        locked: Whether others are kept away from it; some file systems cannot.
    """

    def __init__(self, path: Path, descriptor: int, *, locked: bool = True) -> None:
        self.path = path
        self.locked = locked
        self._descriptor = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            os.close(self._descriptor)
        except OSError as late:  # some file systems report a full disk only now
            if error is None:
                raise _cannot_write(self.path, late) from None

    def append(self, record: Record) -> None:
        """Writes one line; at the end of a launch, waits until all are on the disk.

        Raises:
            EnvironmentLacksError: The disk is full or gone; all lines before are whole.
        """
        line = line_of(record)
        whole = os.lseek(self._descriptor, 0, os.SEEK_END)
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
            if isinstance(record, SETTLED):
                _settle(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, whole)
            raise _cannot_write(self.path, error) from None


def line_of(record: Record) -> bytes:
    """A record as a line; bytes of names that are not UTF-8 are written out."""
    try:
        return msgspec.json.encode(record, enc_hook=plain) + b"\n"
    except UnicodeEncodeError:
        return msgspec.json.encode(_as_utf8(msgspec.to_builtins(record, enc_hook=plain))) + b"\n"


def is_utf8(text: str) -> bool:
    """Whether a word of the system can be written as it is, and read again as it was."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _as_utf8(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {_as_utf8(key): _as_utf8(one) for key, one in value.items()}
    return list(map(_as_utf8, value)) if isinstance(value, list | tuple) else value


def _settle(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # not a regular file, which has nothing to sync
            raise


def _cannot_write(path: Path, error: OSError) -> EnvironmentLacksError:
    if error.errno == errno.EFBIG:
        return EnvironmentLacksError(
            f"{path}: no file may grow so large here; everything measured before is in it",
            f"raise ulimit -f, then: {resume_words(path)}",
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return EnvironmentLacksError(
            f"{path}: the disk is full; everything measured before is in the file",
            f"free some space, then: {resume_words(path)}",
        )
    return EnvironmentLacksError(
        f"{path}: cannot be written: {error.strerror}", "choose another place: -o FILE.jsonl"
    )


def plain_name(path: Path) -> Path:
    """What a result is called while it grows: lines as they are, so that a kill loses one at most."""
    return path.with_suffix("") if path.suffix == PACKED else path


def packed(path: Path) -> Path:
    """Compresses a result that is complete, and returns its new name; the whole of it, or nothing.

    A kill on the way leaves the file as it was. So does whatever else prevents it, such as a full disk, or
    another file of the new name.
    """
    new = path.with_name(path.name + PACKED)
    try:
        with (
            path.open("rb") as lines,
            _becoming(new) as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file,
        ):
            shutil.copyfileobj(lines, file)
    except OSError:
        return path
    path.unlink()
    return new


def _unpacked(path: Path) -> Path:
    """A compressed result as lines again, to go on with it."""
    plain = plain_name(path)
    with path.open("rb") as raw:
        if locked(raw.fileno()) and os.fstat(raw.fileno()).st_nlink == 0:
            raise BlockingIOError  # who had the lock has unpacked it
        try:
            with gzip.open(raw) as file, _becoming(plain) as lines:
                shutil.copyfileobj(file, lines)
        except FileExistsError:
            raise _is_beside(plain, path) from None
        path.unlink()
    return plain


@contextlib.contextmanager
def _becoming(path: Path) -> Iterator[BinaryIO]:
    """A file that has its name once it is whole and on the disk; whatever prevents that leaves nothing.

    Raises:
        FileExistsError: Another file has the name, and keeps it.
    """
    part = path.with_name(path.name + ".part")
    try:
        _expect_free(path)
        with part.open("wb") as file:
            yield file
            file.flush()
            _settle(file.fileno())
        _give_name(part, path)
    finally:
        part.unlink(missing_ok=True)


def _give_name(part: Path, path: Path) -> None:
    """A second name is never given over another file, as a rename would be; some file systems have none."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:
        _expect_free(path)
        part.replace(path)


def _is_beside(plain: Path, path: Path) -> UsageError:
    return UsageError(
        f"{path}: would be unpacked to {plain}, which exists already",
        f"continue that one, which may have more in it: {resume_words(plain)}; or rename one of the two",
    )


def create(path: Path) -> ResultFile:
    """Opens a new result file; what exists is never overwritten.

    It is called by its plain name until `packed` compresses it.

    Raises:
        UsageError: There is such a file already.
        EnvironmentLacksError: It cannot be written there.
    """
    check_output(path)
    try:
        if _is_unborn(path):
            return _begin_again(path)
        _expect_free(path)  # the plain name may be free where the compressed one is taken
        return _create(plain_name(path))
    except FileExistsError:
        raise _exists(path) from None


def check_free(path: Path) -> None:
    """Refuses the name of a result that `create` would refuse; nothing is opened.

    Raises:
        UsageError: There is such a file already.
    """
    check_output(path)
    if not _is_unborn(path) and any(map(os.path.lexists, (path, plain_name(path)))):
        raise _exists(path)


def _exists(path: Path) -> UsageError:
    return UsageError(
        f"{path}: exists already, and results are never overwritten",
        f"choose another name, or continue it: {resume_words(path)}",
    )


def create_beside(path: Path) -> ResultFile:
    """Opens a new result file under this name, or where that is taken under the first free of NAME-2 and on.

    Raises:
        EnvironmentLacksError: It cannot be written there.
    """
    name, number = path, 1
    while True:
        try:
            _expect_free(name.with_name(name.name + PACKED))
            return _create(name)
        except FileExistsError:
            number += 1
            name = path.with_stem(f"{path.stem}-{number}")


def _is_unborn(path: Path) -> bool:
    """Whether a file has nothing but a part of a first line: who began it was killed over that."""
    try:
        with path.open("rb") as file:
            first = file.readline(UNBORN_MOST_BYTES)
            begun = BEGIN.startswith(first[: len(BEGIN)]) and not first.endswith(b"\n")
            return begun and len(first) < UNBORN_MOST_BYTES
    except OSError:
        return False


def _begin_again(path: Path) -> ResultFile:
    file = _open_in_words(path, 0)
    if not _is_unborn(path):  # somebody had the lock, and wrote
        file.__exit__(None, None, None)
        raise FileExistsError
    os.ftruncate(file._descriptor, 0)  # noqa: SLF001
    return file


def _expect_free(path: Path) -> None:
    """Like the system where a file exists; what else is wrong with a name shows when it is opened."""
    if os.path.lexists(path):
        raise FileExistsError


def _create(path: Path) -> ResultFile:
    try:
        path.parent.mkdir(exist_ok=True)
    except FileNotFoundError as error:
        if path.parent.parent.exists():  # as where the folder that we are in is gone
            raise _cannot_write(path, error) from None
        raise EnvironmentLacksError(
            f"{path}: there is no folder {path.parent.parent}",
            f"make it, if it is meant: mkdir -p {shlex.quote(str(path.parent))}",
        ) from None
    except OSError as error:
        raise _cannot_write(path, error) from None
    return _open_in_words(path, os.O_CREAT | os.O_EXCL)


def _open_in_words(path: Path, flags: int) -> ResultFile:
    try:
        return _open(path, flags)
    except FileExistsError:
        raise
    except OSError as error:
        raise _cannot_write(path, error) from None


def reopen(path: Path, known_bytes: int) -> ResultFile:
    """Opens a result file to go on with it; a torn last line is cut off, a compressed one unpacked.

    Args:
        known_bytes: How long it was, as lines, when it was read.

    Raises:
        UsageError: Somebody else is writing it, or has written since it was read.
        EnvironmentLacksError: It cannot be written.
    """
    try:
        path = _unpacked(path) if path.suffix == PACKED else path
        file = _open(path, 0)
        size = os.lseek(file._descriptor, 0, os.SEEK_END)  # noqa: SLF001
        if size != known_bytes:
            file.__exit__(None, None, None)
            raise UsageError(f"{path}: another mpigauge has just continued it", "then: mpigauge resume again")
        os.ftruncate(file._descriptor, _end_of_last_line(path, size))  # noqa: SLF001
    except BlockingIOError:
        raise _taken(path) from None
    except OSError as error:
        raise _cannot_write(path, error) from None
    return file


def _open(path: Path, flags: int) -> ResultFile:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o644)
    try:
        return ResultFile(path, descriptor, locked=locked(descriptor))
    except BlockingIOError:
        os.close(descriptor)
        raise _taken(path) from None
    except OSError:
        os.close(descriptor)
        if flags & os.O_EXCL:
            path.unlink()
        raise


def _taken(path: Path) -> UsageError:
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
