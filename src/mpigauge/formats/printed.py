"""The text of another program as a job has left it: lines without what launchers put before each of them."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, BinaryIO

from mpigauge import inputs
from mpigauge.errors import UsageError
from mpigauge.result.reader import STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STAMP = r"(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} [0-9]{4} ?)?"
_RANK = (
    r"(?:\[[0-9]{1,7}(?:,[0-9]{1,7})?\](?:<std(?:out|err|diag)>)?:? ?| *[0-9]{1,7}: ?|<std(?:out|err)>:? ?)"
)
_PREFIX = re.compile(rf"{_STAMP}{_RANK}|{_STAMP}(?=#)")
"""Of srun --label, mpiexec -prepend-rank, mpirun --tag-output and --timestamp-output."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_WHOLE = re.compile(r"[0-9]{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[0-9]{1,15}\.([0-9]{2,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text.

    Attributes:
        where: File and line, for people.
    """

    where: str
    text: str

    @property
    def words(self) -> list[str]:
        """What blanks part."""
        return self.text.split()

    def refused(self, why: str, hint: str) -> UsageError:
        """What there is to say of a line that cannot be understood."""
        return UsageError(f"{self.where}: {why}", hint)


def content_of(path: Path) -> bytes:
    """A whole file, or standard input for `-`.

    Raises:
        UsageError: It cannot be read, or is longer than any table.
    """
    if path != STANDARD_INPUT:
        return inputs.content_of(path, "name the file that has the table, or cut it out of this one")
    try:
        content = _standard_input(sys.stdin.buffer)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", "name the file that has it") from None
    if len(content) > inputs.TEXT_MOST_BYTES:
        raise UsageError(f"{path}: is longer than 64 MiB", "cut the table out of it")
    return content


@lru_cache(maxsize=1)
def _standard_input(stream: BinaryIO) -> bytes:
    """What stands there: it can be read once, and is asked for by who recognises it and by who reads it."""
    return stream.read(inputs.TEXT_MOST_BYTES + 1)


def lines_of(path: Path) -> Iterator[Line]:
    """All lines of a text, without colours and what a launcher has put before them.

    Raises:
        UsageError: As `content_of`.
    """
    for number, raw in enumerate(content_of(path).decode("utf-8", "replace").split("\n"), start=1):
        yield Line(f"{path}: line {number}", plain(raw))


def plain(raw: str) -> str:
    """A line without colours, its end and what a launcher has put before it."""
    text = _COLOUR.sub("", raw).rstrip()
    found = _PREFIX.match(text)
    return text[found.end() :] if found else text


def is_whole(word: str) -> bool:
    """Whether a word is a whole number that is not negative."""
    return _WHOLE.fullmatch(word) is not None


def decimals_of(word: str) -> int:
    """How many digits stand behind the point of a number; 0 if it is none of at least two."""
    found = _DECIMAL.fullmatch(word)
    return len(found[1]) if found else 0


def begins_row(words: list[str]) -> bool:
    """Whether a line can only be a row of a table, whole or torn: a whole number, then something of one."""
    return bool(words) and is_whole(words[0]) and (len(words) == 1 or any(map(str.isdigit, words[1])))


def is_headless_row(words: list[str], columns: int) -> bool:
    """Whether a line is a row but for its first word: all others are numbers, one for each column."""
    numbers = [is_whole(word) or decimals_of(word) > 0 for word in words]
    return len(words) == columns > 1 and all(numbers[1:]) and not numbers[0]


def agree(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Whether two rounded numbers can be one: each by its lower and upper end, with 1 % to spare."""
    spare = 1.01
    return first[0] <= second[1] * spare and second[0] <= first[1] * spare


def ends_of(word: str) -> tuple[float, float]:
    """Between what a number was rounded: half a unit of its last digit to both sides."""
    half = 0.5 * 10.0 ** -len(word.partition(".")[2])
    return max(0.0, float(word) - half), float(word) + half
