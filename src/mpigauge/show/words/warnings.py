"""Warnings in words. WORDS is the one list: the sentence with its remedy, and the few words of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.analysis.warnings import ENOUGH_LAUNCHES
from mpigauge.units import format_percent, format_relative, format_time
from mpigauge.vocabulary import TAIL

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.analysis.warnings import Warning  # noqa: A004 - read as warnings.Warning
    from mpigauge.vocabulary import WarningKind

MOST_LAUNCHES = 30
"""More are not advised; what makes launches differ is looked for instead."""

COUNTABLE_LAUNCHES = 1000


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of one kind of warning.

    Attributes:
        sentence: With its numbers and what to do, from the warning's values by name.
        brief: At the foot of a table whose numbers carry letters; empty for what changes no reading of one.
        seen_elsewhere: Whether other columns or the heading of a curve show it already.
        label: What people read where programs read the kind; empty if that is the same.
    """

    sentence: Callable[..., str]
    brief: str = ""
    seen_elsewhere: bool = False
    label: str = ""


def label(kind: WarningKind) -> str:
    """What people read for a kind: the field's term."""
    return WORDS[kind].label or kind


def sentence(warning: Warning) -> str:
    """One sentence with the numbers, and what to do."""
    return WORDS[warning.kind].sentence(**warning.values)


# ---- Sentences -----------------------------------------------------------------------------------


def _no_interval(*, launches: int, requested: int | None, skipped: int, failed: int, batch: int) -> str:
    if launches > 1:
        return (
            "no interval: in at least one launch the clock stood still for a whole operation (0 s); "
            f"time more than {batch} operations between two clock readings"
        )
    if (requested or 1) > 1:
        return f"no interval: only 1 of {requested} launches gave times; {_why_lost(skipped, failed)}"
    return f"no interval (1 launch): use --launches {ENOUGH_LAUNCHES} or more to see how launches differ"


def _few_launches(*, launches: int, requested: int | None, skipped: int, failed: int) -> str:
    finding = f"few launches ({launches}): the interval rests on very little"
    if (requested or 0) >= ENOUGH_LAUNCHES:
        return f"{finding}; {requested} were started: {_why_lost(skipped, failed)}"
    return f"{finding}; use --launches {ENOUGH_LAUNCHES} or more"


def _launches_lost(*, launches: int, requested: int, skipped: int, failed: int) -> str:
    lost = f"{requested - launches} of {requested} launches gave no times here"
    finding = f"{lost}; {_why_lost(skipped, failed)}"
    return f"{finding}: unless they failed at random, the others are a biased choice" if failed else finding


def _why_lost(skipped: int, failed: int) -> str:
    """What to do about launches without times."""
    if failed == 0:
        return "the budget ran out before this cell: raise --budget, or measure less"
    if skipped == 0:
        return "find out why the others failed"
    return f"in {skipped} the budget ran out before this cell; find out why {failed} failed"


def _few_samples(*, rounds: int, stat: str) -> str:
    return (
        f"about {rounds} rounds per launch are too few for {stat}: fewer than 20 lie beyond it; "
        "raise --budget, or use a statistic nearer the median"
    )


def _two_kinds(*, fast_s: float, slow_s: float) -> str:
    return (
        f"launches are bimodal, around {format_time(fast_s)} and {format_time(slow_s)}; the estimate lies in "
        "between: compare how their ranks were bound and on which hosts they ran"
    )


def _intervals_disagree(*, ratio: float, launches: int) -> str:
    return (
        f"the order-statistics interval is {ratio:.2g} times as wide as the t interval, so launches are far "
        f"from lognormal; trust the wider one, or use more than {launches} launches"
    )


def _wide(
    *,
    half_width: float,
    precision: float,
    launches: int,
    launches_needed: int,
    rounds_share: float | None,
) -> str:
    asked = format_relative(precision)
    finding = f"the interval is {format_relative(half_width)}, wider than the {asked} asked for"
    if rounds_share is not None:
        return f"{finding}; {format_percent(rounds_share)} of the variance is within launches: raise --budget"
    if launches_needed <= MOST_LAUNCHES:
        needed = f"about {launches_needed} launches instead of {launches}: --launches {launches_needed}"
        return f"{finding}; it takes {needed}"
    countable = launches_needed <= COUNTABLE_LAUNCHES
    many = f"about {launches_needed}" if countable else f"more than {COUNTABLE_LAUNCHES}"
    return (
        f"{finding}; it would take {many} launches: find out what differs between them, or raise --precision"
    )


def _oversubscribed(*, ranks: int, cores: int) -> str:
    return (
        f"{ranks} ranks share {cores} cores: the times are those of the scheduler, not of the network; "
        "use fewer ranks or more hosts"
    )


def _not_steady(*, unsteady: int, launches: int) -> str:
    return (
        f"{unsteady} of {_launches(launches)} not steady: times still drift after the first quarter; "
        "look for other work on the hosts"
    )


def _correlated(*, correlated: int, launches: int, tau: float) -> str:
    return (
        f"{correlated} of {_launches(launches)} strongly autocorrelated: up to {tau:.0f} rounds carry as "
        "much as one independent one; more launches help, more rounds do not"
    )


def _launches(launches: int) -> str:
    return "1 launch is" if launches == 1 else f"{launches} launches are"


def _tail(*, ratio: float, stat: str) -> str:
    finding = f"1 % of the samples take {ratio:.2g} times the median or more"
    if stat in TAIL:
        return f"{finding}; look for other work on the hosts"
    return f"{finding}; if the slow ones count, judge by --stat p99"


def _batched(*, batch: int, stat: str) -> str:
    return (
        f"each sample is the mean of {batch} operations: {stat} is that of means, in which single slow "
        "operations hide"
    )


def _skewed(*, skew_s: float, share: float | None) -> str:
    return f"the ranks started {format_time(skew_s)} apart: start skew is {_share(share)} of the time"


def _late_starts(*, share: float) -> str:
    if share >= 1:
        return (
            "in 100 % of the rounds a rank was late for the start, so they all count: use fewer ranks than "
            "cores, or a quieter machine"
        )
    return (
        f"in {format_percent(share)} of the rounds a rank was late for the start; these do not count where "
        "other rounds of their visit do"
    )


def _clock_error(*, error_s: float, share: float | None) -> str:
    return f"the ranks' clocks were up to {format_time(error_s)} apart, {_share(share)} of the time"


def _clock_share(*, cost_s: float, share: float | None) -> str:
    cost = format_time(cost_s)
    return f"timer overhead: each sample contains one clock reading of {cost}, {_share(share)} of it"


def _share(share: float | None) -> str:
    """Of a time; of a clock that stood still there is none."""
    return "all" if share is None else format_percent(share)


def _relay_late(*, share: float, late_s: float) -> str:
    return (
        f"{format_percent(share)} of the packets between the emulated hosts were more than "
        f"{format_time(late_s)} late: the emulator shares the cores with what is measured; use fewer ranks "
        "than cores, or a quieter machine"
    )


WORDS: dict[WarningKind, Words] = {
    "no-interval": Words(
        _no_interval, "no interval: a single launch, or a clock that stood still", seen_elsewhere=True
    ),
    "few-launches": Words(
        _few_launches, "fewer than 5 launches: the interval rests on little", seen_elsewhere=True
    ),
    "launches-lost": Words(_launches_lost, seen_elsewhere=True, label="missing-launches"),
    "few-samples": Words(_few_samples),
    "two-kinds-of-launches": Words(
        _two_kinds, "launches are bimodal; the estimate lies in between", label="bimodal"
    ),
    "intervals-disagree": Words(_intervals_disagree),
    "wide": Words(_wide, seen_elsewhere=True, label="imprecise"),
    "oversubscribed": Words(_oversubscribed, "more ranks than cores", seen_elsewhere=True),
    "not-steady": Words(_not_steady, "not steady within a launch", label="unsteady"),
    "correlated": Words(_correlated, label="autocorrelated"),
    "tail": Words(_tail),
    "batched": Words(_batched),
    "skewed": Words(_skewed, "includes start skew of more than 5 %", label="start-skew"),
    "late-starts": Words(_late_starts, "many rounds started late"),
    "clock-error": Words(_clock_error, "the ranks' clocks disagreed by more than 10 % of it"),
    "clock-share": Words(_clock_share, label="timer-overhead"),
    "relay-late": Words(_relay_late, "the emulator delivered packets late"),
}
