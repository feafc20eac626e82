"""Two curves compared: their ratio and difference at each size, and runs of one verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mpigauge.rows.ratios import TimePair, hidden, judged_together
from mpigauge.rows.same_distance import ANYWHERE, distances_apart, like_times
from mpigauge.sequences import runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.rows.machine.conditions import Distances
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import Verdict


class RowRatios(Protocol):
    """Comparisons that know the ratios of rows."""

    def ratio(self, over: Row, under: Row) -> Ratio | None:
        """Return how many times as long one row takes as another; None if no comparison holds both."""

    def launches(self, over: Row, under: Row) -> TimePair | None:
        """Return the launches that this ratio rests on; None if no comparison holds both."""


@dataclass(frozen=True, slots=True)
class SizeRatio:
    """Two times at one size, with their ratio and difference.

    Attributes:
        base_s: Time of the base, as in tables.
        other_s: Time of the other. The ratio is of paired launches, not of these two times.
        ratio: How many times as long the other takes as the base, with its verdict.
        low_s: Lower end of the 95 % interval of other minus base, by launch; None if the ratio has none.
        high_s: Its upper end.
        verdict: Whether the other is slower, by the ratio.
        small: The interval of the ratio excludes 1, but it is within the margin.
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
        """Extra time of the other, in seconds, between the times of the table."""
        return self.other_s - self.base_s

    @property
    def beyond_s(self) -> float | None:
        """Extra time by launch, in seconds: the middle of its interval; None if there is none."""
        return None if self.low_s is None or self.high_s is None else (self.low_s + self.high_s) / 2


@dataclass(frozen=True, slots=True)
class SizeRun:
    """Neighbouring sizes with one verdict."""

    verdict: Verdict
    at: tuple[SizeRatio, ...]

    @property
    def worst(self) -> SizeRatio:
        """Size whose ratio is farthest from 1."""
        return max(self.at, key=lambda ratio: abs(math.log(ratio.ratio.estimate)))


class SizePair(NamedTuple):
    """Ratio of two curves at one size.

    Attributes:
        sides: The launches that the ratio rests on.
        step: Steps of the clock over both times, in quadrature.
    """

    ratio: SizeRatio
    sides: TimePair
    step: float


def size_ratios(
    base: Iterable[Row],
    other: Iterable[Row],
    *,
    same_place: bool,
    paired: bool = True,
    within: RowRatios | None = None,
) -> list[SizeRatio]:
    """Return all sizes that both curves have, as of `size_pairs`."""
    pairs = size_pairs(base, other, same_place=same_place, paired=paired, within=within)
    return [one.ratio for one in pairs]


def size_pairs(
    base: Iterable[Row],
    other: Iterable[Row],
    *,
    same_place: bool,
    paired: bool = True,
    within: RowRatios | None = None,
) -> list[SizePair]:
    """Return all sizes that both curves have, rising, without those whose ratio has no interval.

    Args:
        same_place: Whether their ranks are to be equally far apart.
        paired: Whether launches of one number are of one moment: of one result.
        within: Comparisons that know their ratios; where they do not, the sizes of the two curves are a
            family of their own.
    """
    points = list(_points(base, other, same_place=same_place, paired=paired, within=within))
    steps = [math.hypot(one.time.step, two.time.step) for one, two, _ in points if one.time and two.time]
    known = [within.ratio(two, one) if within is not None else None for one, two, _ in points]
    if None in known:
        own_family = judged_together([sides for *_, sides in points], steps)
        known = [mine or other for mine, other in zip(known, own_family, strict=True)]
    return [
        size_pair(*point, ratio)
        for point, ratio in zip(points, known, strict=True)
        if ratio is not None and ratio.low is not None
    ]


def size_pair(base: Row, other: Row, sides: TimePair, ratio: Ratio) -> SizePair:
    """Return the ratio of two rows with a time, at the size of the base.

    Args:
        sides: The launches that the ratio rests on.
    """
    assert base.time is not None  # noqa: S101 - whoever has their ratio has both
    assert other.time is not None  # noqa: S101
    low_s, high_s = sides.difference(hidden(other.time, base.time))
    times_s = base.time.estimate, other.time.estimate
    point = SizeRatio(base.cell.bytes, *times_s, ratio, low_s, high_s, ratio.verdict, ratio.small)
    return SizePair(point, sides, math.hypot(base.time.step, other.time.step))


def _points(
    base: Iterable[Row],
    other: Iterable[Row],
    *,
    same_place: bool,
    paired: bool = True,
    within: RowRatios | None = None,
) -> Iterator[tuple[Row, Row, TimePair]]:
    """Yield both rows of each size, rising, and the launches that their ratio rests on."""
    rows, others = by_size(base), by_size(other)
    for size in sorted(rows.keys() & others):
        one, two = rows[size], others[size]
        if one.time is not None and two.time is not None:
            sides = within.launches(two, one) if within is not None else None
            own = like_times(two.time, one.time, _distances(two, one, same_place=same_place), paired=paired)
            # A comparison that matches launches by state has none of ranks of which some have no state.
            yield one, two, sides if sides is not None and sides.over else own


def _distances(over: Row, under: Row, *, same_place: bool) -> tuple[Distances, Distances]:
    return distances_apart(over, under) if same_place else ANYWHERE


def by_size(curve: Iterable[Row]) -> dict[int, Row]:
    """Return the rows of a curve by their size in bytes."""
    return {row.cell.bytes: row for row in curve}


def sizes_timed(curve: Iterable[Row]) -> set[int]:
    """Return the sizes in bytes at which a curve has a time."""
    return {row.cell.bytes for row in curve if row.time is not None}


def size_runs(points: Sequence[SizeRatio]) -> tuple[SizeRun, ...]:
    """Return runs of neighbouring sizes with one verdict."""
    found = runs(points, lambda one, two: one.verdict == two.verdict)
    return tuple(SizeRun(run[0].verdict, tuple(run)) for run in found)
