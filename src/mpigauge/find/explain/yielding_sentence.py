"""What it is worth that waiting ranks give way, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times, verdict_words
from mpigauge.find.phrases import subject
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mpigauge.document.document import Units
    from mpigauge.find.explain.yielding import Yielding, YieldingOperation

SAID_ITSELF = frozenset({"ranks"}) | {"setting"}


def sentence(fact: Yielding, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """How many times as long it takes where a waiting rank keeps its core."""
    about = subject(fact.cell, varied, SAID_ITSELF, fact.state)
    ranks = f"{counted(fact.cell.ranks, 'rank')} on {counted(fact.cores, 'core')}"
    untold = ", ".join(f"{name}={value}" if value else f"{name} unset" for name, value in fact.untold)
    what = f"not told to give way while they wait ({untold}) against told to"
    return (
        f"{about}, {ranks}: {what}: {'; '.join([*(_at(one, fact, chosen) for one in fact.at), *_why(fact)])}"
    )


def _at(one: YieldingOperation, fact: Yielding, chosen: Units) -> str:
    where = f" at {units.format_size(one.bytes)}" if fact.sized else ""
    untold, told = (units.format_time(each, chosen.time) for each in (one.untold_s, one.told_s))
    both = f"{untold} for {told}"
    return f"{verdict_words(one.verdict)}{where}: {times(one.ratio)}, {both}"


def _why(fact: Yielding) -> Iterator[str]:
    if all(one.verdict == "slower" for one in fact.at):
        yield "a rank that polls keeps the core which the rank needs that it waits for"
