"""How far single operations lie apart, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times
from mpigauge.find.explain.contrasts_sentence import name_of
from mpigauge.find.explain.spread import Spread, SpreadBeside
from mpigauge.find.phrases import at_size, share, subject
from mpigauge.plan.factors import PLACE
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mpigauge.document.document import Units
    from mpigauge.find.explain.spread import Deviation

MANY_TIMES = 2.0
"""A standard deviation that is so many times that of the other samples is made by the slowest."""


def sentence(fact: Spread | SpreadBeside, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """How much a single message differs from the next, and how well the time is known all the same."""
    if isinstance(fact, SpreadBeside):
        return _beside(fact, varied, chosen)
    return f"{subject(fact.cell, varied, (), fact.state)}: {'; '.join(_parts(fact))}"


def _parts(fact: Spread) -> Iterator[str]:
    over = f", median of {counted(fact.sizes, 'size')}" if fact.sizes > 1 else ""
    yield (
        f"{_samples(fact)} vary by {share(fact.quartiles)} within a launch (quartile distance over "
        f"median{over})"
    )
    if fact.half_width is not None:
        yield f"the time itself is known to {units.format_relative(fact.half_width)}"
    yield _deviation(fact.deviation, at_size(fact.cell, fact.deviation.bytes))
    if fact.batched:
        yield f"{counted(len(fact.batched), 'more size')} timed in batches, whose means vary less"


def _samples(fact: Spread) -> str:
    what = "messages" if fact.messages else "operations"
    if fact.batch == 1:
        return f"single {what}"
    return f"means of up to {fact.batch} {what}, which vary less than single ones,"


def _deviation(fact: Deviation, where: str) -> str:
    largest = f" is largest{where}," if where else " is"
    said = f"their standard deviation{largest} {_of_mean(fact.over_mean)}"
    if fact.over_mean > MANY_TIMES * fact.rest:
        few = f"slowest {fact.slowest}" if fact.slowest > 1 else "slowest one"
        said += f", but {units.format_percent(fact.rest)} without the {few} of {fact.samples} samples"
    return said


def _of_mean(over_mean: float) -> str:
    if over_mean < 1:
        return f"{units.format_percent(over_mean)} of the mean"
    return f"{units.format_factor(over_mean)} times the mean"


def _beside(fact: SpreadBeside, varied: Collection[str], chosen: Units) -> str:
    name, what = name_of(fact.factors), "messages" if fact.messages else "operations"
    by = "over" if fact.factors == PLACE else "with"
    pair = f"{by} {name(fact.other)} as {by} {name(fact.base)}"
    other_s, base_s = (units.format_time(one, chosen.time) for one in (fact.other_s, fact.base_s))
    other = f"{other_s} ({units.format_percent(fact.other_share)} of the time)"
    base = f"{base_s} ({units.format_percent(fact.base_share)})"
    over = f" (median of {counted(fact.sizes, 'common size')})" if fact.sizes > 1 else ""
    return (
        f"{subject(fact.base, varied, fact.factors, fact.state)}: quartiles of single {what} in a launch are "
        f"{times(fact.ratio)} as far apart {pair}: {other} for {base}{over}"
    )
