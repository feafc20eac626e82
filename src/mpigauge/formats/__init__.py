"""Foreign formats: what others have written becomes a result, or a result what others read.

READERS is the one list of what can be imported. To add one: a module here with a function `read` from paths
to records, the first of which is the campaign, a row in READERS, and a test in tests/formats.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.result.records import Record


@dataclass(frozen=True, slots=True)
class Reader:
    """A format that can be imported.

    Attributes:
        about: What it reads, in a sentence.
        files: What it is given, for people: "PLAN JOURNAL...".
        least: How many files that are at least.
        example: A command line that imports some.
        columns: What the file that --columns names is, for help; empty where none is needed.
        module: That reads it, in this folder.
    """

    about: str
    files: str
    example: str
    module: str
    least: int = 1
    columns: str = ""


READERS = {
    "journal": Reader(
        about="Journals that mpigauge-kernel wrote under any launcher, and the plan that it followed.",
        files="PLAN JOURNAL...",
        example="mpigauge import journal plan.txt journal.1 journal.2 -o result.jsonl",
        module="kernel_journal",
        least=2,
    ),
    "csv": Reader(
        about="Published times or bandwidths in columns; without samples there are no intervals.",
        files="FILE...",
        example="mpigauge import csv examples/published/ring-pairs.csv "
        "--columns examples/published/ring-pairs.toml",
        module="csv",
        columns="TOML file that says what each column is, such as those in examples/published.",
    ),
}


def read(name: str, paths: Sequence[Path], columns: Path | None = None) -> list["Record"]:
    """The records of foreign files; the module of a format is imported when it is used.

    Args:
        columns: The file that says which columns are what, of formats that need it.

    Raises:
        UsageError: A file cannot be read, or is none of this format; names the file and the line.
    """
    module = importlib.import_module(f"mpigauge.formats.{READERS[name].module}")
    records: list[Record] = module.read(paths) if columns is None else module.read(paths, columns)
    return records
