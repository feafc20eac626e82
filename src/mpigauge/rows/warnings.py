"""What a reader must know beside a number: warnings as facts, a kind with its values.

To add one: its kind in `WarningKind`, a check with its line in `_CHECKS`, a row of `WORDS` in
`find.warning_sentences` with all that is said of it and how bad it is, and a row in docs/warnings.md, all in
the same order. Whatever else lists warnings is computed from these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from mpigauge.result.cpu_lists import list_of
from mpigauge.stats.interval import launches_needed
from mpigauge.stats.launch_drifts import mean_drifts
from mpigauge.stats.launch_groups import phases
from mpigauge.stats.limits import ENOUGH_LAUNCHES
from mpigauge.stats.percentiles import PERCENTS, enough_for_percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mpigauge.rows.estimate import Estimate
    from mpigauge.rows.machine.crowding import Crowd, Lacks
    from mpigauge.rows.machine.serial_correlation import InTime

WarningKind = Literal[
    "shared-core",
    "mixed",
    "no-interval",
    "few-launches",
    "launches-lost",
    "few-samples",
    "clock-step",
    "outlier-launches",
    "two-kinds-of-launches",
    "phases",
    "launches-in-time",
    "drift",
    "oversubscribed",
    "hardware-threads",
    "tail",
    "batched",
    "skewed",
    "late-starts",
    "clock-error",
    "clock-share",
    "relay-late",
    "wide",
]
"""What a reader must know beside a number, in the order in which it is given."""

WARNING_KINDS: tuple[WarningKind, ...] = get_args(WarningKind)

CROWDED: frozenset[WarningKind] = frozenset({"oversubscribed", "shared-core"})
"""Warnings that ranks had to share processors."""

PRECISION = 0.03
"""Of a plan that asks for none."""
TAIL_RATIO = 3.0
SKEW_SHARE = 0.05
LATE_SHARE = 0.05
CLOCK_ERROR_SHARE = 0.1
CLOCK_SHARE = 0.05
RELAY_LATE_SHARE = 0.02
RELAY_LATE_S = 50e-6
_TAILS = PERCENTS.keys() - {"median"}

Values = dict[str, float | str | None]


@dataclass(frozen=True, slots=True)
class Warning:  # noqa: A001 - read as warnings.Warning
    """One thing to know of a cell.

    Attributes:
        values: What the warning rests on, by name, in SI units; its words are a function of them.
    """

    kind: WarningKind
    values: Mapping[str, float | str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """A cell that was measured, and what was tried.

    Attributes:
        estimate: Of this cell.
        ranks: How many processes ran.
        cores: How many cores their hosts have; None if unknown.
        cores_online: How many there would be without a limit.
        cores_limit: What keeps us from using all of them, as the environment has it.
        fewest: Whether the pattern takes no fewer ranks.
        launches_requested: How many launches were asked for; None if that was left open.
        launches_made: How many the job had, where only those in one state or undisturbed count; else 0.
        launches_skipped: How many of them had no time for it.
        precision: The relative half-width asked for, as a fraction; None if none was.
        batch: How many operations each sample is the mean of.
        stat: The statistic that stands for a launch.
        in_a_row: The mode in which this operation is timed several times in a row; "" if there is none.
        clock_cost_s: Of a reading of the clock, where every sample contains one.
        skew_s: Median of last start - first start, of ranks that start together.
        late_share: Rounds before whose start not every rank had come, of all.
        clock_error_s: How far off the clock was by which they started.
        relay_late_share: Of the packets between emulated hosts, those that were more than 50 us late.
        relay_planted_s: The delay of the lab between its hosts.
        in_time: How much neighbouring launches agree; None if that is not known.
        span_s: Over how much time the launches were spread.
        crowd: Ranks that were more than the processors, or the cores, that they may run on.
        told: Whether the library was told that waiting ranks must give way.
        binding: Variables by which the user has said where ranks may run, or has added threads to them.
        differs: In what its sessions differ, if it was continued elsewhere or with other programs.
    """

    estimate: Estimate
    ranks: int
    cores: int | None
    cores_online: int = 0
    cores_limit: str = ""
    fewest: bool = False
    launches_requested: int | None = None
    launches_made: int = 0
    launches_skipped: int = 0
    precision: float | None = None
    batch: int = 1
    stat: str = "median"
    in_a_row: str = ""
    clock_cost_s: float = 0.0
    skew_s: float = 0.0
    late_share: float = 0.0
    clock_error_s: float = 0.0
    relay_late_share: float = 0.0
    relay_planted_s: float = 0.0
    in_time: InTime | None = None
    span_s: float = 0.0
    crowd: Crowd | None = None
    told: bool = False
    binding: str = ""
    differs: str = ""

    @property
    def launches_failed(self) -> int:
        """Launches without times that had their time."""
        return (self.launches_requested or 0) - self.estimate.launches - self.launches_skipped

    def share(self, seconds: float) -> float | None:
        """Return a time as a share of a sample, of all its operations; None of a clock that stood still."""
        sample_s = self.sample_s
        return seconds / sample_s if sample_s > 0 else None

    @property
    def sample_s(self) -> float:
        """What a sample takes, of however many operations it is."""
        return max(1, self.batch) * self.estimate.estimate

    def launches(self) -> Values:
        """Return how many launches gave times, and what became of the others."""
        return {
            "launches": self.estimate.launches,
            "requested": self.launches_requested,
            "skipped": self.launches_skipped,
            "failed": max(0, self.launches_failed),
            **({"made": self.launches_made} if self.launches_made >= ENOUGH_LAUNCHES else {}),
        }


def warnings_for(circumstances: Circumstances) -> tuple[Warning, ...]:
    """Return what to know of a cell, in the order of the kinds; empty if all is well."""
    found = {kind: check(circumstances) for kind, check in _CHECKS.items()}
    return tuple(Warning(kind, values) for kind, values in found.items() if values is not None)


# ---- Checks: the values of a warning, or None if all is well ------------------------------------


def _no_interval(of: Circumstances) -> Values | None:
    return None if of.estimate.low is not None else {**of.launches(), "batch": of.batch}


def _few_launches(of: Circumstances) -> Values | None:
    return of.launches() if of.estimate.of_few_launches else None


def _launches_lost(of: Circumstances) -> Values | None:
    # With fewer than enough launches left, the checks above say so already.
    if not ENOUGH_LAUNCHES <= of.estimate.launches < (of.launches_requested or 0):
        return None
    return of.launches()


def _few_samples(of: Circumstances) -> Values | None:
    rounds = of.estimate.samples // of.estimate.launches
    if of.stat not in _TAILS or enough_for_percentile(rounds, PERCENTS[of.stat]):
        return None
    return {"rounds": rounds, "stat": of.stat}


def _clock_step(of: Circumstances) -> Values | None:
    """Return the values of a clock step that hides more than half of the precision asked for."""
    step = of.estimate.step
    if step <= (of.precision or PRECISION) / 2:
        return None
    return {
        "step_s": step * of.estimate.estimate,
        "share": step,
        "batch": of.batch,
        "in_a_row": of.in_a_row or None,
    }


def _outlier_launches(of: Circumstances) -> Values | None:
    """Return the values of odd launches; the one that is furthest away stands for all."""
    odd = of.estimate.outliers
    if not odd:
        return None
    times = of.estimate.by_launch
    middle = median(times.values())
    launch = max(odd, key=lambda number: abs(math.log(times[number] / middle)))
    return {
        "launch": launch,
        "factor": times[launch] / middle,
        "odd": len(odd),
        "launches": of.estimate.launches,
    }


def _two_kinds(of: Circumstances) -> Values | None:
    """Return the values of kinds that are mixed in time: something about each launch decides."""
    return None if (slow := _slow_launches(of)) is None or phases(slow) else _kinds(of, slow)


def _phases(of: Circumstances) -> Values | None:
    """Return the values of kinds that follow each other: the machine decides."""
    if (slow := _slow_launches(of)) is None or (runs := phases(slow)) is None:
        return None
    return {**_kinds(of, slow), "phases": runs}


def _slow_launches(of: Circumstances) -> list[bool] | None:
    """Return whether each launch of one of two kinds is the slower one, in their order."""
    if of.estimate.kinds is None:
        return None
    between_s = math.sqrt(math.prod(of.estimate.kinds))
    times = of.estimate.by_launch
    return [times[number] >= between_s for number in sorted(times) if number not in of.estimate.outliers]


def _kinds(of: Circumstances, slow: Sequence[bool]) -> Values:
    fast_s, slow_s = of.estimate.kinds or (None, None)
    return {"fast_s": fast_s, "slow_s": slow_s, "fast": len(slow) - sum(slow), "slow": sum(slow)}


def _launches_in_time(of: Circumstances) -> Values | None:
    if of.in_time is None or not of.in_time.is_beyond_chance:
        return None
    return {"factor": of.in_time.factor, "chance": of.in_time.chance, "span_s": of.span_s}


def _drift(of: Circumstances) -> Values | None:
    """Return by how much launches begin slower or faster, if Student's t says that they do."""
    drifts = np.array([of.estimate.drifts], dtype=float)
    (mean,), (over,) = mean_drifts(drifts, np.array([of.estimate.step]))
    return {"factor": math.exp(mean), "launches": drifts.size} if over > 1 else None


def _wide(of: Circumstances) -> Values | None:
    estimate, precision = of.estimate, of.precision
    by_launches = estimate.launches_precision
    if precision is None or by_launches is None or (estimate.precision or 0.0) <= precision:
        return None
    needed, low, high = launches_needed(by_launches, estimate.launches, precision, estimate.step)
    return {
        "half_width": estimate.precision,
        "launches_half_width": by_launches,
        "machine_half_width": estimate.machine_half_width,
        "promised": estimate.promised,
        "precision": precision,
        "launches": estimate.launches,
        "launches_needed": needed,
        "launches_needed_low": low,
        "launches_needed_high": high,
        "launch_share": estimate.launch_share,
        "visit_share": estimate.visit_share,
        "rounds_share": estimate.round_share,
    }


def _oversubscribed(of: Circumstances) -> Values | None:
    if of.cores is None or of.ranks <= of.cores:
        return None
    return {
        "ranks": of.ranks,
        "cores": of.cores,
        "cores_online": of.cores_online,
        "cores_limit": of.cores_limit,
        "fewest": of.fewest,
    }


def _shared_core(of: Circumstances) -> Values | None:
    """Return the ranks that share a processor; where there are more ranks than cores, all know it."""
    return None if _oversubscribed(of) else _crowd(of, "processor")


def _hardware_threads(of: Circumstances) -> Values | None:
    return None if _oversubscribed(of) else _crowd(of, "core")


def _crowd(of: Circumstances, lacks: Lacks) -> Values | None:
    crowd = of.crowd
    if crowd is None or crowd.lacks != lacks:
        return None
    return {
        "host": crowd.host,
        "ranks": list_of(crowd.ranks),
        "cpus": list_of(crowd.cpus),
        "count": len(crowd.ranks),
        "places": len(crowd.cpus),
        "threads": crowd.threads,
        "bound": crowd.bound,
        "told": of.told,
        "binding": of.binding or None,
        "fewest": of.fewest,
    }


def _tail(of: Circumstances) -> Values | None:
    p99, median = of.estimate.p99, of.estimate.median
    if p99 is None or p99 <= TAIL_RATIO * median or median <= 0:
        return None
    return {"ratio": p99 / median, "stat": of.stat}


def _batched(of: Circumstances) -> Values | None:
    return {"batch": of.batch, "stat": of.stat} if of.batch > 1 and of.stat in _TAILS else None


def _skewed(of: Circumstances) -> Values | None:
    if of.skew_s <= SKEW_SHARE * of.sample_s:
        return None
    return {"skew_s": of.skew_s, "share": of.share(of.skew_s), "fewest": of.fewest}


def _late_starts(of: Circumstances) -> Values | None:
    return None if of.late_share <= LATE_SHARE else {"share": of.late_share, "fewest": of.fewest}


def _clock_error(of: Circumstances) -> Values | None:
    if of.clock_error_s <= CLOCK_ERROR_SHARE * of.sample_s:
        return None
    return {"error_s": of.clock_error_s, "share": of.share(of.clock_error_s)}


def _clock_share(of: Circumstances) -> Values | None:
    if of.clock_cost_s <= CLOCK_SHARE * of.sample_s:
        return None
    return {"cost_s": of.clock_cost_s, "share": of.share(of.clock_cost_s)}


def _relay_late(of: Circumstances) -> Values | None:
    """Return the share of late packets where it matters: one is a small part of a long operation."""
    share, time_s = of.relay_late_share, of.estimate.estimate
    if share <= RELAY_LATE_SHARE or share * RELAY_LATE_S <= RELAY_LATE_SHARE * time_s:
        return None
    return {"share": share, "late_s": RELAY_LATE_S, "planted_s": of.relay_planted_s, "fewest": of.fewest}


def _mixed(of: Circumstances) -> Values | None:
    return {"differs": of.differs} if of.differs else None


_CHECKS: dict[WarningKind, Callable[[Circumstances], Values | None]] = {
    "shared-core": _shared_core,
    "mixed": _mixed,
    "no-interval": _no_interval,
    "few-launches": _few_launches,
    "launches-lost": _launches_lost,
    "few-samples": _few_samples,
    "clock-step": _clock_step,
    "outlier-launches": _outlier_launches,
    "two-kinds-of-launches": _two_kinds,
    "phases": _phases,
    "launches-in-time": _launches_in_time,
    "drift": _drift,
    "oversubscribed": _oversubscribed,
    "hardware-threads": _hardware_threads,
    "tail": _tail,
    "batched": _batched,
    "skewed": _skewed,
    "late-starts": _late_starts,
    "clock-error": _clock_error,
    "clock-share": _clock_share,
    "relay-late": _relay_late,
    "wide": _wide,
}
