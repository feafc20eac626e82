"""Whether results of the same thing agree: by state of the machine, at equal speed, over sessions."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import tools

from mpigauge.result.reader import Result
from mpigauge.rows.estimate import Estimate
from mpigauge.rows.machine import over_sessions
from mpigauge.rows.machine.speeds import STEADY
from mpigauge.rows.machine.split import NO_SPLIT, Split, with_split
from mpigauge.rows.machine.steadiness import steadiness_of
from mpigauge.rows.rows import Row, rows
from mpigauge.stats.interval import Number
from mpigauge.vocabulary import StateName

SIZES = (0, *tools.SIZES)


def spread(values: Sequence[float]) -> float:
    """Return the largest over the smallest value; NaN if there are fewer than two."""
    return max(values) / min(values) if len(values) > 1 and min(values) > 0 else math.nan


# ---- By state ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InState:
    """The estimates of one size in one state, one per invocation; of all states together without a name."""

    state: StateName | None
    estimates: tuple[Estimate, ...]

    @property
    def spread(self) -> float:
        """Largest over smallest; NaN under two."""
        return spread([one.estimate for one in self.estimates])

    def contain(self) -> tuple[int, int]:
        """Return the number of intervals that contain the median of the other estimates, and of intervals."""
        contained = [
            one.low <= median(self._others(place)) <= one.high
            for place, one in enumerate(self.estimates)
            if one.low is not None and one.high is not None and len(self.estimates) > 1
        ]
        return sum(contained), len(contained)

    def _others(self, place: int) -> list[float]:
        return [one.estimate for number, one in enumerate(self.estimates) if number != place]


def in_states(results: Sequence[Result], split: Split) -> dict[int, list[InState]]:
    """Return the estimates of every size: of all states together first, then of each."""
    found: dict[int, list[InState]] = {size: [] for size in SIZES}
    whole = [_by_size(rows(with_split(result, NO_SPLIT))) for result in results]
    for name, estimates_by_result in [
        (None, whole),
        *((one.name, _in(one.name, results, split)) for one in split.states),
    ]:
        for size in SIZES:
            found[size].append(InState(name, tuple(one[size] for one in estimates_by_result if size in one)))
    return found


def _in(name: StateName, results: Sequence[Result], split: Split) -> list[dict[int, Estimate]]:
    there = []
    for result in results:
        mine = [row for row in rows(with_split(result, split), choice=name) if row.state == name]
        there.append({size: one for size, one in _by_size(mine).items() if one.low is not None})
    return there


def _by_size(found: Iterable[Row]) -> dict[int, Estimate]:
    return {
        row.cell.bytes: row.time
        for row in found
        if row.cell.pattern == "pingpong" and isinstance(row.time, Estimate)
    }


# ---- At equal speed ------------------------------------------------------------------------------


def speed_classes(results: Sequence[Result]) -> list[tuple[list[float], list[dict[int, Estimate]]]]:
    """Return the time of the arithmetic and the estimates by size, from fast to slow."""
    known = [(steadiness_of(one).middle_s, _by_size(rows(with_split(one, NO_SPLIT)))) for one in results]
    found: list[tuple[list[float], list[dict[int, Estimate]]]] = []
    for speed_s, estimates in sorted(((s, e) for s, e in known if s is not None), key=lambda pair: pair[0]):
        if not found or speed_s > STEADY * found[-1][0][0]:
            found.append(([], []))
        found[-1][0].append(speed_s)
        found[-1][1].append(estimates)
    return found


# ---- Over sessions -------------------------------------------------------------------------------


Set = tuple[dict[int, Number], dict[int, list[float]]]
"""Times over the sessions of a set of results, by size, with the estimate of each session."""


def of_sessions(results: Sequence[Result], split: Split, name: StateName | None) -> Set:
    """Return the estimates over sessions, in one state or in all."""
    used_split = split if name else NO_SPLIT
    measured = []
    for one in results:
        state_rows = [row for row in rows(with_split(one, used_split), choice=name) if row.state == name]
        if state_rows:
            measured.append(over_sessions.MeasuredResult(one, state_rows))
    rows_of_sessions = over_sessions.with_sessions(measured)
    over: dict[int, Number] = {}
    for row in (
        row for session_rows in rows_of_sessions for row in session_rows if row.cell.pattern == "pingpong"
    ):
        # Those that ranks of other distances keep apart have fewer sessions.
        if row.sessions and row.sessions.sessions > _sessions(over.get(row.cell.bytes)):
            over[row.cell.bytes] = row.sessions.time
    estimates: dict[int, list[float]] = {size: [] for size in SIZES}
    for session_rows in rows_of_sessions:
        for size, time in _by_size(session_rows).items():
            estimates[size].append(time.estimate)
    return over, estimates


def _sessions(known: Number | None) -> int:
    return known.launches if known else 0


def holds_others(sets: Sequence[Set], place: int, size: int) -> bool | None:
    """Return whether the interval of one set contains the median of the others; None if it has none."""
    if size not in sets[place][0]:
        return None
    time = sets[place][0][size]
    others = [
        value for number, (_, estimates) in enumerate(sets) if number != place for value in estimates[size]
    ]
    return bool(others) and time.holds(median(others))
