"""Cells and numbers as JSON has them, in every document: SI base units, null where there is no number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Subject
    from mpigauge.rows.machine.sessions import OddSession


def cell_record(cell: Cell) -> dict[str, Any]:
    """What a cell is of, as JSON has it."""
    return asdict(cell)


def subject_record(of: Subject) -> dict[str, Any]:
    """Return what a number is of, as JSON has it: a cell, and the state of the machine or null."""
    return {**cell_record(of.cell), "state": of.state}


def number(value: float | None) -> float | None:
    """A number as JSON may have it: null for what is not finite."""
    return None if value is None or not math.isfinite(value) else value


def odd_records(found: Iterable[OddSession]) -> list[dict[str, Any]]:
    """Odd sessions of a history or a baseline: docs/numbers.md#history."""
    return [
        {
            "file": str(one.path),
            "begun_s": one.begun_s or None,
            "ratio": number(one.ratio),
            "ratio_low": number(one.ratios[0]),
            "ratio_high": number(one.ratios[-1]),
            "numbers": len(one.ratios),
            "of": one.of,
            "left_out": one.left_out,
        }
        for one in found
    ]
