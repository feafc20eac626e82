"""The verdict on each cell of a comparison, with its interval, and the error rate of each word.

    slower       beyond chance for all cells together (max_t.py), by the margin or more, its interval above 1
    faster       likewise, in the other direction
    same         an interval of this cell alone lies within the margin
    undecided    none of these

Three thresholds have three jobs: `INSTRUMENT` is what no two builds can be promised to differ by less than,
the margin is what matters, and `allow` what a pass must exclude.

Neighbouring sizes of a curve are judged as one number, too, since a difference of a protocol is never at
one size alone. The differences of a run of sizes are pooled by launch, and all runs of all curves are a
family of their own: the ratio of a run has an interval that holds for all runs at once, and picking the one
of largest t costs nothing. Source: docs/method-comparison.md#comparison
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats import special
from mpigauge.stats.interval import MAX_DISTANCE, Number
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
from mpigauge.stats.max_t import LEVEL, MIN_PAIRS, Paired, joint_reach, p_values_beyond
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.stats.max_t import Family
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import Verdict

INSTRUMENT = 0.01
"""Relative difference of two measurements of one thing, by binary layout, placement of ranks and the like."""

MARGIN = 0.03
ALLOW = 0.10

RUNS_SHARE = 0.2
"""Share of the error level for runs of sizes, if there are any; single cells have the rest."""

POWER = 0.8
"""Share of comparisons in which a detectable difference is found."""

SURE = 0.9
"""Share of comparisons whose launches vary no more than assumed: a few are often alike by luck."""

TIMES_MARGIN = 2
MAX_LAUNCHES = 1000
"""More are not advised."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The thresholds of a comparison, as fractions.

    Attributes:
        margin: A difference that is smaller does not matter.
        allow: What must be excluded for a pass.
        level: The error of a verdict: one minus what its intervals hold.
        families: Families of cells, such as those of each state of the machine, that are judged each for
            itself and share that error.
    """

    margin: float = MARGIN
    allow: float = ALLOW
    level: float = LEVEL
    families: int = 1

    @property
    def shared_level(self) -> float:
        """The error of all cells of one family together."""
        return self.level / self.families


def bounds(margin: float = MARGIN) -> tuple[float, float]:
    """Return the ratios between which a difference is within the margin, which is symmetric."""
    return 1 / (1 + margin), 1 + margin


@dataclass(frozen=True, slots=True)
class Ratio(Number):
    """How many times as long one thing takes as another, over how many launches have both.

    It is the winsorised geometric mean of the ratios, one per launch; unpaired, the ratio of two means, of as
    many launches as the side has that has fewer.

    Attributes:
        paired: Whether it was formed launch by launch.
        verdict: Whether the one is slower than the other.
        small: Its interval excludes 1, but it is within the margin.
        needed: Launches after which a difference of twice the margin would be found in four of five
            comparisons; None where nobody has asked, or of more than a thousand.
    """

    paired: bool = True
    verdict: Verdict = "undecided"
    small: bool = False
    needed: int | None = None

    @property
    def excludes_one(self) -> bool:
        """Whether its interval excludes 1: that there is a difference, whatever it matters."""
        return self._is_beyond(1.0, 1.0)

    @property
    def awaits_launches(self) -> bool:
        """Whether its interval is beyond the margin, and nothing but launches is missing for a verdict."""
        return self.launches < LAUNCHES_OF_A_VERDICT and self._is_beyond(*bounds())

    def _is_beyond(self, least: float, most: float) -> bool:
        return self.low is not None and self.high is not None and (self.high < least or self.low > most)

    @property
    def turned(self) -> Ratio:
        """The other over the one."""
        words: dict[Verdict, Verdict] = {"slower": "faster", "faster": "slower"}
        ends = (1 / end if end else None for end in (self.high, self.low))
        word = words.get(self.verdict, self.verdict)
        low, high = ends
        return replace(self, estimate=1 / self.estimate, low=low, high=high, verdict=word)


@dataclass(frozen=True, slots=True)
class Decision(Ratio):
    """The verdict on one cell of a family.

    Attributes:
        low: Lower end of the interval that holds for all cells at once, at 95 %.
        high: Its upper end.
        bound: What the ratio does not exceed, of this cell alone, at 95 %.
        p: Adjusted for all cells: of differences in this direction.
        missed: The difference, as a fraction, that would be missed in one of five such comparisons.
        t: Logarithm of the ratio over its standard error.
    """

    low: float = 0.0
    high: float = math.inf
    bound: float = math.inf
    p: float = 1.0
    missed: float = math.inf
    t: float = 0.0

    def passes(self, allow: float) -> bool:
        """Return whether the cell is certainly not slower by more than `allow`."""
        return self.bound <= 1 + allow


def verdicts(family: Family, thresholds: Thresholds, share: float = 1.0) -> list[Verdict]:
    """Return the verdicts without their numbers, which takes less time."""
    sides = p_values_beyond(family, float(np.log1p(INSTRUMENT)))
    return list(_verdicts(family, thresholds, sides, joint_reach(family, thresholds.shared_level), share))


def decide(family: Family, thresholds: Thresholds, share: float = 1.0) -> list[Decision]:
    """Return the decision on each cell of a family, in its order.

    Args:
        share: Share of the error level for the words "slower" and "faster"; intervals have all of it.
    """
    slower, faster = p_values_beyond(family, float(np.log1p(INSTRUMENT)))
    joint = joint_reach(family, thresholds.shared_level)
    words = _verdicts(family, thresholds, (slower, faster), joint, share)
    bar = Threshold(INSTRUMENT, thresholds.margin, share)
    misses, launches = (
        detectable_differences(family, joint, bar),
        launches_for_power(family, joint, bar, LAUNCHES_OF_A_VERDICT),
    )
    one_sided = special.stdtrit(family.freedom, 1 - thresholds.level)
    p = np.where(family.mean > 0, slower, faster)
    half = np.minimum(joint * family.error, MAX_DISTANCE)
    low, high = np.exp(family.mean - half), np.exp(family.mean + half)
    small = ((low > 1) | (high < 1)) & (np.abs(family.mean) < np.log1p(thresholds.margin))
    return [
        Decision(
            float(np.exp(family.mean[cell])),
            low=float(low[cell]),
            high=float(high[cell]),
            bound=float(np.exp(family.mean[cell] + min(one_sided[cell] * family.error[cell], MAX_DISTANCE))),
            p=float(p[cell]),
            verdict=word,
            small=bool(small[cell]),
            missed=float(misses[cell]),
            needed=launches[cell],
            launches=int(family.launches[cell]),
            t=float(family.mean[cell] / family.error[cell]),
        )
        for cell, word in enumerate(words)
    ]


def _verdicts(
    family: Family, thresholds: Thresholds, sides: tuple[Values, Values], joint: Values, share: float
) -> Iterator[Verdict]:
    """Yield the word for each cell, by the chances that it is slower and that it is faster."""
    enough, level = np.log1p(thresholds.margin), thresholds.shared_level * share
    one_sided = special.stdtrit(family.freedom, 1 - thresholds.level) * family.error
    slower, faster = sides
    for cell, mean in enumerate(family.mean):
        clear = abs(mean) > joint[cell] * family.error[cell]
        if clear and slower[cell] <= level and mean >= enough:
            yield "slower"
        elif clear and faster[cell] <= level and mean <= -enough:
            yield "faster"
        else:
            yield "same" if abs(mean) + one_sided[cell] <= enough else "undecided"


# ---- Power -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Threshold:
    """What an estimate must exceed to be called slower, as fractions.

    Attributes:
        instrument: Difference that must be exceeded beyond chance.
        margin: Difference that the estimate itself must exceed.
        words: Share of the error level for words; intervals have all of it.
    """

    instrument: float
    margin: float
    words: float = 1.0

    def found(self, error: Values, freedom: Values, share: Values) -> Values:
        """Return the differences that four of five comparisons find, as logarithms, shape ``(cells,)``.

        Args:
            error: Standard errors.
            freedom: Their degrees of freedom.
            share: Error level of each cell in a verdict on all of them.
        """
        either = special.stdtrit(freedom, 1 - share / 2) * error
        beyond = np.log1p(self.instrument) + special.stdtrit(freedom, 1 - self.words * share) * error
        least = np.maximum(np.maximum(either, beyond), np.log1p(self.margin))
        return np.asarray(least + special.stdtrit(freedom, POWER) * error)


def detectable_differences(family: Family, joint: Values, bar: Threshold) -> Values:
    """Return the difference per cell, as a fraction, that one of five such comparisons would miss.

    Args:
        joint: How many standard errors the intervals reach that hold for all cells at once.
    """
    return np.asarray(np.expm1(bar.found(family.error, family.freedom, _error_level(family, joint))))


def launches_for_power(family: Family, joint: Values, bar: Threshold, least: int) -> list[int | None]:
    """Return the launches after which twice the margin would be found in four of five comparisons.

    None for more than a thousand.

    Args:
        joint: How many standard errors the joint intervals of all cells reach.
        least: The smallest number to return.
    """
    share, wanted = _error_level(family, joint), np.log1p(TIMES_MARGIN * bar.margin)
    variance = family.spread**2 * family.freedom / special.chdtri(family.freedom, SURE)
    low, high = np.full(len(share), least), np.full(len(share), MAX_LAUNCHES + 1)
    while (searching := low < high).any():
        middle = (low + high) // 2
        error = np.sqrt(variance / middle + family.floor)
        enough = bar.found(error, middle - 1.0, share) <= wanted
        high = np.where(searching & enough, middle, high)
        low = np.where(searching & ~enough, middle + 1, low)
    return [int(number) if number <= MAX_LAUNCHES else None for number in high]


def _error_level(family: Family, joint: Values) -> Values:
    """Return the error level of one cell whose interval reaches `joint` standard errors."""
    return np.asarray(2 * special.stdtr(family.freedom, -joint))


MIN_CELLS = 2
LONGER = 1.2
"""Runs of each length up to 10 sizes are tried, then of lengths that grow by this factor."""


@dataclass(frozen=True, slots=True)
class PooledRun:
    """Neighbouring sizes of a curve with one decision for all of them.

    Attributes:
        cells: Their places in the family, from the smallest size to the largest.
        decision: Its ratio is the geometric mean over the sizes.
    """

    cells: tuple[int, ...]
    decision: Decision


def pooled_runs(family: Paired, curves: Sequence[Sequence[int]], thresholds: Thresholds) -> list[PooledRun]:
    """Return the runs that are slower or faster; of those that overlap, the one of largest t.

    A run ends, on either side, at a size that reaches the margin by itself.

    Args:
        curves: Places in the family of each curve's cells, in the order of their sizes.
        thresholds: Those of the whole comparison; runs have `RUNS_SHARE` of its error level.
    """
    tried = [run for curve in curves for run in _runs(curve)]
    pooled = np.array([family.differences[:, run].mean(axis=1) for run in tried]).T
    enough = np.isfinite(pooled).sum(axis=0) >= MIN_PAIRS if tried else np.zeros(0, dtype=bool)
    if not enough.any():
        return []
    floor = np.array([family.floor[run].mean() for run in tried])
    of_runs = Paired(pooled[:, enough], floor[enough], thresholds.shared_level * RUNS_SHARE)
    known = [tuple(run) for run, judged in zip(tried, enough, strict=True) if judged]
    different = [
        PooledRun(cells, one)
        for cells, one in zip(known, decide(of_runs, thresholds, RUNS_SHARE), strict=True)
        if one.verdict in DIFFERENT and _reaches(family.mean[list(cells)], float(np.log1p(thresholds.margin)))
    ]
    return _disjoint(different)


def _reaches(means: Values, margin: float) -> bool:
    """Return whether both ends of a run reach the margin, and the mean without the size that differs most.

    That size alone makes no run differ.
    """
    means = means * np.sign(means.sum())
    without_most = (means.sum() - means.max()) / (len(means) - 1)
    return bool(min(without_most, means[0], means[-1]) >= margin)


def _runs(curve: Sequence[int]) -> Iterator[list[int]]:
    """Yield runs of neighbouring cells of a curve, of growing length, at every place."""
    length = MIN_CELLS
    while length <= len(curve):
        yield from (list(curve[begin : begin + length]) for begin in range(len(curve) - length + 1))
        length = max(length + 1, int(length * LONGER))


def _disjoint(runs: Sequence[PooledRun]) -> list[PooledRun]:
    """Return the runs of largest t that share no cell, in the order of their cells."""
    kept: list[PooledRun] = []
    for run in sorted(runs, key=lambda run: -abs(run.decision.t)):
        if not any(set(run.cells) & set(other.cells) for other in kept):
            kept.append(run)
    return sorted(kept, key=lambda run: run.cells)
