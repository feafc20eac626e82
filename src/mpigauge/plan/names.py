"""Names of the kernel's patterns, modes and reductions, read quickly: completion waits for them at every tab.

They come from `kernel/describe.json`, which is what the kernel says of itself; `patterns.known` is the
whole of it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DESCRIPTION = Path(__file__).parents[1] / "kernel" / "describe.json"


_PREFIX = re.compile(r"(osu|imb|p?mpi)[_-]|p?mpi(?=[a-z])")


def plain(word: str) -> str:
    """Return a word in lower case without what people spell differently: `MPI_Send()` and `send` are one."""
    return re.sub(r"[_-]|\(\)$", "", _PREFIX.sub("", word.lower(), count=1))


def patterns() -> list[str]:
    """All patterns, in the order of patterns.def."""
    return [pattern["name"] for pattern in _described("patterns")]


def modes() -> list[str]:
    """The modes of all patterns."""
    return sorted({mode["name"] for pattern in _described("patterns") for mode in pattern["modes"]})


def datatypes() -> list[str]:
    """Those of reductions."""
    return [one["name"] for one in _described("datatypes")]


def operations() -> list[str]:
    """Those of reductions of any datatype."""
    return list(dict.fromkeys(name for one in _described("datatypes") for name in one["operations"]))


def _described(what: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(DESCRIPTION.read_text(encoding="ascii"))[what]
    return found
