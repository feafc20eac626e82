"""Ratios and verdicts in words, the same in sentences, tables and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.analysis.verdict import MARGIN, is_small
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from mpigauge.analysis.ratios import Ratio
    from mpigauge.vocabulary import Verdict

VERDICTS: dict[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "same": "no difference",
    "undecided": "undecided",
}
"""What each verdict is called, in sentences, tables and pages alike."""


def verdict_words(verdict: Verdict, ratio: Ratio | None, margin: float = MARGIN) -> str:
    """A verdict, and whether the difference is smaller than the margin."""
    within = f"{100 * margin:g} %"
    if verdict == "same":
        return f"{VERDICTS[verdict]} (within {within})"
    if verdict in DIFFERENT and is_small(ratio, margin):
        return f"{VERDICTS[verdict]}, but by less than {within}"
    return VERDICTS[verdict]


def times(ratio: Ratio) -> str:
    """`2.31 times`, with its interval where there is one."""
    text = f"{units.format_factor(ratio.estimate)} times"
    if ratio.low is None or ratio.high is None:
        return text
    reach = ratio.high / ratio.estimate
    if reach >= units.REACH_MOST:
        return f"{text} ({units.format_relative(reach - 1)})"
    return f"{text} ({units.format_factor(ratio.low)} \N{EN DASH} {units.format_factor(ratio.high)})"
