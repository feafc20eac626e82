"""The libraries of a plan: found, started as the plan says, and able to do what it asks of them."""

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
    """The libraries that a plan names, or the default one.

    Raises:
        UsageError: Two of them cannot be told apart, or there is one mpiexec for several.
        EnvironmentLacksError: One is missing or does not work.
    """
    found = _found(plan.mpi)
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


def _found(words: Sequence[str]) -> list[Library]:
    """The libraries of a user's words, each with the label that it is given there."""
    labels, names = zip(*map(find.split_label, words), strict=True) if words else ((), ())
    libraries = find.find_each(names)
    return [replace(library, called=label) for library, label in zip(libraries, labels, strict=True)]


def check_distinct(libraries: Sequence[Library]) -> None:
    """That results can tell them apart.

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
    """A library that is started by this program; by its own if the name is empty.

    Raises:
        UsageError: It is not a program.
    """
    if not program:
        return library
    found = which(os.path.expanduser(program))  # noqa: PTH111 - an unknown ~user stays as it is
    if found is None:
        raise UsageError(f"--mpiexec {program}: is not a program", "name the path of an mpiexec")
    return replace(library, mpiexec=Path(found).absolute())


def check_can(plan: Plan, library: Library, where: str) -> None:
    """That we know how to make a library do what the plan asks for.

    Raises:
        UsageError: We do not, so that what a result says of it would not be true.
    """
    for asked in _unknown(plan, library):
        raise UsageError(
            f"{where}: how {library.kind.about} is told {asked} is not known to mpigauge",
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
    """Sentences on compiler wrappers that somebody who named no library may have meant."""
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
    """Sentences on variables that are varied, and that a library does not know: nothing would differ.

    Args:
        kernels: Of every library, its kernel.
    """
    for library, program in kernels if plan.vary else ():
        for name in unknown_variables(library, program, plan.vary):
            yield f"{library.label} does not know {name}: its values make no difference to it"
