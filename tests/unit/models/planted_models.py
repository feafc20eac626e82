"""Campaigns of a machine whose segments are known, to be found again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.models.model import Points
from mpigauge.stats.interval import interval_of

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that sends in segments.

    Attributes:
        segments: Of each the largest size, alpha in seconds and beta in seconds per byte.
        common: What launches differ by in all sizes, relative.
        own: And in each size by itself.
        misfit: What no line describes, the same in all launches.
        odd: The share of launches that are 1.5 times as slow.
    """

    segments: tuple[tuple[float, float, float], ...] = (
        (4040, 250e-9, 1 / 6e9),
        (262_144, 900e-9, 1 / 9e9),
        (np.inf, 12e-6, 1 / 5e9),
    )
    common: float = 0.01
    own: float = 0.01
    misfit: float = 0.0
    odd: float = 0.0
    sizes: Values = field(default_factory=lambda: sizes_to(2**24, 44))

    @property
    def breaks(self) -> list[int]:
        """The first size of every segment but the first."""
        return [int(np.searchsorted(self.sizes, most, side="right")) for most, _, _ in self.segments[:-1]]

    def times(self, sizes: Values) -> Values:
        """Without noise, in seconds."""
        conditions = [sizes <= most for most, _, _ in self.segments]
        return np.select(conditions, [alpha + beta * sizes for _, alpha, beta in self.segments])

    def campaign(
        self, chance: np.random.Generator, launches: int = 10, limits: tuple[int, ...] = ()
    ) -> Points:
        """The points of a campaign of so many launches."""
        count = self.sizes.size
        curve = np.log(self.times(self.sizes)) + self.misfit * chance.normal(size=count)
        common, own = chance.normal(size=(launches, 1)), chance.normal(size=(launches, count))
        logs = curve + self.common * common + self.own * own
        if self.odd:
            logs += np.log(1.5) * (chance.random((launches, 1)) < self.odd)
        return Points(self.sizes, centres(logs), logs, limits)


def centres(launches: Values) -> Values:
    """What tables have of launches of every size, as logarithms."""
    return np.log([interval_of(times_s).estimate for times_s in np.exp(launches).T])


ONE_LINE = ((np.inf, 1e-6, 1e-9),)


def sizes_to(last: int, count: int) -> Values:
    """About so many sizes from 1 B on, at equal factors."""
    return np.unique(np.round(np.geomspace(1, last, count))).astype(float)
