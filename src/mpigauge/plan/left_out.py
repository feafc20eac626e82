"""Cells of a plan that cannot be measured, and why, while the rest of the plan is."""

from collections.abc import Sequence

from msgspec import Struct

from mpigauge import units
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import default_mode, known
from mpigauge.vocabulary import LeftOutKind

SHORT_REASONS: dict[LeftOutKind, str] = {
    "counts": "beyond int counts",
    "library": "needs MPI 4",
    "buffer": "beyond MPI_Buffer_attach",
    "memory": "no memory for it",
}
"""The reasons in a few words."""


class LeftOut(Struct, frozen=True):
    """A cell of the plan that cannot be measured and is not tried.

    Attributes:
        cell: The cell asked for.
        kind: The kind of reason.
        reason: The reason as a sentence, with numbers.
        hint: What to ask for instead.
    """

    cell: Cell
    kind: LeftOutKind
    reason: str
    hint: str


def left_out_line(left_out: Sequence[LeftOut], cells: int) -> str:
    """Return how many cells are left out, with the first and its reason in a few words; "" if none are.

    Args:
        cells: Number of cells that are measured.
    """
    if not left_out:
        return ""
    first = left_out[0]
    what = f"{_operation(first.cell)} {units.format_size(first.cell.bytes)}"
    count = f"{len(left_out)} of {len(left_out) + cells} cells"
    return f"left out: {count}, e.g. {what}: {SHORT_REASONS[first.kind]}"


def _operation(cell: Cell) -> str:
    """Return the pattern, with the mode unless that is the usual one; other sizes of it may be possible."""
    pattern = known().get(cell.pattern)
    is_usual = pattern is None or cell.mode in {"", default_mode(pattern)}
    return cell.pattern if is_usual else f"{cell.pattern} {cell.mode}"


def left_out_words(left_out: Sequence[LeftOut], cells: int) -> str:
    """Return how many cells are left out, with the first and its whole reason; "" if none are."""
    line = left_out_line(left_out, cells)
    return f"{line}: {left_out[0].reason}" if line else ""
