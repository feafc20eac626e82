"""Pins of installed libraries: the digests that a name had when it was first installed.

They are kept beside the prefixes, also of libraries that were removed. A digest is of the lists that wheels
bring, so their files are held against these lists first: no installer does that. A file that no list has
would stand in no digest, so there may be none.
"""

import os
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from hashlib import file_digest
from importlib.metadata import PackagePath, distributions
from pathlib import Path

import msgspec

from mpigauge.atomic_file import write_atomically
from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.mpi.install.digest import DIGITS, counted, is_of_installer, of_files, places
from mpigauge.mpi.install.prefixes import folder

FILE = "digests.json"
LOCK_OF_UV = ".lock"
"""Stays in the folder that uv was told to install into; nothing runs a file of this name."""

WORD = re.compile(rf"[0-9a-f]{{{DIGITS}}}")


def check_word(word: str) -> None:
    """Check that a word can be a digest.

    Raises:
        UsageError: It cannot.
    """
    if not WORD.fullmatch(word):
        raise UsageError(
            f"--digest {word}: is no digest, which has {DIGITS} hexadecimal digits",
            "mpigauge mpi list shows those of the libraries that were added",
        )


def check(label: str, prefix: Path, asked: str) -> None:
    """Check a library that was just installed against its wheels, and these against known digests.

    Args:
        label: Name and version: "mpich==5.0.2".
        prefix: Where it is for now.
        asked: The digest that it must have; empty means the one that it had the last time, if there was one.

    Raises:
        EnvironmentLacksError: It has another one, or files that are not those of its wheels.
    """
    _check_files(label, prefix)
    _check_all_listed(label, prefix)
    check_known(label, prefix, asked)


def check_known(label: str, prefix: Path, asked: str) -> None:
    """Check the digest of a library against the one that is asked for or known, if there is one.

    Raises:
        EnvironmentLacksError: It has another one.
    """
    check_digest(label, of_files(prefix), asked or _known().get(label, ""), asked=bool(asked))


def check_digest(label: str, found: str, wanted: str, *, asked: bool) -> None:
    """Check that a library has the expected digest, if there is one.

    Raises:
        EnvironmentLacksError: It has another one.
    """
    if wanted in ("", found):
        return
    why = f"--digest asks for {wanted}" if asked else f"they had {wanted} when it was last added"
    raise EnvironmentLacksError(
        f"{label}: its wheels have the digest {found or 'of no file'}, but {why}",
        "find out why they are others; if they are meant: "
        f"mpigauge mpi add {label} --digest {found or 'DIGEST'}",
    )


def _check_files(label: str, prefix: Path) -> None:
    for file in (file for one in distributions(path=places(prefix)) for file in counted(one)):
        if not _is_as_listed(file):
            raise EnvironmentLacksError(
                f"{label}: {'/'.join(file.parts[-2:])} is not the file that its wheel lists",
                "the wheel is damaged or was changed; take it from elsewhere: --wheels DIR",
            )


def _check_all_listed(label: str, prefix: Path) -> None:
    found = (file for one in distributions(path=places(prefix)) for file in counted(one))
    listed = {os.path.normpath(str(file.locate())) for file in found}
    for path in _files(prefix):
        if str(path) not in listed and not is_of_installer(path) and path != prefix / LOCK_OF_UV:
            raise EnvironmentLacksError(
                f"{label}: {path.relative_to(prefix)} is a file that no wheel lists with a digest",
                "the wheel is damaged or was changed; take it from elsewhere: --wheels DIR",
            )


def _files(prefix: Path) -> Iterator[Path]:
    """Return all files below a prefix; a link counts as a file, wherever it leads."""
    for place, folders, names in os.walk(prefix):
        yield from (Path(place, name) for name in names)
        yield from (path for name in folders if (path := Path(place, name)).is_symlink())


def _is_as_listed(file: PackagePath) -> bool:
    if file.hash is None:
        return True
    try:
        with Path(file.locate()).open("rb") as content:
            found = file_digest(content, file.hash.mode).digest()
    except (OSError, ValueError):
        return False
    return urlsafe_b64encode(found).rstrip(b"=").decode() == file.hash.value


def _known() -> dict[str, str]:
    """Return the known digests by name and version."""
    try:
        return msgspec.json.decode((folder() / FILE).read_bytes(), type=dict[str, str])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        raise EnvironmentLacksError(
            f"{folder() / FILE}: cannot be read: {error}", "repair it, or remove it to begin anew"
        ) from None


def remember(labels: Iterable[str], prefix: Path) -> None:
    """Store the digest of a library under its names; OSError if it cannot be stored."""
    if digest := of_files(prefix):
        known = _known() | dict.fromkeys(labels, digest)
        with write_atomically(folder() / FILE, overwrite=True) as file:
            file.write(msgspec.json.encode(known, order="sorted"))


def version_of(wheel: str, prefix: Path) -> str:
    """Return the installed version of a wheel from its metadata; empty if not known."""
    for one in distributions(path=places(prefix)):
        metadata = one.metadata
        name = metadata["Name"] if metadata and "Name" in metadata else ""
        if name.lower().replace("_", "-") == wheel:
            return one.version or ""
    return ""
