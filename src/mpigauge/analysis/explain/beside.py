"""Two curves side by side: at each size both times, their ratio and difference, and runs of one verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from statistics import geometric_mean
from typing import TYPE_CHECKING

from mpigauge.analysis.conditions import distances_of
from mpigauge.analysis.interval import launches_needed, student
from mpigauge.analysis.like_ratio import ANYWHERE, like_times
from mpigauge.analysis.ratios import hidden
from mpigauge.analysis.verdict import MARGIN, is_small, verdict
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.analysis.conditions import Distances
    from mpigauge.analysis.estimate import Timing
    from mpigauge.analysis.ratios import Compared, Ratio
    from mpigauge.analysis.rows import Row
    from mpigauge.vocabulary import Verdict

LEVEL = 0.05
"""How often a size that stands alone may be called different by chance, over all sizes of its curve."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Two times at one size.

    Attributes:
        base_s: As tables have it. If the launches that the ratio rests on are fewer and took another time, by
            more than the margin: the geometric mean over these.
        other_s: The same of the other, and of the same launches.
        ratio: How many times as long the other takes as the base.
        low_s: Lower end of the 95 % interval of other minus base, launch by launch; None if the ratio is not.
        high_s: Its upper end.
        small: The interval of the ratio excludes 1 and lies within the margin.
    """

    bytes: int
    base_s: float
    other_s: float
    ratio: Ratio
    low_s: float | None
    high_s: float | None
    verdict: Verdict
    small: bool

    @property
    def extra_s(self) -> float:
        """By how much the other takes longer."""
        return self.other_s - self.base_s

    @property
    def beyond_s(self) -> float | None:
        """The same as a mean over launches, the middle of its interval; None if there is none."""
        return None if self.low_s is None or self.high_s is None else (self.low_s + self.high_s) / 2

    @property
    def needed(self) -> int | None:
        """Launches after which the interval would be as narrow as the margin; None if nobody can tell."""
        ratio = self.ratio
        if ratio.high is None or ratio.launches < 2:  # noqa: PLR2004 - one launch has no spread
            return None
        return launches_needed(ratio.high / ratio.estimate - 1, ratio.launches, MARGIN)[0]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring sizes with one verdict."""

    verdict: Verdict
    at: tuple[Beside, ...]

    @property
    def worst(self) -> Beside:
        """The size with the ratio that is farthest from 1."""
        return max(self.at, key=lambda one: abs(math.log(one.ratio.estimate)))


def of_rows(base: Row, other: Row, *, same_place: bool) -> Beside | None:
    """Two rows of one size; None without a ratio that has an interval.

    Args:
        same_place: Whether their ranks are to be equally far apart.
    """
    if base.time is None or other.time is None:
        return None
    at = (distances_of(other.visits), distances_of(base.visits)) if same_place else ANYWHERE
    return of_times(base.cell.bytes, base.time, other.time, at)


def of_times(
    size_bytes: int, base: Timing, other: Timing, at: tuple[Distances, Distances] = ANYWHERE
) -> Beside | None:
    """Two times of one size, of the launches that their ratio rests on; None if that has no interval.

    Args:
        at: How far apart the ranks of the other and of the base were, as of `like_ratio.like_times`.
    """
    sides = like_times(other, base, at)
    ratio = sides.ratio(math.hypot(base.step, other.step))
    if ratio is None or ratio.low is None:
        return None
    times_s = _times_of(base, other, sides)
    low_s, high_s = sides.difference(hidden(other, base))
    return Beside(size_bytes, *times_s, ratio, low_s, high_s, verdict(ratio), is_small(ratio))


def _times_of(base: Timing, other: Timing, sides: Compared) -> tuple[float, float]:
    """The times that are quoted beside a ratio: those of the tables, if the ratio is of them."""
    mine = geometric_mean(sides.under.values()), geometric_mean(sides.over.values())
    whole = base.estimate, other.estimate
    apart = (abs(math.log(part / time)) for part, time in zip(mine, whole, strict=True))
    return whole if max(apart) <= math.log1p(MARGIN) else mine


def besides(base: Iterable[Row], other: Iterable[Row], *, same_place: bool) -> list[Beside]:
    """All sizes that both curves have, rising."""
    rows, others = by_size(base), by_size(other)
    found = (
        of_rows(rows[size], others[size], same_place=same_place) for size in sorted(rows.keys() & others)
    )
    return [one for one in found if one is not None]


def by_size(curve: Iterable[Row]) -> dict[int, Row]:
    """The rows of a curve by their size in bytes."""
    return {row.cell.bytes: row for row in curve}


def stretches(points: Sequence[Beside]) -> tuple[Stretch, ...]:
    """Runs of neighbouring sizes with one verdict.

    A size that differs alone, as one of so many would by chance, is undecided: docs/method.md#conclusions.
    """
    judged = list(zip(_judged(points), points, strict=True))
    return tuple(
        Stretch(word, tuple(one for _, one in run)) for word, run in groupby(judged, key=lambda two: two[0])
    )


def _judged(points: Sequence[Beside]) -> Iterator[Verdict]:
    words = [one.verdict for one in points]
    for place, one in enumerate(points):
        around = words[max(0, place - 1) : place] + words[place + 1 : place + 2]
        alone = one.verdict in DIFFERENT and one.verdict not in around
        yield "undecided" if alone and by_chance(one.ratio, len(points)) else one.verdict


def by_chance(ratio: Ratio, sizes: int) -> bool:
    """Whether one of so many sizes would be as far from 1 by chance, or nobody can tell (Bonferroni)."""
    if ratio.low is None or ratio.high is None:
        return True
    freedom = max(1, ratio.launches - 1)
    reach = math.log(ratio.high / ratio.low) / 2
    wider = reach * student(freedom, 1 - LEVEL / sizes) / student(freedom)
    return abs(math.log(ratio.estimate)) <= wider
