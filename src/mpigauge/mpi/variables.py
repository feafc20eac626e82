"""Environment variables that a library does not know: they have no effect, without a warning.

Only variables with the prefixes of the library are checked, and only where its names can be looked up;
others, such as those of UCX and libfabric, are not.
"""

from __future__ import annotations

import mmap
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.programs import run, with_program_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.mpi.library import Library

TIMEOUT_S = 20
_PARAMETER = re.compile(r"^mca:[^:]*:[^:]*:param:([^:]+):", re.MULTILINE)
_LINKED = re.compile(r"^[ \t]*libmpi\S* => (/\S+)", re.MULTILINE)
"""MPI library in the output of ldd, by any of its names: libmpi, libmpich, libmpi_abi."""


def unknown_variables(library: Library, program: Path, names: Iterable[str]) -> list[str]:
    """Return the names that look like variables of the library but are not known to it.

    Args:
        program: Its kernel, by which the files of the library are found.
    """
    own_names = [name for name in names if name.startswith(library.kind.variables or ("\0",))]
    if not own_names:
        return []
    known = _listed(library) if library.kind.variables_command else _contained(library, program, own_names)
    return [name for name in own_names if name not in known] if known is not None else []


def _listed(library: Library) -> frozenset[str] | None:
    """Return the variables that a program of the library lists; None if it cannot be run."""
    name, *words = library.kind.variables_command
    output = output_of([str(library.mpicc.with_name(name)), *words], library)
    if not output:
        return None
    return frozenset(f"OMPI_MCA_{name}" for name in _PARAMETER.findall(output))


def _contained(library: Library, program: Path, names: Iterable[str]) -> frozenset[str] | None:
    """Return the names that are in the library's files; None if its files are not known."""
    files = [Path(path) for path in _LINKED.findall(output_of(["ldd", str(program)], library))]
    if not files:
        return None
    return frozenset(name for name in names if any(_contains(file, name.encode()) for file in files))


def _contains(file: Path, word: bytes) -> bool:
    """Return whether a file contains a word as a whole C string."""
    with file.open("rb") as binary, mmap.mmap(binary.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(word + b"\0") >= 0


def output_of(words: list[str], library: Library) -> str:
    """Return the output of a program of a library; empty if it cannot be run."""
    try:
        done = run(with_program_path(words, library.environ), library.environ, TIMEOUT_S)
    except OSError:
        return ""
    return done.out if done.status == 0 else ""
