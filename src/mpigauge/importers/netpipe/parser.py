"""NetPIPE: its output file np.out, which has no heading, or what `netpipe_screen` reads.

Versions up to 3 write bytes, Mbit/s of 2^20 bits, and seconds; version 4 bytes, three times Mbit/s of 10^6
bits, and seconds; version 5 bytes, mean, least and largest Gbit/s, and microseconds. A row whose rate is not
its size over its time is refused. Source: src/netpipe.c of 3.7, 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.importers.collector import Collected, LineParser, TableMeaning, cell_of
from mpigauge.importers.netpipe.screen import LEAST, MEAN, RANKS, Screen, is_rate_of
from mpigauge.importers.text import ends_of, is_headless_row, is_number, is_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.importers.text import TextLine

HINT = "np.out has rows of bytes, Mbit/s and seconds, or of bytes, three times Gbit/s, and microseconds"


@dataclass(frozen=True, slots=True)
class Shape:
    """What the columns of np.out are; the time is the last.

    Attributes:
        unit_s: Seconds of one of its units of time.
        units: Bits per second that one of its units of rate may be.
        statistic: What a time is of its trials.
    """

    unit_s: float
    units: tuple[int, ...]
    statistic: str


SHAPES = {
    3: (Shape(1.0, (2**20, 10**6), LEAST),),
    5: (Shape(1e-6, (10**9,), MEAN), Shape(1.0, (10**6,), LEAST)),
}
"""By the count of columns: size, rate, others that are not read, time."""

MEANING = TableMeaning(
    "netpipe",
    time_of="one message: half a round trip, unless NetPIPE was told to stream or to send both ways, "
    "which its file does not say",
)


class Parser(LineParser):
    """Reads the rows of np.out, or those of the screen."""

    def __init__(self, found: Collected) -> None:
        super().__init__(found)
        self._screen = Screen(found)
        self._begun = self._ended = False

    def take(self, line: TextLine) -> None:
        """Read a line.

        Raises:
            LineError: It is no row.
        """
        if self._screen.take(line) or self._ended or not self._is_row(line.words):
            return
        if not self._begun:
            self.found.begin("NetPIPE", line)
            self._begun = True
        _row(line, self.found)

    def _is_row(self, words: Sequence[str]) -> bool:
        """Whether a line is a row, or below others what can only be a row that was torn or damaged."""
        if words and (self._begun or len(words) in SHAPES) and is_whole(words[0]):
            return True
        return any(is_headless_row(words, width) for width in SHAPES)

    def end_table(self) -> None:
        """Read no more of np.out: there is one table in a file."""
        self._ended = True

    def finish(self) -> None:
        """Say of a row of the screen that it never ended.

        Raises:
            LineError: There is one.
        """
        self._screen.finish()


def has_shape(lines: Sequence[TextLine]) -> bool:
    """Return whether the first line of numbers is a row of NetPIPE, whose rate and time prove each other."""
    first = next((line for line in lines if line.words and not line.text.startswith("#")), None)
    if first is None or not all("." in word for word in first.words[1:]):
        return False  # a rate of 0 would be proved by anything that is slow
    try:
        _row(first, Collected())
    except UsageError:
        return False
    return True


def _row(line: TextLine, found: Collected) -> None:
    words = line.words
    if len(words) not in SHAPES or not is_whole(words[0]):
        raise line.refused("is no row of NetPIPE", HINT)
    if not all(map(is_number, words)):
        raise line.refused("has a word that is not a number", HINT)
    size, rate = int(words[0]), ends_of(words[1])
    shape = next((one for one in SHAPES[len(words)] if _proved(size, rate, ends_of(words[-1]), one)), None)
    if shape is None:
        raise line.refused("its rate is not its size over its time", HINT)
    time_s = float(words[-1]) * shape.unit_s
    cell = cell_of(MEANING, size, RANKS)
    found.take(MEANING, cell, time_s, shape.statistic, line, printed=words[-1])


def _proved(size: int, rate: tuple[float, float], time: tuple[float, float], shape: Shape) -> bool:
    return is_rate_of(size, rate, (time[0] * shape.unit_s, time[1] * shape.unit_s), shape.units)
