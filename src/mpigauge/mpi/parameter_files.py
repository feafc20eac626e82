"""Files that an MPI library reads settings from: like variables they change what is measured.

Where they are was seen by strace -f of jobs of Open MPI 4.1 and 5.0, MPICH 5.0 and Intel MPI 2021.18, and is
what the documentation of these libraries, of UCX and of libfabric says.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mpigauge.mpi.library import Library

READ_MOST_BYTES = 65536
MAX_SETTINGS = 100
MAX_LETTERS = 500
"""Characters kept of a name or a value."""

SYSTEM = "{system}"
"""Before a path that only a library of the system's packages reads."""

Settings = dict[str, str]


@dataclass(frozen=True, slots=True)
class Places:
    """Files of one syntax.

    Attributes:
        paths: Paths of the files; ~ is the user's home, {prefix} that of the library.
        reads: Parser of the settings in a file.
        named_by: Variables whose values name files in place of these.
        first_only: Whether those behind the first that is there are not read.
    """

    paths: tuple[str, ...]
    reads: Callable[[str], Iterator[tuple[str, str]]]
    named_by: tuple[str, ...] = ()
    first_only: bool = False


def parameter_files(library: Library) -> dict[str, Settings]:
    """Return the settings in the files that a library reads, by path and name, but for empty files."""
    found: dict[str, Settings] = {}
    for places in (*BY_LAUNCHER.get(library.launcher, ()), *READ_BY_ALL):
        for path in _paths(places, library.prefix):
            if (text := _text(path)) is None:
                continue
            if settings := _settings(places, text):
                found[str(path)] = settings
            if places.first_only:
                break
    return found


def _paths(places: Places, prefix: Path) -> Iterator[Path]:
    named = [os.environ[name] for name in places.named_by if os.environ.get(name)]
    texts = [path for value in named for path in re.split("[,:]", value) if path] or places.paths
    of_system = prefix.is_relative_to("/usr") and not prefix.is_relative_to("/usr/local")
    for text in texts:
        filled = os.path.expandvars(text.replace("{prefix}", str(prefix)))
        if "$" not in filled and (of_system or not filled.startswith(SYSTEM)):
            bare = filled.removeprefix(SYSTEM)
            yield Path(os.path.expanduser(bare)).absolute()  # noqa: PTH111 - without a home it stays as it is


def _text(path: Path) -> str | None:
    """Return the beginning of a regular text file; None for anything else, which may block or never end."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        is_file = stat.S_ISREG(os.fstat(number).st_mode)
        text = os.read(number, READ_MOST_BYTES) if is_file else b"\0"
    except OSError:
        return None
    finally:
        os.close(number)
    return None if b"\0" in text else text.decode("utf-8", "replace")


def _settings(places: Places, text: str) -> Settings:
    """Return the first settings of a file, each with its last value."""
    values: Settings = {}
    for name, value in places.reads(text):
        if len(values) < MAX_SETTINGS or name in values:
            values[name[:MAX_LETTERS]] = value[:MAX_LETTERS]
    return values


# ---- Syntaxes ------------------------------------------------------------------------------------


def _lines(text: str) -> Iterator[str]:
    """Yield lines that are not empty, without comments."""
    for line in text.splitlines():
        if (kept := line.partition("#")[0].strip()) and not kept.startswith(("[", ";", "!")):
            yield kept


def assignments(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of `name = value`; lines without a value choose nothing."""
    for line in _lines(text):
        name, equals, value = line.partition("=")
        if line.startswith("-"):
            yield from options(line)
        elif equals and name.strip() and value.strip():
            yield name.strip(), value.strip().strip("\"'")


def options(text: str) -> Iterator[tuple[str, str]]:
    """Yield what options of mpiexec set: variables and options by their names."""
    for line in _lines(text):
        try:
            words = deque(shlex.split(line))
        except ValueError:
            words = deque(line.split())
        while words:
            word = words.popleft()
            if word.lstrip("-") in {"genv", "env"} and len(words) > 1:
                yield words.popleft(), words.popleft()
            elif word in {"-x", "--x"} and words:
                name, _, value = words.popleft().partition("=")
                yield name, value
            elif word.startswith("-"):
                name, _, value = word.partition("=")
                yield name, value or (words.popleft() if words and not words[0].startswith("-") else "")


# ---- Places --------------------------------------------------------------------------------------


def _of_mca(user: str, system: str, variable: str, *system_folders: str) -> Places:
    """Return the parameter files of the Modular Component Architecture: Open MPI, PRRTE and PMIx."""
    folders = ("{prefix}/etc", *system_folders)
    return Places(
        (f"~/.{user}/mca-params.conf", *(f"{folder}/{system}-mca-params.conf" for folder in folders)),
        assignments,
        (f"{variable}_MCA_mca_base_param_files", f"{variable}_MCA_mca_param_files"),
    )


_OPENMPI = (
    _of_mca("openmpi", "openmpi", "OMPI", f"{SYSTEM}/etc/openmpi", f"{SYSTEM}/etc/openmpi-x86_64"),
    Places(("{prefix}/etc/openmpi-mca-params-override.conf",), assignments),
    _of_mca("prte", "prte", "PRTE"),
    _of_mca("pmix", "pmix", "PMIX"),
)
_HYDRA = (
    Places(
        ("~/.mpiexec.hydra.conf", "{prefix}/etc/mpiexec.hydra.conf"),
        options,
        ("HYDRA_CONFIG_FILE",),
        first_only=True,
    ),
    Places(("/etc/mpich.conf", "{prefix}/etc/mpich.conf"), assignments),
)
_INTELMPI = (
    Places(("~/.mpiexec.conf", "./mpiexec.conf", "{prefix}/intel64/etc/mpiexec.conf"), options),
    Places(("{prefix}/etc/mpiexec.conf",), options),
)

BY_LAUNCHER: Mapping[str, tuple[Places, ...]] = {
    "openmpi": _OPENMPI,
    "hydra": _HYDRA,
    "intelmpi": _INTELMPI,
}
"""Files of a library and its launcher, by the launcher that its mpiexec understands."""

READ_BY_ALL = (
    Places(
        (
            "/etc/ucx/ucx.conf",
            "{prefix}/etc/ucx/ucx.conf",
            "~/ucx.conf",
            "$UCX_CONFIG_DIR/ucx.conf",
            "./ucx.conf",
        ),
        assignments,
    ),
    Places(("/etc/libfabric.conf", "{prefix}/etc/libfabric.conf"), assignments),
)
"""Files of the network libraries that any MPI library may use."""
