"""Cells of a plan that cannot be measured, and why, while the rest of the plan is."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mpigauge import units
from mpigauge.plan.groups import set_at_once
from mpigauge.plan.model import Cell
from mpigauge.plan.patterns import FLOORS, default_mode, known
from mpigauge.plan.strings import SHORT_MOST, LongText
from mpigauge.sequences import first_words
from mpigauge.vocabulary import LeftOutKind

SHORT_REASONS: dict[LeftOutKind, str] = {
    "counts": "beyond int counts",
    "library": "needs MPI 4",
    "buffer": "beyond MPI_Buffer_attach",
    "memory": "no memory for it",
    "largest": "beyond its largest operand",
    "same-ranks": "the same ranks as another",
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
    reason: LongText
    hint: LongText


def with_sets(left_out: Sequence[LeftOut], cells: Iterable[Cell]) -> list[LeftOut]:
    """Return cells left out, and those that would be measured at once with one of them.

    What is left of such groups would be measured as if all were at work.

    Args:
        cells: The cells of the plan, of which those left out may be some.
    """
    gone = {one.cell for one in left_out}
    sets = {set_at_once(one.cell): one for one in reversed(left_out) if one.cell.groups}
    beside = [
        (cell, sets[whole]) for cell in cells if cell not in gone and (whole := set_at_once(cell)) in sets
    ]
    return [*left_out, *(_beside(cell, first) for cell, first in beside)]


def _beside(cell: Cell, first: LeftOut) -> LeftOut:
    reason = f"ranks {cell.group} are measured at once with ranks {first.cell.group}: {first.reason}"
    return replace(first, cell=cell, reason=first_words(reason, SHORT_MOST))


def number_asked_for(cells: Iterable[Cell]) -> int:
    """Return how many cells there are without the floor of the instrument, which every plan has."""
    return sum(cell.pattern not in FLOORS for cell in cells)


def left_out_line(left_out: Sequence[LeftOut], cells: Iterable[Cell]) -> str:
    """Return how many cells are left out, with the first and its reason in a few words; "" if none are.

    Args:
        cells: Those that are measured.
    """
    if not left_out:
        return ""
    first = left_out[0]
    what = f"{_operation(first.cell)} {units.format_size(first.cell.bytes)}"
    count = f"{len(left_out)} of {len(left_out) + number_asked_for(cells)} cells"
    return f"left out: {count}, e.g. {what}: {SHORT_REASONS[first.kind]}"


def _operation(cell: Cell) -> str:
    """Return the pattern, with the mode unless that is the usual one; other sizes of it may be possible."""
    pattern = known().get(cell.pattern)
    is_usual = pattern is None or cell.mode in {"", default_mode(pattern)}
    return cell.pattern if is_usual else f"{cell.pattern} {cell.mode}"


def left_out_words(left_out: Sequence[LeftOut], cells: Iterable[Cell]) -> str:
    """Return how many cells are left out, with the first and its whole reason; "" if none are."""
    line = left_out_line(left_out, cells)
    return f"{line}: {left_out[0].reason}" if line else ""
