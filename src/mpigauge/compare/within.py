"""Comparisons within a result and between two, each made once.

Sentences, tables, figures and pages all take the ratio of two cells from `compare`: from the same launches,
with the interval and the verdict of the same family of cells.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.compare.cells import compared_by, varied_variables, without_stride_of_block
from mpigauge.compare.comparison import compare
from mpigauge.compare.interim_looks import thresholds_of_result
from mpigauge.compare.sides import pairs_between, pairs_by
from mpigauge.plan.factors import BY_NAME, COMPARED_BY
from mpigauge.rows.group import in_one_state, state_in
from mpigauge.rows.ratios import TimePair, ratio_from
from mpigauge.stats.decision import Thresholds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mpigauge.compare.comparison import Compared
    from mpigauge.compare.pairs import Pair
    from mpigauge.result.reader import Result
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio

    Known = Mapping[tuple[object, object], Compared]


class Within:
    """The comparisons within one result, by each factor that differs, made when first asked for.

    Args:
        result: The result whose libraries and plan say what is compared, and with which error level.
        rows: Rows that are shown, and those of control arms.
    """

    def __init__(self, result: Result, rows: Iterable[Row]) -> None:
        self._libraries = result.campaign.libraries
        self._thresholds = thresholds_of_result(result, Thresholds())
        self._rows = list(rows)
        self._variables = varied_variables(row.cell for row in self._rows)
        self._known: dict[str, Known] = {}

    def ratio(self, over: Row, under: Row) -> Ratio | None:
        """Return how many times as long one row takes as another; None if no comparison holds both."""
        known = self._holding(over, under)
        return _ratio(known, *_keys(over, under)) if known is not None else None

    def launches(self, over: Row, under: Row) -> TimePair | None:
        """Return the launches that this ratio rests on; None if no comparison holds both."""
        known = self._holding(over, under)
        return _launches(known, *_keys(over, under)) if known is not None else None

    def _holding(self, over: Row, under: Row) -> Known | None:
        """Return the comparison that holds both rows."""
        if not in_one_state((over, under)):
            return None
        one, other = without_stride_of_block(over.cell), without_stride_of_block(under.cell)
        differs = {name for name in BY_NAME if getattr(one, name) != getattr(other, name)}
        for factor in (*COMPARED_BY, *self._variables):
            if differs and differs <= compared_by(factor):
                known, keys = self._by(factor), _keys(over, under)
                if {keys, keys[::-1]} & known.keys():
                    return known
        return None

    def _by(self, factor: str) -> Known:
        """Return the comparison by a factor."""
        if factor not in self._known:
            pairs = pairs_by(self._rows, factor, self._libraries)
            self._known[factor] = _compared(
                pairs, self._thresholds, lambda pair: _keys(pair.base, pair.other)
            )
        return self._known[factor]


def _keys(one: Row, other: Row) -> tuple[Key, Key]:
    """Return the keys of two cells that are compared in the state of the machine that either is of."""
    state = state_in((one, other))
    return (one.cell, state), (other.cell, state)


class Between:
    """The comparison of two results.

    Args:
        base: Rows of one result.
        other: Rows of the other.
    """

    def __init__(self, base: Sequence[Row], other: Sequence[Row]) -> None:
        self._base, self._other = base, other

    @cached_property
    def _known(self) -> Known:
        pairs = pairs_between(self._base, self._other)
        return _compared(pairs, Thresholds(), lambda pair: (id(pair.base), id(pair.other)))

    def ratio(self, over: Row, under: Row) -> Ratio | None:
        """Return how many times as long one row takes as another; None if no comparison holds both."""
        return _ratio(self._known, id(over), id(under))

    def launches(self, over: Row, under: Row) -> TimePair | None:
        """Return the launches that this ratio rests on; None if no comparison holds both."""
        return _launches(self._known, id(over), id(under))


def _compared(
    pairs: Iterable[Pair], thresholds: Thresholds, keys: Callable[[Pair], tuple[object, object]]
) -> Known:
    """Return what a comparison says of each pair, by the keys of its base and its other."""
    shown = compare(pairs, thresholds, controlled=False)
    return {keys(one.pair): one for one in (*shown.cells, *shown.controls)}


def _ratio(known: Known, over: object, under: object) -> Ratio | None:
    """Return the ratio of two keys, whichever of them the comparison has as its base."""
    one = known.get((under, over)) or known.get((over, under))
    if one is None or one.decision is None:
        return None
    ratio = ratio_from(one.decision, paired=one.pair.paired, verdict=one.verdict)
    return ratio if (under, over) in known else ratio.turned


def _launches(known: Known, over: object, under: object) -> TimePair | None:
    """Return the launches that the ratio of two keys rests on."""
    one = known.get((under, over)) or known.get((over, under))
    if one is None:
        return None
    sides = one.pair.sides
    return sides if (under, over) in known else TimePair(sides.under, sides.over, sides.paired)
