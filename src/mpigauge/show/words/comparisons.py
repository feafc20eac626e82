"""Places, modes and libraries side by side, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.analysis.comparisons import Contrast, Payoff, PlaceLatency
from mpigauge.analysis.verdict import MARGIN, is_small
from mpigauge.show.words.finding import finding
from mpigauge.show.words.states import in_state
from mpigauge.vocabulary import AUTO, DIFFERENT

if TYPE_CHECKING:
    from mpigauge.analysis.comparisons import At, Comparison
    from mpigauge.analysis.ratios import Ratio
    from mpigauge.plan.model import Cell
    from mpigauge.show.words.finding import Finding
    from mpigauge.vocabulary import Verdict

VERDICTS: dict[Verdict, str] = {
    "slower": "slower",
    "faster": "faster",
    "same": "no difference",
    "undecided": "undecided",
}
"""What each verdict is called, in sentences, tables and pages alike."""


def comparison(fact: Comparison) -> Finding:
    """What a comparison says."""
    match fact:
        case PlaceLatency():
            return finding("place-latency", fact, _latency(fact))
        case Payoff():
            return finding("payoff", fact, _payoff(fact))
        case Contrast():
            return finding("contrast", fact, _contrast(fact))


def verdict_words(verdict: Verdict, ratio: Ratio | None, margin: float = MARGIN) -> str:
    """A verdict, and whether the difference is smaller than the margin."""
    within = f"{100 * margin:g} %"
    if verdict == "same":
        return f"{VERDICTS[verdict]} (within {within})"
    if verdict in DIFFERENT and is_small(ratio, margin):
        return f"{VERDICTS[verdict]}, but by less than {within}"
    return VERDICTS[verdict]


def _latency(fact: PlaceLatency) -> str:
    size = units.format_size(fact.ratios[0].bytes)
    nearest = f"{size} takes {units.format_time(fact.time_s)} over {place_name(fact.nearest)}"
    others = [
        f"{times(at.ratio)} as long over {place_name(other)}"
        for other, at in zip(fact.others, fact.ratios, strict=True)
    ]
    return f"{_name(fact.nearest)}{in_state(fact.state)}: {'; '.join([nearest, *others])}"


def _payoff(fact: Payoff) -> str:
    fast, slow = place_name(fact.fast), place_name(fact.slow)
    name = f"{_name(fact.fast)}{in_state(fact.state)}"
    if fact.from_bytes is None:
        return f"{name}: {fast} is not certainly faster than {slow} at the largest size"
    gains = [f"{times(at.ratio)} at {units.format_size(at.bytes)}" for at in fact.gains]
    begin = units.format_size(fact.from_bytes)
    unclear = ", ".join(units.format_size(size) for size in fact.unclear)
    but = f" (at {unclear} too noisy to tell)" if unclear else ""
    return f"{name}: {fast} is faster than {slow} from {begin} on{but}: {', '.join(gains)}"


def _contrast(fact: Contrast) -> str:
    first, other = fact.first, fact.other
    ends = "; ".join(_end(at) for at in fact.ends)
    if fact.of == "mode":
        what, pair = first.pattern, f"{other.mode} against {first.mode}"
    else:
        what, pair = f"{first.pattern} {first.mode}", f"{_library(other)} against {_library(first)}"
    return f"{what} over {place_name(first)}{in_state(fact.state)}: {pair}: {ends}"


def _end(at: At) -> str:
    return (
        f"{times(at.ratio)} as long at {units.format_size(at.bytes)}, {verdict_words(at.verdict, at.ratio)}"
    )


# ---- Names ---------------------------------------------------------------------------------------


def place_name(cell: Cell) -> str:
    """`tcp, h1,h2`; what the library chose by itself goes without saying."""
    return ", ".join(word for word in (cell.transport, cell.placement) if word != AUTO)


def _name(cell: Cell) -> str:
    return f"{cell.pattern} {cell.mode}, {_library(cell)}"


def _library(cell: Cell) -> str:
    return cell.library


def times(ratio: Ratio) -> str:
    """`2.31 times`, with its interval where there is one."""
    text = f"{units.format_factor(ratio.estimate)} times"
    if ratio.low is None or ratio.high is None:
        return text
    reach = ratio.high / ratio.estimate
    if reach >= units.REACH_MOST:
        return f"{text} ({units.format_relative(reach - 1)})"
    return f"{text} ({units.format_factor(ratio.low)} \N{EN DASH} {units.format_factor(ratio.high)})"
