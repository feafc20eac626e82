"""Text of ucx_perftest: latencies, rates and operations of UCX, each of one message size.

The screen has a heading, lines while it measures and a last one; a server has a box of what is measured. MB
are 2^20 bytes, and times of tests that send back and forth are half a round trip. Source:
src/tools/perf/perftest_run.c and lib/libperf.c of UCX.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.importers.collector import Collector, LineParser, TableMeaning, cell_of
from mpigauge.importers.text import LineError, agree, is_number, is_whole, number, rounding_range
from mpigauge.units import counted

if TYPE_CHECKING:
    from mpigauge.importers.text import TextLine

RANKS = 2
MIB = 2**20
US = 1e-6
HOST = "host"
STATISTIC = "mean"

_UNITS = re.compile(
    r"\|[| ]*(?P<kind>latency|overhead) \((?P<time>[^)]*)\)\s*\|\s*bandwidth \((?P<rate>[^)]*)\)"
    r"\s*\|\s*message rate \((?P<count>[^)]*)\)\s*\|"
)
_COLUMNS = re.compile(r"\|\s*(?:(?P<first>Stage|Test)\s*\|\s*)?# iterations\s*\|")
_COMMAS = re.compile(r"(?P<names>(?:[\w.-]+,)*)iterations,[\w.]+_lat,avg_lat,overall_lat,")
_BOX = re.compile(r"\| {0,40}(?P<key>[A-Z][A-Za-z ]{1,40}):(?P<value>[^|]*)\|")
_NAMED = re.compile(r"\+(?P<name>[A-Za-z0-9_][\w/.-]{0,200}?)-*\+[-+]*")
_LABEL = re.compile(r"(?:\[thread (?P<thread>[0-9]{1,5})\]|Final:)\s*")
_SHAPES = (re.compile(r"[0-9]+\.[0-9]{3}"), re.compile(r"[0-9]+\.[0-9]{2}"), re.compile(r"[0-9]+"))
"""Shapes of a time, a rate in bytes and one in messages: fewer digits behind the point mean that it was cut
off."""

_BLOCK = re.compile(r"[0-9]{1,15}(?::[0-9]{1,5})?", re.ASCII)
_PRODUCT = re.compile(r"\$\(\(\s*([0-9]{1,15}(?:\s*\*\s*[0-9]{1,15}){0,5})\s*\)\)", re.ASCII)

UNITS = ("usec", "MB/s", "msg/s")
MAX_SIZE = 2**50
ALL, TOTALS = 8, 4
"""Numbers in a line, and in the last one where several threads are summed up."""

OVERALL = {ALL: (3, 5, 7), TOTALS: (1, 2, 3)}
"""Columns of the time, the byte rate and the message rate of the whole run, by the numbers in a line."""

ROUND_TRIP, STREAMED = "_lat", ("_bw", "_mr")

NAMES = {
    ("transport layer", "active message latency"): "am_lat",
    ("transport layer", "put latency"): "put_lat",
    ("transport layer", "atomic add latency"): "add_lat",
    ("transport layer", "get latency / bandwidth / message rate"): "get",
    ("transport layer", "atomic fetch-and-add latency / rate"): "fadd",
    ("transport layer", "atomic swap latency / rate"): "swap",
    ("transport layer", "atomic compare-and-swap latency / rate"): "cswap",
    ("transport layer", "active message bandwidth / message rate"): "am_bw",
    ("transport layer", "put bandwidth / message rate"): "put_bw",
    ("transport layer", "get bandwidth / message rate"): "get_bw",
    ("transport layer", "atomic add message rate"): "add_mr",
    ("protocol layer", "tag match latency"): "tag_lat",
    ("protocol layer", "tag match bandwidth"): "tag_bw",
    ("protocol layer", "tag sync match latency"): "tag_sync_lat",
    ("protocol layer", "tag sync match bandwidth"): "tag_sync_bw",
    ("protocol layer", "put latency"): "ucp_put_lat",
    ("protocol layer", "put bandwidth"): "ucp_put_bw",
    ("protocol layer", "get latency / bandwidth / message rate"): "ucp_get",
    ("protocol layer", "atomic add bandwidth / message rate"): "ucp_add",
    ("protocol layer", "atomic fetch-and-add latency / bandwidth / rate"): "ucp_fadd",
    ("protocol layer", "atomic swap latency / bandwidth / rate"): "ucp_swap",
    ("protocol layer", "atomic compare-and-swap latency / bandwidth / rate"): "ucp_cswap",
    ("protocol layer", "stream bandwidth"): "stream_bw",
    ("protocol layer", "stream latency"): "stream_lat",
    ("protocol layer", "am latency"): "ucp_am_lat",
    ("protocol layer", "am bandwidth / message rate"): "ucp_am_bw",
}
"""Names of tests as option -t has them, by API and test of a server's box."""

UNNAMED = {"latency": "unnamed_lat", "overhead": "unnamed_bw", "": "unnamed"}

NAMED_ROWS, UNNAMED_ROWS = "Test", "Stage"
"""Heading of the first column: the name of each test, or the stage of the test."""

PROGRAM = "ucx_perftest"
TEST, SIZE, MEMORY, THREADS = "-t", "-s", "-m", "-T"

HINT = "write the command above the table: ucx_perftest -t tag_lat -s SIZE"
COMPLETE = "complete the row, or delete it"


@dataclass(frozen=True, slots=True)
class _Row:
    """Line of numbers: time, byte rate and message rate of the whole run, as printed.

    Attributes:
        total: Whether it sums up several threads.
    """

    line: TextLine
    time: str
    rate: str
    count: str
    total: bool = False

    @property
    def size_bytes(self) -> tuple[float, float]:
        """Range of the message size: the byte rate over the message rate."""
        rate, count = rounding_range(self.rate), rounding_range(self.count)
        return rate[0] * MIB / count[1], rate[1] * MIB / count[0] if count[0] else math.inf

    @property
    def size_by_time_bytes(self) -> tuple[float, float]:
        """Range of the message size: the byte rate times the time."""
        rate, time = rounding_range(self.rate), rounding_range(self.time)
        return rate[0] * MIB * time[0] * US, rate[1] * MIB * time[1] * US


@dataclass(slots=True)
class _Table:
    """State of the table being read.

    Attributes:
        kind: Name of the time in its heading; "" where versions call all times a latency.
        headed: Whether its heading was read.
        named: Whether its rows begin with the name of a test.
        commas: Number of names before the values of a comma-separated row; None for other tables.
        name: Name of the test in a line above the rows.
        box: Facts about the test that a server prints.
        options: Options of the command line that is visible above it.
        threads: Threads whose lines were read.
    """

    kind: str = ""
    headed: bool = False
    named: bool = False
    commas: int | None = None
    name: str = ""
    box: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] | None = None
    rows: list[_Row] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)


class Parser(LineParser):
    """Parser of tables of ucx_perftest; of the lines of each table the last counts."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(collector)
        self._table = _Table()
        self._refused: list[LineError] = []

    def take(self, line: TextLine) -> None:
        """Read a line: part of a heading, of a server's box, the name of a test, or a row.

        Raises:
            LineError: It is torn, or its numbers cannot be.
        """
        if match := _UNITS.match(line.text):
            self._begin(line, again=self._table.headed)
            self._table.kind = _kind(match, line)
            self._table.headed = True
        elif match := _COLUMNS.match(line.text):
            if not self._table.headed or self._table.rows:
                raise line.refused("the line above it that has the units is not there", COMPLETE)
            self._begin(line, again=False)
            self._table.named = match["first"] == NAMED_ROWS
            self._table.kind = self._table.kind if match["first"] == UNNAMED_ROWS else ""
            self._table.headed = True
        elif match := _COMMAS.match(line.text):
            self._begin(line, again=True)
            self._table.commas, self._table.headed = match["names"].count(","), True
        elif match := _BOX.match(line.text):
            self._begin(line, again=match["key"] in self._table.box)
            self._table.box[match["key"]] = match["value"].strip()
        elif match := _NAMED.fullmatch(line.text):
            self._end_test()
            self._table.name = match["name"]
        elif self._table.headed:
            self._take_row(line)

    def end_table(self) -> None:
        """Take the last row, and forget the heading."""
        self._end_test()
        self._table = _Table()

    def finish(self) -> None:
        """Take the last row.

        Raises:
            LineError: A table has no number, since its last row cannot be what it must be.
        """
        self.end_table()
        *others, last = [None, *self._refused]
        for error in others:
            if error is not None:
                self.collector.add_unread(error)
        if last is not None:
            raise last

    def _begin(self, line: TextLine, *, again: bool) -> None:
        """Begin a table, unless the lines before described the same one.

        Args:
            again: Whether the line repeats one that was read before.
        """
        if again or self._table.rows:
            self.end_table()
        if self._table.options is None:
            self.collector.begin_table("ucx_perftest", line)
            self._table.options = _options(self.collector.command)

    def _take_row(self, line: TextLine) -> None:
        """Keep a row; where it names its test, the test ends with it."""
        table = self._table
        if table.commas is not None:
            words = line.text.split(",")
            self._keep(line, words[table.commas :], final=True)
            table.name = "/".join(words[: table.commas])
        elif table.named:
            if not (line.words[1:] and _is_number(line.words[1])):
                return
            self._keep(line, line.words[1:], final=True)
            table.name = line.words[0]
        elif match := _LABEL.match(line.text):
            if match["thread"]:
                table.threads.add(int(match["thread"]))
            self._keep(line, line.text[match.end() :].split(), final=match["thread"] is None)
        elif line.words and _is_number(line.words[0]):
            self._keep(line, line.words, final=False)
        if table.rows and (table.named or table.commas is not None):
            self._end_test()

    def _keep(self, line: TextLine, words: list[str], *, final: bool) -> None:
        count = next((at for at, word in enumerate(words) if not _is_number(word)), len(words))
        overall = [_without_commas(words[at]) for at in OVERALL.get(count, ())]
        whole = [shape.fullmatch(word) is not None for shape, word in zip(_SHAPES, overall, strict=False)]
        if not overall or (count == TOTALS and not (final and all(whole))):
            raise line.refused(f"has {counted(count, 'number')} below {ALL} columns", COMPLETE)
        if not all(whole):
            raise line.refused(f"{overall[whole.index(False)]!r} was cut off", COMPLETE)
        time, rate, messages = overall
        total = count == TOTALS or (final and len(self._table.threads) > 1)
        self._table.rows.append(_Row(line, time, rate, messages, total))

    def _end_test(self) -> None:
        """Take the last row of the test that has ended."""
        table, rows = self._table, self._table.rows
        try:
            if rows:
                self._take_test(table, rows[-1])
        except LineError as error:
            self._refused.append(error)
        table.rows, table.threads = [], set()

    def _take_test(self, table: _Table, row: _Row) -> None:
        """Take the row of a whole test.

        Raises:
            LineError: It does not say of which size it is, or only what one of several threads did.
        """
        threads = len(table.threads)
        if threads > 1 and not row.total:
            raise row.line.refused(
                f"is of one of {threads} threads, and no last line sums them up", "let the test end"
            )
        size_bytes, meaning = _size(table), _meaning(table, row, threads)
        cell = cell_of(meaning, size_bytes, RANKS)
        self.collector.add_time(meaning, cell, _time_s(row, meaning), STATISTIC, row.line, printed=row.time)


def _kind(match: re.Match[str], line: TextLine) -> str:
    for unit, known in zip((match["time"], match["rate"], match["count"]), UNITS, strict=True):
        if unit != known:
            raise line.refused(f"no unit of ucx_perftest is called {unit!r}", f"it prints {', '.join(UNITS)}")
    return match["kind"]


def _without_commas(word: str) -> str:
    """Return a number without commas: with option -N whole numbers have them."""
    return number(word, whole=True)


def _is_number(word: str) -> bool:
    return is_number(_without_commas(word))


# ---- What was measured ---------------------------------------------------------------------------


def _options(command: str) -> dict[str, str]:
    """Return the options of a command line that runs ucx_perftest, by their letters."""
    if PROGRAM not in command:
        return {}
    text = _PRODUCT.sub(lambda match: str(_product(match[1])), command[command.index(PROGRAM) :])
    words = text.split()
    return {
        word: value.strip("'\"") for word, value in pairwise(words) if word in (TEST, SIZE, MEMORY, THREADS)
    }


def _product(text: str) -> int:
    """Return the value of the shell arithmetic `$((1024*1024))`."""
    return math.prod(map(int, text.split("*")))


def _size(table: _Table) -> int:
    """Return the message size in bytes: as stated, or the one whole number that all rates agree on.

    Raises:
        LineError: The rates contradict what is said, or leave several sizes.
    """
    sizes = [row.size_bytes for row in table.rows]
    line = table.rows[-1].line
    for stated in _stated_sizes(table):
        if all(agree((stated, stated), size) for size in sizes):
            return stated
    if table.kind:
        sizes.extend(row.size_by_time_bytes for row in table.rows if not row.total)
    low, high = max(size[0] for size in sizes), min(size[1] for size in sizes)
    whole = range(math.ceil(low), math.floor(min(high, MAX_SIZE)) + 1)
    if len(whole) == 1:
        return whole[0]
    if not whole:
        raise line.refused("its rates in bytes and in messages contradict each other", COMPLETE)
    between = f"between {whole[0]} and {whole[-1]} B" if high < MAX_SIZE else f"at least {whole[0]} B"
    raise line.refused(f"does not say the size of its messages; by its rates it is {between}", HINT)


def _stated_sizes(table: _Table) -> list[int]:
    """Return the sizes that the text names: in the box, the test's name, or the command line."""
    words = [table.box.get("Message size", ""), table.name.rpartition("/")[2]]
    stated = [int(word) for word in words if is_whole(word)]
    blocks = (table.options or {}).get(SIZE, "").split(",")
    if all(_BLOCK.fullmatch(block) for block in blocks):
        stated.append(sum(math.prod(map(int, block.split(":"))) for block in blocks))
    return stated


def _test(table: _Table) -> str:
    """Return the name of a test, or what is known of it."""
    if "Test" in table.box:
        stated = table.box["Test"]
        return NAMES.get((table.box.get("API", ""), stated)) or stated
    words = [word for word in table.name.split("/") if word and not is_whole(word)]
    return "_".join(words) or (table.options or {}).get(TEST, "") or UNNAMED[table.kind]


def _meaning(table: _Table, row: _Row, threads: int) -> TableMeaning:
    name = re.sub(r"[^a-z0-9]+", "_", _test(table).lower()).strip("_")
    streamed = name.endswith(STREAMED)
    time_of = "one message of a stream" if streamed else "one operation"
    if name.endswith(ROUND_TRIP):
        time_of = "one message: half a round trip"
    return TableMeaning(f"ucx_{name}", _mode(table, row, threads), time_of=time_of, windowed=streamed)


def _mode(table: _Table, row: _Row, threads: int) -> str:
    """Return the mode: memory of the buffers, data layout, number of threads."""
    options, box = table.options or {}, table.box
    first, _, second = options.get(MEMORY, HOST).partition(",")
    memory = (box.get("Send memory", first), box.get("Recv memory", second or first))
    words = [] if memory == (HOST, HOST) else ["-".join(memory)]
    if box.get("API") == "transport layer" and box.get("Data layout"):
        words.append(box["Data layout"])
    if row.total:
        words.append(f"{threads or options.get(THREADS, 'several')} threads")
    return " ".join(words) or "standard"


def _time_s(row: _Row, meaning: TableMeaning) -> float:
    """Return the time of one message: from the message rate of a stream if that has more digits.

    Raises:
        LineError: Time and count contradict each other.
    """
    time, count = rounding_range(row.time), rounding_range(row.count)
    both = tuple(1 / end / US if end else math.inf for end in reversed(count))
    # Until 2017, a round trip was counted as one message.
    if not row.total and not any(agree(time, (both[0] / trips, both[1] / trips)) for trips in (1, 2)):
        raise row.line.refused("its time and its count of messages contradict each other", COMPLETE)
    if meaning.windowed and (row.total or both[1] - both[0] < time[1] - time[0]):
        return 1 / float(row.count) if count[0] else 0.0
    return float(row.time) * US
