"""The fourth step from a result to its rows: what became of each cell, and what to know beside its time."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.plan.lab import least_delay_s
from mpigauge.rows.estimate import Estimate
from mpigauge.rows.group import Subject
from mpigauge.rows.inconsistent_sessions import mixed_cells
from mpigauge.rows.late_packets import MANY, is_useless
from mpigauge.rows.machine.conditions import disturbed_share
from mpigauge.rows.machine.crowding import Crowding
from mpigauge.rows.machine.sessions import spread_s
from mpigauge.rows.machine.split import split_of
from mpigauge.rows.rates import implausible
from mpigauge.rows.reasons import LatePackets, NotInState
from mpigauge.rows.status import Outcome, outcome_of, outcomes_of
from mpigauge.rows.synchrony import clock_states, start_of
from mpigauge.rows.transport.proof import Labels
from mpigauge.rows.warnings import RELAY_LATE_S, Circumstances, warnings_for
from mpigauge.units import NS
from mpigauge.vocabulary import TAIL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.plan.model import Cell, JobKey
    from mpigauge.plan.patterns import Pattern
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch, Visit
    from mpigauge.rows.estimate import Timing
    from mpigauge.rows.load import LoadedResult
    from mpigauge.rows.machine.split import SplitPart
    from mpigauge.rows.reasons import Reason
    from mpigauge.rows.synchrony import ClockState, Start
    from mpigauge.rows.times import Times
    from mpigauge.rows.transport.proof import Travel
    from mpigauge.rows.warnings import Warning  # noqa: A004 - read as such
    from mpigauge.vocabulary import StateChoice, StateName


@dataclass(frozen=True, slots=True)
class StateTime:
    """The time of a cell in one state of the machine."""

    state: StateName
    time: Timing


@dataclass(frozen=True, slots=True)
class Judged:
    """A cell in a state of the machine, and whether its time counts.

    Attributes:
        of: The cell, in its state if it was measured in several.
        time: None if there is none, or none that can be believed.
        outcome: What became of the cell.
        visits: Those that the time rests on.
        good: Those of them whose payload was right.
        start: How the ranks started together; None if they need not.
        clock: How well the clock held that they started by.
        travel: How its messages travelled; None if it has none, or nothing was counted.
        disturbed_share: Of its visits, those during which somebody else used the cores; None if not known.
        states: The time of the cell in every state; none if there is one only.
    """

    of: Subject
    time: Timing | None
    outcome: Outcome
    visits: tuple[Visit, ...] = ()
    good: tuple[Visit, ...] = ()
    start: Start | None = None
    clock: ClockState | None = None
    travel: Travel | None = None
    disturbed_share: float | None = None
    warnings: tuple[Warning, ...] = ()
    states: tuple[StateTime, ...] = ()


def judge(
    loaded: LoadedResult,
    parts: Mapping[Cell, Sequence[SplitPart]],
    times: Times,
    stat: str,
    choice: StateChoice | None,
) -> list[Judged]:
    """Return what became of each cell, in the states that are to be shown.

    Args:
        stat: The statistic that stands for a launch.
        choice: A state of the machine, or all; None for the usual one.
    """
    records, split = ResultRecords(loaded, times, stat), split_of(loaded.result)
    found: list[Judged] = []
    for cell, mine in parts.items():
        judged = {part.state: records.judged(cell, part) for part in mine}
        states = tuple(StateTime(state, one.time) for state, one in judged.items() if state and one.time)
        shown = [judged[part.state] for part in split.shown(mine, choice)]
        if not shown and choice is not None and choice != "all":
            shown = [records.never_in(Subject(cell, choice))]
        found += [replace(one, states=states) for one in shown] if states else shown
    return found


class ResultRecords:
    """What the records of a result say of all its cells, each thing computed once.

    Attributes:
        launches_made: Launches that could have measured a cell of a job, whatever came of them.
        launches_skipped: For each cell, launches in which there was no time for it.
    """

    def __init__(self, loaded: LoadedResult, times: Times, stat: str) -> None:
        self._loaded, self._times, self._stat = loaded, times, stat
        result = self._result = loaded.result
        self._split = split_of(result)
        self._outcomes = outcomes_of(result)
        self._labels = Labels(result, loaded.patterns)
        self._clocks = clock_states(result.clocks)
        self._crowding = Crowding(result)
        self._mixed = mixed_cells(result)
        self._cores = _cores(result)
        self._span_s = spread_s(result.launches, result.done)
        self.clock_cost_s = _clock_cost_s(result.launches)
        self.launches_made = _launches_made(result.launches)
        self.launches_skipped = _launches_skipped(result)

    def judged(self, cell: Cell, part: SplitPart) -> Judged:
        """Return what is said of a part; a time that cannot be believed takes all measured with it along."""
        of = part.subject(cell)
        time, visits = self._times.by_part.get(of), part.visits
        outcome, travel = outcome_of(self._outcomes, cell, time), self._labels.of(cell)
        if time is not None and (refusal := self._refusal(cell, time, travel)):
            outcome, time, visits = Outcome("failed", refusal), None, ()
        if outcome.status == "corrupt":
            time, visits = None, ()
        good = tuple(visit for visit in visits if not visit.corrupt)
        start = start_of(good, self._loaded.steps.get(cell.job, 0.0))
        clock = self._clocks.get(cell.job) if start else None
        warnings = self._warnings(cell, time, good, start, clock)
        if late := next((one for one in warnings if one.kind == "relay-late"), None):
            # A map holds links against each other, whose packets are all as late.
            if not cell.pair and _is_of_no_use(late, self._stat):
                reason = LatePackets(RELAY_LATE_S)
                return Judged(of, None, Outcome("late", reason), travel=travel, warnings=(late,))
            if time is not None and float(late.values["share"] or 0) < MANY:
                time, warnings = _without_tail(time, warnings)
        disturbed = None if self._crowding.lacks_processors(cell) else disturbed_share(good)
        return Judged(of, time, outcome, visits, good, start, clock, travel, disturbed, warnings)

    def never_in(self, of: Subject) -> Judged:
        """Return what is said of a cell that was never measured in the state that is asked for."""
        limit_bytes = outcome_of(self._outcomes, of.cell, None).limit_bytes
        outcome = Outcome("skipped", NotInState(of), limit_bytes)
        return Judged(of, None, outcome, travel=self._labels.of(of.cell))

    def _refusal(self, cell: Cell, time: Timing, travel: Travel | None) -> Reason | None:
        """Return why a time cannot be believed; None if it can."""
        caches = self._result.campaign.environment.caches
        mislabelled = travel.refutation if travel else None
        return mislabelled or implausible(cell, self._loaded.patterns.get(cell.pattern), time, caches)

    def _warnings(
        self,
        cell: Cell,
        time: Timing | None,
        visits: Sequence[Visit],
        start: Start | None,
        clock: ClockState | None,
    ) -> tuple[Warning, ...]:
        """Return what must be known of a time that was measured; the floor of the instrument is no result."""
        pattern, plan = self._loaded.patterns.get(cell.pattern), self._result.campaign.plan
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
            in_time=self._times.in_time,
            span_s=self._span_s,
            crowd=(crowd := self._crowding.of(cell)),
            told=self._crowding.is_told(cell.job),
            binding=self._crowding.cause_of(crowd),
            differs=self._mixed.get(cell, ""),
        )
        return warnings_for(circumstances)


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
