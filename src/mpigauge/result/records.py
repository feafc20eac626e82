"""The records of a result file: what was measured, how, and where. All analyses read only these.

One JSON object per line, each beginning with its "type"; the first is a campaign. The JSON Schema and the
tables in docs/ are generated from this module; changes between versions are in older_versions.py.
"""

from collections.abc import Iterable

from msgspec import Struct

import mpigauge
from mpigauge.plan.left_out import LeftOut
from mpigauge.plan.model import Cell, Int64, JobKey, Plan
from mpigauge.plan.patterns import Pattern
from mpigauge.plan.strings import LongText, ShortText
from mpigauge.result.constraints import AboveZero, Dated, NotNegative, Number
from mpigauge.result.kernel_data import (
    ClockCheck,
    ClockModel,
    CrossingSamples,
    EagerCore,
    HostCards,
    Machine,
    RankPlace,
    VisitCore,
)
from mpigauge.result.provenance import Environment, LibraryRecord
from mpigauge.units import NS
from mpigauge.vocabulary import DifferenceKind, EndReason, FailureKind

FORMAT = "mpigauge"
VERSION = 6


class Campaign(Dated, frozen=True, tag="campaign", tag_field="type"):
    """The first line: what was asked for.

    Attributes:
        format: Always mpigauge.
        version: Version of the format.
        mpigauge: Version of the program.
        commit: Commit of its source tree, if it was run from one.
        started: UTC, ISO 8601; empty for an import.
        plan: What was asked for, with all options.
        libraries: The MPI libraries that were measured.
        patterns: The kernel's description of the patterns that the plan uses.
        cells: All cells, in the order of the plan.
        environment: The machine that it was started on.
        left_out: Cells asked for that cannot be measured, with the reasons; empty in older files.
        without: What was replaced in a copy that is passed on: names; empty for a result as it was measured.
    """

    format: ShortText
    version: Int64
    mpigauge: ShortText
    commit: ShortText
    started: ShortText
    plan: Plan
    libraries: tuple[LibraryRecord, ...]
    patterns: tuple[Pattern, ...]
    cells: tuple[Cell, ...]
    environment: Environment
    left_out: tuple[LeftOut, ...] = ()
    without: tuple[ShortText, ...] = ()


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
    """Return the first record of a file that this mpigauge writes.

    Args:
        patterns: The kernel's descriptions; those without cells are left out.
        cells: All cells, in the order of the tables.
        environment: The machine; None if not known.
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
    """One mpiexec; of an imported one only what its ranks printed is known.

    Attributes:
        number: Launches with the same number are one replication.
        part: Counts the starts of the launch after failures and interruptions.
        job: The identity of the launch.
        started: UTC, ISO 8601; empty for an imported launch.
        command: The launcher's command line; empty for an imported launch.
        library: The result of MPI_Get_library_version.
        mpi_standard: The version of MPI that the library claims.
        clock: The clock that the kernel reads.
        ranks_at: Where each rank ran.
        machines: The hosts of the ranks, each once.
        load_average: Load average over one minute before the launch; null for an imported launch.
        steal_s: Steal time of this machine since its boot; null for an imported launch.
        startup_s: Time from the launcher's start to the kernel's first line; null for an imported launch.
        variables: Environment variables that mpigauge set for it.
        built_by: The library that built a common kernel; empty for a kernel of its own.
        reported: The library's report of the transports that it uses; empty if there is none.
        cards: The network cards of its hosts; empty in a file of an older mpigauge.
        throttled: How often the control groups of the starting machine had throttled its processes before
            the launch; null if not known.
        options_found: Launcher options that an earlier start of the job was found to need, as the launcher
            counted fewer slots than ranks; they are in the command.
        first_round_trip_ns: Time of the very first message of the job: an empty one from rank 0 to rank 1
            and back, with the connections that it sets up; -1 for one rank, or if not known.
        init_ns: Time of MPI_Init on the rank that was longest in it; -1 if not known.
        init_median_ns: Time of MPI_Init, median over ranks; -1 if not known.
        warmup_bytes: The largest message of its warm-up, if an earlier launch had died in its warm-up; 0 for
            no limit.
        traced_ranks: Ranks that a debugger or tracer was attached to; -1 if not known.
    """

    number: Int64
    part: Int64
    job: JobKey
    started: ShortText
    command: tuple[LongText, ...]
    library: LongText
    mpi_standard: ShortText
    clock: ShortText
    ranks_at: tuple[RankPlace, ...]
    load_average: Number | None
    steal_s: Number | None
    startup_s: Number | None
    variables: dict[ShortText, LongText] = {}  # noqa: RUF012 - msgspec makes a new one each time
    built_by: ShortText = ""
    reported: LongText = ""
    cards: tuple[HostCards, ...] = ()
    throttled: Int64 | None = None
    machines: tuple[Machine, ...] = ()
    first_round_trip_ns: Int64 = -1
    options_found: tuple[LongText, ...] = ()
    warmup_bytes: Int64 = 0
    traced_ranks: Int64 = -1
    init_ns: Int64 = -1
    init_median_ns: Int64 = -1


class Visit(VisitCore, frozen=True, gc=False, tag="visit", tag_field="type"):
    """Samples of a cell: a short uninterrupted run of rounds.

    Attributes:
        launch: Number of its launch.
        id: Its place in the launch's order.
        cell: The whole cell.
        at_s: Begin in seconds after the launch's start.
        elapsed_s: Duration in seconds.
        cpu_ns: User and system time of all ranks taking part, over samples_ns; null if not known.
        relay_late: Share of the packets of a lab during the visit that were more than 50 us late.
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
        """Seconds of one operation per nanosecond of a sample."""
        return NS / self.ops

    @property
    def first_s(self) -> float:
        """Seconds of one operation in the first round of the cell in its launch; 0 in its later visits."""
        return self.trial_ns[0] * NS * self.batch / self.ops if self.trial_ns else 0.0


class Clock(Struct, frozen=True, tag="clock", tag_field="type"):
    """The global clock of a launch: a check of its accuracy, and its models after a synchronisation.

    Attributes:
        launch: Number of its launch.
        job: The identity of the launch.
        at_s: Time in seconds after the launch's start.
        shared: Whether all ranks read one clock, which needs no synchronisation.
        checks: Bounds of some ranks' clocks.
        models: One model per rank; empty if the clock is shared, or was only checked.
    """

    launch: Int64
    job: JobKey
    at_s: Number
    shared: bool
    checks: tuple[ClockCheck, ...]
    models: tuple[ClockModel, ...] = ()


class Eager(EagerCore, frozen=True, tag="eager", tag_field="type"):
    """The eager limit that a launch found.

    Attributes:
        launch: Number of its launch.
        id: Its place in the launch's order.
        cell: The whole cell.
        crossing: Messages around the limit; null if there is none, or in files of an older mpigauge.
    """

    launch: Int64
    id: Int64
    cell: Cell
    crossing: CrossingSamples | None = None


class Blocked(Struct, frozen=True, tag="blocked", tag_field="type"):
    """A visit that was not started, since it would deadlock above the eager limit.

    Attributes:
        launch: Number of its launch.
        id: Its place in the launch's order.
        cell: The whole cell.
        found: Whether there is a limit up to the largest message that was tried.
        limit_bytes: The limit; else the largest message that completed before it was received.
    """

    launch: Int64
    id: Int64
    cell: Cell
    found: bool
    limit_bytes: Int64


class Imported(Struct, frozen=True, tag="imported", tag_field="type"):
    """A time printed by another benchmark, without samples and so without an interval.

    Attributes:
        cell: The cell that it is a time of.
        time_s: Time of one operation, as mpigauge counts it.
        stddev_s: Standard deviation; null if it was not printed.
        statistic: Its statistic of samples: mean, best of three; empty if not known.
        source: File and line that it is from.
        launch: The number of its launch, where several texts are outputs of the same command.
        step: The unit of its last digit over the number; 0 if not known.
    """

    cell: Cell
    time_s: AboveZero
    stddev_s: NotNegative | None = None
    statistic: LongText = ""
    source: LongText = ""
    launch: Int64 = 1
    step: NotNegative = 0.0


class Unread(Struct, frozen=True, tag="unread", tag_field="type"):
    """A line of an imported text that is not a row of its table and ended the table.

    Attributes:
        source: File and line.
        why: Why it is not a row, as a predicate: "has 1 word below 5 columns".
        words: The beginning of the line.
        below: Number of lines with numbers below it, which were not read, either.
    """

    source: LongText
    why: LongText
    words: LongText
    below: Int64 = 0


class Failure(Struct, frozen=True, tag="failure", tag_field="type"):
    """A failure of a cell, or where cell is null of a whole launch.

    Attributes:
        launch: Number of its launch.
        kind: The kind of failure.
        words: The first and the last lines of the job's output; `[...]` stands for lines between them.
        id: The place in the launch's order of the visit that was running; null if there was none, or several.
        cell: The cell of that visit; null if the launch itself failed, or was ended from outside.
        status: The launcher's exit status, for information only.
        job: The identity of the launch; null in files of older versions.
    """

    launch: Int64
    kind: FailureKind
    words: LongText
    id: Int64 | None = None
    cell: Cell | None = None
    status: Int64 | None = None
    job: JobKey | None = None


class Done(Struct, frozen=True, tag="done", tag_field="type"):
    """The end of a launch that has nothing left to do.

    Attributes:
        launch: Number of the launch.
        job: The identity of the launch.
        elapsed_s: Duration in seconds.
        skipped: Cells that had no visit in it for lack of time.
        throttled: The `throttled` count of the launch after its end; null if not known.
    """

    launch: Int64
    job: JobKey
    elapsed_s: Number
    skipped: tuple[Cell, ...] = ()
    throttled: Int64 | None = None


class End(Dated, frozen=True, tag="end", tag_field="type"):
    """The end of a session. A file that was continued has several; one that was killed lacks the last.

    Attributes:
        reason: Why measuring stopped.
        elapsed_s: Duration of the session in seconds.
        started: When it began: UTC, ISO 8601; empty for an import.
    """

    reason: EndReason
    elapsed_s: Number
    started: ShortText


class Difference(Struct, frozen=True):
    """A difference of a session from the one before it.

    Attributes:
        what: The property that differs.
        then: Its value before.
        now: Its value now.
    """

    what: DifferenceKind
    then: LongText
    now: LongText


class Resumed(Dated, frozen=True, tag="resumed", tag_field="type"):
    """The start of a session on other machines or with other programs than before.

    Attributes:
        started: When it began: UTC, ISO 8601.
        mpigauge: Version of the program.
        commit: Commit of its source tree, if it was run from one.
        differs: Differences that are refused without --anyway; empty if only the plan's hosts differ.
        libraries: The MPI libraries as they are now.
        environment: The machine that it was continued on.
        hosts: Hosts of the plan from now on; empty for one machine.
    """

    started: ShortText
    mpigauge: ShortText
    commit: ShortText
    differs: tuple[Difference, ...]
    libraries: tuple[LibraryRecord, ...]
    environment: Environment
    hosts: tuple[ShortText, ...] = ()


Record = (
    Campaign | Launch | Clock | Visit | Eager | Blocked | Imported | Unread | Failure | Done | End | Resumed
)
