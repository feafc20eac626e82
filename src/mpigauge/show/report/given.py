"""What a page is made of: results as they are shown, as they are compared, and the cells so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.show.report.cells import Cells

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.find.explain.table import Said
    from mpigauge.models.modelled import Models
    from mpigauge.query.query import Query, Source
    from mpigauge.rows.rows import Row
    from mpigauge.show.compared import ComparedSources


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What all sections are made of.

    Attributes:
        query: Results with the cells that were asked for.
        each: The same with a row for every state of the machine; the same query where there is one state.
        comparison: What is compared; None if nothing can be, or was asked for.
        not_compared: Why two results are not compared; may be empty.
        models: None where no curve has sizes enough.
        said: What follows from each result, and from several together.
    """

    query: Query
    each: Query
    comparison: ComparedSources | None = None
    not_compared: str = ""
    models: Models | None = None
    said: Sequence[Said] = ()
    cells: Cells = field(default_factory=Cells)

    @property
    def sources(self) -> Sequence[Source]:
        """All results."""
        return self.query.sources

    def numbers(self, source: Source) -> Callable[[Row], list[int]]:
        """What finds the numbers of rows of a result."""
        return lambda row: [self.cells.number(source, row)]
