"""Results that several tests of figures and tables show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.made import written
from tests.unit.show.drawing import whole
from tests.unit.show.pivoted import BLOCKS, EXCHANGE, records_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def result(machine: Path) -> Path:
    """A result of every family."""
    return written("whole.jsonl", *whole())


@pytest.fixture
def exchange(machine: Path) -> Path:
    """Two modes in three places; one of them blocks above a limit."""
    return written("exchange.jsonl", *records_of(EXCHANGE, *BLOCKS))
