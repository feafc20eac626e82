"""Doubts at the numbers themselves: a letter at an entry, and what it means below the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.show.columns import Units
    from mpigauge.show.pivots.grid import Entry, Grid, Line

LETTERS = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
"""Raised, so that Markdown and a terminal show them alike; Unicode has no raised q."""

IMPORTED = "imported"
SENTENCES = {
    IMPORTED: "as others have printed it: no samples, so no interval",
    "no-interval": "no interval: a single launch, or a clock that stood still",
    "few-launches": "fewer than 5 launches, so an interval rests on little",
    "two-kinds-of-launches": "two kinds of launches; the estimate lies between them",
    "oversubscribed": "more ranks than cores",
    "not-steady": "not steady within a launch",
    "skewed": "part of it is the start's: the ranks started far apart",
    "late-starts": "ranks were often late for the start",
    "clock-error": "the clocks of the ranks disagreed by more than 10 % of it",
    "relay-late": "the relay of the emulated hosts was late",
}
"""Kinds of doubts that are marked; others change no reading of a single number."""


def doubts_of(entry: Entry) -> list[str]:
    """Kinds of doubts of an entry; why there is no number, if there is none."""
    row = entry.row
    if row.time is None:
        return [f"{row.status}: {row.reason}" if row.reason else row.status]
    mine = {doubt.kind for doubt in row.warnings} | ({IMPORTED} if entry.imported else set())
    return [kind for kind in SENTENCES if kind in mine]


class Notes:
    """Letters in the order in which they are needed.

    What holds for every number of a column stands at its heading, what holds for every number at none.
    """

    def __init__(self, grids: Sequence[Grid]) -> None:
        columns = [column for grid in grids for column in grid.by_column]
        self.common = _common([entry for column in columns for entry in column])
        kinds = (kind for column in columns for entry in column for kind in doubts_of(entry))
        own = dict.fromkeys(kind for kind in kinds if kind not in self.common)
        self.letters = {kind: _letter(number) for number, kind in enumerate(own)}

    def heading(self, grid: Grid, number: int) -> str:
        """The heading of a column with its letters."""
        members = grid.by_column[number]
        return grid.columns[number] + self._marks(_common(members) if members[0].quantity.marked else [])

    def text(self, grid: Grid, line: Line, number: int, chosen: Units) -> str:
        """An entry as people read it, with its letters."""
        entry = line.entries[number]
        if entry is None:
            return units.MISSING
        if entry.row.time is None:
            return entry.row.status + self._marks(doubts_of(entry))
        above = _common(grid.by_column[number])
        own = doubts_of(entry) if entry.quantity.marked else []
        return entry.quantity.text(entry.row, chosen) + self._marks(own, above)

    def _marks(self, kinds: Iterable[str], above: Sequence[str] = ()) -> str:
        return "".join(self.letters.get(kind, "") for kind in kinds if kind not in above)

    def sentences(self, grids: Iterable[Grid]) -> list[str]:
        """What the letters of these tables mean."""
        used = {kind for grid in grids for entry in grid.entries for kind in doubts_of(entry)}
        everywhere = [f"all: {SENTENCES[kind]}" for kind in self.common]
        return everywhere + [
            f"{letter} {SENTENCES.get(kind, kind)}" for kind, letter in self.letters.items() if kind in used
        ]


def _common(entries: Iterable[Entry]) -> list[str]:
    """Doubts that all of the numbers share."""
    found = [doubts_of(entry) for entry in entries if entry.row.time is not None]
    return [kind for kind in SENTENCES if len(found) > 1 and all(kind in mine for mine in found)]


def _letter(number: int) -> str:
    return LETTERS[number % len(LETTERS)] * (number // len(LETTERS) + 1)
