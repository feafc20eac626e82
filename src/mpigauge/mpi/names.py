"""Names of patterns and modes as the kernel's sources have them: for completion, which can build nothing.

Whatever measures asks the kernel itself; a test holds these names against its answer.
"""

from __future__ import annotations

import re
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "kernel"

_PATTERN = re.compile(r"^MG_PATTERN\((\w+)\)", re.MULTILINE)
_NAME = re.compile(r"\bmg_\w+ = {\s+\.name\s*=\s*\"([\w-]+)\"")
_MODE = re.compile(r"\{\.name\s*=\s*\"(\w+)\"")


def patterns() -> list[str]:
    """In the order of patterns.def, by the names in their descriptors."""
    words = _PATTERN.findall((SOURCES / "patterns" / "patterns.def").read_text(encoding="ascii"))
    texts = [(SOURCES / "patterns" / f"{word}.c").read_text(encoding="ascii") for word in words]
    return [found[1] for text in texts if (found := _NAME.search(text))]


def modes() -> list[str]:
    """Of all patterns."""
    texts = [path.read_text(encoding="ascii") for path in sorted((SOURCES / "patterns").glob("*.[ch]"))]
    return sorted({name for text in texts for name in _MODE.findall(text)})
