"""What first rounds take, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.show.words.comparisons import times
from mpigauge.show.words.explain.parts import DASH, subject

if TYPE_CHECKING:
    from collections.abc import Collection

    from mpigauge.analysis.explain.first_round import First, FirstAt


def sentence(fact: First, varied: Collection[str]) -> str:
    """How many times as long they take as typical ones."""
    return (
        f"{subject(fact.cell, varied, (), fact.state)}: the first round of a cell in a launch takes "
        f"{_range(fact)} as long as a typical one{_certain(fact)}; the launch is warm by then, so this is not "
        "the first message of a program"
    )


def _range(fact: First) -> str:
    most = fact.most
    if len(fact.points) == 1:
        return f"{_at(most)}"
    least = units.format_factor(fact.least.ratio.estimate)
    return f"{least} {DASH} {units.format_factor(most.ratio.estimate)} times (most: {_at(most)})"


def _at(one: FirstAt) -> str:
    both = f"{units.format_time(one.first_s)} for {units.format_time(one.typical_s)}"
    return f"{times(one.ratio)} at {units.format_size(one.bytes)}, {both},"


def _certain(fact: First) -> str:
    total = len(fact.points)
    if total == 1:
        return ""
    return f", longer for certain at {'all' if fact.longer == total else f'{fact.longer} of'} {total} sizes"
