"""Cells that are compared: those that differ in one factor, of one campaign or two; and their families."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from mpigauge.compare.cells import (
    SETTING,
    compared_cells,
    comparison_key,
    factors_varied,
    group_key,
    value_of,
    with_brought,
)
from mpigauge.compare.pairs import Pair, StateMatchedPair
from mpigauge.plan.factors import (
    ALONG,
    CONTROL_FACTORS,
    LIBRARY,
    PLACE,
    is_control,
)
from mpigauge.rows.group import cell_key, in_one_state, row_key, same_state
from mpigauge.rows.ratios import log_matrix
from mpigauge.sequences import group_by
from mpigauge.stats.max_t import LEVEL, Paired, Unpaired
from mpigauge.stats.robust import winsorised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.result.provenance import LibraryRecord
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row
    from mpigauge.stats.max_t import Family
    from mpigauge.stats.percentiles import Values


MIN_ODD_CELLS = 2
ODD_SHARE = 0.1
"""A launch is named if it is odd in two cells and in a tenth of its cells: in fewer, that may be chance."""

WHOLES = LIBRARY | PLACE | {SETTING}
"""Factors in which two campaigns may differ as a whole and still be compared."""


OF_OTHER_NEIGHBOURS = frozenset({"placement", "order", "senders"})
"""Factors whose values put other ranks beside each other: how far these are from each other may differ."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A cell, in all states of the machine in which it was measured.

    Attributes:
        row: Its only row; or that of the state with the most launches, as if it were of all.
        by_state: One row per state.
    """

    row: Row
    by_state: tuple[Row, ...]

    @property
    def bytes(self) -> int:
        """Message size of the cell, in bytes."""
        return self.row.cell.bytes


@dataclass(frozen=True, slots=True, eq=False)
class Unmatched:
    """A measured cell without a partner on the other side.

    Attributes:
        side: The side that has it.
    """

    row: Row
    side: Literal["base", "other"]


def side_of(parts: Sequence[Row]) -> Side:
    """Return the rows of one cell as one side."""
    if len(parts) == 1:
        return Side(parts[0], tuple(parts))
    most = max(parts, key=lambda row: row.time.launches if row.time is not None else -1)
    return Side(most.as_of_all, tuple(parts))


def matched_pair(
    base: Side, other: Side, *, same_place: bool = True, same_library: bool = False
) -> StateMatchedPair:
    """Return the pair of two sides of one campaign, in the states that both were in."""
    pairs = [
        Pair(one, two, same_place) for one in base.by_state for two in other.by_state if same_state(one, two)
    ]
    return StateMatchedPair(base.row, other.row, same_place, same_library=same_library, by_state=tuple(pairs))


def pairs_by(rows: Iterable[Row], factor: str, libraries: Iterable[LibraryRecord] = ()) -> list[Pair]:
    """Return pairs of cells of one campaign that differ in a factor, or in a variable of their settings.

    Each is compared with the first of its kind in each state of the machine, and a control arm with its own
    base. Without other pairs than those of control arms, there are none.

    Args:
        libraries: Those of the campaign, which show whether two labels are one library.
    """
    near = factor not in OF_OTHER_NEIGHBOURS
    same = {_library(library): msgspec.structs.replace(library, label="") for library in libraries}
    pairs = [
        pair
        for alike in map(_with_own_control, _groups_by(rows, factor))
        for other in alike[1:]
        for pair in _pairs(alike[0], other, near, same_library=_same_library(alike[0].row, other.row, same))
    ]
    compares = any(not is_control(pair.other.cell) for pair in pairs)
    return [pair for pair in pairs if pair.measured] if compares else []


def unmatched_by(rows: Iterable[Row], factor: str) -> list[Unmatched]:
    """Return measured cells of one campaign that lack a partner where others have one.

    A curve should have all of its sizes in each mode, place and so on that it has at all; a library or a
    label should have whatever any other has.
    """
    of_builds = factor in LIBRARY
    groups = [[side for side in alike if not side.row.cell.arm] for alike in _groups_by(rows, factor)]
    values: dict[Key, dict[Key, None]] = defaultdict(dict)
    of_curves = []
    for alike in filter(None, groups):
        cell = alike[0].row.cell
        curve = () if of_builds else comparison_key(cell, factor, ALONG)
        values[curve] |= {value_of(side.row.cell, factor): None for side in alike}
        of_curves.append((curve, alike))
    return [
        Unmatched(first.row, "base" if value_of(first.row.cell, factor) == next(iter(known)) else "other")
        for known, (first, *others) in ((values[curve], alike) for curve, alike in of_curves)
        if 1 + len(others) < len(known) and any(row.time is not None for row in first.by_state)
    ]


def _groups_by(rows: Iterable[Row], factor: str) -> list[list[Side]]:
    """Return cells of one campaign that differ in a factor alone."""
    sides = {cell: side_of(parts) for cell, parts in group_by(rows, lambda row: row.cell).items()}
    return [[sides[cell] for cell in alike] for alike in compared_cells(sides, factor)]


def _with_own_control(alike: Sequence[Side]) -> list[Side]:
    """Return cells with the control arm of their base only, and only if there are others."""
    sides = [side for side in alike if not side.row.cell.arm]
    if len(sides) <= 1:
        return sides
    base = cell_key(sides[0].row.cell, CONTROL_FACTORS)
    mine = [side for side in alike if cell_key(side.row.cell, CONTROL_FACTORS) == base]
    return [*sides, *(side for side in mine if is_control(side.row.cell))]


def _pairs(
    base: Side, other: Side, near: bool, *, interleaved: bool = True, same_library: bool = False
) -> list[Pair]:
    """Return a pair for each state of the machine that two sides share; one without launches for none.

    What is of no known state goes with whatever the other is of.
    """
    # Of imported numbers it is unknown when they were measured: equal launch numbers are no pairs.
    in_turn = interleaved and not (base.row.imported or other.row.imported)
    shared = [
        Pair(one, two, near, in_turn, same_library)
        for one in base.by_state
        for two in other.by_state
        if in_one_state((one, two))
    ]
    return shared or [StateMatchedPair(base.row, other.row, near, in_turn, same_library)]


def first_pairs(rows: Sequence[Row], libraries: Iterable[LibraryRecord]) -> tuple[str, list[Pair]]:
    """Return the first factor in which cells differ, with its pairs: the default comparison.

    An empty factor if there is none.
    """
    known = list(libraries)
    for factor in factors_varied(row.cell for row in rows):
        if pairs := pairs_by(rows, factor, known):
            return factor, pairs
    return "", []


def _library(library: LibraryRecord) -> Key:
    return (library.name, library.version, library.label)


def _same_library(base: Row, other: Row, same: Mapping[Key, LibraryRecord]) -> bool:
    """Return whether two cells are of one library: by a control arm, or alike but for their labels."""
    if other.cell.arm:
        return True
    if base.cell.label == other.cell.label or row_key(base, {"label"}) != row_key(other, {"label"}):
        return False
    base_library, other_library = (
        same.get((cell.mpi, cell.mpi_version, cell.label)) for cell in (base.cell, other.cell)
    )
    return base_library is not None and base_library == other_library


def pairs_between(base: Sequence[Row], other: Sequence[Row]) -> list[Pair]:
    """Return pairs of cells of two campaigns, alike but for factors that differ as a whole."""
    ignored = with_brought(differing_as_a_whole(base, other))
    near = "placement" not in ignored
    first, second = (_sides_by_key(rows, ignored) for rows in (base, other))
    alike = ((side, second[key]) for key, side in first.items() if key in second)
    pairs = [pair for sides in alike for pair in _pairs(*sides, near, interleaved=False)]
    return [pair for pair in pairs if pair.measured]


def _sides_by_key(rows: Iterable[Row], ignored: frozenset[str]) -> dict[Key, Side]:
    """Return the cells of a campaign by what they have in common with those of another."""
    return {key: side_of(parts) for key, parts in group_by(rows, lambda row: _key(row, ignored)).items()}


def unmatched_between(base: Sequence[Row], other: Sequence[Row]) -> list[Unmatched]:
    """Return measured cells of two campaigns of which the other has none that is alike, in any state."""
    ignored = with_brought(differing_as_a_whole(base, other))
    first, second = ({_key(row, ignored): row.cell for row in rows} for rows in (base, other))
    both = set(first.keys() & second)
    paired = {first[key] for key in both} | {second[key] for key in both}
    sides: tuple[tuple[Literal["base", "other"], Sequence[Row]], ...] = (("base", base), ("other", other))
    return [
        Unmatched(row, side)
        for side, rows in sides
        for row in {row.cell: row for row in rows if row.time is not None}.values()
        if row.cell not in paired
    ]


def _key(row: Row, ignored: frozenset[str]) -> Key:
    """Return what a row is of, with the group that was asked for, without these factors and its state."""
    return (*cell_key(row.cell, ignored), *group_key(row.cell, ignored))


def differing_as_a_whole(base: Iterable[Row], other: Iterable[Row]) -> frozenset[str]:
    """Return factors of place and library that have one value in each campaign, but not the same."""
    sides = [{name: {getattr(row.cell, name) for row in rows} for name in WHOLES} for rows in (base, other)]
    first, second = sides
    return frozenset(
        name for name in WHOLES if len(first[name]) == len(second[name]) == 1 and first[name] != second[name]
    )


def family_of(pairs: Sequence[Pair], level: float = LEVEL) -> Family:
    """Return the family of pairs that are all paired, or all not."""
    if pairs[0].paired:
        return paired_family(pairs, level)
    base, other = (log_matrix([pair.times[side] for pair in pairs]) for side in (0, 1))
    return Unpaired(base, other, _floors(pairs))


def paired_family(pairs: Sequence[Pair], level: float = LEVEL) -> Paired:
    """Return the family of pairs with launches in common, by these launches alone."""
    return Paired(_differences(pairs), _floors(pairs), level)


@dataclass(frozen=True, slots=True)
class OddPair:
    """A launch whose differences are odd in several cells.

    Attributes:
        launch: Its number.
        factor: Its ratio over the usual one, the median over these cells.
        cells: Number of cells in which it is odd.
        of: Number of cells in which it was measured.
    """

    launch: int
    factor: float
    cells: int
    of: int


def odd_pairs(pairs: Sequence[Pair], margin: float) -> list[OddPair]:
    """Return the launches that are odd in several of the pairs, which are all paired, in their order.

    Args:
        margin: Smaller distances from the usual ratio are ignored: little noise makes small ones odd.
    """
    logs = _differences(pairs)
    numbers = sorted({number for pair in pairs for number in pair.common_launches})
    distances = logs - np.nanmedian(logs, axis=0)
    far = np.isfinite(logs) & (winsorised(logs) != logs)
    far &= np.abs(distances) >= np.log1p(margin)
    return [
        OddPair(
            number,
            float(np.exp(np.median(of_launch[odd]))),
            int(odd.sum()),
            int(np.isfinite(of_launch).sum()),
        )
        for number, of_launch, odd in zip(numbers, distances, far, strict=True)
        if odd.sum() >= max(MIN_ODD_CELLS, ODD_SHARE * np.isfinite(of_launch).sum())
    ]


def _floors(pairs: Sequence[Pair]) -> Values:
    return np.array([pair.floor for pair in pairs])


def _differences(pairs: Sequence[Pair]) -> Values:
    return log_matrix(
        [
            {number: other[number] / base[number] for number in pair.common_launches}
            for pair in pairs
            for base, other in [pair.times]
        ]
    )
