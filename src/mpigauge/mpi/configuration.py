"""Configuration of a library as it reports it: two builds of one version differ only in that."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.mpi.variables import output_of
from mpigauge.sequences import first_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.mpi.library import Library

MAX_LETTERS = 2000
"""Characters kept of each line; the command line of a configuration has some hundreds."""


LINES: Mapping[str, str] = {
    "configure": r"(?:config:cli:|MPICH configure:)",
    "cc": r"(?:compiler:c:command:|MPICH CC:)",
    "cflags": r"option:build:cflags:",
}
"""Beginnings of the lines that are kept; MPICH has the flags behind its compiler."""


def configuration_of(library: Library) -> Mapping[str, str]:
    """Return the configuration that a library reports, by `configure`, `cc`, `cflags`.

    Only a program beside its compiler wrapper is asked, since another library's may be on the path.

    Returns:
        Nothing of a library that has no such program, or one that does not answer.
    """
    if not library.kind.configuration_command:
        return {}
    name, *words = library.kind.configuration_command
    output = output_of([str(library.mpicc.with_name(name)), *words], library)
    lines = (
        (key, re.search(rf"^{beginning}(.*)$", output, re.MULTILINE)) for key, beginning in LINES.items()
    )
    found = {key: line[1].strip() for key, line in lines if line}
    return {key: first_words(text, MAX_LETTERS) for key, text in found.items() if text}
