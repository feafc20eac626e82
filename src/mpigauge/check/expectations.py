"""Whether numbers are as somebody expects them: intervals decide, never a number alone.

That all of them hold is said with the error of a single one, since each must hold by itself. That one fails
is said of many, so it must be beyond chance for all of them at once.
Source: Holm, A simple sequentially rejective multiple test procedure (1979); docs/numbers-verbs.md#check
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.estimate import Printed
from mpigauge.stats.max_t import LEVEL, holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.check.expectation_file import Expectation
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import ExpectationVerdict, Statistic

DEFAULT_STATISTIC = "median"


@dataclass(frozen=True, slots=True, eq=False)
class CheckedExpectation:
    """Number and its bound, in seconds or bytes per second.

    Attributes:
        row: Row of the number; None if the expectation selects no measured cell.
        value: Measured number; None if there is none.
        low: Lower end of its 95 % interval across launches.
        high: Its upper end.
        p: How often chance takes one of all numbers that meet their bounds so far beyond it; None where only
            this one is looked at.
    """

    expectation: Expectation
    row: Row | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None

    @property
    def verdict(self) -> ExpectationVerdict:
        """Verdict by its interval; a failure counts only if it is beyond chance among all numbers."""
        by_chance = self.p is not None and self.p > LEVEL
        return "undecided" if self.alone == "fails" and by_chance else self.alone

    @property
    def alone(self) -> ExpectationVerdict:
        """Verdict on this number by itself: undecided without an interval, or if the bound lies in it."""
        if self.low is None or self.high is None:
            return "undecided"
        bound, below = self.expectation.bound, self.expectation.below
        if self.high < bound if below else self.low > bound:
            return "holds"
        return "fails" if (self.low > bound if below else self.high < bound) else "undecided"


def check_row(expectation: Expectation, row: Row) -> CheckedExpectation:
    """Return a row, checked against an expectation."""
    time = row.time
    if time is None or not _is_of(expectation.stat, time):
        return CheckedExpectation(expectation, row)
    if expectation.of_time:
        return CheckedExpectation(expectation, row, time.estimate, time.low, time.high)
    rate = row.bus_bytes_per_s if expectation.quantity == "busbw" else row.rate_bytes_per_s
    if rate is None:
        return CheckedExpectation(expectation, row)
    moved = rate * time.estimate
    low, high = (moved / end if end else None for end in (time.high, time.low))
    return CheckedExpectation(expectation, row, rate, low, high)


def _is_of(stat: Statistic, time: Timing) -> bool:
    """Return whether a time is of the expected statistic: other programs print only one, mostly the mean.

    What nobody has asked for by name is the median, in whose place what they print may stand.
    """
    return not isinstance(time, Printed) or stat == DEFAULT_STATISTIC or time.statistic.startswith(stat)


def adjusted_for_all(found: Sequence[CheckedExpectation]) -> list[CheckedExpectation]:
    """Return numbers with probabilities adjusted for all: 5 % that any is said to fail that does not."""
    chances = [_chance(one) for one in found]
    places = [place for place, p in enumerate(chances) if p is not None]
    adjusted = dict(zip(places, holm(np.array([p for p in chances if p is not None])).tolist(), strict=True))
    return [replace(one, p=adjusted.get(place)) for place, one in enumerate(found)]


def _chance(one: CheckedExpectation) -> float | None:
    """Return the probability that chance takes a number this far beyond its bound; None without interval."""
    time = one.row.time if one.row is not None else None
    bound = one.expectation.bound
    if time is None or one.value is None or one.low is None or bound <= 0:
        return None
    if one.expectation.of_time:
        return time.chance_beyond(bound, above=one.expectation.below)
    # A rate is lower where its time is longer.
    return time.chance_beyond(one.value * time.estimate / bound, above=not one.expectation.below)
