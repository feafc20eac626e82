"""Asking a compiler wrapper which MPI library it belongs to, and explaining failed compilations."""

import errno
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mpigauge import room
from mpigauge.cache import cache_folder, with_home
from mpigauge.errors import AGAINST_LIMITS, NO_ROOM, EnvironmentLacksError, remedy
from mpigauge.mpi.environments import Changes, applied, loaded
from mpigauge.mpi.kinds import KINDS, NO_VERSION, MpiKind, kind_by_macros
from mpigauge.mpi.library import NO_MPIEXEC, Library
from mpigauge.programs import end_of, run, which
from mpigauge.room import WorkFolder
from mpigauge.sequences import first_words
from mpigauge.vocabulary import REASON_MOST

PROBE_TIMEOUT_S = 60
CHOICES = ("OMPI_CC", "MPICH_CC", "I_MPI_CC")
"""Variables that name the compiler behind a wrapper."""

ABI_COMPILER = "mpicc_abi"
"""Compiler wrapper for the ABI of MPI 5, beside mpicc."""

LAUNCHERS_BESIDE = ("mpiexec", "mpirun", "mpiexec_mpt")

LACKS = {
    "File size limit exceeded": AGAINST_LIMITS[errno.EFBIG],  # as a shell tells of SIGXFSZ
    **{os.strerror(number): hint for number, hint in AGAINST_LIMITS.items()},
}
"""Remedies where a compiler says that the system refused it something."""


class CannotCompileError(EnvironmentLacksError):
    """A compiler that has run and refused: by its options, its library or its installation."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An mpicc that may belong to a library, and where it was found.

    Attributes:
        label: Name and version, where they are known without running it: "mpich==5.0.2".
        options: Options for every call.
        loaded_by: Modules or script that it is used with; empty for none.
    """

    mpicc: Path
    origin: str
    label: str = ""
    options: tuple[str, ...] = ()
    loaded_by: str = ""

    @property
    def words(self) -> list[str]:
        """Words that every command of the wrapper begins with."""
        return [str(self.mpicc), *self.options]

    def may_be(self, name: str) -> bool:
        """Return whether it may be the mpicc of `mpich` or `mpich==5.0.2`."""
        return not self.label or name in (self.label, self.label.partition("==")[0])


def inspect(candidate: Candidate) -> Library:
    """Return the library of a compiler wrapper, by the macros of the mpi.h that it includes.

    Raises:
        EnvironmentLacksError: It does not compile, or what it includes is not of an MPI library.
    """
    changes = loaded(candidate.loaded_by).changes if candidate.loaded_by else {}
    environment = {**_environment_of(candidate.mpicc), **changes}
    macros = _macros(candidate, environment)
    kind = kind_by_macros(macros)
    if "MPI_VERSION" not in macros:
        raise EnvironmentLacksError(
            f"{candidate.mpicc}: the mpi.h that it includes defines no MPI_VERSION",
            "name the compiler wrapper of an MPI library: --mpi /path/to/mpicc",
        )
    return Library(
        kind=kind,
        version=_version(kind, macros),
        standard=f"{macros['MPI_VERSION']}.{macros.get('MPI_SUBVERSION', '?')}",
        mpicc=candidate.mpicc,
        mpiexec=_mpiexec_of(candidate.mpicc),
        prefix=candidate.mpicc.parent.parent,
        origin=candidate.origin,
        show=_shown(candidate, kind, environment),
        environment=environment if kind.needs_root_variable else changes,
        options=candidate.options,
        loaded_by=candidate.loaded_by,
    )


def _environment_of(mpicc: Path) -> dict[str, str]:
    """Return the environment of an mpicc: Intel's needs its prefix in a variable, which others ignore."""
    return {kind.needs_root_variable: str(mpicc.parent.parent) for kind in KINDS if kind.needs_root_variable}


MACROS = Path(__file__).with_name("mpi_macros.h")


def _macros(candidate: Candidate, environment: Changes) -> dict[str, str]:
    words = [*candidate.words, "-E", "-dM", "-x", "c", "-include", str(MACROS), os.devnull]
    output = run_wrapper(words, environment)
    return dict(re.findall(r'^#define (\w+) "?([^"\n]{0,255})"?$', output, re.MULTILINE))


def _version(kind: MpiKind, macros: Mapping[str, str]) -> str:
    if kind.name == "openmpi":
        parts = (macros.get(f"OMPI_{part}_VERSION", "?") for part in ("MAJOR", "MINOR", "RELEASE"))
        return ".".join(parts)
    return next((macros[macro] for macro in kind.macros if macro in macros), NO_VERSION)


def _shown(candidate: Candidate, kind: MpiKind, environment: Changes) -> str:
    """Return the command that a wrapper would run; empty if it cannot tell."""
    try:
        return run_wrapper([*candidate.words, *kind.show], environment).strip()
    except EnvironmentLacksError:
        return ""


def _mpiexec_of(mpicc: Path) -> Path:
    """Return the mpiexec beside an mpicc; Debian's mpicc.mpich has an mpiexec.mpich."""
    suffix = mpicc.name.removeprefix("mpicc") if mpicc.name.startswith("mpicc") else ""
    names = (f"mpiexec{suffix}", *LAUNCHERS_BESIDE)
    siblings = (mpicc.parent / name for name in names)
    return next((path for path in siblings if path.is_file()), NO_MPIEXEC)


def programs_beside(mpicc: Path) -> list[Path]:
    """Return the programs beside an mpicc that are run, too: launcher, and those that tell of its library."""
    asked = [
        command[0]
        for kind in KINDS
        for command in (kind.variables_command, kind.configuration_command)
        if command
    ]
    paths = (_mpiexec_of(mpicc), *map(mpicc.with_name, dict.fromkeys([ABI_COMPILER, *asked])))
    return [path for path in paths if path.is_file()]


def run_wrapper(
    words: list[str],
    environment: Changes,
    timeout_s: float = PROBE_TIMEOUT_S,
    folder: Path | None = None,
) -> str:
    """Run an mpicc with these words, in a folder or in the current one, and return its output.

    Raises:
        CannotCompileError: It has refused.
        EnvironmentLacksError: It cannot be run, or this machine lacks what it needs.
    """
    mpicc = Path(words[0])
    environ = applied(with_home(os.environ), {**environment, "LC_ALL": "C"})  # its words are read: in English
    try:
        done = run(words, environ, timeout_s, folder=folder)
    except TimeoutError as late:
        raise EnvironmentLacksError(
            f"{mpicc}: {late}",
            f"see what it or its compiler waits for: {shlex.join(words)}",
        ) from None
    except OSError as error:
        raise EnvironmentLacksError(
            f"{mpicc}: cannot be run: {error.strerror}", remedy(error, "check the installation")
        ) from None
    if done.status == 0:
        return done.out
    said = done.err or done.out
    if (lack := _lack(said or end_of(done.status), _written_to(environ, folder))) is not None:
        raise EnvironmentLacksError(f"{mpicc}: cannot compile: {lack[0]}", lack[1])
    raise CannotCompileError(*explain_failure(mpicc, done.status, said))


def _written_to(environ: Mapping[str, str], folder: Path | None) -> list[WorkFolder]:
    """Return where a compiler writes to; what it is run in is a folder of the cache."""
    temporary = room.temporary_folder(environ)
    if folder is None:
        return [temporary]
    return [temporary, WorkFolder(cache_folder(), "set MPIGAUGE_KERNEL_DIR to another folder")]


def _lack(said: str, folders: Sequence[WorkFolder]) -> tuple[str, str] | None:
    """Return what this machine lacks that a compiler has stumbled over, and what helps; None if nothing."""
    full = room.full(folders)
    no_room = dict.fromkeys(map(os.strerror, NO_ROOM), room.hint(full or folders))
    for words, hint in (no_room | LACKS).items():
        if line := next((line.strip() for line in said.splitlines() if words in line), ""):
            named = [str(one.path) for one in full] if words in no_room else []
            return f"{' and '.join(named)}: {words}" if named else first_words(line, REASON_MOST), hint
    return None


def explain_failure(mpicc: Path, status: int, words: str) -> tuple[str, str]:
    """Return a sentence and a remedy for an mpicc that failed."""
    cause = first_words(_cause(words), REASON_MOST) or end_of(status)
    if "specified compiler" in cause and (chosen := next(filter(os.environ.get, CHOICES), "")):
        return f"{mpicc}: cannot compile: {cause}", f"unset {chosen}, or install that compiler"
    if "home directory" in cause:
        return f"{mpicc}: cannot compile: {cause}", "set HOME to a folder that can be written"
    if which("cc") is None and which("gcc") is None:
        return f"{mpicc}: there is no C compiler: {cause}", "install gcc, or: module load gcc"
    return f"{mpicc}: cannot compile: {cause}", "check this MPI library, or name another: --mpi NAME"


def _cause(output: str) -> str:
    """Return the first line that names an error, else Open MPI's first sentence, else the last line.

    Its wrapper puts sentences of several lines between rows of dashes.
    """
    lines = [line.strip() for line in output.splitlines() if re.search("[A-Za-z]", line)]
    if error := next((line for line in lines if "error" in line.lower()), ""):
        return error
    if output.lstrip().startswith("-----"):
        return " ".join(lines).partition(". ")[0].rstrip(".") + "."
    return lines[-1] if lines else ""
