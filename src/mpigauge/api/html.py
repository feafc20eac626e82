"""Tables and documents for notebooks, as HTML. All text is escaped: none of it becomes markup."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from mpigauge.document.plain_signs import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.document.document import Document

LEFT, RIGHT = "text-align: left", "text-align: right"


def text(value: Any) -> str:
    """Return a value as HTML text."""
    if value is None:
        return ""
    words = f"{value:.6g}" if isinstance(value, float) else str(value)
    return escape(printable(words), quote=True)


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], left: Sequence[bool]) -> str:
    """Return a table as HTML; without headings where all are empty.

    Args:
        left: Per column, whether its entries are aligned at the left.
    """
    styles = [LEFT if is_left else RIGHT for is_left in left]
    head = f"<thead>{_row('th', heads, styles)}</thead>" if any(heads) else ""
    body = "".join(_row("td", row, styles) for row in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def _row(tag: str, entries: Sequence[Any], styles: Sequence[str]) -> str:
    cells = (
        f'<{tag} style="{style}">{text(entry)}</{tag}>' for entry, style in zip(entries, styles, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def lines(texts: Iterable[str]) -> str:
    """Return lines of text as HTML, one below the other."""
    return "".join(f"<div>{text(line)}</div>" for line in texts if line)


def document(shown: Document) -> str:
    """Return all lines and tables of a document as HTML."""
    parts = [lines(shown.head)]
    for part in shown.tables:
        heads = [column.heading for column in part.columns]
        left = [column.left for column in part.columns]
        parts.append(lines([part.title, part.about]))
        parts.append(table(heads, shown.entries(part), left))
    return "".join([*parts, lines(line.text for line in shown.below)])
