"""The cells that a claim is about: chosen by factors, and matched in all that it leaves open."""

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
_GOES_WITH = {"mpi": LIBRARY, "pattern": OF_PATTERN, "op": OPERATION}
"""Factors that may differ where another does: two libraries have two versions."""


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """A result, or a printed table, that claims are held against.

    Attributes:
        file: Its name, without the ending.
        title: Of its plan, or of the printed table.
        patterns: By name.
        in_lab: Whether its hosts are emulated.
    """

    file: str
    rows: Sequence[Row]
    patterns: Mapping[str, Pattern] = field(default_factory=dict)
    in_lab: bool = False
    title: str = ""


class Found(NamedTuple):
    """A row and what it is of."""

    material: Material
    row: Row

    @property
    def emulated(self) -> bool:
        """Whether the way of its messages is one that a plan has made."""
        return self.material.in_lab and self.row.cell.placement != SAME_HOST


Pair = tuple[Found, Found]


def chosen(found: Iterable[Material], *selections: Chosen) -> Iterator[Found]:
    """The rows whose cells are as all of these say."""
    for material in found:
        for row in material.rows:
            if all(_is_so(material, row, selection) for selection in selections):
                yield Found(material, row)


def _is_so(material: Material, row: Row, selection: Chosen) -> bool:
    for name, wants in selection.items():
        if name in (FILE, TITLE):
            if (material.file if name == FILE else material.title) not in values(wants):
                return False
        elif name == _BYTES:
            if row.sized and not wanted(str(wants))(row.cell.bytes):
                return False
        elif getattr(row.cell, name) not in values(wants):
            return False
    return True


def pairs(found: Sequence[Material], sides: Sides) -> Iterator[Pair]:
    """Each cell that is to be over another, with that one: alike in all but what tells the sides apart."""
    free = free_factors(sides)
    others = group_by(chosen(found, sides.cells, sides.under), lambda one: key_of(one, free))
    for one in chosen(found, sides.cells, sides.over):
        yield from ((one, other) for other in others.get(key_of(one, free), ()) if in_one_state(one, other))


def in_one_state(one: Found, other: Found) -> bool:
    """Whether both were measured in the same state of the machine, if either is of any."""
    return len({one.row.state, other.row.state} - {None}) < _TWO


def free_factors(sides: Sides) -> frozenset[str]:
    """In what the two sides may differ."""
    named = {*sides.over, *sides.under}
    free = named.union(*(_GOES_WITH.get(name, ()) for name in named))
    if "placement" in free:
        # States of ranks on two hosts are of the way between them, and mostly there are none.
        free |= {STATE}
    return frozenset(free)


def key_of(one: Found, free: Collection[str]) -> Key:
    """Return all that a row is of but these; of another result only if the file is among them."""
    return (None if FILE in free else id(one.material), *row_key(one.row, free))


def curves(found: Iterable[Found], along: str = _BYTES) -> list[list[Found]]:
    """Rows that differ in one factor only, in the order of it; a window that sizes shorten is no other."""
    groups = group_by(found, lambda one: key_of(one, {along, "window"}))
    return [sorted(mine, key=lambda one: getattr(one.row.cell, along)) for mine in groups.values()]
