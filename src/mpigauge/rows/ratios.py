"""One time over another: paired where the same launches have both, else by how launches of each differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.decision import Ratio, Thresholds, decide, verdicts
from mpigauge.stats.interval import MAX_DISTANCE, UNIFORM_VARIANCE, difference_interval
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT, PROMISED
from mpigauge.stats.max_t import Family, Paired, Unpaired, joint_reach

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from mpigauge.rows.estimate import Timing
    from mpigauge.stats.decision import Decision
    from mpigauge.stats.interval import Number
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import Verdict

_LEAST = 2

PAIRED_SHARE = 0.8
"""Of the launches of the side that has more: with fewer in common, they are compared unpaired."""


def ratio_from(decision: Decision, *, paired: bool, verdict: Verdict | None = None) -> Ratio:
    """Return what a comparison says of two cells, as a ratio.

    Args:
        verdict: What it may say, if that is not the word of the decision.
    """
    if verdict is None:
        verdict = decision.verdict if decision.launches >= LAUNCHES_OF_A_VERDICT else "undecided"
    return Ratio(*decision.ends, decision.launches, paired, verdict, decision.small, decision.needed)


def verdict_of(ratio: Ratio | None) -> Verdict:
    """Return the word of a ratio; undecided where there is none."""
    return "undecided" if ratio is None else ratio.verdict


@dataclass(frozen=True, slots=True)
class TimePair:
    """Times of launches that are held against each other.

    Attributes:
        over: Launch number to the launch's time in seconds.
        under: The same of what it is compared with; of the same launches if they are paired.
        paired: Whether they are compared launch by launch.
    """

    over: Mapping[int, float]
    under: Mapping[int, float]
    paired: bool

    def ratio(self, clock_step: float = 0.0) -> Ratio | None:
        """Return how many times as long the one takes as the other; None as of `ratio_of`."""
        over, under = _logs(self.over), _logs(self.under)
        if over is None or under is None:
            return None
        floor = np.array([clock_step**2 * UNIFORM_VARIANCE])
        count = min(over.size, under.size)
        if count < _LEAST:
            return Ratio(math.exp(over.mean() - under.mean()), None, None, count, self.paired)
        if self.paired:
            return _alone(Paired((over - under)[:, None], floor), paired=True)
        return _alone(Unpaired(under[:, None], over[:, None], floor), paired=False)

    def difference(self, hidden_s: float = 0.0) -> tuple[float, float] | tuple[None, None]:
        """Return the 95 % interval of what one takes beyond the other, in seconds; None twice if not paired.

        Args:
            hidden_s: What the steps of the clock hide of it.
        """
        if not self.paired:
            return None, None
        beyond_s = np.array([self.over[launch] - self.under[launch] for launch in self.over])
        _, low, high = difference_interval(beyond_s, hidden_s).ends
        return (None, None) if low is None or high is None else (low, high)


def compared(
    over: Mapping[int, float], under: Mapping[int, float], *, paired: bool, apart: Collection[int] = ()
) -> TimePair:
    """Return the launches that a ratio rests on: arguments as of `ratio_of`."""
    common = sorted(over.keys() & under.keys() - set(apart))
    if paired and len(common) >= max(_LEAST, PAIRED_SHARE * max(len(over), len(under))):
        over, under = ({launch: side[launch] for launch in common} for side in (over, under))
        return TimePair(over, under, paired=True)
    return TimePair(over, under, paired=False)


def ratio_of(
    over: Mapping[int, float],
    under: Mapping[int, float],
    *,
    paired: bool,
    clock_step: float = 0.0,
    apart: Collection[int] = (),
) -> Ratio | None:
    """Return how many times as long one thing takes as another.

    Args:
        over: Launch number to the launch's time in seconds.
        under: The same of what it is compared with.
        paired: Launches of one number belong together: those of one campaign. They are compared in pairs if
            there are two at least, and four fifths of the launches of the side that has more.
        clock_step: Steps of the clock over both times, in quadrature.
        apart: Numbers of launches whose two times may be of different processes, which make no pair.

    Returns:
        None if a time is not positive and finite, or one of them has no launch.

    Source:
        docs/method-comparison.md#ratios; not paired, Welch's interval on the logarithms of times of launches.
    """
    return compared(over, under, paired=paired, apart=apart).ratio(clock_step)


def judged_together(sides: Sequence[TimePair], clock_steps: Sequence[float]) -> list[Ratio | None]:
    """Return the ratios of several, as one family: their intervals and words hold for all of them at once.

    Args:
        clock_steps: As of `ratio_of`, of each.
    """
    found: list[Ratio | None] = [one.ratio(step) for one, step in zip(sides, clock_steps, strict=True)]
    floor = np.square(clock_steps) * UNIFORM_VARIANCE
    for paired in (True, False):
        places = [
            at
            for at, (one, ratio) in enumerate(zip(sides, found, strict=True))
            if one.paired == paired and ratio is not None and ratio.low is not None
        ]
        if places:
            over, under = (
                log_matrix([getattr(sides[at], name) for at in places]) for name in ("over", "under")
            )
            family = Paired(over - under, floor[places]) if paired else Unpaired(under, over, floor[places])
            for at, decision in zip(places, decide(family, Thresholds()), strict=True):
                found[at] = ratio_from(decision, paired=paired)
    return found


def log_matrix(cells: Sequence[Mapping[int, float]]) -> Values:
    """Return logarithms of times, shape ``(launches, cells)``; NaN where a cell was not measured."""
    numbers = sorted({number for cell in cells for number in cell})
    return np.log([[cell.get(number, math.nan) for cell in cells] for number in numbers])


def difference(over: Timing, under: Timing) -> Number | None:
    """Return what one takes beyond the other, in seconds, launch by launch, with a 95 % interval.

    Returns:
        None with fewer than two launches that have both.

    Source:
        docs/method-comparison.md#ratios
    """
    common = over.by_launch.keys() & under.by_launch.keys() - over.in_parts - under.in_parts
    if len(common) < _LEAST:
        return None
    beyond_s = np.array([over.by_launch[launch] - under.by_launch[launch] for launch in common])
    floor_s = PROMISED * math.hypot(over.estimate, under.estimate)
    return difference_interval(beyond_s, hidden(over, under), machine=floor_s)


def hidden(over: Timing, under: Timing) -> float:
    """Return what the steps of the clock hide of the difference of two times, in seconds."""
    return math.hypot(over.step * over.estimate, under.step * under.estimate)


def _logs(times: Mapping[int, float]) -> Values | None:
    """Return logarithms of times of launches; None if there are none or one is not positive and finite."""
    chosen = [*times.values()]
    return np.log(chosen) if chosen and all(0 < time < math.inf for time in chosen) else None


def _alone(family: Family, *, paired: bool) -> Ratio:
    """Return the only cell of a family."""
    thresholds = Thresholds()
    mean, half = float(family.mean[0]), float((joint_reach(family, thresholds.level) * family.error)[0])
    launches = int(family.launches[0])
    verdict = verdicts(family, thresholds)[0] if launches >= LAUNCHES_OF_A_VERDICT else "undecided"
    small = abs(mean) > half and abs(mean) < math.log1p(thresholds.margin)
    growth = math.exp(min(half, MAX_DISTANCE))
    centre = math.exp(mean)
    return Ratio(centre, centre / growth, centre * growth, launches, paired, verdict, small)


def below_from(sizes_bytes: Sequence[int], ratios: Sequence[float], limit: float) -> int | None:
    """Return the smallest size from which on the ratio of every measured size is below the limit.

    Args:
        sizes_bytes: In any order; size 0 does not count.
        ratios: One for each size; NaN is not below.
        limit: What they are to be below.

    Returns:
        None if the largest size is not below the limit, or there is none.

    Raises:
        ValueError: If there are not as many ratios as sizes.
    """
    measured = [(size, ratio) for size, ratio in zip(sizes_bytes, ratios, strict=True) if size > 0]
    last_above = max((size for size, ratio in measured if not ratio < limit), default=0)
    return min((size for size, _ in measured if size > last_above), default=None)
