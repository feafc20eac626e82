"""Files named by a user: opened in one place, so that nothing waits for ever or fills the memory.

Anything but a regular file is refused before it is opened: a device never ends, or acts when it is opened,
and a named pipe waits for a writer. A pipe that is open already is read: `<(zcat r.jsonl.gz)` of a shell,
which is `/dev/fd/63`, and `/dev/stdin`.
"""

import io
import os
import stat
from pathlib import Path

from mpigauge.errors import UsageError

TEXT_MOST_BYTES = 1 << 26
"""Longest text that people or other benchmarks write: plans, machine files, tables."""

LINE_MOST_BYTES = 1 << 30
"""Longest line of a result: its first, which has all cells in it."""

DESCRIPTORS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
SYSTEM = (Path("/dev"), Path("/proc"), Path("/sys"))
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder for files, in spite of its place

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_regular(path: Path, hint: str) -> io.BufferedReader:
    """Open a regular file, or an open pipe, to read it.

    Args:
        hint: What to do if it is no file.

    Raises:
        UsageError: It is a folder, a device, a socket or a named pipe.
        OSError: It cannot be opened.
    """
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode) and os.fspath(path).startswith(DESCRIPTORS):
        return path.open("rb")
    _check_regular(path, mode, hint)
    # It may have been replaced since then by a named pipe, on which opening must not wait.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _check_regular(path, os.fstat(descriptor).st_mode, hint)
        os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def content_of(path: Path, hint: str, most_bytes: int = TEXT_MOST_BYTES) -> bytes:
    """Return the content of a file.

    Args:
        hint: What to do if it cannot be read.
        most_bytes: Longest file that is read.

    Raises:
        UsageError: It is no file, cannot be read, or is too long.
    """
    try:
        with open_regular(path, hint) as file:
            content = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:  # a name with NUL is a wrong value
        raise UsageError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}", hint
        ) from None
    if len(content) > most_bytes:
        raise UsageError(f"{path}: is longer than {most_bytes >> 20} MiB", hint)
    return content


def text_of(path: Path, hint: str) -> str:
    """Return the text of a file, with line ends as ` `.

    Raises:
        UsageError: It is no file, cannot be read, or is too long.
        UnicodeDecodeError: It is not UTF-8.
    """
    return content_of(path, hint).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def check_output(path: Path) -> None:
    """Refuse to write to anything but a file: a folder, pipe, device or socket.

    An atomic write would replace it: as root, even `/dev/null`.

    Raises:
        UsageError: It is a folder, a device, a socket, a named pipe, or a name of the system.
    """
    hint = "choose the name of a file"
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # it is not there, or whoever opens it will say why not
        mode = stat.S_IFREG
    _check_regular(path, mode, f"{hint}: {path / 'NAME'}" if stat.S_ISDIR(mode) else hint)
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - links as they are
    if any(map(absolute.is_relative_to, SYSTEM)) and not absolute.is_relative_to(MEMORY):
        raise UsageError(f"{path}: is a name of the system, not of a file", hint)


def _check_regular(path: Path, mode: int, hint: str) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((words for is_such, words in _KINDS if is_such(mode)), "something else")
    raise UsageError(f"{path}: is {kind}, not a file", hint)
