"""Cells that a claim is about: chosen by factors, and alike in all that it leaves open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.check.claim_kinds import FILE, TITLE, values
from mpigauge.plan.factors import LIBRARY, OF_PATTERN, OPERATION
from mpigauge.plan.sizes import wanted
from mpigauge.rows.group import STATE, row_key
from mpigauge.sequences import group_by
from mpigauge.vocabulary import SAME_HOST

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.check.claim_kinds import Chosen, Sides
    from mpigauge.plan.patterns import Pattern
    from mpigauge.rows.group import Key
    from mpigauge.rows.rows import Row

_BYTES = "bytes"
_TWO = 2
_MAY_DIFFER_TOO = {"mpi": LIBRARY, "pattern": OF_PATTERN, "op": OPERATION}
"""Factors that may differ where another does: two libraries have two versions."""


@dataclass(frozen=True, slots=True, eq=False)
class ClaimSource:
    """Result, or printed table, against which claims are checked.

    Attributes:
        file: Name without ending.
        title: Title of its plan, or of the printed table.
        patterns: Patterns by name.
        in_lab: Whether its hosts are emulated.
    """

    file: str
    rows: Sequence[Row]
    patterns: Mapping[str, Pattern] = field(default_factory=dict)
    in_lab: bool = False
    title: str = ""


class SourceRow(NamedTuple):
    """Row and the result or table that it is from."""

    material: ClaimSource
    row: Row

    @property
    def emulated(self) -> bool:
        """Return whether its messages crossed a network that a plan has emulated."""
        return self.material.in_lab and self.row.cell.placement != SAME_HOST


Pair = tuple[SourceRow, SourceRow]


def chosen_rows(found: Iterable[ClaimSource], *selections: Chosen) -> Iterator[SourceRow]:
    """Yield the rows whose cells match all selections."""
    for material in found:
        for row in material.rows:
            if all(_matches(material, row, selection) for selection in selections):
                yield SourceRow(material, row)


def _matches(material: ClaimSource, row: Row, selection: Chosen) -> bool:
    for name, selected in selection.items():
        if name in (FILE, TITLE):
            if (material.file if name == FILE else material.title) not in values(selected):
                return False
        elif name == _BYTES:
            if row.sized and not wanted(str(selected))(row.cell.bytes):
                return False
        elif getattr(row.cell, name) not in values(selected):
            return False
    return True


def pairs(found: Sequence[ClaimSource], sides: Sides) -> Iterator[Pair]:
    """Yield pairs of cells, over and under, that differ only in what distinguishes the sides."""
    free = free_factors(sides)
    others = group_by(chosen_rows(found, sides.cells, sides.under), lambda one: key_of(one, free))
    for one in chosen_rows(found, sides.cells, sides.over):
        yield from ((one, other) for other in others.get(key_of(one, free), ()) if in_same_state(one, other))


def in_same_state(one: SourceRow, other: SourceRow) -> bool:
    """Return whether both were measured in the same state of the machine, if either has one."""
    return len({one.row.state, other.row.state} - {None}) < _TWO


def free_factors(sides: Sides) -> frozenset[str]:
    """Return the factors in which the two sides may differ."""
    named = {*sides.over, *sides.under}
    free = named.union(*(_MAY_DIFFER_TOO.get(name, ()) for name in named))
    if "placement" in free:
        # States of ranks on two hosts are those of the network, and mostly there are none.
        free |= {STATE}
    return frozenset(free)


def key_of(one: SourceRow, free: Collection[str]) -> Key:
    """Return all factors of a row but these; rows of other results match only if the file is among them."""
    return (None if FILE in free else id(one.material), *row_key(one.row, free))


def curves(found: Iterable[SourceRow], along: str = _BYTES) -> list[list[SourceRow]]:
    """Return groups of rows that differ in one factor, sorted by it; windows may differ, too."""
    groups = group_by(found, lambda one: key_of(one, {along, "window"}))
    return [sorted(group, key=lambda one: getattr(one.row.cell, along)) for group in groups.values()]
