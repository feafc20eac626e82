"""Slower or faster: one rule with one margin for tables, sentences, figures and pages.

A ratio says how many times as long one thing takes as another. Its interval decides, never its estimate:

    slower       the whole interval lies above 1
    faster       the whole interval lies below 1
    same         the interval contains 1 and lies within the margin: from 1 / (1 + margin) to 1 + margin
    undecided    the interval contains 1 and reaches beyond the margin, or there is no interval

The margin is symmetric: a ratio turned over is as far from 1 as before. An interval that excludes 1 and lies
within the margin is a difference that is small but real: slower or faster, and `is_small`. The link map
has a rule of its own, since there all pairs of a network are judged at once: `slow_links`; so has
`mpigauge compare`, where all cells are, and a pass has an error rate, too: `compare.decision`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.analysis.ratios import Ratio
    from mpigauge.vocabulary import Verdict

MARGIN = 0.05
"""Times that differ by less are the same for most purposes."""


def bounds(margin: float = MARGIN) -> tuple[float, float]:
    """The ratios between which a difference is within the margin."""
    return 1 / (1 + margin), 1 + margin


def verdict(ratio: Ratio | None, margin: float = MARGIN) -> Verdict:
    """What the interval of a ratio says, by the rule above.

    Args:
        ratio: None if one of both was not measured.
        margin: The relative difference that does not matter, as a fraction.
    """
    if ratio is None or ratio.low is None or ratio.high is None:
        return "undecided"
    if ratio.low > 1:
        return "slower"
    if ratio.high < 1:
        return "faster"
    return "same" if _within(ratio.low, ratio.high, margin) else "undecided"


def is_small(ratio: Ratio | None, margin: float = MARGIN) -> bool:
    """Whether the whole interval lies within the margin, so that a difference that is real matters little."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return False
    return _within(ratio.low, ratio.high, margin)


def _within(low: float, high: float, margin: float) -> bool:
    least, most = bounds(margin)
    return least <= low and high <= most
