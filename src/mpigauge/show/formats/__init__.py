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

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType
    from typing import BinaryIO

    from mpigauge.document.document import Document

GENERAL = ("text", "markdown", "csv", "json", "junit")
"""Of any document."""

TIMED = ("bencher", "github", "prometheus")
"""Of times by cell; a document without any is refused."""

FOREIGN = ("osu", "osu-validation", "imb")
"""Of times that another benchmark has a name for; a document without any is refused."""

FORMATS = (*GENERAL, *TIMED, *FOREIGN)
"""That are text."""

BINARY = ("parquet",)
"""That are a file."""

EVERY = (*FORMATS, *BINARY)

BY_CELL = ("csv", *TIMED, *FOREIGN, *BINARY)
"""Of all numbers, wherever a verb has a shorter answer for people."""

ENDINGS = {
    ".txt": "text",
    ".md": "markdown",
    ".csv": "csv",
    ".json": "json",
    ".xml": "junit",
    ".prom": "prometheus",
    ".parquet": "parquet",
}
"""What a file of this name has in it, unless it is said."""


def render(document: Document, form: str) -> str:
    """A document in one of FORMATS.

    Raises:
        UsageError: The format needs times, and the document has none.
    """
    return "".join(pieces(document, form))


def pieces(document: Document, form: str) -> Iterable[str]:
    """The same piece by piece, where a format can; the first one is checked before anything is given out.

    Raises:
        UsageError: As of `render`.
    """
    module = _module(form)
    if hasattr(module, "pieces"):
        found: Iterable[str] = module.pieces(document)
        return found
    return (module.render(document),)


def write(document: Document, form: str, file: BinaryIO) -> None:
    """Writes a document in one of EVERY into an open file.

    Raises:
        UsageError: As of `render`.
        EnvironmentLacksError: A library that the format needs is not here.
        OSError: The file cannot be written.
    """
    if form in BINARY:
        _module(form).write(document, file)
        return
    file.writelines(piece.encode() for piece in pieces(document, form))


def left_out(text: str) -> list[str]:
    """The lines of what was rendered that name what its format has no place for."""
    return [line.removeprefix("# ") for line in text.splitlines() if line.startswith(LEFT_OUT)]


def about(form: str) -> str:
    """What a format is, in a sentence: the docstring of its module."""
    return (_module(form).__doc__ or "").partition("\n")[0]


def _module(form: str) -> ModuleType:
    return importlib.import_module(f"mpigauge.show.formats.{form.replace('-', '_')}")
