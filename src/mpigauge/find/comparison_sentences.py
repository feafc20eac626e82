"""Places, modes, libraries and settings side by side, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.finding import finding
from mpigauge.document.phrases import phrases_of
from mpigauge.document.ratio_words import times
from mpigauge.document.state_words import in_state
from mpigauge.find.comparisons import Payoff, PlaceLatency, RelativeCurve
from mpigauge.find.size_runs import runs_words
from mpigauge.plan.factors import CONTROL_FACTORS
from mpigauge.vocabulary import AUTO

if TYPE_CHECKING:
    from mpigauge.document.document import Units
    from mpigauge.document.finding import Finding
    from mpigauge.find.comparisons import Comparison
    from mpigauge.plan.model import Cell

USUALLY = "usual setting"
"""Of a variable that is left alone."""


def comparison(fact: Comparison, chosen: Units = AUTOMATIC) -> Finding:
    """What a comparison says."""
    match fact:
        case PlaceLatency():
            return finding("place-latency", fact, _latency(fact, chosen))
        case Payoff():
            return finding("payoff", fact, _payoff(fact))
        case RelativeCurve():
            return finding("contrast", fact, _contrast(fact, chosen))


def _latency(fact: PlaceLatency, chosen: Units) -> str:
    size = units.format_size(fact.ratios[0].bytes)
    nearest = f"{size} takes {units.format_time(fact.time_s, chosen.time)} over {place_name(fact.nearest)}"
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


def _contrast(fact: RelativeCurve, chosen: Units) -> str:
    first, other = fact.first, fact.other
    match fact.of:
        case "mode":
            about, pair = f"{first.pattern}, {_of(first)}", f"{other.mode} against {first.mode}"
        case "library":
            about, pair = (
                ", ".join([_operation(first), *_details(first)]),
                f"{other.library} against {first.library}",
            )
        case "setting":
            about = f"{_operation(first)}, {first.library}"
            pair = f"{other.setting} against {first.setting or USUALLY}"
    said = runs_words(fact.runs, first, chosen)
    return f"{about} over {place_name(first)}{in_state(fact.state)}: {pair}: {said}"


# ---- Names ---------------------------------------------------------------------------------------


def place_name(cell: Cell) -> str:
    """`tcp, h1,h2`; what the library chose by itself goes without saying."""
    return ", ".join(word for word in (cell.transport, cell.placement) if word != AUTO)


def _name(cell: Cell) -> str:
    return f"{_operation(cell)}, {_of(cell)}"


def _operation(cell: Cell) -> str:
    return f"{cell.pattern} {cell.mode}"


def _of(cell: Cell) -> str:
    """The library and how it was set."""
    return ", ".join([cell.library, *_details(cell)])


def _details(cell: Cell) -> list[str]:
    return [*phrases_of(cell, ("setting", *CONTROL_FACTORS)).values()]
