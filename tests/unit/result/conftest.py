"""A file that tests of the reader write and read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One place for all examples."""
    return tmp_path_factory.mktemp("results") / "result.jsonl"
