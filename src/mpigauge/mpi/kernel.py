"""Building the kernel with a library's own mpicc, once for the same sources, compiler, flags and library."""

import json
import os
import platform
import re
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path

import msgspec

from mpigauge.cache import COMPILE_FLAGS, build_anew, build_once, cache_folder, fingerprint, with_home
from mpigauge.errors import EnvironmentLacksError
from mpigauge.mpi.kinds import identify
from mpigauge.mpi.library import Library
from mpigauge.mpi.wrapper import CannotCompileError, run_wrapper
from mpigauge.plan.patterns import KERNEL_VERSION, KernelDescription
from mpigauge.programs import at_once, end_of, run
from mpigauge.sequences import first_words
from mpigauge.vocabulary import REASON_MOST

FLAGS = COMPILE_FLAGS
LIBRARIES = ("-lm",)
PROGRAM = "mpigauge-kernel"
BUILD_TIMEOUT_S = 300
MAX_JOBS = 8
"""The most compilers at once: login nodes are shared."""
SOURCES = Path(__file__).parents[1] / "kernel"
LINK_PROBES = Path(__file__).parent / "link_probes"
"""Folder of programs that link where a library has certain calls, each of one file.

An mpi.h may declare what its library lacks. If NAME.c does not link, the kernel is compiled with
MG_LACKS_NAME.
"""

DESCRIBES = b'{"kernel":'
"""The beginning of the line in which a kernel describes itself."""

_LIST = re.compile(r"\[([^\[\]{}]*)\]")


def sources() -> list[Path]:
    """Return the C files and headers of the kernel, in a fixed order."""
    patterns = ("*.[ch]", "*/*.[ch]", "*/*.def")
    return sorted(path for pattern in patterns for path in SOURCES.glob(pattern))


def _link_probes() -> list[Path]:
    return sorted(LINK_PROBES.glob("*.c"))


def kernel_path(library: Library) -> Path:
    """Return the path of the kernel of a library, built or not."""
    # The wrapper itself, too: an upgrade in place changes neither its path nor its version words.
    wrapper = (str(library.mpicc.resolve()), _stamp(library.mpicc), *library.options, library.show)
    words = (*wrapper, library.label, *FLAGS, *_machine(), _compiler_version(library))
    return (
        cache_folder()
        / f"{library.name}-{library.version}-{fingerprint([*sources(), *_link_probes()], words)}"
        / PROGRAM
    )


def _machine() -> tuple[str, str]:
    """Return the kind of machine a program is built for: several kinds may share a home."""
    return platform.machine(), "-".join(platform.libc_ver())


@cache
def _version_of(words: tuple[str, ...], environment: tuple[tuple[str, str], ...]) -> str:
    try:
        return run_wrapper([*words, "--version"], dict(environment)).partition("\n")[0]
    except EnvironmentLacksError:
        return ""


def _compiler_version(library: Library) -> str:
    """Return the first line of the compiler's --version; empty if the wrapper does not pass it on."""
    return _version_of(tuple(library.compiler), tuple(sorted(library.environment.items())))


def _stamp(path: Path) -> str:
    status = path.resolve().stat()
    return f"{status.st_mtime_ns} {status.st_size}"


Waited = Callable[[Library], AbstractContextManager[object]]
"""Is entered while the kernel of a library is compiled, for which a user waits seconds."""


def build(library: Library, waited: Waited = nullcontext) -> Path:
    """Return the kernel of a library, and build it if it is not there yet.

    Args:
        waited: Is entered only if it is compiled now.

    Raises:
        EnvironmentLacksError: It does not compile, or the cache cannot be written.
    """

    def compiled(output: Path) -> None:
        with waited(library):
            compile_to(output, library)

    return build_once(kernel_path(library), "the kernel", compiled)


def compile_to(output: Path, library: Library, *flags: str, folder: Path = SOURCES) -> None:
    """Compile the kernel with several compilers at once, since a first `mpigauge run` waits for it.

    Args:
        flags: Further flags, for the compiler and the linker.
        folder: The folder of the sources.

    Raises:
        EnvironmentLacksError: It does not compile.
    """
    words = [*library.compiler, *FLAGS, *flags, *_lacking(library, output.parent)]
    c_files = sorted(folder.rglob("*.c"))
    jobs = min(os.cpu_count() or 1, MAX_JOBS)
    with tempfile.TemporaryDirectory(dir=output.parent) as place:
        commands = [
            [*words, "-I", str(folder), "-c", *map(str, c_files[first::jobs])] for first in range(jobs)
        ]
        # Objects fall into the current folder: there is no -o for several of them.
        at_once(
            lambda command: run_wrapper(command, library.environment, BUILD_TIMEOUT_S, Path(place)), commands
        )
        objects = [str(Path(place) / f"{path.stem}.o") for path in c_files]
        run_wrapper([*words, "-o", str(output), *objects, *LIBRARIES], library.environment, BUILD_TIMEOUT_S)


def _lacking(library: Library, folder: Path) -> list[str]:
    """Return the flags that tell the kernel which calls the library lacks, found out in a folder."""
    found = at_once(lambda probe: (probe.stem, _links(probe, library, folder)), _link_probes())
    return [f"-DMG_LACKS_{calls.upper()}" for calls, links in found if not links]


def _links(probe: Path, library: Library, folder: Path) -> bool:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        words = [*library.compiler, *FLAGS, "-o", str(Path(place) / probe.stem), str(probe)]
        try:
            run_wrapper(words, library.environment, BUILD_TIMEOUT_S, Path(place))
        except CannotCompileError:
            return False
    return True


def describe(library: Library) -> KernelDescription:
    """Return what the kernel of a library reports about itself, before MPI_Init."""
    program = build(library)
    description = _decode(program, _description_of(program, library))
    if description.kernel != KERNEL_VERSION:
        raise EnvironmentLacksError(
            f"{program}: has version {description.kernel}, this mpigauge needs version {KERNEL_VERSION}",
            "try: mpigauge kernel build --force",
        )
    return description


def stored_description(library: Library) -> str:
    """Return the text of `kernel/describe.json`: the part of a kernel's report that no library changes.

    Args:
        library: One of MPI 4, since the text names all modes.
    """
    output = json.loads(_description_of(build(library), library))
    stored = {key: output[key] for key in ("kernel", "datatypes", "visit_keys", "traits", "patterns")}
    text = json.dumps(stored, indent=1)
    return _LIST.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


def _description_of(program: Path, library: Library) -> bytes:
    try:
        done = run([str(program), "--describe"], with_home(library.environ), BUILD_TIMEOUT_S)
    except PermissionError:
        raise EnvironmentLacksError(
            f"{program}: may not be run there: its file system is mounted noexec, or its rights are changed",
            "set MPIGAUGE_KERNEL_DIR to a folder whose programs may be run",
        ) from None
    except OSError as error:
        raise _no_description_error(program, error) from None
    if done.status != 0:
        said = first_words(done.err.strip().partition("\n")[0], REASON_MOST)
        raise EnvironmentLacksError(
            f"{program}: did not start: {said or end_of(done.status)}",
            "is the library that it was built with still there? Try: mpigauge kernel build --force",
        )
    return _json_line(done.out.encode())


def _json_line(output: bytes) -> bytes:
    """Return the JSON line of a kernel; a preloaded library may print before it, even on that line."""
    begin = output.find(DESCRIBES)
    return output if begin < 0 else output[begin:].partition(b"\n")[0]


def _decode(program: Path, output: bytes) -> KernelDescription:
    try:
        return msgspec.json.decode(output, type=KernelDescription)
    except msgspec.DecodeError as error:
        raise _no_description_error(program, error) from None


def _no_description_error(program: Path, error: Exception) -> EnvironmentLacksError:
    preloaded = os.environ.get("LD_PRELOAD")
    return EnvironmentLacksError(
        f"{program}: does not describe itself: {getattr(error, 'strerror', None) or error}",
        f"a preloaded library may write between: unset LD_PRELOAD ({preloaded})"
        if preloaded
        else "try: mpigauge kernel build --force",
    )


def rebuild(library: Library) -> Path:
    """Build the kernel anew, whatever the cache holds; jobs that run the old one are not affected."""
    return build_anew(kernel_path(library), "the kernel", lambda output: compile_to(output, library))


def check_linked(library: Library, library_string: str, ranks_asked: int, ranks: int) -> None:
    """Refuse a job that ran on another library than it was built for, or as separate one-rank jobs.

    Raises:
        EnvironmentLacksError: Which two libraries do not fit, and what to do.
    """
    kind, version = identify(library_string)
    if ranks != ranks_asked:
        raise EnvironmentLacksError(
            f"{library.mpiexec if library.has_mpiexec else 'the launcher'}: started {ranks_asked} programs "
            f"of {ranks} rank each instead of one job of {ranks_asked} ranks: it is not the launcher of "
            f"{library.kind.about} {library.version}",
            f"use an mpicc that has the mpiexec of {library.kind.about} beside it: --mpi /path/to/mpicc",
        )
    if kind.name != library.kind.name or not _same_version(version, library.version):
        raise EnvironmentLacksError(
            f"{library.mpicc}: built for {library.kind.about} {library.version}, but the job ran on "
            f"{kind.about} {version}",
            "a different library is loaded at run time: check LD_LIBRARY_PATH and LD_PRELOAD, or --mpi",
        )


def _same_version(reported: str, built: str) -> bool:
    """Return whether two versions agree: Intel reports "2021.18" for 2021.18.1, and rc add letters."""
    shorter, longer = sorted((reported, built), key=len)
    return bool(shorter) and longer.startswith(shorter) and not longer[len(shorter) :][:1].isdigit()
