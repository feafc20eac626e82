"""Results that many commands of pages read: read once, and what is said of their cells is computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.inputs import check_output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from tests.stored import StoredResults


@pytest.fixture(scope="module")
def _read_once(stored_results: StoredResults) -> Iterator[None]:
    stored_results.every = True
    yield
    stored_results.every = False


@pytest.fixture
def _sketched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are made, not laid out and written, which takes longest: tests of figures and reports do."""

    def save(_: Figure, path: Path, metadata_lines: Sequence[str] = ()) -> None:
        check_output(path)
        path.write_bytes("\n".join(metadata_lines).encode())

    monkeypatch.setattr("mpigauge.show.figures.fit.fit", lambda _: None)
    monkeypatch.setattr("mpigauge.show.figures.style.save", save)
    monkeypatch.setattr("mpigauge.show.report.pictures.inline", lambda *_, **__: "<svg/>")
