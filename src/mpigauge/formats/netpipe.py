"""The output file of NetPIPE, np.out: numbers without a heading, which prove each other's units.

Versions 3 and 4 write bytes, Mbit/s (of 2^20 bits) and seconds; version 5 bytes, mean, least and largest
Gbit/s, and microseconds. A row whose rate is not its size over its time is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.formats.collected import Collected, LineParser, Meaning, cell_of
from mpigauge.formats.text import agree, ends_of, is_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.formats.text import Line

HINT = "np.out has rows of bytes, Mbit/s and seconds, or of bytes, three times Gbit/s, and microseconds"
BITS = 8
MEANING = Meaning(
    "netpipe",
    time_of="one message: half a round trip, unless NetPIPE was told to stream or to send both ways, "
    "which its file does not say",
)
SHAPES = {
    3: (1, 2, 1.0, (2**20, 10**6)),
    5: (1, 4, 1e-6, (10**9,)),
}
"""By the count of columns: those of rate and time, seconds of a unit of time, bits per second of the rate."""

STATISTICS = {3: "", 5: "mean"}
"""What a time is of its trials: older files do not say."""

EXPONENT = "e"
_NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,2})?", re.ASCII)


class Parser(LineParser):
    """Reads the rows of np.out."""

    def __init__(self, found: Collected) -> None:
        super().__init__(found)
        self._begun = self._ended = False

    def take(self, line: Line) -> None:
        """Read a line.

        Raises:
            LineError: It is no row.
        """
        if self._ended or not line.words or line.text.startswith("#"):
            return
        if not self._begun:
            self.found.begin("NetPIPE", line)
            self._begun = True
        _row(line, self.found)

    def end_table(self) -> None:
        """Read no more: there is one table in a file."""
        self._ended = True


def has_shape(lines: Sequence[Line]) -> bool:
    """Return whether the first line of numbers is a row of NetPIPE, whose rate and time prove each other."""
    first = next((line for line in lines if line.words and not line.text.startswith("#")), None)
    if first is None:
        return False
    try:
        _row(first, Collected())
    except UsageError:
        return False
    return True


def _row(line: Line, found: Collected) -> None:
    words = line.words
    if len(words) not in SHAPES or not is_whole(words[0]):
        raise line.refused("is no row of NetPIPE", HINT)
    rate_at, time_at, scale, units = SHAPES[len(words)]
    if not all(_is_number(word) for word in words):
        raise line.refused("has a word that is not a number", HINT)
    size, time_s = int(words[0]), float(words[time_at]) * scale
    low, high = (end * scale for end in _ends(words[time_at]))
    rate = _ends(words[rate_at])
    moved = (size * BITS / high, size * BITS / low if low else float("inf"))
    if not any(agree((rate[0] * unit, rate[1] * unit), moved) for unit in units):
        raise line.refused("its rate is not its size over its time", HINT)
    found.take(MEANING, cell_of(MEANING, size, 2), time_s, STATISTICS[len(words)], line)


def _is_number(word: str) -> bool:
    return _NUMBER.fullmatch(word) is not None


def _ends(word: str) -> tuple[float, float]:
    """Between what a number was rounded, also one with an exponent."""
    mantissa, _, power = word.lower().partition(EXPONENT)
    low, high = ends_of(mantissa)
    return low * 10.0 ** int(power or 0), high * 10.0 ** int(power or 0)
