"""Whether a number is as somebody expects it: its interval decides, never the number alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.analysis.rows import Row
    from mpigauge.plan.expectations import Expectation
    from mpigauge.vocabulary import ExpectationVerdict


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A number and its bound, in seconds or bytes per second.

    Attributes:
        row: None if nothing was measured that the expectation is of.
        value: None if it was not measured, or there is no such number.
        low: Lower end of its 95 % interval across launches.
        high: Its upper end.
    """

    expectation: Expectation
    row: Row | None
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def verdict(self) -> ExpectationVerdict:
        """Undecided without an interval, or if the bound lies in it."""
        if self.low is None or self.high is None:
            return "undecided"
        bound, below = self.expectation.bound, self.expectation.below
        if self.high < bound if below else self.low > bound:
            return "holds"
        return "fails" if (self.low > bound if below else self.high < bound) else "undecided"


def judged(expectation: Expectation, row: Row) -> Judged:
    """A row, held against what is expected of it."""
    time = row.time
    if time is None:
        return Judged(expectation, row)
    if expectation.of_time:
        return Judged(expectation, row, time.estimate, time.low, time.high)
    rate = row.bus_bytes_per_s if expectation.quantity == "busbw" else row.rate_bytes_per_s
    if rate is None:
        return Judged(expectation, row)
    moved = rate * time.estimate
    low, high = (moved / end if end else None for end in (time.high, time.low))
    return Judged(expectation, row, rate, low, high)
