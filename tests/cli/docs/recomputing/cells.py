"""The rows that a fact is about: those of a file with all the factors that the fact names."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cli.docs.recomputing.published import published
from tests.cli.docs.recomputing.reading import CELL, Result, job_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.cli.docs.recomputing.reading import Row

ROOT = Path(__file__).resolve().parents[4]
PUBLISHED = ROOT / "examples" / "published"
Tables = dict[str, tuple[str, str]]
Cell = "Mapping[str, Any]"


@cache
def result(name: str) -> Result:
    """Return a stored result, read once."""
    return Result(ROOT / "docs" / "results" / f"{name}.jsonl.gz")


@cache
def table(rows: Path, columns: Path) -> list[Row]:
    """Return the rows of a table that others have printed, read once."""
    return published(rows, columns)


class Book:
    """The rows of the files that a command names.

    Attributes:
        files: Their names, without an ending.
    """

    def __init__(self, words: Sequence[str], imports: Tables) -> None:
        renames = [words[n + 1].split("=") for n, word in enumerate(words) if word == "--rename"]
        self.names: dict[str, list[str]] = {}
        for old, new in renames:
            self.names.setdefault(new, []).append(old)
        self.files = [word.removesuffix(".jsonl") for word in words if word.endswith(".jsonl")]
        self.imports = imports

    def rows(self, file: str) -> list[Row]:
        """Return all rows of a file, or of a table of examples/published."""
        name = Path(file).name.removesuffix(".jsonl")
        if f"{name}.jsonl" in self.imports:
            rows, columns = (ROOT / part for part in self.imports[f"{name}.jsonl"])
            return table(rows, columns)
        if (PUBLISHED / f"{name}.csv").exists():
            return table(PUBLISHED / f"{name}.csv", PUBLISHED / f"{name}.toml")
        return result(name).shown

    def result(self, file: str) -> Result:
        """Return a result with all that is in its file."""
        return result(file)

    def limit(self, file: str, cell: Mapping[str, Any]) -> int:
        """Return the eager limit of the job of a cell."""
        limits, places = result(file).limits, self._places(cell)
        return next(limits[job] for one in places if (job := job_of({**cell, "placement": one})) in limits)

    def alike(self, file: str, cell: Mapping[str, Any], state: str | None, *free: str) -> list[Row]:
        """Return the rows with a time that have these factors, but for those that are free.

        If none is of this state, those of none are meant, or those of the only one.
        """
        places, names = self._places(cell), [name for name in CELL if name not in (*free, "placement")]
        found = [row for row in self.rows(file) if row.timed and row.placement in places]
        found = [row for row in found if all(_same(row, cell, name) for name in names)]
        for one in (state, None):
            if of_state := [row for row in found if row.state == one]:
                return of_state
        return found

    def _places(self, cell: Mapping[str, Any]) -> list[str]:
        """What the place of a cell may be called in its file."""
        return [*self.names.get(cell["placement"], ()), cell["placement"]]

    def curve(self, file: str, cell: Mapping[str, Any], state: str | None) -> list[Row]:
        """Return the rows that are alike but for the size, sizes rising."""
        return sorted(self.alike(file, cell, state, "bytes"), key=lambda row: row.bytes)

    def row(self, file: str, cell: Mapping[str, Any], state: str | None) -> Row:
        """Return the only row of a cell."""
        (row,) = self.alike(file, cell, state)
        return row


def _same(row: Row, cell: Mapping[str, Any], name: str) -> bool:
    """Whether a row has a factor of a cell, if the fact names it; what others printed may not say it."""
    if name not in cell or (row.result is None and cell[name] in ("", "unknown")):
        return True
    return (row.cell.get(name) or None) == (cell[name] or None)
