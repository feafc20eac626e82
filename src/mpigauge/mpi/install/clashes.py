"""MPI wheels that were installed into one environment and have overwritten each other's files.

Two of them share bin/mpicc, bin/mpiexec, include/mpi.h and lib/libmpi.so. The one installed last wins,
no installer says so, and what was built with the one may be started by the other.
"""

import hashlib
import os
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackagePath, distributions
from pathlib import Path

from mpigauge.mpi.kinds import WELL_KNOWN, MpiKind

SITE = "lib/python3*/site-packages"
READ_MOST_BYTES = 2**20
"""Larger files are told apart by their size alone; no two libraries have one of the same size."""


@dataclass(frozen=True, slots=True)
class Clash:
    """A library whose files are not those that were installed.

    Attributes:
        place: The folder of the environment's packages.
        label: The library that lost files: "mpich==5.0.2".
        files: Those that are gone or another's.
        winner: Whose they are now; empty if they are gone, or nobody's.
    """

    place: Path
    label: str
    files: tuple[str, ...]
    winner: str


def clashes(prefixes: Iterable[Path]) -> list[Clash]:
    """The clashes in our own environment, in those on PATH and in those that have these prefixes."""
    on_path = (Path(entry).parent for entry in os.environ.get("PATH", "").split(os.pathsep) if entry)
    sites = {site.resolve() for one in (*prefixes, *on_path) for site in one.glob(SITE)}
    ours = {Path(entry).resolve() for entry in sys.path if entry}
    return [clash for place in sorted(sites | ours) for clash in clashes_in(place)]


def clashes_in(place: Path) -> list[Clash]:
    """The clashes in one folder of packages."""
    wheels = [(kind, one) for one in distributions(path=[str(place)]) if (kind := _kind_of(one))]
    found = (_clash(place, kind, one, [other for _, other in wheels]) for kind, one in wheels)
    return [clash for clash in found if clash is not None]


def _kind_of(one: Distribution) -> MpiKind | None:
    # What is left of a distribution that was removed by hand may have no metadata.
    metadata = one.metadata
    name = metadata["Name"].lower().replace("_", "-") if metadata and "Name" in metadata else ""
    return next((kind for kind in WELL_KNOWN if name in (kind.wheel, *kind.wheel_needs)), None)


def _clash(place: Path, kind: MpiKind, one: Distribution, all_: Sequence[Distribution]) -> Clash | None:
    lost = [file for file in files_of(one) if not _is_its_own(file)]
    if not lost:
        return None
    names = {str(file) for file in lost}
    winners = [
        f"{other.name} {other.version}"
        for other in all_
        if other.name != one.name
        and any(str(file) in names and _is_its_own(file) for file in files_of(other))
    ]
    short = tuple("/".join(file.parts[-2:]) for file in lost)
    return Clash(place, f"{kind.name}=={one.version}", short, " and ".join(winners))


def files_of(one: Distribution) -> Sequence[PackagePath]:
    """What a distribution's RECORD lists; nothing if that is no list."""
    try:
        return one.files or []
    except (OSError, ValueError, TypeError):
        return []


def _is_its_own(file: PackagePath) -> bool:
    """Whether a file is still the one that its distribution's RECORD tells of."""
    path = Path(file.locate())
    if file.hash is None:
        return True
    try:
        size = path.stat().st_size
        if file.size is not None and file.size != size:
            return False
        return size > READ_MOST_BYTES or _digest(path, file.hash.mode) == file.hash.value
    except OSError:
        return False


def _digest(path: Path, algorithm: str) -> str:
    """As RECORD has it: PEP 376 and the wheel's format."""
    digest = hashlib.new(algorithm, path.read_bytes(), usedforsecurity=False).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()
