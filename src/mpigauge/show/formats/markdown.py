"""Tables of Markdown, to paste into a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.document.plain_signs import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpigauge.document.document import Document, Table


TAG = re.compile(r"<(?=[A-Za-z/!?])")


def render(document: Document) -> str:
    """Return captions, tables and the meaning of marks; above them the source, or else head and foot.

    What holds for all tables is printed once: the source, and what an entry is.
    """
    lines: list[str] = []
    if document.head and not document.source:
        lines += [f"*{document.head[0]}*", "", *document.head[1:], ""]
    elif document.source and any(table.title for table in document.tables):
        lines += [f"*{document.source}*", ""]
    known = ""
    for table in document.tables:
        lines += [*_table(document, table, "" if table.about == known else table.about), ""]
        known = table.about
    if not document.source:
        lines += [*(f"- {line.text}" for line in document.foot), ""]
    return "\n".join(map(_safe, lines))


def _table(document: Document, table: Table, about: str) -> Iterator[str]:
    if table.title:
        yield from (f"**{table.title}**{f' ({about})' if about else ''}", "")
    yield _piped(column.heading for column in table.columns)
    yield _piped("---" if column.left else "---:" for column in table.columns)
    yield from map(_piped, document.entries(table))
    if document.source and table.notes:
        yield from ("", f"{'; '.join(table.notes)}.")


def _safe(line: str) -> str:
    """Return text on one line and without HTML, which Markdown passes on."""
    return TAG.sub("&lt;", printable(line))


def _piped(entries: Iterable[str]) -> str:
    return "| " + " | ".join(entry.replace("|", "\\|") for entry in entries) + " |"
