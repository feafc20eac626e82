"""Two curves side by side: at each size both times, their ratio and difference, and runs of one verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.rows.machine.conditions import distances_of
from mpigauge.rows.ratios import hidden, judged_together
from mpigauge.rows.same_distance import ANYWHERE, like_times
from mpigauge.sequences import runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.compare.within import RowRatios
    from mpigauge.rows.machine.conditions import Distances
    from mpigauge.rows.ratios import Ratio, TimePair
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import Verdict


@dataclass(frozen=True, slots=True)
class Beside:
    """Two times at one size.

    Attributes:
        base_s: As tables have it.
        other_s: The same of the other. Their ratio is of launches in pairs, and not of these two.
        ratio: How many times as long the other takes as the base, and what that says.
        low_s: Lower end of the 95 % interval of other minus base, launch by launch; None if the ratio is not.
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
        """By how much the other takes longer."""
        return self.other_s - self.base_s

    @property
    def beyond_s(self) -> float | None:
        """Extra time by launch, s: the middle of its interval; None if there is none."""
        return None if self.low_s is None or self.high_s is None else (self.low_s + self.high_s) / 2


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring sizes with one verdict."""

    verdict: Verdict
    at: tuple[Beside, ...]

    @property
    def worst(self) -> Beside:
        """The size with the ratio that is farthest from 1."""
        return max(self.at, key=lambda one: abs(math.log(one.ratio.estimate)))


def besides(
    base: Iterable[Row],
    other: Iterable[Row],
    *,
    same_place: bool,
    paired: bool = True,
    within: RowRatios | None = None,
) -> list[Beside]:
    """Return all sizes that both curves have, rising, without those whose ratio has no interval.

    Args:
        same_place: Whether their ranks are to be equally far apart.
        paired: Whether launches of one number are of one moment: of one result.
        within: What a comparison says of them; where it says nothing, the sizes of the two curves are a
            family of their own.
    """
    rows, others = by_size(base), by_size(other)
    points = [
        (
            rows[size],
            others[size],
            like_times(two.time, one.time, _distances(two, one, same_place=same_place), paired=paired),
        )
        for size in sorted(rows.keys() & others)
        for one, two in [(rows[size], others[size])]
        if one.time is not None and two.time is not None
    ]
    known = [within.ratio(two, one) if within is not None else None for one, two, _ in points]
    if None in known:
        steps = [math.hypot(one.time.step, two.time.step) for one, two, _ in points if one.time and two.time]
        alone = judged_together([sides for *_, sides in points], steps)
        known = [mine or other for mine, other in zip(known, alone, strict=True)]
    return [
        _beside(*point, ratio)
        for point, ratio in zip(points, known, strict=True)
        if ratio is not None and ratio.low is not None
    ]


def _distances(over: Row, under: Row, *, same_place: bool) -> tuple[Distances, Distances]:
    return (distances_of(over.visits), distances_of(under.visits)) if same_place else ANYWHERE


def _beside(base: Row, other: Row, sides: TimePair, ratio: Ratio) -> Beside:
    assert base.time is not None  # noqa: S101 - both have one
    assert other.time is not None  # noqa: S101
    low_s, high_s = sides.difference(hidden(other.time, base.time))
    times_s = base.time.estimate, other.time.estimate
    return Beside(base.cell.bytes, *times_s, ratio, low_s, high_s, ratio.verdict, ratio.small)


def by_size(curve: Iterable[Row]) -> dict[int, Row]:
    """The rows of a curve by their size in bytes."""
    return {row.cell.bytes: row for row in curve}


def stretches(points: Sequence[Beside]) -> tuple[Stretch, ...]:
    """Return runs of neighbouring sizes with one verdict."""
    found = runs(points, lambda one, two: one.verdict == two.verdict)
    return tuple(Stretch(run[0].verdict, tuple(run)) for run in found)
