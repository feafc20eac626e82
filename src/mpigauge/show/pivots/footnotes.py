"""Warnings of single numbers: a letter at the entry, and its meaning below the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import LETTERS
from mpigauge.document.status_words import status_and_reason
from mpigauge.find.warning_sentences import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.document.document import Units
    from mpigauge.show.pivots.grid import PivotGrid, PivotLine, PivotNumber

IMPORTED = "imported"
SENTENCES: dict[str, str] = {
    IMPORTED: "imported: no samples, so no interval",
    **{kind: words.brief for kind, words in WORDS.items() if words.brief},
}
"""Meaning of the letters, by kind of warning."""


def marks_of(entry: PivotNumber) -> list[str]:
    """Return the kinds of warnings to mark at an entry, or why it has no number."""
    row = entry.row
    if row.time is None:
        return [status_and_reason(row)]
    kinds: set[str] = {warning.kind for warning in row.warnings} | ({IMPORTED} if row.imported else set())
    return [kind for kind in SENTENCES if kind in kinds]


class Notes:
    """Letters of footnotes, assigned in the order in which they are needed.

    Warnings of all numbers of a column are marked at its heading, those of all numbers nowhere.
    """

    def __init__(self, grids: Sequence[PivotGrid]) -> None:
        columns = [column for grid in grids for column in grid.by_column]
        self.common = _common([entry for column in columns for entry in column])
        kinds = (kind for column in columns for entry in column for kind in marks_of(entry))
        own = dict.fromkeys(kind for kind in kinds if kind not in self.common)
        self.letters = {kind: _letter(number) for number, kind in enumerate(own)}

    def heading(self, grid: PivotGrid, number: int) -> str:
        """Return the heading of a column with its letters."""
        members = grid.by_column[number]
        return grid.columns[number] + self._marks(_common(members) if members[0].quantity.marked else [])

    def text(self, grid: PivotGrid, line: PivotLine, number: int, chosen: Units) -> str:
        """Return an entry as people read it, with its letters."""
        entry = line.entries[number]
        if entry is None:
            return units.MISSING
        text = entry.row.status if entry.row.time is None else entry.quantity.text(entry.row, chosen)
        return text + self.letters_of(grid, line, number)

    def letters_of(self, grid: PivotGrid, line: PivotLine, number: int) -> str:
        """Return the letters of an entry, without those at the heading of its column."""
        entry = line.entries[number]
        if entry is None or not (entry.quantity.marked or entry.row.time is None):
            return ""
        above = _common(grid.by_column[number]) if entry.row.time is not None else []
        return self._marks(marks_of(entry), above)

    def _marks(self, kinds: Iterable[str], above: Sequence[str] = ()) -> str:
        """Return letters in alphabetic order, in which they are explained."""
        marked = {*kinds} - {*above}
        return "".join(letter for kind, letter in self.letters.items() if kind in marked)

    def sentences(self, grids: Iterable[PivotGrid]) -> list[str]:
        """Return the meaning of the letters in these tables."""
        used = {kind for grid in grids for entry in grid.entries for kind in marks_of(entry)}
        everywhere = [f"all: {SENTENCES[kind]}" for kind in self.common]
        return everywhere + [
            f"{letter} {SENTENCES.get(kind, kind)}" for kind, letter in self.letters.items() if kind in used
        ]


def _common(entries: Iterable[PivotNumber]) -> list[str]:
    """Return the warnings that all numbers share."""
    marks = [marks_of(entry) for entry in entries if entry.row.time is not None]
    return [
        kind for kind in SENTENCES if len(marks) > 1 and all(kind in entry_marks for entry_marks in marks)
    ]


def _letter(number: int) -> str:
    return LETTERS[number % len(LETTERS)] * (number // len(LETTERS) + 1)
