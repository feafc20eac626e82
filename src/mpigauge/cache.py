"""Cache of programs that are built on this machine: once for the same sources and words."""

import contextlib
import hashlib
import logging
import os
import pwd
import stat
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from mpigauge.errors import EnvironmentLacksError, remedy

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
OLD_PREFIX = ".old-"
SEAL = b"\n# mpigauge sha256 "
"""Mark between the content of a kept file and its digest: ignored behind a program, a comment in a script."""

LOG = logging.getLogger("mpigauge")
"""Logger of what whoever has called need not do anything about; the command line prints it."""

COMPILE_FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2")


def cache_folder() -> Path:
    """Return the folder of built programs: $MPIGAUGE_KERNEL_DIR, the user's cache, or a temporary folder.

    Users of containers and daemons often have no home that they may write to.

    Raises:
        EnvironmentLacksError: The user's home is unknown, and there is no other place.
    """
    if chosen := os.environ.get("MPIGAUGE_KERNEL_DIR"):
        return Path(chosen).absolute()  # ranks, and hosts that are given a program, are in other folders
    try:
        default = user_cache("MPIGAUGE_KERNEL_DIR") / "kernels"
    except EnvironmentLacksError:
        if (fallback := _temporary_cache()) is not None:
            return fallback
        raise
    # Methods of Path raise where a folder above is closed, as that of another user.
    if os.path.isdir(default) or _can_hold_programs(default):  # noqa: PTH112
        return default
    return _temporary_cache() or default


def _can_hold_programs(folder: Path) -> bool:
    """Return whether programs can be put into a folder, or its nearest existing parent, and run there."""
    existing = next(one for one in (folder, *folder.parents) if os.path.exists(one))  # noqa: PTH110 - as above
    return os.access(existing, os.W_OK | os.X_OK) and not os.statvfs(existing).f_flag & os.ST_NOEXEC


def _temporary_cache() -> Path | None:
    """Return a folder of this user among the temporary files; None if there is no safe one.

    Others may write to its parent: before anything in it is run, it must be this user's.
    """
    try:
        folder = Path(tempfile.gettempdir()) / f"mpigauge-{os.getuid()}"
        if not _can_hold_programs(folder):
            return None
        make_safe(folder, "whose programs would be run", "MPIGAUGE_KERNEL_DIR")
    except (OSError, EnvironmentLacksError):
        return None
    # The owner of a link could point it elsewhere at any time.
    return None if folder.is_symlink() else folder / "kernels"


def user_cache(instead: str) -> Path:
    """Return the user's folder for what can be made again.

    Args:
        instead: Variable that makes the user's home unnecessary.

    Raises:
        EnvironmentLacksError: The user's home is unknown.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or user_home(instead) / ".cache") / "mpigauge"


def user_data() -> Path:
    """Return the user's folder for what is kept until they remove it; without links.

    Raises:
        EnvironmentLacksError: The user's home is unknown.
    """
    data = os.environ.get("XDG_DATA_HOME") or user_home("XDG_DATA_HOME") / ".local" / "share"
    return Path(os.path.realpath(data)) / "mpigauge"


def user_home(instead: str) -> Path:
    """Return the user's home folder.

    Args:
        instead: Variable that makes it unnecessary.

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


def with_home(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with HOME set, if the system knows the user's home.

    Programs of Open MPI do not start without HOME; systemd units and `env -i` have none.
    """
    if environ.get("HOME"):
        return dict(environ)
    try:
        return {**environ, "HOME": pwd.getpwuid(os.getuid()).pw_dir}
    except KeyError:
        return dict(environ)


def fingerprint(sources: Iterable[Path], words: Iterable[str]) -> str:
    """Return 16 hexadecimal digits that change with any of the files and words."""
    digest = hashlib.sha256(SEAL)
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    for word in words:
        digest.update(word.encode() + b"\0")
    return digest.hexdigest()[:16]


def sealed(content: bytes) -> bytes:
    """Return the content of a file that is kept, with its digest behind it."""
    return content + SEAL + hashlib.sha256(content).hexdigest().encode() + b"\n"


def unsealed(kept: bytes, path: Path) -> bytes | None:
    """Return the content of a file that was kept, which is checked; None, and a note, if it is damaged."""
    content = kept.rpartition(SEAL)[0]
    if kept == sealed(content):
        return content
    LOG.warning("%s: is damaged, and is made anew", path)
    return None


def build_once(program: Path, about: str, compile_to: Callable[[Path], None]) -> Path:
    """Return the program, compiled unless it is there and whole; of two concurrent builders the first wins.

    An existing program is not replaced: it may be running here or on another host, and would crash.

    Args:
        about: Name of the program in errors.
        compile_to: Writes the program to the path that it is given.

    Raises:
        EnvironmentLacksError: The cache cannot be written, or is another user's.
    """
    if program.is_file() and is_safe(program) and is_safe(program.parent) and _is_whole(program):
        return program
    # An existing program that is damaged or may be somebody else's is replaced, even if it is running.
    return _compiled(program, about, compile_to, Path.replace if program.exists() else _install)


def _is_whole(program: Path) -> bool:
    try:
        return (
            bool(program.stat().st_mode & stat.S_IXUSR)
            and unsealed(program.read_bytes(), program) is not None
        )
    except OSError:
        return False


def build_anew(program: Path, about: str, compile_to: Callable[[Path], None]) -> Path:
    """Return the program, compiled anew; at every moment there is one, and running copies are not affected.

    Raises:
        EnvironmentLacksError: The cache cannot be written, or is another user's.
    """
    return _compiled(program, about, compile_to, _replace)


def _compiled(
    program: Path,
    about: str,
    compile_to: Callable[[Path], None],
    install: Callable[[Path, Path], object],
) -> Path:
    try:
        make_safe(program.parent, "whose programs would be run", "MPIGAUGE_KERNEL_DIR")
        with tempfile.TemporaryDirectory(dir=program.parent) as folder:
            built = Path(folder) / program.name
            compile_to(built)
            built.write_bytes(sealed(built.read_bytes()))
            built.chmod(0o755)
            install(built, program)
    except OSError as error:
        raise EnvironmentLacksError(
            f"{program.parent}: {about} cannot be kept there: {error.strerror}",
            remedy(error, "set MPIGAUGE_KERNEL_DIR to a folder that can be written"),
        ) from None
    return program


def _install(built: Path, program: Path) -> None:
    """Give a complete program its name, unless an equal one has it by now."""
    with contextlib.suppress(OSError):  # it is there; or the file system has no links
        os.link(built, program)
        return
    if not program.is_file():
        built.replace(program)


def _replace(built: Path, program: Path) -> None:
    """Replace a program, but keep it under another name, for hosts that run it over NFS."""
    with contextlib.suppress(OSError):
        aside = built.with_name(f"{OLD_PREFIX}{program.name}")
        os.link(program, aside)
        aside.replace(program.with_name(aside.name))
    built.replace(program)


def is_safe(path: Path) -> bool:
    """Return whether nobody but this user or root can have written a file."""
    status = path.stat()
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & OTHERS_WRITE


def make_safe(folder: Path, danger: str, instead: str) -> None:
    """Make a folder, or remove the right of others to write there, which many a umask gives.

    Args:
        danger: What another user could do with the folder, in words.
        instead: Variable that names another folder.

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
