"""Readers of foreign formats: what other benchmarks, or people, have written becomes a result.

READERS is the one list of what can be imported. To add one: a module here with a class `Parser`, as `reading`
describes it, a row in READERS, and a test in tests/unit/importers.
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
        about: Sentence that says what it reads.
        files: Arguments on the command line: "PLAN JOURNAL...".
        min_files: Least number of files.
        example: A command line that imports some.
        columns: Help for the file that --columns names; empty where none is needed.
        module: Module that reads it, in this folder.
        mark: Regular expression for the beginning of a table: a title, or a heading that no other format has;
            empty if there is none.
        program: Program whose output it reads, for people; empty if no benchmark prints it.
        foreign: Formats of other benchmarks that have names for what it reads: `show.formats.FOREIGN`.
        by_shape: Whether its module can tell by `has_shape` that lines without any mark are of this format.
    """

    about: str
    files: str
    example: str
    module: str
    min_files: int = 1
    columns: str = ""
    mark: str = ""
    program: str = ""
    foreign: tuple[str, ...] = ()
    by_shape: bool = False

    @property
    def prints_tables(self) -> bool:
        """Return whether it reads printed output, which may hold several runs and lack the ranks."""
        return bool(self.mark) or self.by_shape


_OSU = (
    r"# ?(?:OSU|OMB Python|OMB-Py) (?:MPI|OpenSHMEM|UPC|[A-Z]*CCL|[A-Z][\w -]*Test\b)"
    r"|# ?MPI [A-Z][\w -]*Test\s*\Z"
    # Copies lose comment signs. Without one, only a line that ends with a version is a title.
    r"|(?:OSU|OMB Python|OMB-Py) (?:MPI|OpenSHMEM|UPC|[A-Z]*CCL)[\w+/ ().-]*Test"
    r"(?: Persistent)? +\(?(?:v|[Vv]ersion )[0-9][\w.+-]*\)?\s*\Z"
    # Without titles, headings begin tables.
    r"|(?:# ?)?(?<![A-Za-z] )Size(?: ?[(\[](?:B|[Bb]ytes)[)\]])?\s+(?:(?:Avg )?Latency ?[(\[]us[)\]]"
    r"|(?:Bi-)?Bandwidth ?[(\[]MB/s[)\]]|Overall ?\(us\)|MB/s\s+Messages/s)"
)

SIZE_HEADING = (
    r"(?i:(?:(?:msg|message|buffer|data|transfer|packet|payload|block)[ _]?)?(?:sizes?|len(?:gth)?|bytes))"
)
"""Headings of a column of sizes."""

_SIZES = (
    rf"(?:(?:(?:osu|imb|ib|fi)_\w{{1,40}}[ _])?{SIZE_HEADING}[\s*`]{{0,80}}"
    r"(?:[(\[][^|,;\t()\[\]]{0,40}[)\]]|in bytes|_(?:in_)?bytes|_B)?|[(\[](?:[KMG]?i?B|bytes)[)\]])"
)

_NO_SUITE = r"(?!#|iters|(?:Avg |Min |Max |Bi-)?(?:Lat(?:ency)?\b|Bandwidth|Overall|MB/s))"
"""Columns of OSU, IMB and others, with tabs: a table of somebody's own has none of them behind the sizes."""

MAX_FACTORS = 4
"""Columns that may stand before that of sizes."""

_FACTORS = rf"[# \"]{{0,9}}(?:(?:[^|,;\t\s\d\"][^|,;\t\"]{{0,30}})?\"?[,;\t] {{0,9}}\"?){{1,{MAX_FACTORS}}}"
_VALUES = r"(?i:latency|bandwidth|throughput|\btime|(?<![A-Za-z])(?:lat|bw|[num]?s|[MG]i?B/s)(?![A-Za-z]))"
"""Words of which a heading needs one if columns stand before that of sizes: few sentences have any."""

_WITHOUT_SAMPLES = ("osu", "osu-validation")
"""Formats of other benchmarks that need no number of samples."""

READERS = {
    "journal": Reader(
        about="Journals that mpigauge-kernel wrote under any launcher, and the plan that it followed.",
        files="PLAN JOURNAL...",
        example="mpigauge import journal plan.txt journal.1 journal.2 -o result.jsonl",
        module="kernel_journal",
        foreign=("osu", "osu-validation", "imb"),
        min_files=2,
    ),
    "csv": Reader(
        about="Published times or bandwidths in columns; without samples there are no intervals.",
        files="[FILE...]",
        example="mpigauge import csv --columns ring-pairs -o printed.jsonl",
        module="csv",
        foreign=_WITHOUT_SAMPLES,
        columns="TOML file that says what each column is, or the name of a printed table: "
        "mpigauge list printed. Without FILE, the .csv beside it is read.",
        min_files=0,
    ),
    "osu": Reader(
        about="Text of the OSU Micro-Benchmarks 2 to 8, or --format osu: means, without intervals.",
        files="FILE...",
        example="mpigauge import osu osu_latency.txt osu_allreduce.txt -o osu.jsonl",
        module="osu.parser",
        foreign=_WITHOUT_SAMPLES,
        program="OSU Micro-Benchmarks",
        mark=_OSU,
    ),
    "imb": Reader(
        about="Text of the Intel MPI Benchmarks, or --format imb: means, without intervals.",
        files="FILE...",
        example="mpigauge import imb imb.txt -o imb.jsonl",
        module="imb.parser",
        foreign=_WITHOUT_SAMPLES,
        program="Intel MPI Benchmarks",
        mark=r"#? *(?:Intel ?(?:\(R\)|\u00ae)|PALLAS) MPI Benchmark(?:s| Suite) "
        r"|# Benchmarking +(?:[A-Z]\w|\w+ \(processes:)"
        r"|(?:Group +)?(?:#?bytes +)?#?repetitions +(?:t(?:_[A-Za-z]+)?\[|Mbytes/sec)",
    ),
    "nccl": Reader(
        about="Text of nccl-tests and rccl-tests, or the JSON of option -J: means, without intervals.",
        files="FILE...",
        example="mpigauge import nccl all_reduce_perf.json -o nccl.jsonl",
        module="nccl.parser",
        program="nccl-tests and rccl-tests",
        mark=r"#? *(?:nThreads?:? [0-9]+ nGpus:? [0-9]+|nccl-tests version|Collective test starting"
        r"|(?:size +count|bytes +N) +type .*algbw)|\{\"version\":[0-9]+,\"start_time\":|\"nccl_version\":"
        r"|numCycle,collective,|\{ *\"numCycle\" *:",
    ),
    "netpipe": Reader(
        about="Output file of NetPIPE (np.out) or its screen, versions 1 to 5: times without intervals.",
        files="FILE...",
        example="mpigauge import netpipe np.out -o netpipe.jsonl",
        module="netpipe.parser",
        mark=r"[0-9]{1,4}:\s+[0-9.]+\s+(?:bytes|[KMGT]?B)\s+[0-9]+\s+times\s+-->",
        by_shape=True,
        program="NetPIPE",
    ),
    "perftest": Reader(
        about="Text of perftest, such as ib_write_bw and ib_send_lat: means, without intervals.",
        files="FILE...",
        example="mpigauge import perftest ib_write_bw.txt -o perftest.jsonl",
        module="perftest",
        program="perftest",
        mark=r"(?:RDMA_)?(?:Send|Write|Read|Atomic)(?:_imm)?"
        r"(?: [A-Z_]{2,}| Bidirectional| Post List| Latency)+(?: forwarding| Multicast)* Test$"
        r"|#?bytes\s+(?:#?sl\s+)?#?iterations\s+(?:BW[ _]|t_)|#flows\s+fs_",
    ),
    "fabtests": Reader(
        about="Text of libfabric's fi_pingpong and fabtests: means, without intervals.",
        files="FILE...",
        example="mpigauge import fabtests fi_rdm_bw.txt -o fabtests.jsonl",
        module="fabtests",
        program="libfabric's fi_pingpong and fabtests",
        mark=r"(?:name\s+)?bytes\s+(?:iters|#?sent\s+#?ack)\s+total\s+time\s+\w+/s|- \{ xfer_size: [0-9]",
    ),
    "ucx": Reader(
        about="Text of ucx_perftest, on the screen or with -v: means of whole runs, without intervals.",
        files="FILE...",
        example="mpigauge import ucx ucx_perftest.txt -o ucx.jsonl",
        module="ucx",
        program="ucx_perftest",
        mark=r"\|[| ]*(?:latency|overhead) \([a-z]+\) *\| *bandwidth \("
        r"|\| *(?:(?:Stage|Test) *\| *)?# iterations *\|"
        r"|\| API: +(?:protocol|transport) layer"
        r"|(?:[\w.-]+,)*iterations,[\w.]+_lat,avg_lat,overall_lat,",
    ),
    "julia": Reader(
        about="Output of MPIBenchmarks.jl, on the screen or as its files: means, without intervals.",
        files="FILE...",
        example="mpigauge import julia julia_imb_pingpong.csv -o julia.jsonl",
        module="julia",
        program="MPIBenchmarks.jl",
        mark=r"(?:Running benchmark|#) (?:IMB|OSU) [\w ]+? (?:with type \w+ )?on [0-9]+ MPI ranks"
        r"|size \(bytes\),(?:(?:iterat[a-z]*|iters),"
        r"(?:(?:min_)?time|latency|bandwidth) \((?:seconds|us|MB/s)\)"
        r"|(?:time|latency) \(seconds\))",
    ),
    # Last, since any format that knows a heading goes before.
    "table": Reader(
        about="Tables in Markdown, HTML or CSV: a column of sizes, and one of times or rates for each run.",
        files="FILE...",
        example="mpigauge import table before-after.md -o both.jsonl",
        module="table",
        program="tables of times and rates in Markdown, HTML and CSV",
        mark=rf"^(?:[ \t>]*\|?(?:(?:[^|\d][^|]{{0,30}})?\|){{0,{MAX_FACTORS}}}"
        rf"[\s*`#]{{0,80}}{_SIZES}[\s*`]{{0,80}}\|"
        rf"|[# \"]{{0,9}}{_SIZES}[ \"]{{0,9}}[,;]\s{{0,9}}\S"
        rf"|{_FACTORS}{_SIZES}[ \"]{{0,9}}[,;\t][^\n]{{0,200}}?{_VALUES}"
        rf"|[# ]{{0,9}}{_SIZES} {{0,9}}\t\s{{0,9}}{_NO_SUITE}\S)"
        rf"|^[ \t>]*\|[^|]{{0,200}}[(\[](?:[nu\u00b5\u03bcm]s(?:ec)?|[MG]i?B/s)[)\]][^|]{{0,200}}\|[\s|]*\Z"
        rf"|^\s*(?i:<table)\b",
    ),
}


def read(
    name: str, paths: Sequence[Path], columns: Path | None = None, *, ranks: int = 0, same: bool = False
) -> list["Record"]:
    """Return the records of foreign files; the module of a format is imported when it is used.

    Args:
        columns: The file that says which columns are what, of formats that need it.
        ranks: Number of ranks that took part, where the text does not say it.
        same: Whether tables of the same cells are launches of one run.

    Raises:
        UsageError: A file cannot be read, or is none of this format; names the file and the line.
    """
    if READERS[name].prints_tables:
        reading = importlib.import_module("mpigauge.importers.reading")
        records: list[Record] = reading.read_text(paths, name, ranks=ranks, same=same)
    else:
        module = importlib.import_module(f"mpigauge.importers.{READERS[name].module}")
        records = module.read(paths) if columns is None else module.read(paths, columns)
    return records
