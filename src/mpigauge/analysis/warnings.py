"""What a reader must know beside a number: warnings as data, a kind for programs, a sentence for people.

To add one: its kind in `Kind`, a function of the cell that gives "" when all is well,
and its line in `_CHECKS`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from mpigauge.analysis.percentiles import PERCENTS, enough_for_percentile
from mpigauge.units import format_percent, format_relative, format_time
from mpigauge.vocabulary import TAIL

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.analysis.estimate import Estimate

Kind = Literal[
    "no-interval",
    "few-launches",
    "launches-lost",
    "few-samples",
    "two-kinds-of-launches",
    "intervals-disagree",
    "wide",
    "oversubscribed",
    "not-steady",
    "correlated",
    "tail",
    "batched",
    "skewed",
    "late-starts",
    "clock-error",
    "clock-share",
    "relay-late",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Every kind, in the order in which they are given."""

ENOUGH_LAUNCHES = 5
MOST_LAUNCHES = 30
COUNTABLE_LAUNCHES = 1000
TAIL_RATIO = 3.0
DISAGREEMENT = 2.0
SKEW_SHARE = 0.05
LATE_SHARE = 0.05
CLOCK_ERROR_SHARE = 0.1
CLOCK_SHARE = 0.05
RELAY_LATE_SHARE = 0.02
RELAY_LATE_S = 50e-6
_NOTABLE_SHARE = 0.25
_HALF = 0.5
_TAILS = PERCENTS.keys() - {"median"}


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001 - read as warnings.Warning
    """One thing to know of a cell.

    Attributes:
        kind: One of KINDS; what JSON shows.
        text: One sentence with the numbers, and what to do.
    """

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class _Cell:
    estimate: Estimate
    ranks: int
    cores: int | None
    launches_requested: int | None
    launches_skipped: int
    precision: float | None
    batch: int
    stat: str
    clock_cost_s: float
    skew_s: float
    late_share: float
    clock_error_s: float
    relay_late_share: float


def warnings_for(
    estimate: Estimate,
    *,
    ranks: int,
    cores: int | None,
    launches_requested: int | None = None,
    launches_skipped: int = 0,
    precision: float | None = None,
    batch: int = 1,
    stat: str = "median",
    clock_cost_s: float = 0.0,
    skew_s: float = 0.0,
    late_share: float = 0.0,
    clock_error_s: float = 0.0,
    relay_late_share: float = 0.0,
) -> list[Warning]:
    """What to know of a cell, in the order of KINDS; empty if all is well.

    Args:
        estimate: Of this cell.
        ranks: How many processes ran.
        cores: How many cores their hosts have; None if unknown.
        launches_requested: How many launches were asked for; None if that was left open.
        launches_skipped: How many of them had no time for it.
        precision: The relative half-width asked for, as a fraction; None if none was.
        batch: How many operations each sample is the mean of.
        stat: The statistic that stands for a launch.
        clock_cost_s: Of a reading of the clock, where every sample is one operation and contains one.
        skew_s: Median of last start - first start, of ranks that start together.
        late_share: Rounds before whose start not every rank had come, of all.
        clock_error_s: How far off the clock was by which they started.
        relay_late_share: Of the packets between emulated hosts, those that were more than 50 us late.
    """
    cell = _Cell(
        estimate,
        ranks,
        cores,
        launches_requested,
        launches_skipped,
        precision,
        batch,
        stat,
        clock_cost_s,
        skew_s,
        late_share,
        clock_error_s,
        relay_late_share,
    )
    texts = {kind: check(cell) for kind, check in _CHECKS.items()}
    return [Warning(kind, text) for kind, text in texts.items() if text]


def _no_interval(cell: _Cell) -> str:
    estimate = cell.estimate
    if estimate.low is not None:
        return ""
    if estimate.launches > 1:
        return (
            "no interval: in at least one launch the clock stood still for a whole operation (0 s); "
            f"time more than {cell.batch} of them between two readings"
        )
    if (cell.launches_requested or 1) > 1:
        return (
            f"no interval (1 launch): only this one of {cell.launches_requested} launches gave times; "
            f"{_why_lost(cell)}"
        )
    return f"no interval (1 launch): use --launches {ENOUGH_LAUNCHES} or more to see how they differ"


def _few_launches(cell: _Cell) -> str:
    estimate = cell.estimate
    if estimate.low is None or estimate.launches >= ENOUGH_LAUNCHES:
        return ""
    finding = f"few launches ({estimate.launches}): the interval rests on very little"
    if (cell.launches_requested or 0) >= ENOUGH_LAUNCHES:
        return f"{finding}; {cell.launches_requested} were begun: {_why_lost(cell)}"
    return f"{finding}; use --launches {ENOUGH_LAUNCHES} or more"


def _launches_lost(cell: _Cell) -> str:
    estimate = cell.estimate
    requested = cell.launches_requested or 0
    # With fewer than enough launches left, the checks above say so already.
    if not ENOUGH_LAUNCHES <= estimate.launches < requested:
        return ""
    finding = f"{requested - estimate.launches} of {requested} launches gave no times here; {_why_lost(cell)}"
    if _failed(cell) == 0:
        return finding
    return f"{finding}: if they did not fail at random, the number is that of the lucky ones"


def _failed(cell: _Cell) -> int:
    """Launches without times that had their time."""
    return (cell.launches_requested or 0) - cell.estimate.launches - cell.launches_skipped


def _why_lost(cell: _Cell) -> str:
    """What to do about launches without times."""
    if _failed(cell) <= 0:
        return "the budget ended before the others came to it: give a larger --budget, or ask for less"
    if cell.launches_skipped == 0:
        return "look at why the others failed"
    return f"in {cell.launches_skipped} the budget ended before it; look at why {_failed(cell)} failed"


def _few_samples(cell: _Cell) -> str:
    estimate = cell.estimate
    rounds = estimate.samples // estimate.launches
    if cell.stat not in _TAILS or enough_for_percentile(rounds, PERCENTS[cell.stat]):
        return ""
    return (
        f"about {rounds} rounds a launch are too few for {cell.stat}: under 20 of them lie beyond it; "
        "give a larger --budget or a statistic nearer the median"
    )


def _two_kinds(cell: _Cell) -> str:
    estimate = cell.estimate
    if estimate.kinds is None:
        return ""
    fast, slow = estimate.kinds
    return (
        f"two kinds of launches, around {format_time(fast)} and {format_time(slow)}; "
        "the estimate lies between them: compare how their ranks were bound and on which hosts they ran"
    )


def _intervals_disagree(cell: _Cell) -> str:
    estimate = cell.estimate
    if None in (estimate.low, estimate.rank_low) or not estimate.half_width:
        return ""
    by_ranks = _relative_width(estimate.rank_low, estimate.rank_high)
    ratio = by_ranks / _relative_width(estimate.low, estimate.high)
    if 1 / DISAGREEMENT <= ratio <= DISAGREEMENT:
        return ""
    return (
        f"the interval by ranks is {ratio:.2g} times as wide as the t interval, so launches are far from "
        f"lognormal; trust the wider one, or use more than {estimate.launches} launches"
    )


def _relative_width(low: float | None, high: float | None) -> float:
    return math.log(high / low) if low and high else math.nan


def _wide(cell: _Cell) -> str:
    estimate = cell.estimate
    precision, half_width = cell.precision, estimate.half_width
    if precision is None or half_width is None or half_width <= precision:
        return ""
    asked = format_relative(precision)
    finding = f"the interval is {format_relative(half_width)}, wider than the {asked} asked for"
    if estimate.launch_share is not None and estimate.launch_share < _HALF:
        noise = format_percent(1 - estimate.launch_share)
        return f"{finding}; {noise} of the variance comes from the rounds: give a larger --budget"
    needed = math.ceil(estimate.launches * (math.log1p(half_width) / math.log1p(precision)) ** 2)
    if needed <= MOST_LAUNCHES:
        return f"{finding}; not {estimate.launches} but about {needed} launches would do: --launches {needed}"
    many = f"about {needed}" if needed <= COUNTABLE_LAUNCHES else f"more than {COUNTABLE_LAUNCHES}"
    return (
        f"{finding}; it would take {many} launches: find out what differs between launches, "
        "or ask for less precision"
    )


def _oversubscribed(cell: _Cell) -> str:
    if cell.cores is None or cell.ranks <= cell.cores:
        return ""
    return (
        f"{cell.ranks} ranks share {cell.cores} cores: the times are those of the scheduler, "
        "not of the network; use fewer ranks or more hosts"
    )


def _not_steady(cell: _Cell) -> str:
    estimate = cell.estimate
    if not _notable(estimate.unsteady_launches, estimate.launches):
        return ""
    return (
        f"{estimate.unsteady_launches} of {_launches(estimate)} not steady: blocks of rounds past the "
        "first quarter still leave the range of the last half; look for other work on the hosts"
    )


def _correlated(cell: _Cell) -> str:
    estimate = cell.estimate
    if not _notable(estimate.correlated_launches, estimate.launches):
        return ""
    return (
        f"{estimate.correlated_launches} of {_launches(estimate)} strongly correlated: up to "
        f"{estimate.tau:.0f} rounds are worth one; more launches help, more rounds do not"
    )


def _launches(estimate: Estimate) -> str:
    return "1 launch is" if estimate.launches == 1 else f"{estimate.launches} launches are"


def _notable(count: int, launches: int) -> bool:
    # A single burst of noise in one of many launches is ordinary.
    return count > 0 and count >= _NOTABLE_SHARE * launches


def _tail(cell: _Cell) -> str:
    estimate = cell.estimate
    if estimate.p99 is None or estimate.p99 <= TAIL_RATIO * estimate.median or estimate.median <= 0:
        return ""
    ratio = estimate.p99 / estimate.median
    finding = f"one sample in a hundred takes {ratio:.2g} times the median or more"
    if cell.stat in TAIL:
        return f"{finding}; look for other work on the hosts"
    return f"{finding}; if the slow ones count, judge by --stat p99"


def _batched(cell: _Cell) -> str:
    if cell.batch <= 1 or cell.stat not in _TAILS:
        return ""
    return (
        f"each sample is the mean of {cell.batch} operations: {cell.stat} is that of means, "
        "and single slow operations hide in them"
    )


def _share(seconds: float, cell: _Cell) -> str:
    """Of the cell's time; of a clock that stood still there is none."""
    time_s = cell.estimate.estimate
    return format_percent(seconds / time_s) if time_s > 0 else "all"


def _skewed(cell: _Cell) -> str:
    if cell.skew_s <= SKEW_SHARE * cell.estimate.estimate:
        return ""
    share = _share(cell.skew_s, cell)
    return (
        f"the ranks started {format_time(cell.skew_s)} apart, {share} of the time: "
        "part of it is the start's, not the operation's"
    )


def _late_starts(cell: _Cell) -> str:
    if cell.late_share <= LATE_SHARE:
        return ""
    if cell.late_share >= 1:
        return (
            "in 100 % of the rounds a rank was late for the start, so they count all the same: "
            "use fewer ranks than cores, or a quieter machine"
        )
    return (
        f"in {format_percent(cell.late_share)} of the rounds a rank was late for the start; they do not "
        "count where others of their visit do"
    )


def _clock_error(cell: _Cell) -> str:
    if cell.clock_error_s <= CLOCK_ERROR_SHARE * cell.estimate.estimate:
        return ""
    share = _share(cell.clock_error_s, cell)
    return f"clock error {share}: the ranks' clocks were up to {format_time(cell.clock_error_s)} apart"


def _clock_share(cell: _Cell) -> str:
    if cell.clock_cost_s <= CLOCK_SHARE * cell.estimate.estimate:
        return ""
    share = _share(cell.clock_cost_s, cell)
    return f"every sample holds one clock reading of {format_time(cell.clock_cost_s)}, {share} of it"


def _relay_late(cell: _Cell) -> str:
    """A packet that is late is a small part of a long operation."""
    share, time_s = cell.relay_late_share, cell.estimate.estimate
    if share <= RELAY_LATE_SHARE or share * RELAY_LATE_S <= RELAY_LATE_SHARE * time_s:
        return ""
    return (
        f"{format_percent(share)} of the packets between the emulated hosts were more than "
        f"{format_time(RELAY_LATE_S)} late: their relay shares the cores with what is measured; use fewer "
        "ranks than cores, or a quieter machine"
    )


_CHECKS: dict[Kind, Callable[[_Cell], str]] = {
    "no-interval": _no_interval,
    "few-launches": _few_launches,
    "launches-lost": _launches_lost,
    "few-samples": _few_samples,
    "two-kinds-of-launches": _two_kinds,
    "intervals-disagree": _intervals_disagree,
    "wide": _wide,
    "oversubscribed": _oversubscribed,
    "not-steady": _not_steady,
    "correlated": _correlated,
    "tail": _tail,
    "batched": _batched,
    "skewed": _skewed,
    "late-starts": _late_starts,
    "clock-error": _clock_error,
    "clock-share": _clock_share,
    "relay-late": _relay_late,
}
