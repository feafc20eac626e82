"""Warnings in words, each in a row of WORDS: the sentence with its remedy, shorter words, how bad it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mpigauge.document.lateness_words import consequence
from mpigauge.stats.limits import ENOUGH_LAUNCHES, LAUNCHES_COUNTABLE, by_clock_speeds
from mpigauge.units import (
    counted,
    format_duration,
    format_factor,
    format_percent,
    format_relative,
    format_time,
    plural,
)
from mpigauge.vocabulary import TAIL

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.rows.warnings import Warning, WarningKind  # noqa: A004 - read as warnings.Warning

MOST_LAUNCHES = 30
"""More are not advised; what makes launches differ is looked for instead."""


ON_ONE_CORE = "two ranks on the hardware threads of one core"


WarningSeverity = Literal["worst", "by factors", "usual", "harmless", "note"]
"""How bad a warning is: numbers are wrong; they change by factors; their intervals are wide; no reading of a
number changes whose interval is narrow; none at all, since what it says stands beside the number already."""


@dataclass(frozen=True, slots=True)
class WarningText:
    """All that is said of one kind of warning.

    Attributes:
        sentence: With its numbers and what to do, from the warning's values by name.
        brief: At the foot of a table whose numbers carry letters; empty for what changes no reading of one.
        short: Among the doubts about a whole result, before how many numbers have it; empty if that is its
            label.
        severity: Where it stands among the doubts.
        worst_by: The value by which cells are ranked; empty if the first one counts.
        format_worst: How that value is written.
        seen_elsewhere: Whether other columns or the heading of a curve show it already.
        label: What people read where programs read the kind; empty if that is the same.
    """

    sentence: Callable[..., str]
    brief: str = ""
    short: str = ""
    severity: WarningSeverity = "usual"
    worst_by: str = ""
    format_worst: Callable[[float], str] = str
    seen_elsewhere: bool = False
    label: str = ""


def label(kind: WarningKind) -> str:
    """Return what people read for a kind: the field's term."""
    return WORDS[kind].label or kind


def short(kind: WarningKind) -> str:
    """Return what is the matter, in a few words."""
    return WORDS[kind].short or label(kind)


def sentence(warning: Warning) -> str:
    """Return one sentence with the numbers, and what to do."""
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
    """Return what to do about launches without times."""
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


def _clock_step(*, step_s: float, share: float, batch: int, in_a_row: str | None = None) -> str:
    remedy = "choose larger sizes" if batch == 1 else "time more operations between two clock readings"
    remedy += f", or --mode {in_a_row}: several of them from one start" if in_a_row else ""
    moves = f"the clock moves in steps of {format_time(step_s * batch)}"
    return f"{moves}, {format_percent(share)} of the time; {remedy}"


def _outlier_launches(*, launch: int, factor: float, odd: int, launches: int) -> str:
    others = (
        f"; {odd - 1} more of {launches} launches differ" if odd > 1 else f", the others of {launches} agree"
    )
    return f"launch {launch} took {format_factor(factor)} times as long as usual{others}"


def _two_kinds(*, fast_s: float, slow_s: float, fast: int, slow: int) -> str:
    return (
        f"launches are bimodal: {fast} around {format_time(fast_s)}, {slow} around {format_time(slow_s)}; "
        "the time is the median of both: compare what the system did with their ranks"
    )


def _phases(*, fast_s: float, slow_s: float, fast: int, slow: int, phases: int) -> str:
    kinds = f"{fast} around {format_time(fast_s)}, {slow} around {format_time(slow_s)}"
    return (
        f"launches differ in phases: {kinds}, in {phases} runs one after the other: the machine changed "
        "meanwhile; --over 1h spreads the launches"
    )


def _launches_in_time(*, factor: float, chance: float, span_s: float) -> str:
    return (
        f"neighbouring launches agree more than by chance ({format_percent(chance)}): intervals are "
        f"{format_factor(factor)} times as wide as launches say, and cover these {format_duration(span_s)} "
        "only; --over 1h spreads them"
    )


def _drift(*, factor: float, launches: int) -> str:
    change = format_percent(abs(factor - 1))
    longer = "longer" if factor > 1 else "less"
    return (
        f"the first quarter of each launch takes {change} {longer} than its last half ({launches} launches): "
        "raise --budget, so that launches last longer"
    )


def _wide(
    *,
    half_width: float,
    launches_half_width: float,
    machine_half_width: float | None,
    precision: float,
    launches: int,
    launches_needed: int | None,
    launches_needed_low: int | None,
    launches_needed_high: int | None,
    launch_share: float | None,
    visit_share: float | None,
    rounds_share: float | None,
) -> str:
    asked = format_relative(precision)
    finding = f"the interval is {format_relative(half_width)}, wider than the {asked} asked for"
    if launches_half_width <= precision:
        return f"{finding}, {_why_beyond_launches(machine_half_width)}"
    if launch_share is not None and visit_share is not None and rounds_share is not None:
        if rounds_share >= max(launch_share, visit_share):
            return (
                f"{finding}; {format_percent(rounds_share)} of the variance is that of rounds: raise --budget"
            )
        if visit_share >= launch_share:
            moments = "that of moments within a launch: raise visits in a plan file"
            return f"{finding}; {format_percent(visit_share)} of the variance is {moments}"
    if launches_needed is None:
        many = f"more than {LAUNCHES_COUNTABLE} launches"
        return f"{finding}; it would take {many}: find out what differs between them, or raise --precision"
    reach = f"{launches_needed_low} to {launches_needed_high or f'more than {LAUNCHES_COUNTABLE}'}"
    part = "the launches' part of it" if by_clock_speeds(machine_half_width) else "it"
    needed = f"{part} takes about {launches_needed} launches instead of {launches} (most likely {reach})"
    if launches_needed <= MOST_LAUNCHES:
        return f"{finding}; {needed}: --launches {launches_needed}"
    return f"{finding}; {needed}: find out what differs between them, or raise --precision"


def beyond_launches(machine_half_width: float | None) -> str:
    """Return what makes an interval wider than its launches do."""
    return "the cores' clock" if by_clock_speeds(machine_half_width) else "the instrument"


def _why_beyond_launches(half_width: float | None) -> str:
    """Return why an interval is wide whose launches agree."""
    if by_clock_speeds(half_width):
        return "by the changing clock speeds of the cores alone: fix the frequency, or look at --only quiet"
    return f"by the {format_percent(half_width)} that the instrument cannot promise: raise --precision"


def _oversubscribed(*, ranks: int, cores: int) -> str:
    return (
        f"{ranks} ranks share {counted(cores, 'core')}: the times are those of the scheduler, not of the "
        "network; use fewer ranks or more hosts"
    )


def _shared_core(
    *,
    host: str,
    ranks: str,
    cpus: str,
    count: int,
    places: int,
    threads: int,
    bound: bool,
    told: bool,
    binding: str | None,
    **_: object,
) -> str:
    how = "are bound to" if bound else "share"
    finding = f"ranks {ranks_of(ranks, count)} {how} {_processors(cpus, places)} of {host}"
    if threads > 1:
        finding += f", with {threads} threads each that look for messages (asynchronous progress)"
    if not told:
        finding += "; the library was not told so, and those that wait may not give way"
    return f"{finding}: the times are those of the scheduler; {_apart(binding, threads, bound=bound)}"


def _apart(binding: str | None, threads: int, *, bound: bool) -> str:
    """Return what gives each of them a processor of its own."""
    if binding:
        return _unset(binding)
    if threads > 1:
        return "turn asynchronous progress off, or use fewer ranks"
    if bound:
        return "bind each to a core of its own (--bind core), or leave them free (--bind none)"
    return "use fewer ranks, or give the job more processors"


def _unset(binding: str) -> str:
    return f"{binding} is set here: unset it"


def ranks_of(ranks: str, count: int) -> str:
    """Return ranks in words: `0 and 1`, `0-3,8`."""
    return re.sub("[-,]", " and ", ranks) if count == 2 else ranks  # noqa: PLR2004 - a pair


def _processors(cpus: str, places: int) -> str:
    return f"{plural('CPU') if places > 1 else 'CPU'} {cpus}"


def _hardware_threads(
    *, host: str, ranks: str, cpus: str, count: int, places: int, binding: str | None, **_: object
) -> str:
    what = f"{count} ranks on the hardware threads of fewer cores" if count > 2 else ON_ONE_CORE  # noqa: PLR2004
    remedy = _unset(binding) if binding else "use no more ranks than cores, and --bind core"
    where = f"ranks {ranks_of(ranks, count)} on {_processors(cpus, places)} of {host}"
    return f"{what}: {where} share execution units and caches; {remedy}"


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
    """Return a share of a time; there is none of a clock that stood still."""
    return "all" if share is None else format_percent(share)


def _relay_late(*, share: float, late_s: float, planted_s: float) -> str:
    return (
        f"{format_percent(share)} of the packets between the emulated hosts were more than "
        f"{format_time(late_s)} late, since the emulator shares the cores with what is measured: "
        f"{consequence(share, late_s, planted_s, 'such numbers')}; "
        "use fewer ranks than cores, or a quieter machine"
    )


def _mixed(*, differs: str) -> str:
    return f"launches of 2 or more sessions that differ in {differs}: measure it anew in one"


def _times(factor: float) -> str:
    return f"{format_factor(factor)} times"


WORDS: dict[WarningKind, WarningText] = {
    "shared-core": WarningText(_shared_core, brief="ranks share a processor", severity="worst"),
    "mixed": WarningText(
        _mixed,
        brief="continued on another machine, or with other programs",
        short="of two machines or programs",
    ),
    "no-interval": WarningText(
        _no_interval,
        brief="no interval: a single launch, or a clock that stood still",
        short="no interval can be given",
        seen_elsewhere=True,
    ),
    "few-launches": WarningText(
        _few_launches,
        brief=f"fewer than {ENOUGH_LAUNCHES} launches: the interval rests on little",
        short=f"fewer than {ENOUGH_LAUNCHES} launches",
        seen_elsewhere=True,
    ),
    "launches-lost": WarningText(
        _launches_lost, short="some launches gave no times", seen_elsewhere=True, label="missing-launches"
    ),
    "few-samples": WarningText(_few_samples, short="too few samples per launch", severity="harmless"),
    "clock-step": WarningText(
        _clock_step,
        brief="a step of the clock is a large part of the time",
        short="the clock is coarse for it",
        worst_by="share",
        format_worst=format_percent,
    ),
    "outlier-launches": WarningText(
        _outlier_launches,
        brief="a few launches took much longer or less than the others",
        short="some launches are far off",
        worst_by="factor",
        format_worst=_times,
    ),
    "two-kinds-of-launches": WarningText(
        _two_kinds,
        brief="launches are bimodal; the time is the median of both kinds",
        short="launches are bimodal",
        label="bimodal",
    ),
    "phases": WarningText(
        _phases,
        brief="launches differ in phases; the time is the median of both kinds",
        short="launches differ in phases",
    ),
    "launches-in-time": WarningText(
        _launches_in_time,
        brief="neighbouring launches agree; intervals are widened",
        short="neighbouring launches agree",
        seen_elsewhere=True,
    ),
    "drift": WarningText(
        _drift,
        brief="launches begin slower or faster than they end",
        short="times drift within launches",
        worst_by="factor",
        format_worst=_times,
        severity="harmless",
    ),
    "oversubscribed": WarningText(
        _oversubscribed,
        brief="more ranks than cores",
        short="more ranks than cores",
        severity="by factors",
        seen_elsewhere=True,
    ),
    "hardware-threads": WarningText(
        _hardware_threads, brief="ranks on the hardware threads of one core", severity="harmless"
    ),
    "tail": WarningText(
        _tail,
        short="p99 above 3 times the median",
        worst_by="ratio",
        format_worst=_times,
        severity="harmless",
    ),
    "batched": WarningText(_batched, short="samples are means of calls", severity="harmless"),
    "skewed": WarningText(
        _skewed,
        brief="includes start skew of more than 5 %",
        short="ranks start far apart",
        worst_by="share",
        format_worst=format_percent,
        label="start-skew",
    ),
    "late-starts": WarningText(
        _late_starts,
        brief="many rounds started late",
        short="ranks late for the start",
        worst_by="share",
        format_worst=format_percent,
    ),
    "clock-error": WarningText(
        _clock_error,
        brief="the ranks' clocks disagreed by more than 10 % of it",
        short="the ranks' clocks disagree",
        worst_by="share",
        format_worst=format_percent,
    ),
    "clock-share": WarningText(
        _clock_share,
        short="timer overhead",
        worst_by="share",
        format_worst=format_percent,
        severity="harmless",
        label="timer-overhead",
    ),
    "relay-late": WarningText(
        _relay_late,
        brief="the emulator delivered packets late",
        worst_by="share",
        format_worst=format_percent,
    ),
    "wide": WarningText(
        _wide,
        worst_by="half_width",
        format_worst=format_relative,
        severity="note",
        seen_elsewhere=True,
        label="imprecise",
    ),
}
"""In the order of the kinds."""

NOTES = frozenset(kind for kind, text in WORDS.items() if text.severity == "note")
"""Warnings that say what stands beside the number already."""
