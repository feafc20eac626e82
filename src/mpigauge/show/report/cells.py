"""The cells of a page: each has a number, by which sentences, tables and charts speak of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.document.records import number
from mpigauge.find.warning_sentences import label
from mpigauge.units import NS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpigauge.plan.model import Cell
    from mpigauge.query.query import Source
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import StateName

STATISTICS = ("estimate", "low", "high", "mean", "min", "p25", "median", "p75", "p95", "p99", "max")
"""What the script knows of the time of a cell, in this order, in nanoseconds: these are shorter to write."""

DIGITS, RATIO_DIGITS = 5, 4
"""As many as nobody can see on a screen are not sent."""

Key = tuple[str, "Cell", "StateName | None"]


class Cells:
    """All cells of a page, numbered as they come; doubts are words that many share.

    Attributes:
        records: Of each cell what the script is told: docs/report.md.
        doubts: Words for kinds of doubts, of which records have the places.
    """

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.doubts: list[str] = []
        self._numbers: dict[Key, int] = {}

    def number(self, source: Source, row: Row) -> int:
        """That of a row, a new one if it has none."""
        key = (str(source.result.path), row.cell, row.state)
        if key not in self._numbers:
            self._numbers[key] = len(self.records)
            self.records.append(self._record(row))
        return self._numbers[key]

    def find(self, source: Source, cells: Iterable[Cell], state: StateName | None) -> Iterator[int]:
        """Those of cells of a result, in a state or in that which is shown."""
        wanted = {*cells}
        for row in source.rows:
            if row.cell in wanted and (state is None or row.state in (state, None)):
                yield self.number(source, row)

    def _record(self, row: Row) -> dict[str, Any]:
        time = row.time
        record: dict[str, Any] = {"bytes": row.cell.bytes} if row.sized else {}
        if time is not None:
            record |= {
                "time_ns": [_ns(getattr(time, name)) for name in STATISTICS],
                "launches": time.launches,
                "samples": time.samples,
            }
            if row.rate_bytes_per_s and time.estimate:
                record["moved"] = short(row.rate_bytes_per_s * time.estimate)
        if row.warnings:
            record["doubts"] = [self._doubt(label(warning.kind)) for warning in row.warnings]
        return record

    def _doubt(self, words: str) -> int:
        if words not in self.doubts:
            self.doubts.append(words)
        return self.doubts.index(words)


def _ns(seconds: float | None) -> float | None:
    found = short(None if seconds is None else seconds / NS)
    return int(found) if found is not None and found.is_integer() else found


def short(value: float | None, digits: int = DIGITS) -> float | None:
    """A number without digits that nobody can see."""
    found = number(value)
    return None if found is None else float(f"{found:.{digits}g}")
