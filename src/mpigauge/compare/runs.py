"""Neighbouring sizes of one curve with one verdict, told as one: "slower from 2 KiB to 64 KiB"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.plan.factors import ALONG
from mpigauge.rows.group import cell_key, row_key
from mpigauge.sequences import group_by, runs
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from mpigauge.compare.comparison import Compared
    from mpigauge.rows.group import Key
    from mpigauge.vocabulary import Verdict

GAP = 1
"""Sizes between two of a run that are not like them."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Cells of one curve, from the smallest to the largest.

    Attributes:
        cells: Those with the verdict of the run.
        sizes: How many sizes of the curve lie between its ends, these included.
    """

    cells: tuple[Compared, ...]
    sizes: int

    @property
    def verdict(self) -> Verdict:
        """Of all its cells."""
        return self.cells[0].verdict

    @property
    def worst(self) -> Compared:
        """The cell that is farthest from 1."""
        return max(self.cells, key=distance)


def distance(one: Compared) -> float:
    """How far apart both are, in either direction."""
    ratio = one.decision.ratio if one.decision else 1.0
    return max(ratio, 1 / ratio)


def runs_of(
    cells: Iterable[Compared], along: frozenset[str], together: Collection[Verdict] = DIFFERENT
) -> list[Run]:
    """Cells as runs of neighbours with one verdict; every other alone.

    Args:
        along: Factors in which a curve's cells differ, and what is compared.
        together: Verdicts of which neighbours are one run.
    """

    def curve(one: Compared) -> Key:
        return row_key(one.pair.base, along), cell_key(one.pair.other.cell, ALONG)

    curves = group_by(cells, curve)
    return [run for curve in curves.values() for run in _runs(curve, together)]


def _runs(curve: Sequence[Compared], together: Collection[Verdict]) -> list[Run]:
    ordered = sorted(curve, key=lambda one: one.pair.base.cell.bytes)
    found: list[list[int]] = []
    for verdict in dict.fromkeys(one.verdict for one in ordered):
        mine = [at for at, one in enumerate(ordered) if one.verdict == verdict]
        found += runs(mine, near) if verdict in together else [[at] for at in mine]
    return [Run(tuple(ordered[at] for at in run), run[-1] - run[0] + 1) for run in sorted(found)]


def near(one: int, two: int) -> bool:
    """Whether places of sizes are of one run: with `GAP` others at most between them."""
    return two - one <= 1 + GAP
