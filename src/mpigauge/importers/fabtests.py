"""Text of libfabric's fi_pingpong and of its fabtests, such as fi_rdm_bw, which measure without MPI.

"MB/sec" are 10^6 bytes per second, "Gb/sec" of old versions 10^9 bits, "1k" are 1024 bytes. A time of a
ping-pong is half a round trip. Each row has a rate and a time, which prove each other and the size. Source:
util/pingpong.c and fabtests/common/shared.c of libfabric 2, and common/shared.c of fabtests 1.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.importers.collector import LineParser, TableMeaning, cell_of
from mpigauge.importers.text import (
    column_mismatch,
    is_number,
    number,
    number_hint,
    rounding_range,
    significant_digits,
    without_note,
)

if TYPE_CHECKING:
    from mpigauge.importers.collector import Collector
    from mpigauge.importers.text import TextLine

HINT = "libfabric's tests print MB/sec and usec/xfer: restore the heading"
HEADING = re.compile(
    r"(?P<named>name\s+)?bytes\s+(?P<counts>iters|#?sent\s+#?ack)\s+total\s+time\s+(?P<unit>\w+/s(?:ec)?)\s+"
    r"usec/xfer(?P<rates>\s+Mxfers/sec)?"
)
LIKE_HEADING = re.compile(r"\bbytes\s+(?:iters|#?sent)\b|usec/xfer|Mxfers/")
TABLE, RECORD = "---", re.compile(r"- \{ xfer_size: .*\}")
"""First line of the machine-readable output (option -m), and one of its rows."""

PROGRAM = re.compile(
    r"(?:^|[\s/])fi_(?P<name>\w*pingpong|\w+_bw(?:_mt)?|rma_tx_completion|rdm_atomic|multi_recv|unmap_mem)(?![A-Za-z0-9])"
    r"(?P<options>.*)"
)
MODE_OPTIONS = re.compile(r"\s-(?:o\s*(?=read|write)|e\s*(?=msg|rdm|dgram)|m\s*(?=msg|tagged))(\w{1,20})")
"""The operation, the kind of endpoint, and whether fi_pingpong uses tags."""

DEVICE = re.compile(r"\s-D\s*(?!system\b)\w")
WINDOW = re.compile(r"\s-W\s*([0-9]{1,6})\b", re.ASCII)
PINGPONG, BANDWIDTH = "pingpong", "_bw"
FI_PINGPONG, FABTESTS = "fi_pingpong", "fabtests_"
PING_PONGS, UNNAMED = "fabtests_pingpong", "fabtests_unnamed"
"""Patterns of programs without a name, by whether messages go there and back."""

BOTH_WAYS = ("there", "back")
SENT, ACKNOWLEDGED = "sent", "ack"
SIZE, COUNT, TOTAL, RATE, TIME = "bytes", "iters", "total", "MB/sec", "usec/xfer"
RECORDED = {"xfer_size": SIZE, "iterations": COUNT, "total": TOTAL, RATE: RATE, TIME: TIME}
_SCALED = re.compile(r"([0-9]{1,15})(?:\.([0-9]))?([kmgb]?)", re.ASCII)
SIZES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
COUNTS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}
TENTHS_BELOW = 10
"""Size in a unit from which on none has a digit behind the point."""

MB, US = 1e6, 1e-6
RATES = {RATE: 1.0, "Gb/sec": 1e9 / 8 / MB}
"""MB/sec in one of a unit: versions before 1.4 printed 10^9 bits per second."""

ROUNDING_TOLERANCE = 1e-4
"""Relative difference allowed between rate and time, which are rounded from one exact time."""

RANKS = 2


@dataclass(slots=True)
class _Table:
    """State of the table being read.

    Attributes:
        pattern: Pattern of its program; empty if neither a command nor a row tells it.
        options: Options of its command line.
        columns: Columns behind the name of a row.
        unit: Unit of its rates, in MB/sec.
        has_names: Whether each row begins with a name.
    """

    pattern: str = ""
    options: str = ""
    columns: tuple[str, ...] = ()
    unit: float = 1.0
    has_names: bool = False

    def meaning(self, name: str, transfers: int) -> TableMeaning:
        """Return the meaning of a row.

        Args:
            name: Name that it begins with; empty if it has none.
            transfers: Transfers per iteration; 0 if unclear.
        """
        self.pattern = self.pattern or (PING_PONGS if transfers == len(BOTH_WAYS) else UNNAMED)
        time_of = "one transfer"
        if self.pattern.endswith(PINGPONG):
            time_of = "one operation: there and back" if transfers == 1 else "one message: half a round trip"
        windowed = BANDWIDTH in self.pattern
        mode_words = [
            *MODE_OPTIONS.findall(self.options),
            *(["device"] if DEVICE.search(self.options) else []),
        ]
        mode = " ".join(filter(None, [name, *mode_words])) or "standard"
        return TableMeaning(
            self.pattern, mode, time_of="one message" if windowed else time_of, windowed=windowed
        )


class Parser(LineParser):
    """Parser of the output of fi_pingpong and fabtests."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(collector)
        self._table = _Table()
        self._command = ""
        self._in_records = False

    def take(self, line: TextLine) -> None:
        """Read a line.

        Raises:
            LineError: It is a heading or a row, and is not understood.
        """
        if heading := HEADING.fullmatch(line.text):
            self._heading(heading, line)
        elif RECORD.fullmatch(line.text):
            self._record(line)
        elif LIKE_HEADING.search(line.text):
            raise line.refused("the columns are not understood", HINT)
        elif line.text == TABLE:
            self._in_records = False
        elif PROGRAM.search(line.text):
            self._command = line.text
        elif line.words and self._table.columns:
            self._row(line)

    def end_table(self) -> None:
        """Read no row before the next heading."""
        self._table.columns = ()

    def _begin(self, line: TextLine) -> None:
        """Begin a table, with what its command says of it."""
        self.collector.begin_table("libfabric", line)
        commands = (self.collector.command, self._command, self.collector.file_name)
        program = next(filter(None, map(PROGRAM.search, commands)), None)
        self._table, self._command = _Table(), ""
        if program is not None:
            name = program["name"]
            pattern = FI_PINGPONG if name == PINGPONG else f"{FABTESTS}{name}"
            self._table = _Table(pattern, program["options"])

    def _heading(self, heading: re.Match[str], line: TextLine) -> None:
        self._begin(line)
        if heading["unit"] not in RATES:
            raise line.refused(f"no unit is called {heading['unit']!r}", HINT)
        counts = (COUNT,) if heading["counts"] == COUNT else (SENT, ACKNOWLEDGED)
        rest = [] if heading["rates"] is None else ["Mxfers/sec"]
        self._table.columns = (SIZE, *counts, TOTAL, "time", RATE, TIME, *rest)
        self._table.unit = RATES[heading["unit"]]
        self._table.has_names = heading["named"] is not None
        if SENT in counts:
            self._table.pattern = FI_PINGPONG

    def _row(self, line: TextLine) -> None:
        """Read a row; a longer line that begins like one is a message of a library."""
        table, words = self._table, line.words
        names = words[: -len(table.columns)] if table.has_names else []
        words = words[len(names) :] if table.has_names else without_note(words, len(table.columns))
        numbers = [word.lstrip("=+-")[:1].isdigit() for word in words]
        if len(words) == len(table.columns) and bool(names) == table.has_names:
            if all(numbers[1:]):
                row = dict(zip(table.columns, map(number, words), strict=True))
                self._take(line, " ".join(names), row)
        elif all(_SCALED.fullmatch(word) for word in words[:2]):
            raise line.refused(column_mismatch(line.words, len(table.columns)), "complete the row")

    def _record(self, line: TextLine) -> None:
        """Read a row of the output for machines, which names all its numbers."""
        if not self._in_records:
            self._begin(line)
            self._in_records = True
        pairs = (pair.partition(": ") for pair in line.text[2:].strip("{} ").split(", "))
        row = {RECORDED[name]: word for name, _, word in pairs if name in RECORDED}
        if len(row) < len(RECORDED):
            raise line.refused("has not all numbers of such a row", "complete the row")
        self._take(line, "", row)

    def _take(self, line: TextLine, name: str, row: dict[str, str]) -> None:
        table, size = self._table, _size(row[SIZE])
        if size is None:
            raise line.refused(f"{row[SIZE]!r} is not a whole number of bytes", "complete the row")
        if not_a_number := next((name for name in (RATE, TIME) if not is_number(row[name])), None):
            word = row[not_a_number]
            raise line.refused(f"{not_a_number}: {word!r} is not a number", number_hint(word))
        rate, time = [end * table.unit for end in rounding_range(row[RATE])], rounding_range(row[TIME])
        if (
            not rate[0] * time[0] * (1 - ROUNDING_TOLERANCE)
            <= size
            <= rate[1] * time[1] * (1 + ROUNDING_TOLERANCE)
        ):
            raise line.refused("its rate times its time is not its size", "a size such as 15k may be rounded")
        meaning = table.meaning(name, _transfers_per_iteration(row, size))
        window = WINDOW.search(table.options) if meaning.windowed else None
        cell = cell_of(meaning, size, RANKS, window=int(window[1]) if window else 0)
        if lost := _lost_messages(row):
            self.collector.add_failure(meaning, cell, "refused", lost, line)
            return
        by_rate = meaning.windowed and size and significant_digits(row[RATE]) >= significant_digits(row[TIME])
        time_s = size / (float(row[RATE]) * table.unit * MB) if by_rate else float(row[TIME]) * US
        self.collector.add_time(meaning, cell, time_s, "mean", line, printed=row[RATE if by_rate else TIME])


def _truncation_range(word: str, scales: dict[str, int], *, tenths: bool) -> tuple[float, float] | None:
    """Return the range that a truncated number with a unit letter stands for; None if it is no such number.

    Args:
        tenths: Whether small numbers are cut off behind the first digit behind the point.
    """
    match = _SCALED.fullmatch(word)
    if match is None or match[3] not in scales:
        return None
    scale, whole = scales[match[3]], int(match[1])
    low = (whole + int(match[2] or 0) / 10) * scale
    fine = match[2] or (tenths and whole < TENTHS_BELOW)
    return low, low if scale == 1 else low + (scale / 10 if fine else scale)


def _size(word: str) -> int | None:
    """Return the bytes of a message; None if the word is no whole number of bytes."""
    found = _truncation_range(word, SIZES, tenths=True)
    return int(found[0]) if found and found[0].is_integer() else None


def _transfers_per_iteration(row: dict[str, str], size: int) -> int:
    """Return the transfers per iteration as its program counts them: 1 or 2 (both ways); 0 if unclear."""
    total = _truncation_range(row[TOTAL], SIZES, tenths=True)
    count = _truncation_range(row.get(COUNT, row.get(SENT, "")), COUNTS, tenths=False)
    if total is None or count is None or not size:
        return 0
    transfers = [
        n for n in (1, len(BOTH_WAYS)) if total[0] <= n * size * count[1] and n * size * count[0] <= total[1]
    ]
    return transfers[0] if len(transfers) == 1 else 0


def _lost_messages(row: dict[str, str]) -> str:
    """Return a sentence if fewer messages were acknowledged than sent; empty if all were, or unknown."""
    word = row.get(ACKNOWLEDGED, "=")
    return "" if word.startswith("=") or word == row[SENT] else f"sent and acknowledged: {word}"
