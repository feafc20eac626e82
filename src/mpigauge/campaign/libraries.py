"""The MPI libraries of a plan: finding them, and checking that they can do what the plan asks."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mpigauge.errors import UsageError
from mpigauge.mpi import abi, find
from mpigauge.mpi.library import Library
from mpigauge.mpi.variables import unknown_variables
from mpigauge.plan.model import Plan
from mpigauge.programs import which
from mpigauge.vocabulary import AUTO


def libraries_of(plan: Plan, where: str) -> list[Library]:
    """Return the libraries that a plan names, or the default one.

    Raises:
        UsageError: Two of them cannot be told apart, or there is one mpiexec for several.
        EnvironmentLacksError: One is missing or does not work.
    """
    found = _named_libraries(plan.mpi)
    if plan.abi:
        libraries = [abi.runner(library) for library in found or abi.default()]
    else:
        libraries = found or [find.find_default()]
    check_distinct(libraries)
    if plan.mpiexec and len(libraries) > 1:
        raise UsageError(
            f"{where}: one mpiexec cannot start {len(libraries)} libraries",
            "measure each with its own --mpiexec, or leave that out",
        )
    return [with_mpiexec(library, plan.mpiexec) for library in libraries]


def _named_libraries(names_given: Sequence[str]) -> list[Library]:
    """Return the libraries that the user names, each with its label."""
    labels, names = zip(*map(find.split_label, names_given), strict=True) if names_given else ((), ())
    libraries = find.find_each(names)
    return [replace(library, called=label) for library, label in zip(libraries, labels, strict=True)]


def check_distinct(libraries: Sequence[Library]) -> None:
    """Check that results can distinguish libraries.

    Raises:
        UsageError: Two have the same label, name and version.
    """
    known = Counter((library.called, library.label) for library in libraries)
    for library in libraries:
        if known[library.called, library.label] > 1:
            raise UsageError(
                f"{library.label} is named twice: results could not tell them apart",
                "name libraries that differ in kind or version, or give them labels: --mpi main=PATH",
            )


def with_mpiexec(library: Library, program: str) -> Library:
    """Return a library that is started by this program; by its own mpiexec if the name is empty.

    Raises:
        UsageError: There is no such program.
    """
    if not program:
        return library
    path = which(os.path.expanduser(program))  # noqa: PTH111 - an unknown ~user stays as it is
    if path is None:
        raise UsageError(f"--mpiexec {program}: is not a program", "name the path of an mpiexec")
    return replace(library, mpiexec=Path(path).absolute())


def check_can(plan: Plan, library: Library, where: str) -> None:
    """Check that mpigauge knows how to make a library do what the plan asks.

    Raises:
        UsageError: It does not, so that a result would claim what was not done.
    """
    for unsupported in _unknown(plan, library):
        raise UsageError(
            f"{where}: how {library.kind.about} is told {unsupported} is not known to mpigauge",
            "leave that out, or tell the library itself: --env NAME=VALUE, --mpi-option WORD",
        )


def _unknown(plan: Plan, library: Library) -> Iterator[str]:
    kind = library.kind
    yield from (f"--transport {one}" for one in plan.transports if one not in (AUTO, *kind.transports))
    if plan.binding not in (AUTO, *kind.bindings):
        yield f"--bind {plan.binding}"
    if plan.remote_shell and plan.launcher == AUTO and not kind.remote_shell:
        yield "--remote-shell"


def other_choices(libraries: Iterable[Library]) -> Iterator[str]:
    """Yield a sentence on each other compiler wrapper that a user who named no library may have meant."""
    for library in libraries:
        measuring = f"{library.kind.about} {library.version} of {library.prefix}"
        for other in library.passed_over:
            if other.why:
                yield f"{other.mpicc} does not work ({other.why}); measuring {measuring}"
            else:
                yield (
                    f"measuring {measuring}, which is first on PATH; {other.about} is behind it: "
                    f"--mpi {other.mpicc}"
                )


def unknown_settings(plan: Plan, kernels: Iterable[tuple[Library, Path]]) -> Iterator[str]:
    """Yield a sentence on each varied variable that a library does not know: its value would change nothing.

    Args:
        kernels: Libraries, each with its kernel.
    """
    for library, program in kernels if plan.vary else ():
        for name in unknown_variables(library, program, plan.vary):
            yield f"{library.label} does not know {name}: its values make no difference to it"
