"""Sentences that are computed of results, for the pages of the reports.

Each is a function from the book of results to sentences. It holds whatever is measured: numbers are looked
up, and words such as slower or faster are chosen by intervals. To add one: a function with a name in one of
the modules imported here, and `<!-- says NAME -->` in a page.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import statements_libraries
import statements_places
from book import STATEMENTS, Book, bullets

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["STATEMENTS", "say", "statements_libraries", "statements_places"]


def say(name: str, folder: Path) -> str:
    """The sentences of a statement as a list."""
    return bullets(STATEMENTS[name](_book(folder)))


@cache
def _book(folder: Path) -> Book:
    """Each result is read once, however many statements there are of it."""
    return Book(folder)
