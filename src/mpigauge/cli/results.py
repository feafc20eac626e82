"""Which result files are meant: by name, the newest of a folder, or standard input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path("results")
"""Where results go that nobody names."""

ENDINGS = (".jsonl", ".jsonl.gz")


def named(given: Sequence[Path]) -> list[Path]:
    """The files of a command line; the newest result where none is named, of a folder its newest.

    Raises:
        UsageError: There is no result there.
    """
    if not given:
        return [newest_in(FOLDER)]
    return [newest_in(path) if _is_folder(path) else path for path in given]


def newest_in(folder: Path) -> Path:
    """The result file that was written last.

    Raises:
        UsageError: There is none.
    """
    files = [path for path in _files(folder) if path.name.endswith(ENDINGS)]
    if not files:
        hint = "name one, or measure: mpigauge run" if folder == FOLDER else "name the file itself"
        raise UsageError(f"{folder}: no result is there", hint)
    return max(files, key=lambda path: (path.stat().st_mtime_ns, path.name))


def every(given: Sequence[Path]) -> list[Path]:
    """The files of a command line, and of each folder all results; those of results/ if none is named.

    Raises:
        UsageError: A folder has no result.
    """
    found = [file for path in given or [FOLDER] for file in (_all_in(path) if _is_folder(path) else [path])]
    return list(dict.fromkeys(found))


def _all_in(folder: Path) -> list[Path]:
    files = sorted(path for path in _files(folder) if path.name.endswith(ENDINGS))
    if not files:
        raise UsageError(f"{folder}: no result is there", "name the folder that has them")
    return files


def is_newest(path: Path) -> bool:
    """Whether commands find a result without its name."""
    try:
        return newest_in(FOLDER).resolve() == path.resolve()
    except UsageError:
        return False


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file()] if _is_folder(folder) else []


def _is_folder(path: Path) -> bool:
    """No also where the name is too long, or leads through a folder that is closed to us: Path raises."""
    return os.path.isdir(path)  # noqa: PTH112
