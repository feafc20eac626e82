"""Ratios of curves to others that differ from them in one thing: what a chart may have as its denominator."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpigauge.compare.size_ratio import besides
from mpigauge.show.figures.line_styles import PLACE, varying
from mpigauge.show.report.cells import RATIO_DIGITS, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.query.series import Series
    from mpigauge.show.figures.line_styles import Group
    from mpigauge.show.report.cells import Cells


class Over(NamedTuple):
    """All ratios of a chart with one denominator.

    Attributes:
        name: What the denominator is called.
        of: A cell, the cell below it, how many times as long it takes, and the ends of its interval.
    """

    name: str
    of: list[tuple[int, int, float | None, float | None, float | None]]


def denominators(cells: Cells, found: Sequence[Series]) -> list[Over]:
    """Of each value of what the curves of a chart differ in, the ratios of the others to it."""
    overs: list[Over] = []
    for group in varying(found):
        values = dict.fromkeys(_value(one, group) for one in found)
        for value in values:
            ratios = [*_ratios(cells, found, group, value)]
            if ratios:
                overs.append(Over(", ".join(filter(None, value)), ratios))
    return overs


def _value(one: Series, group: Group) -> tuple[str, ...]:
    return tuple(one.factors.get(name, "") for name in group)


def _ratios(
    cells: Cells, found: Sequence[Series], group: Group, value: tuple[str, ...]
) -> Iterator[tuple[int, int, float | None, float | None, float | None]]:
    """Of every curve to the one that has this value and is like it in all else."""
    bases = {one.key(group): one for one in found if _value(one, group) == value}
    for one in found:
        base = bases.get(one.key(group))
        if base is None or not any(value):
            continue
        if one is base:
            continue
        below, above = ({row.cell.bytes: row for row in side.rows} for side in (base, one))
        within, paired = one.source.against(base.source), one.source is base.source
        near = group != PLACE
        for beside in besides(base.rows, one.rows, same_place=near, paired=paired, within=within):
            ratio = beside.ratio
            yield (
                cells.number(one.source, above[beside.bytes]),
                cells.number(base.source, below[beside.bytes]),
                short(ratio.estimate, RATIO_DIGITS),
                short(ratio.low, RATIO_DIGITS),
                short(ratio.high, RATIO_DIGITS),
            )
