"""Writing a result file: record by record, so that whatever dies, all that was finished is in it."""

import errno
import fcntl
import gzip
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.result.records import Record

TAIL_BYTES = 1 << 16
PACKED = ".gz"
"""What the name of a compressed result ends in."""


class ResultFile:
    """An open result file that only grows. Use it in a `with`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._encoder = msgspec.json.Encoder()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)

    def append(self, record: Record) -> None:
        """Writes one line.

        Raises:
            EnvironmentLacksError: The disk is full or gone; all lines before are whole.
        """
        line = self._encoder.encode(record) + b"\n"
        whole = os.lseek(self._descriptor, 0, os.SEEK_END)
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            os.ftruncate(self._descriptor, whole)
            raise _cannot_write(self.path, error) from None


def _cannot_write(path: Path, error: OSError) -> EnvironmentLacksError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return EnvironmentLacksError(
            f"{path}: the disk is full; everything measured before is in the file",
            f"free some space, then: mpigauge resume {path}",
        )
    return EnvironmentLacksError(
        f"{path}: cannot be written: {error.strerror}", "choose another place: -o FILE.jsonl"
    )


def plain_name(path: Path) -> Path:
    """What a result is called while it grows: lines as they are, so that a kill loses one at most."""
    return path.with_suffix("") if path.suffix == PACKED else path


def packed(path: Path) -> Path:
    """Compresses a result that is complete, and returns its new name; the whole of it, or nothing.

    A kill on the way leaves the file as it was. So does whatever else prevents it, such as a full disk.
    """
    new, part = path.with_name(path.name + PACKED), path.with_name(path.name + PACKED + ".part")
    try:
        with path.open("rb") as lines, part.open("wb") as raw:
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
                shutil.copyfileobj(lines, file)
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(new)
    except OSError:
        part.unlink(missing_ok=True)
        return path
    path.unlink()
    return new


def _unpacked(path: Path) -> Path:
    """A compressed result as lines again, to go on with it."""
    plain, part = plain_name(path), path.with_suffix(".part")
    with gzip.open(path) as file, part.open("wb") as lines:
        shutil.copyfileobj(file, lines)
    part.replace(plain)
    path.unlink()
    return plain


def create(path: Path) -> ResultFile:
    """Opens a new result file; what exists is never overwritten.

    It is called by its plain name until `packed` compresses it.

    Raises:
        UsageError: There is such a file already.
        EnvironmentLacksError: It cannot be written there.
    """
    try:
        _expect_free(path)  # the plain name may be free where the compressed one is taken
        return _create(plain_name(path))
    except FileExistsError:
        raise UsageError(
            f"{path}: exists already, and results are never overwritten",
            f"choose another name, or continue it: mpigauge resume {path}",
        ) from None


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


def _expect_free(path: Path) -> None:
    """Like the system where a file exists; what else is wrong with a name shows when it is opened."""
    if os.path.lexists(path):
        raise FileExistsError


def _create(path: Path) -> ResultFile:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_write(path, error) from None
    try:
        return _open(path, os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        raise
    except OSError as error:
        raise _cannot_write(path, error) from None


def reopen(path: Path) -> ResultFile:
    """Opens a result file to go on with it; a torn last line is cut off, a compressed one unpacked.

    Raises:
        UsageError: Somebody else is writing it.
        EnvironmentLacksError: It cannot be written.
    """
    try:
        path = _unpacked(path) if path.suffix == PACKED else path
        file = _open(path, 0)
        size = os.lseek(file._descriptor, 0, os.SEEK_END)  # noqa: SLF001
        os.ftruncate(file._descriptor, _end_of_last_line(path, size))  # noqa: SLF001
    except OSError as error:
        raise _cannot_write(path, error) from None
    return file


def _open(path: Path, flags: int) -> ResultFile:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UsageError(
            f"{path}: another mpigauge is writing it", "wait for it, or stop it, and then resume"
        ) from None
    return ResultFile(path, descriptor)


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
