"""The records of a result file: what was measured, how, and where. Every later step reads only these.

One JSON object a line, each beginning with its "type"; the first is a campaign. The JSON Schema and the
tables in docs/ are generated from this module; what changed from version to version is in older.py.
"""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct

import mpigauge
from mpigauge.plan.model import Cell, Int64, JobKey, Plan
from mpigauge.plan.patterns import Pattern
from mpigauge.result.kernel_data import ClockCheck, ClockModel, EagerCore, RankPlace, VisitCore
from mpigauge.units import NS
from mpigauge.vocabulary import EndReason, FailureKind

FORMAT = "mpigauge"
VERSION = 5


class Environment(Struct, frozen=True):
    """The machine that the campaign was started on; empty where nobody says, as of an import.

    Attributes:
        host: Its name.
        system: Operating system and architecture.
        kernel: Release of the operating system's kernel.
        cpu: Model of the processor.
        cores: Processors that we may run on.
        cores_online: Processors that there are.
        memory_bytes: All of its memory.
        caches: Level and type to size in bytes, as the system claims it.
        cpu_groups: Processors that share a "core" or the last cache, "L3": lists such as "0-3,8".
        numa_nodes: How many it has.
        smt: on or off, where the system says it.
        governor: What sets the frequency of the processors.
        turbo: on or off, where the system says it.
        huge_pages: When memory gets them by itself.
        clock_source: What the system's clock is made of.
        hypervisor: Its kind, or yes; empty on a real machine.
        python: Its version.
        user_is_root: Whether mpigauge was run by root.
        variables: Environment variables that MPI libraries read; never those that look like secrets.
    """

    host: str = ""
    system: str = ""
    kernel: str = ""
    cpu: str = ""
    cores: Int64 = 0
    cores_online: Int64 = 0
    memory_bytes: Int64 = 0
    caches: dict[str, Int64] = {}
    cpu_groups: dict[str, list[str]] = {}
    numa_nodes: Int64 = 0
    smt: str = ""
    governor: str = ""
    turbo: str = ""
    huge_pages: str = ""
    clock_source: str = ""
    hypervisor: str = ""
    python: str = ""
    user_is_root: bool = False
    variables: dict[str, str] = {}


class LibraryRecord(Struct, frozen=True):
    """An MPI library as it was found and the kernel that it runs.

    Attributes:
        name: The kind of library.
        version: Its version.
        standard: The version of MPI that it is of.
        mpicc: The path of its compiler wrapper.
        mpiexec: The path of its launcher.
        origin: How it was found.
        show: What its compiler wrapper runs.
        flags: The options that the kernel was compiled with.
        kernel: The path of the kernel.
        built_by: The library that built a kernel common to all; empty for a kernel of its own.
        compiler: The wrapper that did.
    """

    name: str
    version: str
    standard: str = ""
    mpicc: str = ""
    mpiexec: str = ""
    origin: str = ""
    show: str = ""
    flags: str = ""
    kernel: str = ""
    built_by: str = ""
    compiler: str = ""


class Campaign(Struct, frozen=True, tag="campaign", tag_field="type"):
    """The first line: what was asked for.

    Attributes:
        format: Always mpigauge.
        version: Of the format.
        mpigauge: Version of the program.
        commit: Of its source tree, if it was run from one.
        started: UTC, ISO 8601; empty of an import.
        plan: What was asked for, with all options.
        libraries: The MPI libraries that were measured.
        patterns: What the kernel says of the patterns that the plan uses.
        cells: All cells, in the order of the plan.
        environment: The machine that it was started on.
    """

    format: str
    version: Int64
    mpigauge: str
    commit: str
    started: str
    plan: Plan
    libraries: tuple[LibraryRecord, ...]
    patterns: tuple[Pattern, ...]
    cells: tuple[Cell, ...]
    environment: Environment


def campaign_of(
    plan: Plan,
    libraries: Iterable[LibraryRecord],
    patterns: Iterable[Pattern],
    cells: Iterable[Cell],
    *,
    started: str = "",
    commit: str = "",
    environment: Environment | None = None,
) -> Campaign:
    """The first record of a file that is written by this mpigauge.

    Args:
        patterns: What the kernel has said of them; those that no cell is of are left out.
        cells: In the order of the tables.
        environment: None if nobody says where it was.
    """
    cells = tuple(cells)
    used = {cell.pattern for cell in cells}
    return Campaign(
        format=FORMAT,
        version=VERSION,
        mpigauge=mpigauge.__version__,
        commit=commit,
        started=started,
        plan=plan,
        libraries=tuple(libraries),
        patterns=tuple(pattern for pattern in patterns if pattern.name in used),
        cells=cells,
        environment=environment or Environment(),
    )


class Launch(Struct, frozen=True, tag="launch", tag_field="type"):
    """One mpiexec; of an imported one nothing is known but what its ranks said.

    Attributes:
        number: Launches of one number are one replication.
        part: Counts relaunches of what a failure or an interruption left of it.
        job: What it is a launch of.
        started: UTC, ISO 8601; empty of an imported launch.
        command: The launcher's words; empty of an imported launch.
        library: What MPI_Get_library_version says.
        mpi_standard: The version of MPI that the library says it is of.
        clock: The clock that the kernel reads.
        ranks_at: Where each rank ran.
        load_average: Over one minute, before the launch; null of an imported launch.
        steal_s: Time that a hypervisor took from this machine since its start; null of an imported launch.
        startup_s: From the launcher's start to the kernel's first line; null of an imported launch.
        variables: Environment variables that mpigauge set for it.
        built_by: The library that built a kernel common to all; empty for a kernel of its own.
        reported: What the library says of the transports that it uses; empty if it does not.
    """

    number: Int64
    part: Int64
    job: JobKey
    started: str
    command: tuple[str, ...]
    library: str
    mpi_standard: str
    clock: str
    ranks_at: tuple[RankPlace, ...]
    load_average: float | None
    steal_s: float | None
    startup_s: float | None
    variables: dict[str, str] = {}
    built_by: str = ""
    reported: str = ""


class Visit(VisitCore, frozen=True, tag="visit", tag_field="type"):
    """Samples of a cell: a short uninterrupted run of rounds.

    Attributes:
        launch: Number of its launch.
        id: Its place in the launch's order.
        cell: The whole cell.
        at_s: Its begin after the launch's start.
        elapsed_s: How long it took.
        cpu_ns: User and system time of all ranks taking part, over samples_ns; null if not known.
        relay_late: Of the packets that a lab carried meanwhile, the share that was more than 50 us late.
    """

    launch: Int64
    id: Int64
    cell: Cell
    at_s: float
    elapsed_s: float
    cpu_ns: Int64 | None
    relay_late: float = 0.0

    @property
    def operation_s(self) -> float:
        """Time of one operation for every nanosecond of a sample."""
        return NS / self.ops

    @property
    def first_s(self) -> float:
        """Time of one operation of the first round of a cell in its launch; 0 if it is not of this visit."""
        return self.trial_ns[0] * NS * self.batch / self.ops if self.trial_ns else 0.0


class Clock(Struct, frozen=True, tag="clock", tag_field="type"):
    """The global clock of a launch: how well it holds, and after it was learned what it is.

    Attributes:
        launch: Number of its launch.
        job: What that is a launch of.
        at_s: After the launch's start.
        shared: All ranks read one clock, so that there is nothing to learn.
        checks: Of some ranks.
        models: One a rank; empty if the clock is shared, or after a mere check.
    """

    launch: Int64
    job: JobKey
    at_s: float
    shared: bool
    checks: tuple[ClockCheck, ...]
    models: tuple[ClockModel, ...] = ()


class Eager(EagerCore, frozen=True, tag="eager", tag_field="type"):
    """The eager limit as one launch found it.

    Attributes:
        launch: Number of its launch.
        id: Its place in the launch's order.
        cell: The whole cell.
    """

    launch: Int64
    id: Int64
    cell: Cell


class Blocked(Struct, frozen=True, tag="blocked", tag_field="type"):
    """A visit that was not started, since it would deadlock above the eager limit.

    Attributes:
        launch: Number of its launch.
        id: Its place in the launch's order.
        cell: The whole cell.
        found: False if there is no limit up to the largest message that was tried.
        limit_bytes: The limit; else the largest message that completed before it was received.
    """

    launch: Int64
    id: Int64
    cell: Cell
    found: bool
    limit_bytes: Int64


class Imported(Struct, frozen=True, tag="imported", tag_field="type"):
    """A time that others have printed, without samples and so without an interval.

    Attributes:
        cell: What it is a time of.
        time_s: Of one operation, as mpigauge counts it.
        stddev_s: Null unless they have printed that, too.
        statistic: What the time is of their samples: mean, best of three; empty if they do not say.
        source: File and line that it is from.
    """

    cell: Cell
    time_s: Annotated[float, Meta(gt=0)]
    stddev_s: Annotated[float, Meta(ge=0)] | None = None
    statistic: str = ""
    source: str = ""


class Failure(Struct, frozen=True, tag="failure", tag_field="type"):
    """What went wrong; one cell's failure, or where cell is null a whole launch's.

    Attributes:
        launch: Number of its launch.
        kind: What it was.
        words: The last that the job said.
        id: The place of its visit in the launch's order; null if the launch itself failed.
        cell: What the visit was of; null if the launch itself failed.
        status: The launcher's exit status, which is not believed.
    """

    launch: Int64
    kind: FailureKind
    words: str
    id: Int64 | None = None
    cell: Cell | None = None
    status: Int64 | None = None


class Done(Struct, frozen=True, tag="done", tag_field="type"):
    """A launch has nothing left to do.

    Attributes:
        launch: Its number.
        job: What it was a launch of.
        elapsed_s: How long it took.
        skipped: Cells that had no visit in it for lack of time.
    """

    launch: Int64
    job: JobKey
    elapsed_s: float
    skipped: tuple[Cell, ...] = ()


class End(Struct, frozen=True, tag="end", tag_field="type"):
    """Why measuring stopped. A file that was continued has several; one that was killed lacks the last.

    Attributes:
        reason: Why it stopped.
        elapsed_s: How long this session took.
        started: When it began: UTC, ISO 8601; empty of an import.
    """

    reason: EndReason
    elapsed_s: float
    started: str


Record = Campaign | Launch | Clock | Visit | Eager | Blocked | Imported | Failure | Done | End
