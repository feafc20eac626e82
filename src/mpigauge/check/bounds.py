"""Bounds of claims: above, below, or between numbers of any unit."""

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
    """Range in which a number is to be.

    Attributes:
        low: Lower end; -inf if there is none.
        high: Upper end; inf if there is none.
        inclusive: Whether the ends themselves are allowed.
        text: Text as the user wrote it.
    """

    low: float
    high: float
    inclusive: bool
    text: str

    def allows(self, value: float) -> bool:
        """Return whether a number is within the bound."""
        return self.low <= value <= self.high if self.inclusive else self.low < value < self.high

    def excludes(self, low: float, high: float) -> bool:
        """Return whether no number between these two is within the bound."""
        return high < self.low or low > self.high or not (self.inclusive or self._inside(low, high))

    def _inside(self, low: float, high: float) -> bool:
        return high > self.low and low < self.high


def number(text: str) -> float:
    """Parse a number without a unit, or in percent: ``"10"``, ``"80 %"``; not negative."""
    percent = _PERCENT.fullmatch(text.strip())
    try:
        value = float(percent[1]) / 100 if percent else float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise UsageError(f"{text!r} is not a number", "write it as 10, 1.5 or 80 %")
    return value


def seconds(text: str) -> float:
    """Parse a duration, or 0."""
    return 0.0 if text.strip() == "0" else units.parse_duration(text)


def parse_bound(key: str, text: str, read: Callable[[str], float]) -> Bound:
    """Parse a bound: ``"> 10"``, ``"<= 2"``, ``"1.5 .. 3"`` with both ends.

    Args:
        key: Key of the bound, for errors.
        read: Parser of its numbers.

    Raises:
        UsageError: It is no bound, or its lower end is above the upper one.
    """
    normalised = text.translate(_SAME_SIGN).strip()
    try:
        if one_end := _ONE_END.fullmatch(normalised):
            end = read(one_end[2])
            low, high = (-math.inf, end) if one_end[1].startswith("<") else (end, math.inf)
            return Bound(low, high, one_end[1].endswith("="), text.strip())
        if two_ends := _TWO_ENDS.fullmatch(normalised):
            low, high = read(two_ends[1]), read(two_ends[2])
            if low <= high:
                return Bound(low, high, inclusive=True, text=text.strip())
    except UsageError as error:
        raise UsageError(f"{key}: {error.sentence}", error.hint) from None
    raise UsageError(f"{key} {text!r} is not a bound", "write '> 10', '<= 2' or '1.5 .. 3'")
