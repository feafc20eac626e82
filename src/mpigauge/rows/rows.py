"""From a result to its rows, what is said of each cell: load, split, estimate, judge and annotate.

Each step takes what those before it return, and nothing goes back.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import FLOORS
from mpigauge.result.reader import Result
from mpigauge.result.records import Launch, Visit
from mpigauge.rows.baselines import ratios_of
from mpigauge.rows.estimate import Estimate, Printed, Timing, rounds_per_launch_advice
from mpigauge.rows.group import Subject, by_state
from mpigauge.rows.judge import Judged, StateTime, judge
from mpigauge.rows.load import LoadedResult, load
from mpigauge.rows.machine.sessions import Across, OverSessions, across, sessions_of
from mpigauge.rows.machine.split import split
from mpigauge.rows.progress import Progress, progress_of
from mpigauge.rows.rates import bus_rate_of, directions_of, message_rate_of, rate_of
from mpigauge.rows.ratios import Ratio
from mpigauge.rows.reasons import Reason
from mpigauge.rows.same_distance import distances_apart
from mpigauge.rows.samples import cpu_s, cpu_share, first_s
from mpigauge.rows.synchrony import ClockState, Overlap, Start, overlap_of
from mpigauge.rows.times import estimate
from mpigauge.rows.transport.proof import Travel
from mpigauge.rows.warnings import CROWDED, Warning, WarningKind  # noqa: A004 - read as such
from mpigauge.vocabulary import UNMEASURED, StateChoice, StateName, Status

Sessions = Sequence[Sequence[int]]
"""Numbers of launches by session."""

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
    progress: Progress | None = None
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
    def of(self) -> Subject:
        """The cell, in the state of the machine that the row is of."""
        return Subject(self.cell, self.state)

    @property
    def as_of_all(self) -> "Row":
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
    loaded = load(result)
    parts = split(loaded)
    times = estimate(loaded, parts, stat)
    judged = judge(loaded, parts, times, stat, choice)
    return annotate(loaded, judged)


def annotate(loaded: LoadedResult, judged: Sequence[Judged]) -> list[Row]:
    """Return what was judged as rows, with rates, ratios and times over sessions: the last step."""
    sessions, cost_s = sessions_of(loaded.result.launches), startup_s(loaded.result.launches)
    found = [_row(one, loaded, sessions, cost_s) for one in judged]
    return _with_ratios(found)


def _row(
    one: Judged, loaded: LoadedResult, sessions: Sequence[Sequence[int]], startup_s: float | None
) -> Row:
    cell, time, good = one.of.cell, one.time, one.good
    pattern = loaded.patterns.get(cell.pattern)
    mode = pattern.mode(cell.mode) if pattern is not None else None
    computes = mode is not None and mode.target_computes
    first = mode is not None and mode.computes_first
    return Row(
        cell=cell,
        status=one.outcome.status,
        reason=one.outcome.reason,
        limit_bytes=one.outcome.limit_bytes,
        time=time,
        rate_bytes_per_s=rate_of(cell, pattern, time),
        bus_bytes_per_s=bus_rate_of(cell, pattern, time),
        messages_per_s=message_rate_of(cell, pattern, time),
        directions=directions_of(cell, pattern),
        cpu_s_per_op=cpu_s(cell, pattern, good),
        cpu_share=cpu_share(cell, pattern, good),
        start=one.start,
        clock=one.clock,
        overlap=None if computes or first else overlap_of(good, loaded.steps.get(cell.job, 0.0)),
        progress=progress_of(good) if computes else None,
        across=across(time, sessions),
        sized=pattern is None or pattern.sized,
        talks=pattern is None or pattern.active_ranks != 1,
        travel=one.travel,
        first_s=first_s(good),
        advised_samples=_advised_samples(startup_s, time, good),
        batch=max((visit.batch for visit in good), default=0),
        warnings=one.warnings,
        visits=one.visits,
        state=one.of.state,
        states=one.states,
        disturbed_share=one.disturbed_share,
    )


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


def warnings_of(rows_: Iterable[Row]) -> Mapping[WarningKind, list[tuple[Cell, Warning]]]:
    """Return the warnings of all rows, by kind."""
    kinds: dict[WarningKind, list[tuple[Cell, Warning]]] = defaultdict(list)
    for row in rows_:
        for warning in row.warnings:
            kinds[warning.kind].append((row.cell, warning))
    return kinds
