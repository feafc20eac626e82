"""Names of the kernel's patterns, modes and reductions, read quickly for completion in shells.

They come from `kernel/describe.json`, the kernel's description of itself; `patterns.known` has all of it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DESCRIPTION = Path(__file__).parents[1] / "kernel" / "describe.json"


_PREFIX = re.compile(r"(osu|imb|p?mpi)[_-]|p?mpi(?=[a-z])")


def normalised(word: str) -> str:
    """Return a word normalised in spelling: `MPI_Send()` and `send` become the same."""
    return re.sub(r"[_-]|\(\)$", "", _PREFIX.sub("", word.lower(), count=1))


def patterns() -> list[str]:
    """Return the names of all patterns, in the order of patterns.def."""
    return [pattern["name"] for pattern in _described("patterns")]


def modes() -> list[str]:
    """Return the names of the modes of all patterns."""
    return sorted({mode["name"] for pattern in _described("patterns") for mode in pattern["modes"]})


def datatypes() -> list[str]:
    """Return the names of the datatypes of reductions."""
    return [datatype["name"] for datatype in _described("datatypes")]


def operations() -> list[str]:
    """Return the names of the operations of reductions of any datatype."""
    return list(dict.fromkeys(name for one in _described("datatypes") for name in one["operations"]))


def _described(what: str) -> list[dict[str, Any]]:
    description: list[dict[str, Any]] = json.loads(DESCRIPTION.read_text(encoding="ascii"))[what]
    return description
