"""Values that follow from the fields of a fact: its cells, its launches, and how much it says.

A fact is a frozen dataclass, whose fields are the `value` of JSON. One of which the rule of a function here
does not hold has a property of its own: `rests_on`, `launches` or `weight`.
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from mpigauge.plan.model import Cell
from mpigauge.rows.group import Subject
from mpigauge.stats.interval import Number

if TYPE_CHECKING:
    from collections.abc import Iterator


def cell_of(fact: object) -> Cell:
    """Return the cell that stands for a fact where facts are put in order: the first of its fields."""
    return next(part for part in _parts(fact) if isinstance(part, Cell))


def rests_on(fact: object) -> frozenset[Cell]:
    """Return all cells of a fact, at each of its sizes; of which some may not exist."""
    if (own := getattr(fact, "rests_on", None)) is not None:
        return cast("frozenset[Cell]", own)
    parts = [*_parts(fact)]
    cells = [part for part in parts if isinstance(part, Cell)]
    sizes = {part.bytes for part in parts if is_dataclass(part) and hasattr(part, "bytes")}
    return frozenset([*cells, *(replace(cell, bytes=size) for cell in cells for size in sizes)])


def launches_of(fact: object) -> int:
    """Return how many launches a fact rests on: the fewest of its numbers."""
    if (own := getattr(fact, "launches", None)) is not None:
        return cast("int", own)
    return min(part.launches for part in _parts(fact) if isinstance(part, Number))


def weight_of(fact: object) -> float:
    """Return how much a fact says among others of its topic: how far its ratio is from 1, as a logarithm.

    Raises:
        AttributeError: It has neither a weight nor a ratio.
    """
    own = getattr(fact, "weight", None)
    return cast("float", own) if own is not None else abs(math.log(fact.ratio.estimate))  # type: ignore[attr-defined]


def _parts(part: object) -> Iterator[object]:
    """Yield a fact and all that is in its fields, in their order; of a subject, its cell."""
    yield part.cell if isinstance(part, Subject) else part
    within: Iterator[object] = iter(())
    if isinstance(part, tuple) and not isinstance(part, Subject):
        within = iter(part)
    elif is_dataclass(part):
        within = (getattr(part, field.name) for field in fields(part))
    for one in within:
        yield from _parts(one)
