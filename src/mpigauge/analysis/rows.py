"""From visits to what is said of each cell: estimates, rates, CPU time, warnings."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mpigauge.analysis.baselines import ratios_of
from mpigauge.analysis.clock_steps import Steps, clock_steps
from mpigauge.analysis.cpu import cpu_s, cpu_share
from mpigauge.analysis.estimate import Estimate, Printed, Timing, estimate, rounds_per_launch_advice
from mpigauge.analysis.in_time import InTime, launches_in_time, widened
from mpigauge.analysis.rates import algorithm_bytes, bus_bytes
from mpigauge.analysis.ratios import Ratio
from mpigauge.analysis.reasons import ImplausibleRate, Reason, Refutation
from mpigauge.analysis.samples import by_cell, by_launch, restarts, steps_by_launch, visits_by_launch
from mpigauge.analysis.sessions import Across, across, sessions_of, spread_s
from mpigauge.analysis.status import Outcome, outcome_of, troubles_of
from mpigauge.analysis.synchrony import (
    ClockState,
    Overlap,
    Start,
    clock_states,
    overlap_of,
    start_of,
)
from mpigauge.analysis.transport import Evidence, evidence, talkers
from mpigauge.analysis.warnings import Circumstances, Warning, warnings_for  # noqa: A004 - read as such
from mpigauge.plan.model import Cell, JobKey
from mpigauge.plan.patterns import Pattern
from mpigauge.result.reader import Result
from mpigauge.result.records import Imported, Visit
from mpigauge.units import NS
from mpigauge.vocabulary import Status, WarningKind

MEDIAN = "median"
"""Samplings that time single operations, however short."""

PLAUSIBLE_BYTES_PER_S = 128e9
"""No core copies faster out of what is larger than its L2: two cache lines a nanosecond."""

POSSIBLE_BYTES_PER_S = 1e12
L2_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Row:
    """What is said of one cell.

    Attributes:
        reason: Why it is not ok, or what must be known of it; None if there is nothing to say.
        time: None unless it was measured, or published by others.
        rate_bytes_per_s: Bytes moved by one operation in all directions / its time.
        bus_bytes_per_s: Bus bandwidth, of collectives: `analysis.rates`.
        directions: Messages in flight at once between a pair; part of the rate.
        cpu_s_per_op: User and system time of all ranks taking part; None if not known.
        cpu_share: That time over the ranks' wall time: how busy they were, waiting included.
        start: How the ranks started together; None if they need not.
        clock: How well the clock held that they started by.
        overlap: How much computation hides behind it, of that mode.
        sized: Whether its size means anything.
        talks: Whether several ranks take part.
        net_share: Bytes on rank 0's network interfaces over the payload of its messages.
        ratios: Its time over that of copies of the same size, by names of `yardsticks.YARDSTICKS`.
        first_s: The first round of the cell in a launch, geometric mean over launches.
        limit_bytes: The eager limit, of a cell that probes it.
        advised_samples: Samples a launch that would give the narrowest interval in the same time, from
            what launches and samples cost and how much they differ (docs/method.md#samples-or-launches).
        batch: Calls between two clock readings, the most of any visit.
        across: Its time over sessions; None under three of them.
    """

    cell: Cell
    status: Status
    reason: Reason | None
    time: Timing | None
    rate_bytes_per_s: float | None
    directions: int
    cpu_s_per_op: float | None
    first_s: float | None
    limit_bytes: int | None
    advised_samples: int | None
    batch: int
    warnings: tuple[Warning, ...]
    bus_bytes_per_s: float | None = None
    cpu_share: float | None = None
    start: Start | None = None
    clock: ClockState | None = None
    overlap: Overlap | None = None
    ratios: Mapping[str, Ratio] = field(default_factory=dict)
    sized: bool = True
    talks: bool = True
    net_share: float | None = None
    across: Across | None = None

    @property
    def oversubscribed(self) -> bool:
        """More ranks than cores."""
        return any(warning.kind == "oversubscribed" for warning in self.warnings)

    @property
    def imported(self) -> bool:
        """Whether its time is one that others have published."""
        return isinstance(self.time, Printed)


def rows(result: Result, stat: str = MEDIAN) -> list[Row]:
    """What is said of every cell of a result, in the order of its plan.

    Args:
        stat: Which statistic of a launch the whole chain works on; one of `vocabulary.STATS`.
    """
    measured = by_cell(result.visits)
    troubles = troubles_of(result)
    patterns = {pattern.name: pattern for pattern in result.campaign.patterns}
    surroundings = _Surroundings(
        result,
        patterns,
        clock_states(result.clocks),
        evidence(result.visits, patterns, result.launches),
        {launch.job: [rank.host for rank in launch.ranks_at] for launch in result.launches},
        {one.cell: one for one in result.imported},
        clock_steps(result.launches, result.visits),
        restarts(result.launches),
        sessions_of(result.launches),
    )
    times = {cell: _time(surroundings, cell, measured.get(cell, []), stat) for cell in result.campaign.cells}
    together = launches_in_time(time for time in times.values() if time is not None)
    surroundings = replace(surroundings, in_time=together)
    found = [
        _row(surroundings, cell, measured.get(cell, []), troubles.get(cell), times[cell], stat)
        for cell in result.campaign.cells
    ]
    ratios = ratios_of({row.cell: row.time for row in found if row.time is not None})
    return [replace(row, ratios=ratios.get(row.cell, {})) for row in found]


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What a row needs beside the visits of its own cell.

    Attributes:
        places: The host of each rank.
        steps: Of the clock of each job.
        restarted: Numbers of launches that have several parts.
        sessions: Numbers of launches by session.
        in_time: How much neighbouring launches agree; None if by chance only.
    """

    result: Result
    patterns: Mapping[str, Pattern]
    clocks: Mapping[JobKey, ClockState]
    evidence: Mapping[Cell, Evidence]
    places: Mapping[JobKey, Sequence[str]]
    imported: Mapping[Cell, Imported]
    steps: Steps
    restarted: Mapping[JobKey, frozenset[int]]
    sessions: Sequence[Sequence[int]]
    in_time: InTime | None = None


def _row(
    around: _Surroundings,
    cell: Cell,
    visits: list[Visit],
    trouble: Outcome | None,
    time: Timing | None,
    stat: str,
) -> Row:
    """The row of one cell; a time that cannot be believed takes all that was measured with it."""
    pattern = around.patterns.get(cell.pattern)
    time = widened(time, around.in_time) if time is not None else None
    outcome = outcome_of(around.result, cell, time, trouble)
    if time is not None and (refusal := _mislabelled(around, cell) or _implausible(around, cell, time)):
        outcome, time, visits = Outcome("failed", refusal), None, []
    good = [visit for visit in visits if not visit.corrupt]
    step_ns = around.steps.get(cell.job, 0.0)
    start = start_of(good, step_ns)
    clock = around.clocks.get(cell.job) if start else None
    seen = around.evidence.get(cell)
    return Row(
        cell=cell,
        status=outcome.status,
        reason=outcome.reason,
        limit_bytes=outcome.limit_bytes,
        time=time,
        rate_bytes_per_s=_rate(cell, pattern, time),
        bus_bytes_per_s=_bus_rate(cell, pattern, time),
        directions=_directions(cell, pattern),
        cpu_s_per_op=cpu_s(good),
        cpu_share=cpu_share(cell, pattern, good),
        start=start,
        clock=clock,
        overlap=overlap_of(good, step_ns),
        across=across(time, around.sessions),
        sized=pattern is None or pattern.sized,
        talks=pattern is None or pattern.active_ranks != 1,
        net_share=seen.share if seen else None,
        first_s=_first_s(good),
        advised_samples=_advised_samples(around.result, time, good),
        batch=max((visit.batch for visit in good), default=0),
        warnings=_warnings(around, cell, time, good, stat, start, clock),
    )


def _time(around: _Surroundings, cell: Cell, visits: Sequence[Visit], stat: str) -> Timing | None:
    """The time that was measured, else the one that others have published."""
    if numbers := list(visits_by_launch(visits)):
        found = estimate(by_launch(visits), stat, steps_by_launch(visits, around.steps), numbers)
        return replace(found, restarted=around.restarted.get(cell.job, frozenset()))
    imported = around.imported.get(cell)
    if imported is None:
        return None
    mean = imported.time_s if imported.statistic == "mean" else None
    return Printed(
        estimate=imported.time_s, mean=mean, stddev=imported.stddev_s, statistic=imported.statistic
    )


def _mislabelled(around: _Surroundings, cell: Cell) -> Refutation | None:
    """Why its messages went another way than its label says; None if they may have gone that way."""
    pattern, seen = around.patterns.get(cell.pattern), around.evidence.get(cell)
    if pattern is None or seen is None:
        return None
    places = around.places.get(cell.job, ())
    hosts = [places[rank] for rank in talkers(cell, pattern) if rank < len(places)]
    return seen.refutes(cell.transport, hosts, emulated=around.result.campaign.plan.lab is not None)


def _directions(cell: Cell, pattern: Pattern | None) -> int:
    mode = pattern.mode(cell.mode) if pattern is not None else None
    return mode.directions if mode is not None else 1


def _rate(cell: Cell, pattern: Pattern | None, time: Timing | None) -> float | None:
    """Bytes over the time of one operation (docs/numbers.md#rates: never a mean of rates)."""
    if time is None or pattern is None or not pattern.moves_bytes or time.estimate <= 0 or cell.bytes == 0:
        return None
    return algorithm_bytes(cell, pattern) / time.estimate


def _bus_rate(cell: Cell, pattern: Pattern | None, time: Timing | None) -> float | None:
    if time is None or pattern is None or time.estimate <= 0 or cell.bytes == 0:
        return None
    moved = bus_bytes(cell, pattern)
    return None if moved is None else moved / time.estimate


def _implausible(around: _Surroundings, cell: Cell, time: Timing) -> ImplausibleRate | None:
    """Why a rate of memory cannot be true; None if it can (docs/method.md#memory)."""
    pattern = around.patterns.get(cell.pattern)
    rate = _rate(cell, pattern, time)
    if rate is None or pattern is None or not pattern.in_memory:
        return None
    caches = around.result.campaign.environment.caches
    l2_bytes = max((size for name, size in caches.items() if name.startswith("L2")), default=L2_BYTES)
    most = PLAUSIBLE_BYTES_PER_S if cell.bytes > l2_bytes else POSSIBLE_BYTES_PER_S
    return ImplausibleRate(rate) if rate > most else None


def _first_s(visits: Sequence[Visit]) -> float | None:
    firsts = [visit.first_s for visit in visits if visit.first_s > 0]
    return float(np.exp(np.mean(np.log(firsts)))) if firsts else None


def _warnings(
    around: _Surroundings,
    cell: Cell,
    time: Timing | None,
    visits: Sequence[Visit],
    stat: str,
    start: Start | None,
    clock: ClockState | None,
) -> tuple[Warning, ...]:
    """What must be known of a time that was measured; the floor of the instrument is nobody's result."""
    pattern = around.patterns.get(cell.pattern)
    if not isinstance(time, Estimate) or not visits or (pattern is not None and pattern.is_floor):
        return ()
    result = around.result
    circumstances = Circumstances(
        estimate=time,
        ranks=cell.ranks,
        cores=_cores(result),
        launches_requested=_launches_made(result, cell),
        launches_skipped=len({done.launch for done in result.done if cell in done.skipped}),
        precision=result.campaign.plan.precision,
        batch=max(visit.batch for visit in visits),
        stat=stat,
        clock_cost_s=_clock_cost_s(result) if pattern and pattern.sampled.single else 0.0,
        skew_s=start.skew_p50_s if start else 0.0,
        late_share=start.late_share if start else 0.0,
        clock_error_s=clock.error_s if clock else 0.0,
        relay_late_share=float(np.mean([visit.relay_late for visit in visits])),
        in_time=around.in_time,
        span_s=spread_s(result.launches, result.done),
    )
    return warnings_for(circumstances)


def _cores(result: Result) -> int | None:
    """That all ranks share; None if they are on other machines, where nobody gets more ranks than slots."""
    plan = result.campaign.plan
    return None if plan.hosts and plan.lab is None else result.campaign.environment.cores


def _clock_cost_s(result: Result) -> float:
    costs = [place.clock_cost_ns for launch in result.launches for place in launch.ranks_at]
    return float(np.median(costs)) * NS if costs else 0.0


def _advised_samples(result: Result, time: Timing | None, visits: Sequence[Visit]) -> int | None:
    if not isinstance(time, Estimate) or time.round_variance is None or time.launch_variance is None:
        return None
    startups_s = [launch.startup_s for launch in result.launches if launch.startup_s is not None]
    if not startups_s:
        return None
    startup_s = float(np.mean(startups_s))
    sample_s = time.estimate * max(visit.ops for visit in visits)
    return rounds_per_launch_advice(startup_s, sample_s, time.round_variance, time.launch_variance)


def _launches_made(result: Result, cell: Cell) -> int:
    """Launches that could have measured a cell, whatever came of them."""
    return len({one.number for one in result.launches if one.job == cell.job})


def warnings_of(rows_: Iterable[Row]) -> Mapping[WarningKind, list[tuple[Cell, Warning]]]:
    """The warnings of all rows, by kind."""
    kinds: dict[WarningKind, list[tuple[Cell, Warning]]] = defaultdict(list)
    for row in rows_:
        for warning in row.warnings:
            kinds[warning.kind].append((row.cell, warning))
    return kinds
