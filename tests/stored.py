"""Results of the repository, and copies of them, that are read and made rows of once.

Hundreds of tests ask the same few for that. Nobody changes a result that was read, nor a row, so that whoever
asks again may have the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.result import reader
from mpigauge.rows.rows import rows as make_rows
from tests.places import DOCS
from tests.thorough import rest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pytest
    from _pytest.mark import ParameterSet

    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row

Key = tuple[object, ...]

NAMES = {path.name.removesuffix(".gz") for path in (DOCS / "results").glob("*.jsonl.gz")}
LARGE = {"libraries", "network-memory", "fast-gigabit", "exchange", "messages", "modes-lan", "placements"}
"""Those that take longest: CI asks them what `make test` asks the others."""

MOST_BYTES = 150_000_000
"""Of lines whose results are kept."""


def name_of(path: Path) -> str:
    """The name of a stored result."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def stored_results() -> list[Path | ParameterSet]:
    """All of them, for `parametrize`."""
    paths = sorted((DOCS / "results").glob("*.jsonl.gz"))
    return rest(paths, [path for path in paths if name_of(path) not in LARGE])


def as_it_is(path: Path) -> Key:
    """A file as it was named, and what tells that it is another by now."""
    now = path.stat()
    return path, path.resolve(), now.st_ino, now.st_size, now.st_mtime_ns


@dataclass
class StoredResults:
    """The stored results that were asked for last.

    Attributes:
        every: Whether any other file counts, too: while none is written twice at one moment.
    """

    every: bool = False
    results: dict[Key, Result] = field(default_factory=dict)
    rows: dict[int, dict[Key, list[Row]]] = field(default_factory=dict)

    def apply(self, patch: pytest.MonkeyPatch) -> None:
        """Have reading and rows of stored results remembered."""
        read = reader.load

        def load(path: Path, content: Iterable[bytes] | None = None) -> Result:
            known = self.every or path.name.removesuffix(".gz") in NAMES
            if content is not None or not known or not path.is_file():
                return read(path, content)
            key = as_it_is(path)
            if key not in self.results:
                self._keep(key, read(path))
            return self.results[key]

        def rows(result: Result, *how: Any) -> list[Row]:
            known = self.rows.get(id(result))
            if known is None:
                return make_rows(result, *how)
            if how not in known:
                known[how] = make_rows(result, *how)
            return [*known[how]]

        patch.setattr(reader, "load", load)
        patch.setattr("mpigauge.query.query.rows", rows)

    def _keep(self, key: Key, result: Result) -> None:
        self.results[key] = result
        self.rows[id(result)] = {}
        while len(self.results) > 1 and sum(one.size_bytes for one in self.results.values()) > MOST_BYTES:
            del self.rows[id(self.results.pop(next(iter(self.results))))]
