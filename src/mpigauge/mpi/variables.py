"""Whether a library reads an environment variable: an unknown one has no effect, without a warning.

Only of variables that begin as the library's own do, and whose names can be looked up; of all others, such as
those of UCX and libfabric, nothing is said.
"""

from __future__ import annotations

import mmap
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.programs import located

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.mpi.library import Library

TIMEOUT_S = 20
_PARAMETER = re.compile(r"^mca:[^:]*:[^:]*:param:([^:]+):", re.MULTILINE)
_LINKED = re.compile(r"^\s*libmpi\S* => (/\S+)", re.MULTILINE)
"""What the loader takes as the MPI library, under all names that it has: libmpi, libmpich, libmpi_abi."""


def unknown_variables(library: Library, program: Path, names: Iterable[str]) -> list[str]:
    """Return the names that look like variables of the library but are not known to it.

    Args:
        program: Its kernel, which says by which files the library is.
    """
    mine = [name for name in names if name.startswith(library.kind.variables or ("\0",))]
    if not mine:
        return []
    known = _listed(library) if library.kind.lists_variables else _contained(library, program, mine)
    return [name for name in mine if name not in known] if known is not None else []


def _listed(library: Library) -> frozenset[str] | None:
    """Return the variables that a program of the library lists; None if it cannot be run."""
    name, *words = library.kind.lists_variables
    said = output_of([str(library.mpicc.with_name(name)), *words], library)
    if not said:
        return None
    return frozenset(f"OMPI_MCA_{name}" for name in _PARAMETER.findall(said))


def _contained(library: Library, program: Path, names: Iterable[str]) -> frozenset[str] | None:
    """Return the names that are in the library's files; None if its files are not known."""
    files = [Path(path) for path in _LINKED.findall(output_of(["ldd", str(program)], library))]
    if not files:
        return None
    return frozenset(name for name in names if any(_has(file, name.encode()) for file in files))


def _has(file: Path, word: bytes) -> bool:
    """Whether a file contains a word as a whole string of a program."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(word + b"\0") >= 0


def output_of(words: list[str], library: Library) -> str:
    """Return the output of a program of a library; empty if it cannot be run."""
    try:
        done = subprocess.run(
            located(words),
            env={**os.environ, **library.environment},
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""
