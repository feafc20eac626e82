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
"""Versions of the data of documents, raised when a field goes or changes its meaning; new fields may come."""


def render(document: Document) -> str:
    """Return the data of the document as JSON."""
    return json.dumps(data_of(document), indent=1, ensure_ascii=False) + "\n"


def data_of(document: Document) -> dict[str, Any]:
    """Return name and version of the format, if any, and the data, or lines and tables without data."""
    whole = _whole(document)
    if not document.schema:
        return {**whole}
    named = {"format": name_of(document.schema), "version": VERSIONS[document.schema]}
    several = {} if "context" in whole or not document.contexts else {"contexts": [*document.contexts]}
    return {**named, **several, **whole}


def name_of(schema: str) -> str:
    """Return the value of the field `format`."""
    return f"mpigauge-{schema}"


def _whole(document: Document) -> Mapping[str, Any]:
    if document.data is not None:
        return document.data()
    tables = [{"title": table.title, "rows": values_of(table)} for table in document.tables]
    return {"tables": tables, "notes": [line.text for line in document.foot]}
