"""Comparisons within a result and between two, each made once.

Sentences, tables, figures and pages all take the ratio of two cells from `compare`: from the same launches,
with the interval and the verdict of the same family of cells.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from mpigauge.compare.comparison import compare
from mpigauge.compare.interim_looks import level_of
from mpigauge.compare.sides import compared_by, pairs_between, pairs_by, varied_variables
from mpigauge.plan.factors import BY_NAME, COMPARED_BY
from mpigauge.rows.ratios import ratio_from
from mpigauge.stats.decision import Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.compare.comparison import Compared
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.rows.ratios import Ratio
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import StateName

    Known = Mapping[tuple[Cell, Cell], Compared]


class RowRatios(Protocol):
    """Comparisons that know the ratios of rows."""

    def ratio(self, over: Row, under: Row) -> Ratio | None:
        """Return how many times as long one row takes as another; None if no comparison holds both."""


class Within:
    """The comparisons within one result, by each factor that differs, made when first asked for.

    Args:
        result: The result whose libraries and plan say what is compared, and with which error level.
        rows: Rows that are shown, and those of control arms. Rows of one state of the machine are compared
            only with each other, as their ratio is shown with their times.
    """

    def __init__(self, result: Result, rows: Iterable[Row]) -> None:
        self._libraries = result.campaign.libraries
        self._thresholds = Thresholds(level=level_of(result.campaign.plan))
        self._rows = list(rows)
        self._variables = varied_variables(row.cell for row in self._rows)
        self._known: dict[tuple[str, StateName | None], Known] = {}

    def ratio(self, over: Row, under: Row) -> Ratio | None:
        """Return how many times as long one row takes as another; None if no comparison holds both."""
        states = {row.state for row in (over, under)} - {None}
        if len(states) > 1:
            return None
        state = over.state or under.state
        differs = {name for name in BY_NAME if getattr(over.cell, name) != getattr(under.cell, name)}
        for factor in (*COMPARED_BY, *self._variables):
            if differs and differs <= compared_by(factor):
                known = self._by(factor, state)
                if cell := known.get((under.cell, over.cell)):
                    return _ratio(cell)
                if cell := known.get((over.cell, under.cell)):
                    ratio = _ratio(cell)
                    return ratio and ratio.turned
        return None

    def _by(self, factor: str, state: StateName | None) -> Known:
        if (factor, state) not in self._known:
            rows = [row for row in self._rows if row.state in (state, None)]
            pairs = pairs_by(rows, factor, self._libraries)
            shown = compare(pairs, self._thresholds, controlled=False)
            self._known[factor, state] = {
                (cell.pair.base.cell, cell.pair.other.cell): cell for cell in (*shown.cells, *shown.controls)
            }
        return self._known[factor, state]


class Between:
    """The comparison of two results.

    Args:
        base: Rows of one result.
        other: Rows of the other.
    """

    def __init__(self, base: Sequence[Row], other: Sequence[Row]) -> None:
        self._base, self._other = base, other

    @cached_property
    def _known(self) -> Mapping[tuple[int, int], Compared]:
        shown = compare(pairs_between(self._base, self._other), Thresholds(), controlled=False)
        return {(id(cell.pair.base), id(cell.pair.other)): cell for cell in (*shown.cells, *shown.controls)}

    def ratio(self, over: Row, under: Row) -> Ratio | None:
        """Return how many times as long one row takes as another; None if no comparison holds both."""
        if cell := self._known.get((id(under), id(over))):
            return _ratio(cell)
        cell = self._known.get((id(over), id(under)))
        ratio = _ratio(cell) if cell else None
        return ratio and ratio.turned


def _ratio(cell: Compared) -> Ratio | None:
    if cell.decision is None:
        return None
    return ratio_from(cell.decision, paired=cell.pair.paired, verdict=cell.verdict)
