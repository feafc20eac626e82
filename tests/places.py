"""Where things are in the checkout."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
DOCS = ROOT / "docs"
