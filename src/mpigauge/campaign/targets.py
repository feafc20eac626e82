"""What a campaign runs on: libraries with their kernels, and the cells that each of them measures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import mpigauge
from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.mpi import find, kernel
from mpigauge.mpi.library import Library
from mpigauge.plan.expand import cells_of, check_memory, check_ranks
from mpigauge.plan.model import Cell, Plan
from mpigauge.plan.patterns import Description
from mpigauge.result import environment
from mpigauge.result.records import FORMAT, VERSION, Campaign, LibraryRecord

LLC_MULTIPLE = 4
POOL_LEAST_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class Target:
    """A library with its kernel, what that can do, and what it is to measure."""

    library: Library
    program: Path
    description: Description
    cells: list[Cell]


def targets_of(plan: Plan, where: str) -> list[Target]:
    """Finds the libraries, builds the kernels, expands and checks the cells.

    Raises:
        UsageError: The plan asks for what cannot be.
        EnvironmentLacksError: A library is missing or does not work.
    """
    check_ranks(plan, environment.cores_allowed(), where)
    libraries = [find.find(name) for name in plan.mpi] or [find.find_default()]
    targets = [_target(plan, library, where) for library in _distinct(libraries)]
    available = environment.memory_available_bytes()
    for target in targets:
        check_memory(target.cells, target.description, pool_bytes(), available, where)
    return targets


def _distinct(libraries: Sequence[Library]) -> list[Library]:
    labels = Counter(library.label for library in libraries)
    for library in libraries:
        if labels[library.label] > 1:
            raise UsageError(
                f"{library.label} is named twice: results could not tell them apart",
                "name libraries of different kind or version",
            )
    return list(libraries)


def _target(plan: Plan, library: Library, where: str) -> Target:
    program = kernel.build(library)
    description = kernel.describe(library)
    cells = cells_of(plan, description, library.name, library.version, where)
    return Target(library, program, description, cells)


def pool_bytes() -> int:
    """What cold visits walk through: four times the largest cache (method 1.4)."""
    return max(POOL_LEAST_BYTES, LLC_MULTIPLE * max(environment.caches().values(), default=0))


def campaign_record(plan: Plan, targets: Sequence[Target]) -> Campaign:
    """The first line of the result file."""
    used = {cell.pattern for target in targets for cell in target.cells}
    return Campaign(
        format=FORMAT,
        version=VERSION,
        mpigauge=mpigauge.__version__,
        commit=environment.commit(),
        started=now(),
        plan=plan,
        libraries=tuple(_library_record(target) for target in targets),
        patterns=tuple(p for p in targets[0].description.patterns if p.name in used),
        cells=tuple(cell for target in targets for cell in target.cells),
        environment=environment.environment(),
    )


def _library_record(target: Target) -> LibraryRecord:
    library = target.library
    return LibraryRecord(
        name=library.name,
        version=library.version,
        standard=library.standard,
        mpicc=str(library.mpicc),
        mpiexec=str(library.mpiexec),
        origin=library.origin,
        show=library.show,
        flags=" ".join(kernel.FLAGS),
        kernel=str(target.program),
    )


def targets_again(campaign: Campaign) -> list[Target]:
    """The targets of a result file that is to be continued: the same libraries, at their places.

    Raises:
        EnvironmentLacksError: A library is gone or is another now.
    """
    return [_target_again(campaign, record) for record in campaign.libraries]


def _target_again(campaign: Campaign, record: LibraryRecord) -> Target:
    library = find.find(record.mpicc)
    if (library.name, library.version) != (record.name, record.version):
        raise EnvironmentLacksError(
            f"{record.mpicc}: is {library.label} now, but the result was begun with "
            f"{record.name}=={record.version}",
            "install that version again, or start a new result: mpigauge run",
        )
    cells = [c for c in campaign.cells if (c.mpi, c.mpi_version) == (record.name, record.version)]
    return Target(library, kernel.build(library), kernel.describe(library), cells)


def now() -> str:
    """UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
