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
    """`2.31 times`, with its interval where there is one; near 1 with as many digits as the interval has."""
    if ratio.low is None or ratio.high is None:
        return f"{units.format_factor(ratio.estimate)} times"
    reach = ratio.high / ratio.estimate
    if reach >= units.REACH_MOST:
        return f"{units.format_factor(ratio.estimate)} times ({units.format_relative(reach - 1)})"
    write = _fine if ratio.high - ratio.low < FINE and is_small(ratio) else units.format_factor
    return f"{write(ratio.estimate)} times ({write(ratio.low)} \N{EN DASH} {write(ratio.high)})"


FINE = 0.02
"""Of narrower intervals near 1, three digits would show nothing."""


def _fine(value: float) -> str:
    return f"{value:.4f}"
