"""Room in the folders that programs write to: which of them is full, and what frees it."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NEEDED_BYTES, NEEDED_FILES = 16 * 2**20, 100
"""Enough for the temporary files of a compiler, or of a launcher and its daemons."""

TEMPORARY_VARIABLES = ("TMPDIR", "TMP", "TEMP")
TEMPORARY = "/tmp"  # noqa: S108 - what programs take without these


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """A folder that programs write to.

    Attributes:
        instead: What lets them do without it: "set TMPDIR to another folder".
    """

    path: Path
    instead: str


def temporary_folder(environ: Mapping[str, str]) -> WorkFolder:
    """Return the folder of temporary files of a program with these variables."""
    named = [Path(environ.get(name) or os.devnull) for name in TEMPORARY_VARIABLES]
    path = next(filter(Path.is_dir, named), Path(TEMPORARY))
    return WorkFolder(path, "set TMPDIR to another folder")


def room_in(folder: str) -> tuple[int, int]:
    """Return the free bytes and files of a folder's file system; many files where they are not counted."""
    statistics = os.statvfs(folder)
    return statistics.f_bavail * statistics.f_frsize, statistics.f_favail if statistics.f_files else 2**31


def is_short(room: tuple[int, int]) -> bool:
    """Return whether so many free bytes and files may be too few."""
    return room[0] < NEEDED_BYTES or room[1] < NEEDED_FILES


def full(folders: Iterable[WorkFolder]) -> list[WorkFolder]:
    """Return those of these folders that have hardly any room."""
    return [one for one in folders if is_full(one.path)]


def is_full(folder: Path) -> bool:
    """Return whether a folder has hardly any room, as far as is known."""
    try:
        return is_short(room_in(str(folder)))
    except OSError:
        return False


def hint(folders: Sequence[WorkFolder]) -> str:
    """Return what to do where one of these folders is full."""
    paths = " or ".join(str(one.path) for one in folders)
    return ", or ".join([f"free some space in {paths}", *(one.instead for one in folders)])
