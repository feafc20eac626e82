"""What the schema of result files names: known to whoever reads no code."""

from __future__ import annotations

import json
from pathlib import Path

DOCS = Path(__file__).parents[4] / "docs"


def fields_of(type_: str) -> tuple[str, ...]:
    """Return the fields of a type of the result file."""
    schema = json.loads((DOCS / "schema.json").read_text(encoding="utf-8"))
    return tuple(schema["$defs"][type_]["properties"])
