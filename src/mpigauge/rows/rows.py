"""From visits to what is said of each cell: estimates, rates, CPU time, warnings."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mpigauge.plan.lab import least_delay_s
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import Pattern, patterns_with
from mpigauge.result.reader import Result
from mpigauge.result.records import Visit
from mpigauge.rows.baselines import ratios_of
from mpigauge.rows.estimate import Estimate, Printed, Timing, estimates, printed, rounds_per_launch_advice
from mpigauge.rows.machine.by_state import InState, StateTime, by_state, shown
from mpigauge.rows.machine.conditions import distances_of, disturbed_share
from mpigauge.rows.machine.rank_groups import seat_of
from mpigauge.rows.machine.serial_correlation import launches_in_time
from mpigauge.rows.machine.sessions import Across, OverSessions, across
from mpigauge.rows.machine.speed_uncertainty import for_other_minutes
from mpigauge.rows.machine.states import States, states_of
from mpigauge.rows.rates import bus_rate_of, directions_of, implausible, message_rate_of, rate_of
from mpigauge.rows.ratios import Ratio
from mpigauge.rows.result_context import Shared, shared_of
from mpigauge.rows.samples import by_cell, cpu_s, cpu_share, first_s, launches_of, visits_by_launch
from mpigauge.rows.status import NotInState, Outcome, Reason, outcome_of
from mpigauge.rows.synchrony import ClockState, Overlap, Start, overlap_of, start_of
from mpigauge.rows.transport.proof import Travel
from mpigauge.rows.warnings import Circumstances, Warning, warnings_for  # noqa: A004 - read as such
from mpigauge.vocabulary import CROWDED, UNMEASURED, StateChoice, StateName, Status, WarningKind

FLOORS = patterns_with(lambda pattern: pattern.is_floor)
MEDIAN = "median"
"""What is said of a launch unless another statistic is asked for."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is said of one cell, or of one cell in one state of the machine.

    Attributes:
        reason: Why it is not ok, or what must be known of it; None if there is nothing to say.
        time: None unless it was measured, or published by others.
        rate_bytes_per_s: Bytes moved by one operation in all directions / its time.
        bus_bytes_per_s: Bus bandwidth, of collectives: `rows.rates`.
        messages_per_s: Messages of one operation, of all pairs and in all directions / its time.
        directions: Messages in flight at once between a pair; part of the rate.
        cpu_s_per_op: User and system time of all ranks taking part; None if not known.
        cpu_share: That time over the ranks' wall time: how busy they were, waiting included.
        start: How the ranks started together; None if they need not.
        clock: How well the clock held that they started by.
        overlap: How much computation hides behind it, of that mode.
        sized: Whether its size means anything.
        talks: Whether several ranks take part.
        travel: How its messages travelled; None if it has none, or nothing was counted.
        ratios: Its time over that of copies of the same size, by names of `yardsticks.YARDSTICKS`.
        first_s: The first round of the cell in a launch, median over launches.
        limit_bytes: The eager limit, of a cell that probes it.
        advised_samples: Samples a launch that would give the narrowest interval in the same time, from
            what launches and samples cost and how much they differ (docs/method.md#samples-or-launches).
        batch: Calls between two clock readings, the most of any visit.
        across: Its time over the sessions of its result; None under three of them.
        sessions: Its time over the sessions of all results that are shown with it, from two on:
            `rows.machine.over_sessions`.
        visits: What all of it is of.
        state: The state of the machine that it is of; None if that had one only, or if it is not known.
        states: Its time in every state that it was measured in; empty if there is one only.
        disturbed_share: Of its visits, those during which somebody else used the cores; None if not known.
        best_awaited: Whether a better rate may still be measured: `find.unsettled`.
        typical_awaited: Whether a size that would rather be quoted is still to be measured.
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
    messages_per_s: float | None = None
    cpu_share: float | None = None
    start: Start | None = None
    clock: ClockState | None = None
    overlap: Overlap | None = None
    ratios: Mapping[str, Ratio] = field(default_factory=dict)
    sized: bool = True
    talks: bool = True
    travel: Travel | None = None
    across: Across | None = None
    visits: tuple[Visit, ...] = field(default=(), repr=False, compare=False)
    state: StateName | None = None
    states: tuple[StateTime, ...] = ()
    disturbed_share: float | None = None
    sessions: OverSessions | None = None
    best_awaited: bool = False
    typical_awaited: bool = False

    @property
    def oversubscribed(self) -> bool:
        """More ranks than cores."""
        return any(warning.kind == "oversubscribed" for warning in self.warnings)

    @property
    def crowded(self) -> bool:
        """Whether its ranks had to share processors."""
        return any(warning.kind in CROWDED for warning in self.warnings)

    @property
    def net_share(self) -> float | None:
        """Bytes on the IP interfaces of rank 0's host over the payload of its messages; None if not known."""
        return self.travel.ip_share if self.travel else None

    @property
    def imported(self) -> bool:
        """Whether its time is one that others have published."""
        return isinstance(self.time, Printed)


def rows(
    result: Result, stat: str = MEDIAN, choice: StateChoice | None = None, states: States | None = None
) -> list[Row]:
    """What is said of every cell of a result, in the order of its plan.

    A cell has a row, and where the machine had several states, none of them usual, one for each.

    Args:
        stat: Which statistic of a launch the whole chain works on; one of `vocabulary.STATS`.
        choice: A state of the machine, or a row for each; None for the usual one.
        states: The states of the machine, if they are known already.
    """
    states = states or states_of(result.visits)
    measured = by_cell(result.visits)
    around = shared_of(result, states)
    parts = {cell: by_state(measured.get(cell, []), states) for cell in result.campaign.cells}
    times = _times(around, parts, stat)
    # Launches in several states follow each other by these: they are told apart, not widened for it.
    if not states.states:
        together = launches_in_time(time for time in times.values() if time is not None)
        around = replace(around, in_time=together)
    found = [row for cell in parts for row in _rows(around, cell, parts[cell], times, stat, choice)]
    return _with_ratios(found)


def why_nothing(found: Sequence[Row]) -> Reason | None:
    """Why no cell has a time though one was to have one; None if any has, or broke, or all would deadlock.

    A cell that would deadlock may be told so before there is time for any other, and the floor of the
    instrument, which is measured beside what was asked for, is nobody's result.
    """
    others = [row for row in found if row.cell.pattern not in FLOORS]
    if any(row.status not in UNMEASURED for row in others):
        return None
    return next((row.reason for row in others if row.status == "skipped"), None)


def _rows(
    around: Shared,
    cell: Cell,
    parts: Sequence[InState],
    times: Mapping[tuple[Cell, StateName | None], Timing | None],
    stat: str,
    choice: StateChoice | None,
) -> list[Row]:
    """The row of a cell, or one for each state to be shown; all of them know its time in the others."""
    rows_ = {one.state: _row(around, cell, one, times[cell, one.state], stat) for one in parts}
    known = tuple(StateTime(state, row.time) for state, row in rows_.items() if state and row.time)
    chosen = [rows_[one.state] for one in shown(parts, around.states, choice)]
    if not chosen and choice is not None and choice != "all":
        nothing = _row(around, cell, InState(choice, ()), None, stat)
        chosen = [replace(nothing, status="skipped", reason=NotInState(choice))]
    return [replace(row, states=known) for row in chosen] if known else chosen


def _with_ratios(found: list[Row]) -> list[Row]:
    """Each with its ratios to copies in the same state, or to those whose state is not known."""
    ratios: dict[tuple[StateName | None, Cell], Mapping[str, Ratio]] = {}
    for state in dict.fromkeys(row.state for row in found):
        mine = [row for row in found if row.state in (state, None)]
        times = {row.cell: row.time for row in mine if row.time is not None}
        of_state = ratios_of(times, {row.cell: distances_of(row.visits) for row in mine})
        ratios |= {(state, cell): ratio for cell, ratio in of_state.items()}
    return [replace(row, ratios=ratios.get((row.state, row.cell), {})) for row in found]


def _row(around: Shared, cell: Cell, part: InState, time: Timing | None, stat: str) -> Row:
    """The row of visits of a cell; a time that cannot be believed takes all that was measured with it."""
    pattern, visits = around.patterns.get(cell.pattern), list(part.visits)
    if time is not None:
        time = time.widened(around.in_time.factor) if around.in_time else time
        time = for_other_minutes(time, visits, around.meanwhile.get(seat_of(cell)))
    outcome = outcome_of(around.outcomes, cell, time)
    if time is not None and (refusal := _refusal(around, cell, time)):
        outcome, time, visits = Outcome("failed", refusal), None, []
    good = [visit for visit in visits if not visit.corrupt]
    step_ns = around.steps.get(cell.job, 0.0)
    start = start_of(good, step_ns)
    clock = around.clocks.get(cell.job) if start else None
    return Row(
        cell=cell,
        status=outcome.status,
        reason=outcome.reason,
        limit_bytes=outcome.limit_bytes,
        time=time,
        rate_bytes_per_s=rate_of(cell, pattern, time),
        bus_bytes_per_s=bus_rate_of(cell, pattern, time),
        messages_per_s=message_rate_of(cell, pattern, time),
        directions=directions_of(cell, pattern),
        cpu_s_per_op=cpu_s(good),
        cpu_share=cpu_share(cell, pattern, good),
        start=start,
        clock=clock,
        overlap=overlap_of(good, step_ns),
        across=across(time, around.sessions),
        sized=pattern is None or pattern.sized,
        talks=pattern is None or pattern.active_ranks != 1,
        travel=around.labels.of(cell),
        first_s=first_s(good),
        advised_samples=_advised_samples(around.startup_s, time, good),
        batch=max((visit.batch for visit in good), default=0),
        warnings=_warnings(around, cell, time, good, stat, start, clock),
        visits=tuple(visits),
        state=part.state,
        disturbed_share=None if around.crowding.lacks_processors(cell) else disturbed_share(good),
    )


def _times(
    around: Shared, parts: Mapping[Cell, Sequence[InState]], stat: str
) -> dict[tuple[Cell, StateName | None], Timing | None]:
    """The times that were measured, else those that others have published."""
    each = {(cell, one.state): one.visits for cell in parts for one in parts[cell]}
    measured = {key: visits for key, visits in each.items() if any(not visit.corrupt for visit in visits)}
    # One after the other as they are needed: all samples as floating-point numbers are a second result.
    launches = (launches_of(visits_by_launch(visits), around.steps) for visits in measured.values())
    found = dict(zip(measured, estimates(launches, stat), strict=True))
    return {
        key: replace(found[key], in_parts=around.restarted.get(key[0].job, frozenset()))
        if key in found
        else _printed(around, key[0])
        for key in each
    }


def _printed(around: Shared, cell: Cell) -> Timing | None:
    """What others have published."""
    imported = around.imported.get(cell)
    if not imported:
        return None
    statistics = dict.fromkeys(one.statistic for one in imported)
    times_s = {one.launch: one.time_s for one in imported}
    return printed(
        times_s, "; ".join(filter(None, statistics)), imported[0].stddev_s, max(one.step for one in imported)
    )


def _refusal(around: Shared, cell: Cell, time: Timing) -> Reason | None:
    """Why a time cannot be believed; None if it can."""
    pattern, machine = around.patterns.get(cell.pattern), around.result.campaign.environment
    travel = around.labels.of(cell)
    mislabelled = travel.refutation if travel else None
    return mislabelled or implausible(cell, pattern, time, machine.caches)


def _warnings(
    around: Shared,
    cell: Cell,
    time: Timing | None,
    visits: Sequence[Visit],
    stat: str,
    start: Start | None,
    clock: ClockState | None,
) -> tuple[Warning, ...]:
    """What must be known of a time that was measured; the floor of the instrument is nobody's result."""
    pattern, result = around.patterns.get(cell.pattern), around.result
    if not isinstance(time, Estimate) or not visits or (pattern is not None and pattern.is_floor):
        return ()
    lab = result.campaign.plan.lab
    # A launch that was never in this state, or never quiet, is not lost.
    whole = not result.left_out and not any(around.states.knows(visit) for visit in visits)
    circumstances = Circumstances(
        estimate=time,
        ranks=cell.ranks,
        cores=around.cores,
        launches_requested=around.launches_made.get(cell.job, 0) if whole else time.launches,
        launches_skipped=around.launches_skipped[cell] if whole else 0,
        precision=result.campaign.plan.precision,
        batch=max(visit.batch for visit in visits),
        stat=stat,
        in_a_row=pattern.mode_in_a_row if pattern and pattern.mode_in_a_row != cell.mode else "",
        clock_cost_s=around.clock_cost_s if pattern and pattern.sampled.single else 0.0,
        skew_s=start.skew_p50_s if start else 0.0,
        late_share=start.late_share if start else 0.0,
        clock_error_s=clock.error_s if clock else 0.0,
        relay_late_share=(late := _relay_late(pattern, visits)),
        relay_planted_s=least_delay_s(lab, cell.placement.split(",")) if late and lab else 0.0,
        in_time=around.in_time,
        span_s=around.span_s,
        crowd=(crowd := around.crowding.of(cell)),
        told=around.crowding.is_told(cell.job),
        binding=around.crowding.cause_of(crowd),
        differs=around.mixed.get(cell, ""),
    )
    return warnings_for(circumstances)


def _relay_late(pattern: Pattern | None, visits: Sequence[Visit]) -> float:
    """Return the share of packets of a lab that were late, where the pattern sends any."""
    sends = pattern is None or pattern.talks
    return float(np.mean([visit.relay_late for visit in visits])) if sends else 0.0


def _advised_samples(startup_s: float | None, time: Timing | None, visits: Sequence[Visit]) -> int | None:
    if not isinstance(time, Estimate) or time.round_variance is None or time.launch_variance is None:
        return None
    if startup_s is None:
        return None
    sample_s = time.estimate * max(visit.ops for visit in visits)
    return rounds_per_launch_advice(startup_s, sample_s, time.round_variance, time.launch_variance)


def warnings_of(rows_: Iterable[Row]) -> Mapping[WarningKind, list[tuple[Cell, Warning]]]:
    """The warnings of all rows, by kind."""
    kinds: dict[WarningKind, list[tuple[Cell, Warning]]] = defaultdict(list)
    for row in rows_:
        for warning in row.warnings:
            kinds[warning.kind].append((row.cell, warning))
    return kinds
