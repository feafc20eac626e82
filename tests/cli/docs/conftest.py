"""Results that many commands of pages read: read once, and what is said of their cells is computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.stored import StoredResults


@pytest.fixture(scope="module")
def _read_once(stored_results: StoredResults) -> Iterator[None]:
    stored_results.every = True
    yield
    stored_results.every = False
