"""The records of a result file: what was measured, how, and where. Every later step reads only these.

One JSON object a line, each beginning with its "type"; the first is a campaign. The JSON Schema and the
tables in docs/ are generated from this module; what changed from version to version is in older.py.
"""

from collections.abc import Iterable

from msgspec import Struct

import mpigauge
from mpigauge.plan.left_out import LeftOut
from mpigauge.plan.model import Cell, Int64, JobKey, Plan
from mpigauge.plan.patterns import Pattern
from mpigauge.result.checked import AboveZero, Dated, NotNegative, Number
from mpigauge.result.kernel_data import (
    ClockCheck,
    ClockModel,
    EagerCore,
    HostCards,
    Machine,
    RankPlace,
    VisitCore,
)
from mpigauge.result.surroundings import Environment, LibraryRecord
from mpigauge.units import NS
from mpigauge.vocabulary import DifferenceKind, EndReason, FailureKind

FORMAT = "mpigauge"
VERSION = 6


class Campaign(Dated, frozen=True, tag="campaign", tag_field="type"):
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
        left_out: What was asked for and cannot be measured, with the reasons; empty in older files.
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
    left_out: tuple[LeftOut, ...] = ()


def campaign_of(
    plan: Plan,
    libraries: Iterable[LibraryRecord],
    patterns: Iterable[Pattern],
    cells: Iterable[Cell],
    *,
    left_out: Iterable[LeftOut] = (),
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
        left_out=tuple(left_out),
    )


class Launch(Dated, frozen=True, tag="launch", tag_field="type"):
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
        machines: Every host that they ran on, once.
        load_average: Over one minute, before the launch; null of an imported launch.
        steal_s: Time that a hypervisor took from this machine since its start; null of an imported launch.
        startup_s: From the launcher's start to the kernel's first line; null of an imported launch.
        variables: Environment variables that mpigauge set for it.
        built_by: The library that built a kernel common to all; empty for a kernel of its own.
        reported: What the library says of the transports that it uses; empty if it does not.
        cards: The network cards of its hosts; empty in a file of an older mpigauge.
        throttled: How often the control groups of this machine's side had stopped its processes for having
            used up their time, before the launch; null if nobody looked.
        options_found: Options of the launcher that an earlier start of the job was found to need, since it
            counted fewer places than ranks; they are in the command.
        first_round_trip_ns: The very first message of the job: an empty one from rank 0 to rank 1 and back,
            before any other, with all that it sets up; -1 if there is one rank, or if nobody looked.
        warmup_bytes: The largest message of its warm-up, where an earlier launch had died in a larger one; 0
            where none was left out.
        traced_ranks: Ranks that a debugger or tracer was attached to; -1 if nobody looked.
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
    load_average: Number | None
    steal_s: Number | None
    startup_s: Number | None
    variables: dict[str, str] = {}  # noqa: RUF012 - msgspec makes a new one each time
    built_by: str = ""
    reported: str = ""
    cards: tuple[HostCards, ...] = ()
    throttled: Int64 | None = None
    machines: tuple[Machine, ...] = ()
    first_round_trip_ns: Int64 = -1
    options_found: tuple[str, ...] = ()
    warmup_bytes: Int64 = 0
    traced_ranks: Int64 = -1


class Visit(VisitCore, frozen=True, gc=False, tag="visit", tag_field="type"):
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
    at_s: Number
    elapsed_s: Number
    cpu_ns: Int64 | None
    relay_late: Number = 0.0

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
        models: One per rank; empty if the clock is shared, or after a mere check.
    """

    launch: Int64
    job: JobKey
    at_s: Number
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
        launch: The number of its launch, where several texts are of the same command.
        step: The unit of its last digit over the number; 0 if that is not known.
    """

    cell: Cell
    time_s: AboveZero
    stddev_s: NotNegative | None = None
    statistic: str = ""
    source: str = ""
    launch: Int64 = 1
    step: NotNegative = 0.0


class Unread(Struct, frozen=True, tag="unread", tag_field="type"):
    """A line of an imported text that was no row of its table, which ended there.

    Attributes:
        source: File and line.
        why: Why it was none, as what is said of the line: "has 1 word below 5 columns".
        words: What it begins with.
        below: Lines of numbers below it, which were not read, either.
    """

    source: str
    why: str
    words: str
    below: Int64 = 0


class Failure(Struct, frozen=True, tag="failure", tag_field="type"):
    """What went wrong; one cell's failure, or where cell is null a whole launch's.

    Attributes:
        launch: Number of its launch.
        kind: What it was.
        words: The first and the last that the job said; `[...]` stands for lines between them.
        id: The place of its visit in the launch's order; null if the launch itself failed.
        cell: What the visit was of; null if the launch itself failed.
        status: The launcher's exit status, which is not believed.
        job: What its launch was of; null in files of older versions.
    """

    launch: Int64
    kind: FailureKind
    words: str
    id: Int64 | None = None
    cell: Cell | None = None
    status: Int64 | None = None
    job: JobKey | None = None


class Done(Struct, frozen=True, tag="done", tag_field="type"):
    """A launch has nothing left to do.

    Attributes:
        launch: Its number.
        job: What it was a launch of.
        elapsed_s: How long it took.
        skipped: Cells that had no visit in it for lack of time.
        throttled: The count of the launch, when it had ended; null if nobody looked.
    """

    launch: Int64
    job: JobKey
    elapsed_s: Number
    skipped: tuple[Cell, ...] = ()
    throttled: Int64 | None = None


class End(Dated, frozen=True, tag="end", tag_field="type"):
    """Why measuring stopped. A file that was continued has several; one that was killed lacks the last.

    Attributes:
        reason: Why it stopped.
        elapsed_s: How long this session took.
        started: When it began: UTC, ISO 8601; empty of an import.
    """

    reason: EndReason
    elapsed_s: Number
    started: str


class Difference(Struct, frozen=True):
    """In what a session is not like the one before it.

    Attributes:
        what: The thing that differs.
        then: What it was.
        now: What it is.
    """

    what: DifferenceKind
    then: str
    now: str


class Resumed(Dated, frozen=True, tag="resumed", tag_field="type"):
    """From here on the campaign is measured otherwise than before: elsewhere, or with other programs.

    Attributes:
        started: When it went on: UTC, ISO 8601.
        mpigauge: Version of the program.
        commit: Of its source tree, if it was run from one.
        differs: What would have been refused without --anyway; empty if only hosts of the plan are others.
        libraries: The MPI libraries as they are now.
        environment: The machine that it was continued on.
        hosts: Of the plan as it goes on; empty for one machine.
    """

    started: str
    mpigauge: str
    commit: str
    differs: tuple[Difference, ...]
    libraries: tuple[LibraryRecord, ...]
    environment: Environment
    hosts: tuple[str, ...] = ()


Record = (
    Campaign | Launch | Clock | Visit | Eager | Blocked | Imported | Unread | Failure | Done | End | Resumed
)
