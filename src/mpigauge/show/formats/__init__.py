"""Formats of what is shown. FORMATS is the one list of them, by the modules of this folder.

To add one: a module with `render`, a function from a Document to text, and its name in GENERAL or TIMED.
Without imports that `--help` would wait for. The terminal is a form of text, for a width and colours.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.show.document import Document

GENERAL = ("text", "markdown", "csv", "json", "junit")
"""Of any document."""

TIMED = ("bencher", "github")
"""Of times by cell; a document without any is refused."""

FORMATS = (*GENERAL, *TIMED)


def render(document: Document, form: str) -> str:
    """A document in one of FORMATS.

    Raises:
        UsageError: The format needs times, and the document has none.
    """
    text: str = importlib.import_module(f"mpigauge.show.formats.{form}").render(document)
    return text


def about(form: str) -> str:
    """What a format is, in a sentence: the docstring of its module."""
    return (importlib.import_module(f"mpigauge.show.formats.{form}").__doc__ or "").partition("\n")[0]
