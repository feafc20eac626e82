"""The cells that a conclusion rests on: those that its fact names, and the sizes of their curves in it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mpigauge.plan.model import Cell

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = "bytes"
"""What facts call a size in their parts."""


def rests_on(fact: object) -> frozenset[Cell]:
    """All cells that a fact is of; some may not have been measured, since not every curve has every size."""
    cells = {one for one in _parts(fact) if isinstance(one, Cell)}
    sizes = {one for one in _parts(fact) if isinstance(one, int)}
    return frozenset(cells | {replace(cell, bytes=size) for cell in cells for size in sizes})


def _parts(value: object) -> Iterator[Cell | int]:
    """Cells and sizes, however deep."""
    if isinstance(value, Cell):
        yield value
    elif isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        for one in value:
            yield from _parts(one)
    else:
        for name in _names(value):
            part: Any = getattr(value, name)
            if name == SIZE and isinstance(part, int):
                yield part
            else:
                yield from _parts(part)


def _names(value: object) -> tuple[str, ...]:
    """Of what has named parts."""
    if is_dataclass(value):
        return tuple(field.name for field in fields(value))
    return getattr(value, "_fields", ())
