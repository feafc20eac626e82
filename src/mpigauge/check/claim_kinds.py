"""Conclusions of a report as relations that can be checked: what a claim says of which cells.

It is held against the report's own printed tables, and against results. Files of claims are read by
`plan.claim_file`; docs/formats.md#claims has their keys.
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
"""What files of claims are called, so that a folder of them and of tables can be given."""

FILE, TITLE = "file", "title"
"""Beside the factors of cells: the name of the result or table, without its ending; the title of its plan."""


Word = str | int | bool
Chosen = dict[str, Word | tuple[Word, ...]]
"""Factors of cells, FILE or TITLE, and which values of them; sizes as `plan.sizes.size_filter` reads them."""


class Sides(Struct, frozen=True, forbid_unknown_fields=True):
    """Which cells a claim is about.

    Attributes:
        cells: Of all its cells.
        over: Besides, of those in the numerator, or from which others are subtracted.
        under: Of those that they are held against.
    """

    cells: Chosen = {}
    over: Chosen = {}
    under: Chosen = {}

    @property
    def two(self) -> bool:
        """Whether cells are held against others."""
        return bool(self.over or self.under)

    @property
    def chosen(self) -> bool:
        """Whether any cells are: a claim may be one of printed tables alone, or of results alone."""
        return bool(self.cells) or self.two


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose conclusions they are.

    Attributes:
        name: What it is called here.
        source: What is known of it: institution, year, language.
        question: What it asked.
        printed: Its tables beside the file: a .csv each, and a .toml that says which column is what.
    """

    name: str
    source: str = ""
    question: str = ""
    printed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A conclusion.

    Attributes:
        name: Of it, in its file.
        says: The conclusion in a sentence.
        where: Where the report has it.
        kind: What relation; None if nothing of it can be checked.
        quantity: Of cells.
        printed: Which cells of the printed tables.
        here: Which cells of results.
        along: What grows.
        limit: Of the ratio, where the bound is one on the size from which on it is kept.
        bound: What the number is to be; in seconds, bytes, bytes per second, or none of these.
        quantifier: Of how many numbers.
        planted: In a lab it would say no more than what the plan has put in.
        untestable: Why it cannot be tested here; empty if it can.
        note: What one must know to read it.
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
        """Whether cells are held against others."""
        return self.printed.two or self.here.two


@dataclass(frozen=True, slots=True)
class Claims:
    """A file of them."""

    path: Path
    report: Report
    claims: tuple[Claim, ...]

    @property
    def tables(self) -> list[tuple[Path, Path]]:
        """The printed tables, each with the file of its columns."""
        folder = self.path.parent
        return [(folder / f"{name}.csv", folder / f"{name}.toml") for name in self.report.printed]


def values(chosen: Word | tuple[Word, ...]) -> tuple[Word, ...]:
    """Those of a factor that are meant."""
    return chosen if isinstance(chosen, tuple) else (chosen,)
