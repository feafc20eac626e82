"""What several tests of figures draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.made import written
from tests.unit.show.drawing import whole

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def result(machine: Path) -> Path:
    """A result of every family."""
    return written("whole.jsonl", *whole())
