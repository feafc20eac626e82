"""The plans shipped with mpigauge: the files of examples/, in a wheel or in a checkout."""

import os
from functools import cache
from pathlib import Path

from mpigauge.errors import UsageError, nearest

SUFFIX = ".toml"
_PACKAGE = Path(__file__).parents[1]


@cache
def folder() -> Path:
    """Return the folder of the examples: in the package of a wheel, next to `src` in a checkout."""
    inside = _PACKAGE / "examples"
    return inside if inside.is_dir() else _PACKAGE.parents[1] / "examples"


@cache
def plans() -> dict[str, Path]:
    """Return all shipped plans by name, the stem of their files; {} if the examples are not installed."""
    return {path.stem: path for path in sorted(folder().glob(f"*{SUFFIX}"), key=lambda path: path.stem)}


def is_name(word: str) -> bool:
    """Return whether a word can only be the name of a plan: a path has a slash or the suffix .toml."""
    return "/" not in word and not word.endswith(SUFFIX)


def plan_path(word: str) -> Path:
    """Return the path of a plan: a shipped one by its name, anything else is a path.

    A name never means a file in the working folder, so that a command has the same meaning everywhere.

    Raises:
        UsageError: It is neither a shipped plan nor a file.
    """
    path = Path(word)
    if is_name(word) and word in plans():
        return plans()[word]
    # Path.exists would raise where a name is too long, or a folder is not readable.
    if is_name(word) and not os.path.lexists(path):
        near = nearest(word, plans())
        meant = f"did you mean {near}? " if near else ""
        raise UsageError(
            f"no plan is called {word!r}, and no file either", f"{meant}mpigauge list plans has their names"
        )
    return path


def check_there(path: Path) -> None:
    """Refuse a path that does not exist if a shipped plan has that name: pages say examples/NAME.toml.

    Raises:
        UsageError: There is no such file; says the name of the shipped plan.
    """
    if path.suffix == SUFFIX and path.stem in plans() and not os.path.lexists(path):
        raise UsageError(f"{path}: there is no such file", f"mpigauge brings this plan: --plan {path.stem}")
