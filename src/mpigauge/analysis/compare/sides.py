"""What is compared with what: cells alike in all but one thing, and how their launches belong together."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import geometric_mean
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from mpigauge.analysis.compare.decision import LAUNCHES_LEAST
from mpigauge.analysis.compare.max_t import Apart, Paired
from mpigauge.analysis.conditions import distances_of, in_like_conditions
from mpigauge.analysis.interval import UNIFORM_VARIANCE
from mpigauge.analysis.ratios import PAIRED_SHARE
from mpigauge.plan.factors import BY_NAME, COMPARED_BY
from mpigauge.vocabulary import CONTROL

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from mpigauge.analysis.compare.max_t import Family
    from mpigauge.analysis.percentiles import Values
    from mpigauge.analysis.rows import Row
    from mpigauge.plan.model import Cell
    from mpigauge.result.surroundings import LibraryRecord
    from mpigauge.vocabulary import StateName


Key = tuple[object, ...]

GOES_WITH: Mapping[str, tuple[str, ...]] = {"mpi": ("mpi_version", "label"), "label": ("mpi", "mpi_version")}
"""Factors that differ with another."""

WHOLES = ("mpi", "mpi_version", "label", "setting", "transport", "placement")
"""Factors in which two campaigns may differ as a whole and still be compared."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two cells that differ in what is compared, and nothing else.

    Attributes:
        base: What the other is held against.
        same_place: Whether their ranks are to be equally far apart.
        interleaved: Whether launches of one number are of one moment: of one campaign.
        twins: Whether both are of one library, under two labels or with its control arm: what differs then
            is chance.
        sessions: Of how many the base is the mean; None if it is a single result.
    """

    base: Row
    other: Row
    same_place: bool = True
    interleaved: bool = True
    twins: bool = False
    sessions: int | None = None

    @property
    def measured(self) -> bool:
        """Whether either has a time."""
        return self.base.time is not None or self.other.time is not None

    @cached_property
    def times(self) -> tuple[Mapping[int, float], Mapping[int, float]]:
        """Launch number to seconds of both, of launches in like conditions."""
        base, other = _times(self.base), _times(self.other)
        if not self.same_place:
            return base, other
        at = distances_of(self.base.visits), distances_of(self.other.visits)
        return in_like_conditions(base, other, *at)

    @cached_property
    def common(self) -> list[int]:
        """Launches in which both were measured by the same processes."""
        base, other = self.times
        apart = {number for side in (self.base.time, self.other.time) if side for number in side.in_parts}
        return sorted(base.keys() & other.keys() - apart) if self.interleaved else []

    def mean_s(self, side: int) -> float | None:
        """Of the base (0) or the other (1); None if it was not measured."""
        time = (self.base, self.other)[side].time
        return time.estimate if time is not None else None

    @property
    def paired(self) -> bool:
        """Whether they are compared launch by launch."""
        most = max(map(len, self.times))
        return len(self.common) >= max(LAUNCHES_LEAST, PAIRED_SHARE * most)

    @property
    def judged(self) -> bool:
        """Whether there are launches enough to say anything."""
        return self.paired or _fewer(self) >= LAUNCHES_LEAST

    @property
    def floor(self) -> float:
        """Variance of the logarithm of the ratio that the steps of the clock hide."""
        steps = [side.step for side in (self.base.time, self.other.time) if side is not None]
        return sum(step**2 for step in steps) * UNIFORM_VARIANCE


@dataclass(frozen=True, eq=False)
class Matched(Pair):
    """Two cells that are compared in like states: a launch counts once, by all states that both were in.

    Where the machine changes so often that few pairs of launches were in a like state, the two are held
    against each other within one state instead, launches of the one against launches of the other.

    Attributes:
        parts: A pair for every state that both were in.
    """

    parts: tuple[Pair, ...] = ()

    @cached_property
    def times(self) -> tuple[Mapping[int, float], Mapping[int, float]]:
        """Launch number to seconds of both: those in pairs; or, of too few pairs, those of one state."""
        return self.alone.times if self.alone is not None else self._in_pairs

    @cached_property
    def alone(self) -> Pair | None:
        """Of too few pairs, the state in which the side that has fewer launches has most; None if too few.

        States come from the latency of a cache line, never from the times compared, so choosing adds no bias.
        """
        if self.paired or not self.interleaved:
            return None
        most = max(self.parts, key=_fewer, default=None)
        return most if most is not None and _fewer(most) >= LAUNCHES_LEAST else None

    @cached_property
    def _in_pairs(self) -> tuple[Mapping[int, float], Mapping[int, float]]:
        """Geometric means over states, of launches in like conditions."""
        base: dict[int, list[float]] = defaultdict(list)
        other: dict[int, list[float]] = defaultdict(list)
        for part in self.parts:
            for number in part.common:
                base[number].append(part.times[0][number])
                other[number].append(part.times[1][number])
        return {n: geometric_mean(base[n]) for n in base}, {n: geometric_mean(other[n]) for n in other}

    @property
    def paired(self) -> bool:
        """Whatever launches were in a like state: which those are does not depend on what they took."""
        return len(self._in_pairs[0]) >= LAUNCHES_LEAST

    @property
    def states(self) -> tuple[StateName | None, ...]:
        """Those that it was compared in."""
        return tuple(part.base.state for part in self.parts if self.alone in {None, part})

    @property
    def made(self) -> int:
        """Launches of the side that has fewer, in whatever state."""
        sides = ({number for part in self.parts for number in part.times[side]} for side in (0, 1))
        return min(map(len, sides))

    @property
    def needed(self) -> int:
        """Launches after which one state will probably have enough of both sides."""
        most = max(map(_fewer, self.parts), default=0)
        return math.ceil(1.5 * self.made * LAUNCHES_LEAST / max(most, 1))

    def mean_s(self, side: int) -> float | None:
        """Of the base (0) or the other (1), over the launches that count; None if there are none."""
        times = self.times[side]
        return geometric_mean(times.values()) if times else super().mean_s(side)


def _fewer(pair: Pair) -> int:
    """Launches of the side that has fewer."""
    return min(map(len, pair.times))


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A cell, in whatever states of the machine it was measured.

    Attributes:
        row: Its only one; or that of the state with the most launches, as if it were of all.
        parts: Of each state.
    """

    row: Row
    parts: tuple[Row, ...]

    @property
    def bytes(self) -> int:
        """Of the cell."""
        return self.row.cell.bytes


def side_of(parts: Sequence[Row]) -> Side:
    """The rows of one cell as one side."""
    if len(parts) == 1:
        return Side(parts[0], tuple(parts))
    most = max(parts, key=lambda row: row.time.launches if row.time is not None else -1)
    return Side(replace(most, state=None), tuple(parts))


def matched(base: Side, other: Side, *, same_place: bool = True, twins: bool = False) -> Matched:
    """Two sides of one campaign, in the states that both were in."""
    parts = [
        Pair(one, two, same_place) for one in base.parts for two in other.parts if one.state == two.state
    ]
    return Matched(base.row, other.row, same_place, twins=twins, parts=tuple(parts))


def compared_by(factor: str) -> frozenset[str]:
    """The factors in which cells may differ that are compared by one."""
    return frozenset({factor, "arm", *GOES_WITH.get(factor, ())})


def pairs_by(rows: Iterable[Row], factor: str, libraries: Iterable[LibraryRecord] = ()) -> list[Pair]:
    """Cells of one campaign that differ in a factor: every other is held against the first of its kind.

    A control arm is held against its own base; where that is all there is, nothing is compared.

    Args:
        libraries: Of the campaign, to see which of them are one.
    """
    ignored = compared_by(factor)
    cells: dict[Cell, list[Row]] = defaultdict(list)
    for row in rows:
        cells[row.cell].append(row)
    found: dict[Key, list[Side]] = defaultdict(list)
    for parts in cells.values():
        found[key_of(parts[0], ignored)[:-1]].append(side_of(parts))
    near = "placement" not in ignored
    same = {_library(one): msgspec.structs.replace(one, label="") for one in libraries}
    pairs = [
        _pair(alike[0], other, near, twins=_twins(alike[0].row, other.row, same))
        for alike in map(_with_own_control, found.values())
        for other in alike[1:]
    ]
    compares = any(not pair.other.cell.arm for pair in pairs)
    return [pair for pair in pairs if pair.measured] if compares else []


def _with_own_control(alike: Sequence[Side]) -> list[Side]:
    """Without a control arm of what is not the base here, or has no other to be held against it."""
    sides = [side for side in alike if not side.row.cell.arm]
    if len(sides) <= 1:
        return sides
    base = sides[0].row.cell
    return [*sides, *(side for side in alike if side.row.cell == msgspec.structs.replace(base, arm=CONTROL))]


def _pair(base: Side, other: Side, near: bool, *, twins: bool) -> Pair:
    """In like states, if the machine had several."""
    if {row.state for row in base.parts} == {row.state for row in other.parts} and len(base.parts) == 1:
        return Pair(base.row, other.row, near, twins=twins)
    return matched(base, other, same_place=near, twins=twins)


def first_pairs(rows: Sequence[Row], libraries: Iterable[LibraryRecord]) -> tuple[str, list[Pair]]:
    """What is compared if nobody says what: the first factor in which cells differ, or "" for none."""
    known = list(libraries)
    for factor in COMPARED_BY:
        if pairs := pairs_by(rows, factor, known):
            return factor, pairs
    return "", []


def _library(one: LibraryRecord) -> Key:
    return (one.name, one.version, one.label)


def _twins(base: Row, other: Row, same: Mapping[Key, LibraryRecord]) -> bool:
    """Whether two cells are of one library: by a control arm, or under two labels and alike otherwise."""
    if other.cell.arm:
        return True
    if base.cell.label == other.cell.label or key_of(base, {"label"}) != key_of(other, {"label"}):
        return False
    mine, others = (same.get((cell.mpi, cell.mpi_version, cell.label)) for cell in (base.cell, other.cell))
    return mine is not None and mine == others


def pairs_between(base: Sequence[Row], other: Sequence[Row]) -> list[Pair]:
    """Cells of two campaigns that are alike in all but where these differ as a whole."""
    ignored = differing(base, other)
    known = {key_of(row, ignored): row for row in other}
    near = "placement" not in ignored
    alike = ((row, known.get(key_of(row, ignored))) for row in base)
    pairs = [Pair(row, found, near, interleaved=False) for row, found in alike if found is not None]
    return [pair for pair in pairs if pair.measured]


def differing(base: Iterable[Row], other: Iterable[Row]) -> frozenset[str]:
    """Factors of the place that have one value in each of two campaigns, and not the same one."""
    sides = [{name: {getattr(row.cell, name) for row in rows} for name in WHOLES} for rows in (base, other)]
    first, second = sides
    return frozenset(
        name for name in WHOLES if len(first[name]) == len(second[name]) == 1 and first[name] != second[name]
    )


def key_of(row: Row, ignored: Container[str] = ()) -> Key:
    """What a cell is of, without some factors."""
    return (*(getattr(row.cell, name) for name in BY_NAME if name not in ignored), row.state)


def _times(row: Row) -> dict[int, float]:
    """Of launches, in seconds; none if one of them has no logarithm."""
    times = dict(row.time.by_launch) if row.time is not None else {}
    return times if all(0 < time < math.inf for time in times.values()) else {}


def family_of(pairs: Sequence[Pair]) -> Family:
    """The family of pairs that are all paired, or all not."""
    if pairs[0].paired:
        return paired_family(pairs)
    base, other = (_matrix([pair.times[side] for pair in pairs]) for side in (0, 1))
    return Apart(base, other, _floors(pairs))


def paired_family(pairs: Sequence[Pair]) -> Paired:
    """The family of pairs with launches in common, by these alone."""
    return Paired(_differences(pairs), _floors(pairs))


def _floors(pairs: Sequence[Pair]) -> Values:
    return np.array([pair.floor for pair in pairs])


def _differences(pairs: Sequence[Pair]) -> Values:
    return _matrix(
        [
            {number: other[number] / base[number] for number in pair.common}
            for pair in pairs
            for base, other in [pair.times]
        ]
    )


def _matrix(cells: Sequence[Mapping[int, float]]) -> Values:
    """Logarithms, a row per launch and a column per cell; NaN where a cell was not measured."""
    numbers = sorted({number for cell in cells for number in cell})
    found = np.full((len(numbers), len(cells)), np.nan)
    for column, cell in enumerate(cells):
        for row, number in enumerate(numbers):
            if number in cell:
                found[row, column] = np.log(cell[number])
    return found
