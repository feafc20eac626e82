"""NetPIPE: its output file np.out, which has no heading, or what `netpipe.screen` reads.

Versions up to 3 write bytes, Mbit/s of 2^20 bits, and seconds; version 4 bytes, three times Mbit/s of 10^6
bits, and seconds; version 5 bytes, mean, least and largest Gbit/s, and microseconds. A row whose rate is not
its size over its time is refused. Source: src/netpipe.c of 3.7, 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.importers.collector import Collector, LineParser, TableMeaning, cell_of
from mpigauge.importers.netpipe.screen import MEAN, MINIMUM, RANKS, Screen, is_rate_of
from mpigauge.importers.text import is_headless_row, is_number, is_whole, rounding_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.importers.text import TextLine

HINT = "np.out has rows of bytes, Mbit/s and seconds, or of bytes, three times Gbit/s, and microseconds"


@dataclass(frozen=True, slots=True)
class Shape:
    """Columns of np.out in one version; the last is the time.

    Attributes:
        unit_s: Seconds per unit of its times.
        units: Bits per second that its unit of rate may stand for.
        statistic: Statistic of a time over its trials.
    """

    unit_s: float
    units: tuple[int, ...]
    statistic: str


SHAPES = {
    3: (Shape(1.0, (2**20, 10**6), MINIMUM),),
    5: (Shape(1e-6, (10**9,), MEAN), Shape(1.0, (10**6,), MINIMUM)),
}
"""Shapes by the number of columns: size, rate, others that are not read, time."""

MEANING = TableMeaning(
    "netpipe",
    time_of="one message: half a round trip, unless NetPIPE was told to stream or to send both ways, "
    "which its file does not say",
)


class Parser(LineParser):
    """Parser of the rows of np.out, or of the screen."""

    def __init__(self, collector: Collector) -> None:
        super().__init__(collector)
        self._screen = Screen(collector)
        self._begun = self._ended = False

    def take(self, line: TextLine) -> None:
        """Read a line.

        Raises:
            LineError: It is no row.
        """
        if self._screen.take(line) or self._ended or not self._is_row(line.words):
            return
        if not self._begun:
            self.collector.begin_table("NetPIPE", line)
            self._begun = True
        _row(line, self.collector)

    def _is_row(self, words: Sequence[str]) -> bool:
        """Return whether a line is a row, or, below other rows, one that was damaged."""
        if words and (self._begun or len(words) in SHAPES) and is_whole(words[0]):
            return True
        return any(is_headless_row(words, width) for width in SHAPES)

    def end_table(self) -> None:
        """Read no more of np.out: there is one table in a file."""
        self._ended = True

    def finish(self) -> None:
        """Refuse a row of the screen that never ended.

        Raises:
            LineError: There is one.
        """
        self._screen.finish()


def has_shape(lines: Sequence[TextLine]) -> bool:
    """Return whether the first line of numbers is a row of NetPIPE, whose rate and time prove each other."""
    first = next((line for line in lines if line.words and not line.text.startswith("#")), None)
    if first is None or not all("." in word for word in first.words[1:]):
        return False  # a rate of 0 would agree with any long time
    try:
        _row(first, Collector())
    except UsageError:
        return False
    return True


def _row(line: TextLine, collector: Collector) -> None:
    words = line.words
    if len(words) not in SHAPES or not is_whole(words[0]):
        raise line.refused("is no row of NetPIPE", HINT)
    if not all(map(is_number, words)):
        raise line.refused("has a word that is not a number", HINT)
    size, rate = int(words[0]), rounding_range(words[1])
    shape = next(
        (one for one in SHAPES[len(words)] if _is_consistent(size, rate, rounding_range(words[-1]), one)),
        None,
    )
    if shape is None:
        raise line.refused("its rate is not its size over its time", HINT)
    time_s = float(words[-1]) * shape.unit_s
    cell = cell_of(MEANING, size, RANKS)
    collector.add_time(MEANING, cell, time_s, shape.statistic, line, printed=words[-1])


def _is_consistent(size: int, rate: tuple[float, float], time: tuple[float, float], shape: Shape) -> bool:
    return is_rate_of(size, rate, (time[0] * shape.unit_s, time[1] * shape.unit_s), shape.units)
