"""Names of the kernel's patterns and modes, read quickly: for completion, which waits at every tab.

They come from `kernel/describe.json`, which is what the kernel says of itself; `patterns.known` is the
whole of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DESCRIPTION = Path(__file__).parents[1] / "kernel" / "describe.json"


def patterns() -> list[str]:
    """All patterns, in the order of patterns.def."""
    return [pattern["name"] for pattern in _described()]


def modes() -> list[str]:
    """The modes of all patterns."""
    return sorted({mode["name"] for pattern in _described() for mode in pattern["modes"]})


def _described() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(DESCRIPTION.read_text(encoding="ascii"))["patterns"]
    return found
