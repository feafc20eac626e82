"""A message in units of copies of its size, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.find.phrases import EMULATED, subject
from mpigauge.rows.baselines import YARDSTICKS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mpigauge.document.document import Units
    from mpigauge.find.explain.copies import Copies, InCopies

PIPELINED = "less than one copy: a message is pipelined in pieces, or this copy is not optimised"


def sentence(fact: Copies, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """How many copies a message costs, where it falls below ten and two, and the least."""
    about = f"{subject(fact.cell, varied, (), fact.state)} / {' '.join(YARDSTICKS[fact.name])}"
    said = [_at(fact.first, chosen), *_below(fact)]
    if fact.least != fact.first:
        said.append(f"least {_at(fact.least, chosen)}")
    if fact.least.ratio.high is not None and fact.least.ratio.high < 1:
        said.append(PIPELINED)
    if fact.emulated:
        said.append(EMULATED)
    return f"{about}: {'; '.join(said)}"


def _at(one: InCopies, chosen: Units) -> str:
    ratio = one.ratio
    copies = f"{units.format_factor(ratio.estimate)} copies"
    copies = units.with_interval(copies, ratio.low, ratio.high, units.format_factor)
    copied = f" for {units.format_time(one.copy_s, chosen.time)}" if one.copy_s is not None else ""
    both = f"{units.format_time(one.message_s, chosen.time)}{copied}"
    return f"{copies} at {units.format_size(one.bytes)}, {both}"


def _below(fact: Copies) -> Iterator[str]:
    """From which of the sizes on that were measured, as tables have it."""
    for one in fact.below:
        begin = f"from {units.format_size(one.from_bytes)}"
        end = f" up to {units.format_size(one.upto_bytes)}" if one.upto_bytes < fact.largest_bytes else ""
        certain = [
            f"from {units.format_size(one.certain_bytes)}" if one.certain_bytes > one.from_bytes else "",
            f"up to {units.format_size(one.certain_upto_bytes)}"
            if one.certain_upto_bytes < one.upto_bytes
            else "",
        ]
        surely = f" (for certain {' '.join(filter(None, certain))})" if any(certain) else ""
        yield f"below {one.copies:g} {begin}{surely}{end}"
    if fact.never is not None:
        yield f"below {fact.never:g} at no size up to {units.format_size(fact.largest_bytes)}"
