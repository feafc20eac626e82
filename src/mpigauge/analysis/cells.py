"""From visits to what is said of each cell: estimates, rates, CPU time, warnings."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mpigauge.analysis.estimate import (
    Estimate,
    Values,
    estimate,
    launch_interval,
    rounds_per_launch_advice,
)
from mpigauge.analysis.memory import Ratio
from mpigauge.analysis.rates import algorithm_bytes, bus_bytes
from mpigauge.analysis.together import (
    ClockState,
    Overlap,
    Start,
    clock_states,
    in_time,
    overlap_of,
    start_of,
)
from mpigauge.analysis.transport import Evidence, evidence
from mpigauge.analysis.warnings import Warning as Doubt
from mpigauge.analysis.warnings import warnings_for
from mpigauge.analysis.yardsticks import medians_of, ratios_of
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import Pattern
from mpigauge.result.load import Result
from mpigauge.result.records import Eager, Visit

MEDIAN = "median"
FLOOR = "null"
SINGLE = frozenset({"common", "prepared"})
"""Samplings that time single operations, however short."""

PLAUSIBLE_BYTES_PER_S = 128e9
"""No core copies faster out of what is larger than its L2: two cache lines a nanosecond."""

POSSIBLE_BYTES_PER_S = 1e12
L2_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Row:
    """What is said of one cell.

    Attributes:
        status: ok, blocked, corrupt, failed, timeout or skipped.
        reason: Why it is not ok, or what must be known of it; may be empty.
        time: None unless it was measured.
        rate_bytes_per_s: Bytes moved by one operation in all directions / its time.
        bus_bytes_per_s: Bus bandwidth, of collectives: `analysis.rates`.
        directions: Messages under way at once between a pair; part of the rate.
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
            what launches and samples cost and how much they differ (method 1.11).
        batch: Calls between two clock readings, the most of any visit.
    """

    cell: Cell
    status: str
    reason: str
    time: Estimate | None
    rate_bytes_per_s: float | None
    directions: int
    cpu_s_per_op: float | None
    first_s: float | None
    limit_bytes: int | None
    advised_samples: int | None
    batch: int
    warnings: tuple[Doubt, ...]
    bus_bytes_per_s: float | None = None
    cpu_share: float | None = None
    start: Start | None = None
    clock: ClockState | None = None
    overlap: Overlap | None = None
    ratios: Mapping[str, Ratio] = field(default_factory=dict)
    sized: bool = True
    talks: bool = True
    net_share: float | None = None

    @property
    def oversubscribed(self) -> bool:
        """More ranks than cores."""
        return any(doubt.kind == "oversubscribed" for doubt in self.warnings)


def seconds_of(visit: Visit) -> Values:
    """Time of one operation, one value a sample, in seconds; late rounds do not count."""
    return np.asarray(visit.samples_ns, dtype=np.float64)[in_time(visit)] * (1e-9 / visit.ops)


def by_launch_number(visits: Iterable[Visit]) -> dict[int, list[Values]]:
    """Samples of one cell by number of launch, a list of visits each, both in the order of time."""
    launches: dict[int, list[Visit]] = defaultdict(list)
    for visit in visits:
        if not visit.corrupt:
            launches[visit.launch].append(visit)
    return {
        number: [seconds_of(visit) for visit in sorted(launches[number], key=lambda v: v.id)]
        for number in sorted(launches)
    }


def by_launch(visits: Iterable[Visit]) -> list[list[Values]]:
    """The same without the numbers."""
    return list(by_launch_number(visits).values())


def by_cell(visits: Iterable[Visit]) -> dict[Cell, list[Visit]]:
    """Visits grouped by their cell."""
    cells: dict[Cell, list[Visit]] = defaultdict(list)
    for visit in visits:
        cells[visit.cell].append(visit)
    return cells


def half_widths(visits: Sequence[Visit]) -> dict[Cell, float | None]:
    """Relative half-width of every cell's interval; None where there is none yet (stop rule 1.11)."""
    widths: dict[Cell, float | None] = {}
    for cell, mine in by_cell(visits).items():
        medians = [float(np.median(np.concatenate(launch))) for launch in by_launch(mine)]
        widths[cell] = launch_interval(np.asarray(medians))[3] if medians else None
    return widths


def rows(result: Result, stat: str = MEDIAN) -> list[Row]:
    """What is said of every cell of a result, in the order of its plan.

    Args:
        stat: Which statistic of a launch the whole chain works on; one of `estimate.STATS`.
    """
    measured = by_cell(result.visits)
    troubles = _troubles(result)
    surroundings = _Surroundings(
        result,
        {pattern.name: pattern for pattern in result.campaign.patterns},
        clock_states(result.clocks),
        evidence(result.visits, {pattern.name: pattern for pattern in result.campaign.patterns}),
    )
    found = [
        _row(surroundings, cell, measured.get(cell, []), troubles.get(cell), stat)
        for cell in result.campaign.cells
    ]
    believed = [row.cell for row in found if row.time is not None]
    ratios = ratios_of({cell: medians_of(by_launch_number(measured[cell])) for cell in believed})
    return [replace(row, ratios=ratios.get(row.cell, {})) for row in found]


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What a row needs beside the visits of its own cell."""

    result: Result
    patterns: Mapping[str, Pattern]
    clocks: Mapping[tuple[str, str, str, int], ClockState]
    evidence: Mapping[Cell, Evidence]


def _row(
    around: _Surroundings, cell: Cell, visits: list[Visit], trouble: tuple[str, str] | None, stat: str
) -> Row:
    result = around.result
    pattern = around.patterns.get(cell.pattern)
    launches = by_launch(visits)
    time = estimate(launches, stat) if launches else None
    status, reason, limit = _status(result, cell, time, trouble)
    rate = _rate(cell, pattern, time)
    seen = around.evidence.get(cell)
    mislabelled = seen.refutes(cell.transport) if seen else ""
    if time is not None and (refusal := mislabelled or _implausible(result, cell, pattern, rate)):
        status, reason, time, rate, visits = "failed", refusal, None, None, []
    good = [visit for visit in visits if not visit.corrupt]
    start = start_of(good)
    clock = around.clocks.get(cell.job) if start else None
    return Row(
        cell=cell,
        status=status,
        reason=reason,
        time=time,
        rate_bytes_per_s=rate,
        bus_bytes_per_s=_bus_rate(cell, pattern, time),
        directions=_directions(cell, pattern),
        cpu_s_per_op=_cpu_s(good),
        cpu_share=_cpu_share(cell, pattern, good),
        start=start,
        clock=clock,
        overlap=overlap_of(good),
        sized=pattern is None or pattern.sized,
        talks=pattern is None or pattern.active_ranks != 1,
        net_share=seen.share if seen else None,
        first_s=_first_s(good),
        limit_bytes=limit,
        advised_samples=_advised_samples(result, time, good),
        batch=max((visit.batch for visit in good), default=0),
        warnings=_doubts(around, cell, time, good, stat, start, clock),
    )


def _directions(cell: Cell, pattern: Pattern | None) -> int:
    mode = pattern.mode(cell.mode) if pattern is not None else None
    return mode.directions if mode is not None else 1


def _rate(cell: Cell, pattern: Pattern | None, time: Estimate | None) -> float | None:
    """Bytes over the time of one operation (rules 3 and 4: never a mean of rates)."""
    if time is None or pattern is None or not pattern.moves_bytes or time.estimate <= 0 or cell.bytes == 0:
        return None
    return algorithm_bytes(cell, pattern) / time.estimate


def _bus_rate(cell: Cell, pattern: Pattern | None, time: Estimate | None) -> float | None:
    if time is None or pattern is None or time.estimate <= 0 or cell.bytes == 0:
        return None
    moved = bus_bytes(cell, pattern)
    return None if moved is None else moved / time.estimate


def _implausible(result: Result, cell: Cell, pattern: Pattern | None, rate: float | None) -> str:
    """Why a rate of memory cannot be true; empty if it can (method 8.2)."""
    if rate is None or pattern is None or not (pattern.active_ranks == 1 or pattern.sampling == "prepared"):
        return ""
    caches = result.campaign.environment.caches
    l2_bytes = max((size for name, size in caches.items() if name.startswith("L2")), default=L2_BYTES)
    most = PLAUSIBLE_BYTES_PER_S if cell.bytes > l2_bytes else POSSIBLE_BYTES_PER_S
    if rate <= most:
        return ""
    return f"{rate:.3g} B/s are implausible: the compiler must have left the work out"


def _cpu_s(visits: Sequence[Visit]) -> float | None:
    known = [visit for visit in visits if visit.cpu_ns is not None]
    operations = sum(len(visit.samples_ns) * visit.ops for visit in known)
    return sum(visit.cpu_ns or 0 for visit in known) * 1e-9 / operations if operations else None


def _cpu_share(cell: Cell, pattern: Pattern | None, visits: Sequence[Visit]) -> float | None:
    """CPU time over wall time of all ranks, in the median visit: one that was interrupted says little.

    At most 1, however the two clocks disagree.
    """
    walls = [(visit.cpu_ns, sum(visit.samples_ns)) for visit in visits if visit.cpu_ns is not None]
    if pattern is None or not all(wall_ns > 0 for _, wall_ns in walls) or not walls:
        return None
    ranks = pattern.active_ranks or cell.ranks
    return min(1.0, float(np.median([cpu_ns / (ranks * wall_ns) for cpu_ns, wall_ns in walls])))


def _first_s(visits: Sequence[Visit]) -> float | None:
    firsts = [v.trial_ns[0] * 1e-9 * v.batch / v.ops for v in visits if v.trial_ns and v.trial_ns[0] > 0]
    return float(np.exp(np.mean(np.log(firsts)))) if firsts else None


def _doubts(
    around: _Surroundings,
    cell: Cell,
    time: Estimate | None,
    visits: Sequence[Visit],
    stat: str,
    start: Start | None,
    clock: ClockState | None,
) -> tuple[Doubt, ...]:
    if time is None or cell.pattern == FLOOR:
        return ()
    result = around.result
    pattern = around.patterns.get(cell.pattern)
    return tuple(
        warnings_for(
            time,
            ranks=cell.ranks,
            cores=result.campaign.environment.cores,
            launches_requested=_launches_made(result, cell),
            precision=result.campaign.plan.precision,
            batch=max(visit.batch for visit in visits),
            stat=stat,
            clock_cost_s=_clock_cost_s(result) if pattern and pattern.sampling in SINGLE else 0.0,
            skew_s=start.skew_p50_s if start else 0.0,
            late_share=start.late_share if start else 0.0,
            clock_error_s=clock.error_s if clock else 0.0,
        )
    )


def _clock_cost_s(result: Result) -> float:
    costs = [place.clock_cost_ns for launch in result.launches for place in launch.placement]
    return float(np.median(costs)) * 1e-9 if costs else 0.0


def _advised_samples(result: Result, time: Estimate | None, visits: Sequence[Visit]) -> int | None:
    if time is None or time.round_variance is None or time.launch_variance is None:
        return None
    startups_s = [launch.startup_s for launch in result.launches if launch.startup_s is not None]
    if not startups_s:
        return None
    startup_s = float(np.mean(startups_s))
    sample_s = time.estimate * max(visit.ops for visit in visits)
    return rounds_per_launch_advice(startup_s, sample_s, time.round_variance, time.launch_variance)


def _launches_made(result: Result, cell: Cell) -> int:
    """Launches that could have measured a cell, whatever came of them."""
    return len(
        {
            one.number
            for one in result.launches
            if (one.mpi, one.mpi_version, one.transport, one.ranks) == cell.job
        }
    )


def telling_line(words: str) -> str:
    """Of a job's last words, the line that most likely says why: an error, else the last with letters."""
    lines = [line for line in words.splitlines() if re.search("[A-Za-z]{3}", line)]
    causes = [
        line for line in lines if re.search("mpigauge-kernel: rank|error|fatal|signal", line, re.IGNORECASE)
    ]
    return next(iter(causes or lines[-1:]), "the job said nothing")


# ---- Cells that are not ok -----------------------------------------------------------------------


def _troubles(result: Result) -> dict[Cell, tuple[str, str]]:
    """The worst that happened to each cell: its state and a sentence."""
    troubles: dict[Cell, tuple[str, str]] = {}
    states = {"crash": "failed", "refused": "failed", "timeout": "timeout", "corrupt": "corrupt"}
    for done in result.done:
        for cell in done.skipped:
            troubles[cell] = ("skipped", "there was no time for it within the budget")
    for failure in result.failures:
        if failure.cell is not None:
            reason = f"{failure.kind} in launch {failure.launch}: {telling_line(failure.words)}"
            troubles[failure.cell] = (states.get(failure.kind, "failed"), reason)
    for blocked in result.blocked:
        kind = (
            "the eager limit is" if blocked.found else "no eager limit; the largest that completed alone was"
        )
        troubles[blocked.cell] = ("blocked", f"would deadlock: {kind} {blocked.limit_bytes} B")
    return troubles


def _status(
    result: Result, cell: Cell, time: Estimate | None, trouble: tuple[str, str] | None
) -> tuple[str, str, int | None]:
    """State, reason and eager limit.

    What was measured is ok, whatever failed in other launches, unless its payload was corrupt.
    """
    limits = [eager for eager in result.eager if eager.cell == cell]
    if limits:
        return _eager_status(limits)
    if trouble is not None and (time is None or trouble[0] == "corrupt"):
        return *trouble, None
    if time is None:
        return "skipped", _why_nothing(result), None
    # A launch without time for it says nothing about what the others measured; a failure does.
    return "ok", trouble[1] if trouble is not None and trouble[0] != "skipped" else "", None


def _why_nothing(result: Result) -> str:
    launch_failures = [failure for failure in result.failures if failure.cell is None]
    if launch_failures and not result.visits:
        return f"the launch failed: {telling_line(launch_failures[-1].words)}"
    return "the campaign ended before it"


def _eager_status(limits: Sequence[Eager]) -> tuple[str, str, int | None]:
    """The limit that most launches found, or None with what was seen instead."""
    if not all(eager.control_held for eager in limits):
        return "failed", "MPI_Issend completed without a receiver: the probe cannot be trusted here", None
    found = Counter(eager.limit_bytes for eager in limits if eager.found)
    if found.total() * 2 <= len(limits):
        largest = max(eager.longer_bytes for eager in limits)
        return "ok", f"none found: messages up to {largest} B complete alone if one waits", None
    limit, times = found.most_common(1)[0]
    others = sorted(
        {f"{eager.limit_bytes} B" if eager.found else "none" for eager in limits} - {f"{limit} B"}
    )
    reason = f"in {times} of {len(limits)} launches; others found {', '.join(others)}" if others else ""
    return "ok", reason, limit


def warnings_of(rows_: Iterable[Row]) -> Mapping[str, list[tuple[Cell, Doubt]]]:
    """The doubts of all rows, by kind."""
    kinds: dict[str, list[tuple[Cell, Doubt]]] = defaultdict(list)
    for row in rows_:
        for doubt in row.warnings:
            kinds[doubt.kind].append((row.cell, doubt))
    return kinds
