"""Warnings of rows: a kind is a row of WORDS, with its sentence, consequence, remedy and severity."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from mpigauge.document.cell_names import sized_subject, subject
from mpigauge.document.core_words import cores_allowed, limit_of
from mpigauge.document.lateness_words import consequence
from mpigauge.document.size_words import where
from mpigauge.find.kinds import CellsFound, FindingKind, Words, counted_lines, finding_in
from mpigauge.plan.factors import SIZE
from mpigauge.rows.beyond_chance import BY_CHANCE
from mpigauge.rows.group import group, row_key
from mpigauge.rows.odd_launches import unexplained
from mpigauge.rows.rows import warnings_of
from mpigauge.rows.warnings import PRECISION
from mpigauge.sequences import group_by
from mpigauge.stats.limits import (
    ENOUGH_LAUNCHES,
    LAUNCHES_COUNTABLE,
    PROMISED,
    by_clock_speeds,
)
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
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.finding import Finding
    from mpigauge.find.kinds import About, FindingSeverity
    from mpigauge.rows.group import OfCell, Subject
    from mpigauge.rows.odd_launches import OddLaunch
    from mpigauge.rows.rows import Row
    from mpigauge.rows.warnings import Warning, WarningKind  # noqa: A004 - read as warnings.Warning

    Values = Mapping[str, float | str | None]

MOST_LAUNCHES = 30
"""More are not advised; what makes launches differ is looked for instead."""


ON_ONE_CORE = "two ranks on the hardware threads of one core"


@dataclass(frozen=True, slots=True)
class WarningText:
    """All that is said of one kind of warning.

    Attributes:
        words: With its numbers, from the warning's values by name.
        brief: At the foot of a table whose numbers carry letters; empty for what changes no reading of one.
        short: On the first screen, before how many numbers have it; empty if that is its label.
        severity: Where it stands among other findings.
        worst_by: The value by which cells are ranked; empty if the first one counts.
        format_worst: How that value is written.
        seen_elsewhere: Whether other columns or the heading of a curve show it already.
        label: What people read where programs read the kind; empty if that is the same.
        lines: Lines of a screen, where they are more than a count.
    """

    words: Callable[..., Words]
    brief: str = ""
    short: str = ""
    severity: FindingSeverity = "usual"
    worst_by: str = ""
    format_worst: Callable[[float], str] = str
    seen_elsewhere: bool = False
    label: str = ""
    lines: Callable[[CellsFound], Iterator[Words]] | None = None


def label(kind: WarningKind) -> str:
    """Return what people read for a kind: the field's term."""
    return WORDS[kind].label or kind


def sentence(warning: Warning) -> str:
    """Return one sentence with the numbers, what they mean, and what to do."""
    return words_of(warning).text


def words_of(warning: Warning) -> Words:
    """Return what is said of a warning."""
    return WORDS[warning.kind].words(**warning.values)


# ---- Words ---------------------------------------------------------------------------------------

SCHEDULER = "the times are those of the scheduler"
UNSURE = "nothing says how sure the time is"
"""Where it has no interval."""


def _no_interval(
    *, launches: int, requested: int | None, skipped: int, failed: int, batch: int, made: int = 0
) -> Words:
    if launches > 1:
        return Words(
            "no interval: in at least one launch the clock stood still for a whole operation (0 s)",
            UNSURE,
            f"time more than {batch} operations between two clock readings",
            do="time more operations at once",
        )
    if (requested or 1) > 1:
        return Words(
            f"no interval: only 1 of {requested} launches gave times",
            UNSURE,
            _why_lost(skipped, failed),
            do=_why_lost_briefly(failed),
        )
    why, ask = _more_launches(made, 1)
    return Words("no interval (1 launch)", UNSURE, why, do=ask)


MORE = f"--launches {ENOUGH_LAUNCHES}"


def _more_launches(made: int, counted_in: int) -> tuple[str, str]:
    """Return how many launches to ask for, where so many were made of which some alone count here."""
    if not made:
        return f"use --launches {ENOUGH_LAUNCHES} or more", MORE
    ask = f"--launches {made * max(2, math.ceil(ENOUGH_LAUNCHES / counted_in))}"
    return f"use more than the {made} that were made ({ask})", ask


def _few_launches(*, launches: int, requested: int | None, skipped: int, failed: int, made: int = 0) -> Words:
    fact, meaning = f"few launches ({launches})", "the interval rests on very little"
    so = "intervals are rough"
    if (requested or 0) >= ENOUGH_LAUNCHES:
        why = f"{requested} were started: {_why_lost(skipped, failed)}"
        return Words(fact, meaning, why, so, _why_lost_briefly(failed))
    advice, ask = _more_launches(made, launches)
    return Words(fact, meaning, advice, so, ask)


def _launches_lost(*, launches: int, requested: int, skipped: int, failed: int) -> Words:
    return Words(
        f"{requested - launches} of {requested} launches gave no times here",
        "unless they failed at random, the others are a biased choice" if failed else "the interval is wider",
        _why_lost(skipped, failed),
        "the rest may be biased" if failed else "intervals are wider",
        _why_lost_briefly(failed),
    )


def _why_lost(skipped: int, failed: int) -> str:
    """Return what to do about launches without times."""
    if failed == 0:
        return "the budget ran out before this cell: raise --budget, or measure less"
    if skipped == 0:
        return "find out why the others failed"
    return f"in {skipped} the budget ran out before this cell; find out why {failed} failed"


def _why_lost_briefly(failed: int) -> str:
    return "see --all" if failed else "raise --budget"


def _few_samples(*, rounds: int, stat: str) -> Words:
    return Words(
        f"about {rounds} rounds per launch are too few for {stat}",
        "fewer than 20 lie beyond it",
        "raise --budget, or use a statistic nearer the median",
        f"{stat} may be far off",
        "raise --budget",
    )


def _clock_step(*, step_s: float, share: float, batch: int, in_a_row: str | None = None) -> Words:
    remedy = "choose larger sizes" if batch == 1 else "time more operations between two clock readings"
    also = f", or --mode {in_a_row}: several of them from one start" if in_a_row else ""
    return Words(
        f"the clock moves in steps of {format_time(step_s * batch)}, {format_percent(share)} of the time",
        "smaller differences cannot be seen",
        remedy + also,
        "they hide differences",
        "larger sizes" if batch == 1 else "time more at once",
    )


def _outlier_launches(*, launch: int, factor: float, odd: int, launches: int) -> Words:
    others = (
        f"; {odd - 1} more of {launches} launches differ" if odd > 1 else f", the others of {launches} agree"
    )
    return Words(
        f"launch {launch} took {format_factor(factor)} times as long as usual{others}",
        "the median hardly moves, the mean does",
        "look for what ran beside it",
        "median holds",
        "--all",
    )


def _two_kinds(*, fast_s: float, slow_s: float, fast: int, slow: int) -> Words:
    return Words(
        f"launches are bimodal: {fast} around {format_time(fast_s)}, {slow} around {format_time(slow_s)}",
        "the time is the median of both",
        "compare what the system did with their ranks",
        "the median is of both",
        "try --bind core",
    )


def _phases(*, fast_s: float, slow_s: float, fast: int, slow: int, phases: int) -> Words:
    kinds = f"{fast} around {format_time(fast_s)}, {slow} around {format_time(slow_s)}"
    return Words(
        f"launches differ in phases: {kinds}, in {phases} runs one after the other",
        "the machine changed meanwhile, and the time is the median of both",
        "--over 1h spreads the launches",
        "the machine changed",
        "--over 1h",
    )


def _launches_in_time(*, factor: float, chance: float, span_s: float) -> Words:
    return Words(
        f"neighbouring launches agree more than by chance ({format_percent(chance)})",
        f"the machine changes slowly: what launches give of intervals is up to {format_factor(factor)} times "
        f"as wide, for the minutes around these {format_duration(span_s)}",
        "--over 1h spreads them",
        "intervals are wider",
        "--over 1h",
    )


def _drift(*, factor: float, launches: int) -> Words:
    change = format_percent(abs(factor - 1))
    longer = "longer" if factor > 1 else "less time"
    return Words(
        f"the first quarter of each launch takes {change} {longer} than its last half ({launches} launches)",
        "the time depends on how long a launch lasts",
        "raise --budget, so that launches last longer",
        "not settled",
        "raise --budget",
    )


def _wide(
    *,
    half_width: float,
    launches_half_width: float,
    machine_half_width: float | None,
    promised: float = PROMISED,
    precision: float,
    launches: int,
    launches_needed: int | None,
    launches_needed_low: int | None,
    launches_needed_high: int | None,
    launch_share: float | None,
    visit_share: float | None,
    rounds_share: float | None,
) -> Words:
    asked, is_wide = format_relative(precision), "smaller differences cannot be seen"
    fact = f"the interval is {format_relative(half_width)}, wider than the {asked} asked for"
    if launches_half_width <= precision:
        cause, remedy = _why_beyond_launches(machine_half_width, promised)
        return Words(f"{fact}, {cause}", is_wide, remedy)
    if launch_share is not None and visit_share is not None and rounds_share is not None:
        if rounds_share >= max(launch_share, visit_share):
            share = f"{format_percent(rounds_share)} of the variance is that of rounds"
            return Words(fact, is_wide, f"{share}: raise --budget", do="raise --budget")
        if visit_share >= launch_share:
            share = f"{format_percent(visit_share)} of the variance is that of moments within a launch"
            return Words(fact, is_wide, f"{share}: raise visits in a plan file")
    look = "find out what differs between them, or raise --precision"
    if launches_needed is None:
        return Words(fact, is_wide, f"it would take more than {LAUNCHES_COUNTABLE} launches: {look}")
    reach = f"{launches_needed_low} to {launches_needed_high or f'more than {LAUNCHES_COUNTABLE}'}"
    part = "the launches' part of it" if by_clock_speeds(machine_half_width, promised) else "it"
    needed = f"{part} takes about {launches_needed} launches instead of {launches} (most likely {reach})"
    more = f"--launches {launches_needed}" if launches_needed <= MOST_LAUNCHES else look
    return Words(fact, is_wide, f"{needed}: {more}")


def _cause_beyond_launches(found: Iterable[Values]) -> str:
    """Return what makes most of some intervals wider than their launches do."""
    return "the cores' clock" if any(map(_is_by_clock_speeds, found)) else "the instrument"


def _is_by_clock_speeds(values: Values) -> bool:
    """Return whether a wide interval is so by the speeds of the cores."""
    promised = float(values.get("promised") or PROMISED)
    return by_clock_speeds(float(values["machine_half_width"] or 0), promised)


def _why_beyond_launches(half_width: float | None, promised: float) -> tuple[str, str]:
    """Return why an interval is wide whose launches agree, and what to do."""
    if by_clock_speeds(half_width, promised):
        cause = "by the changing clock speeds of the cores alone"
        return cause, "only another state of the machine narrows it, such as a fixed frequency"
    return f"by the {format_percent(half_width)} that the instrument cannot promise", "raise --precision"


def _oversubscribed(
    *, ranks: int, cores: int, cores_online: int = 0, cores_limit: str = "", fewest: bool = False
) -> Words:
    limit = limit_of(cores, cores_online, cores_limit)
    if limit is not None and ranks <= cores_online:
        remedy, do = limit.remedy, limit.do
    elif fewest:
        remedy, do = "use a machine with more cores, or more hosts", "use more cores"
    else:
        remedy, do = "use fewer ranks or more hosts", "use fewer"
    return Words(
        f"{ranks} ranks share {cores_allowed(cores, cores_online, cores_limit)}",
        f"{SCHEDULER}, not of the network",
        remedy,
        "they time the scheduler",
        do,
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
    fewest: bool = False,
    **_: object,
) -> Words:
    how = "are bound to" if bound else "share"
    fact = f"ranks {ranks_of(ranks, count)} {how} {_processors(cpus, places)} of {host}"
    if threads > 1:
        fact += f", with {threads} threads each that look for messages (asynchronous progress)"
    if not told:
        fact += "; the library was not told so, and those that wait may not give way"
    return Words(fact, SCHEDULER, _apart(binding, threads, bound=bound, fewest=fewest))


def _apart(binding: str | None, threads: int, *, bound: bool, fewest: bool) -> str:
    """Return what gives each of them a processor of its own."""
    if binding:
        return _unset(binding)
    if threads > 1:
        return f"turn asynchronous progress off{'' if fewest else ', or use fewer ranks'}"
    if bound:
        return "bind each to a core of its own (--bind core), or leave them free (--bind none)"
    return f"{'' if fewest else 'use fewer ranks, or '}give the job more processors"


def _unset(binding: str) -> str:
    return f"{binding} is set here: unset it"


def ranks_of(ranks: str, count: int) -> str:
    """Return ranks in words: `0 and 1`, `0-3,8`."""
    return re.sub("[-,]", " and ", ranks) if count == 2 else ranks  # noqa: PLR2004 - a pair


def _processors(cpus: str, places: int) -> str:
    return f"{plural('CPU') if places > 1 else 'CPU'} {cpus}"


def _hardware_threads(
    *, host: str, ranks: str, cpus: str, count: int, places: int, binding: str | None, **_: object
) -> Words:
    what = f"{count} ranks on the hardware threads of fewer cores" if count > 2 else ON_ONE_CORE  # noqa: PLR2004
    where = f"ranks {ranks_of(ranks, count)} on {_processors(cpus, places)} of {host}"
    return Words(
        f"{what}: {where}",
        "they share execution units and caches",
        _unset(binding) if binding else "use no more ranks than cores, and --bind core",
    )


def _tail(*, ratio: float, stat: str) -> Words:
    fact = f"1 % of the samples take {ratio:.2g} times the median or more"
    if stat in TAIL:
        return Words(fact, "single operations are slow", "look for other work on the hosts", do="--all")
    return Words(
        fact, "the median hides them", "if the slow ones count, judge by --stat p99", do="--stat p99"
    )


def _batched(*, batch: int, stat: str) -> Words:
    return Words(
        f"each sample is the mean of {batch} operations",
        f"{stat} is that of means, in which single slow operations hide",
        "read it where an operation takes longer",
        f"{stat} is of means",
        "larger sizes",
    )


def _skewed(*, skew_s: float, share: float | None, fewest: bool = False) -> Words:
    return Words(
        f"the ranks started {format_time(skew_s)} apart",
        f"start skew is {_share(share)} of the time",
        *_on_time(fewest, "skew is in the times"),
    )


def _on_time(fewest: bool, so: str) -> tuple[str, str, str]:
    """Return what helps ranks that come late, after what their lateness means in a few words."""
    if fewest:
        return "use more cores than ranks, or a quieter machine", so, "use more cores"
    return "use fewer ranks than cores, or a quieter machine", so, "fewer ranks"


def _late_starts(*, share: float, fewest: bool = False) -> Words:
    if share >= 1:
        return Words(
            "in 100 % of the rounds a rank was late for the start",
            "so they all count",
            *_on_time(fewest, "skew is in the times"),
        )
    return Words(
        f"in {format_percent(share)} of the rounds a rank was late for the start",
        "these do not count where other rounds of their visit do",
        *_on_time(fewest, "fewer rounds count"),
    )


def _clock_error(*, error_s: float, share: float | None) -> Words:
    return Words(
        f"the ranks' clocks were up to {format_time(error_s)} apart, {_share(share)} of the time",
        "the time may be wrong by as much",
        "use --sync barrier, or larger sizes",
        "times are as wrong",
        "--sync barrier",
    )


def _clock_share(*, cost_s: float, share: float | None) -> Words:
    cost = format_time(cost_s)
    return Words(
        f"timer overhead: each sample contains one clock reading of {cost}, {_share(share)} of it",
        "the operation takes less time",
        "subtract it, or choose larger sizes",
        "times are too long",
        f"subtract {cost}",
    )


def _share(share: float | None) -> str:
    """Return a share of a time; there is none of a clock that stood still."""
    return "all" if share is None else format_percent(share)


def _relay_late(*, share: float, late_s: float, planted_s: float, fewest: bool = False) -> Words:
    remedy, _, do = _on_time(fewest, "")
    return Words(
        f"{format_percent(share)} of the packets between the emulated hosts were more than "
        f"{format_time(late_s)} late, since the emulator shares the cores with what is measured",
        consequence(share, late_s, planted_s, "such numbers"),
        remedy,
        do=do,
    )


def _mixed(*, differs: str) -> Words:
    return Words(
        f"launches of 2 or more sessions that differ in {differs}",
        "the number is of two machines or programs, and its interval covers both",
        "measure it anew in one",
        "each is of both",
        "measure anew",
    )


def _times(factor: float) -> str:
    return f"{format_factor(factor)} times"


# ---- Lines of a screen ---------------------------------------------------------------------------


def _counted(kind: WarningKind, cells: CellsFound) -> Iterator[Words]:
    """Yield lines that count the numbers with a warning, with the advice of the first."""
    text = WORDS[kind]
    words = text.words(**_values(cells.rows[0], kind))
    so, do = words.so or words.consequence, words.do or words.remedy
    yield from counted_lines(text.short or label(kind), cells, so, do)


def _oversubscribed_lines(cells: CellsFound) -> Iterator[Words]:
    """Yield what keeps ranks to fewer cores than there are, where more would do for all of them."""
    of = _values(cells.rows[0], "oversubscribed")
    cores, online = (int(of.get(name) or 0) for name in ("cores", "cores_online"))
    limit = str(of.get("cores_limit") or "")
    most = max(row.cell.ranks for row in cells.rows)
    if (found := limit_of(cores, online, limit)) and most <= online and len(cells.rows) == cells.of:
        yield Words(f"{cores_allowed(cores, online, limit)}: scheduler's times", remedy=found.do)
    yield from _counted("oversubscribed", cells)


def _two_kinds_lines(cells: CellsFound) -> Iterator[Words]:
    """Yield lines that count numbers of two kinds; there is nothing to bind where ranks share cores."""
    if all(row.oversubscribed for row in cells.rows):
        text, crowded = (
            WORDS["two-kinds-of-launches"],
            WORDS["oversubscribed"].words(**_values(cells.rows[0], "oversubscribed")),
        )
        yield from counted_lines(text.short, cells, "", crowded.do)
    else:
        yield from _counted("two-kinds-of-launches", cells)


def _wide_lines(cells: CellsFound) -> Iterator[Words]:
    """Yield how many intervals are wider than was asked for; where nobody has asked, which are wide."""
    if cells.precision == PRECISION:
        yield from _quoted_and_wide_lines(cells)
        return
    rows, values = cells.rows, [_values(row, "wide") for row in cells.rows]
    asked = f"\N{PLUS-MINUS SIGN}{100 * cells.precision:g} %"
    worst = format_relative(max(map(_width, rows)))
    what = f"wider than the {asked} asked for: {len(rows)} of {cells.of} numbers, worst {worst}"
    launches, machine = _narrowing(values), sum(map(_by_speeds, values))
    other = f"{machine} only another state of the machine" if machine else ""
    if not (launches or other):
        other = _what_else(values)
    for said in (f"interval {what}", what, what.replace(f"the {asked} asked for", asked)):
        yield Words(said, remedy=", ".join(filter(None, [launches, other])))
        yield Words(said, remedy=launches or other)


MAX_WIDTH = 0.1
"""Half-width of a shown number above which it is told, though nobody has asked for a precision."""


def _quoted_and_wide_lines(cells: CellsFound) -> Iterator[Words]:
    """Yield the quoted numbers with a wide interval, the widest first, as many as fit; nothing of others."""
    rows = sorted((row for row in cells.shown if _width(row) > MAX_WIDTH), key=_width, reverse=True)
    widths = [format_relative(_width(row)) for row in rows]
    narrowing = _narrowing([_values(row, "wide") for row in rows])
    alone = len({sized_subject(row.of, ()) for row in cells.shown}) == len(cells.shown)
    names = [sized_subject(row.of, () if alone else cells.varied) for row in rows]
    named = [f"{name} ({width})" for name, width in zip(names, widths, strict=True)]
    for count in range(len(rows), 0, -1):
        more = [f"{len(rows) - count} more"] if count < len(rows) else []
        yield Words(f"wide intervals: {', '.join([*named[:count], *more])}", remedy=narrowing)


def _narrowing(found: Sequence[Values]) -> str:
    """Return how many launches narrow how many of some intervals; nothing if they narrow none."""
    needed = [launches for values in found if (launches := _narrowed_by(values)) is not None]
    which = "them" if len(needed) == len(found) else len(needed)
    return f"--launches {max(needed)} narrows {which}" if needed else ""


def _narrowed_by(values: Values) -> int | None:
    """Return after how many launches an interval would be narrower; None if that is no remedy."""
    needed = int(values["launches_needed"] or 0)
    return needed if not _launches_agree(values) and 0 < needed <= MOST_LAUNCHES else None


def _by_speeds(values: Values) -> bool:
    """Return whether the speeds of the cores alone make an interval wider than was asked for."""
    machine = float(values["machine_half_width"] or 0)
    return _is_by_clock_speeds(values) and machine > float(values["precision"] or 0)


def _what_else(found: Sequence[Values]) -> str:
    """Return what to do where neither launches nor another state of the machine narrows an interval."""
    return "raise --precision" if all(map(_launches_agree, found)) else "launches differ: --all"


def _launches_agree(values: Values) -> bool:
    """Return whether an interval is wider than its launches alone would make it."""
    return float(values["launches_half_width"] or 0) <= float(values["precision"] or 0)


def _shared_core_lines(cells: CellsFound) -> Iterator[Words]:
    """Yield which ranks share a core, where, and the shortest remedy."""
    of = _values(cells.rows[0], "shared-core")
    ranks = ranks_of(str(of["ranks"]), int(of["count"] or 0))
    if binding := str(of["binding"] or ""):
        remedy = f"unset {binding.partition('=')[0]}"
    else:
        apart = "no progress threads" if int(of["threads"] or 0) > 1 else "give it more cores"
        fewer = apart if of.get("fewest") else "use fewer ranks"
        remedy = "use --bind core" if of["bound"] else fewer
    yield Words(f"ranks {ranks} share CPU {of['cpus']}: the scheduler's times", remedy=remedy)
    yield Words(f"ranks {ranks} share CPU {of['cpus']}: scheduler's times", remedy=remedy)
    yield Words(f"{len(cells.rows)} of {cells.of} numbers are the scheduler's times", remedy=remedy)


def _hardware_threads_lines(cells: CellsFound) -> Iterator[Words]:
    of = _values(cells.rows[0], "hardware-threads")
    ranks = ranks_of(str(of["ranks"]), int(of["count"] or 2))
    remedy = "unset a binding" if of["binding"] else "--bind core"
    core = "on hardware threads of one core"
    yield Words(f"ranks {ranks} {core} (CPU {of['cpus']}): slower", remedy=remedy)
    yield Words(f"ranks {core} (CPU {of['cpus']}): slower", remedy=remedy)
    yield Words(f"ranks {core}: slower", remedy=remedy)


def _relay_late_lines(cells: CellsFound) -> Iterator[Words]:
    """Yield which numbers are left out for late packets, or else what to do with all that are shown."""
    of = {id(row): _numbers(_values(row, "relay-late")) for row in cells.rows}
    left_out = [row for row in cells.rows if row.time is None]
    rows = left_out or cells.rows
    worst = max(rows, key=lambda row: of[id(row)]["share"])
    count = f"{len(rows)} of {cells.of} numbers"
    remedy = WORDS["relay-late"].words(**_values(worst, "relay-late")).do
    counts = [f"{count}{example}" for example in cells.examples(worst)]
    said = [
        "emulated network late: "
        + (f"left out {numbers}" if left_out else consequence(**of[id(worst)], numbers=numbers))
        for numbers in counts
    ]
    for one in said:
        yield Words(one, remedy=remedy)
        yield Words(one)


def _numbers(values: Values) -> dict[str, float]:
    """Return the values that say how late packets were."""
    return {name: float(value) for name, value in values.items() if value is not None and name != "fewest"}


def _values(row: Row, kind: WarningKind) -> Values:
    return next(one.values for one in row.warnings if one.kind == kind)


WORDS: dict[WarningKind, WarningText] = {
    "shared-core": WarningText(
        _shared_core, brief="ranks share a processor", severity="wrong", lines=_shared_core_lines
    ),
    "mixed": WarningText(
        _mixed,
        brief="continued on another machine, or with other programs",
        short="of two machines or programs",
    ),
    "no-interval": WarningText(
        _no_interval,
        brief="no interval: a single launch, or a clock that stood still",
        short="no interval",
        seen_elsewhere=True,
    ),
    "few-launches": WarningText(
        _few_launches,
        brief=f"fewer than {ENOUGH_LAUNCHES} launches: the interval rests on little",
        short=f"fewer than {ENOUGH_LAUNCHES} launches",
        seen_elsewhere=True,
    ),
    "launches-lost": WarningText(
        _launches_lost, short="launches without times", seen_elsewhere=True, label="missing-launches"
    ),
    "few-samples": WarningText(_few_samples, short="too few samples per launch", severity="harmless"),
    "clock-step": WarningText(
        _clock_step,
        brief="a step of the clock is a large part of the time",
        short="clock steps are large",
        worst_by="share",
        format_worst=format_percent,
    ),
    "outlier-launches": WarningText(
        _outlier_launches,
        brief="a few launches took much longer or shorter than the others",
        short="launches far off",
        worst_by="factor",
        format_worst=_times,
    ),
    "two-kinds-of-launches": WarningText(
        _two_kinds,
        brief="launches are bimodal; the time is the median of both kinds",
        short="launches are bimodal",
        label="bimodal",
        lines=_two_kinds_lines,
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
        lines=_oversubscribed_lines,
        brief="more ranks than cores",
        short="more ranks than cores",
        severity="by factors",
        seen_elsewhere=True,
    ),
    "hardware-threads": WarningText(
        _hardware_threads,
        brief="ranks on the hardware threads of one core",
        severity="harmless",
        lines=_hardware_threads_lines,
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
        lines=_relay_late_lines,
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
        lines=_wide_lines,
    ),
}
"""In the order of the kinds."""

NOTES = frozenset(kind for kind, text in WORDS.items() if text.severity == "note")
"""Warnings that say what stands beside the number already."""

# ---- Kinds of findings ---------------------------------------------------------------------------


def warning_kind(kind: WarningKind, text: WarningText) -> FindingKind:
    """Return a kind of warnings as one of findings."""
    return FindingKind(
        kind,
        text.severity,
        partial(_marked, kind),
        lambda cells: text.words(**_values(cells.rows[0], kind)),
        text.lines or partial(_counted, kind),
        partial(_below, kind),
        partial(_told, kind),
    )


def _marked(kind: WarningKind, about: About) -> Iterator[CellsFound]:
    """Yield the numbers with a warning: those that the screen quotes first, then the widest intervals."""
    every = [*about.numbers, *(row for row in about.rows if row.time is None and _has(row, kind))]
    mine = [row for row in every if _has(row, kind)]
    if mine:
        mine.sort(key=lambda row: (row.cell not in about.quoted, -_width(row)))
        on_screen = kind not in BY_CHANCE or kind in about.beyond_chance
        quoted = mine[0].cell in about.quoted
        shown = tuple(row for row in mine if row.of in about.times_shown)
        precision = about.result.campaign.plan.precision
        yield CellsFound(tuple(mine), len(every), quoted, on_screen, precision, about.varied, shown)


def _has(row: Row, kind: WarningKind) -> bool:
    return any(warning.kind == kind for warning in row.warnings)


def _width(row: Row) -> float:
    return (row.time.precision or 0.0) if row.time else 0.0


def _told(kind: WarningKind, about: About, _: CellsFound) -> Iterator[Finding]:
    """Yield the warning of every cell."""
    yield from (one for one in warning_findings(about.rows) if one.kind == kind)


def warning_findings(rows: Iterable[Row]) -> Iterator[Finding]:
    """Yield all warnings of rows as findings."""
    for row in rows:
        for one in row.warnings:
            is_note = one.kind in NOTES
            yield finding_in(one.kind, words_of(one), dict(one.values), (row.cell,), note=is_note)


# ---- Below a table -------------------------------------------------------------------------------

MAX_CURVES = 3
"""Curves that are named with their sizes; of more, how many."""


def _below(kind: WarningKind, about: About, _: CellsFound) -> Iterator[Words]:
    """Yield where a warning holds; what a launch did as a whole is said once."""
    found = warnings_of(about.rows)[kind]
    if kind == "outlier-launches":
        yield from (Words(f"{label(kind)}: {_odd(one)}") for one in about.odd)
        alone = unexplained(about.rows, about.odd)
        found = [(of, warning) for of, warning in found if of.cell in alone]
    if gone := warnings_of(row for row in about.rows if row.time is None)[kind]:
        yield _where_it_holds(about, kind, gone, f"{label(kind)}: left out, ", len(gone))
        found = warnings_of(row for row in about.rows if row.time is not None)[kind]
    if found:
        yield _where_it_holds(about, kind, found, f"{label(kind)}: ")


def _odd(one: OddLaunch) -> str:
    """Return what a launch did as a whole."""
    reach = f"{format_factor(one.least)} to {format_factor(one.most)}"
    where = f"in {len(one.cells)} of {one.measured} numbers ({reach})"
    when = "" if one.begin_s is None else f", {format_duration(one.begin_s)} after the start"
    return (
        f"launch {one.number} of {one.job.name} took {format_factor(one.factor)} times as long as usual "
        f"{where}{when}"
    )


def _where_it_holds(
    about: About,
    kind: WarningKind,
    found: Sequence[tuple[Subject, Warning]],
    begin: str,
    most_curves: int = MAX_CURVES,
) -> Words:
    """Return where a warning holds, from least to most, and what is said of the worst number."""
    if kind == "launches-in-time":
        return _after(f"{begin}all numbers: ", found[0][1])
    of, worst = max(found, key=lambda one: _rank(one[1]))
    name = sized_subject(of, about.varied)
    if len(found) == 1:
        return _after(f"{begin}{name}: ", worst)
    places = _where(about, [mine for mine, _ in found], most_curves)
    machine = [warning for _, warning in found if _by_machine(warning)]
    cause = _cause_beyond_launches(one.values for one in machine)
    alone = f", {len(machine)} by {cause} alone" if machine else ""
    counts = f"{counted(len(found), 'number')}{_reach(kind, found)}{alone}"
    return _after(f"{begin}{places} ({counts}); {name}: ", worst)


def _after(begin: str, warning: Warning) -> Words:
    """Return what is said of a warning, after what it is about."""
    words = words_of(warning)
    return replace(words, fact=f"{begin}{words.fact}")


def _rank(warning: Warning) -> tuple[bool, float]:
    """Return how bad a warning is; what more launches help comes first, a factor is as bad as its inverse."""
    helps = not _by_machine(warning)
    name = WORDS[warning.kind].worst_by
    value = warning.values.get(name)
    if not isinstance(value, int | float):
        return helps, 0.0
    return helps, max(value, 1 / value) if name == "factor" and value > 0 else float(value)


def _by_machine(warning: Warning) -> bool:
    """Return whether a warning is of an interval that its launches alone would not make too wide."""
    return warning.kind == "wide" and _launches_agree(warning.values)


def _reach(kind: WarningKind, found: Iterable[tuple[Subject, Warning]]) -> str:
    text = WORDS[kind]
    known = [value for _, one in found if isinstance(value := one.values.get(text.worst_by), int | float)]
    low, high = (text.format_worst(end) for end in (min(known, default=0.0), max(known, default=0.0)))
    if low == high:
        return ""
    limits = {text.format_worst(float(one.values["precision"] or 0)) for _, one in found if kind == "wide"}
    return f", {'just above ' if low in limits else ''}{low} to {high}"


# ---- Cells ---------------------------------------------------------------------------------------


def _where(about: About, found: Iterable[Subject], most_curves: int) -> str:
    """Return curves with the sizes concerned: `pingpong from 8 KiB to 64 KiB; exchange at 8 B`."""
    curves = group(found, SIZE)
    every = group_by(about.rows, lambda row: row_key(row, SIZE))
    named = [
        subject(mine[0], about.varied)
        + where(_sizes(mine), _sizes(every[row_key(mine[0], SIZE)]), mine[0].cell, len(mine))
        for mine in curves[:most_curves]
    ]
    more = len(curves) - most_curves
    return "; ".join([*named, *([counted(more, "more curve")] if more > 0 else [])])


def _sizes(found: Iterable[OfCell]) -> list[int]:
    return sorted({one.cell.bytes for one in found})


WARNINGS: tuple[FindingKind, ...] = tuple(warning_kind(kind, text) for kind, text in WORDS.items())
"""In the order of WORDS."""
