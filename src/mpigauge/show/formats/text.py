"""Aligned columns for people, without colours, boxes or a limit of width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.document.plain_signs import printable
from mpigauge.show.formats.terminal import CHART_WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.document.document import Document, Table


def render(document: Document) -> str:
    """Return all lines and tables as text."""
    lines = [*document.head, *([""] if document.head else [])]
    for table in document.tables:
        lines += [*_table(document, table), ""]
    if document.drawn is not None:
        lines += [*document.drawn(CHART_WIDTH), ""]
    foot = [line.text for line in document.below]
    if not foot and lines:
        lines.pop()
    return "\n".join([*map(printable, [*lines, *foot]), ""])


def _table(document: Document, table: Table) -> Iterator[str]:
    entries = document.entries(table)
    if table.headed:
        entries.insert(0, [column.heading for column in table.columns])
    widths = [max(map(len, column)) for column in zip(*entries, strict=True)]
    left = [column.left for column in table.columns]
    yield from filter(None, [table.title, f"  {table.about}" if table.about else ""])
    margin = "  " if table.title else ""
    yield from (f"{margin}{aligned(row, widths, left)}" for row in entries)


def aligned(row: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    """Return a row of a table with its entries aligned."""
    entries = [
        text.ljust(width) if to_left else text.rjust(width)
        for text, width, to_left in zip(row, widths, left, strict=True)
    ]
    return "  ".join(entries).rstrip()
