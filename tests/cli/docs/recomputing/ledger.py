"""Numbers of a text beside what they should be: which agree, which differ, which nobody has recomputed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.cli.docs.recomputing.reading import RATES, SIZES, TIMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NUMBER = re.compile(r"(?<![\w.,:])[\N{MINUS SIGN}+\N{PLUS-MINUS SIGN}]?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w:])")
"""A number of a text, and no part of a name or a version."""

NAMES = re.compile(
    r"\b(?:openmpi|mpich|Open MPI|MPICH|log2|h\d+,h\d+(?:,h\d+)*) ?[\d.]*"
    r"|h\d+(?:,h\d+)+|\d{4}-\d\d-\d\d|O[03]\b"
)
UNITS = {
    **TIMES,
    **RATES,
    **SIZES,
    "%": 0.01,
    "": 1.0,
    "times": 1.0,
    "copies": 1.0,
    "\N{MULTIPLICATION SIGN}": 1.0,
}
SLACK = 1e-6


def agrees(text: str, unit: str, own: float) -> bool:
    """Whether a number, rounded to the digits that are printed, is the printed one.

    Half a unit in the last place, so that no other last digit passes.
    """
    digits = text.replace("\N{MINUS SIGN}", "-").lstrip("+\N{PLUS-MINUS SIGN}")
    mantissa, _, exponent = digits.partition("e")
    last = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    scaled = own / UNITS[unit]
    return abs(scaled - float(digits)) <= last * (0.5 + SLACK) + abs(scaled) * 1e-9


def about(size_bytes: float) -> str:
    """A size between measured ones, with three significant digits."""
    unit = next(name for name in ("MiB", "KiB", "B") if size_bytes >= SIZES[name] or name == "B")
    return f"{float(f'{size_bytes / SIZES[unit]:.3g}'):g} {unit}"


def size_of(text: str) -> int:
    """The bytes of `1.5 KiB`, which sizes are written in exactly."""
    number, unit = text.split()
    return round(float(number) * SIZES[unit])


@dataclass
class Ledger:
    """What was found on a page."""

    agree: int = 0
    differ: list[str] = field(default_factory=list)
    unchecked: list[tuple[str, int]] = field(default_factory=list)

    @property
    def missed(self) -> int:
        """Numbers that nobody recomputed."""
        return sum(count for _, count in self.unchecked)

    @property
    def share(self) -> float:
        """Of all numbers those that were recomputed."""
        checked = self.agree + len(self.differ)
        return checked / max(1, checked + self.missed)

    def left(self, text: str, why: str) -> None:
        """Text whose numbers are not recomputed."""
        count = len(NUMBER.findall(NAMES.sub("", text)))
        if count:
            self.unchecked.append((f"{why}: {text[:110]}", count))


class Said:
    """A sentence; what is checked is taken out of it, and what is left was not."""

    def __init__(self, ledger: Ledger, text: str) -> None:
        self.ledger, self.text, self.rest = ledger, text, text

    def number(self, part: tuple[int, int], unit: str, *own: float | None) -> None:
        """One number of the sentence, which should be one of these."""
        begin, end = part
        if begin < 0:
            return
        text = self.text[begin:end]
        self._keep(
            part, any(one is not None and math.isfinite(one) and agrees(text, unit, one) for one in own), own
        )

    def size(self, part: tuple[int, int], own: float, *, exact: bool = True) -> None:
        """A size with its unit."""
        text = self.text[slice(*part)]
        self._keep(part, size_of(text) == own if exact else text == about(own), (own,))

    def word(self, part: tuple[int, int], own: str) -> None:
        """A verdict, or whatever is no number."""
        text = self.text[slice(*part)]
        if text != own:
            self.ledger.differ.append(f"{text!r} should be {own!r} in: {self.text}")

    def _keep(self, part: tuple[int, int], good: bool, own: Sequence[float | None]) -> None:
        begin, end = part
        inside = NUMBER.findall(self.rest[begin:end])
        self.rest = self.rest[:begin] + "#" * (end - begin) + self.rest[end:]
        if good:
            self.ledger.agree += max(1, len(inside))
        else:
            self.ledger.differ.append(f"{self.text[begin:end]} should be {own} in: {self.text}")

    def known(self, part: tuple[int, int]) -> None:
        """Numbers that are names, such as those of ranks in a subject."""
        begin, end = part
        self.rest = self.rest[:begin] + "#" * (end - begin) + self.rest[end:]

    def close(self, why: str) -> None:
        """What is left was not recomputed."""
        self.ledger.left(self.rest, why)


def one_or_none(found: Iterable[object]) -> object | None:
    """The only one of them."""
    items = list(found)
    return items[0] if len(items) == 1 else None
