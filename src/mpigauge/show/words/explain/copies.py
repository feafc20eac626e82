"""A message in units of copies of its size, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.analysis.baselines import YARDSTICKS
from mpigauge.show.words.explain.parts import DASH, EMULATED, about_size, subject

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mpigauge.analysis.explain.copies import Copies, Crossing, InCopies

PIPELINED = "less than one copy: a message is pipelined in pieces, or this copy is not optimised"


def sentence(fact: Copies, varied: Collection[str]) -> str:
    """How many copies a message costs, where it falls below ten and two, and the least."""
    about = f"{subject(fact.cell, varied, (), fact.state)} / {' '.join(YARDSTICKS[fact.name])}"
    said = [_at(fact.first), *_below(fact)]
    if fact.least != fact.first:
        said.append(f"least {_at(fact.least)}")
    if fact.least.ratio.high is not None and fact.least.ratio.high < 1:
        said.append(PIPELINED)
    if fact.emulated:
        said.append(EMULATED)
    return f"{about}: {'; '.join(said)}"


def _at(one: InCopies) -> str:
    ratio = one.ratio
    ends = [units.format_factor(end) for end in (ratio.low, ratio.high) if end is not None]
    interval = f" ({f' {DASH} '.join(ends)})" if ends else ""
    copied = f" for {units.format_time(one.copy_s)}" if one.copy_s is not None else ""
    both = f"{units.format_time(one.message_s)}{copied}"
    return f"{units.format_factor(ratio.estimate)} copies{interval} at {units.format_size(one.bytes)}, {both}"


def _below(fact: Copies) -> Iterator[str]:
    for one in fact.below:
        begin = one.begin
        near = _interval(begin.low_bytes, begin.high_bytes)
        yield f"below {one.copies:g} from {about_size(begin.bytes or 0.0)}{near}{_end(one.end)}"
    if fact.never is not None:
        yield f"below {fact.never:g} at no size up to {units.format_size(fact.largest_bytes)}"


def _end(end: Crossing | None) -> str:
    """Up to where, if not to the largest size."""
    if end is None:
        return ""
    if end.bytes is None:
        return f", perhaps only up to {about_size(end.low_bytes or 0.0)}"
    return f" up to {about_size(end.bytes)}{_interval(end.low_bytes, end.high_bytes)}"


def _interval(low_bytes: float | None, high_bytes: float | None) -> str:
    """Of a crossing; open where an end is beyond the sizes."""
    low, high = (about_size(end) if end is not None else "" for end in (low_bytes, high_bytes))
    if low and high:
        return f" ({low} {DASH} {high})"
    return f" ({low} or more)" if low else f" ({high} or less)" if high else ""
