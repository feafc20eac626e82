"""What all rows of a result have in common, each thing computed once and not again for every row."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mpigauge.plan.model import Cell, JobKey
from mpigauge.plan.patterns import Pattern
from mpigauge.result.reader import Result
from mpigauge.result.records import Imported, Launch
from mpigauge.rows.clock_steps import Steps, clock_steps
from mpigauge.rows.inconsistent_sessions import mixed_cells
from mpigauge.rows.machine.crowding import Crowding
from mpigauge.rows.machine.serial_correlation import InTime
from mpigauge.rows.machine.sessions import sessions_of, spread_s
from mpigauge.rows.machine.speed_uncertainty import Meanwhile, meanwhile_of
from mpigauge.rows.machine.states import States
from mpigauge.rows.samples import restarts
from mpigauge.rows.status import Outcomes, outcomes_of
from mpigauge.rows.synchrony import ClockState, clock_states
from mpigauge.rows.transport.proof import Labels
from mpigauge.units import NS


@dataclass(frozen=True, slots=True)
class Shared:
    """What a row needs beside the visits of its own cell.

    Attributes:
        labels: What becomes of the transports that cells are labelled with.
        steps: Of the clock of each job.
        restarted: Numbers of launches that have several parts.
        sessions: Numbers of launches by session.
        launches_made: Those that could have measured a cell of a job, whatever came of them.
        launches_skipped: Of a cell, those in which there was no time for it.
        cores: That all ranks share; None if they are on other machines, where nobody gets more ranks than
            slots.
        clock_cost_s: Of one reading, in the middle of all ranks.
        startup_s: Of a launch, in the mean; None if it is not known.
        span_s: From the first launch to the last.
        mixed: In what sessions differ, of cells that were measured in several unlike ones.
        meanwhile: The speeds that the cores of ranks had, by seat; empty if they had one, or if launches
            were spread over other minutes, which say it themselves.
        crowding: Which ranks were more than their processors or cores.
        in_time: How much neighbouring launches agree; None if by chance only.
    """

    result: Result
    patterns: Mapping[str, Pattern]
    clocks: Mapping[JobKey, ClockState]
    labels: Labels
    imported: Mapping[Cell, Sequence[Imported]]
    steps: Steps
    restarted: Mapping[JobKey, frozenset[int]]
    sessions: Sequence[Sequence[int]]
    outcomes: Outcomes
    states: States
    launches_made: Mapping[JobKey, int]
    launches_skipped: Counter[Cell]
    cores: int | None
    clock_cost_s: float
    startup_s: float | None
    span_s: float
    mixed: Mapping[Cell, str]
    meanwhile: Mapping[object, Meanwhile]
    crowding: Crowding
    in_time: InTime | None = None


def shared_of(result: Result, states: States) -> Shared:
    """What the rows of a result have in common."""
    patterns = {pattern.name: pattern for pattern in result.campaign.patterns}
    return Shared(
        result=result,
        patterns=patterns,
        clocks=clock_states(result.clocks),
        labels=Labels(result, patterns),
        imported=_imported(result),
        steps=clock_steps(result.launches, result.visits),
        restarted=restarts(result.launches),
        sessions=sessions_of(result.launches),
        outcomes=outcomes_of(result),
        states=states,
        launches_made=_launches_made(result.launches),
        launches_skipped=_launches_skipped(result),
        cores=_cores(result),
        clock_cost_s=_clock_cost_s(result.launches),
        startup_s=_startup_s(result.launches),
        span_s=spread_s(result.launches, result.done),
        mixed=mixed_cells(result),
        meanwhile=meanwhile_of(result),
        crowding=Crowding(result),
    )


def _imported(result: Result) -> Mapping[Cell, Sequence[Imported]]:
    found: dict[Cell, list[Imported]] = defaultdict(list)
    for one in result.imported:
        found[one.cell].append(one)
    return found


def _launches_made(launches: Sequence[Launch]) -> Mapping[JobKey, int]:
    numbers: dict[JobKey, set[int]] = defaultdict(set)
    for launch in launches:
        numbers[launch.job].add(launch.number)
    return {job: len(mine) for job, mine in numbers.items()}


def _launches_skipped(result: Result) -> Counter[Cell]:
    skipped = {(done.launch, cell) for done in result.done for cell in done.skipped}
    return Counter(cell for _, cell in skipped)


def _cores(result: Result) -> int | None:
    plan = result.campaign.plan
    return None if plan.hosts and plan.lab is None else result.campaign.environment.cores


def _clock_cost_s(launches: Sequence[Launch]) -> float:
    costs = [place.clock_cost_ns for launch in launches for place in launch.ranks_at]
    return float(np.median(costs)) * NS if costs else 0.0


def _startup_s(launches: Sequence[Launch]) -> float | None:
    known = [launch.startup_s for launch in launches if launch.startup_s is not None]
    return float(np.mean(known)) if known else None
