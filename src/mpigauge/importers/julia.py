"""Output of MPIBenchmarks.jl: comma-separated values, on the screen below a title, in a file without one.

Times of one message are half a round trip; those of a collective are of the call, of which IMB's are taken of
the slowest rank and OSU's of all in the mean, as those suites are read. Two headings do not say what is below
them: one-sided tests print microseconds below "time (seconds)", and MB of the bandwidth are 2^20 bytes.
Source: src/*.jl of MPIBenchmarks.jl.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mpigauge.importers.collector import Collector, LineParser, TableMeaning, cell_of
from mpigauge.importers.text import column_mismatch, is_number, number_hint
from mpigauge.plan.benchmarks import BY_IMB
from mpigauge.plan.patterns import ONE, known

if TYPE_CHECKING:
    from mpigauge.importers.text import TextLine
    from mpigauge.plan.benchmarks import Counterpart

_TITLE = re.compile(
    r"(?:Running benchmark|#) (?P<suite>IMB|OSU) (?P<name>[\w ]+?) (?:with type (?P<type>\w+) )?"
    r"on (?P<ranks>[0-9]{1,7}) MPI ranks(?: with window synchronization: (?P<sync>\w+))?"
)
_FILE = re.compile(r"julia_(?P<suite>imb|osu)_(?P<name>[a-z_]+)")
_ROW = re.compile(r"[0-9]+,")
_TWO_DECIMALS = re.compile(r"[0-9]+\.[0-9]{2}", re.ASCII)

SIZE, COUNTS = "size (bytes)", frozenset({"iterations", "iteratons", "iters", "alloc (B)"})
TIMES = {"time (seconds)": 1.0, "latency (seconds)": 1.0, "latency (us)": 1e-6}
TIMES_OVER_RANKS = ("min_time (seconds)", "max_time (seconds)", "avg_time (seconds)")
BANDWIDTH, THROUGHPUT = "bandwidth (MB/s)", "throughput (MB/s)"
MIB, MB = 2**20, 10**6

MISNAMED = "time (seconds)"
"""Heading that one-sided tests print above microseconds."""

MICROSECONDS = "one call with its synchronisation: microseconds, whatever the heading says"
LEAST_US = 1e-3
"""Shortest believable call, 1 ns: a smaller number that could be microseconds is in seconds."""

SAME_AS_IMB = {
    "latency": "PingPong",
    "bandwidth": "Uniband",
    "bw": "Uniband",
    "broadcast": "Bcast",
}
"""IMB names of benchmarks that OSU calls otherwise."""

IMB_BY_NAME = {name.lower(): benchmark for name, benchmark in BY_IMB.items()}
TYPES = {"Float64": "double", "Float32": "float", "Int64": "int64", "Int32": "int32", "UInt8": "uint8"}
OPERATION = "sum"
UNNAMED = "unnamed"
PAIR = 2
HINT = "restore the heading, or leave the table out"
COMPLETE = "complete the row, or delete it"


@dataclass(slots=True)
class _Table:
    """State of the table being read.

    Attributes:
        name: Name of the benchmark in small letters, without blanks; "" if unknown.
        sync: Synchronisation of the window of a one-sided test; "" if it has none.
        scale: Seconds per unit of its times, set by the first row; 0 before.
    """

    suite: str = ""
    name: str = ""
    slug: str = ""
    element: str = ""
    ranks: int = 0
    sync: str = ""
    columns: tuple[str, ...] = ()
    scale: float = 0.0


class Parser(LineParser):
    """Parser of tables of MPIBenchmarks.jl."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(collector)
        self._table = _Table()

    def take(self, line: TextLine) -> None:
        """Read a title, a heading or a row.

        Raises:
            LineError: Its columns are not known, or its numbers cannot be.
        """
        if match := _TITLE.fullmatch(line.text):
            self.collector.begin_table(
                line.text.removeprefix("#").removeprefix("Running benchmark").strip(), line
            )
            self._table = _table_from_title(match)
        elif line.text.startswith(f"{SIZE},"):
            self._heading(line)
        elif self._table.columns and _ROW.match(line.text):
            self._row(line)

    def end_table(self) -> None:
        """Forget the heading."""
        self._table = _Table()

    def _heading(self, line: TextLine) -> None:
        columns = tuple(line.text.split(","))
        for name in columns:
            if name not in {SIZE, BANDWIDTH, THROUGHPUT, *TIMES, *TIMES_OVER_RANKS, *COUNTS}:
                raise line.refused(f"no column of MPIBenchmarks.jl is called {name!r}", HINT)
        if self._table.columns or not self._table.suite:
            self.collector.begin_table(f"MPIBenchmarks.jl {self.collector.file_name}", line)
            self._table = _table_from_file_name(self.collector.file_name)
        self._table.columns = columns

    def _row(self, line: TextLine) -> None:
        table, words = self._table, line.text.split(",")
        if len(words) != len(table.columns):
            raise line.refused(column_mismatch(words, len(table.columns)), COMPLETE)
        row = dict(zip(table.columns, words, strict=True))
        for name, word in row.items():
            if not is_number(word):
                raise line.refused(f"{name}: {word!r} is not a number", number_hint(word, COMPLETE))
        size_bytes = int(row[SIZE])
        if BANDWIDTH in row and not size_bytes:
            return
        ranks = table.ranks or (PAIR if not set(TIMES_OVER_RANKS) & row.keys() else self.collector.ranks)
        meaning = _meaning(table, ranks)
        time_s, statistic, printed = _time(line, table, row)
        cell = cell_of(meaning, size_bytes, ranks, **_reduced(table, meaning))
        self.collector.add_time(meaning, cell, time_s, statistic, line, printed=printed)


def _table_from_title(match: re.Match[str]) -> _Table:
    return _Table(
        match["suite"].lower(),
        match["name"].lower().replace(" ", ""),
        match["name"].lower().replace(" ", "_"),
        match["type"] or "",
        int(match["ranks"]),
        match["sync"] or "",
    )


def _table_from_file_name(file_name: str) -> _Table:
    """Return what a usual file name says: `julia_osu_get_latency.csv`."""
    match = _FILE.match(file_name)
    if match is None:
        return _Table()
    return _Table(match["suite"], match["name"].replace("_", ""), match["name"])


def _time(line: TextLine, table: _Table, row: dict[str, str]) -> tuple[float, str, str]:
    """Return the time of a row in seconds, its statistic, and the number that it follows from, as printed.

    Raises:
        LineError: It has none, or its rate contradicts it.
    """
    if BANDWIDTH in row:
        return _time_of_bandwidth(line, row), "mean", row[BANDWIDTH]
    if set(TIMES_OVER_RANKS) <= row.keys():
        slowest = table.suite == "imb"
        printed = row[TIMES_OVER_RANKS[1 if slowest else 2]]
        return float(printed), "mean, slowest rank" if slowest else "mean over ranks", printed
    name = next((name for name in TIMES if name in row), "")
    if not name:
        raise line.refused("its heading has no time that is known", HINT)
    time = float(row[name])
    if not table.scale:
        heading_is_right = name != MISNAMED or THROUGHPUT in row or (table.name and not table.sync)
        table.scale = TIMES[name] if heading_is_right or not time or time < LEAST_US else 1e-6
    _check_throughput(line, row, time * table.scale)
    return time * table.scale, "mean", row[name]


def _time_of_bandwidth(line: TextLine, row: dict[str, str]) -> float:
    if not _TWO_DECIMALS.fullmatch(row[BANDWIDTH]):
        raise line.refused(
            "is of a version that printed the bandwidth times the number of iterations",
            "measure again with MPIBenchmarks.jl of May 2024 or later",
        )
    rate_bytes_per_s = float(row[BANDWIDTH]) * MIB
    return int(row[SIZE]) / rate_bytes_per_s if rate_bytes_per_s else 0.0


def _check_throughput(line: TextLine, row: dict[str, str], time_s: float) -> None:
    """Refuse a row whose rate is not its size over its time; old versions counted both directions."""
    rate_bytes_per_s = float(row.get(THROUGHPUT, 0)) * MB
    moved = rate_bytes_per_s * time_s
    if moved and not any(abs(moved - times * int(row[SIZE])) <= 0.01 * moved for times in (1, PAIR)):
        raise line.refused("its time and its throughput contradict each other", COMPLETE)


# ---- What the numbers are of ---------------------------------------------------------------------


def _own_benchmark(table: _Table) -> Counterpart | None:
    """Return our benchmark that measures the same; None if there is none, as for one-sided tests."""
    if not table.name or table.sync:
        return None
    return IMB_BY_NAME.get(SAME_AS_IMB.get(table.name, table.name).lower())


def _meaning(table: _Table, ranks: int) -> TableMeaning:
    """Return our meaning where the measurement is the same, else a foreign one."""
    benchmark = _own_benchmark(table)
    if benchmark is None:
        rated = BANDWIDTH in table.columns
        return TableMeaning(
            "_".join(filter(None, ("julia", table.suite, table.slug or UNNAMED))),
            table.sync or "standard",
            time_of="one message" if rated else MICROSECONDS if table.sync else "as its program counts it",
            rated=rated,
            windowed=rated,
        )
    own = known()[benchmark.pattern]
    mode = own.mode(benchmark.mode)
    slowest = table.suite == "imb"
    return TableMeaning(
        benchmark.pattern,
        benchmark.mode,
        time_of=own.time_of_mode(benchmark.mode)
        if own.active_ranks
        else f"in the call, {'slowest rank' if slowest else 'mean over ranks'}",
        directions=mode.directions if mode else 1,
        sized=own.moves_bytes,
        rated=bool(ranks) or own.volumes.operation == ONE,
        windowed=benchmark.rate,
    )


def _reduced(table: _Table, meaning: TableMeaning) -> dict[str, Any]:
    """Return the datatype and the operation of a reduction."""
    own = known().get(meaning.pattern)
    if own is None or not own.reduces:
        return {}
    return {"datatype": TYPES.get(table.element, table.element), "op": OPERATION}
