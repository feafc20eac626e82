"""The very first message of a program and its answer, beside those that follow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words
from mpigauge.find.explain.evidence import is_informative, is_narrow
from mpigauge.find.phrases import in_one_line, known_time, known_times, time
from mpigauge.rows.baselines import MESSAGES
from mpigauge.rows.ratios import ratio_of
from mpigauge.sequences import group_by
from mpigauge.stats.interval import interval_of, is_known
from mpigauge.stats.limits import PROMISED
from mpigauge.units import NS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Launch
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio

ONE_WAY = 2
"""Times of one-way messages in a round trip."""

ROUND_TRIP = "first message and its answer"

FIRST_PAIR = ("", "0-1")
"""The ranks that it is between, as cells have them."""


@dataclass(frozen=True, slots=True)
class FirstMessage:
    """The first round trip of a job, beside later ones.

    Attributes:
        cell: The smallest message that was measured between the same ranks; else any of the job.
        first_s: Median over launches.
        low_s: Lower end of its 95 % interval.
        high_s: Its upper end.
        usual_s: A round trip of that message; None if none was measured.
        ratio: How many times as long as that the first one takes, launch by launch; None: unknown.
        launches: How many have said it.
    """

    cell: Cell
    first_s: float
    low_s: float
    high_s: float
    usual_s: float | None
    ratio: Ratio | None
    launches: int

    @property
    def weight(self) -> float:
        """The distance from the usual, as a logarithm."""
        return abs(math.log(self.ratio.estimate)) if self.ratio else 0.0


def first_messages(evidence: Evidence) -> Iterator[FirstMessage]:
    """Yield the first message of every job with two launches or more that have timed it."""
    for job, rows in evidence.by_job().items():
        launches = [launch for launch in evidence.result.launches if launch.job == job]
        firsts = by_number(launches, lambda launch: launch.first_round_trip_ns)
        first_s, low_s, high_s = interval_of(np.array(list(firsts.values()) or [0.0]), machine=PROMISED).ends
        if low_s is None or high_s is None or not is_narrow(first_s, low_s, high_s):
            continue
        usual = _smallest(rows)
        usual_s = ONE_WAY * usual.time.estimate if usual is not None and usual.time is not None else None
        cell = (usual or rows[0]).cell
        yield FirstMessage(cell, first_s, low_s, high_s, usual_s, _ratio(firsts, usual), len(firsts))


def by_number(launches: Iterable[Launch], time_ns: Callable[[Launch], int]) -> Mapping[int, float]:
    """Return seconds by number of launch; for one that was started again, those of its first start."""
    parts = group_by((launch for launch in launches if time_ns(launch) > 0), lambda launch: launch.number)
    first = {number: min(mine, key=lambda launch: launch.part) for number, mine in parts.items()}
    return {number: time_ns(launch) * NS for number, launch in first.items()}


def _smallest(rows: Iterable[Row]) -> Row | None:
    """Return the quickest to send of those whose time is one message between the first two ranks."""
    messages = [row for row in rows if row.cell.pattern in MESSAGES and row.cell.pair in FIRST_PAIR]
    return min(messages, key=lambda row: (row.cell.bytes, row.cell.buffers != "warm"), default=None)


def _ratio(firsts: Mapping[int, float], usual: Row | None) -> Ratio | None:
    if usual is None or usual.time is None:
        return None
    trips = {number: ONE_WAY * time for number, time in usual.time.by_launch.items()}
    ratio = ratio_of(firsts, trips, paired=True, clock_step=usual.time.step)
    return ratio if is_informative(ratio) else None


# ---- Sentence ------------------------------------------------------------------------------------


def headline(fact: FirstMessage, _varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return in one line what the first message takes, and how many times as long as those that follow."""
    name = fact.cell.job.name
    if not is_known(fact.low_s, fact.high_s):
        return f"{name}: how long the {ROUND_TRIP} take is not known"
    said = f"{name}: {ROUND_TRIP} {known_time(fact.first_s, fact.low_s, fact.high_s, chosen)}"
    if fact.ratio is None or not is_known(fact.ratio.low, fact.ratio.high):
        return said
    later = f"a later round trip of {units.format_size(fact.cell.bytes)}"
    times = (known_times(fact.ratio, interval=each) for each in (True, False))
    return in_one_line([*(f"{said}; {one} {later}" for one in times), said])


def sentence(fact: FirstMessage, _varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return what the first message takes, and how many times as long as those that follow."""
    first = f"{ROUND_TRIP} {time(fact.first_s, fact.low_s, fact.high_s, chosen)}"
    return f"{fact.cell.job.name}: {'; '.join([first, *_beside(fact, chosen)])}"


def _beside(fact: FirstMessage, chosen: Units) -> Iterator[str]:
    if fact.ratio is None or fact.usual_s is None:
        return
    size = units.format_size(fact.cell.bytes)
    usual = units.format_time(fact.usual_s, chosen.time)
    yield f"{times_words(fact.ratio)} as long as a round trip of {size} later on, {usual}"
    if fact.ratio.low is not None and fact.ratio.low > 1:
        yield "what MPI_Init leaves to be set up is in it"
