"""Text of perftest: ib_write_bw, ib_send_lat and their like, which measure RDMA without MPI.

"MB/sec", called "MiB/sec" since 2024, are 2^20 bytes per second, "Gb/sec" are 10^9 bits. A bidirectional rate
is the sum of both directions. A latency is half a round trip of send and write, and a whole one of read and
atomic. Source: src/perftest_parameters.c and .h of perftest 4.1 to 26.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.importers.collector import LineParser, TableMeaning, cell_of
from mpigauge.importers.text import (
    agree,
    begins_row,
    column_mismatch,
    is_number,
    is_whole,
    number,
    number_hint,
    rounding_range,
    significant_digits,
    without_note,
)

if TYPE_CHECKING:
    from mpigauge.importers.collector import Collector
    from mpigauge.importers.text import TextLine

HINT = "perftest prints rates in MB/sec, MiB/sec or Gb/sec, and times in usec: restore the heading"
TITLE = re.compile(
    r"(?:RDMA_)?(?P<verb>Send|Send_imm|Write|Write_imm|Read|Atomic)"
    r"(?P<how>(?: (?:CMP_AND_SWAP|FETCH_AND_ADD|Bidirectional|Post List|BW|Latency|forwarding|Multicast))*)"
    r" Test"
)
MEASURED = frozenset({"bw", "latency", "post", "list"})
"""Words of a title that say what is measured, not how."""

BIDIRECTIONAL = "bidirectional"
HEADING = re.compile(r"#?(?:bytes|flows)\s+#?(?:sl|iterations|fs_)")
LIKE_HEADING = re.compile(r"(?:BW.average|t_avg|t_typical)\s*\[|#iterations\b.{0,300}\[|^\W*#iterations\b")
_COLUMN = re.compile(
    r"\s*+(?:#?(?P<bare>bytes|iterations|sl|tps average)(?!\w)"
    r"|(?P<name>[^\[\]#]+)\[(?P<unit>[^\[\]]*)\])\s*"
)
SIZE, LEVEL, FLOWS = "bytes", "sl", "#flows"
RATE, COUNT = "BW average", "MsgRate"
MEAN, MEDIAN, MIN_TIME, MAX_TIME = "t_avg", "t_typical", "t_min", "t_max"
PER_SECOND = "tps average"
"""Exchanges per second: a column without a unit."""

UNITS = {
    RATE: {"MB/sec": 2.0**20, "MiB/sec": 2.0**20, "Gb/sec": 1e9 / 8},
    COUNT: {"Mpps": 1e6},
    **{name: {"usec": 1e-6} for name in (MEAN, MEDIAN, MIN_TIME, MAX_TIME)},
}
"""Values of each unit by column: bytes and messages per second, seconds."""

FACTS = (
    re.compile(r"Number of qps\s*: ?(?P<queues>[0-9]{1,7})\b", re.ASCII),
    re.compile(r"Connection type\s*: ?(?P<connection>\w{1,20})\b", re.ASCII),
    re.compile(r"TX depth\s*: ?(?P<depth>[0-9]{1,7})\b", re.ASCII),
    re.compile(r"(?<!Recv )Post List\s*: ?(?P<posted>[0-9]{1,7})\b", re.ASCII),
)
"""Patterns of lines between title and heading; their groups are attributes of a table."""

USED = re.compile(r"Use (?:ROCm|MUSA) memory\s*: ON\b")
ALLOCATED = re.compile(r"(?:cuMemAlloc|hipMalloc)\w{0,40}\(\) of|\ballocated GPU buffer")
"""Stands above the title of its table."""

ADDRESS = re.compile(r" *(?:local|remote) address:.*?\bQPN (0x[0-9a-f]{1,8}) PSN (0x[0-9a-f]{1,8})\b")
"""Address of a queue pair: what is local at one end is remote at the other."""

SIDE = re.compile(r"\s*(Local|Remote) results:")
PROGRAM = re.compile(
    r"(?<![A-Za-z0-9])(?:ib_(?P<verb>write|read|send|atomic)|raw_ethernet)_(?:bw|lat)(?![A-Za-z0-9])(?P<options>.*)"
)
BOTH_WAYS = re.compile(r"\s(?:-b|--bidirectional)\b")
ON_DEVICE = re.compile(r"\s--use_(?:cuda|rocm|musa|neuron|hl|mlu)\b")
CYCLES = re.compile(r"\s(?:-C|--report-cycles)\b")
TITLED = "perftest "
USUAL_CONNECTION = "RC"
SEND = "send"
THERE_AND_BACK = frozenset({"read", "atomic"})
"""Operations whose initiator waits for an answer: their latency is not halved."""

TIMES_OF = {
    (1,): "one operation: there and back",
    (2,): "one message: half a round trip",
    (1, 2): "one message: half a round trip, or all of it of read and atomic, whichever it was",
}
"""Meanings of a latency, by the halves of a round trip that it may have been divided by."""

RANKS = 2


@dataclass(slots=True)
class _Table:
    """State of the table being read.

    Attributes:
        verb: Operation in small letters; empty if unknown.
        mode_words: Other words of its title.
        queues: Queue pairs, whose messages are counted together.
        depth: Messages in flight.
        posted: Messages posted per call.
        ends: Addresses of its queue pairs, at both ends.
        side: Side whose part of a bidirectional rate is printed; empty if it is the sum.
        in_cycles: Whether the command asks for cycles, which stand below a heading that says usec.
        columns: Values of the units of the columns, by name.
        named: Whether its title was read, or its heading if it has none.
        has_rows: Whether a row was read.
    """

    verb: str = ""
    mode_words: tuple[str, ...] = ()
    queues: int = 1
    connection: str = USUAL_CONNECTION
    depth: int = 0
    posted: int = 1
    ends: frozenset[str] = frozenset()
    side: str = ""
    on_device: bool = False
    in_cycles: bool = False
    columns: dict[str, float] = field(default_factory=dict)
    named: bool = False
    has_rows: bool = False

    @property
    def directions(self) -> int:
        """Messages between the pair that its rates count at once."""
        return 2 if BIDIRECTIONAL in self.mode_words and not self.side else 1

    def mode(self, level: str) -> str:
        """Return the mode of a row.

        Args:
            level: Service level of the row; empty if it has none.
        """
        words = (
            *self.mode_words,
            self.side,
            "" if self.connection == USUAL_CONNECTION else self.connection,
            "" if self.queues == 1 else f"{self.queues} queue pairs",
            "" if self.posted == 1 else f"lists of {self.posted}",
            "device" if self.on_device else "",
            f"service level {level}" if level else "",
        )
        return " ".join(filter(None, words)) or "standard"


class Parser(LineParser):
    """Parser of the output of perftest."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(collector)
        self._table = _Table()
        self._program = self._verb = ""
        self._on_device = self._ended = False

    def take(self, line: TextLine) -> None:
        """Read a line.

        Raises:
            LineError: It is a heading or a row, and is not understood.
        """
        if title := TITLE.fullmatch(line.text):
            words = title["how"].lower().replace("_", " ").split()
            mode_words = tuple(word for word in words if word not in MEASURED)
            self._begin(f"{TITLED}{line.text}", line, _Table(title["verb"].lower(), mode_words))
        elif HEADING.match(line.text):
            self._heading(line)
        elif LIKE_HEADING.search(line.text):
            raise line.refused("the columns are not understood", HINT)
        elif line.words and is_whole(line.words[0]):
            self._row(line)
        else:
            self._fact(line.text)

    def end_table(self) -> None:
        """Read no row before the next heading."""
        self._table.columns, self._ended = {}, True

    def _begin(self, title: str, line: TextLine, table: _Table) -> None:
        """Begin a table, with the facts of its command line that the text lacks."""
        self.collector.begin_table(title, line)
        self._table = table
        commands = (self.collector.command, self._program, self.collector.file_name)
        program = next(filter(None, map(PROGRAM.search, commands)), None)
        if not title.startswith(TITLED):
            self._verb = table.verb = program["verb"] or SEND if program else self._verb
            table.mode_words = (BIDIRECTIONAL,) if program and BOTH_WAYS.search(program["options"]) else ()
        if program is not None:
            options = program["options"]
            table.on_device = ON_DEVICE.search(options) is not None
            table.in_cycles = CYCLES.search(options) is not None
        table.named, table.on_device = True, table.on_device or self._on_device
        self._program, self._on_device, self._ended = "", False, False

    def _fact(self, text: str) -> None:
        """Take a fact about the table, or about the next one."""
        if PROGRAM.search(text):
            self._program = text
        if ALLOCATED.search(text):
            self._on_device = True
        if match := SIDE.match(text):
            self._table.side = match[1].lower()
        found = [match for fact in FACTS if (match := fact.search(text))]
        address = ADDRESS.match(text)
        if (found or address) and self._table.has_rows:
            self._table = _Table()
        if address:
            self._table.ends |= {f"{address[1]} {address[2]}"}
        for match in found:
            for name, word in match.groupdict().items():
                setattr(self._table, name, word if name == "connection" else int(word))
        if USED.search(text):
            self._table.on_device = True

    def _heading(self, line: TextLine) -> None:
        if self._table.has_rows and not self._table.side:
            self._table = _Table()
        if not self._table.named:
            self._begin("perftest", line, self._table)
        self._ended = False
        columns = _columns(line)
        if self._table.in_cycles and {MEAN, MEDIAN} & {*columns}:
            raise line.refused("its times are cycles, as -C in the command says", "run it without -C")
        self._table.columns = columns

    def _row(self, line: TextLine) -> None:
        """Read a row; a longer line that begins like one is a message of a launcher or library."""
        table = self._table
        words = without_note(line.words, len(table.columns))
        if not table.columns:
            if table.named and not self._ended and begins_row(words):
                raise line.refused("numbers without a heading that says what they are", HINT)
            return
        if len(words) != len(table.columns):
            if begins_row(words):
                raise line.refused(column_mismatch(words, len(table.columns)), "complete the row")
            return
        row = dict(zip(table.columns, map(number, words), strict=True))
        if wrong := next((name for name, word in row.items() if not is_number(word)), None):
            raise line.refused(f"{wrong}: {row[wrong]!r} is not a number", number_hint(row[wrong]))
        table.has_rows = True
        # Only the end that sends has a depth of what it has in flight.
        if table.ends and not self.collector.keeps_end(table.ends, preferred=table.depth > 0):
            return
        if RATE in row or COUNT in row:
            self._rate(line, row)
        else:
            self._latency(line, row)

    def _rate(self, line: TextLine, row: dict[str, str]) -> None:
        """Take the time of a message from the byte rate or the message rate, whichever has more digits."""
        table, size = self._table, int(row[SIZE])
        moved = {RATE: size * table.directions, COUNT: table.directions}
        rates = {name: float(row[name]) * table.columns[name] for name in moved if name in row}
        if len(rates) > 1:
            ends = {name: [end * table.columns[name] for end in rounding_range(row[name])] for name in rates}
            low, high = ends[COUNT]
            if not agree((ends[RATE][0], ends[RATE][1]), (low * size, high * size)):
                raise line.refused("its rates in bytes and in messages contradict each other", HINT)
        name = max(rates, key=lambda one: significant_digits(row[one]))
        meaning = TableMeaning(
            f"perftest_{table.verb}_bw" if table.verb else "perftest_bw",
            table.mode(row.get(LEVEL, "")),
            time_of="one message" if table.directions == 1 else "one message of each direction",
            directions=table.directions,
            windowed=True,
        )
        time_s = moved[name] / rates[name] if rates[name] else 0.0
        cell = cell_of(meaning, size, RANKS, window=table.depth)
        self.collector.add_time(meaning, cell, time_s, "mean", line, printed=row[name])

    def _latency(self, line: TextLine, row: dict[str, str]) -> None:
        """Take the mean time, or the median of versions that print no mean."""
        table, name = self._table, MEAN if MEAN in row else MEDIAN
        time = float(row[name])
        if not float(row.get(MIN_TIME, time)) <= time <= float(row.get(MAX_TIME, time)):
            raise line.refused(
                f"{name} is not between {MIN_TIME} and {MAX_TIME}", "correct the line, or delete it"
            )
        halves = (1,) if table.verb in THERE_AND_BACK else (2,) if table.verb else (1, 2)
        if PER_SECOND in row and not any(_agrees(row[name], row[PER_SECOND], half) for half in halves):
            raise line.refused("its time and its exchanges per second contradict each other", HINT)
        meaning = TableMeaning(
            f"perftest_{table.verb}_lat" if table.verb else "perftest_lat",
            table.mode(row.get(LEVEL, "")),
            time_of=TIMES_OF[halves],
        )
        time_s = time * table.columns[name]
        statistic = "mean" if name == MEAN else "median"
        cell = cell_of(meaning, int(row[SIZE]), RANKS)
        self.collector.add_time(meaning, cell, time_s, statistic, line, printed=row[name])


def _agrees(time_us: str, per_s: str, half: int) -> bool:
    """Return whether time and exchanges per second agree, if the time is 1/half of a round trip."""
    low, high = (half * end / 1e6 for end in rounding_range(time_us))
    return agree(rounding_range(per_s), (1 / high, 1 / low if low else math.inf))


def _columns(line: TextLine) -> dict[str, float]:
    """Return the columns of a heading, each with the value of its unit.

    Raises:
        LineError: A unit is not known, or no column is a time or a rate.
    """
    if line.text.startswith(FLOWS):
        raise line.refused("it counts flows, not messages", "leave this table out")
    found, at = dict[str, float](), 0
    while at < len(line.text):
        match = _COLUMN.match(line.text, at)
        if match is None:
            raise line.refused(f"the columns are not understood from {line.text[at:][:40]!r} on", HINT)
        name = match["bare"] or match["name"].rstrip().replace("BW_", "BW ")
        units = UNITS.get(name, {})
        if units and match["unit"] not in units:
            raise line.refused(f"{name}: no unit is called {match['unit']!r}", HINT)
        found[name] = units.get(match["unit"], 1.0)
        at = match.end()
    if not {RATE, COUNT, MEAN, MEDIAN} & {*found}:
        raise line.refused("the heading has no mean time or rate that is known", HINT)
    return found
