"""The prefixes that `mpigauge mpi add` fills, one per library and version, in the user's data folder.

A prefix is called by its kind and the version that the library reports: `mpich-5.0.2`. A name that
begins with a dot is something unfinished, and a link is not ours.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from mpigauge.cache import user_data
from mpigauge.errors import EnvironmentLacksError
from mpigauge.mpi.kinds import KINDS, MpiKind, kind_named


@dataclass(frozen=True, slots=True)
class Managed:
    """A managed prefix; the library in it need not work."""

    kind: MpiKind
    version: str
    prefix: Path

    @property
    def label(self) -> str:
        """Name and version, as a user may write them."""
        return f"{self.kind.name}=={self.version}"

    @property
    def mpicc(self) -> Path:
        """The compiler wrapper of the prefix."""
        return self.prefix / "bin" / "mpicc"

    @property
    def origin(self) -> str:
        """A phrase for where it comes from."""
        return f"the wheel {self.kind.wheel}, by mpigauge mpi add"


def folder() -> Path:
    """Return the folder of the prefixes: $XDG_DATA_HOME/mpigauge/mpi, or its default; without links.

    Raises:
        EnvironmentLacksError: Nobody knows where the user's home is.
    """
    return user_data() / "mpi"


def name_of(kind: MpiKind, version: str) -> str:
    """Return the name of the prefix of a library."""
    return f"{kind.name}-{version}"


def managed() -> list[Managed]:
    """Return the managed prefixes by kind as in KINDS, newest first; none without a home."""
    try:
        names = sorted(os.listdir(folder()))  # noqa: PTH208 - only names are needed
    except (OSError, EnvironmentLacksError):
        return []
    found = [one for one in map(_managed, names) if one is not None]
    found.sort(key=lambda one: _numbers(one.version), reverse=True)
    return sorted(found, key=lambda one: KINDS.index(one.kind))


def _managed(name: str) -> Managed | None:
    word, _, version = name.partition("-")
    kind = kind_named(word)
    prefix = folder() / name
    if kind is None or not version or prefix.is_symlink() or not prefix.is_dir():
        return None
    return Managed(kind, version, prefix)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", version)]
