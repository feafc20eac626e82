"""What first rounds take, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times
from mpigauge.find.phrases import at_size, every_size, subject

if TYPE_CHECKING:
    from collections.abc import Collection

    from mpigauge.document.document import Units
    from mpigauge.find.explain.first_round import First


def sentence(fact: First, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """How many times as long they take as typical ones."""
    about = subject(fact.cell, varied, (), fact.state)
    first = "the first round in a warm launch, not a program's first message,"
    return f"{about}: {first} takes {_range(fact, chosen)}"


def _range(fact: First, chosen: Units) -> str:
    most, total, many = fact.most, len(fact.points), len(fact.longer)
    first, typical = (units.format_time(one, chosen.time) for one in (most.first_s, most.typical_s))
    both = f"{first} for {typical}"
    where = at_size(fact.cell, most.bytes)
    if total == 1:
        return f"{times(most.ratio)} as long as a typical one{where}, {both}"
    ends = units.interval(*fact.ends, units.format_factor)
    certain = f"{every_size(total)}, most" if many == total else f"{many} of {total} sizes, of these most"
    return (
        f"{ends} times as long as a typical one, longer for certain at {certain}{where}: "
        f"{times(most.ratio)}, {both}"
    )
