"""Results named by a user: our own, or output of another program, imported on the fly."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.importers.reading import read_any, recognised
from mpigauge.importers.text import content_of
from mpigauge.importers.unknown_format import refusal
from mpigauge.result import reader
from mpigauge.result.files import is_folder, others_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.reader import Result

RESULT_BEGINNING = re.compile(rb'\{\s*"type"|\x1f\x8b')
"""First bytes of a result, as lines or compressed; JSON of other programs has another first key."""

PEEKED_BYTES = 64
SEVERAL = Path("FILE...")
"""Name of several texts that are one result, in commands that are offered."""


def load(path: Path) -> Result:
    """Return a result; text of another benchmark, or a folder of such, is recognised by its content.

    Raises:
        UsageError: It is neither, or damaged; names the file, and the line of a text.
    """
    if is_folder(path):
        return _imported(path, UsageError(f"{path}: no result is there", "name the file itself"))
    if path == reader.STANDARD_INPUT and not _may_be_result():
        return _imported(path, UsageError(f"{path}: is not a result of mpigauge", "mpigauge run writes one"))
    try:
        return reader.load(path)
    except reader.NotAResultError as not_a_result:
        if path == reader.STANDARD_INPUT:
            raise
        return _imported(path, not_a_result)


def load_together(paths: Sequence[Path]) -> Result | None:
    """Return several texts of other benchmarks as one result; None if one of them is not recognised as such.

    Raises:
        UsageError: One of them gives no number; names it.
    """
    if reader.STANDARD_INPUT in paths or any(map(is_folder, paths)) or not all(map(_is_text, paths)):
        return None
    records = read_any(*paths)
    return None if records is None else reader.result_of(SEVERAL, records)


def _is_text(path: Path) -> bool:
    content = content_of(path)
    return RESULT_BEGINNING.match(content) is None and bool(recognised(content))


def _may_be_result() -> bool:
    """Return whether standard input begins as a result does, without consuming it."""
    peek = getattr(sys.stdin.buffer, "peek", None)
    return (
        peek is None or not (beginning := peek(PEEKED_BYTES)) or RESULT_BEGINNING.match(beginning) is not None
    )


def _imported(path: Path, not_a_result: UsageError) -> Result:
    """Return the result that the text of another benchmark becomes.

    Args:
        not_a_result: Error to adapt if no format is recognised.
    """
    records = read_any(*others_in(path)) if is_folder(path) else read_any(path)
    if records is None:
        raise not_a_result if is_folder(path) else refusal(path, not_a_result)
    return reader.result_of(path, records)
