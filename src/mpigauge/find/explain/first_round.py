"""What the first round of a cell in a launch takes beyond a typical one."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np

from mpigauge import units
from mpigauge.document.cell_names import subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words
from mpigauge.document.size_words import at_size, every_size
from mpigauge.find.explain.evidence import single_calls
from mpigauge.rows.ratios import compared, judged_together
from mpigauge.stats.interval import interval_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.rows.group import Subject
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio


@dataclass(frozen=True, slots=True)
class FirstAt:
    """The first round at one size.

    Attributes:
        ratio: How many times as long it takes as a typical one, launch by launch.
        first_s: Median over launches.
        typical_s: The time of the cell.
    """

    bytes: int
    ratio: Ratio
    first_s: float
    typical_s: float


@dataclass(frozen=True, slots=True)
class First:
    """The first rounds of a curve.

    The launch is warm by then: connections stand, and other cells have run. What is new are the buffers,
    the code and the protocol of this cell.

    Attributes:
        of: The smallest of the curve.
        points: All sizes with an interval.
        longer: Those of them whose first takes longer for certain, though so many were looked at.
    """

    of: Subject
    points: tuple[FirstAt, ...]
    longer: tuple[FirstAt, ...]

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest ratio of all sizes."""
        ratios = [one.ratio.estimate for one in self.points]
        return min(ratios), max(ratios)

    @property
    def most(self) -> FirstAt:
        """The size at which it takes longest beside a typical one, of those at which that is certain."""
        return max(self.longer, key=lambda one: one.ratio.estimate)

    @property
    def weight(self) -> float:
        """How much longer it takes at the middle size, and at how many sizes for certain."""
        middle = median(one.ratio.estimate for one in self.points)
        return len(self.longer) / len(self.points) + max(0.0, math.log(middle))


def firsts(evidence: Evidence) -> Iterator[First]:
    """Yield curves with a size whose first round takes longer for certain, and by more than the margin."""
    for curve in single_calls(evidence):
        points = tuple(_points(curve))
        longer = tuple(one for one in points if one.ratio.verdict == "slower")
        if longer:
            yield First(curve[0].of, points, longer)


def _points(curve: Sequence[Row]) -> Iterator[FirstAt]:
    """Yield every size whose ratio has an interval; all sizes are a family."""
    known = [(row, row.time, _first_by_launch(row)) for row in curve if row.time is not None]
    sides = [compared(firsts, time.by_launch, paired=True) for _, time, firsts in known]
    ratios = judged_together(sides, [time.step for _, time, _ in known])
    for (row, time, firsts), ratio in zip(known, ratios, strict=True):
        if ratio is not None and ratio.low is not None:
            first_s = interval_of(np.array(list(firsts.values()))).estimate
            yield FirstAt(row.cell.bytes, ratio, first_s, time.estimate)


def _first_by_launch(row: Row) -> dict[int, float]:
    """Return seconds by launch; a launch that was started again on the way has several."""
    found: dict[int, list[float]] = defaultdict(list)
    for visit in row.visits:
        if visit.first_s > 0 and not visit.corrupt:
            found[visit.launch].append(visit.first_s)
    return {number: _geometric(mine) for number, mine in found.items()}


def _geometric(values: Sequence[float]) -> float:
    return math.exp(fmean(map(math.log, values)))


# ---- Sentence ------------------------------------------------------------------------------------


def sentence(fact: First, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return how many times as long first rounds take as typical ones."""
    about = subject(fact.of, varied)
    first = "the first round in a warm launch, not a program's first message,"
    return f"{about}: {first} takes {_range(fact, chosen)}"


def _range(fact: First, chosen: Units) -> str:
    most, total, many = fact.most, len(fact.points), len(fact.longer)
    first, typical = (units.format_time(one, chosen.time) for one in (most.first_s, most.typical_s))
    both = f"{first} for {typical}"
    where = at_size(fact.of.cell, most.bytes)
    if total == 1:
        return f"{times_words(most.ratio)} as long as a typical one{where}, {both}"
    ends = units.span(*map(units.format_factor, fact.ends))
    certain = f"{every_size(total)}, most" if many == total else f"{many} of {total} sizes, of these most"
    return (
        f"{ends} times as long as a typical one, longer for certain at {certain}{where}: "
        f"{times_words(most.ratio)}, {both}"
    )
