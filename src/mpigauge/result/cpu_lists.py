"""Lists of processors as the system writes them: `0-3,8`."""

from collections.abc import Iterable

from mpigauge.sequences import consecutive, runs
from mpigauge.units import span

MAX_DIGITS = 10


def ranges(text: str) -> list[range]:
    """Return the ranges of a list such as `0-3,8`; what is not a number is skipped.

    Ranges and not numbers, since a foreign file may name any number of processors.
    """
    words = [part.split("-") for part in text.split(",")]
    return [range(int(ends[0]), int(ends[-1]) + 1) for ends in words if all(map(is_number, ends))]


def list_of(numbers: Iterable[int]) -> str:
    """Return rising numbers in this notation."""
    return ",".join(span(str(run[0]), str(run[-1]), "-") for run in runs(numbers, consecutive))


def is_number(word: str) -> bool:
    """Return whether a word is the number of a processor."""
    return word.isascii() and word.isdecimal() and len(word) < MAX_DIGITS
