"""One time of nccl-tests: proved by the rate beside it, and taken as a cell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.importers.collector import TableMeaning, cell_of
from mpigauge.importers.text import agree, ends_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.importers.collector import Collected
    from mpigauge.importers.text import TextLine

PLACES = ("out-of-place", "in-place")
GB, US, MS = 1e9, 1e-6, 1e-3


@dataclass(frozen=True, slots=True)
class Operation:
    """What a time is of.

    Attributes:
        name: The collective.
        place: Out of place or in place.
        ways: Words of the mode for how it was measured, where that is not as usual.
        ranks: 0 if unknown.
        op: Of a reduction; empty if there is none.
        root: Empty if there is none.
        blocks: Of how many blocks its size is, where its rate may be that of all but one.
    """

    name: str
    place: str
    ways: Sequence[str]
    size: int
    ranks: int
    datatype: str
    op: str
    root: str
    blocks: int

    def take(
        self, found: Collected, line: TextLine, time: str, rate: str, *, wrong: str = "", second_s: float = US
    ) -> None:
        """Take its time, or what was wrong with its data.

        Args:
            time: As it is printed.
            rate: Its algbw in GB/s, as it is printed.
            wrong: What was wrong with its data, in words.
            second_s: Seconds of a unit of the time.

        Raises:
            LineError: Time and rate contradict each other, or no result can have the cell.
        """
        meaning = TableMeaning(
            f"nccl_{self.name}", ", ".join([self.place, *self.ways]), time_of="one operation on GPUs, mean"
        )
        cell = cell_of(
            meaning,
            self.size,
            self.ranks,
            datatype=self.datatype,
            op=self.op,
            root="" if self.root.startswith("-") else self.root,
        )
        if not self._proved(time, rate, second_s):
            raise line.refused(
                "its rate is not its size over its time", "nccl-tests prints algbw, which is size over time"
            )
        if wrong:
            found.fail(meaning, cell, "corrupt", wrong, line)
        else:
            found.take(meaning, cell, float(time) * second_s, "mean", line, printed=time)

    def _proved(self, time: str, rate: str, second_s: float) -> bool:
        """Whether the rate is the size over the time; it was that of all blocks but one before 2020."""
        if not self.size:
            return True
        low, high = (end * second_s for end in ends_of(time))
        printed = ends_of(rate)
        moved = (self.size / high, self.size / low if low else math.inf)
        factors = [1.0, 1 - 1 / self.blocks] if self.blocks > 1 else [1.0]
        return any(
            agree((printed[0] * GB, printed[1] * GB), (moved[0] * factor, moved[1] * factor))
            for factor in factors
        )
