"""Which curve a sentence speaks of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.cli.docs.recomputing.reading import CELL, USUAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.cli.docs.recomputing.reading import Row

MEMORY = frozenset(
    {"null", "memcpy", "copy", "read", "write", "chase", "reduce_local", "crosscopy", "cacheline", "eager"}
)
CORES = re.compile(r"(\d+ ranks?) on \d+ cores?")


def words_of(about: str, known: Iterable[str]) -> set[str]:
    """The names in a subject: what stands between commas, and in what is left pattern and mode."""
    found: set[str] = set()
    for part in CORES.sub(r"\1", about).split(", "):
        if part in known:
            found.add(part)
        else:
            found |= set(part.split())
    return found


def find_curve(curves: Sequence[list[Row]], about: str, state: str = "") -> Any:
    """The curve with these names and, for all else, what goes without saying; None if not just one."""
    about, _, named = about.partition(" while ")
    known = {word for curve in curves for word in curve[0].words}
    words = words_of(about, known)
    found = [curve for curve in curves if words <= curve[0].words and not (words - known)]
    wanted = named or state.removeprefix(" while ")
    if wanted:
        found = [curve for curve in found if curve[0].state == wanted] or found
    for name in CELL:
        if len(found) > 1 and name in USUAL:
            usual = [curve for curve in found if curve[0].cell[name] == USUAL[name]]
            said = any(str(curve[0].cell[name]) in words for curve in found)
            found = usual if usual and not said else found
    return found[0] if len(found) == 1 else None
