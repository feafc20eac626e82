"""How a library was configured, as a program of it reports: two builds of a version differ only in that."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.mpi.variables import output_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.mpi.library import Library

LETTERS_MOST = 2000
"""Of each line; the command line of a configuration is some hundreds."""

CUT = "..."


LINES: Mapping[str, str] = {
    "configure": r"(?:config:cli:|MPICH configure:)",
    "cc": r"(?:compiler:c:command:|MPICH CC:)",
    "cflags": r"option:build:cflags:",
}
"""How lines begin that are kept; MPICH has the flags behind its compiler."""


def configuration_of(library: Library) -> Mapping[str, str]:
    """Return what a library reports of its configuration, by `configure`, `cc`, `cflags`.

    Only a program beside its compiler wrapper is asked, since another library's may be on the path.

    Returns:
        Nothing of a library that has no such program, or one that does not answer.
    """
    if not library.kind.says_configuration:
        return {}
    name, *words = library.kind.says_configuration
    said = output_of([str(library.mpicc.with_name(name)), *words], library)
    lines = ((what, re.search(rf"^{begin}(.*)$", said, re.MULTILINE)) for what, begin in LINES.items())
    found = {what: line[1].strip() for what, line in lines if line}
    return {what: _bounded(text) for what, text in found.items() if text}


def _bounded(text: str) -> str:
    return text if len(text) <= LETTERS_MOST else text[: LETTERS_MOST - len(CUT)] + CUT
