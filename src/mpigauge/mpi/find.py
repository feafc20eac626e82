"""Finding MPI libraries: by name, by path, or the one that the user most likely means.

Order where nobody names one: $MPICC; Cray's cc, where its programming environment is loaded; an mpicc on
PATH outside the system's own folders (a loaded module, an activated environment); what `mpigauge mpi add`
has added; the wheel in mpigauge's own environment; the system's packages.
"""

import contextlib
import importlib.metadata
import os
import re
import shlex
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mpigauge.dependencies import check_system
from mpigauge.errors import EnvironmentLacksError, MpigaugeError, UsageError
from mpigauge.mpi.environments import loaded, names_environment, origin_of, with_absolute_paths
from mpigauge.mpi.install.prefixes import managed
from mpigauge.mpi.kinds import KINDS, WELL_KNOWN, MpiKind, kind_named
from mpigauge.mpi.library import Library, UnusedWrapper
from mpigauge.mpi.wrapper import Candidate, inspect
from mpigauge.programs import search_path, which

CHOSEN = "$MPICC"
ON_PATH = "PATH"
SYSTEM_FOLDERS = (Path("/usr/bin"), Path("/bin"), Path("/usr/local/bin"))
ON_PATH = "PATH"
"""Origin of a library that was found on PATH."""

OTHER_FOLDERS = ("/usr/lib64/openmpi/bin", "/usr/lib64/mpich/bin", "/opt/intel/oneapi/mpi/latest/bin")
INSTALL_HINT = (
    "install one without root: mpigauge mpi add openmpi, or name a module: --mpi module:NAME, or name it: "
    "--mpi /path/to/mpicc"
)


def find_default() -> Library:
    """Return the library to use by default; its `passed_over` are others that may have been meant.

    Raises:
        EnvironmentLacksError: There is none, or none that works; $MPICC does not work; or this is not Linux.
    """
    check_system()
    return _default_of(_candidates(), inspect)


def changed_default(added: Sequence[Library]) -> tuple[Library, str] | None:
    """Return the library to use by default, and the name of the one before, if those added have changed it.

    Of these nothing is run again, and of the others no more than tells the two.
    """
    inspected = _Inspected(added)
    new = {_resolve_mpicc(library.mpicc) for library in added}
    before = [candidate for candidate in inspected.candidates if candidate.mpicc not in new]
    with contextlib.suppress(EnvironmentLacksError):  # there is none, or $MPICC does not work
        now = _default_of(iter(inspected.candidates), inspected.library)
        if _resolve_mpicc(now.mpicc) in new:
            return now, inspected.name_of(_default_of(iter(before), inspected.library))
    return None


def _default_of(candidates: Iterator[Candidate], inspected: Callable[[Candidate], Library]) -> Library:
    """Return the first library that can be used, as `find_default` does.

    Args:
        inspected: Returns the library of a candidate, or raises why it does not work.
    """
    _check_chosen()
    troubles: list[MpigaugeError] = []
    without_launcher: list[Library] = []
    passed_over: list[UnusedWrapper] = []
    for candidate in candidates:
        try:
            library = inspected(candidate)
        except MpigaugeError as error:
            if candidate.origin == CHOSEN:
                raise EnvironmentLacksError(
                    error.sentence, "that is $MPICC: correct it, or unset it"
                ) from None
            troubles.append(error)
            passed_over.append(
                UnusedWrapper(candidate.mpicc, error.sentence.removeprefix(f"{candidate.mpicc}: "))
            )
            continue
        if library.is_startable or candidate.origin == CHOSEN:
            behind = _next_on_path(candidate, candidates, inspected)
            return replace(library, passed_over=(*passed_over, *behind))
        passed_over.append(UnusedWrapper(candidate.mpicc, "no mpiexec is beside it"))
        without_launcher.append(library)
    if without_launcher:
        return without_launcher[0]
    if troubles:
        raise troubles[0]
    raise EnvironmentLacksError("no MPI library was found", INSTALL_HINT)


def _next_on_path(
    chosen: Candidate, others: Iterable[Candidate], inspected: Callable[[Candidate], Library]
) -> Iterator[UnusedWrapper]:
    """Yield the first library on PATH after the chosen one: the user may have meant it.

    Whoever loads a module and then activates an environment with an MPI in it has the module's behind. The
    other way round, the module was meant; and the system's packages are nobody's choice.
    """
    for other in others if chosen.origin == ON_PATH else ():
        if other.origin != ON_PATH or (_in_environment(other.mpicc) and not _in_environment(chosen.mpicc)):
            continue
        with contextlib.suppress(MpigaugeError):
            library = inspected(other)
            yield UnusedWrapper(other.mpicc, about=f"{library.kind.about} {library.version}")
            return


def _in_environment(mpicc: Path) -> bool:
    """Return whether a library is in an active environment of Python or conda."""
    roots = (sys.prefix, os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX"))
    return any(root and mpicc.is_relative_to(Path(root).resolve()) for root in roots)


def _check_chosen() -> None:
    """Check that $MPICC, if it is set, begins with a program."""
    chosen = os.environ.get("MPICC")
    if chosen and _chosen() is None:
        raise EnvironmentLacksError(
            f"$MPICC is {chosen!r}, which is not a program", "correct it, or unset MPICC"
        )


def _chosen() -> Candidate | None:
    """Return the words of $MPICC, which may have options: "mpicc -cc=icx"."""
    text = os.environ.get("MPICC", "")
    if whole := which(text):
        return Candidate(Path(whole), CHOSEN)
    try:
        word, *options = shlex.split(text)
    except ValueError:
        return None
    program = which(word)
    return Candidate(Path(program), CHOSEN, options=tuple(options)) if program else None


def find_all() -> tuple[list[Library], list[MpigaugeError]]:
    """Return every library of this machine, best first, and what was wrong with the others."""
    found: list[Library] = []
    troubles: list[MpigaugeError] = []
    for candidate in _candidates():
        try:
            found.append(inspect(candidate))
        except MpigaugeError as error:
            troubles.append(error)
    return found, troubles


def find(name: str) -> Library:
    """Return the library that a user names: `openmpi`, `mpich==4.3.2`, a prefix, or the path of an mpicc.

    Raises:
        UsageError: The words name nothing that exists.
        EnvironmentLacksError: It exists but does not work.
    """
    return find_each([name])[0]


def find_each(names: Sequence[str]) -> list[Library]:
    """Return the libraries that a user names; one error names all that are absent.

    Raises:
        UsageError: The words name nothing that exists.
        EnvironmentLacksError: One exists but does not work, or is not there; or this is not Linux.
    """
    check_system()
    inspected = _Inspected()
    found = [
        _find_exact(name) if is_exact(name) else inspected.find(*_kind_and_version(name)) for name in names
    ]
    if absent := [name for name, library in zip(names, found, strict=True) if library is None]:
        raise _absent_error(absent, inspected)
    return [library for library in found if library is not None]


def absent(names: Sequence[str]) -> list[str]:
    """Return the names that this machine lacks; paths and modules are not searched for.

    Raises:
        UsageError: One of them is no name of a library.
    """
    inspected = _Inspected()
    return [name for name in names if not is_exact(name) and inspected.find(*_kind_and_version(name)) is None]


_LABELLED = re.compile(r"([A-Za-z][A-Za-z0-9._+-]{0,31})=(?!=)(.+)", re.DOTALL)


def split_label(word: str) -> tuple[str, str]:
    """Split a user's `main=/opt/bin/mpicc` into label and library; the label is empty if there is none."""
    found = _LABELLED.fullmatch(word)
    return (found[1], found[2]) if found else ("", word)


def is_exact(name: str) -> bool:
    """Return whether a user's word for a library is a path or names modules, and not a kind."""
    return names_environment(name) or os.sep in name or name.startswith((".", "~"))


def _kind_and_version(name: str) -> tuple[MpiKind, str]:
    word, _, version = name.partition("==")
    kind = kind_named(word)
    if kind is None:
        names = ", ".join(kind.name for kind in KINDS)
        raise UsageError(
            f"no MPI library is called {name!r}",
            f"choose from {names} (openmpi==5.0.11 for one version), a path, or module:NAME",
        )
    return kind, version


class _Inspected:
    """Libraries of this machine, each inspected at most once while several names are looked up.

    Attributes:
        candidates: In the order in which they are looked for.
    """

    def __init__(self, known: Iterable[Library] = ()) -> None:
        self.candidates = list(_candidates())
        by_mpicc = {_resolve_mpicc(library.mpicc): library for library in known}
        self._inspections: dict[Candidate, Library | MpigaugeError] = {
            candidate: by_mpicc[candidate.mpicc]
            for candidate in self.candidates
            if candidate.mpicc in by_mpicc
        }

    def library(self, candidate: Candidate) -> Library:
        """Return the library of a candidate.

        Raises:
            MpigaugeError: It does not work.
        """
        found = self._inspect(candidate)
        if isinstance(found, MpigaugeError):
            raise found
        return found

    def find(self, kind: MpiKind, version: str) -> Library | None:
        """Return the first library that fits."""
        name = f"{kind.name}=={version}" if version else kind.name
        for candidate in self.candidates:
            library = self._inspect(candidate) if candidate.may_be(name) else None
            if isinstance(library, Library) and name in (library.label, library.name):
                return library
        return None

    def name_of(self, library: Library) -> str:
        """Return the shortest words that find a library: its kind, its kind and version, or its mpicc."""
        for name, version in ((library.name, ""), (library.label, library.version)):
            found = self.find(library.kind, version)
            if found is not None and found.mpicc == library.mpicc:
                return name
        return str(library.mpicc)

    def _inspect(self, candidate: Candidate) -> Library | MpigaugeError:
        if candidate not in self._inspections:
            try:
                self._inspections[candidate] = inspect(candidate)
            except MpigaugeError as error:
                self._inspections[candidate] = error
        return self._inspections[candidate]

    def describe(self) -> str:
        """Return a sentence with the libraries that exist, and the first that does not work."""
        inspections = self._inspections.values()
        labels = [one.label for one in [*inspections, *self.candidates] if not isinstance(one, MpigaugeError)]
        names = ", ".join(dict.fromkeys(filter(None, labels)))
        words = f"here are: {names}" if names else "there is no MPI library here"
        trouble = next((one for one in inspections if isinstance(one, MpigaugeError)), None)
        return f"{words}; one does not work: {trouble.sentence}" if trouble else words


def _absent_error(names: Sequence[str], inspected: _Inspected) -> EnvironmentLacksError:
    """Return one error for all absent names, with the command that adds them."""
    kinds = list(map(_kind_and_version, names))
    labels = [f"{kind.about} {version}".strip() for kind, version in kinds]
    addable = [name for name, (kind, _) in zip(names, kinds, strict=True) if kind.wheel]
    add = f"mpigauge mpi add {' '.join(addable)}, or " if addable else ""
    return EnvironmentLacksError(
        f"{', '.join(labels)} {'was' if len(labels) == 1 else 'were'} not found; {inspected.describe()}",
        f"{add}name an mpicc or prefix: --mpi /path",
    )


def find_with(mpicc: str, options: tuple[str, ...], loaded_by: str = "") -> Library:
    """Return the library of an mpicc that is always run with these options, in the environment of modules.

    Raises:
        UsageError: There is no such program.
        EnvironmentLacksError: It does not work, or its modules have another mpicc now.
    """
    now = _mpicc_of(loaded_by) if loaded_by else None
    if now and now.parent not in search_path() and str(_resolve_mpicc(now.absolute())) != mpicc:
        raise EnvironmentLacksError(
            f"{loaded_by}: puts {now} on PATH now, but the result was started with {mpicc}",
            "load that version again, or start a new result: mpigauge run",
        )
    return _find_path(mpicc, options, loaded_by)


def _find_exact(name: str) -> Library:
    if not names_environment(name):
        return _find_path(name)
    name = with_absolute_paths(name)
    found = _mpicc_of(name)
    if found is not None and found.parent not in SYSTEM_FOLDERS:
        return _find_path(str(found), loaded_by=name)
    try:
        usual = find_default()
    except EnvironmentLacksError as error:
        raise EnvironmentLacksError(
            f"{name}: puts no mpicc on PATH; {error.sentence}",
            "name the modules of an MPI library and of its compiler",
        ) from None
    return inspect(Candidate(usual.mpicc, origin_of(name), options=usual.options, loaded_by=name))


def _mpicc_of(name: str) -> Path | None:
    """Return the mpicc that modules or a script put on PATH; those of tools alone leave the usual one."""
    own = search_path()
    folders = sorted(search_path(loaded(name).path), key=lambda folder: folder in own)
    programs = (folder / wrapper for folder in folders for wrapper in ("mpicc", "mpiicx", "mpiicc"))
    return next((program for program in programs if os.access(program, os.X_OK)), None)


def _find_path(name: str, options: tuple[str, ...] = (), loaded_by: str = "") -> Library:
    origin = origin_of(loaded_by) if loaded_by else "named by the user"
    return inspect(Candidate(mpicc_at(name), origin, options=options, loaded_by=loaded_by))


def mpicc_at(name: str) -> Path:
    """Return the compiler wrapper that a path names: its own, or that of the prefix of a library.

    Raises:
        UsageError: There is none.
    """
    if not name:  # not the current folder
        raise UsageError("no mpicc is named", "name the prefix of an MPI library, or its mpicc")
    path = Path(os.path.expanduser(name))  # noqa: PTH111 - an unknown ~user stays as it is
    if os.path.isdir(path):  # noqa: PTH112 - no error for loops or forbidden folders
        candidates = (path / "bin" / "mpicc", path / "mpicc")
        inside = next(filter(os.path.isfile, candidates), None)
        if inside is None:
            raise UsageError(f"{path}: has no bin/mpicc", "name the prefix of an MPI library, or its mpicc")
        path = inside
    if not os.path.isfile(path) or not os.access(path, os.X_OK):  # noqa: PTH113 - as above
        raise UsageError(f"{path}: is not a program", "name the prefix of an MPI library, or its mpicc")
    return _resolve_mpicc(path.absolute())


# ---- Where to look -------------------------------------------------------------------------------


def _candidates() -> Iterator[Candidate]:
    """Yield every mpicc once, in order of preference."""
    seen: set[Path] = set()
    for candidate in _all_candidates():
        if not os.path.isfile(candidate.mpicc):  # noqa: PTH113 - no error for loops or forbidden folders
            continue
        mpicc = _resolve_mpicc(candidate.mpicc)
        if mpicc not in seen:
            seen.add(mpicc)
            yield replace(candidate, mpicc=mpicc)


def _resolve_mpicc(mpicc: Path) -> Path:
    """Return an mpicc's own name, following links as long as they lead to something called mpicc.

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
    if chosen := _chosen():
        yield chosen
    if cray := os.environ.get("CRAYPE_DIR"):  # elsewhere, cc is no compiler of MPI
        yield Candidate(Path(cray) / "bin" / "cc", "the Cray programming environment")
    system = []
    for folder in search_path(os.environ.get("PATH", "")):
        if folder in SYSTEM_FOLDERS:
            system.append(folder)
        else:
            yield Candidate(folder / "mpicc", ON_PATH)
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
    for kind in WELL_KNOWN:
        try:
            version = importlib.metadata.version(kind.wheel)
        except importlib.metadata.PackageNotFoundError:
            continue
        yield Candidate(scripts / "mpicc", f"the wheel {kind.wheel} {version} in {sys.prefix}")
