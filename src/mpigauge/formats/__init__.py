"""Foreign formats: what others have written becomes a result, or a result what others read.

READERS is the one list of what can be imported. To add one: a module here with a class `Parser`, as `reading`
describes it, a row in READERS, and a test in tests/unit/formats.
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
        mark: What a line begins with that begins a table of this format, as a regular expression: a title, or
            a heading that no other has; empty if none tells it.
        by_shape: Whether its module can tell by `has_shape` that lines without any mark are of this format.
    """

    about: str
    files: str
    example: str
    module: str
    least: int = 1
    columns: str = ""
    mark: str = ""
    by_shape: bool = False

    @property
    def prints_tables(self) -> bool:
        """Whether it reads what a program has printed, which may be printed again, and lack the ranks."""
        return bool(self.mark) or self.by_shape


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
        mark=r"(?:# ?)?(?:OSU|OMB Python) MPI",
    ),
    "imb": Reader(
        about="Text of the Intel MPI Benchmarks, or --format imb: means, without intervals.",
        files="FILE...",
        example="mpigauge import imb imb.txt -o imb.jsonl",
        module="imb",
        mark=r"#  ? ? ? ?Intel ?\(R\) MPI Benchmarks|# Benchmarking [A-Z]\w",
    ),
    "nccl": Reader(
        about="Text of nccl-tests, or the JSON of its option -J: means, without intervals.",
        files="FILE...",
        example="mpigauge import nccl all_reduce_perf.json -o nccl.jsonl",
        module="nccl",
        mark=r"# nThread [0-9]+ nGpus [0-9]+|# nccl-tests version|# Collective test starting"
        r"|#\s+size\s+count\s+type\s"
        r"|\{.*\"nccl_version\":",
    ),
    "netpipe": Reader(
        about="Output file of NetPIPE (np.out), versions 3 to 5: times without intervals.",
        files="FILE...",
        example="mpigauge import netpipe np.out -o netpipe.jsonl",
        module="netpipe",
        by_shape=True,
    ),
}


def read(
    name: str, paths: Sequence[Path], columns: Path | None = None, *, ranks: int = 0, same: bool = False
) -> list["Record"]:
    """The records of foreign files; the module of a format is imported when it is used.

    Args:
        columns: The file that says which columns are what, of formats that need it.
        ranks: How many ranks took part, where no text says it.
        same: Whether tables of the same cells are launches of one thing.

    Raises:
        UsageError: A file cannot be read, or is none of this format; names the file and the line.
    """
    if READERS[name].prints_tables:
        reading = importlib.import_module("mpigauge.formats.reading")
        records: list[Record] = reading.read_text(paths, name, ranks=ranks, same=same)
    else:
        module = importlib.import_module(f"mpigauge.formats.{READERS[name].module}")
        records = module.read(paths) if columns is None else module.read(paths, columns)
    return records
