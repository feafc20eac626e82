"""Inputs of a page: results, their comparison, and the cells so far."""

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
    from mpigauge.show.figures.ratios import Pair


def unnoticed(_: str) -> None:
    """Take the name of a part that begins, where nobody waits for it."""


@dataclass(frozen=True, slots=True, eq=False)
class PageInputs:
    """Inputs that all sections share.

    Attributes:
        query: Results with the selected cells.
        by_state: The query with a row per state of the machine; the same object where there is one state.
        comparison: The comparison; None if there is nothing to compare.
        not_compared: Why two results are not compared; may be empty.
        models: Models of curves; None where no curve has enough sizes.
        conclusions: Conclusions from each result, and from several together.
        begins: Called with the name of each part before it is made.
        ratios: Pairs of curves whose ratios are on the page so far.
    """

    query: Query
    by_state: Query
    comparison: ComparedSources | None = None
    not_compared: str = ""
    models: Models | None = None
    conclusions: Sequence[Said] = ()
    begins: Callable[[str], None] = unnoticed
    cells: Cells = field(default_factory=Cells)
    ratios: set[Pair] = field(default_factory=set)

    @property
    def sources(self) -> Sequence[Source]:
        """Results."""
        return self.query.sources

    def numbers(self, source: Source) -> Callable[[Row], list[int]]:
        """Return a function from rows of a result to the numbers of their cells."""
        return lambda row: [self.cells.number(source, row)]
