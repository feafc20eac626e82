"""From a result to its rows: what is said of each cell, in each state of the machine that is to be shown.

Visits by cell and state; times with their intervals; what became of each cell, and what to know beside its
time; rates and ratios.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.plan.lab import least_delay_s
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import FLOORS, patterns_with
from mpigauge.result.reader import Result
from mpigauge.rows.baselines import ratios_of
from mpigauge.rows.clock_resolution import clock_resolution
from mpigauge.rows.estimate import Estimate, Printed, estimates, printed, rounds_per_launch_advice
from mpigauge.rows.group import Subject, by_state
from mpigauge.rows.late_packets import MANY, is_useless
from mpigauge.rows.machine.conditions import disturbed_share
from mpigauge.rows.machine.crowding import Crowding
from mpigauge.rows.machine.rank_groups import seat_of
from mpigauge.rows.machine.serial_correlation import launches_in_time
from mpigauge.rows.machine.sessions import across, sessions_of, spread_s
from mpigauge.rows.machine.speed_uncertainty import speed_ranges_of, speed_uncertainty
from mpigauge.rows.machine.split import SplitPart, split_of
from mpigauge.rows.rates import bus_rate_of, directions_of, implausible, message_rate_of, rate_of
from mpigauge.rows.reasons import LatePackets, NotInState
from mpigauge.rows.same_distance import distances_apart
from mpigauge.rows.samples import (
    by_cell,
    cpu_s,
    cpu_share,
    first_s,
    launches_of,
    restarts,
    visits_by_launch,
)
from mpigauge.rows.status import Outcome, outcome_of, outcomes_of
from mpigauge.rows.synchrony import clock_states, overlap_of, progress_of, start_of
from mpigauge.rows.transport.proof import Labels
from mpigauge.rows.warnings import CROWDED, RELAY_LATE_S, Circumstances, warnings_for
from mpigauge.sequences import group_by
from mpigauge.stats.limits import PROMISED
from mpigauge.units import NS
from mpigauge.vocabulary import TAIL, UNMEASURED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Imported, Launch, Resumed, Visit
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.machine.sessions import OverSessions
    from mpigauge.rows.machine.speed_uncertainty import SpeedRanges
    from mpigauge.rows.reasons import Reason
    from mpigauge.rows.synchrony import ClockState, Overlap, Progress, Start
    from mpigauge.rows.transport.proof import Travel
    from mpigauge.rows.warnings import Warning, WarningKind  # noqa: A004 - read as such
    from mpigauge.stats.decision import Ratio
    from mpigauge.stats.interval import Number
    from mpigauge.vocabulary import StateChoice, StateName, Status

MEDIAN = "median"
"""What is said of a launch unless another statistic is asked for."""


@dataclass(frozen=True, slots=True)
class StateTime:
    """The time of a cell in one state of the machine."""

    state: StateName
    time: Timing


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
        progress: Whether it waits for a target that computes, of modes in which one does.
        sized: Whether its size means anything.
        talks: Whether several ranks take part.
        travel: How its messages travelled; None if it has none, or nothing was counted.
        ratios: Its time over that of copies of the same size, by names of `baselines.YARDSTICKS`.
        first_s: The first round of the cell in a launch, median over launches.
        limit_bytes: The eager limit, of a cell that probes it.
        advised_samples: Samples a launch that would give the narrowest interval in the same time, from
            what launches and samples cost and how much they differ:
            docs/method-launches.md#samples-or-launches.
        batch: Calls between two clock readings, the most of any visit.
        across: Its time over the sessions of its result; None under three of them.
        sessions: Its time over the sessions of all results that are shown with it, from two on:
            `rows.machine.over_sessions`.
        visits: What all of it is of.
        state: The state of the machine that it is of; None if that had one only, or if it is not known.
        states: Its time in every state that it was measured in; empty if there is one only.
        disturbed_share: Of its visits, those during which somebody else used the cores; None if not known.
        best_awaited: Whether a better rate may still be measured: `find.so_far.unsettled`.
        typical_awaited: Whether a size that would rather be quoted is still to be measured.
    """

    cell: Cell
    status: Status
    reason: Reason | None = None
    time: Timing | None = None
    rate_bytes_per_s: float | None = None
    directions: int = 1
    cpu_s_per_op: float | None = None
    first_s: float | None = None
    limit_bytes: int | None = None
    advised_samples: int | None = None
    batch: int = 0
    warnings: tuple[Warning, ...] = ()
    bus_bytes_per_s: float | None = None
    messages_per_s: float | None = None
    cpu_share: float | None = None
    start: Start | None = None
    clock: ClockState | None = None
    overlap: Overlap | None = None
    progress: Progress | None = None
    ratios: Mapping[str, Ratio] = field(default_factory=dict)
    sized: bool = True
    talks: bool = True
    travel: Travel | None = None
    across: Number | None = None
    visits: tuple[Visit, ...] = field(default=(), repr=False, compare=False)
    state: StateName | None = None
    states: tuple[StateTime, ...] = ()
    disturbed_share: float | None = None
    sessions: OverSessions | None = None
    best_awaited: bool = False
    typical_awaited: bool = False

    @property
    def of(self) -> Subject:
        """The cell, in the state of the machine that the row is of."""
        return Subject(self.cell, self.state)

    @property
    def as_of_all(self) -> Row:
        """The same row as if it were of all states of the machine."""
        return replace(self, state=None)

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


def rows(result: Result, stat: str = MEDIAN, choice: StateChoice | None = None) -> list[Row]:
    """Return what is said of every cell of a result, in the order of its plan.

    A cell has a row, and where the machine had several states, none of them usual, one for each.

    Args:
        stat: Which statistic of a launch the whole chain works on; one of `vocabulary.STATS`.
        choice: A state of the machine, or a row for each; None for the usual one.
    """
    records = ResultRecords(result, stat)
    return _with_ratios([row for cell in records.parts for row in records.rows_of(cell, choice)])


class ResultRecords:
    """Records of a result as the rows of all its cells need them, each thing computed once.

    Samples become numbers only when a time is computed of them: all of them as floating-point numbers at once
    would be a second result.

    Args:
        stat: The statistic that stands for a launch.

    Attributes:
        parts: The visits of each cell by state of the machine, in the order of the plan.
        launches_made: Launches that could have measured a cell of a job, whatever came of them.
        launches_skipped: For each cell, launches in which there was no time for it.
        clock_cost_s: Of one reading of the clock, in the middle of all ranks.
    """

    def __init__(self, result: Result, stat: str) -> None:
        self._result, self._stat, self._split = result, stat, split_of(result)
        self._patterns = {pattern.name: pattern for pattern in result.campaign.patterns}
        self._steps = clock_resolution(result.launches, result.visits)
        visits = by_cell(result.visits)
        self.parts = {cell: self._split.parts(visits.get(cell, [])) for cell in result.campaign.cells}
        measured = self._measured()
        # Launches in several states follow each other by these: they are told apart, not widened for it.
        self._in_time = (
            None if self._split else launches_in_time(time.by_launch for time in measured.values())
        )
        self._times = self._published() | self._beyond_launches(measured)
        self._outcomes = outcomes_of(result)
        self._labels = Labels(result, self._patterns)
        self._clocks = clock_states(result.clocks)
        self._crowding = Crowding(result)
        self._mixed = mixed_cells(result)
        self._cores = _cores(result)
        self._span_s = spread_s(result.launches, result.done)
        self._sessions, self._startup_s = sessions_of(result.launches), startup_s(result.launches)
        self.clock_cost_s = _clock_cost_s(result.launches)
        self.launches_made = _launches_made(result.launches)
        self.launches_skipped = _launches_skipped(result)

    def rows_of(self, cell: Cell, choice: StateChoice | None) -> list[Row]:
        """Return what is said of a cell, in the states that are to be shown.

        Args:
            choice: A state of the machine, or all; None for the usual one.
        """
        parts = self.parts[cell]
        each = {part.state: self._row(cell, part) for part in parts}
        states = tuple(StateTime(state, row.time) for state, row in each.items() if state and row.time)
        shown = [each[part.state] for part in self._split.shown(parts, choice)]
        if not shown and choice is not None and choice != "all":
            shown = [self._never_in(Subject(cell, choice))]
        return [replace(row, states=states) for row in shown] if states else shown

    # ---- Times -----------------------------------------------------------------------------------

    def _measured(self) -> dict[Subject, Timing]:
        """Return the time of each cell in each state of which there is a visit without a wrong payload."""
        known = {
            part.subject(cell): part.visits
            for cell, parts in self.parts.items()
            for part in parts
            if any(not visit.corrupt for visit in part.visits)
        }
        restarted = restarts(self._result.launches)
        launches = (launches_of(visits_by_launch(visits), self._steps) for visits in known.values())
        return {
            of: replace(time, in_parts=restarted.get(of.cell.job, frozenset()))
            for of, time in zip(known, estimates(launches, self._stat), strict=True)
        }

    def _beyond_launches(self, measured: Mapping[Subject, Timing]) -> dict[Subject, Timing]:
        widening = self._in_time.factor if self._in_time else 1.0
        meanwhile = speed_ranges_of(self._result)
        visits = {part.subject(cell): part.visits for cell, mine in self.parts.items() for part in mine}
        return {
            of: beyond_launches(time, of.cell, visits[of], widening, meanwhile)
            for of, time in measured.items()
        }

    def _published(self) -> dict[Subject, Timing]:
        """Return the times that others have printed of the cells of the plan."""
        imported = group_by(self._result.imported, lambda one: one.cell)
        return {
            part.subject(cell): _printed(imported[cell])
            for cell, parts in self.parts.items()
            for part in parts
            if cell in imported
        }

    # ---- Rows ------------------------------------------------------------------------------------

    def _row(self, cell: Cell, part: SplitPart) -> Row:
        """Return what is said of a part; a time that cannot be believed takes all measured with it along."""
        of, pattern = part.subject(cell), self._patterns.get(cell.pattern)
        time, visits = self._times.get(of), part.visits
        outcome, travel = outcome_of(self._outcomes, cell, time), self._labels.of(cell)
        if time is not None and (refusal := self._refusal(cell, time, travel)):
            outcome, time, visits = Outcome("failed", refusal), None, ()
        if outcome.status == "corrupt":
            time, visits = None, ()
        good = tuple(visit for visit in visits if not visit.corrupt)
        start = start_of(good, self._steps.get(cell.job, 0.0))
        clock = self._clocks.get(cell.job) if start else None
        warnings = self._warnings(cell, time, good, start, clock)
        if late := next((one for one in warnings if one.kind == "relay-late"), None):
            # A map holds links against each other, whose packets are all as late.
            if not cell.pair and _is_of_no_use(late, self._stat):
                outcome = Outcome("late", LatePackets(RELAY_LATE_S))
                time, visits, good, start, clock, warnings = None, (), (), None, None, (late,)
            elif time is not None and float(late.values["share"] or 0) < MANY:
                time, warnings = _without_tail(time, warnings)
        mode = pattern.mode(cell.mode) if pattern is not None else None
        waits = mode is not None and mode.target_computes
        hides = not waits and not (mode is not None and mode.computes_first)
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
            cpu_s_per_op=cpu_s(cell, pattern, good),
            cpu_share=cpu_share(cell, pattern, good),
            start=start,
            clock=clock,
            overlap=overlap_of(good, self._steps.get(cell.job, 0.0)) if hides else None,
            progress=progress_of(good) if waits else None,
            across=across(time, self._sessions),
            sized=pattern is None or pattern.sized,
            talks=pattern is None or pattern.active_ranks != 1,
            travel=travel,
            first_s=first_s(good),
            advised_samples=_advised_samples(self._startup_s, time, good),
            batch=max((visit.batch for visit in good), default=0),
            warnings=warnings,
            visits=visits,
            state=part.state,
            disturbed_share=None if self._crowding.lacks_processors(cell) else disturbed_share(good),
        )

    def _never_in(self, of: Subject) -> Row:
        """Return what is said of a cell that was never measured in the state that is asked for."""
        pattern = self._patterns.get(of.cell.pattern)
        return Row(
            cell=of.cell,
            status="skipped",
            reason=NotInState(of),
            limit_bytes=outcome_of(self._outcomes, of.cell, None).limit_bytes,
            directions=directions_of(of.cell, pattern),
            sized=pattern is None or pattern.sized,
            talks=pattern is None or pattern.active_ranks != 1,
            travel=self._labels.of(of.cell),
            state=of.state,
        )

    def _refusal(self, cell: Cell, time: Timing, travel: Travel | None) -> Reason | None:
        """Return why a time cannot be believed; None if it can."""
        caches = self._result.campaign.environment.caches
        mislabelled = travel.refutation if travel else None
        return mislabelled or implausible(cell, self._patterns.get(cell.pattern), time, caches)

    def _warnings(
        self,
        cell: Cell,
        time: Timing | None,
        visits: Sequence[Visit],
        start: Start | None,
        clock: ClockState | None,
    ) -> tuple[Warning, ...]:
        """Return what must be known of a time that was measured; the floor of the instrument is no result."""
        pattern, plan = self._patterns.get(cell.pattern), self._result.campaign.plan
        if not isinstance(time, Estimate) or not visits or (pattern is not None and pattern.is_floor):
            return ()
        # A launch that was never in this state, or never quiet, is not lost.
        whole = not self._result.left_out and not any(map(self._split.knows, visits))
        circumstances = Circumstances(
            estimate=time,
            ranks=cell.ranks,
            cores=self._cores,
            cores_online=self._result.campaign.environment.cores_online,
            cores_limit=self._result.campaign.environment.cores_limit,
            fewest=pattern is not None and cell.ranks <= (pattern.min_ranks or 0),
            launches_requested=self.launches_made.get(cell.job, 0) if whole else time.launches,
            launches_made=0 if whole else self.launches_made.get(cell.job, 0),
            launches_skipped=self.launches_skipped[cell] if whole else 0,
            precision=plan.precision,
            batch=max(visit.batch for visit in visits),
            stat=self._stat,
            in_a_row=pattern.mode_in_a_row if pattern and pattern.mode_in_a_row != cell.mode else "",
            clock_cost_s=self.clock_cost_s if pattern and pattern.sampled.single else 0.0,
            skew_s=start.skew_p50_s if start else 0.0,
            late_share=start.late_share if start else 0.0,
            clock_error_s=clock.error_s if clock else 0.0,
            relay_late_share=(late := _relay_late(pattern, visits)),
            relay_planted_s=least_delay_s(plan.lab, cell.placement.split(",")) if late and plan.lab else 0.0,
            in_time=self._in_time,
            span_s=self._span_s,
            crowd=(crowd := self._crowding.of(cell)),
            told=self._crowding.is_told(cell.job),
            binding=self._crowding.cause_of(crowd),
            differs=self._mixed.get(cell, ""),
        )
        return warnings_for(circumstances)


def beyond_launches(
    time: Timing,
    cell: Cell,
    visits: Sequence[Visit],
    widening: float,
    meanwhile: Mapping[object, SpeedRanges],
) -> Timing:
    """Return the time of a cell with an interval that covers what its launches do not show.

    Args:
        visits: Of the cell.
        widening: For the serial correlation of launches.
        meanwhile: The speeds of cores while launches were made, from `speed_ranges_of`.
    """
    machine = speed_uncertainty(visits, meanwhile.get(seat_of(cell)))
    return time.beyond_launches(widening, machine, promised_of(cell, time.estimate))


def _printed(imported: Sequence[Imported]) -> Timing:
    """Return the time that others have published of a cell."""
    statistic = "; ".join(filter(None, dict.fromkeys(one.statistic for one in imported)))
    times_s = {one.launch: one.time_s for one in imported}
    return printed(times_s, statistic, imported[0].stddev_s, max(one.step for one in imported))


def _is_of_no_use(late: Warning, stat: str) -> bool:
    """Return whether packets were so late that the number must not be used."""
    share, late_s, planted_s = (float(late.values[name] or 0) for name in ("share", "late_s", "planted_s"))
    return is_useless(share, late_s, planted_s) or (stat in TAIL and share < MANY)


def _without_tail(time: Timing, warnings: Sequence[Warning]) -> tuple[Timing, tuple[Warning, ...]]:
    """Return a time without percentiles of late packets, and what is to be known of the rest."""
    return replace(time, p95=None, p99=None), tuple(one for one in warnings if one.kind != "tail")


def _relay_late(pattern: Pattern | None, visits: Sequence[Visit]) -> float:
    """Return the share of packets of a lab that were late, where the pattern sends any."""
    sends = pattern is None or pattern.talks
    return float(np.mean([visit.relay_late for visit in visits])) if sends else 0.0


def _launches_made(launches: Sequence[Launch]) -> Mapping[JobKey, int]:
    numbers: dict[JobKey, set[int]] = defaultdict(set)
    for launch in launches:
        numbers[launch.job].add(launch.number)
    return {job: len(mine) for job, mine in numbers.items()}


def _launches_skipped(result: Result) -> Counter[Cell]:
    skipped = {(done.launch, cell) for done in result.done for cell in done.skipped}
    return Counter(cell for _, cell in skipped)


def _cores(result: Result) -> int | None:
    """Return how many cores all ranks share; None if they are on other machines, which have slots."""
    plan = result.campaign.plan
    return None if plan.hosts and plan.lab is None else result.campaign.environment.cores


def _clock_cost_s(launches: Sequence[Launch]) -> float:
    """Return what one reading of the clock takes, in the middle of all ranks."""
    costs = [place.clock_cost_ns for launch in launches for place in launch.ranks_at]
    return float(np.median(costs)) * NS if costs else 0.0


def _with_ratios(found: list[Row]) -> list[Row]:
    """Return rows with their ratios to copies in the same state, or to those whose state is not known."""
    ratios: dict[Subject, Mapping[str, Ratio]] = {}
    for mine, beside in by_state(found):
        known = _ratios_of({row.cell: row for row in beside})
        ratios |= {row.of: known[row.cell] for row in mine if row.cell in known}
    return [replace(row, ratios=ratios.get(row.of, {})) for row in found]


def _ratios_of(beside: Mapping[Cell, Row]) -> Mapping[Cell, Mapping[str, Ratio]]:
    times = {cell: row.time for cell, row in beside.items() if row.time is not None}
    return ratios_of(times, lambda cell, stick: distances_apart(beside[cell], beside[stick]))


def _advised_samples(startup_s: float | None, time: Timing | None, visits: Sequence[Visit]) -> int | None:
    """Return the samples per launch that give the narrowest interval; None if what they cost is not known."""
    if not isinstance(time, Estimate) or time.round_variance is None or time.launch_variance is None:
        return None
    if startup_s is None:
        return None
    sample_s = time.estimate * max(visit.ops for visit in visits)
    return rounds_per_launch_advice(startup_s, sample_s, time.round_variance, time.launch_variance)


def startup_s(launches: Sequence[Launch]) -> float | None:
    """Return what a launch costs before its first round, in the mean; None if it is not known."""
    known = [launch.startup_s for launch in launches if launch.startup_s is not None]
    return float(np.mean(known)) if known else None


# ---- What many rows say --------------------------------------------------------------------------


def why_nothing(found: Sequence[Row]) -> Reason | None:
    """Return why no cell has a time; None if any has, or broke, or all would deadlock.

    A cell that would deadlock may be told so before there is time for any other, and the floor of the
    instrument, which is measured beside what was asked for, is nobody's result.
    """
    others = [row for row in found if row.cell.pattern not in FLOORS]
    if any(row.status not in UNMEASURED for row in others):
        return None
    return next((row.reason for row in others if row.status == "skipped"), None)


def warnings_of(rows_: Iterable[Row]) -> Mapping[WarningKind, list[tuple[Subject, Warning]]]:
    """Return the warnings of all rows, by kind, with what each is of."""
    kinds: dict[WarningKind, list[tuple[Subject, Warning]]] = defaultdict(list)
    for row in rows_:
        for warning in row.warnings:
            kinds[warning.kind].append((row.of, warning))
    return kinds


def mixed_cells(result: Result) -> Mapping[Cell, str]:
    """Return in what sessions differ, for each cell that was measured in several unlike ones."""
    return {cell: ", ".join(_differs(result, numbers)) for cell, numbers in result.mixed.items()}


def _differs(result: Result, numbers: Iterable[int]) -> Iterable[str]:
    """Return each thing once, in the order in which the sessions came."""
    return dict.fromkeys(what for number in sorted(numbers) for what in _what(result.resumed[number]))


def _what(resumed: Resumed) -> tuple[str, ...]:
    """Return in what a session differs; hosts of an allocation may be others without anybody being asked."""
    return tuple(one.what for one in resumed.differs) or ("hosts",)


ONE_SIDED = patterns_with(lambda pattern: pattern.family == "one-sided")

ONE_SIDED_S = 5e-9
"""Time by which what runs before a one-sided operation moves it, beside bare loops of three libraries."""

ONE_SIDED_MOST = 0.1
"""And by no larger share of it."""


def promised_of(cell: Cell, time_s: float) -> float:
    """Return the half-width of what the instrument promises of a time of a cell, as a logarithm.

    Source:
        docs/method-one-sided.md#an-operation
    """
    if cell.pattern not in ONE_SIDED or time_s <= 0:
        return PROMISED
    return math.hypot(PROMISED, min(ONE_SIDED_S / time_s, ONE_SIDED_MOST))
