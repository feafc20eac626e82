"""NetPIPE's output on the screen: a row per size, with its units.

`Mbps` are of 2^20 bits up to version 3 and of 10^6 bits in version 4 and 5, so that a row must prove itself:
its rate is its size over its time. That is half a round trip, or the time of a message of a stream, or of one
of each direction, as lines above say. It is the least of several trials up to version 4, a mean in version 5.
Source: src/netpipe.c of 3.7, 4 and 5.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.importers.collector import TableMeaning, cell_of
from mpigauge.importers.text import agree, rounding_range
from mpigauge.plan.patterns import EVERY_PAIR, ONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.importers.collector import Collector
    from mpigauge.importers.text import TextLine

HINT = "NetPIPE prints a size in bytes, a rate in Mbps and a time in usec or sec: restore the row"
WHOLE_BYTES_HINT = "give its file np.out, which has all digits: mpigauge import netpipe np.out"
BITS = 8
RANKS = 2
MINIMUM, MEAN = "least of several trials", "mean"
STARTED = re.compile(r"Now starting the main loop|Start testing with [0-9]+ trials")
PROCESSES = re.compile(r"Running on (?P<processes>[0-9]{1,7}) processors")
STREAM = re.compile(r"Streaming (?:data )?in one direction")
BOTH_WAYS = re.compile(
    r"Passing data in both directions|Bi-?directional mode using (?P<pairs>[0-9]{1,6}) pairs"
)
ROW = re.compile(
    r"(?P<number>[0-9]{1,4}):\s+(?P<size>[0-9]{1,15}(?:\.[0-9]{1,9})?)\s+(?P<of_size>bytes|[KMGT]?B)\s+"
    r"[0-9]+\s+times\s+-->",
    re.ASCII,
)
TIMED = re.compile(
    r"(?<![\w.])(?P<rate>[0-9]{1,15}\.[0-9]{1,9})\s+(?P<of_rate>[KMGT]?bps)\s+in\s+"
    r"(?P<time>[0-9]{1,15}\.[0-9]{1,12})\s+(?P<of_time>[num]?secs?)\b(?P<note>.*)",
    re.ASCII,
)
CORRUPTED = re.compile(r"integrity problems|[1-9][0-9]{0,15} failures")
BYTES = "bytes"
"""Unit of sizes up to version 4."""

OLD_RATES = {"Mbps": (2**20, 10**6)}
SIZES = {BYTES: 1, "B": 1, "KB": 10**3}
RATES = {"bps": (1,), "Kbps": (10**3,), "Mbps": (10**6,), "Gbps": (10**9,), "Tbps": (10**12,)}
TIMES = {"sec": 1.0, "secs": 1.0, "msecs": 1e-3, "usec": 1e-6, "usecs": 1e-6, "nsecs": 1e-9}


def is_rate_of(
    size: int, rate: tuple[float, float], time_s: tuple[float, float], units: Sequence[int]
) -> bool:
    """Return whether a rounded rate is the bytes over a rounded time, in one of the units.

    Args:
        units: Bits per second that the unit of the rate may stand for.
    """
    low, high = time_s
    moved = (size * BITS / high, size * BITS / low if low else math.inf)
    return any(agree((rate[0] * unit, rate[1] * unit), moved) for unit in units)


@dataclass(frozen=True, slots=True)
class _Run:
    """Facts about a run from the lines above its rows.

    Attributes:
        stream: Whether messages go one way, one after the other.
        both_ways: Whether they go both ways at once.
        pairs: Pairs of ranks whose rates are added; 0 if unknown.
    """

    stream: bool = False
    both_ways: bool = False
    pairs: int = 0

    def meaning(self, pairs: int) -> TableMeaning:
        """Return the meaning of a row, with this many pairs of ranks."""
        if self.both_ways:
            mode, time_of = "bidirectional", "one message of each direction"
        elif self.stream:
            mode, time_of = "stream", "one message"
        else:
            mode, time_of = "standard", "one message: half a round trip"
        return TableMeaning(
            "netpipe",
            mode,
            time_of=time_of,
            directions=2 if self.both_ways else 1,
            operation=EVERY_PAIR if pairs > 1 else ONE,
        )


class Screen:
    """Reader of NetPIPE's output on the screen."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self._stated = _Run()
        self._run: _Run | None = None
        self._number = -1
        self._unfinished: tuple[TextLine, re.Match[str]] | None = None

    def take(self, line: TextLine) -> bool:
        """Read a line; return whether it is one of the screen.

        Raises:
            LineError: It is a row, and does not prove itself.
        """
        if row := ROW.match(line.text):
            self._row(line, row)
        elif self._unfinished is not None and (timed := TIMED.match(line.text)):
            self._timed(line, self._unfinished[1], timed)
        elif STARTED.match(line.text):
            self._run = None
        elif not self._fact(line.text):
            return self._run is not None
        return True

    def _fact(self, text: str) -> bool:
        """Take a fact about the run below; return whether the line states one."""
        if STREAM.match(text):
            self._stated = replace(self._stated, stream=True)
        elif match := PROCESSES.match(text):
            self._stated = replace(self._stated, pairs=int(match["processes"]) // RANKS)
        elif match := BOTH_WAYS.match(text):
            pairs = int(match["pairs"] or 0) or self._stated.pairs
            self._stated = replace(self._stated, both_ways=True, pairs=pairs)
        else:
            return False
        return True

    def finish(self) -> None:
        """Refuse a row that never ended.

        Raises:
            LineError: There is one.
        """
        if self._unfinished is not None:
            raise self._unfinished[0].refused("has no time: the run ended here", "see what ended it")

    def _row(self, line: TextLine, row: re.Match[str]) -> None:
        if self._run is None or int(row["number"]) <= self._number:
            self.collector.begin_table("NetPIPE", line)
            self._run, self._stated = self._stated, _Run()
        self._number, self._unfinished = int(row["number"]), (line, row)
        if timed := TIMED.search(line.text, row.end()):
            self._timed(line, row, timed)

    def _timed(self, line: TextLine, row: re.Match[str], timed: re.Match[str]) -> None:
        """Take the time of a row, which may be on a line of its own: it is printed once it is known."""
        self._unfinished, run, old = None, self._run or _Run(), row["of_size"] == BYTES
        if row["of_size"] not in SIZES:
            raise line.refused(
                f"its size is rounded to thousands of bytes: {row['size']} {row['of_size']}", WHOLE_BYTES_HINT
            )
        size = round(float(row["size"]) * SIZES[row["of_size"]])
        unit_s, units = TIMES[timed["of_time"]], (OLD_RATES if old else RATES).get(timed["of_rate"], ())
        low, high = (end * unit_s for end in rounding_range(timed["time"]))
        possible = [run.pairs] if run.pairs else [1, max(1, self.collector.ranks // RANKS)]
        for pairs in possible:
            meaning = run.meaning(pairs)
            if is_rate_of(
                size * pairs * meaning.directions, rounding_range(timed["rate"]), (low, high), units
            ):
                break
        else:
            raise line.refused("its rate is not its size over its time", HINT)
        cell = cell_of(meaning, size, RANKS * pairs)
        if CORRUPTED.search(timed["note"]):
            self.collector.add_failure(meaning, cell, "corrupt", timed["note"].strip(" ()!"), line)
            return
        time_s, statistic = float(timed["time"]) * unit_s, MINIMUM if old else MEAN
        self.collector.add_time(meaning, cell, time_s, statistic, line, printed=timed["time"])
