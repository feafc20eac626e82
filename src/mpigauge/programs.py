"""Programs by name, searched for in the absolute folders of PATH alone.

Nothing in the folder that we are in is to be run: an empty word of PATH is that folder, and so is `.`;
`bin` is one below it. A name with a slash is a path that somebody has written, and is taken as it is.
"""

import errno
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path


def search_path(path: str | None = None) -> list[Path]:
    """Return the absolute folders of a search path, in their order.

    Args:
        path: As of PATH; None is PATH itself, or what the system has in place of it.
    """
    words = os.environ.get("PATH", os.defpath) if path is None else path
    return [folder for folder in map(Path, filter(None, words.split(os.pathsep))) if folder.is_absolute()]


def which(name: str, path: str | None = None) -> str | None:
    """Return the path of a program, or None if there is none of this name.

    Args:
        path: Where to search, as of PATH; None is PATH itself.
    """
    folders = search_path(path)
    if not folders and not os.path.dirname(name):  # noqa: PTH120 - whether somebody wrote a path
        return None  # shutil would search elsewhere
    return shutil.which(name, path=os.pathsep.join(map(str, folders)))


def located(command: Sequence[str], environ: Mapping[str, str] | None = None) -> list[str]:
    """Return a command whose first word is the path of its program, as the system would search for it.

    Args:
        environ: The variables that it will have; None are our own.

    Raises:
        FileNotFoundError: There is no such program.
    """
    name, *words = command
    found = which(name, None if environ is None else environ.get("PATH", os.defpath))
    if found is None and not os.path.dirname(name):  # noqa: PTH120 - likewise
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return [found or name, *words]
