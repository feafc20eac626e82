"""Everything, for programs: SI base units, null where there is no number."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mpigauge.show.document import values_of

if TYPE_CHECKING:
    from mpigauge.show.document import Document


def render(document: Document) -> str:
    """The data of the document, else its lines and the values of its tables."""
    if document.data is not None:
        whole = document.data()
    else:
        tables = [{"title": table.title, "rows": values_of(table)} for table in document.tables]
        whole = {"tables": tables, "notes": [line.text for line in document.foot]}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
