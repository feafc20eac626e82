"""What makes launch medians differ: the launches themselves, moments within a launch, or single rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.rows.within_launch import VARIANCE_OF_MEDIAN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.rows.within_launch import LaunchSummary
    from mpigauge.stats.percentiles import Values

VARIANCE_OF_FEW = 1.35
"""Of the median of about 8 normal values, over that of their mean."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of the variance of launch medians, each with a remedy of its own; None where it is not known.

    Attributes:
        launches: More launches average it out, nothing else does.
        visits: So do more visits of a launch, each at another moment.
        rounds: And so do more rounds.
        beyond_rounds: Variance of the logarithm of a launch median that more rounds cannot remove.
    """

    launches: float | None
    visits: float | None
    rounds: float | None
    beyond_rounds: float | None


NO_SHARES = Shares(None, None, None, None)


def shares_of(medians: Values, summaries: Sequence[LaunchSummary]) -> Shares:
    """What the variance of launch medians is made of, by an analysis of variance in three levels.

    Args:
        medians: One number a launch, shape ``(launches,)``, in seconds.
        summaries: Of the same launches.

    Returns:
        Nothing for one launch or a time of 0; no shares if nothing varies at all. Shares add up to 1.

    Source:
        docs/method.md#samples-or-launches; Kalibera and Jones, Rigorous Benchmarking in Reasonable Time,
        ISMM 2013.
    """
    within = np.array([summary.within_variance for summary in summaries])
    if medians.size == 1 or medians.min() <= 0 or np.isnan(within).any():
        return NO_SHARES
    rounds = float(np.mean([VARIANCE_OF_MEDIAN * one.within_variance / one.count for one in summaries]))
    visits = _from_visits(summaries)
    launches = max(0.0, float(np.log(medians / medians[0]).var(ddof=1)) - visits - rounds)
    total = launches + visits + rounds
    if total == 0:
        return Shares(None, None, None, 0.0)
    return Shares(launches / total, visits / total, rounds / total, launches + visits)


def _from_visits(summaries: Sequence[LaunchSummary]) -> float:
    """What differences between visits, beyond the noise of their rounds, add to a launch median."""
    several = [summary for summary in summaries if summary.visits > 1]
    if not several:
        return 0.0
    seen = np.mean([one.visit_variance / one.visits for one in several])
    noise = np.mean([VARIANCE_OF_MEDIAN * one.within_variance / one.count for one in several])
    return VARIANCE_OF_FEW * max(0.0, float(seen - noise))
