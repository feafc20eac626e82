"""Constraints on values of records, checked when a file is read."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

MAX_NUMBER = 2.0**63
"""Largest floating-point number: measurements are below it, and their sums and squares are finite."""

Number = Annotated[float, Meta(ge=-MAX_NUMBER, le=MAX_NUMBER)]
AboveZero = Annotated[float, Meta(gt=0, le=MAX_NUMBER)]
NotNegative = Annotated[float, Meta(ge=0, le=MAX_NUMBER)]

YEARS = range(2, 9999)
"""Years allowed: times in the first and the last one do not exist in every time zone."""


class Dated(Struct, frozen=True):
    """A record with a time, `started`: UTC, ISO 8601; empty if not known."""

    def __post_init__(self) -> None:
        """Check the time.

        Raises:
            ValueError: It is not one; the line of the result file then counts as damaged.
        """
        if not (started := getattr(self, "started", "")):
            return
        moment = datetime.fromisoformat(started)
        if moment.tzinfo is None:
            raise ValueError(f"started, {started}, is in no time zone")
        if moment.year not in YEARS:
            raise ValueError(f"started, {started}, is at an end of the calendar")
