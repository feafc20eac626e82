"""When launches were made: over how much time they were spread, and in how many sessions."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from mpigauge.stats.interval import Number, interval_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from mpigauge.plan.model import JobKey
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Done, Launch
    from mpigauge.rows.estimate import Timing


LEAST_SESSIONS = 3
"""Fewer say next to nothing about the next one."""

_BREAK_LAUNCHES = 10
_BREAK_LEAST_S = 600.0


@dataclass(frozen=True, slots=True)
class OverSessions:
    """A time over sessions, of one result or of several.

    Attributes:
        time: What the next session may find, in seconds; its launches are the sessions.
        seconds: From the begin of the first session to the end of the last, s.
    """

    time: Number
    seconds: float

    @property
    def sessions(self) -> int:
        """How many there are."""
        return self.time.launches


@dataclass(frozen=True, slots=True)
class OddSession:
    """A result that is far from all others of its time.

    Attributes:
        begun_s: Unix time; 0 if it is not known.
        daily: Whether no two of the sessions began on one day.
        ratios: How many times as long its odd numbers take as in the median session, from the least.
        of: How many numbers it has.
        left_out: In how many numbers what is expected of the next session does without it.
    """

    path: Path
    begun_s: float
    daily: bool
    ratios: tuple[float, ...]
    of: int
    left_out: int

    @property
    def ratio(self) -> float:
        """How many times as long the middle one of its odd numbers takes."""
        return median(self.ratios)


Of = TypeVar("Of")


class Session(NamedTuple, Generic[Of]):
    """Launches that were made at one time.

    Attributes:
        begin_s: When the first of them began, in seconds of Unix time.
        end_s: When the last of them was over, or began where nobody says how long it took.
        launches: Their numbers, or their times.
    """

    begin_s: float
    end_s: float
    launches: tuple[Of, ...]


def are_daily(begins_s: Iterable[float]) -> bool:
    """Return whether no two sessions began on one day, UTC."""
    days = [datetime.fromtimestamp(one, UTC).date() for one in begins_s]
    return len(set(days)) == len(days)


def begins_s(launches: Iterable[Launch]) -> dict[int, float]:
    """Return when each launch began, in seconds after the first, by number; of its first part.

    A replication is one launch of every job: the earliest of them counts. Launches that do not say when they
    were made, as imported ones, are left out.
    """
    seen = _begun_s(launches)
    first_s = min(seen.values(), default=0.0)
    return {number: at_s - first_s for number, at_s in seen.items()}


def _begun_s(launches: Iterable[Launch]) -> dict[int, float]:
    """Return when each launch began, in seconds of Unix time, by number; of its first part."""
    seen: dict[int, float] = {}
    for launch in launches:
        if launch.started:
            at_s = datetime.fromisoformat(launch.started).timestamp()
            seen[launch.number] = min(at_s, seen.get(launch.number, math.inf))
    return dict(sorted(seen.items()))


def spread_s(launches: Iterable[Launch], done: Iterable[Done] = ()) -> float:
    """Return the seconds from the begin of the first launch to that of the last, or to its end if known."""
    begins = begins_s(launches)
    if not begins:
        return 0.0
    last = max(begins, key=lambda number: begins[number])
    return begins[last] + sum(one.elapsed_s for one in done if one.launch == last)


def sessions_of(launches: Iterable[Launch]) -> list[list[int]]:
    """Return numbers of launches by session: parted by a break longer than ten launches, and ten minutes.

    A campaign whose launches are spread over time has no such breaks, since all are alike.

    Source:
        docs/method-comparison.md#other-minutes
    """
    begins = begins_s(launches)
    numbers = list(begins)
    gaps = np.diff(list(begins.values()))
    if gaps.size == 0:
        return [numbers] if numbers else []
    least = max(_BREAK_LEAST_S, _BREAK_LAUNCHES * float(np.median(gaps)))
    cuts = [0, *(np.flatnonzero(gaps > least) + 1).tolist(), len(numbers)]
    return [numbers[begin:end] for begin, end in itertools.pairwise(cuts)]


def dated_sessions(launches: Iterable[Launch], done: Iterable[Done] = ()) -> list[Session[int]]:
    """Return the sessions of a result, with when they were."""
    launches = list(launches)
    begun, took = _begun_s(launches), _took_s(done)
    ends = {number: at_s + took.get(number, 0.0) for number, at_s in begun.items()}
    return [
        Session(min(begun[one] for one in mine), max(ends[one] for one in mine), tuple(mine))
        for mine in sessions_of(launches)
    ]


def _took_s(done: Iterable[Done]) -> dict[int, float]:
    """Return how long each replication took: all of its jobs, one after the other."""
    took: dict[int, float] = {}
    for one in done:
        took[one.launch] = took.get(one.launch, 0.0) + one.elapsed_s
    return took


def across(time: Timing | None, sessions: Sequence[Sequence[int]]) -> Number | None:
    """Return the interval over sessions, whose unit is the session; None under three of them.

    Source:
        docs/method-comparison.md#other-minutes
    """
    if time is None:
        return None
    values = [
        [time.by_launch[number] for number in numbers if number in time.by_launch] for numbers in sessions
    ]
    return across_times(map(session_time, values), time.step)


def session_time(launches_s: Collection[float]) -> float | None:
    """Return the time of a session, s: the median of its launches; None if it has none or one is 0.

    Args:
        launches_s: One number per launch.
    """
    return median(launches_s) if launches_s and min(launches_s) > 0 else None


def across_times(
    times_s: Iterable[float | None], clock_step: float = 0.0, least: int = LEAST_SESSIONS
) -> Number | None:
    """Return the interval over sessions from the time of each; None of fewer than asked for.

    Args:
        least: Fewer sessions have no interval; of two it is wide, by the one degree of freedom that there is.
    """
    known = np.array([time_s for time_s in times_s if time_s is not None])
    if known.size < least:
        return None
    found = interval_of(known, clock_step)
    return None if found.half_width is None else found


# ---- When visits began ---------------------------------------------------------------------------


def visits_begin_s(result: Result) -> list[float]:
    """Return when each visit of a result began, in seconds after the first launch.

    A launch that was started again has several starts: visits of a later part begin earlier after their
    start than those before them. Where starts are not known, as of an import, visits follow each other.
    """
    starts = _starts_s(result)
    parts: dict[tuple[int, JobKey], int] = defaultdict(int)
    last: dict[tuple[int, JobKey], float] = {}
    found: list[float] = []
    end_s = 0.0
    for visit in result.visits:
        key = visit.launch, visit.cell.job
        if visit.at_s < last.get(key, 0.0):
            parts[key] += 1
        last[key] = visit.at_s
        mine = starts.get(key, [])
        # Starts are whole seconds: nothing begins before what came before it is over.
        begin_s = mine[min(parts[key], len(mine) - 1)] + visit.at_s if mine else end_s
        found.append(max(begin_s, end_s))
        end_s = (
            found[-1] + visit.elapsed_s
            if not (visit.cell.pair or visit.cell.groups)
            else max(end_s, found[-1])
        )
    return found


def _starts_s(result: Result) -> dict[tuple[int, JobKey], list[float]]:
    """Return when the parts of each launch began, after the first of all."""
    known = [launch for launch in result.launches if launch.started]
    times_s = [datetime.fromisoformat(launch.started).timestamp() for launch in known]
    starts: dict[tuple[int, JobKey], list[float]] = defaultdict(list)
    for launch, time_s in zip(known, times_s, strict=True):
        starts[launch.number, launch.job].append(time_s - min(times_s))
    return starts
