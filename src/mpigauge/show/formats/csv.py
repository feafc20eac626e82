"""One line per row, in SI base units."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from mpigauge.show.document import values_of
from mpigauge.show.words.ascii import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mpigauge.show.document import Document


FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that spreadsheets compute; an apostrophe before it makes it text."""


def render(document: Document) -> str:
    """A heading, then the records of the document, else the rows of all its tables."""
    records = [*(_records(document) if document.records is None else document.records())]
    names = list(dict.fromkeys(name for record in records for name in record))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows({name: _value(value) for name, value in record.items()} for record in records)
    return out.getvalue()


def _records(document: Document) -> Iterable[Mapping[str, Any]]:
    for table in document.tables:
        title = {"table": table.title} if len(document.tables) > 1 else {}
        yield from (title | values for values in values_of(table))


def _value(value: Any) -> Any:
    """Nothing for None; words in one line, and never a formula of a spreadsheet."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    return f"'{printable(value)}" if value.startswith(FORMULAS) else printable(value)
