"""Drawing without settings: matplotlib would read those of the folder that we are in as it is imported.

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
"""The folder of matplotlib's own settings, in which it finds these as it would find ours elsewhere."""


def draw_without_settings() -> None:
    """Have matplotlib, when it is imported, take its own settings and nobody else's."""
    if LIBRARY not in sys.modules and not any(isinstance(one, _Plain) for one in sys.meta_path):
        sys.meta_path.insert(0, _Plain())


class _Plain(MetaPathFinder):
    """Finds matplotlib where it is, and has it look for its settings in its own folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where matplotlib is; None for all others, and where its settings are not as expected."""
        if fullname != LIBRARY:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None or not spec.submodule_search_locations:
            return spec
        execute, defaults = spec.loader.exec_module, Path(spec.submodule_search_locations[0], DEFAULTS)

        def executed(module: ModuleType) -> None:
            with _inside(defaults):
                execute(module)

        spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Change to another folder for a while, unless it is missing or there would be no way back."""
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
