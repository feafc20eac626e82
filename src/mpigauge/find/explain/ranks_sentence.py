"""What the number of ranks does, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times
from mpigauge.find.phrases import MINUS, subject

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from mpigauge.document.document import Units
    from mpigauge.find.explain.ranks import AtSize, Count, Growth
    from mpigauge.vocabulary import GrowthLaw

LAWS: Mapping[GrowthLaw, str] = {"logarithmic": "log2 p", "linear": f"p {MINUS} 1", "proportional": "p"}
"""Of p ranks."""

SKEW_MOST = 0.2
"""Of a time; with more than that, it is said."""


def sentence(fact: Growth, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """How the time grows with the ranks, with cores and without."""
    what = "lap of " if fact.lap else ""
    about = f"{what}{subject(fact.cell, varied, {'ranks'}, fact.state)}"
    return f"{about}: {'; '.join([*(_at(one, fact, chosen) for one in fact.at), *_scheduler(fact)])}"


def _at(one: AtSize, fact: Growth, chosen: Units) -> str:
    where = f"at {units.format_size(one.bytes)} " if fact.sized else ""
    base = f"{where}{_ranks(one.fewest)} take {_time(one.fewest, chosen)}"
    fitting = [f"{_ranks(one.fitting)} {_longer(one.fitting, chosen)}{_law(one)}"] if one.fitting else []
    return ", ".join([base, *fitting, *(f"{_ranks(many)} {_longer(many, chosen)}" for many in one.crowded)])


def _ranks(one: Count) -> str:
    shared = "" if one.cores is None else f" on {one.cores} core{'' if one.cores == 1 else 's'}"
    return f"{one.ranks} rank{'' if one.ranks == 1 else 's'}{shared}"


def _longer(one: Count, chosen: Units) -> str:
    return f"{times(one.ratio)} as long, {_time(one, chosen)}" if one.ratio else _time(one, chosen)


def _time(one: Count, chosen: Units) -> str:
    """With what it consists of."""
    message_s = one.message_s
    parts = [] if message_s is None else [f"{units.format_time(message_s, chosen.time)} a message"]
    if one.skew_share is not None and one.skew_share > SKEW_MOST:
        parts.append(f"{units.format_percent(one.skew_share)} of it start skew")
    within = f" ({', '.join(parts)})" if parts else ""
    return f"{units.format_time(one.time_s, chosen.time)}{within}"


def _law(one: AtSize) -> str:
    """As which law the interval says that it grows; nothing if it does not tell."""
    if one.expected is None or one.fitting is None or one.fitting.ratio is None:
        return ""
    would = f"{units.format_factor(one.expected)} times"
    if one.law is not None:
        return f", as {LAWS[one.law]} would ({would})"
    low, high = one.fitting.ratio.low, one.fitting.ratio.high
    if low is not None and low > one.expected:
        return f", more than p would ({would})"
    return f", less than p would ({would})" if high is not None and high < one.expected else ""


def _scheduler(fact: Growth) -> Iterator[str]:
    """What times of more ranks than cores contain."""
    if cores := {many.cores for one in fact.at for many in (one.fewest, *one.crowded) if many.cores}:
        beyond = f"beyond {cores.pop()} ranks" if len(cores) == 1 else "with more ranks than cores"
        yield f"{beyond} they also wait for the scheduler, so this shows no growth of the operation itself"
