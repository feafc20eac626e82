"""The cells of a page: each has a number, by which sentences, tables and charts speak of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpigauge.plan.model import Cell
    from mpigauge.query.query import Source
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import StateName

Key = tuple[str, "Cell", "StateName | None"]


class Cells:
    """All cells of a page, numbered as they come.

    Attributes:
        rows: The row of each cell, by its number.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._numbers: dict[Key, int] = {}

    def number(self, source: Source, row: Row) -> int:
        """Return the number of a row, a new one if it has none."""
        key = (str(source.result.path), row.cell, row.state)
        if key not in self._numbers:
            self._numbers[key] = len(self.rows)
            self.rows.append(row)
        return self._numbers[key]

    def find(self, source: Source, cells: Iterable[Cell], state: StateName | None) -> Iterator[int]:
        """Yield the numbers of cells of a result, in a state or in that which is shown."""
        wanted = {*cells}
        for row in source.rows:
            if row.cell in wanted and (state is None or row.state in (state, None)):
                yield self.number(source, row)
