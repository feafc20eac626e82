"""Results of the repository, each read and made rows of once: hundreds of tests ask the same few for that.

Nobody changes a result that was read, nor a row, so that whoever asks again may have the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.result import reader
from mpigauge.rows.rows import rows as make_rows
from tests.places import DOCS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row

FOLDER = DOCS / "results"
MOST = 4
"""Results that are kept: the largest has millions of samples."""


@dataclass
class StoredResults:
    """The stored results that were asked for last."""

    results: dict[Path, Result] = field(default_factory=dict)
    rows: dict[int, dict[tuple[Any, ...], list[Row]]] = field(default_factory=dict)

    def apply(self, patch: pytest.MonkeyPatch) -> None:
        """Have reading and rows of stored results remembered."""
        read = reader.load

        def load(path: Path, *args: Any) -> Result:
            if args or path.parent.resolve() != FOLDER:
                return read(path, *args)
            if path not in self.results:
                self._keep(path, read(path))
            return self.results[path]

        def rows(result: Result, *how: Any) -> list[Row]:
            known = self.rows.get(id(result))
            if known is None:
                return make_rows(result, *how)
            if how not in known:
                known[how] = make_rows(result, *how)
            return known[how]

        patch.setattr(reader, "load", load)
        patch.setattr("mpigauge.query.query.rows", rows)

    def _keep(self, path: Path, result: Result) -> None:
        if len(self.results) >= MOST:
            oldest = next(iter(self.results))
            del self.rows[id(self.results.pop(oldest))]
        self.results[path] = result
        self.rows[id(result)] = {}
