"""The cache of programs that are built on the spot: made once for the same sources and words."""

import contextlib
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from mpigauge.errors import EnvironmentLacksError

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
ASIDE = ".old-"
ASIDE_KEPT_S = 14 * 86_400.0
"""Longer than any campaign lasts."""

COMPILE_FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2")


def cache_folder() -> Path:
    """Where built programs are kept: $MPIGAUGE_KERNEL_DIR, else the user's cache, else a temporary folder.

    Users of containers and daemons often have no home that they may write to.

    Raises:
        EnvironmentLacksError: Nobody knows where the user's home is, and there is no other place.
    """
    if chosen := os.environ.get("MPIGAUGE_KERNEL_DIR"):
        return Path(chosen).absolute()  # ranks, and hosts that are given a program, are in other folders
    try:
        usual = user_cache("MPIGAUGE_KERNEL_DIR") / "kernels"
    except EnvironmentLacksError:
        if (instead := _temporary_cache()) is not None:
            return instead
        raise
    # Methods of Path raise where a folder above is closed, as that of another user.
    if os.path.isdir(usual) or _takes_programs(usual):  # noqa: PTH112
        return usual
    return _temporary_cache() or usual


def _takes_programs(folder: Path) -> bool:
    """Return whether programs can be put into a folder, or into the one that it would be made in, and run."""
    there = next(one for one in (folder, *folder.parents) if os.path.exists(one))  # noqa: PTH110 - as above
    return os.access(there, os.W_OK | os.X_OK) and not os.statvfs(there).f_flag & os.ST_NOEXEC


def _temporary_cache() -> Path | None:
    """Return a folder of this user below that of temporary files; None if there is none that is safe.

    It lies directly in a folder that others write to: it must be ours before anything in it is believed.
    """
    try:
        folder = Path(tempfile.gettempdir()) / f"mpigauge-{os.getuid()}"
        if not _takes_programs(folder):
            return None
        make_safe(folder, "whose programs would be run", "MPIGAUGE_KERNEL_DIR")
    except (OSError, EnvironmentLacksError):
        return None
    # Whose link it is could let it point elsewhere at any time.
    return None if folder.is_symlink() else folder / "kernels"


def user_cache(instead: str) -> Path:
    """Where what can be made again is kept.

    Args:
        instead: The variable that makes the user's home unnecessary.

    Raises:
        EnvironmentLacksError: Nobody knows where the user's home is.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or home(instead) / ".cache") / "mpigauge"


def home(instead: str) -> Path:
    """The user's home.

    Args:
        instead: The variable that makes it unnecessary.

    Raises:
        EnvironmentLacksError: HOME is not set, and the system does not know the user, as in many containers.
    """
    try:
        return Path.home()
    except RuntimeError:
        raise EnvironmentLacksError(
            f"HOME is not set, and the system knows no home of user {os.getuid()}",
            f"set HOME, or {instead}, to a folder that can be written",
        ) from None


def fingerprint(sources: Iterable[Path], words: Iterable[str]) -> str:
    """16 hexadecimal digits that change with any of the files and words."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    for word in words:
        digest.update(word.encode() + b"\0")
    return digest.hexdigest()[:16]


def made(program: Path, about: str, compile_to: Callable[[Path], None]) -> Path:
    """The program, compiled if it is not there yet: whole or not at all, and of two builders the first wins.

    A program that is there may be running, here or on another host, where to take its place would end it.

    Args:
        about: What an error calls it.
        compile_to: Writes it to the path that it is given.

    Raises:
        EnvironmentLacksError: The cache cannot be written, or is another user's.
    """
    if program.is_file() and is_safe(program) and is_safe(program.parent):
        return program
    # What is there but may be somebody else's gives way, whoever runs it.
    return _compiled(program, about, compile_to, Path.replace if program.exists() else _put)


def remade(program: Path, about: str, compile_to: Callable[[Path], None]) -> Path:
    """The program, compiled anew; there is one at every moment, and whoever runs the old one goes on with it.

    Raises:
        EnvironmentLacksError: The cache cannot be written, or is another user's.
    """
    return _compiled(program, about, compile_to, _swap)


def _compiled(
    program: Path,
    about: str,
    compile_to: Callable[[Path], None],
    put: Callable[[Path, Path], object],
) -> Path:
    try:
        make_safe(program.parent, "whose programs would be run", "MPIGAUGE_KERNEL_DIR")
        with tempfile.TemporaryDirectory(dir=program.parent) as folder:
            built = Path(folder) / program.name
            compile_to(built)
            built.chmod(0o755)
            put(built, program)
    except OSError as error:
        raise EnvironmentLacksError(
            f"{program.parent}: {about} cannot be kept there: {error.strerror}",
            "set MPIGAUGE_KERNEL_DIR to a folder that can be written",
        ) from None
    return program


def _put(built: Path, program: Path) -> None:
    """Gives a whole program its name, unless another one that is as good has it by now."""
    with contextlib.suppress(OSError):  # it is there; or the file system has no links
        os.link(built, program)
        return
    if not program.is_file():
        built.replace(program)


def _swap(built: Path, program: Path) -> None:
    """Keeps the old one under another name: a host that runs it over a network still needs the file."""
    for old in program.parent.glob(f"{ASIDE}*"):
        if time.time() - old.stat().st_ctime > ASIDE_KEPT_S:
            old.unlink()
    with contextlib.suppress(OSError):
        os.link(program, program.with_name(f"{ASIDE}{program.name}-{time.time_ns()}"))
    built.replace(program)


def is_safe(path: Path) -> bool:
    """Whether nobody else can have put there what we are about to run."""
    status = path.stat()
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & OTHERS_WRITE


def make_safe(folder: Path, danger: str, instead: str) -> None:
    """Makes a folder, or takes the right to write there from everybody else; many a umask gives it.

    Args:
        danger: What another user could do with it.
        instead: The variable that names another.

    Raises:
        EnvironmentLacksError: It is another user's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid not in (os.geteuid(), 0):
        raise EnvironmentLacksError(
            f"{folder}: belongs to another user, {danger}", f"set {instead} to a folder of your own"
        )
    if status.st_mode & OTHERS_WRITE:
        folder.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS_WRITE)
