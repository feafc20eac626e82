"""Where things are in the checkout, and what the schema of its results names."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
DOCS = ROOT / "docs"


def fields_of(type_: str) -> tuple[str, ...]:
    """Return the fields of a type of the result file, from its schema: known to whoever reads no code."""
    schema = json.loads((DOCS / "schema.json").read_text(encoding="utf-8"))
    return tuple(schema["$defs"][type_]["properties"])
