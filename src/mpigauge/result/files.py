"""Names of result files: the default path, the suffixes, and the newest file of a folder."""

from __future__ import annotations

import os
import platform
import re
import shlex
from collections import defaultdict
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FOLDER = Path("results")
"""Default folder of results."""

ENDINGS = (".jsonl", ".jsonl.gz")


def default_path() -> Path:
    """Return results/<host>-<UTC time>.jsonl; .gz is added when the result is complete."""
    return FOLDER / usual_name(platform.node(), datetime.now(UTC))


def usual_name(host: str, begun: datetime) -> str:
    """Return `<host>-<UTC time>.jsonl`; names of one host sort by time."""
    return f"{re.sub(r'[^A-Za-z0-9.-]', '_', host) or 'host'}-{begun:%Y%m%dT%H%M%SZ}.jsonl"


def stem_of(path: Path) -> str:
    """Return the name of a result without its folder and ending."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def stems_of(paths: Sequence[Path]) -> list[str]:
    """Return the names of results without ending, with folders where these alone tell them apart."""
    names = [*map(stem_of, paths)]
    for depth in range(1, max((len(path.parts) for path in paths), default=0)):
        files = defaultdict[str, set[Path]](set)
        for name, path in zip(names, paths, strict=True):
            files[name].add(path)
        alike = {name for name, of_name in files.items() if len(of_name) > 1}
        if not alike:
            break
        names = [
            "/".join([*path.parts[-1 - depth : -1], stem_of(path)]) if name in alike else name
            for name, path in zip(names, paths, strict=True)
        ]
    return names


def resume_command(path: Path, *options: str) -> str:
    """What to type to continue a result, for a shell, whatever is in its name."""
    return " ".join([shlex.join(["mpigauge", "resume", *options]), as_argument(path)])


@contextmanager
def named_without_memory(path: Path) -> Iterator[None]:
    """Note on an error of memory where everything is that was measured until then."""
    try:
        yield
    except MemoryError as error:
        error.add_note(f"all finished visits are in {path}; {resume_command(path)} continues it")
        raise


def as_argument(path: Path) -> str:
    """Return a file as an argument of a command for bash, whatever is in its name.

    One that begins with '-' would be taken for an option.
    """
    return quoted(f"./{path}" if str(path).startswith("-") else str(path))


def as_command(words: Iterable[str]) -> str:
    """Return words as a shell takes them, in one line."""
    return " ".join(map(quoted, words))


def quoted(word: str) -> str:
    """Return a word for bash that can be printed, whatever is in it."""
    return shlex.quote(word) if word.isprintable() else f"$'{''.join(map(_escaped, word))}'"


def _escaped(letter: str) -> str:
    """Return a letter of a word as it stands between `$'` and `'`."""
    if letter in "\\'":
        return f"\\{letter}"
    return letter if letter.isprintable() else "".join(f"\\x{byte:02x}" for byte in os.fsencode(letter))


def file_of(path: Path) -> Path:
    """Return the path, or the newest result file of a folder; a folder of other files is read as a whole.

    Raises:
        UsageError: The folder has no file.
    """
    if not is_folder(path) or (not results_in(path) and others_in(path)):
        return as_written(path)
    return newest_in(path)


def as_written(path: Path) -> Path:
    """Return a file, or the same one with or without `.gz`, if that is there: a complete result is packed."""
    if os.path.lexists(path):
        return path
    other = path.with_name(path.name.removesuffix(".gz") if path.suffix == ".gz" else f"{path.name}.gz")
    # Path raises at too long a name.
    return other if other.name.endswith(ENDINGS) and os.path.isfile(other) else path  # noqa: PTH113


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
    found = [
        file
        for path in paths or [FOLDER]
        for file in (_all_in(path) if is_folder(path) else [as_written(path)])
    ]
    return list(dict.fromkeys(found))


def _all_in(folder: Path) -> list[Path]:
    files = results_in(folder) or others_in(folder)
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
    """Return the result file that was written last.

    Raises:
        UsageError: There is none.
    """
    files = results_in(folder)
    if not files:
        raise UsageError(f"{folder}: no result is there", _hint_without_results(folder))
    return max(files, key=modified_time)


def _hint_without_results(folder: Path) -> str:
    """Return the hint for a folder without results, most often after `mpigauge run -o NAME`."""
    if folder != FOLDER:
        return "name the file itself"
    elsewhere = max(results_in(Path()), key=modified_time, default=None)
    such = f", such as {as_argument(elsewhere)}" if elsewhere else ""
    return f"name one{such}, or measure: mpigauge run"


def modified_time(path: Path) -> tuple[int, str]:
    """Return what sorts files by when they were last written, and by name."""
    return path.stat().st_mtime_ns, path.name


def results_in(folder: Path) -> list[Path]:
    """Return all result files of a folder, sorted by name."""
    files = folder.iterdir() if is_folder(folder) else ()
    return sorted(path for path in files if path.is_file() and path.name.endswith(ENDINGS))


def others_in(folder: Path) -> list[Path]:
    """Return the files of a folder that are not hidden, sorted by name: they may be texts of benchmarks."""
    files = folder.iterdir() if is_folder(folder) else ()
    return sorted(path for path in files if path.is_file() and not path.name.startswith("."))


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder; False where Path raises, as for too long a name."""
    return os.path.isdir(path)  # noqa: PTH112
