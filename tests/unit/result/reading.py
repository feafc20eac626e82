"""A result of every kind of record, and how bytes are read as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.result.reader import Result, load
from tests.made import RECORDS, lines_of

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = lines_of(*RECORDS)


def loaded(file: Path, content: bytes) -> Result:
    """A file with this content, read."""
    file.write_bytes(content)
    return load(file)
