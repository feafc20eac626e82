"""Start-up of a job: MPI_Init, and then its first message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.document.document import AUTOMATIC
from mpigauge.find.explain import first_message
from mpigauge.find.explain.evidence import is_narrow
from mpigauge.find.explain.first_message import FirstMessage, by_number, first_messages
from mpigauge.find.phrases import known_time, time
from mpigauge.mpi.init_sleep import REMEDY, SLEEP_S, lasts_as_long, may_sleep
from mpigauge.stats.interval import interval_of, is_known
from mpigauge.stats.limits import ENOUGH_LAUNCHES, PROMISED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Launch


@dataclass(frozen=True, slots=True)
class StartUp:
    """Time of MPI_Init of a job on the slowest rank.

    Attributes:
        cell: That of the first message, if one is known; else any of the job.
        init_s: Median over launches.
        low_s: Lower end of its 95 % interval.
        high_s: Its upper end.
        median_s: Median over launches of the median over ranks.
        first: The first message after it; None for one rank, or if it is not known.
        launches: How many have said it.
        sleep_s: How long the library sleeps in it; 0 if it does not, as far as one can tell.
    """

    cell: Cell
    init_s: float
    low_s: float
    high_s: float
    median_s: float
    first: FirstMessage | None
    launches: int
    sleep_s: float = 0.0

    @property
    def weight(self) -> float:
        """The time itself."""
        return self.init_s


def start_ups(evidence: Evidence) -> Iterator[StartUp]:
    """Yield the start-up of every job with two launches or more that have timed MPI_Init."""
    firsts = {fact.cell.job: fact for fact in first_messages(evidence)}
    for job, rows in evidence.by_job().items():
        launches = [launch for launch in evidence.result.launches if launch.job == job]
        longest = by_number(launches, lambda launch: launch.init_ns)
        middle = by_number(launches, lambda launch: launch.init_median_ns)
        init_s, low_s, high_s = interval_of(np.array(list(longest.values()) or [0.0]), machine=PROMISED).ends
        if low_s is None or high_s is None or not is_narrow(init_s, low_s, high_s):
            continue
        median_s = interval_of(np.array(list(middle.values()) or [0.0]), machine=PROMISED).estimate
        first = firsts.get(job)
        cell = first.cell if first is not None else rows[0].cell
        sleeps = lasts_as_long(median_s) and _may_sleep(evidence.result, launches[-1])
        sleep_s = SLEEP_S if sleeps else 0.0
        yield StartUp(cell, init_s, low_s, high_s, median_s, first, len(longest), sleep_s)


def _may_sleep(result: Result, launch: Launch) -> bool:
    campaign = result.campaign
    variables = {**campaign.environment.variables, **campaign.plan.variables, **launch.variables}
    return may_sleep(launch.job.mpi, launch.job.mpi_version, variables, campaign.plan.mpi_options)


# ---- Sentence ------------------------------------------------------------------------------------


def headline(fact: StartUp, _varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line what MPI_Init takes, and then the first message and its answer."""
    asleep = f", {time(fact.sleep_s, chosen=chosen)} of it a sleep" if fact.sleep_s else ""
    said = f"{fact.cell.job.name}: MPI_Init {_init(fact, chosen)}{asleep}"
    if fact.first is None or not is_known(fact.first.low_s, fact.first.high_s):
        return said
    return f"{said}, {first_message.ROUND_TRIP} {time(fact.first.first_s, chosen=chosen)}"


def _init(fact: StartUp, chosen: Units) -> str:
    """Return what MPI_Init takes, with its interval; of few launches that leave it open, how many tell it."""
    if is_known(fact.low_s, fact.high_s) or fact.launches >= ENOUGH_LAUNCHES:
        return known_time(fact.init_s, fact.low_s, fact.high_s, chosen)
    about = time(fact.init_s, chosen=chosen)
    return f"{about} (a good interval needs {ENOUGH_LAUNCHES} launches or more)"


def sentence(fact: StartUp, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return what MPI_Init takes on the slowest rank, the median over ranks, and then the first message."""
    name = fact.cell.job.name
    said = [
        f"MPI_Init {time(fact.init_s, fact.low_s, fact.high_s, chosen)} on the slowest rank",
        f"{time(fact.median_s, chosen=chosen)} median over ranks",
    ]
    if fact.sleep_s:
        asleep = time(fact.sleep_s, chosen=chosen)
        said.append(f"{asleep} of it is a sleep, as btl/ofi is closed unused, which {REMEDY} avoids")
    if fact.first is not None:
        said.append(first_message.sentence(fact.first, varied, chosen).removeprefix(f"{name}: "))
    return f"{name}: {'; '.join(said)}"
