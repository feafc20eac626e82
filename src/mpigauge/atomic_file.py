"""Files written atomically: complete under their name once they are on the disk, or not at all.

Folders may be shared with users who cannot be trusted: no name that others can know beforehand is opened,
and no link is followed.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mpigauge.errors import EnvironmentLacksError, MpigaugeError, UsageError, remedy

NO_NAME = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)
NOTHING_TO_SYNC = (errno.EINVAL, errno.ENOTSUP)
"""Errors of fsync on anything but a regular file."""

DEFAULT_MODE = 0o666
"""Mode of a new file, before the umask."""

PROGRAM_MODE = 0o777

OTHER_NAME = "choose another name, or replace it: --overwrite"


@contextlib.contextmanager
def open_output(
    path: Path,
    *,
    overwrite: bool = False,
    mode: int = DEFAULT_MODE,
    other_name: str = OTHER_NAME,
    other_place: str = "choose another place: -o FILE",
) -> Iterator[BinaryIO]:
    """Open a file that a user has named for an atomic write, with sentences for what prevents it.

    Args:
        other_name: What to do if the name is taken.
        other_place: What to do if it cannot be written there.

    Raises:
        UsageError: The name is taken, or is no possible name.
        EnvironmentLacksError: It cannot be written: no space, no permission, a read-only file system.
    """
    try:
        with write_atomically(path, overwrite=overwrite, mode=mode) as file:
            yield file
    except FileExistsError:
        raise UsageError(f"{path}: is there already", other_name) from None
    except OSError as error:
        raise cannot_write(path, error, other_place) from None


def check_free(path: Path, *, overwrite: bool = False, other_name: str = OTHER_NAME) -> None:
    """Refuse a name that `open_output` would refuse, before anything is computed for it.

    Raises:
        UsageError: The name is taken.
    """
    try:
        _check_name(path, overwrite=overwrite)
    except FileExistsError:
        raise UsageError(f"{path}: is there already", other_name) from None


def cannot_write(path: Path, error: OSError, instead: str) -> MpigaugeError:
    """Return the error that says why a file cannot be written, and what helps.

    An impossible name, as in a folder that does not exist, is a usage error.

    Args:
        instead: What to do where neither room nor a limit is lacking.
    """
    sentence = f"{path}: cannot be written: {error.strerror or error}"
    if error.errno in NO_NAME:
        return UsageError(sentence, instead)
    return EnvironmentLacksError(sentence, remedy(error, instead))


@contextlib.contextmanager
def write_atomically(path: Path, *, overwrite: bool = False, mode: int = DEFAULT_MODE) -> Iterator[BinaryIO]:
    """Open a file that gets its name only if the block ends without error; otherwise nothing remains.

    Until then it has a random name in the same folder. Another file of the same name stays as it is, or,
    where it may be overwritten, until the new one is complete.

    Raises:
        FileExistsError: Another file has the name.
        UsageError: The name is that of a device, a pipe or a folder.
        OSError: It cannot be written.
    """
    _check_name(path, overwrite=overwrite)
    temporary = path.with_name(f".mpigauge-{secrets.token_hex(8)}.part")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(temporary, flags, mode), "w+b") as file:
            yield file
            file.flush()
            sync_to_disk(file.fileno())
            _give_name(temporary, path, overwrite=overwrite)
            if not is_name_of(file.fileno(), path):
                raise OSError(errno.ESTALE, "somebody has replaced it on the way")
    finally:
        with contextlib.suppress(OSError):  # it has its name, or could not be made
            temporary.unlink()


def sync_to_disk(descriptor: int) -> None:
    """Wait until everything written is on the disk."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NOTHING_TO_SYNC:
            raise


def is_name_of(descriptor: int, path: Path) -> bool:
    """Return whether a path names this open file."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def _check_name(path: Path, *, overwrite: bool) -> None:
    """Refuse a name that is taken, before anything is computed for it."""
    try:
        status = path.lstat()
    except OSError:
        return  # what else is wrong with a name shows when it is opened
    if not overwrite:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
        raise UsageError(f"{path}: is not a file, and is not replaced", "name a file")


def _give_name(temporary: Path, path: Path, *, overwrite: bool) -> None:
    """Give a file its name; without overwrite by a link, since a rename would replace another file."""
    if overwrite:
        temporary.replace(path)
        return
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without second names
        _check_name(path, overwrite=False)
        temporary.replace(path)
