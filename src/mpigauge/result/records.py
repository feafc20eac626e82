"""The records of a result file: what was measured, how, and where. Every later step reads only these.

One JSON object a line, each beginning with its "type"; the first is a campaign. The JSON Schema in
docs/ is generated from this module.

What has changed from version to version stands in result/older.py.
"""

from typing import Annotated

from msgspec import Meta, Struct

from mpigauge.plan.model import Cell, JobKey, Plan, Positive
from mpigauge.plan.patterns import Pattern
from mpigauge.units import NS
from mpigauge.vocabulary import EndReason, FailureKind

Nanoseconds = Annotated[int, Meta(ge=0)]

FORMAT = "mpigauge"
VERSION = 5


class Environment(Struct, frozen=True):
    """The machine that the campaign was started on; empty where nobody says, as of an import.

    Attributes:
        cores: Processors that we may run on.
        caches: Level and type to size in bytes, as the system claims it.
        variables: Environment variables that MPI libraries read.
    """

    host: str = ""
    system: str = ""
    kernel: str = ""
    cpu: str = ""
    cores: int = 0
    cores_online: int = 0
    memory_bytes: int = 0
    caches: dict[str, int] = {}
    numa_nodes: int = 0
    smt: str = ""
    governor: str = ""
    turbo: str = ""
    huge_pages: str = ""
    clock_source: str = ""
    hypervisor: str = ""
    python: str = ""
    user_is_root: bool = False
    variables: dict[str, str] = {}


class Campaign(Struct, frozen=True, tag="campaign", tag_field="type"):
    """The first line: what was asked for.

    Attributes:
        mpigauge: Its version.
        commit: Of its source tree, if it was run from one.
        patterns: What the kernel says of the patterns that the plan uses.
        cells: All cells, in the order of the plan.
        started: UTC, ISO 8601.
    """

    format: str
    version: int
    mpigauge: str
    commit: str
    started: str
    plan: Plan
    libraries: tuple["LibraryRecord", ...]
    patterns: tuple[Pattern, ...]
    cells: tuple[Cell, ...]
    environment: Environment


class LibraryRecord(Struct, frozen=True):
    """An MPI library as it was found and the kernel that it runs.

    Attributes:
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


class RankPlace(Struct, frozen=True):
    """Where a rank ran, and what its clock costs.

    Attributes:
        cpus: The processors it might run on: "0-3".
        cpu: The one it ran on when asked.
    """

    host: str
    cpus: str
    cpu: int
    clock_step_ns: int
    clock_cost_ns: int
    clock_cost_p999_ns: int
    clock_zero_share: float


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

    number: int
    part: int
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


class VisitCore(Struct, frozen=True, kw_only=True):
    """What the kernel says of a visit and the result file keeps as it is.

    Attributes:
        batch: Calls in one sample.
        ops: Reported operations in one sample; sample / ops is the time of one.
        pool_bytes: What a cold visit walks through on each side; 0 if warm.
        trial_ns: Single calls on the first visit of the launch; the very first message first.
        warmup_ns: Samples that do not count.
        samples_ns: The samples.
        correlation_time: In samples, of the cell so far in this launch.
        effective: Independent samples that those of the cell so far in this launch are worth.
        half_width: Relative, of the interval of the median within the launch; null if not known.
        corrupt: What was wrong with the payload; empty if it was right.
        net_bytes: What the network interfaces of rank 0's host received during net_calls calls, or sent if
            that is more: the proof of the transport.
        net_calls: The calls that were counted for it.
        lead_ns: Of ranks that start together: how long before the start it was announced.
        late: Numbers of the samples, from 0, before whose start not every rank had come; in no estimate.
        skew_ns: One a sample: last start - first start.
        root_ns: One a sample: end - start at the root.
        local_ns: One a sample: the median over ranks of end - start.
        pure_ns: Samples of the same operation without the computation that it is to hide behind; without
            those that were late.
        work_ns: What that computation takes alone.
    """

    batch: Positive
    ops: Positive
    pool_bytes: int
    trial_ns: list[Nanoseconds]
    warmup_ns: list[Nanoseconds]
    samples_ns: Annotated[list[Nanoseconds], Meta(min_length=1)]
    correlation_time: float = 1.0
    effective: float = 0.0
    half_width: float | None = None
    corrupt: str = ""
    net_bytes: int = 0
    net_calls: int = 0
    lead_ns: int = 0
    late: list[int] = []
    skew_ns: list[Nanoseconds] = []
    root_ns: list[int] = []
    local_ns: list[int] = []
    pure_ns: list[Nanoseconds] = []
    work_ns: int = 0

    def __post_init__(self) -> None:
        """Refuses lists that do not fit the samples.

        Raises:
            ValueError: Which makes a line of the journal none, and one of a result file damaged.
        """
        rounds = len(self.samples_ns)
        if {len(values) for values in (self.skew_ns, self.root_ns, self.local_ns)} not in ({0}, {rounds}):
            raise ValueError(f"skew_ns, root_ns and local_ns do not all have {rounds} entries")
        if any(not 0 <= index < rounds for index in self.late):
            raise ValueError(f"late names a sample that is none of {rounds}")


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

    launch: int
    id: int
    cell: Cell
    at_s: float
    elapsed_s: float
    cpu_ns: int | None
    relay_late: float = 0.0

    @property
    def operation_s(self) -> float:
        """Time of one operation for every nanosecond of a sample."""
        return NS / self.ops

    @property
    def first_s(self) -> float:
        """Time of one operation of the first round of a cell in its launch; 0 if it is not of this visit."""
        return self.trial_ns[0] * NS * self.batch / self.ops if self.trial_ns else 0.0


class ClockCheck(Struct, frozen=True):
    """Hard bounds of how far a rank's global clock is ahead of that of rank 0."""

    rank: int
    low_ns: int
    high_ns: int


class ClockModel(Struct, frozen=True):
    """What makes a rank's clock the global one: t - offset_ns - slope * (t - base_ns).

    Attributes:
        bound_ns: Of its error at base_ns; it grows by bound_slope for every nanosecond after that.
    """

    base_ns: int
    offset_ns: float
    slope: float
    bound_ns: float
    bound_slope: float


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

    launch: int
    job: JobKey
    at_s: float
    shared: bool
    checks: tuple[ClockCheck, ...]
    models: tuple[ClockModel, ...] = ()


class EagerCore(Struct, frozen=True, kw_only=True):
    """What the kernel says of an eager limit and the result file keeps as it is.

    Attributes:
        found: False if there is none up to max_bytes, or if it moved with the polling time.
        control_held: The same probe with MPI_Issend never completed, as it must not.
        limit_bytes: Largest message that completed before it was received.
        longer_bytes: The same with longer polling.
        max_bytes: The largest that was tried.
        probes: How many were made.
    """

    found: bool
    control_held: bool
    limit_bytes: int
    longer_bytes: int
    max_bytes: int
    probes: int


class Eager(EagerCore, frozen=True, tag="eager", tag_field="type"):
    """The eager limit as one launch found it.

    Attributes:
        launch: Number of its launch.
        id: Its place in the launch's order.
        cell: The whole cell.
    """

    launch: int
    id: int
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

    launch: int
    id: int
    cell: Cell
    found: bool
    limit_bytes: int


class Imported(Struct, frozen=True, tag="imported", tag_field="type"):
    """A time that others have printed. Of its samples nothing is known, so no interval can be said.

    Attributes:
        time_s: Of one operation, as mpigauge counts it.
        stddev_s: If they have printed that, too.
        statistic: What the time is of their samples: mean, best of three; empty if they do not say.
        source: File and line that it is from.
    """

    cell: Cell
    time_s: Annotated[float, Meta(gt=0)]
    stddev_s: Annotated[float, Meta(ge=0)] | None = None
    statistic: str = ""
    source: str = ""


class Failure(Struct, frozen=True, tag="failure", tag_field="type"):
    """What went wrong; one cell's failure, or with cell None a whole launch's.

    Attributes:
        kind: What it was.
        words: The last that the job said.
        status: The launcher's exit status, which is not believed.
    """

    launch: int
    kind: FailureKind
    words: str
    id: int | None = None
    cell: Cell | None = None
    status: int | None = None


class Done(Struct, frozen=True, tag="done", tag_field="type"):
    """A launch has nothing left to do.

    Attributes:
        launch: Its number.
        job: What it was a launch of.
        elapsed_s: How long it took.
        skipped: Cells that had no visit in it for lack of time.
    """

    launch: int
    job: JobKey
    elapsed_s: float
    skipped: tuple[Cell, ...] = ()


class End(Struct, frozen=True, tag="end", tag_field="type"):
    """Why measuring stopped: converged, launches, budget, interrupted, failed or imported."""

    reason: EndReason
    elapsed_s: float
    started: str


Record = Campaign | Launch | Clock | Visit | Eager | Blocked | Imported | Failure | Done | End
