"""Files that appear whole: under their name once all of them is on the disk, or not at all.

Whatever must not be seen half written goes through here, since folders may be shared with people whom nobody
trusts: no name that others can know beforehand is ever opened, and no link is followed.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mpigauge.errors import EnvironmentLacksError, MpigaugeError, UsageError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
NO_NAME = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)
NOTHING_TO_SYNC = (errno.EINVAL, errno.ENOTSUP)
"""Errors of fsync on what is not a regular file."""

USUAL_MODE = 0o666
"""Mode of a new file, before the umask."""

PROGRAM_MODE = 0o777

OTHER_NAME = "choose another name, or replace it: --overwrite"


@contextlib.contextmanager
def written(
    path: Path,
    *,
    overwrite: bool = False,
    mode: int = USUAL_MODE,
    other_name: str = OTHER_NAME,
    other_place: str = "choose another place: -o FILE",
) -> Iterator[BinaryIO]:
    """A file that a user has named, as `appearing`, with sentences for what prevents it.

    Args:
        other_name: What to do if the name is taken.
        other_place: What to do if it cannot be written there.

    Raises:
        UsageError: The name is taken, or can be none.
        EnvironmentLacksError: It cannot be written: no room, no right, a file system that is read only.
    """
    try:
        with appearing(path, overwrite=overwrite, mode=mode) as file:
            yield file
    except FileExistsError:
        raise UsageError(f"{path}: is there already", other_name) from None
    except OSError as error:
        raise cannot_write(path, error, other_place) from None


def check_free(path: Path, *, overwrite: bool = False, other_name: str = OTHER_NAME) -> None:
    """Refuse a name that `written` would refuse, before anything is computed for it.

    Raises:
        UsageError: The name is taken.
    """
    try:
        _check_name(path, overwrite=overwrite)
    except FileExistsError:
        raise UsageError(f"{path}: is there already", other_name) from None


def cannot_write(path: Path, error: OSError, instead: str) -> MpigaugeError:
    """Return the error that says why a file cannot be written, and what helps against that.

    A name that cannot be, as in a folder that is not there, is a wrong use.

    Args:
        instead: What to do where more room would not help.
    """
    sentence = f"{path}: cannot be written: {error.strerror or error}"
    if error.errno in NO_NAME:
        return UsageError(sentence, instead)
    if error.errno in NO_ROOM:
        return EnvironmentLacksError(sentence, f"free some space, or {instead}")
    if error.errno == errno.EFBIG:
        return EnvironmentLacksError(sentence, f"raise ulimit -f, or {instead}")
    return EnvironmentLacksError(sentence, instead)


@contextlib.contextmanager
def appearing(path: Path, *, overwrite: bool = False, mode: int = USUAL_MODE) -> Iterator[BinaryIO]:
    """A file that gets its name when the block ends well; whatever prevents that leaves nothing of it.

    Until then it has a name at random in the same folder. Another file of the same name stays as it is, or,
    where it may be overwritten, until the new one is whole.

    Raises:
        FileExistsError: Another file has the name, and keeps it.
        UsageError: What would be overwritten is not a regular file: a device, a pipe, a folder.
        OSError: It cannot be written.
    """
    _check_name(path, overwrite=overwrite)
    part = path.with_name(f".mpigauge-{secrets.token_hex(8)}.part")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(part, flags, mode), "w+b") as file:
            yield file
            file.flush()
            settle(file.fileno())
            _give_name(part, path, overwrite=overwrite)
            if not is_at(file.fileno(), path):
                raise OSError(errno.ESTALE, "somebody has replaced it on the way")
    finally:
        with contextlib.suppress(OSError):  # it has its name, or could not be made
            part.unlink()


def settle(descriptor: int) -> None:
    """Wait until all that was written is on the disk."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NOTHING_TO_SYNC:
            raise


def is_at(descriptor: int, path: Path) -> bool:
    """Return whether a name is that of an open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def _check_name(path: Path, *, overwrite: bool) -> None:
    """Look at what is there, before anything is computed for it."""
    try:
        there = path.lstat()
    except OSError:
        return  # what else is wrong with a name shows when it is opened
    if not overwrite:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    if not (stat.S_ISREG(there.st_mode) or stat.S_ISLNK(there.st_mode)):
        raise UsageError(f"{path}: is not a file, and is not replaced", "name a file")


def _give_name(part: Path, path: Path, *, overwrite: bool) -> None:
    """Name a file; a second name is never given over another file, as a rename would be."""
    if overwrite:
        part.replace(path)
        return
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without second names
        _check_name(path, overwrite=False)
        part.replace(path)
