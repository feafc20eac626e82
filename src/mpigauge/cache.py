"""The cache of programs that are built on the spot: made once for the same sources and words."""

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from mpigauge.errors import EnvironmentLacksError

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
COMPILE_FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2")


def cache_folder() -> Path:
    """Where built programs are kept: $MPIGAUGE_KERNEL_DIR, else the user's cache."""
    if chosen := os.environ.get("MPIGAUGE_KERNEL_DIR"):
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "mpigauge" / "kernels"


def fingerprint(sources: Iterable[Path], words: Iterable[str]) -> str:
    """16 hexadecimal digits that change with any of the files and words."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    for word in words:
        digest.update(word.encode() + b"\0")
    return digest.hexdigest()[:16]


def made(program: Path, about: str, compile_to: Callable[[Path], None]) -> Path:
    """The program, compiled if it is not there yet: whole or not at all, also if two do it at once.

    Args:
        about: What an error calls it.
        compile_to: Writes it to the path that it is given.

    Raises:
        EnvironmentLacksError: The cache cannot be written, or is another user's.
    """
    if program.is_file() and _is_safe(program) and _is_safe(program.parent):
        return program
    try:
        _make_safe(program.parent)
        with tempfile.TemporaryDirectory(dir=program.parent) as folder:
            built = Path(folder) / program.name
            compile_to(built)
            built.chmod(0o755)
            built.replace(program)
    except OSError as error:
        raise EnvironmentLacksError(
            f"{program.parent}: {about} cannot be kept there: {error.strerror}",
            "set MPIGAUGE_KERNEL_DIR to a folder that can be written",
        ) from None
    return program


def _is_safe(path: Path) -> bool:
    """Whether nobody else can have put there what we are about to run."""
    status = path.stat()
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & OTHERS_WRITE


def _make_safe(folder: Path) -> None:
    """Makes a folder, or takes the right to write there from everybody else; many a umask gives it.

    Raises:
        EnvironmentLacksError: It is another user's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid not in (os.geteuid(), 0):
        raise EnvironmentLacksError(
            f"{folder}: belongs to another user, whose programs would be run",
            "set MPIGAUGE_KERNEL_DIR to a folder of your own",
        )
    if status.st_mode & OTHERS_WRITE:
        folder.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS_WRITE)
