"""Eager limits in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.state_words import in_state
from mpigauge.find.phrases import headed, subject, time
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mpigauge.document.document import Units
    from mpigauge.find.explain.eager_limits import EagerLimit, EagerLimitCost


def sentence(fact: EagerLimit, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """How large it is, and what lies above it."""
    about = subject(fact.cell, varied, {"pattern", "mode"})
    limit = f"the eager limit is {units.format_size(fact.limit_bytes)}"
    return headed(about, "; ".join([limit, *_more(fact, chosen)]))


def _more(fact: EagerLimit, chosen: Units) -> Iterator[str]:
    if fact.crossing is not None and fact.message is not None:
        message = f"{fact.message.pattern} {fact.message.mode}{in_state(fact.state)}"
        yield f"{message} of {_crossing(fact.crossing, chosen)}"
    if fact.blocked:
        sizes = counted(fact.of, "size")
        yield f"{fact.blocked} of {sizes} of modes that rely on it would deadlock and were not started"


def _crossing(fact: EagerLimitCost, chosen: Units) -> str:
    above, below = units.format_size(fact.above_bytes), units.format_size(fact.below_bytes)
    above_s, below_s = (units.format_time(one, chosen.time) for one in (fact.above_s, fact.below_s))
    took = f"{above} takes {above_s}, of {below} {below_s}"
    if fact.low_s <= 0 <= fact.high_s:
        return f"{took}: crossing it costs nothing that can be told from 0"
    if fact.high_s < 0:
        return f"{took}: above it is faster, by {time(-fact.extra_s, -fact.high_s, -fact.low_s, chosen)}"
    trips = units.format_factor(fact.trips)
    cost = time(fact.extra_s, fact.low_s, fact.high_s, chosen)
    return f"{took}: crossing it costs {cost}, {trips} round trips of the smallest message"
