"""The targets of a campaign: libraries with their kernels, and the cells that each of them measures."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace as with_fields

from mpigauge.campaign.lab import context
from mpigauge.campaign.libraries import check_can, check_distinct, libraries_of, with_mpiexec
from mpigauge.errors import EnvironmentLacksError
from mpigauge.mpi import abi, find, kernel
from mpigauge.mpi.configuration import configuration_of
from mpigauge.mpi.install.digest import digest, wheel_of
from mpigauge.mpi.kernel import Waited
from mpigauge.mpi.library import Library, with_reported_kind
from mpigauge.mpi.parameter_files import parameter_files
from mpigauge.plan.buffers import too_large
from mpigauge.plan.cells import Expanded, cells_of, check_ranks, check_remaining, without
from mpigauge.plan.hosts import places_of
from mpigauge.plan.kernel_plan import POOL_CACHES
from mpigauge.plan.left_out import LeftOut, with_sets
from mpigauge.plan.model import Cell, JobKey, Plan, by_job
from mpigauge.plan.patterns import KernelDescription
from mpigauge.plan.strings import LONG_MOST, SHORT_MOST
from mpigauge.result import environment, source_tree
from mpigauge.result.home_paths import expanded
from mpigauge.result.provenance import LibraryRecord
from mpigauge.result.records import Campaign, campaign_of
from mpigauge.sequences import first_words

MIN_POOL_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class Target:
    """A library with its kernel, the kernel's description, and the cells to measure.

    Attributes:
        compiler: The library whose wrapper built a common kernel of the ABI; None for a kernel of its own.
        left_out: Cells that were asked for and cannot be measured.
    """

    library: Library
    program: Path
    description: KernelDescription
    cells: list[Cell]
    compiler: Library | None = None
    left_out: tuple[LeftOut, ...] = ()

    @property
    def built_by(self) -> str:
        """The library that built a common kernel; empty for a kernel of the library's own."""
        return self.compiler.label if self.compiler else ""


def targets_of(
    plan: Plan, where: str, *, elsewhere: bool = False, waited: Waited = nullcontext
) -> list[Target]:
    """Find the libraries, build the kernels, and expand and check the cells.

    Args:
        elsewhere: Whether it is to run on machines whose cores and memory are not known here.
        waited: Is entered while a kernel is compiled.

    Raises:
        UsageError: Nothing that the plan asks for is possible.
        EnvironmentLacksError: A library is missing or does not work.
    """
    if not elsewhere:
        check_ranks(plan, environment.cores_allowed(), where)
    libraries = libraries_of(plan, where)
    compiler = abi.compiler(libraries) if plan.abi else None
    targets = [_target(plan, library, compiler, where, waited) for library in libraries]
    check_distinct([target.library for target in targets])
    return targets if elsewhere else [_without_too_large(target, plan, where) for target in targets]


def _without_too_large(target: Target, plan: Plan, where: str) -> Target:
    """Return the target without the cells that do not fit into the memory of its hosts."""
    pool, free = pool_bytes(), environment.memory_available_bytes()
    too_large_cells = [
        left_out_cell
        for key, cells in by_job(target.cells).items()
        for left_out_cell in too_large(cells, target.description, pool, free * _machines(plan, key, where))
    ]
    cells, gone = without(target.cells, with_sets(too_large_cells, target.cells))
    check_remaining(Expanded(cells, [*gone, *target.left_out]), target.description, where)
    return replace(target, cells=cells, left_out=(*target.left_out, *gone))


def _machines(plan: Plan, key: JobKey, where: str) -> int:
    """Return how many machines have memory for the ranks of a job: ours in a lab, else each host."""
    places = places_of(key.placement, plan.hosts, key.ranks, where)
    return 1 if context.current() is not None else max(1, len(set(places)))


def _target(plan: Plan, library: Library, compiler: Library | None, where: str, waited: Waited) -> Target:
    program, description = _kernel(library, compiler, waited)
    library = with_reported_kind(library, description.library)
    check_can(plan, library, where)
    cells, left_out = cells_of(plan, description, library.name, library.version, where, library.called)
    return Target(library, program, description, cells, compiler, tuple(left_out))


def _kernel(
    library: Library, compiler: Library | None, waited: Waited = nullcontext
) -> tuple[Path, KernelDescription]:
    """Build and describe the library's own kernel, or the common one as this library will run it."""
    if compiler is None:
        return kernel.build(library, waited), kernel.describe(library)
    # Built before the loader's path is set: the linker uses it, too, and would link the other library.
    program = kernel.build(compiler, waited)
    return program, kernel.describe(replace(compiler, environment=library.environment))


def pool_bytes() -> int:
    """Return the bytes that cold visits walk through if the ranks' hosts have caches like this machine's."""
    return max(MIN_POOL_BYTES, POOL_CACHES * max(environment.caches().values(), default=0))


def campaign_record(plan: Plan, targets: Sequence[Target]) -> Campaign:
    """Return the first record of the result file."""
    return campaign_of(
        with_fields(
            plan,
            variables=environment.without_secrets(plan.variables),
            launcher=_recorded(plan.launcher),
            remote_shell=_recorded(plan.remote_shell),
            mpi_options=environment.words_without_secrets(plan.mpi_options),
        ),
        map(library_record, targets),
        targets[0].description.patterns,
        (cell for target in targets for cell in target.cells),
        left_out=(cell_left_out for target in targets for cell_left_out in target.left_out),
        started=utc_now(),
        commit=source_tree.commit(),
        environment=environment.environment(),
    )


def _recorded(words: str) -> str:
    """Return a launcher or remote shell as it is recorded: one with possible secrets cannot be used again."""
    return words if environment.text_without_secrets(words) == words else environment.HIDDEN


def library_record(target: Target) -> LibraryRecord:
    """Return the record of a library and its kernel."""
    library = target.library
    return LibraryRecord(
        name=library.name,
        version=library.version,
        label=library.called,
        standard=library.standard,
        mpicc=str(library.mpicc),
        mpicc_options=environment.words_without_secrets(library.options),
        mpiexec=str(library.mpiexec) if library.has_mpiexec else "",
        origin=library.origin,
        show=environment.text_without_secrets(library.show)[:LONG_MOST],
        flags=" ".join(kernel.FLAGS),
        kernel=str(target.program),
        built_by=target.built_by,
        compiler=str(target.compiler.mpicc) if target.compiler else "",
        digest=digest(library.prefix),
        configuration={
            what: environment.command_without_secrets(line)
            for what, line in configuration_of(library).items()
        },
        parameter_files={
            environment.text_without_secrets(path): environment.without_secrets(settings)
            for path, settings in parameter_files(library).items()
        },
        wheel=wheel_of(library.prefix, library.kind.wheel),
        loaded_by=library.loaded_by,
        environment=environment.changes_recorded(library.environment) if library.loaded_by else {},
        other_mpicc=str(library.passed_over[0].mpicc) if library.passed_over else "",
        other_fault=first_words(library.passed_over[0].why, SHORT_MOST) if library.passed_over else "",
    )


def targets_of_campaign(campaign: Campaign) -> list[Target]:
    """Return the targets of a result file that is to be continued: the same libraries, at their paths.

    Raises:
        EnvironmentLacksError: A library is gone or has changed.
    """
    return [_target_of_record(campaign, expanded(record)) for record in campaign.libraries]


def _target_of_record(campaign: Campaign, record: LibraryRecord) -> Target:
    library = with_mpiexec(
        find.find_with(record.mpicc, record.mpicc_options, record.loaded_by), campaign.plan.mpiexec
    )
    compiler = None
    if record.compiler:
        library, compiler = abi.runner(library), _compiler_of_record(record)
    program, description = _kernel(library, compiler)
    library = with_reported_kind(library, description.library)
    if (library.name, library.version) != (record.name, record.version):
        raise EnvironmentLacksError(
            f"{record.mpicc}: is {library.label} now, but the result was started with "
            f"{record.name}=={record.version}",
            "install that version again, or start a new result: mpigauge run",
        )
    library = replace(library, called=record.label)
    identity = (record.name, record.version, record.label)
    cells = [c for c in campaign.cells if (c.mpi, c.mpi_version, c.label) == identity]
    return Target(library, program, description, cells, compiler)


def _compiler_of_record(record: LibraryRecord) -> Library:
    wrapper = Path(record.compiler)
    compiler = abi.compiler_at(find.find(str(wrapper.with_name("mpicc"))), wrapper)
    if compiler.label != record.built_by:
        raise EnvironmentLacksError(
            f"{wrapper}: belongs to {compiler.label} now, but the result was started with a kernel that "
            f"{record.built_by} built",
            "install that version again, or start a new result: mpigauge run",
        )
    return compiler


def utc_now() -> str:
    """Return the current time: UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
