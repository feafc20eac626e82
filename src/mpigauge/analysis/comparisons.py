"""Places, modes, libraries and settings of one result side by side: ratios paired by launch, with verdicts.

Only messages are compared, and only where the ratio has an interval.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from mpigauge.analysis.conditions import distances_of
from mpigauge.analysis.explain.beside import of_times, stretches
from mpigauge.analysis.like_ratio import ANYWHERE, apart, like_ratio
from mpigauge.analysis.verdict import verdict
from mpigauge.plan.patterns import patterns_with
from mpigauge.vocabulary import Contrasted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.analysis.conditions import Distances
    from mpigauge.analysis.estimate import Timing
    from mpigauge.analysis.explain.beside import Beside, Stretch
    from mpigauge.analysis.like_ratio import Apart
    from mpigauge.analysis.ratios import Ratio
    from mpigauge.analysis.rows import Row
    from mpigauge.plan.model import Cell
    from mpigauge.vocabulary import StateName, Verdict

MESSAGES = patterns_with(lambda pattern: pattern.family == "message")

Differing = Literal["place", Contrasted]
"""What two curves that are compared differ in."""

_MUCH_WIDER = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Times of one pattern against size.

    Attributes:
        cell: The smallest of it.
        times: Size to what is known of its time, with that of each launch.
        distances: Size to how far apart the ranks were in its launches.
        state: The state of the machine that it is of; None if that had one only.
    """

    cell: Cell
    times: dict[int, Timing]
    distances: dict[int, Distances] = field(default_factory=dict)
    state: StateName | None = None

    def over(self, other: Curve, size: int) -> Ratio | None:
        """How many times as long it takes, paired by launch where both have the same ones.

        In one place only what was measured at one distance is compared; another place is another distance.

        Returns:
            None if there is no interval: of a single launch nothing is said.
        """
        ratio = like_ratio(self.times[size], other.times[size], self._at(other, size))
        return None if ratio is None or ratio.low is None else ratio

    def beside(self, base: Curve, size: int) -> Beside | None:
        """Its time beside that of another, of the same launches; None where `over` is."""
        return of_times(size, base.times[size], self.times[size], self._at(base, size))

    def apart(self, other: Curve, size: int) -> Apart | None:
        """Why there is none, if their ranks were at different distances."""
        return apart(self.times[size], other.times[size], self._at(other, size))

    def _at(self, other: Curve, size: int) -> tuple[Distances, Distances]:
        if _place(self.cell) != _place(other.cell):
            return ANYWHERE
        return self.distances.get(size, {}), other.distances.get(size, {})


@dataclass(frozen=True, slots=True)
class At:
    """A ratio at one size.

    Attributes:
        verdict: On the first of the two, by the one rule.
    """

    bytes: int
    ratio: Ratio
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class PlaceLatency:
    """What the smallest message costs in each place, in units of the nearest.

    Attributes:
        nearest: The cell in the place where it is fastest.
        others: The same message in the other places, from near to far.
        time_s: Its time in the nearest.
        ratios: How many times as long it takes in each of the others.
        state: The state of the machine that all of it is of; None if that had one only.
    """

    nearest: Cell
    others: tuple[Cell, ...]
    time_s: float
    ratios: tuple[At, ...]
    state: StateName | None = None


@dataclass(frozen=True, slots=True)
class Payoff:
    """From which size on the fastest place pays, and how much.

    Attributes:
        fast: The cell in the place where the largest message is fastest.
        slow: The same in another place.
        from_bytes: The smallest size from which on `slow` is slower at every size; None if there is none.
        gains: How many times as long `slow` takes there and at the largest size; empty without a size.
        unclear: Larger sizes whose interval is too wide to tell, between neighbours that do.
        state: The state of the machine that all of it is of; None if that had one only.
    """

    fast: Cell
    slow: Cell
    from_bytes: int | None
    gains: tuple[At, ...]
    unclear: tuple[int, ...] = ()
    state: StateName | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """A mode, library or setting in units of the first, at all sizes that both have.

    Attributes:
        of: In what the two differ.
        runs: The sizes by verdict.
        state: The state of the machine that all of it is of; None if that had one only.
    """

    of: Contrasted
    other: Cell
    first: Cell
    runs: tuple[Stretch, ...]
    state: StateName | None = None


Comparison = PlaceLatency | Payoff | Contrast


def several_windows(rows: Iterable[Row]) -> frozenset[Cell]:
    """Cells, without their window, that were measured with several; there may be a row for each state."""
    same = Counter(without_window(cell) for cell in {row.cell for row in rows} if cell.window)
    return frozenset(cell for cell, count in same.items() if count > 1)


def without_window(cell: Cell) -> Cell:
    """The same cell for all windows."""
    return replace(cell, window=0)


def rows_by_curve(rows: Sequence[Row]) -> Iterable[list[Row]]:
    """Rows that differ in size only; a window that large messages shorten makes no curve of its own."""
    several = several_windows(rows)
    groups: dict[tuple[StateName | None, Cell], list[Row]] = {}
    for row in rows:
        alone = without_window(row.cell)
        key = replace(row.cell if alone in several else alone, bytes=0)
        groups.setdefault((row.state, key), []).append(row)
    return groups.values()


def curves_of(groups: Iterable[Sequence[Row]]) -> list[Curve]:
    """The curves of messages among these; imported ones have no launches.

    Args:
        groups: Rows that differ in size only; the window of large messages follows from their size.
    """
    measured = ([row for row in rows if row.cell.pattern in MESSAGES and _launches(row)] for rows in groups)
    return [_curve(rows) for rows in measured if rows]


def _launches(row: Row) -> Mapping[int, float]:
    return {} if row.time is None else row.time.by_launch


def _curve(rows: Sequence[Row]) -> Curve:
    """Told apart by its smallest message, which has the window that was asked for."""
    times = {row.cell.bytes: row.time for row in rows if row.time is not None}
    distances = {row.cell.bytes: distances_of(row.visits) for row in rows}
    smallest = min((row.cell for row in rows), key=lambda cell: cell.bytes)
    return Curve(smallest, times, distances, rows[0].state)


def _place(cell: Cell) -> tuple[str, str]:
    return cell.transport, cell.placement


_MAY_DIFFER: Mapping[Differing, Mapping[str, str]] = {
    "place": {"transport": "", "placement": ""},
    "mode": {"mode": ""},
    "library": {"mpi": "", "mpi_version": "", "label": ""},
    "setting": {"setting": ""},
}
"""Factors that two curves may differ in, beside the size; all others they have in common."""


def _common(cell: Cell, of: Differing) -> Cell:
    return replace(cell, bytes=0, **_MAY_DIFFER[of])


# ---- Places --------------------------------------------------------------------------------------


def latencies_of_places(curves: Sequence[Curve]) -> Iterator[PlaceLatency]:
    """What the smallest message costs in each place, in units of the nearest."""
    for mine, size in _groups(curves, "place", min):
        nearest, *others = sorted(mine, key=lambda curve: curve.times[size].estimate)
        found = [(other.cell, at) for other in others for at in _at(other, nearest, [size])]
        if found:
            cells, ratios = zip(*found, strict=True)
            yield PlaceLatency(nearest.cell, cells, nearest.times[size].estimate, ratios, _state(mine))


def payoffs_of_places(curves: Sequence[Curve]) -> Iterator[Payoff]:
    """From which size on the fastest place pays against each other one, and how much."""
    for mine, largest in _groups(curves, "place", max):
        fastest, *others = sorted(mine, key=lambda curve: curve.times[largest].estimate)
        for other in others:
            yield from _payoff(other, fastest)


def _payoff(slow: Curve, fast: Curve) -> Iterator[Payoff]:
    """One; nothing if no ratio of the two has an interval."""
    sizes = sorted(slow.times.keys() & fast.times.keys())
    ratios = [slow.over(fast, size) for size in sizes]
    if any(ratios):
        begin = pays_from(sizes, ratios)
        ends = () if begin is None else dict.fromkeys((begin, sizes[-1]))
        unclear = tuple(size for size in _unclear(sizes, ratios) if begin is not None and size > begin)
        yield Payoff(fast.cell, slow.cell, begin, _at(slow, fast, ends), unclear, _state((slow, fast)))


def pays_from(sizes: Sequence[int], ratios: Sequence[Ratio | None]) -> int | None:
    """The smallest size from which on the slow one of two is slower at every size.

    Sizes are asked one after the other from the largest, up to the first that fails: a fixed sequence of
    tests, each at the level of one, so that no correction for their number is needed. A size that cannot
    tell, because its interval is much wider than those of its neighbours, does not end the sequence.

    Args:
        sizes: Rising, in bytes.
        ratios: One for each, of slow over fast.

    Source:
        docs/method.md#ratios
    """
    begin, unclear = None, set(_unclear(sizes, ratios))
    for size, ratio in zip(reversed(sizes), reversed(ratios), strict=True):
        if verdict(ratio) == "slower":
            begin = size
        elif size not in unclear:
            break
    return begin


def _unclear(sizes: Sequence[int], ratios: Sequence[Ratio | None]) -> Iterator[int]:
    """Sizes that are perhaps slower, less certain by far than both their neighbours, which are slower."""
    for place in range(1, len(sizes) - 1):
        before, here, after = ratios[place - 1 : place + 2]
        if here is None or here.estimate <= 1 or not verdict(before) == verdict(after) == "slower":
            continue
        around = (_width(before) + _width(after)) / 2
        if verdict(here) != "slower" and _width(here) > _MUCH_WIDER * around:
            yield sizes[place]


def _width(ratio: Ratio | None) -> float:
    """Of the interval of its logarithm; infinite if there is none."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return math.inf
    return math.log(ratio.high / ratio.low)


# ---- Modes, libraries and settings -------------------------------------------------------------------------


def modes(curves: Sequence[Curve]) -> Iterator[Contrast]:
    """Each mode in units of the first."""
    yield from _contrasts(curves, "mode")


def libraries(curves: Sequence[Curve]) -> Iterator[Contrast]:
    """Each library in units of the first."""
    yield from _contrasts(curves, "library")


def settings(curves: Sequence[Curve]) -> Iterator[Contrast]:
    """Each value of a variable that was varied in units of the first."""
    yield from _contrasts(curves, "setting")


def _contrasts(curves: Sequence[Curve], of: Contrasted) -> Iterator[Contrast]:
    for other, first, state in against_first(curves, of):
        sizes = sorted(other.times.keys() & first.times.keys())
        points = [other.beside(first, size) for size in sizes]
        if known := [one for one in points if one is not None]:
            yield Contrast(of, other.cell, first.cell, stretches(known), state)


def against_first(curves: Sequence[Curve], of: Contrasted) -> Iterator[tuple[Curve, Curve, StateName | None]]:
    """Each curve that differs in this, with the first that it is compared with, and their state."""
    for mine, _ in _groups(curves, of, min):
        first, *others = mine
        yield from ((other, first, _state(mine)) for other in others)


# ---- Pairs of curves -----------------------------------------------------------------------------


def _at(over: Curve, under: Curve, sizes: Iterable[int]) -> tuple[At, ...]:
    """Their ratio at each size at which it has an interval."""
    ratios = ((size, over.over(under, size)) for size in sizes)
    return tuple(At(size, ratio, verdict(ratio)) for size, ratio in ratios if ratio is not None)


def _state(curves: Iterable[Curve]) -> StateName | None:
    """The state that curves are of; of some it is not known."""
    return next((curve.state for curve in curves if curve.state), None)


def _groups(
    curves: Iterable[Curve], of: Differing, end: Callable[[Iterable[int]], int]
) -> Iterator[tuple[list[Curve], int]]:
    """Curves that differ in one thing, with one end of the sizes that they share."""
    groups: dict[Cell, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(_common(curve.cell, of), []).append(curve)
    for whole in groups.values():
        for mine in _in_each_state(whole):
            common = set.intersection(*(set(curve.times) for curve in mine))
            if len(mine) > 1 and common:
                yield mine, end(common)


def _in_each_state(curves: Sequence[Curve]) -> Iterator[list[Curve]]:
    """Curves of one state, with those of which it is not known; all of them if it is of none."""
    for state in dict.fromkeys(curve.state for curve in curves if curve.state) or (None,):
        yield [curve for curve in curves if curve.state in (state, None)]
