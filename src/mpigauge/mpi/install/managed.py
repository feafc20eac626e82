"""Adding and removing MPI libraries of PyPI, each in a prefix of its own; no root, no environment."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from mpigauge.dependencies import check_system
from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.locks import try_lock
from mpigauge.mpi import kernel, wrapper
from mpigauge.mpi.install import installers, pins
from mpigauge.mpi.install.digest import of_files
from mpigauge.mpi.install.prefixes import Managed, folder, managed, name_of
from mpigauge.mpi.kinds import WELL_KNOWN, MpiKind, kind_named
from mpigauge.mpi.library import Library

UNFINISHED = ".unfinished-"
LOCK = ".lock"
VERSION = re.compile(r"[0-9][0-9A-Za-z.]*")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A library as a user names it: `mpich==5.0.2`, or `mpich` with version ""."""

    kind: MpiKind
    version: str

    @property
    def label(self) -> str:
        """Name and version, as a user writes them."""
        return f"{self.kind.name}=={self.version}" if self.version else self.kind.name

    @property
    def requirement(self) -> str:
        """The requirement for the installer."""
        return f"{self.kind.wheel}=={self.version}" if self.version else self.kind.wheel

    def is_there(self) -> list[Managed]:
        """Return the managed prefixes that fit it."""
        return [one for one in managed() if one.kind is self.kind and self.version in ("", one.version)]


def wanted(word: str) -> Wanted:
    """Parse the name of a library.

    Raises:
        UsageError: No library is called so, or that is no version.
    """
    name, sign, version = word.partition("==")
    kind = kind_named(name)
    names = ", ".join(kind.name for kind in WELL_KNOWN)
    if kind is None:
        raise UsageError(
            f"no MPI library is called {word!r}", f"choose from {names}, or {WELL_KNOWN[0].name}==5.0.11"
        )
    if not kind.wheel:
        raise UsageError(
            f"{kind.about} is not on PyPI and cannot be added", f"choose from {names}, or use --mpi /path"
        )
    if sign and not VERSION.fullmatch(version):
        raise UsageError(
            f"{word}: {version!r} is not a version", f"write {kind.name}==1.2.3, or {kind.name} alone"
        )
    return Wanted(kind, version)


def add(one: Wanted, wheels: Path | None = None, digest: str = "") -> tuple[Library, bool]:
    """Install a library into a prefix of its own, if it is not there yet.

    Args:
        wheels: A folder of wheels to take it from, instead of the index.
        digest: That the wheels must have; empty means that of the last time, if there was one.

    Returns:
        The library, and whether it is new.

    Raises:
        UsageError: There is no such version.
        EnvironmentLacksError: It cannot be installed, does not work here, or is from other wheels; or this is
            not Linux.
    """
    check_system()
    if one.version and (there := one.is_there()):
        return _kept(there[0], digest), False
    _check_place(wheels)
    with _workshop() as (scratch, lock):
        target = scratch / "prefix"
        installers.install(one.requirement, target, scratch, wheels, keep=[lock])
        return _placed(_root(target, one), one, scratch, digest)


def _placed(root: Path, one: Wanted, scratch: Path, digest: str) -> tuple[Library, bool]:
    """Move what was installed to its prefix, if its digest is right; nothing of it is run before.

    A library may report another version than its wheel has, and it is called by the one that it reports.
    """
    came = replace(one, version=pins.version_of(one.kind.wheel, root) or one.version)
    if came.version and (there := came.is_there()):
        return _kept(there[0], digest), False
    pins.check(came.label, root, digest)
    new = _inspected(root, one)
    if new.prefix.exists():
        return _kept(new, digest), False
    pins.check_known(new.label, root, digest)
    with _in_words(folder()):
        pins.remember({came.label, new.label}, root)
    root.rename(new.prefix)
    try:
        library = _library(new)
        kernel.describe(library)  # which builds it, where it will be used
    except BaseException:
        new.prefix.rename(scratch / "broken")
        raise
    return library, True


def _inspected(root: Path, one: Wanted) -> Managed:
    """Return the prefix for a library, by its own name and version."""
    built = wrapper.inspect(wrapper.Candidate(root / "bin" / "mpicc", "the installer"))
    if built.kind is not one.kind:
        raise EnvironmentLacksError(
            f"{one.requirement}: holds {built.label}, not {one.kind.about}", "try another version"
        )
    return Managed(one.kind, built.version, folder() / name_of(one.kind, built.version))


def _kept(there: Managed, digest: str) -> Library:
    """Return a library that is there already, if it is from the requested wheels."""
    pins.check_digest(there.label, of_files(there.prefix), digest, asked=True)
    return _library(there)


def remove(one: Wanted) -> Managed:
    """Remove a managed prefix, and nothing else.

    Raises:
        UsageError: It is not ours, or the word means several.
        EnvironmentLacksError: It cannot be removed.
    """
    there = one.is_there()
    if len(there) != 1:
        ours = ", ".join(other.label for other in there or managed())
        problem = "could be several" if there else "was not added by mpigauge"
        raise UsageError(
            f"{one.label}: {problem}",
            f"choose from {ours}" if ours else "no library was added; mpigauge mpi list shows them",
        )
    with _workshop() as (scratch, _), _in_words(there[0].prefix):
        # Renamed first: a removal that is cut short leaves no half of a library.
        there[0].prefix.rename(scratch / "removed")
    return there[0]


def _check_place(wheels: Path | None) -> None:
    if re.search(r"\s", str(folder())):
        raise EnvironmentLacksError(
            f"{folder()}: contains a space, which MPICH's mpicc cannot handle",
            "set XDG_DATA_HOME to a folder without spaces",
        )
    if wheels is not None and not os.path.isdir(wheels):  # noqa: PTH112 - Path raises at names too long
        raise UsageError(f"{wheels}: is not a folder", "--wheels takes a folder of .whl files")


def _root(target: Path, one: Wanted) -> Path:
    """Return the folder with bin/ in it: Debian's Python puts local/ between."""
    for root in (target, target / "local"):
        if (root / "bin" / "mpicc").is_file():
            return root
    raise EnvironmentLacksError(f"{one.requirement}: its package has no mpicc", "try another version")


def _library(one: Managed) -> Library:
    return wrapper.inspect(wrapper.Candidate(one.mpicc, one.origin))


# ---- One at a time, whole or not at all ----------------------------------------------------------


@contextlib.contextmanager
def _workshop() -> Iterator[tuple[Path, int]]:
    """Yield a temporary folder beside the prefixes, and the descriptor of its lock.

    What a killed process has left behind goes first: the lock says that nobody is at it any more.
    """
    with _in_words(folder()):
        folder().mkdir(parents=True, exist_ok=True)
        lock = os.open(folder() / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(lock)
        with _in_words(folder()):
            scratch = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=folder()))
        try:
            yield scratch, lock
        finally:
            _clear()
    finally:
        os.close(lock)


def _take(lock: int) -> None:
    try:
        try_lock(lock)  # where no file can be locked, two at once are the user's to avoid
    except BlockingIOError:
        raise EnvironmentLacksError(
            f"{folder()}: another mpigauge is adding or removing a library there",
            "try again when it has finished",
        ) from None
    _clear()


def _clear() -> None:
    for path in folder().glob(f"{UNFINISHED}*"):
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def _in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentLacksError(
            f"{path}: cannot be changed: {error.strerror}",
            "set XDG_DATA_HOME to a writable folder",
        ) from None


def size_bytes(prefix: Path) -> int:
    """Return the size of all files of a prefix."""
    return sum(path.lstat().st_size for path in prefix.rglob("*") if path.is_file())
