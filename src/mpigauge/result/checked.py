"""What values of records are held to when a file is read, beside what their types say."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

AboveZero = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]


class Dated(Struct, frozen=True):
    """A record with a moment, `started`: UTC, ISO 8601; empty where nobody says."""

    def __post_init__(self) -> None:
        """Refuses what is no moment.

        Raises:
            ValueError: Which makes a line of a result file damaged.
        """
        if (started := getattr(self, "started", "")) and datetime.fromisoformat(started).tzinfo is None:
            raise ValueError(f"started, {started}, is in no time zone")
