"""What first rounds take, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.show.words.explain.parts import DASH, at_size, subject
from mpigauge.show.words.ratios import times

if TYPE_CHECKING:
    from collections.abc import Collection

    from mpigauge.analysis.explain.first_round import First


def sentence(fact: First, varied: Collection[str]) -> str:
    """How many times as long they take as typical ones."""
    about = subject(fact.cell, varied, (), fact.state)
    return f"{about}: the first round in a warm launch, not a program's first message, takes {_range(fact)}"


def _range(fact: First) -> str:
    most, total, many = fact.most, len(fact.points), len(fact.longer)
    both = f"{units.format_time(most.first_s)} for {units.format_time(most.typical_s)}"
    where = at_size(fact.cell, most.bytes)
    if total == 1:
        return f"{times(most.ratio)} as long as a typical one{where}, {both}"
    ends = f" {DASH} ".join(map(units.format_factor, fact.ends))
    certain = f"all {total} sizes, most" if many == total else f"{many} of {total} sizes, of these most"
    return (
        f"{ends} times as long as a typical one, longer for certain at {certain}{where}: "
        f"{times(most.ratio)}, {both}"
    )
