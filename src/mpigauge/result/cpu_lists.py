"""Lists of processors as the system writes them: `0-3,8`."""

from collections.abc import Iterable

from mpigauge.sequences import consecutive, runs
from mpigauge.units import span

DIGITS_MOST = 10


def ranges(text: str) -> list[range]:
    """`0-3,8` as the system lists processors; what is not a number is left out.

    Ranges, since a file that others have written may name any number of processors.
    """
    parts = [part.split("-") for part in text.split(",")]
    return [range(int(ends[0]), int(ends[-1]) + 1) for ends in parts if all(map(is_number, ends))]


def list_of(numbers: Iterable[int]) -> str:
    """Return rising numbers in this notation."""
    return ",".join(span(str(run[0]), str(run[-1]), "-") for run in runs(numbers, consecutive))


def is_number(word: str) -> bool:
    """Whether a word is the number of a processor."""
    return word.isascii() and word.isdecimal() and len(word) < DIGITS_MOST
