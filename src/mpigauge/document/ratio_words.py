"""Ratios and verdicts in words, the same in sentences, tables and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.stats.decision import MARGIN, bounds

if TYPE_CHECKING:
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import Verdict

VERDICTS: dict[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "same": "no difference",
    "undecided": "undecided",
}
"""The word for each verdict, in sentences, tables and pages."""


def verdict_words(verdict: Verdict) -> str:
    """Return a verdict in words; for no difference, with the margin."""
    return f"{VERDICTS[verdict]} (within {100 * MARGIN:g} %)" if verdict == "same" else VERDICTS[verdict]


def times_words(ratio: Ratio) -> str:
    """Return `2.31 times`, with its interval if there is one; near 1 with the digits of the interval."""
    if ratio.low is None or ratio.high is None:
        return f"{units.format_factor(ratio.estimate)} times"
    reach = ratio.high / ratio.estimate
    if reach >= units.MAX_REACH:
        return f"{units.format_factor(ratio.estimate)} times ({units.format_relative(reach - 1)})"
    least, most = bounds()
    near = ratio.high - ratio.low < FINE and least <= ratio.low and ratio.high <= most
    write = _fine if near else units.format_factor
    return units.with_interval(f"{write(ratio.estimate)} times", ratio.low, ratio.high, write)


OF_LAUNCHES = "mean of the launches' ratios"
"""Definition of the ratio of two times of one result, in a few words."""

OF_PAIRS = f"{OF_LAUNCHES}, not the ratio of the two times beside it"
"""A note for tables of times with their ratio: a mean of ratios is no ratio of medians."""

FINE = 0.02
"""Width of intervals near 1 below which three digits would show nothing."""


def _fine(value: float) -> str:
    return f"{value:.4f}"
