"""The plans that mpigauge brings with it, by name: the files of examples/, in a wheel and in a checkout."""

import os
from functools import cache
from pathlib import Path

from mpigauge.errors import UsageError, nearest

SUFFIX = ".toml"
_PACKAGE = Path(__file__).parents[1]


@cache
def folder() -> Path:
    """Where the examples are: in the package of a wheel, beside `src` in a checkout."""
    inside = _PACKAGE / "examples"
    return inside if inside.is_dir() else _PACKAGE.parents[1] / "examples"


@cache
def plans() -> dict[str, Path]:
    """Every plan by its name, which is that of its file; empty where somebody has left the examples out."""
    return {path.stem: path for path in sorted(folder().glob(f"*{SUFFIX}"), key=lambda path: path.stem)}


def is_name(word: str) -> bool:
    """Whether a word can only be the name of a plan: a path has a slash or the suffix of a plan file."""
    return "/" not in word and not word.endswith(SUFFIX)


def path_of(word: str) -> Path:
    """The plan that a user means: one of ours by its name, wherever we are; anything else is a path.

    A name never means a file of the folder that we happen to be in, so that one command has one meaning.

    Raises:
        UsageError: It is neither a plan of ours nor a file.
    """
    path = Path(word)  # whose own question raises where a name is too long, or a folder is closed to us
    if is_name(word) and word in plans():
        return plans()[word]
    if is_name(word) and not os.path.lexists(path):
        near = nearest(word, plans())
        meant = f"did you mean {near}? " if near else ""
        raise UsageError(
            f"no plan is called {word!r}, and no file either", f"{meant}mpigauge list plans has their names"
        )
    return path


def check_there(path: Path) -> None:
    """Refuses a path that leads nowhere, if a plan of ours has that name: pages say examples/NAME.toml.

    Raises:
        UsageError: Says by which name it can be had.
    """
    if path.suffix == SUFFIX and path.stem in plans() and not os.path.lexists(path):
        raise UsageError(f"{path}: there is no such file", f"mpigauge brings this plan: --plan {path.stem}")
