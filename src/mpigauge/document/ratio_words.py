"""Ratios and verdicts in words, the same in sentences, tables and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.rows.ratios import bounds
from mpigauge.stats.decision import MARGIN

if TYPE_CHECKING:
    from mpigauge.rows.ratios import Ratio
    from mpigauge.vocabulary import Verdict

VERDICTS: dict[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "same": "no difference",
    "undecided": "undecided",
}
"""What each verdict is called, in sentences, tables and pages alike."""


def verdict_words(verdict: Verdict) -> str:
    """Return a verdict in words; of no difference, within what."""
    return f"{VERDICTS[verdict]} (within {100 * MARGIN:g} %)" if verdict == "same" else VERDICTS[verdict]


def times(ratio: Ratio) -> str:
    """`2.31 times`, with its interval where there is one; near 1 with as many digits as the interval has."""
    if ratio.low is None or ratio.high is None:
        return f"{units.format_factor(ratio.estimate)} times"
    reach = ratio.high / ratio.estimate
    if reach >= units.REACH_MOST:
        return f"{units.format_factor(ratio.estimate)} times ({units.format_relative(reach - 1)})"
    least, most = bounds()
    near = ratio.high - ratio.low < FINE and least <= ratio.low and ratio.high <= most
    write = _fine if near else units.format_factor
    return units.with_interval(f"{write(ratio.estimate)} times", ratio.low, ratio.high, write)


OF_PAIRS = "of launches in pairs, not of the two times beside it"
"""Said where times and their ratio stand side by side: a mean of ratios is no ratio of medians."""

FINE = 0.02
"""Of narrower intervals near 1, three digits would show nothing."""


def _fine(value: float) -> str:
    return f"{value:.4f}"
