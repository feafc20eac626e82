"""Everything, for programs: SI base units, null where there is no number."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mpigauge.document.document import values_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.document.document import Document

VERSIONS = {
    "show": 1,
    "answers": 1,
    "table": 1,
    "compare": 1,
    "check": 1,
    "guidelines": 1,
    "explain": 1,
    "model": 1,
    "history": 1,
}
"""Of the data of documents. One is raised when a field goes or means something else; others may come."""


def render(document: Document) -> str:
    """The data of the document."""
    return json.dumps(data_of(document), indent=1, ensure_ascii=False) + "\n"


def data_of(document: Document) -> dict[str, Any]:
    """What it is and of which version, where it has one; then its data, else lines and values of tables."""
    whole = _whole(document)
    if not document.schema:
        return {**whole}
    named = {"format": name_of(document.schema), "version": VERSIONS[document.schema]}
    several = {} if "context" in whole or not document.contexts else {"contexts": [*document.contexts]}
    return {**named, **several, **whole}


def name_of(schema: str) -> str:
    """What the field `format` says."""
    return f"mpigauge-{schema}"


def _whole(document: Document) -> Mapping[str, Any]:
    if document.data is not None:
        return document.data()
    tables = [{"title": table.title, "rows": values_of(table)} for table in document.tables]
    return {"tables": tables, "notes": [line.text for line in document.foot]}
