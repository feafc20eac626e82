"""What the next session may find, by how much the sessions before it differ.

The mean of the sessions before, without the odd ones, give or take ``t s sqrt(1 + 1 / S)`` of the S that are
left.

Source:
    docs/method-history.md#history
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats import special
from mpigauge.stats.limits import ODD_ONE_IN
from mpigauge.stats.max_t import LEVEL, prior_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mpigauge.stats.percentiles import Values

    Flags = NDArray[np.bool_]

FREEDOM = 0.5
"""Degrees of freedom of *t* per session, where odd ones may be left out.

Simulated (benchmarks/histories.py): equal sessions are then outside in 5 % at most.
"""

_BLUR = 1e-8
"""Variance that sessions have at least: 0.01 %. That of three can be 0 by luck."""

ODD_FAR = 5.0
"""Median absolute deviations from the median: what is farther is odd."""

ODD_FROM = 6
"""Sessions from which one can be odd: with fewer it is unknown what is usual."""


def odd_values(logs: Values, least: float) -> tuple[Values, Flags]:
    """Return each value's distance from the median of its cell, and whether it is odd.

    Args:
        logs: Logarithms of times between changes, shape ``(sessions, cells)``, NaN where there is none.
        least: What is nearer is not odd, however alike the others are.

    Returns:
        Two arrays of the same shape.
    """
    measured = np.isfinite(logs)
    count = measured.sum(axis=0)
    known = measured.any(axis=0)
    distances, far = np.full_like(logs, np.nan), np.zeros_like(measured)
    distances[:, known] = logs[:, known] - np.nanmedian(logs[:, known], axis=0)
    usual = np.nanmedian(np.abs(distances[:, known]), axis=0)
    far[:, known] = np.abs(distances[:, known]) > np.maximum(ODD_FAR * usual, least)
    few = far.sum(axis=0) <= count // ODD_ONE_IN
    return distances, far & few & (count >= ODD_FROM)


@dataclass(frozen=True, slots=True, eq=False)
class SessionPrediction:
    """The prediction of the next session from the sessions before it, per cell of a curve.

    Attributes:
        mean: Mean logarithm of their times, shape ``(cells,)``.
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
        """Return the times, in seconds, between which the next session is expected, each cell by itself."""
        half = special.stdtrit(self.freedom, (1 + share) / 2) * self.error
        return np.exp(self.mean - half), np.exp(self.mean + half)


def predict(logs: Values, floor: Values, odd: Flags) -> SessionPrediction:
    """Return the prediction of the next session from these sessions.

    Args:
        logs: Logarithms of one curve's times, shape ``(sessions, cells)``; at least
            `comparison.MIN_BASE_SESSIONS` values per cell.
        floor: Variance of a ratio of each cell that the steps of the clock hide, shape ``(cells,)``.
        odd: Which values are left out, shape ``(sessions, cells)``.
    """
    asked = np.isfinite(logs).sum(axis=0)
    kept = np.isfinite(logs) & ~odd
    count = kept.sum(axis=0).astype(float)
    mean = np.where(kept, logs, 0.0).sum(axis=0) / count
    residuals = np.where(kept, logs - mean, 0.0)
    variances = (residuals**2).sum(axis=0) / (count - 1)
    prior = prior_of(residuals, variances, count - 1)
    spread = np.sqrt(prior.moderated(variances, count - 1) + _BLUR)
    # Of equals, too, the farthest are left out now and then: what is left looks more alike than it is.
    share = np.where(asked < ODD_FROM, 1.0, FREEDOM * asked / (count - 1))
    return SessionPrediction(mean, spread, prior.freedom(count - 1) * np.minimum(share, 1.0), count, floor)


class SessionFamily:
    """The cells of one session against the sessions before it, as a `max_t.Family`.

    Sessions are few and the new one is alone: Student's t, with Holm's and Bonferroni's corrections.

    Args:
        predictions: One per curve.
        now: Logarithms of the times of the session, of all cells in their order.
    """

    def __init__(self, predictions: Sequence[SessionPrediction], now: Values) -> None:
        self.mean = now - np.concatenate([prediction.mean for prediction in predictions])
        self.error = np.concatenate([prediction.error for prediction in predictions])
        self.freedom = np.concatenate([prediction.freedom for prediction in predictions])
        self.launches = np.concatenate([prediction.sessions for prediction in predictions])
        # One session more in the history hardly narrows it: no number of launches is advised.
        self.spread = np.full(len(now), np.inf)
        self.floor = np.concatenate([prediction.floor for prediction in predictions])
