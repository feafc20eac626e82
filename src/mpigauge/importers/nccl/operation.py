"""One time of nccl-tests: checked by the rate beside it, and added as a cell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.importers.collector import TableMeaning, cell_of
from mpigauge.importers.text import agree, rounding_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.importers.collector import Collector
    from mpigauge.importers.text import TextLine

PLACES = ("out-of-place", "in-place")
GB, US, MS = 1e9, 1e-6, 1e-3


@dataclass(frozen=True, slots=True)
class Operation:
    """Operation that a time is of.

    Attributes:
        name: Collective.
        place: `out-of-place` or `in-place`.
        mode_words: Words of the mode for unusual options.
        ranks: Number of ranks; 0 if unknown.
        op: Operation of a reduction; empty if there is none.
        root: Root; empty if there is none.
        blocks: Number of blocks of its size, where its rate may be that of all but one.
    """

    name: str
    place: str
    mode_words: Sequence[str]
    size: int
    ranks: int
    datatype: str
    op: str
    root: str
    blocks: int

    def take(
        self,
        collector: Collector,
        line: TextLine,
        time: str,
        rate: str,
        *,
        wrong: str = "",
        second_s: float = US,
    ) -> None:
        """Add its time, or what was wrong with its data.

        Args:
            time: Time as printed.
            rate: Algbw in GB/s, as printed.
            wrong: Sentence that says what was wrong with its data; empty if nothing was.
            second_s: Seconds per unit of the time.

        Raises:
            LineError: Time and rate contradict each other, or no result can have the cell.
        """
        meaning = TableMeaning(
            f"nccl_{self.name}",
            ", ".join([self.place, *self.mode_words]),
            time_of="one operation on GPUs, mean",
        )
        cell = cell_of(
            meaning,
            self.size,
            self.ranks,
            datatype=self.datatype,
            op=self.op,
            root="" if self.root.startswith("-") else self.root,
        )
        if not self._is_consistent(time, rate, second_s):
            raise line.refused(
                "its rate is not its size over its time", "nccl-tests prints algbw, which is size over time"
            )
        if wrong:
            collector.add_failure(meaning, cell, "corrupt", wrong, line)
        else:
            collector.add_time(meaning, cell, float(time) * second_s, "mean", line, printed=time)

    def _is_consistent(self, time: str, rate: str, second_s: float) -> bool:
        """Return whether the rate is the size over the time, or, before 2020, that of all blocks but one."""
        if not self.size:
            return True
        low, high = (end * second_s for end in rounding_range(time))
        printed = rounding_range(rate)
        moved = (self.size / high, self.size / low if low else math.inf)
        factors = [1.0, 1 - 1 / self.blocks] if self.blocks > 1 else [1.0]
        return any(
            agree((printed[0] * GB, printed[1] * GB), (moved[0] * factor, moved[1] * factor))
            for factor in factors
        )
