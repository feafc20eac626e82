"""What values of records are held to when a file is read, beside what their types say."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

NUMBER_MOST = 2.0**63
"""Of any number with a point: what is measured is below it, and sums and squares of such are finite."""

Number = Annotated[float, Meta(ge=-NUMBER_MOST, le=NUMBER_MOST)]
AboveZero = Annotated[float, Meta(gt=0, le=NUMBER_MOST)]
NotNegative = Annotated[float, Meta(ge=0, le=NUMBER_MOST)]

YEARS = range(2, 9999)
"""Moments of the first and the last year of the calendar have no name in every time zone."""


class Dated(Struct, frozen=True):
    """A record with a moment, `started`: UTC, ISO 8601; empty where nobody says."""

    def __post_init__(self) -> None:
        """Refuses what is no moment.

        Raises:
            ValueError: Which makes a line of a result file damaged.
        """
        if not (started := getattr(self, "started", "")):
            return
        moment = datetime.fromisoformat(started)
        if moment.tzinfo is None:
            raise ValueError(f"started, {started}, is in no time zone")
        if moment.year not in YEARS:
            raise ValueError(f"started, {started}, is at an end of the calendar")
