"""Cache of rendered tables of large results, by contents of the files, options and version of the program.

Ten million samples take many seconds to compute, and are shown again and again.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import mpigauge
from mpigauge import atomic_file, cache
from mpigauge.cli.screen.console import console
from mpigauge.errors import MpigaugeError

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGE_BYTES = 4 << 20
"""Smaller results are computed before a user notices."""

MAX_KEPT = 64
HOME = "XDG_CACHE_HOME"
OUR_FOLDER = Path(mpigauge.__file__).parent
COMPUTE_WITH = ("numpy", "scipy", "msgspec", "rich")


class TableCache:
    """Cached tables of some files as they are now; empty for small files or an unsafe cache folder.

    Create it before the files are loaded: a campaign may go on writing to one of them.

    Args:
        paths: Result files, in order.
        question: All options that the table depends on.
    """

    def __init__(self, paths: Sequence[Path], question: str) -> None:
        self._paths, self._question = paths, question
        self._key = self._key_now()

    def find(self) -> str | None:
        """Return the cached table; None if there is none, or none that is whole."""
        with contextlib.suppress(OSError, MpigaugeError):
            if self._key and cache.is_safe(_folder()) and cache.is_safe(path := _folder() / self._key):
                table = cache.unsealed(path.read_bytes(), path)
                return None if table is None else table.decode()
        return None

    def keep(self, text: str) -> None:
        """Store a table, unless a file has changed meanwhile; remove the oldest ones."""
        if not self._key or self._key != self._key_now():
            return
        with contextlib.suppress(OSError, MpigaugeError):
            cache.make_safe(_folder(), "whose numbers would be shown", HOME)
            with atomic_file.write_atomically(_folder() / self._key, overwrite=True, mode=0o600) as file:
                file.write(cache.sealed(text.encode()))
            _tidy(_folder())

    def _key_now(self) -> str:
        """Return the key of contents, names, question, terminal and program; empty if not cached."""
        with contextlib.suppress(OSError):
            if all(map(Path.is_file, self._paths)) and _size_bytes(self._paths) >= LARGE_BYTES:
                words = [
                    *map(str, self._paths),
                    *map(_contents, self._paths),
                    self._question,
                    _surroundings(),
                ]
                return cache.fingerprint(sorted(OUR_FOLDER.rglob("*.py")), words)
        return ""


def _folder() -> Path:
    return cache.user_cache(HOME) / "tables"


def _size_bytes(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def _contents(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _surroundings() -> str:
    """Return what decides how the same numbers are printed."""
    screen = console()
    about = (screen.width, screen.height, screen.color_system) if screen is not None else ()
    return repr((sys.stdout.encoding, *about, *map(version, COMPUTE_WITH)))


def _tidy(folder: Path) -> None:
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for old in files[:-MAX_KEPT]:
        old.unlink()
