"""What the next session may find, by how much the sessions before it differ.

The mean of the sessions before, without the odd ones, give or take ``t s sqrt(1 + 1 / S)`` of the S that are
left.

Source:
    docs/method-comparison.md#history
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mpigauge.stats.max_t import LEVEL
from mpigauge.stats.moderated import prior_of
from mpigauge.stats.odd_sessions import SESSIONS_LEAST as ODD_FROM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.odd_sessions import Flags
    from mpigauge.stats.percentiles import Values

FREEDOM = 0.5
"""Degrees of freedom of *t* per session, where odd ones may be left out.

Simulated (benchmarks/histories.py): equal sessions are then outside in 5 % at most.
"""

_BLUR = 1e-8
"""Variance that sessions have at least: 0.01 %. That of three can be 0 by luck."""


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """What sessions say of the next one, of each cell of a curve.

    Attributes:
        mean: Of the logarithms of their times, shape ``(cells,)``.
        spread: Standard deviation of a session, drawn towards those of the curve's other cells.
        freedom: Degrees of freedom of that.
        sessions: How many there are.
        floor: Variance that the steps of the clock hide.
    """

    mean: Values
    spread: Values
    freedom: Values
    sessions: Values
    floor: Values

    @property
    def error(self) -> Values:
        """Standard deviation of the next session about the mean."""
        return np.asarray(np.sqrt(self.spread**2 * (1 + 1 / self.sessions) + self.floor))

    def band(self, share: float = 1 - LEVEL) -> tuple[Values, Values]:
        """Between what times, in seconds, the next session is, each cell by itself."""
        half = special.stdtrit(self.freedom, (1 + share) / 2) * self.error
        return np.exp(self.mean - half), np.exp(self.mean + half)


def before(logs: Values, floor: Values, odd: Flags) -> Before:
    """What sessions say of the next one.

    Args:
        logs: Of one curve, shape ``(sessions, cells)``; every cell has `comparison.BASE_LEAST` values.
        floor: Variance of a ratio of each cell that the steps of the clock hide, shape ``(cells,)``.
        odd: Which values are left out, of the same shape.
    """
    asked = np.isfinite(logs).sum(axis=0)
    there = np.isfinite(logs) & ~odd
    count = there.sum(axis=0).astype(float)
    mean = np.where(there, logs, 0.0).sum(axis=0) / count
    residuals = np.where(there, logs - mean, 0.0)
    variances = (residuals**2).sum(axis=0) / (count - 1)
    prior = prior_of(residuals, variances, count - 1)
    spread = np.sqrt(prior.moderated(variances, count - 1) + _BLUR)
    # Of equals, too, the farthest are left out now and then: what is left looks more alike than it is.
    share = np.where(asked < ODD_FROM, 1.0, FREEDOM * asked / (count - 1))
    return Before(mean, spread, prior.freedom(count - 1) * np.minimum(share, 1.0), count, floor)


class Predicted:
    """The family of cells of one session, held against the sessions before it: `compare.max_t.Family`.

    Sessions are few and the new one is alone: Student's t, with Holm's and Bonferroni's corrections.

    Args:
        known: Of each curve what sessions before say.
        now: Logarithms of the times of the session, of all cells in their order.
    """

    def __init__(self, known: Sequence[Before], now: Values) -> None:
        self.mean = now - np.concatenate([one.mean for one in known])
        self.error = np.concatenate([one.error for one in known])
        self.freedom = np.concatenate([one.freedom for one in known])
        self.launches = np.concatenate([one.sessions for one in known])
        # One session more in the history hardly narrows it: no number of launches is advised.
        self.spread = np.full(len(now), np.inf)
        self.floor = np.concatenate([one.floor for one in known])
