"""Cells that are compared, those that differ in one factor alone; nothing here computes."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from mpigauge.plan.factors import BY_NAME, COMPARED_BY, LIBRARY, STRIDE_IN_BLOCKS
from mpigauge.plan.groups import group_asked
from mpigauge.plan.model import variables_of
from mpigauge.plan.patterns import patterns_with
from mpigauge.rows.group import cell_key
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Key

SETTING = "setting"
"""The factor of all variables that are varied."""

CONTROLS = patterns_with(
    lambda pattern: pattern.is_floor or (pattern.family == "memory" and not pattern.reduces)
)
"""Patterns without any MPI library: if their times change, the machine or the placement of ranks has."""


def compared_by(factor: str) -> frozenset[str]:
    """Return the factors in which cells may differ that are compared by one factor or variable."""
    return with_brought(_with_others(factor if factor in COMPARED_BY else SETTING)) | {"arm"}


def _with_others(factor: str) -> frozenset[str]:
    """Return a factor, and those that it is one thing with: of libraries also versions and labels."""
    return LIBRARY if factor in LIBRARY else frozenset({factor})


def with_brought(factors: frozenset[str]) -> frozenset[str]:
    """Return factors, and those that follow from them."""
    return factors.union(*(BY_NAME[name].brings for name in factors))


def group_key(cell: Cell, ignored: Container[str]) -> Key:
    """Return the group that a cell was asked for; of a part of its job no other number of ranks is alike."""
    group = group_asked(cell)
    return (group, cell.ranks if group and "ranks" in ignored else 0)


def comparison_key(cell: Cell, factor: str, but: frozenset[str] = frozenset()) -> Key:
    """Return what cells have in common that are compared by a factor or variable, without further factors."""
    ignored = compared_by(factor) | but
    alike = without_stride_of_block(cell) if "block_bytes" in ignored else cell
    return (*cell_key(alike, ignored), *group_key(cell, ignored), *_other_variables(cell, factor))


def without_stride_of_block(cell: Cell) -> Cell:
    """Return a cell without its stride if that follows from its block, as it does where none is asked for."""
    follows = cell.block_bytes > 0 and cell.stride_bytes == STRIDE_IN_BLOCKS * cell.block_bytes
    return msgspec.structs.replace(cell, stride_bytes=0) if follows else cell


def compared_cells(cells: Iterable[Cell], factor: str) -> list[list[Cell]]:
    """Return cells in groups that differ in a factor or variable alone, each value of it once."""
    groups = group_by(cells, lambda cell: comparison_key(cell, factor))
    return [
        [alike[0] for alike in group_by(group, lambda cell: (value_of(cell, factor), cell.arm)).values()]
        for group in groups.values()
    ]


def value_of(cell: Cell, factor: str) -> Key:
    """Return the values of a factor in a cell, and of those that it is one thing with."""
    if factor not in COMPARED_BY:
        return (variables_of(cell.setting).get(factor),)
    return tuple(getattr(cell, name) for name in sorted(_with_others(factor)))


def factors_varied(cells: Iterable[Cell]) -> Iterator[str]:
    """Yield the factors with several values by which cells may be compared, in their order."""
    names = sorted({*COMPARED_BY, *LIBRARY})
    alike_in_all = set(map(attrgetter(*names), cells))  # a map of many hosts: all of them are
    values = dict(zip(names, map(set, zip(*alike_in_all, strict=True)), strict=False))
    for factor in COMPARED_BY:
        if any(len(values.get(name, ())) > 1 for name in _with_others(factor)):
            yield factor


def varied_variables(cells: Iterable[Cell]) -> list[str]:
    """Return the variables that a campaign varies, in their order."""
    return list(dict.fromkeys(name for cell in cells for name in variables_of(cell.setting)))


def _other_variables(cell: Cell, by: str) -> tuple[str, ...]:
    """Return the variables of a setting that must be alike if cells are compared by another."""
    if by in COMPARED_BY:
        return ()
    return tuple(f"{name}={value}" for name, value in variables_of(cell.setting).items() if name != by)
