"""Bounds that claims have: above, below, or between numbers of any unit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_ONE_END = re.compile(r"(<=|>=|<|>)\s*(.+)")
_TWO_ENDS = re.compile(r"(.+?)\s*\.\.\s*(.+)")
_SAME_SIGN = str.maketrans({"\N{LESS-THAN OR EQUAL TO}": "<=", "\N{GREATER-THAN OR EQUAL TO}": ">="})
_PERCENT = re.compile(r"([^%]+)%")


@dataclass(frozen=True, slots=True)
class Bound:
    """Between which numbers something is to be.

    Attributes:
        low: -inf if there is no lower end.
        high: inf if there is no upper one.
        inclusive: Whether the ends themselves are allowed.
        text: As the user wrote it.
    """

    low: float
    high: float
    inclusive: bool
    text: str

    def allows(self, value: float) -> bool:
        """Whether a number is so."""
        return self.low <= value <= self.high if self.inclusive else self.low < value < self.high

    def excludes(self, low: float, high: float) -> bool:
        """Whether no number between these is so."""
        return high < self.low or low > self.high or not (self.inclusive or self._inside(low, high))

    def _inside(self, low: float, high: float) -> bool:
        return high > self.low and low < self.high


def number(text: str) -> float:
    """Read a number without a unit, or in percent: ``"10"``, ``"80 %"``; not negative."""
    percent = _PERCENT.fullmatch(text.strip())
    try:
        value = float(percent[1]) / 100 if percent else float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise UsageError(f"{text!r} is not a number", "write it as 10, 1.5 or 80 %")
    return value


def seconds(text: str) -> float:
    """Read a span of time, or 0."""
    return 0.0 if text.strip() == "0" else units.parse_duration(text)


def parse_bound(key: str, text: str, read: Callable[[str], float]) -> Bound:
    """Read a bound: ``"> 10"``, ``"<= 2"``, ``"1.5 .. 3"`` with both ends.

    Args:
        key: Whose bound it is, for errors.
        read: What reads its numbers.

    Raises:
        UsageError: It is none, or its lower end is above the upper one.
    """
    said = text.translate(_SAME_SIGN).strip()
    try:
        if one := _ONE_END.fullmatch(said):
            end = read(one[2])
            low, high = (-math.inf, end) if one[1].startswith("<") else (end, math.inf)
            return Bound(low, high, one[1].endswith("="), text.strip())
        if two := _TWO_ENDS.fullmatch(said):
            low, high = read(two[1]), read(two[2])
            if low <= high:
                return Bound(low, high, inclusive=True, text=text.strip())
    except UsageError as error:
        raise UsageError(f"{key}: {error.sentence}", error.hint) from None
    raise UsageError(f"{key} {text!r} is not a bound", "write '> 10', '<= 2' or '1.5 .. 3'")
