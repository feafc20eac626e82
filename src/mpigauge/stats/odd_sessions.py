"""Odd sessions: far from all others of their time, and too few of them to be what is usual.

Source: docs/method-comparison.md#history
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mpigauge.stats.percentiles import Values

    Flags = NDArray[np.bool_]

FAR = 5.0
"""Median absolute deviations from the median: what is farther is odd."""

SESSIONS_LEAST = 6
"""Of fewer none is odd: nobody knows then what is usual."""

ONE_IN = 5
"""If more are far, they are no oddity."""


def apart_from_usual(logs: Values, least: float) -> tuple[Values, Flags]:
    """How far each value is from the median of its cell, and whether that is odd.

    Args:
        logs: Of sessions between changes, shape ``(sessions, cells)``, NaN where there is none.
        least: What is nearer is not odd, however alike the others are.

    Returns:
        Two arrays of the same shape.
    """
    there = np.isfinite(logs)
    count = there.sum(axis=0)
    known = there.any(axis=0)
    apart, far = np.full_like(logs, np.nan), np.zeros_like(there)
    apart[:, known] = logs[:, known] - np.nanmedian(logs[:, known], axis=0)
    usual = np.nanmedian(np.abs(apart[:, known]), axis=0)
    far[:, known] = np.abs(apart[:, known]) > np.maximum(FAR * usual, least)
    few = far.sum(axis=0) <= count // ONE_IN
    return apart, far & few & (count >= SESSIONS_LEAST)
