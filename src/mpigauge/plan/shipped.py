"""What mpigauge brings, by name: plans, claims and printed tables, the files of examples/.

They are in the package of a wheel, and next to `src` in a checkout. SHIPPED is the one list of the kinds.
"""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mpigauge.errors import UsageError, nearest

SUFFIX = ".toml"
ALL = "all"
_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class ShippedKind:
    """A kind of shipped files.

    Attributes:
        noun: What one is called.
        listing: What `mpigauge list` calls all of them.
        option: Option that takes a name, behind its verb where it stands for an argument, too.
        subfolder: Folder of the files, below that of the examples.
        ending: What follows the name in the name of a file.
        all_at_once: Whether the word `all` means the whole folder.
    """

    noun: str
    listing: str
    option: str
    subfolder: str = ""
    ending: str = SUFFIX
    all_at_once: bool = False


PLANS = ShippedKind("plan", "plans", "--plan")
CLAIMS = ShippedKind("file of claims", "claims", "--claims", "published", "-claims.toml", all_at_once=True)
PRINTED = ShippedKind("printed table", "printed", "import csv --columns", "published")
SHIPPED = (PLANS, CLAIMS, PRINTED)


@cache
def folder() -> Path:
    """Return the folder of the examples: in the package of a wheel, next to `src` in a checkout."""
    inside = _PACKAGE / "examples"
    return inside if inside.is_dir() else _PACKAGE.parents[1] / "examples"


@cache
def files(kind: ShippedKind) -> dict[str, Path]:
    """Return all shipped files of a kind by name; {} if the examples are not installed."""
    longer = tuple(
        other.ending
        for other in SHIPPED
        if other.subfolder == kind.subfolder and len(other.ending) > len(kind.ending)
    )
    found = {
        path.name.removesuffix(kind.ending): path
        for path in (folder() / kind.subfolder).glob(f"*{kind.ending}")
        if not path.name.endswith(longer)
    }
    return dict(sorted(found.items()))


def plans() -> dict[str, Path]:
    """Return all shipped plans by name, the stem of their files; {} if the examples are not installed."""
    return files(PLANS)


def printed_table(columns: Path) -> Path:
    """Return the printed table beside the file that says what its columns are."""
    return columns.with_suffix(".csv")


def is_name(word: str) -> bool:
    """Return whether a word can only be a name: a path has a slash or the suffix .toml."""
    return "/" not in word and not word.endswith(SUFFIX)


def path_of(word: str, kind: ShippedKind) -> Path:
    """Return the path of a file: a shipped one by its name, anything else is a path.

    A name never means a file in the working folder, so that a command has the same meaning everywhere.

    Raises:
        UsageError: It is neither a shipped file nor another one.
    """
    path, shipped = Path(word), files(kind)
    if is_name(word) and word in shipped:
        return shipped[word]
    if kind.all_at_once and word == ALL and shipped:
        return folder() / kind.subfolder
    # Path.exists would raise where a name is too long, or a folder is not readable.
    if is_name(word) and not os.path.lexists(path):
        near = nearest(word, shipped)
        meant = f"did you mean {near}? " if near else ""
        raise UsageError(
            f"no {kind.noun} is called {word!r}, and no file either",
            f"{meant}mpigauge list {kind.listing} has their names",
        )
    return path


def plan_path(word: str) -> Path:
    """Return the path of a plan: a shipped one by its name, anything else is a path.

    Raises:
        UsageError: It is neither a shipped plan nor a file.
    """
    return path_of(word, PLANS)


def check_there(path: Path, kind: ShippedKind = PLANS) -> None:
    """Refuse a path that does not exist if a shipped file has that name: pages say examples/NAME.toml.

    Raises:
        UsageError: There is no such file; says the name of the shipped one.
    """
    name = path.name.removesuffix(kind.ending)
    if path.name != name and name in files(kind) and not os.path.lexists(path):
        raise UsageError(
            f"{path}: there is no such file", f"mpigauge brings this {kind.noun}: {kind.option} {name}"
        )
