"""Results that a user names: ours, or what another program has printed: that is imported on the way."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.importers.reading import read_any
from mpigauge.importers.unread import refusal
from mpigauge.result import reader

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.result.reader import Result

OURS = re.compile(rb'\{\s*"type"|\x1f\x8b')
"""What a result begins with, as lines or compressed; JSON of others has another first key."""

PEEKED_BYTES = 64


def load(path: Path) -> Result:
    """As `result.reader.load`; the text of another benchmark is recognised by what is in it.

    Raises:
        UsageError: It is neither, or damaged; names the file, and the line of a text.
    """
    if path == reader.STANDARD_INPUT and not _seems_ours():
        return _imported(path, UsageError(f"{path}: is not a result of mpigauge", "mpigauge run writes one"))
    try:
        return reader.load(path)
    except reader.NotAResultError as refused:
        if path == reader.STANDARD_INPUT:
            raise
        return _imported(path, refused)


def _seems_ours() -> bool:
    """Whether standard input begins as a result does; nothing is taken from it."""
    peek = getattr(sys.stdin.buffer, "peek", None)
    return peek is None or not (begun := peek(PEEKED_BYTES)) or OURS.match(begun) is not None


def _imported(path: Path, refused: UsageError) -> Result:
    """What the text of another benchmark becomes.

    Args:
        refused: What is said if it is none.
    """
    records = read_any(path)
    if records is None:
        raise refusal(path, refused)
    return reader.result_of(path, records)
