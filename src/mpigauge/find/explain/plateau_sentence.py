"""The best bandwidth, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times
from mpigauge.find.phrases import rate, span, subject
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.stats.decision import MARGIN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mpigauge.document.document import Units
    from mpigauge.find.explain.plateau import Plateau, Rate


def sentence(fact: Plateau, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Where it is, how far it holds, and what it could be."""
    return f"{subject(fact.cell, varied, (), fact.state)}: {'; '.join(_parts(fact, chosen))}"


def _parts(fact: Plateau, chosen: Units) -> Iterator[str]:
    both = " in both directions together" if fact.directions > 1 else ""
    yield f"best bandwidth {_rate(fact.best, chosen)}{both} at {units.format_size(fact.best.bytes)}"
    yield _holds(fact, chosen)
    if fact.link_bytes_per_s is not None:
        share = fact.best.estimate / fact.directions / fact.link_bytes_per_s
        each = " in each direction" if fact.directions > 1 else ""
        most = f"{rate(fact.link_bytes_per_s, chosen=chosen)}{each}"
        yield f"{units.format_percent(share)} of the {most} that TCP can bring through the emulated link"
    if fact.copies is not None:
        stick, size = " ".join(YARDSTICKS[fact.copies.name]), units.format_size(fact.copies.bytes)
        yield f"at {size} a message takes {times(fact.copies.ratio)} as long as a copy of its size ({stick})"


def _holds(fact: Plateau, chosen: Units) -> str:
    if fact.rises is not None:
        return (
            f"still rising at the largest size: a byte takes {times(fact.rises)} as long at the size before"
        )
    begin, end = fact.level
    margin = units.format_percent(MARGIN)
    reach = f"within {margin} of it at {span((begin, end))}" if begin < end else f"no other within {margin}"
    if end == fact.largest.bytes:
        return f"{reach}, the largest size" if begin < end else f"{reach}, and none larger was measured"
    size = units.format_size(fact.largest.bytes)
    if fact.falls and fact.change is not None:
        return (
            f"{reach}, then it falls to {_rate(fact.largest, chosen)} at {size}, where a byte takes "
            f"{times(fact.change)} as long"
        )
    return f"{reach}; {_rate(fact.largest, chosen)} at {size}, which is not certainly less"


def _rate(one: Rate, chosen: Units) -> str:
    return rate(one.estimate, (one.low, one.high), chosen)
