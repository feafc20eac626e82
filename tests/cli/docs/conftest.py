"""Results that many commands of pages read: read once, and what is said of their cells is computed once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.reader import load
from mpigauge.rows.rows import Row, rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import StateChoice

Key = tuple[object, ...]


def as_it_is(path: Path) -> Key:
    """A file, and what tells that it is another by now."""
    now = path.stat()
    return (path.resolve(), now.st_ino, now.st_size, now.st_mtime_ns)


@pytest.fixture(scope="module")
def _read_once() -> Iterator[None]:
    results: dict[Key, Result] = {}
    found: dict[Key, tuple[Result, list[Row]]] = {}

    def load_once(path: Path, place: Path | None = None) -> Result:
        if place is not None or not path.is_file():
            return load(path, place)
        key = as_it_is(path)
        if key not in results:
            results[key] = load(path)
        return results[key]

    def rows_once(
        result: Result,
        stat: str = "median",
        choice: StateChoice | None = None,
    ) -> list[Row]:
        key = (id(result), stat, choice)
        if key not in found:
            found[key] = (result, rows(result, stat, choice))  # with the result, so that its id stays
        return [*found[key][1]]

    with pytest.MonkeyPatch.context() as patch:
        for module in list(sys.modules.values()):
            for name, real, once in (("load", load, load_once), ("rows", rows, rows_once)):
                if getattr(module, name, None) is real and module.__name__ != __name__:
                    patch.setattr(module, name, once)
        yield
