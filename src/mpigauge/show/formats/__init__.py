"""Formats of what is shown. EVERY is the one list of them, by the modules of this folder.

To add one: a module with `render`, a function from a Document to text, and its name in one of the tuples;
one with `write`, from a Document into an open file, and its name in BINARY. The first line of its docstring
is what `mpigauge list formats` says; what names of files end in for it is in ENDINGS, and what is promised
of it in docs/stability.md. Without imports that `--help` would wait for. The terminal is a form of text, for
a width and colours.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from mpigauge.plan.benchmarks import LEFT_OUT
from mpigauge.result.home_paths import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType
    from typing import BinaryIO

    from mpigauge.document.document import Document

GENERAL = ("text", "markdown", "latex", "csv", "json", "junit")
"""Formats of any document."""

TIMED = ("bencher", "github", "prometheus")
"""Formats of times by cell, prometheus also of metrics; a document without any is refused."""

FOREIGN = ("osu", "osu-validation", "imb")
"""Formats of other benchmarks, for the times that they have a name for; a document without any is refused."""

BINARY = ("parquet",)
"""Formats that are written to a file only."""

FORMATS = (*GENERAL, *TIMED, *FOREIGN)
"""All text formats: those of tables of times."""

MAP_FORMATS = (*GENERAL, "prometheus")
"""Formats of a link map, which has metrics of its own."""

JUDGED_FORMATS = (*GENERAL, *BINARY)
"""Formats of what follows from times, such as comparisons and models."""

EVERY = (*FORMATS, *BINARY)

BY_CELL = ("csv", *TIMED, *FOREIGN, *BINARY)
"""Formats that list all numbers, also where a verb prints a shorter answer for people."""

ENDINGS = {
    ".txt": "text",
    ".md": "markdown",
    ".tex": "latex",
    ".csv": "csv",
    ".json": "json",
    ".xml": "junit",
    ".prom": "prometheus",
    ".parquet": "parquet",
}
"""Format by suffix of the file's name, unless a format is named."""


def render(document: Document, form: str) -> str:
    """Return a document in one of FORMATS.

    Raises:
        UsageError: The format needs times, and the document has none.
    """
    return "".join(pieces(document, form))


def pieces(document: Document, form: str) -> Iterable[str]:
    """Return the text of `render` in pieces, where a format can; the first piece is checked at once.

    Files that were named by whole paths have ~ for the user's home in it.

    Raises:
        UsageError: The format needs times, and the document has none.
    """
    module = _module(form)
    return map(
        shortened, module.pieces(document) if hasattr(module, "pieces") else (module.render(document),)
    )


def write(document: Document, form: str, file: BinaryIO) -> None:
    """Write a document in one of EVERY into an open file.

    Raises:
        UsageError: The format needs times, and the document has none.
        EnvironmentLacksError: A library that the format needs is not installed.
        OSError: The file cannot be written.
    """
    if form in BINARY:
        _module(form).write(document, file)
        return
    file.writelines(piece.encode() for piece in pieces(document, form))


def left_out(text: str) -> list[str]:
    """Return the lines of a rendered document that name what its format leaves out."""
    return [line.removeprefix("# ") for line in text.splitlines() if line.startswith(LEFT_OUT)]


def about(form: str) -> str:
    """Return the description of a format: the first line of its module's docstring."""
    return (_module(form).__doc__ or "").partition("\n")[0]


def _module(form: str) -> ModuleType:
    return importlib.import_module(f"mpigauge.show.formats.{form.replace('-', '_')}")
