"""Result files by name: where they go that nobody names, what they end in, the newest of a folder."""

from __future__ import annotations

import os
import platform
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path("results")
"""Where results go that nobody names."""

ENDINGS = (".jsonl", ".jsonl.gz")


def default_path() -> Path:
    """results/<host>-<UTC time>.jsonl; .jsonl.gz once it is complete."""
    host = re.sub(r"[^A-Za-z0-9.-]", "_", platform.node()) or "host"
    return FOLDER / f"{host}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.jsonl"


def stem_of(path: Path) -> str:
    """Return the name of a result without its folder and ending."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def resume_words(path: Path, *options: str) -> str:
    """What to type to continue a result, for a shell, whatever is in its name."""
    return shlex.join(["mpigauge", "resume", *options, as_argument(path)])


def as_argument(path: Path) -> str:
    """Return a name as a command line takes it: one that begins with '-' would be an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def file_of(path: Path) -> Path:
    """The file that is meant: of a folder its newest.

    Raises:
        UsageError: There is none in it.
    """
    return newest_in(path) if is_folder(path) else path


def named(paths: Sequence[Path]) -> list[Path]:
    """Return the files that are meant by names, of a folder its newest; without names, the newest result.

    Raises:
        UsageError: There is no result there.
    """
    return [*map(file_of, paths)] if paths else [newest_in(FOLDER)]


def every(paths: Sequence[Path]) -> list[Path]:
    """Return the files that are named, and of each folder all results; without names, those of results/.

    Raises:
        UsageError: A folder has no result.
    """
    found = [file for path in paths or [FOLDER] for file in (_all_in(path) if is_folder(path) else [path])]
    return list(dict.fromkeys(found))


def _all_in(folder: Path) -> list[Path]:
    files = results_in(folder)
    if not files:
        raise UsageError(f"{folder}: no result is there", "name the folder that has them")
    return files


def is_newest(path: Path) -> bool:
    """Return whether commands find a result without its name."""
    try:
        return newest_in(FOLDER).resolve() == path.resolve()
    except UsageError:
        return False


def newest_in(folder: Path) -> Path:
    """The result file that was written last.

    Raises:
        UsageError: There is none.
    """
    files = results_in(folder)
    if not files:
        raise UsageError(f"{folder}: no result is there", _where_else(folder))
    return max(files, key=_written)


def _where_else(folder: Path) -> str:
    """A hint for whoever finds nothing in a folder, most often after `mpigauge run -o NAME`."""
    if folder != FOLDER:
        return "name the file itself"
    here = max(results_in(Path()), key=_written, default=None)
    return f"name one{f', such as {shlex.quote(str(here))}' if here else ''}, or measure: mpigauge run"


def _written(path: Path) -> tuple[int, str]:
    return path.stat().st_mtime_ns, path.name


def results_in(folder: Path) -> list[Path]:
    """All of a folder, by their names."""
    files = folder.iterdir() if is_folder(folder) else ()
    return sorted(path for path in files if path.is_file() and path.name.endswith(ENDINGS))


def is_folder(path: Path) -> bool:
    """No also where the name is too long, or leads through a folder that is closed to us: Path raises."""
    return os.path.isdir(path)  # noqa: PTH112
