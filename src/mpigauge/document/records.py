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
    from mpigauge.stats.decision import Decision


def cell_record(cell: Cell) -> dict[str, Any]:
    """Return a cell's factors by name, as JSON has them."""
    return asdict(cell)


def subject_record(of: Subject) -> dict[str, Any]:
    """Return what a number is of, as JSON has it: a cell, and the state of the machine or null."""
    return {**cell_record(of.cell), **state_record(of)}


def state_record(of: Subject | None) -> dict[str, Any]:
    """Return the state of the machine that a number is of; null where there is one only, or no number."""
    return {"state": of.state if of is not None else None}


def states_record(subjects: Iterable[Subject]) -> list[Any]:
    """Return the states of the machine that several numbers are of."""
    return [of.state for of in subjects]


def decision_record(decision: Decision | None, *names: str) -> dict[str, float | None]:
    """Return parts of a decision as JSON has them; all are null where nothing was decided.

    Args:
        names: Of its parts; `ratio` is its estimate.
    """
    fields = {name: {"ratio": "estimate"}.get(name, name) for name in names}
    return {name: finite_or_none(getattr(decision, field, None)) for name, field in fields.items()}


def finite_or_none(value: float | None) -> float | None:
    """A number as JSON may have it: null for what is not finite."""
    return None if value is None or not math.isfinite(value) else value


def odd_records(sessions: Iterable[OddSession]) -> list[dict[str, Any]]:
    """Return the odd sessions of a history or a baseline: docs/numbers-verbs.md#history."""
    return [
        {
            "file": str(session.path),
            "begun_s": session.begun_s or None,
            "ratio": finite_or_none(session.ratio),
            "ratio_low": finite_or_none(session.ratios[0]),
            "ratio_high": finite_or_none(session.ratios[-1]),
            "numbers": len(session.ratios),
            "of": session.of,
            "left_out": session.left_out,
        }
        for session in sessions
    ]
