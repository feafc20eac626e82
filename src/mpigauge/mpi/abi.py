"""One kernel for several libraries: built against the MPI 5 ABI, which libmpi_abi.so.1 offers.

MPICH 5 has a compiler wrapper for it, mpicc_abi. What it builds runs on MPICH 5 and on Intel MPI from
2021.16, whichever the loader finds first, so that two results differ by their library alone.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from mpigauge.errors import EnvironmentLacksError, MpigaugeError
from mpigauge.mpi.find import find_all
from mpigauge.mpi.library import SEARCH, Library
from mpigauge.mpi.wrapper import ABI_COMPILER, run_wrapper

SHARED_OBJECT = "libmpi_abi.so.1"
ABI_HINT = "MPICH 5 and Intel MPI 2021.16 or newer have it: mpigauge mpi add mpich intelmpi"


def library_folder(library: Library) -> Path | None:
    """Return the folder of a library's libmpi_abi.so.1; None if it has none."""
    linked = re.findall(r"-L\"?([^\s\"]+)", library.show)
    folders = [*map(Path, linked), library.prefix / "lib", library.prefix / "lib64"]
    return next((folder for folder in folders if (folder / SHARED_OBJECT).is_file()), None)


def with_abi(libraries: Iterable[Library]) -> list[Library]:
    """Return the first library of each name and version that has the MPI 5 ABI."""
    first = {
        library.label: library
        for library in reversed([library for library in libraries if library_folder(library)])
    }
    return list(reversed(first.values()))


def compiler(libraries: Sequence[Library]) -> Library:
    """Return the library that builds the kernel: the first with an mpicc_abi, of these or of this machine.

    Returns:
        That library with the wrapper in place of its mpicc, so that its kernel is the common one.

    Raises:
        EnvironmentLacksError: There is none.
    """
    for library in (*libraries, *find_all()[0]):
        wrapper = library.mpicc.with_name(ABI_COMPILER)
        if wrapper.is_file():
            return compiler_at(library, wrapper)
    raise EnvironmentLacksError(
        f"--abi: no library here has {ABI_COMPILER}, which builds for the MPI 5 ABI",
        "MPICH 5 has it: mpigauge mpi add mpich",
    )


def compiler_at(library: Library, wrapper: Path) -> Library:
    """Return a library with this wrapper in place of its mpicc."""
    show = run_wrapper([str(wrapper), "-show"], library.environment).strip()
    return replace(library, mpicc=wrapper, show=show)


def runner(library: Library) -> Library:
    """Return a library set up to run the common kernel: the loader searches its folder first.

    Raises:
        EnvironmentLacksError: It has no libmpi_abi.so.1.
    """
    folder = library_folder(library)
    if folder is None:
        raise EnvironmentLacksError(
            f"--abi: {library.kind.about} {library.version} in {library.prefix} has no {SHARED_OBJECT}, "
            "the MPI 5 ABI",
            f"name other libraries, or leave --abi out; {ABI_HINT}",
        )
    search = os.pathsep.join(filter(None, [str(folder), library.environ.get(SEARCH, "")]))
    return replace(library, environment={**library.environment, SEARCH: search})


def default() -> list[Library]:
    """Return every library of this machine that can run the common kernel.

    Raises:
        EnvironmentLacksError: There is none.
    """
    all_libraries, troubles = find_all()
    libraries = with_abi(all_libraries)
    if libraries:
        return libraries
    raise _no_library_error(troubles)


def _no_library_error(troubles: Sequence[MpigaugeError]) -> EnvironmentLacksError:
    why = f"; one did not work: {troubles[0].sentence}" if troubles else ""
    return EnvironmentLacksError(f"--abi: no library here has {SHARED_OBJECT}, the MPI 5 ABI{why}", ABI_HINT)
