"""Launches that begin slower or faster than they end, by Student's t over launches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.stats.interval import t_quantile
from mpigauge.stats.robust import winsorised

if TYPE_CHECKING:
    from mpigauge.stats.percentiles import Values

MIN_DRIFT = 0.01
"""Mean drift, as a logarithm, that is worth a word."""

DRIFT_CHANCE = 0.005
"""Chance that launches without a drift show one in either direction."""

_MIN_LAUNCHES = 4
_STEPS = 2.0


def mean_drifts(drifts: Values, clock_steps: Values) -> tuple[Values, Values]:
    """Return the mean drift of many rows, and how many times the limit it is.

    Args:
        drifts: ln(first quarter / last half) of each launch, shape ``(rows, launches)``.
        clock_steps: The step of the clock over each time, shape ``(rows,)``.

    Returns:
        Both of shape ``(rows,)``: the mean with odd launches pulled in, and its size over what is worth a
        word and what chance hardly exceeds: above 1 where launches drift, 0 for fewer than 4 launches.

    Source:
        docs/warnings.md#warnings
    """
    launches = drifts.shape[1]
    if launches < _MIN_LAUNCHES:
        return np.zeros(len(drifts)), np.zeros(len(drifts))
    known = winsorised(drifts.T)
    means = known.mean(axis=0)
    errors = known.std(axis=0, ddof=1) / math.sqrt(launches)
    least = np.maximum(MIN_DRIFT, _STEPS * clock_steps)
    return means, np.abs(means) / np.maximum(least, t_quantile(launches - 1, 1 - DRIFT_CHANCE) * errors)
