"""Paths of programs, searched for only in the absolute folders of PATH; how much of their output is kept.

Nothing in the current folder may run by accident: an empty entry of PATH is that folder, and so is `.`; `bin`
is one below it. A name with a slash is a path that the user has written, and is taken as it is.
"""

import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from mpigauge.vocabulary import GAP

OUTPUT_MOST = 2**24
"""Characters of the output of a program that are kept: several times what any of MPI's programs prints."""


def within_bounds(output: str) -> str:
    """Return the output of a program; of one that is longer than OUTPUT_MOST, its begin, GAP and its end."""
    if len(output) <= OUTPUT_MOST:
        return output
    half = OUTPUT_MOST // 2
    return f"{output[:half]}\n{GAP}\n{output[-half:]}"


def search_path(path: str | None = None) -> list[Path]:
    """Return the absolute folders of a search path, in their order.

    Args:
        path: Value like PATH's; None is PATH itself, or the system's default if it is not set.
    """
    words = os.environ.get("PATH", os.defpath) if path is None else path
    return [folder for folder in map(Path, filter(None, words.split(os.pathsep))) if folder.is_absolute()]


def which(name: str, path: str | None = None) -> str | None:
    """Return the path of a program; None if there is none of this name.

    Args:
        path: Value like PATH's; None is PATH itself.
    """
    folders = search_path(path)
    if not folders and not os.path.dirname(name):  # noqa: PTH120 - whether somebody wrote a path
        return None  # shutil would search elsewhere
    return shutil.which(name, path=os.pathsep.join(map(str, folders)))


def with_program_path(command: Sequence[str], environ: Mapping[str, str] | None = None) -> list[str]:
    """Return a command whose first word is the path of its program.

    Args:
        environ: Variables of the program; None are those of this process.

    Raises:
        FileNotFoundError: There is no such program.
    """
    name, *words = command
    path = which(name, None if environ is None else environ.get("PATH", os.defpath))
    if path is None and not os.path.dirname(name):  # noqa: PTH120 - likewise
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return [path or name, *words]
