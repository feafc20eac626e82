"""Claims: conclusions of a report as relations between cells that can be checked.

A claim is checked against the report's own printed tables, and against results. Files of claims are read by
`check.claim_file`; docs/formats.md#claims has their keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.check.bounds import Bound
    from mpigauge.vocabulary import ClaimAlong, ClaimKind, ClaimQuantity, Quantifier

ENDING = "-claims.toml"
"""Ending of files of claims, which tells them from tables in a folder of both."""

FILE, TITLE = "file", "title"
"""Beside the factors of cells: the name of the result or table, without its ending; the title of its plan."""


Word = str | int | bool
Chosen = dict[str, Word | tuple[Word, ...]]
"""Values by factor of cells, FILE or TITLE; sizes in the form of `plan.sizes.wanted`."""


class Sides(Struct, frozen=True, forbid_unknown_fields=True):
    """Selections of the cells that a claim is about.

    Attributes:
        cells: Selection of all its cells.
        over: Further selection of cells in the numerator, or from which others are subtracted.
        under: Further selection of cells that they are compared with.
    """

    cells: Chosen = {}
    over: Chosen = {}
    under: Chosen = {}

    @property
    def two(self) -> bool:
        """Return whether it compares cells with others."""
        return bool(self.over or self.under)

    @property
    def chosen(self) -> bool:
        """Return whether it selects cells: a claim may be about printed tables alone, or results alone."""
        return bool(self.cells) or self.two


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """Report whose claims are checked.

    Attributes:
        name: Name of the report.
        source: Origin: institution, year, language.
        question: Question that it asked.
        printed: Its tables beside the file: a .csv each, and a .toml that says which column is what.
    """

    name: str
    source: str = ""
    question: str = ""
    printed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """Conclusion of a report.

    Attributes:
        name: Name in its file.
        says: The conclusion in a sentence.
        where: Place in the report.
        kind: Kind of relation; None if nothing of it can be checked.
        quantity: Quantity of cells.
        printed: Cells of the printed tables.
        here: Cells of results.
        along: Factor along which a time grows.
        limit: Limit of the ratio, where the bound is on the size from which on the limit is kept.
        bound: Bound of the number, in seconds, bytes, bytes per second, or without unit.
        quantifier: Share of the numbers for which it must hold.
        planted: Whether a lab would only restate what its plan has set.
        untestable: Reason why it cannot be tested here; empty if it can.
        note: Note for readers.
    """

    name: str
    says: str
    where: str
    kind: ClaimKind | None
    quantity: ClaimQuantity
    printed: Sides
    here: Sides
    along: ClaimAlong | None = None
    limit: Bound | None = None
    bound: Bound | None = None
    quantifier: Quantifier = "all"
    planted: bool = False
    untestable: str = ""
    note: str = ""

    @property
    def two(self) -> bool:
        """Return whether it compares cells with others."""
        return self.printed.two or self.here.two


@dataclass(frozen=True, slots=True)
class Claims:
    """File of claims."""

    path: Path
    report: Report
    claims: tuple[Claim, ...]

    @property
    def tables(self) -> list[tuple[Path, Path]]:
        """Printed tables, each with the file of its columns."""
        folder = self.path.parent
        return [(folder / f"{name}.csv", folder / f"{name}.toml") for name in self.report.printed]


def values(chosen: Word | tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the selected values of a factor."""
    return chosen if isinstance(chosen, tuple) else (chosen,)
