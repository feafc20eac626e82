"""Cells of a page: numbers by which sentences, tables and charts refer to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.rows.group import in_one_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpigauge.plan.model import Cell
    from mpigauge.query.query import Source
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row

Key = tuple[str, "Subject"]


class Cells:
    """All cells of a page, numbered in the order of use.

    Attributes:
        rows: Rows of the cells, by their number.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._numbers: dict[Key, int] = {}

    def number(self, source: Source, row: Row) -> int:
        """Return the number of a row, a new one if it has none."""
        key = (str(source.result.path), row.of)
        if key not in self._numbers:
            self._numbers[key] = len(self.rows)
            self.rows.append(row)
        return self._numbers[key]

    def find(self, source: Source, cells: Iterable[Cell], of: Subject | None) -> Iterator[int]:
        """Yield the numbers of cells of a result, in the state of a fact or in that which is shown."""
        wanted = {*cells}
        for row in source.rows:
            if row.cell in wanted and in_one_state([row, *([of] if of else [])]):
                yield self.number(source, row)
