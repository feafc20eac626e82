"""What is compared: cells alike in all but one thing, of one campaign or two, and their families."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from mpigauge.compare.pairs import Matched, Pair
from mpigauge.plan.factors import ALONG, COMPARED_BY, LIBRARY, PLACE
from mpigauge.plan.model import variables_of
from mpigauge.rows.group import cell_key, row_key, same_state
from mpigauge.rows.ratios import log_matrix
from mpigauge.sequences import group_by
from mpigauge.stats.max_t import LEVEL, Paired, Unpaired
from mpigauge.stats.robust import pulled_in
from mpigauge.vocabulary import CONTROL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.plan.model import Cell
    from mpigauge.result.surroundings import LibraryRecord
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row
    from mpigauge.stats.max_t import Family
    from mpigauge.stats.percentiles import Values


ODD_CELLS_LEAST = 2
ODD_SHARE = 0.1
"""A launch is named that is odd in two cells and in a tenth of its own: in fewer, one may be so by chance."""

SETTING = "setting"
"""The factor of all variables that are varied."""

WHOLES = LIBRARY | PLACE | {SETTING}
"""Factors in which two campaigns may differ as a whole and still be compared."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Unmatched:
    """A cell that was measured, and nothing on the other side is like it.

    Attributes:
        side: The one that it is of.
    """

    row: Row
    side: Literal["base", "other"]


def side_of(parts: Sequence[Row]) -> Side:
    """The rows of one cell as one side."""
    if len(parts) == 1:
        return Side(parts[0], tuple(parts))
    most = max(parts, key=lambda row: row.time.launches if row.time is not None else -1)
    return Side(replace(most, state=None), tuple(parts))


def matched(base: Side, other: Side, *, same_place: bool = True, twins: bool = False) -> Matched:
    """Two sides of one campaign, in the states that both were in."""
    parts = [Pair(one, two, same_place) for one in base.parts for two in other.parts if same_state(one, two)]
    return Matched(base.row, other.row, same_place, twins=twins, parts=tuple(parts))


def compared_by(factor: str) -> frozenset[str]:
    """The factors in which cells may differ that are compared by one, or by a variable of their settings."""
    return _with_others(factor if factor in COMPARED_BY else SETTING) | {"arm"}


def _with_others(factor: str) -> frozenset[str]:
    """Return a factor, and those that differ where it does: of libraries also versions and labels."""
    return LIBRARY if factor in LIBRARY else frozenset({factor})


def pairs_by(rows: Iterable[Row], factor: str, libraries: Iterable[LibraryRecord] = ()) -> list[Pair]:
    """Cells of one campaign that differ in a factor, or in a variable of their settings.

    Every other is held against the first of its kind.

    A control arm is held against its own base; where that is all there is, nothing is compared.

    Args:
        libraries: Of the campaign, to see which of them are one.
    """
    near = "placement" not in compared_by(factor)
    same = {_library(one): msgspec.structs.replace(one, label="") for one in libraries}
    pairs = [
        _pair(alike[0], other, near, twins=_twins(alike[0].row, other.row, same))
        for alike in map(_with_own_control, _alike(rows, factor))
        for other in alike[1:]
    ]
    compares = any(not pair.other.cell.arm for pair in pairs)
    return [pair for pair in pairs if pair.measured] if compares else []


def unmatched_by(rows: Iterable[Row], factor: str) -> list[Unmatched]:
    """Return measured cells of one campaign that lack a partner where others have one.

    A curve is to have all of its sizes in each mode, place and so on that it has at all; a library or a label
    is to have whatever any other has.
    """
    of_builds = factor in LIBRARY
    curve_ignored = compared_by(factor) | ALONG
    groups = [[side for side in alike if not side.row.cell.arm] for alike in _alike(rows, factor)]
    values: dict[Key, dict[Key, None]] = defaultdict(dict)
    told = []
    for alike in filter(None, groups):
        cell = alike[0].row.cell
        curve = () if of_builds else (*cell_key(cell, curve_ignored), *_rest_of(cell, factor))
        values[curve] |= {_value(side, factor): None for side in alike}
        told.append((curve, alike))
    return [
        Unmatched(first.row, "base" if _value(first, factor) == next(iter(values[curve])) else "other")
        for curve, (first, *others) in told
        if 1 + len(others) < len(values[curve]) and any(row.time is not None for row in first.parts)
    ]


def _value(side: Side, factor: str) -> Key:
    """Return the values of a factor in a cell, and of those that differ with it."""
    cell = side.row.cell
    if factor not in COMPARED_BY:
        return (variables_of(cell.setting).get(factor),)
    return tuple(getattr(cell, name) for name in sorted(_with_others(factor)))


def _alike(rows: Iterable[Row], factor: str) -> list[list[Side]]:
    """Return cells of one campaign that differ in a factor alone."""
    ignored = compared_by(factor)
    sides = map(side_of, group_by(rows, lambda row: row.cell).values())
    found = group_by(sides, lambda side: (cell_key(side.row.cell, ignored), _rest_of(side.row.cell, factor)))
    return [*found.values()]


def varied(cells: Iterable[Cell]) -> list[str]:
    """The variables that a campaign varies, in their order."""
    return list(dict.fromkeys(name for cell in cells for name in variables_of(cell.setting)))


def _rest_of(cell: Cell, by: str) -> tuple[str, ...]:
    """What else a setting says, if cells are compared by one variable: they must be alike in it."""
    if by in COMPARED_BY:
        return ()
    return tuple(f"{name}={value}" for name, value in variables_of(cell.setting).items() if name != by)


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
        # Nobody says when others have measured: launches of one number are of no one moment.
        in_turn = not (base.row.imported or other.row.imported)
        return Pair(base.row, other.row, near, interleaved=in_turn, twins=twins)
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
    if base.cell.label == other.cell.label or row_key(base, {"label"}) != row_key(other, {"label"}):
        return False
    mine, others = (same.get((cell.mpi, cell.mpi_version, cell.label)) for cell in (base.cell, other.cell))
    return mine is not None and mine == others


def pairs_between(base: Sequence[Row], other: Sequence[Row]) -> list[Pair]:
    """Cells of two campaigns that are alike in all but where these differ as a whole."""
    ignored = differing(base, other)
    known = {row_key(row, ignored): row for row in other}
    near = "placement" not in ignored
    alike = ((row, known.get(row_key(row, ignored))) for row in base)
    pairs = [Pair(row, found, near, interleaved=False) for row, found in alike if found is not None]
    return [pair for pair in pairs if pair.measured]


def unmatched_between(base: Sequence[Row], other: Sequence[Row]) -> list[Unmatched]:
    """Return measured cells of two campaigns of which the other has none that is alike, in any state."""
    ignored = differing(base, other)
    first, second = ({row_key(row, ignored): row.cell for row in rows} for rows in (base, other))
    both = set(first.keys() & second)
    paired = {first[key] for key in both} | {second[key] for key in both}
    sides: tuple[tuple[Literal["base", "other"], Sequence[Row]], ...] = (("base", base), ("other", other))
    return [
        Unmatched(row, side)
        for side, rows in sides
        for row in {row.cell: row for row in rows if row.time is not None}.values()
        if row.cell not in paired
    ]


def differing(base: Iterable[Row], other: Iterable[Row]) -> frozenset[str]:
    """Factors of the place that have one value in each of two campaigns, and not the same one."""
    sides = [{name: {getattr(row.cell, name) for row in rows} for name in WHOLES} for rows in (base, other)]
    first, second = sides
    return frozenset(
        name for name in WHOLES if len(first[name]) == len(second[name]) == 1 and first[name] != second[name]
    )


def family_of(pairs: Sequence[Pair], level: float = LEVEL) -> Family:
    """The family of pairs that are all paired, or all not."""
    if pairs[0].paired:
        return paired_family(pairs, level)
    base, other = (log_matrix([pair.times[side] for pair in pairs]) for side in (0, 1))
    return Unpaired(base, other, _floors(pairs))


def paired_family(pairs: Sequence[Pair], level: float = LEVEL) -> Paired:
    """The family of pairs with launches in common, by these alone."""
    return Paired(_differences(pairs), _floors(pairs), level)


@dataclass(frozen=True, slots=True)
class OddPair:
    """A launch whose differences are odd in several cells.

    Attributes:
        launch: Its number.
        factor: How many times as large as usual the ratio is in it, the median over these cells.
        cells: In how many.
        of: In how many it was measured.
    """

    launch: int
    factor: float
    cells: int
    of: int


def odd_pairs(pairs: Sequence[Pair], margin: float) -> list[OddPair]:
    """Return the launches that are odd in several of the pairs, which are all paired, in their order.

    Args:
        margin: What is nearer to the usual ratio matters to nobody: of a quiet number much is odd.
    """
    logs = _differences(pairs)
    numbers = sorted({number for pair in pairs for number in pair.common})
    apart = logs - np.nanmedian(logs, axis=0)
    far = np.isfinite(logs) & (pulled_in(logs) != logs)
    far &= np.abs(apart) >= np.log1p(margin)
    return [
        OddPair(number, float(np.exp(np.median(mine[odd]))), int(odd.sum()), int(np.isfinite(mine).sum()))
        for number, mine, odd in zip(numbers, apart, far, strict=True)
        if odd.sum() >= max(ODD_CELLS_LEAST, ODD_SHARE * np.isfinite(mine).sum())
    ]


def _floors(pairs: Sequence[Pair]) -> Values:
    return np.array([pair.floor for pair in pairs])


def _differences(pairs: Sequence[Pair]) -> Values:
    return log_matrix(
        [
            {number: other[number] / base[number] for number in pair.common}
            for pair in pairs
            for base, other in [pair.times]
        ]
    )
