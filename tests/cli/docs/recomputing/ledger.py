"""Facts beside what they should be: which numbers agree, which differ, which nobody has recomputed."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

TOLERANCE = 1e-6
"""Of a number: what sums in another order and a t by bisection make of the last digits."""


class Either(tuple[Any, ...]):
    """What a fact may be where chance leaves open which: one of these."""

    __slots__ = ()


@dataclass
class Ledger:
    """What was found of the facts of a page.

    Attributes:
        agreed: The numbers that are what they should be.
        left: How many numbers of which kind nobody recomputed.
    """

    agreed: list[float] = field(default_factory=list)
    differ: list[str] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """The share of the numbers that were recomputed."""
        checked = len(self.agreed) + len(self.differ)
        return checked / max(1, checked + self.left.total())

    def compare(self, fact: Any, own: Any, where: str) -> None:
        """Compare all parts of a fact; what `own` has no part for is left."""
        if isinstance(fact, dict):
            for name, part in fact.items():
                self._part(part, own, name, f"{where}.{name}")
        elif isinstance(fact, list) and isinstance(own, list):
            if len(fact) != len(own):
                self.differ.append(f"{where}: {len(fact)} parts should be {len(own)}")
            for place, (part, mine) in enumerate(zip(fact, own, strict=False)):
                self.compare(part, mine, f"{where}[{place}]")
        elif isinstance(own, dict | list):
            if fact is not None:  # what is not said need not be recomputed
                self.differ.append(f"{where}: {fact} should be {own}")
        else:
            self._value(fact, own if isinstance(own, Either) else (own,), where)

    def _part(self, fact: Any, own: Any, name: str, where: str) -> None:
        if isinstance(own, dict) and name in own:
            self.compare(fact, own[name], where)
        else:
            self.left += Counter({re.sub(r"\[\d+\]", "", where): count(fact)})

    def _value(self, fact: Any, own: tuple[Any, ...], where: str) -> None:
        if not any(agrees(fact, one) for one in own):
            self.differ.append(f"{where}: {fact} should be {' or '.join(map(str, own))}")
        elif is_number(fact):
            self.agreed.append(fact)


def is_number(fact: Any) -> bool:
    """Whether a fact is a number, which a truth value is not."""
    return isinstance(fact, int | float) and not isinstance(fact, bool)


def agrees(fact: Any, own: Any) -> bool:
    """Whether a fact is what was recomputed."""
    if is_number(fact) and is_number(own):
        return math.isclose(fact, own, rel_tol=TOLERANCE, abs_tol=1e-15)
    return bool(fact == own)


def count(fact: Any) -> int:
    """Return how many numbers are in a fact."""
    if isinstance(fact, dict):
        return sum(map(count, fact.values()))
    return sum(map(count, fact)) if isinstance(fact, list) else int(is_number(fact))
