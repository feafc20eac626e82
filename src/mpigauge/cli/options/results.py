"""Which result files are meant: by name, the newest of a folder, or standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.errors import UsageError
from mpigauge.result.files import FOLDER, file_of, is_folder, newest_in, results_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.result.reader import Result


def named(given: Sequence[Path]) -> list[Path]:
    """The files of a command line; the newest result where none is named, of a folder its newest.

    Raises:
        UsageError: There is no result there.
    """
    return [*map(file_of, given)] if given else [newest_in(FOLDER)]


def every(given: Sequence[Path]) -> list[Path]:
    """The files of a command line, and of each folder all results; those of results/ if none is named.

    Raises:
        UsageError: A folder has no result.
    """
    found = [file for path in given or [FOLDER] for file in (_all_in(path) if is_folder(path) else [path])]
    return list(dict.fromkeys(found))


def _all_in(folder: Path) -> list[Path]:
    files = results_in(folder)
    if not files:
        raise UsageError(f"{folder}: no result is there", "name the folder that has them")
    return files


def load(path: Path) -> Result:
    """A result, ours or of another benchmark; that a compressed one is damaged is said.

    Raises:
        UsageError: It is none.
    """
    from mpigauge.importers import loading

    result = loading.load(path)
    if result.packed_damage:
        from mpigauge.document.plain_signs import printable_lines
        from mpigauge.find.damage import PACKED

        click.echo(printable_lines(f"mpigauge: {path}: {PACKED[result.packed_damage]}"), err=True)
    return result


def is_newest(path: Path) -> bool:
    """Whether commands find a result without its name."""
    try:
        return newest_in(FOLDER).resolve() == path.resolve()
    except UsageError:
        return False
