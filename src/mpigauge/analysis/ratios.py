"""One time over another: paired where the same launches have both, else by how launches of each differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.analysis.interval import launch_interval, student, with_step

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from mpigauge.analysis.estimate import Timing
    from mpigauge.analysis.percentiles import Values

_LEAST = 2

PAIRED_SHARE = 0.8
"""Of the launches of the side that has more: with fewer in common, they are compared unpaired."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as long one thing takes as another.

    Attributes:
        estimate: Geometric mean of the ratios, one per launch; of unpaired launches the ratio of their means.
        low: Lower end of the 95 % t interval on their logarithms; None for one launch.
        high: Its upper end.
        launches: How many launches have both; of unpaired ones, those of the side that has fewer.
        paired: Whether it was formed launch by launch.
    """

    estimate: float
    low: float | None
    high: float | None
    launches: int
    paired: bool = True


@dataclass(frozen=True, slots=True)
class Compared:
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
        """How many times as long the one takes as the other; None as of `ratio_of`."""
        logs = _logs(self.over), _logs(self.under)
        return _paired(*logs, clock_step) if self.paired else _welch(*logs, clock_step)

    def difference(self, hidden_s: float = 0.0) -> tuple[float, float] | tuple[None, None]:
        """95 % t interval of what the one takes beyond the other, in seconds; None twice if not paired.

        Args:
            hidden_s: What the steps of the clock hide of it.
        """
        if not self.paired:
            return None, None
        return _beyond([self.over[launch] - self.under[launch] for launch in self.over], hidden_s)


def compared(
    over: Mapping[int, float], under: Mapping[int, float], *, paired: bool, apart: Collection[int] = ()
) -> Compared:
    """The launches that a ratio rests on: arguments as of `ratio_of`."""
    common = sorted(over.keys() & under.keys() - set(apart))
    if paired and len(common) >= max(_LEAST, PAIRED_SHARE * max(len(over), len(under))):
        over, under = ({launch: side[launch] for launch in common} for side in (over, under))
        return Compared(over, under, paired=True)
    return Compared(over, under, paired=False)


def ratio_of(
    over: Mapping[int, float],
    under: Mapping[int, float],
    *,
    paired: bool,
    clock_step: float = 0.0,
    apart: Collection[int] = (),
) -> Ratio | None:
    """How many times as long one thing takes as another.

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
        docs/method.md#ratios; not paired, Welch's interval on the logarithms of the times of launches.
    """
    return compared(over, under, paired=paired, apart=apart).ratio(clock_step)


def difference(over: Timing, under: Timing) -> tuple[float, float] | tuple[None, None]:
    """95 % t interval of what one cell takes beyond another, in seconds, launch by launch.

    Returns:
        None twice with fewer than two launches that have both.

    Source:
        docs/method.md#ratios
    """
    common = over.by_launch.keys() & under.by_launch.keys() - over.in_parts - under.in_parts
    beyond_s = [over.by_launch[launch] - under.by_launch[launch] for launch in common]
    return _beyond(beyond_s, hidden(over, under)) if len(beyond_s) >= _LEAST else (None, None)


def hidden(over: Timing, under: Timing) -> float:
    """What the steps of the clock hide of the difference of two times, in seconds."""
    return math.hypot(over.step * over.estimate, under.step * under.estimate)


def _beyond(apart_s: Sequence[float], hidden_s: float) -> tuple[float, float]:
    apart = np.array(apart_s)
    error = float(apart.std(ddof=1)) / math.sqrt(apart.size)
    half = with_step(student(apart.size - 1) * error, hidden_s)
    return float(apart.mean()) - half, float(apart.mean()) + half


def _logs(times: Mapping[int, float]) -> Values | None:
    """Of the times of launches; None if there are none or one is not positive and finite."""
    chosen = [*times.values()]
    return np.log(chosen) if chosen and all(0 < time < math.inf for time in chosen) else None


def _paired(over: Values | None, under: Values | None, clock_step: float) -> Ratio | None:
    """What a launch does to both cancels, so this is narrower than the ratio of two intervals."""
    if over is None or under is None:
        return None
    centre, low, high, _ = launch_interval(np.exp(over - under), clock_step)
    return Ratio(centre, low, high, over.size)


def _welch(over: Values | None, under: Values | None, clock_step: float) -> Ratio | None:
    if over is None or under is None:
        return None
    centre, count = math.exp(over.mean() - under.mean()), min(over.size, under.size)
    if count < _LEAST:
        return Ratio(centre, None, None, count, paired=False)
    shares = [float(one.var(ddof=1)) / one.size for one in (over, under)]
    error = sum(shares)
    distance = student(_freedom(shares, (over.size, under.size))) * math.sqrt(error) if error > 0 else 0.0
    growth = math.exp(with_step(distance, clock_step))
    return Ratio(centre, centre / growth, centre * growth, count, paired=False)


def _freedom(shares: Sequence[float], sizes: Sequence[int]) -> float:
    """Degrees of freedom of Welch and Satterthwaite."""
    return sum(shares) ** 2 / sum(share**2 / (size - 1) for share, size in zip(shares, sizes, strict=True))


def below_from(sizes_bytes: Sequence[int], ratios: Sequence[float], limit: float) -> int | None:
    """The smallest size from which on the ratio of every measured size is below the limit.

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
