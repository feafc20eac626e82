"""Two curves compared: their ratio and difference at each size, runs of one verdict, pieces told together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.rows.ratios import TimePair, hidden, judged_together, ratio_of
from mpigauge.rows.same_distance import ANYWHERE, distances_apart, like_times
from mpigauge.sequences import runs
from mpigauge.stats.decision import bounds
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.compare.within import RowRatios
    from mpigauge.rows.machine.conditions import Distances
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import Verdict


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


@dataclass(frozen=True, slots=True)
class SizePiece:
    """Neighbouring sizes that are told together.

    Attributes:
        verdict: The one of its sizes; of a piece without a difference, that of most of them.
        sizes_bytes: Its sizes, rising.
        apart_bytes: Those of them with another verdict: undecided, in a piece with a difference; in one
            without, whichever of undecided and no difference is rarer.
        least: The smallest ratio of its sizes.
        most: The largest.
        pooled: Ratio over all of its sizes, the geometric mean of each launch; None if few launches have all.
        needed: Launches after which all of its undecided sizes would tell; None if that is not known.
    """

    verdict: Verdict
    sizes_bytes: tuple[int, ...]
    apart_bytes: tuple[int, ...]
    least: float
    most: float
    pooled: Ratio | None
    needed: int | None


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
        SizePair(_size_ratio(*point, ratio), point[-1], step)
        for point, ratio, step in zip(points, known, steps, strict=True)
        if ratio is not None and ratio.low is not None
    ]


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


def _size_ratio(base: Row, other: Row, sides: TimePair, ratio: Ratio) -> SizeRatio:
    assert base.time is not None  # noqa: S101 - both have one
    assert other.time is not None  # noqa: S101
    low_s, high_s = sides.difference(hidden(other.time, base.time))
    times_s = base.time.estimate, other.time.estimate
    return SizeRatio(base.cell.bytes, *times_s, ratio, low_s, high_s, ratio.verdict, ratio.small)


def by_size(curve: Iterable[Row]) -> dict[int, Row]:
    """Return the rows of a curve by their size in bytes."""
    return {row.cell.bytes: row for row in curve}


def size_runs(points: Sequence[SizeRatio]) -> tuple[SizeRun, ...]:
    """Return runs of neighbouring sizes with one verdict."""
    found = runs(points, lambda one, two: one.verdict == two.verdict)
    return tuple(SizeRun(run[0].verdict, tuple(run)) for run in found)


# ---- Pieces --------------------------------------------------------------------------------------


def size_pieces(pairs: Sequence[SizePair]) -> tuple[SizePiece, ...]:
    """Return neighbouring sizes that are told together, with one number for each piece.

    A size at which nobody can tell belongs to the difference around it, if its own ratio lies on that side:
    one weak difference would else be cut by noise into many.

    Source:
        docs/method-comparison.md#conclusions
    """
    words = _joined_words([one.ratio for one in pairs])
    found = runs(
        list(zip(pairs, words, strict=True)), lambda one, two: one[1] == two[1] or not _differ(one, two)
    )
    return tuple(_piece([pair for pair, _ in run], run[0][1]) for run in found)


def _differ(one: tuple[SizePair, Verdict], two: tuple[SizePair, Verdict]) -> bool:
    return not DIFFERENT.isdisjoint({one[1], two[1]})


def _joined_words(points: Sequence[SizeRatio]) -> list[Verdict]:
    """Return the verdict of each size; where it is undecided, perhaps that of a neighbour."""
    words = [one.verdict for one in points]
    return [_joined_word(points, words, place) for place in range(len(points))]


def _joined_word(points: Sequence[SizeRatio], words: Sequence[Verdict], place: int) -> Verdict:
    """Return the verdict of a size: undecided is what both decided neighbours are, on their side of 1.

    Where only one of them differs, its own ratio must lie beyond the margin.
    """
    if words[place] != "undecided":
        return words[place]
    least, most = bounds()
    estimate = points[place].ratio.estimate
    before = next((word for word in reversed(words[:place]) if word != "undecided"), None)
    after = next((word for word in words[place + 1 :] if word != "undecided"), None)
    sides: dict[Verdict, tuple[bool, bool]] = {
        "slower": (estimate > 1, estimate >= most),
        "faster": (estimate < 1, estimate <= least),
    }
    for word, (on_its_side, beyond) in sides.items():
        if (before == after == word and on_its_side) or (word in {before, after} and beyond):
            return word
    return "undecided"


def _piece(pairs: Sequence[SizePair], word: Verdict) -> SizePiece:
    points = [one.ratio for one in pairs]
    if word not in DIFFERENT:
        same = sum(one.verdict == "same" for one in points)
        word = "same" if 2 * same >= len(points) else "undecided"
    estimates = [one.ratio.estimate for one in points]
    return SizePiece(
        verdict=word,
        sizes_bytes=tuple(one.bytes for one in points),
        apart_bytes=tuple(one.bytes for one in points if one.verdict != word),
        least=min(estimates),
        most=max(estimates),
        pooled=points[0].ratio if len(points) == 1 else _pooled(pairs),
        needed=launches_needed([one for one in points if one.verdict == "undecided"]),
    )


def launches_needed(points: Sequence[SizeRatio]) -> int | None:
    """Return after how many launches sizes would tell that are undecided; None if not known of all."""
    needed = [LAUNCHES_OF_A_VERDICT if one.ratio.awaits_launches else one.ratio.needed for one in points]
    most = max((one for one in needed if one is not None), default=0)
    launches = min((one.ratio.launches for one in points), default=0)
    return None if None in needed or most <= launches else most


def _pooled(pairs: Sequence[SizePair]) -> Ratio | None:
    """Return the ratio over several sizes, of the launches that have all of them in pairs."""
    if not all(one.sides.paired for one in pairs):
        return None
    common = set.intersection(*(set(one.sides.over) for one in pairs))
    logs = {
        launch: fmean(math.log(one.sides.over[launch] / one.sides.under[launch]) for one in pairs)
        for launch in common
    }
    if len(common) < LAUNCHES_OF_A_VERDICT:
        return None
    step = math.sqrt(fmean(one.step**2 for one in pairs))
    over = {launch: math.exp(log) for launch, log in logs.items()}
    return ratio_of(over, dict.fromkeys(common, 1.0), paired=True, clock_step=step)
