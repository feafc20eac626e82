"""Whether results of the same thing agree: by state of the machine, at equal speed, over sessions."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import tools

from mpigauge.result.reader import Result
from mpigauge.rows.estimate import Estimate
from mpigauge.rows.machine import over_sessions
from mpigauge.rows.machine.sessions import Across
from mpigauge.rows.machine.speeds import STEADY
from mpigauge.rows.machine.split import NO_SPLIT, Split, with_split
from mpigauge.rows.machine.steadiness import steadiness_of
from mpigauge.rows.rows import Row, rows
from mpigauge.vocabulary import StateName

SIZES = (0, *tools.SIZES)


def spread(values: Sequence[float]) -> float:
    """Largest over smallest; NaN under two."""
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
        """How many intervals contain the median of the other estimates, and how many intervals there are."""
        held = [
            one.low <= median(self._others(place)) <= one.high
            for place, one in enumerate(self.estimates)
            if one.low is not None and one.high is not None and len(self.estimates) > 1
        ]
        return sum(held), len(held)

    def _others(self, place: int) -> list[float]:
        return [one.estimate for number, one in enumerate(self.estimates) if number != place]


def in_states(results: Sequence[Result], split: Split) -> dict[int, list[InState]]:
    """The estimates of every size: of all states together first, then of each."""
    found: dict[int, list[InState]] = {size: [] for size in SIZES}
    whole = [_by_size(rows(with_split(result, NO_SPLIT))) for result in results]
    for name, there in [
        (None, whole),
        *((one.name, _in(one.name, results, split)) for one in split.states),
    ]:
        for size in SIZES:
            found[size].append(InState(name, tuple(one[size] for one in there if size in one)))
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
    """From fast to slow: what the arithmetic took, and the estimates by size."""
    known = [(steadiness_of(one).middle_s, _by_size(rows(with_split(one, NO_SPLIT)))) for one in results]
    found: list[tuple[list[float], list[dict[int, Estimate]]]] = []
    for speed_s, estimates in sorted(((s, e) for s, e in known if s is not None), key=lambda pair: pair[0]):
        if not found or speed_s > STEADY * found[-1][0][0]:
            found.append(([], []))
        found[-1][0].append(speed_s)
        found[-1][1].append(estimates)
    return found


# ---- Over sessions -------------------------------------------------------------------------------


Set = tuple[dict[int, Across], dict[int, list[float]]]
"""By size: the time over the sessions of a set of results, and what each of them says."""


def of_sessions(results: Sequence[Result], split: Split, name: StateName | None) -> Set:
    """The interval over them in one state, or whatever states they were in."""
    told = split if name else NO_SPLIT
    measured = []
    for one in results:
        there = [row for row in rows(with_split(one, told), choice=name) if row.state == name]
        if there:
            measured.append(over_sessions.MeasuredResult(one, there))
    with_them = over_sessions.with_sessions(measured)
    over: dict[int, Across] = {}
    for row in (row for mine in with_them for row in mine if row.cell.pattern == "pingpong"):
        # Those that ranks of other distances keep apart have fewer sessions.
        if row.sessions and row.sessions.time.sessions > _sessions(over.get(row.cell.bytes)):
            over[row.cell.bytes] = row.sessions.time
    said: dict[int, list[float]] = {size: [] for size in SIZES}
    for mine in with_them:
        for size, time in _by_size(mine).items():
            said[size].append(time.estimate)
    return over, said


def _sessions(known: Across | None) -> int:
    return known.sessions if known else 0


def holds_others(sets: Sequence[Set], place: int, size: int) -> bool | None:
    """Whether the interval of one set contains the median of all others; None if it has none."""
    if size not in sets[place][0]:
        return None
    time = sets[place][0][size]
    others = [value for number, (_, said) in enumerate(sets) if number != place for value in said[size]]
    return bool(others) and time.low <= median(others) <= time.high
