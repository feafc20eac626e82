"""Ratios of what was measured in like conditions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Protocol

from mpigauge.rows.group import OfCell
from mpigauge.rows.machine.conditions import distances_of, in_like_conditions
from mpigauge.rows.ratios import TimePair, compared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.records import Visit
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.machine.conditions import Distances
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import Distance

ANYWHERE: tuple[Distances, Distances] = ({}, {})


class OfVisits(OfCell, Protocol):
    """A row, or whatever else is of visits of a cell."""

    @property
    def visits(self) -> Sequence[Visit]:
        """The visits that it rests on."""


def distances_apart(over: OfVisits, under: OfVisits) -> tuple[Distances, Distances]:
    """Return how far apart the ranks of two were in their launches; nothing if both are of one state.

    A state is a distance already: by its readings launches of it would be left out at random.
    """
    if over.of.state is not None and over.of.state == under.of.state:
        return ANYWHERE
    return distances_of(over.visits), distances_of(under.visits)


def like_times(
    over: Timing, under: Timing, at: tuple[Distances, Distances] = ANYWHERE, *, paired: bool = True
) -> TimePair:
    """Return the launches of two cells that can be compared, with ranks at one distance.

    Args:
        at: How far apart the ranks of either were in its launches; empty if distances are compared.
        paired: As of `ratios.ratio_of`.

    Source:
        docs/method-launches.md#states-of-the-machine
    """
    left, other = in_like_conditions(over.by_launch, under.by_launch, *at)
    return compared(left, other, paired=paired, apart=over.in_parts | under.in_parts)


def like_ratio(
    over: Timing, under: Timing, at: tuple[Distances, Distances] = ANYWHERE, *, paired: bool = True
) -> Ratio | None:
    """Return how many times as long a cell takes as another by `like_times`; None if no launch is left."""
    return like_times(over, under, at, paired=paired).ratio(math.hypot(over.step, under.step))


@dataclass(frozen=True, slots=True)
class DistanceMismatch:
    """Why two cells have no ratio: the ranks of one were further from each other than those of the other.

    Attributes:
        of: What was handed over.
        over_s: How long that took in the one, median of the launches that were left out.
        under_s: And in the other.
    """

    of: Distance
    over_s: float
    under_s: float


def apart(
    over: Timing, under: Timing, at: tuple[Distances, Distances], *, paired: bool = True
) -> DistanceMismatch | None:
    """Return what keeps two cells from having a ratio, if it is how far apart their ranks were."""
    tells = [_tells(like_ratio(over, under, one, paired=paired)) for one in (at, ANYWHERE)]
    if tells != [False, True]:
        return None
    left = in_like_conditions(over.by_launch, under.by_launch, *at)
    gone = [
        [known[launch] for launch in known.keys() - kept.keys()] for kept, known in zip(left, at, strict=True)
    ]
    over_s, under_s = (median(value_s for _, value_s in mine) for mine in gone)
    return DistanceMismatch(gone[0][0][0], over_s, under_s)


def _tells(ratio: Ratio | None) -> bool:
    return ratio is not None and ratio.low is not None
