"""Settings of variables that were varied, and changed nothing that can be measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.plan.model import variables_of
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from mpigauge.compare.comparison import Compared, Comparison


@dataclass(frozen=True, slots=True)
class NoEffect:
    """A setting that changed nothing measurable.

    Attributes:
        other: What is held against the base; of both only the variables that differ.
        numbers: How many there are, all of them within the margin.
    """

    base: str
    other: str
    numbers: int


def without_effect(shown: Comparison) -> list[NoEffect]:
    """Settings of which every number is within the margin of its base, and none is small but real."""
    if not shown.judges or shown.verdict == "machine":
        return []
    found = group_by(shown.cells, lambda one: _apart(one.pair.base.cell.setting, one.pair.other.cell.setting))
    known = ((sides, cells) for sides, cells in found.items() if sides is not None)
    return [NoEffect(*sides, len(cells)) for sides, cells in known if all(map(_alike, cells))]


def _alike(one: Compared) -> bool:
    return one.decision is not None and one.verdict == "same" and not one.decision.small


def _apart(base: str, other: str) -> tuple[str, str] | None:
    """Of two settings what differs; None if nothing does."""
    first, second = variables_of(base), variables_of(other)
    names = [name for name in first if first[name] != second.get(name)]
    if not names:
        return None
    mine, others = ([f"{name}={side.get(name, '')}" for name in names] for side in (first, second))
    return " ".join(mine), " ".join(others)
