"""When launches were made: over how much time they were spread, and in how many sessions."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.analysis.interval import launch_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.analysis.estimate import Timing
    from mpigauge.result.records import Done, Launch

LEAST_SESSIONS = 3
"""Fewer say next to nothing about the next one."""

_BREAK_LAUNCHES = 10
_BREAK_LEAST_S = 600.0


@dataclass(frozen=True, slots=True)
class Across:
    """A time across sessions: what the next session may find.

    Attributes:
        estimate: Geometric mean of the sessions, s.
        low: Lower end of the 95 % t interval over sessions.
        high: Its upper end.
        half_width: Relative.
        sessions: How many there are.
    """

    estimate: float
    low: float
    high: float
    half_width: float
    sessions: int


def begins_s(launches: Iterable[Launch]) -> dict[int, float]:
    """When each launch began, in seconds after the first, by number; of its first part.

    A replication is one launch of every job: the earliest of them counts. Launches that do not say when they
    were made, as imported ones, are left out.
    """
    seen: dict[int, float] = {}
    for launch in launches:
        if launch.started:
            at_s = datetime.fromisoformat(launch.started).timestamp()
            seen[launch.number] = min(at_s, seen.get(launch.number, math.inf))
    first_s = min(seen.values(), default=0.0)
    return {number: at_s - first_s for number, at_s in sorted(seen.items())}


def spread_s(launches: Iterable[Launch], done: Iterable[Done] = ()) -> float:
    """From the begin of the first launch to that of the last, or to its end where that is known."""
    begins = begins_s(launches)
    if not begins:
        return 0.0
    last = max(begins, key=lambda number: begins[number])
    return begins[last] + sum(one.elapsed_s for one in done if one.launch == last)


def sessions_of(launches: Iterable[Launch]) -> list[list[int]]:
    """Numbers of launches by session: parted by a break longer than ten launches, and ten minutes.

    A campaign whose launches are spread over time has no such breaks, since all are alike.

    Source:
        docs/method.md#other-minutes
    """
    begins = begins_s(launches)
    numbers = list(begins)
    gaps = np.diff(list(begins.values()))
    if gaps.size == 0:
        return [numbers] if numbers else []
    least = max(_BREAK_LEAST_S, _BREAK_LAUNCHES * float(np.median(gaps)))
    cuts = [0, *(np.flatnonzero(gaps > least) + 1).tolist(), len(numbers)]
    return [numbers[begin:end] for begin, end in itertools.pairwise(cuts)]


def across(time: Timing | None, sessions: Sequence[Sequence[int]]) -> Across | None:
    """The interval over sessions, whose unit is the session; None under three of them.

    Source:
        docs/method.md#other-minutes
    """
    if time is None:
        return None
    return across_means([session_mean(time.by_launch, numbers) for numbers in sessions], time.step)


def session_mean(times: Mapping[int, float], numbers: Iterable[int]) -> float | None:
    """Geometric mean of the launches of a session, s; None if it has none or one is 0."""
    mine = [times[number] for number in numbers if number in times]
    return math.exp(float(np.mean(np.log(mine)))) if mine and min(mine) > 0 else None


def across_means(means: Iterable[float | None], clock_step: float = 0.0) -> Across | None:
    """As `across`, of the geometric mean of each session."""
    known = np.array([mean for mean in means if mean is not None])
    if known.size < LEAST_SESSIONS:
        return None
    centre, low, high, half_width = launch_interval(known, clock_step)
    if low is None or high is None or half_width is None:
        return None
    return Across(centre, low, high, half_width, known.size)
