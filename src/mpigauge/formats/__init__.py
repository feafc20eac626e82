"""Foreign formats: what others have written becomes a result, or a result what others read.

READERS is the one list of what can be imported. To add one: a module here with a function `read` from paths
to records, the first of which is the campaign, a row in READERS, and a test in tests/unit/formats.
"""

import importlib
import re
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
        mark: What a line begins with, as a regular expression, in files that are of this format; empty if
            none tells it.
    """

    about: str
    files: str
    example: str
    module: str
    least: int = 1
    columns: str = ""
    mark: bytes = b""


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
    "osu": Reader(
        about="Text of the OSU Micro-Benchmarks 5 to 7, or --format osu: means, without intervals.",
        files="FILE...",
        example="mpigauge import osu osu_latency.txt osu_allreduce.txt -o osu.jsonl",
        module="osu",
        mark=rb"# ?(?:OSU|OMB Python) MPI",
    ),
    "imb": Reader(
        about="Text of the Intel MPI Benchmarks, or --format imb: means, without intervals.",
        files="FILE...",
        example="mpigauge import imb imb.txt -o imb.jsonl",
        module="imb",
        mark=rb"#  ? ? ? ?Intel ?\(R\) MPI Benchmarks|# Benchmarking [A-Z]\w",
    ),
    "nccl": Reader(
        about="Text of nccl-tests, or the JSON of its option -J: means, without intervals.",
        files="FILE...",
        example="mpigauge import nccl all_reduce_perf.json -o nccl.jsonl",
        module="nccl",
        mark=rb"# nThread [0-9]+ nGpus [0-9]+|# nccl-tests version|\{.*\"nccl_version\":",
    ),
    "netpipe": Reader(
        about="Output file of NetPIPE (np.out), versions 3 to 5: times without intervals.",
        files="FILE...",
        example="mpigauge import netpipe np.out -o netpipe.jsonl",
        module="netpipe",
        mark=rb"\A\s*[0-9]+(?:[ \t]+[0-9]+\.[0-9e+-]+){2}(?:(?:[ \t]+[0-9]+\.[0-9]+){2})?[ \t]*\r?\n",
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


def recognised(content: bytes) -> str | None:
    """The name of the format that a file is of, by a line that only it has; None if nothing tells."""
    found = {name: _begins(reader.mark, content) for name, reader in READERS.items() if reader.mark}
    first = min((at for at in found.values() if at is not None), default=None)
    return next((name for name, at in found.items() if at is not None and at == first), None)


def _begins(mark: bytes, content: bytes) -> int | None:
    """Where the first line with a mark is; launchers may have put something before it."""
    match = re.search(rb"(?:^|[:\]> ])(?:" + mark + rb")", content, re.MULTILINE)
    return match.start() if match else None
