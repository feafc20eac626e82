"""Figures independent of matplotlibrc: matplotlib would read one in the current folder when imported.

A file of another program there, or a stranger's, would change what figures look like, or end the command.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

LIBRARY = "matplotlib"
DEFAULTS = "mpl-data"
"""Folder of matplotlib's default settings; with it as the current folder, no others are found."""


def ignore_matplotlib_settings() -> None:
    """Make a later import of matplotlib use its default settings only."""
    if LIBRARY not in sys.modules and not any(
        isinstance(finder, _MatplotlibFinder) for finder in sys.meta_path
    ):
        sys.meta_path.insert(0, _MatplotlibFinder())


class _MatplotlibFinder(MetaPathFinder):
    """Finder that imports matplotlib with its default settings."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of matplotlib; None for other modules, and where its folder is not as expected."""
        if fullname != LIBRARY:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None or not spec.submodule_search_locations:
            return spec
        execute, defaults = spec.loader.exec_module, Path(spec.submodule_search_locations[0], DEFAULTS)

        def executed(module: ModuleType) -> None:
            with _working_directory(defaults):
                execute(module)

        spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


@contextmanager
def _working_directory(folder: Path) -> Iterator[None]:
    """Change to a folder temporarily, unless it is missing or the way back would be."""
    try:
        back = os.open(".", getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        if folder.is_dir():
            os.chdir(folder)
        yield
    finally:
        os.fchdir(back)
        os.close(back)
