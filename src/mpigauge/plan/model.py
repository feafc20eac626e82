"""The plan of a campaign and its cells: all that is known before the first launch."""

import re
from collections.abc import Iterable
from itertools import product
from operator import attrgetter
from typing import Annotated, Literal

from msgspec import Meta, Struct, ValidationError
from msgspec.structs import asdict, fields

from mpigauge.plan.hosts import NAME, Host, HostName
from mpigauge.plan.lab import Lab
from mpigauge.plan.library_names import library_name
from mpigauge.plan.rank_lists import LIST, members_of
from mpigauge.plan.strings import LONG_MOST, LongText, ShortText
from mpigauge.sequences import group_by
from mpigauge.stats.limits import ENOUGH_LAUNCHES
from mpigauge.vocabulary import (
    AUTO,
    SAME_HOST,
    Arm,
    Binding,
    Buffers,
    CheckHosts,
    Control,
    Pairing,
    RmaWindow,
    Rotating,
    Sync,
    Transport,
    Until,
)

Root = Annotated[int, Meta(ge=0)] | Rotating
Positive = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""Integers of files and of the kernel; measurements are never larger."""

MAX_RANKS = 2**24
Label = Annotated[str, Meta(pattern=r"^([^\W\d_][\w.+-]{0,31})?$(?!\n)")]
VariableName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$(?!\n)")]
VariableSet = Annotated[str, Meta(pattern=r"^[^=\0]+$", max_length=LONG_MOST)]
VariableValue = Annotated[str, Meta(pattern=r"^[^\s,\0]{0,1024}$(?!\n)")]
Setting = Annotated[
    str,
    Meta(
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*=[^\s,\0]*( [A-Za-z_][A-Za-z0-9_]*=[^\s,\0]*)*)?$(?!\n)",
        max_length=LONG_MOST,
    ),
]
Ranks = Annotated[int, Meta(ge=0, le=MAX_RANKS)]
AskedRanks = Annotated[int, Meta(ge=1, le=MAX_RANKS)]
Rank = Annotated[int, Meta(ge=0, lt=MAX_RANKS)]


def _once(pattern: str, longest: int) -> Meta:
    """Return the constraint of a word: its length is checked in every visit, its pattern once per cell."""
    return Meta(max_length=longest, extra_json_schema={"pattern": pattern})


_ONE_LINE = r"^[^\x00-\x1f\x7f-\x9f]*$(?!\n)"
Word = Annotated[str, _once(_ONE_LINE, 255)]
"""Any words, since imported tables have words of their own."""

Places = Annotated[str, _once(_ONE_LINE, 2**22)]
"""A placement: a rule, or the host of each rank, of which there may be very many."""

Identifier = Annotated[str, _once(r"^([A-Za-z][A-Za-z0-9_]*)?$(?!\n)", 64)]
RootWord = Annotated[str, _once(r"^(rotating|[0-9]{1,9})?$(?!\n)", 9)]
PlaceAsked = Annotated[str, Meta(pattern=rf"^ *{NAME} *(, *{NAME} *)*$(?!\n)", max_length=2**22)]
Argument = Annotated[str, Meta(pattern=r"^[^\0]*$", max_length=LONG_MOST)]
"""An argument of a program: anything without NUL."""

GroupsRule = Annotated[
    str, _once(rf"^(host|mod:[1-9][0-9]{{0,8}}|[1-9][0-9]{{0,8}}|{LIST}(\+{LIST})*)?$(?!\n)", 2**22)
]
Senders = Annotated[int, Meta(ge=1, le=MAX_RANKS)] | Literal["all"]
Order = Annotated[str, _once(r"^(natural|interleaved|random:[0-9]{1,18})?$(?!\n)", 25)]
Group = Annotated[str, _once(rf"^({LIST})?$(?!\n)", 2**22)]

MIN_ROUNDS = 30
"""Fewest samples of a cell in one launch before its stop rule may end it."""

MAX_WINDOW = 65_536
MAX_DEPTH = 65_536
MAX_PARTITIONS = 65_536
MAX_TESTS = 65_536
Depth = Annotated[int, Meta(ge=0, le=MAX_DEPTH)]
Partitions = Annotated[int, Meta(ge=1, le=MAX_PARTITIONS)]
Tests = Annotated[int, Meta(ge=0, le=MAX_TESTS)]
Visits = Annotated[int, Meta(ge=1, le=10**6)]
Rounds = Annotated[int, Meta(ge=1, le=10**8)]
Seconds = Annotated[float, Meta(gt=0, le=366 * 86_400.0)]
"""Limits of the kernel."""


class FactorValues(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Values of factors that a plan file, a table of it or the command line asks for; unset ones are open.

    Attributes:
        modes: Modes; empty means the pattern's first, with those that it is compared with.
        sizes: Message sizes in the grammar of `plan.sizes`; None means what suits the pattern.
        ranks: Numbers of ranks; empty means the plan's.
        window: Messages in flight, for patterns that have a window.
        buffers: Cache-warm or cache-cold.
        sync: How the ranks start a collective together.
        rma_windows: How windows of one-sided operations are made.
        datatypes: Datatypes of reductions.
        ops: Operations of reductions. Pairs of datatype and operation that MPI does not define are left out.
        roots: Roots of collectives that have one.
        in_place: Whether collectives use MPI_IN_PLACE if they can.
        depths: How many receives or messages wait in front of a message that is matched.
        blocks: Sizes of the blocks of a layout, in bytes.
        strides: Distances from one block to the next, in bytes; empty means twice the block. Those that are
            shorter than a block are left out.
        partitions: Numbers of partitions of a partitioned message.
        tests: Numbers of calls of MPI_Test during a computation; empty means those of the mode.
        pairs: For patterns of two ranks: measure all pairs and not ranks 0 and 1 alone, as many at once as
            possible (tournament) or one after the other (serial).
        groups: Groups of ranks that do the same at once, each also alone: host, a number, mod:K, or lists of
            ranks.
        senders: Numbers of ranks that send, or all, for patterns in which that can be chosen.
        orders: Orders of the ranks: natural, interleaved, random:SEED.
    """

    modes: tuple[ShortText, ...] = ()
    sizes: LongText | None = None
    ranks: tuple[AskedRanks, ...] = ()
    window: Annotated[int, Meta(ge=1, le=MAX_WINDOW)] | None = None
    buffers: Buffers | None = None
    sync: tuple[Sync, ...] = ()
    rma_windows: tuple[RmaWindow, ...] = ()
    datatypes: tuple[ShortText, ...] = ()
    ops: tuple[ShortText, ...] = ()
    roots: tuple[Root, ...] = ()
    in_place: bool = False
    depths: tuple[Depth, ...] = ()
    blocks: tuple[Positive, ...] = ()
    strides: tuple[Positive, ...] = ()
    partitions: tuple[Partitions, ...] = ()
    tests: tuple[Tests, ...] = ()
    pairs: Pairing | Literal[""] = ""
    groups: tuple[GroupsRule, ...] = ()
    senders: tuple[Senders, ...] = ()
    orders: tuple[Order, ...] = ()


class Measure(FactorValues, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Curves of a plan: one pattern over the factors asked for."""

    pattern: ShortText


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """The plan of a campaign: what to measure, and when to stop.

    Attributes:
        measure: The curves: pattern, modes, sizes and the rest of a table `[[measure]]`.
        title: Title of the table.
        mpi: Libraries as the user named them; empty means the default one.
        transports: Transports of messages; each is a launch of its own. auto: the library's choice.
        hosts: Hosts of ranks; empty means this machine.
        placements: Placements of ranks on hosts, as in plan.hosts; each is a launch of its own. Empty means
            different hosts, where there are several.
        binding: Whether each rank is bound to a core of its own. auto: the library's choice.
        launcher: Name of the launcher, or a command template; auto is the library's own mpiexec.
        mpiexec: A path or a name on PATH, used in place of the mpiexec in the folder of the library's mpicc.
        remote_shell: Program that starts processes on other hosts; empty means the launcher's default.
        check_hosts: Which hosts are checked before a campaign. auto: those that are not from a scheduler.
        skip_dead: Whether hosts that do not answer are left out, if no placement names them.
        hosts_skipped: Hosts that were left out for that.
        variables: Environment variables of every job; they override those that mpigauge sets.
        mpi_options: Options for the launcher, unchanged.
        ranks: Numbers of ranks; each is a launch of its own.
        all_ranks: Whether the user gives no number of ranks, so that collectives use all ranks of an
            allocation of several hosts. Once a plan has its hosts, the numbers are in its curves.
        launches_min: Launches before the campaign may stop (docs/method-launches.md#enough-launches).
        launches_max: Launches after which it stops.
        precision: Relative half-width of the interval to stop at.
        patience_s: How long a start may take without a line of the kernel; longer with many ranks.
        budget_s: Wall time; None means as long as the launches take.
        over_s: Wall time that launches are spread over, with pauses; None means no pauses.
        visits: Visits of a cell in one launch.
        rounds_min: Samples of a cell in one launch before its stop rule may end it.
        rounds_max: Samples of a cell in one launch after which it ends.
        seed: Seed of all random choices.
        lab: The emulated hosts that it runs on; None means this machine as it is.
        vary: Environment variables with the values to compare; each combination has launches of its own.
        abi: Whether one kernel, built against the ABI of MPI 5, is for all libraries.
        until: The goal: intervals that are narrow enough, or a comparison that is decided.
        control: Whether the base of a comparison is measured twice, as a control arm; auto: where it pays.
    """

    measure: tuple[Measure, ...]
    title: LongText = ""
    mpi: tuple[LongText, ...] = ()
    transports: tuple[Transport, ...] = (AUTO,)
    hosts: tuple[Host, ...] = ()
    placements: tuple[PlaceAsked, ...] = ()
    binding: Binding = AUTO
    launcher: Argument = AUTO
    mpiexec: Argument = ""
    remote_shell: Argument = ""
    check_hosts: CheckHosts = AUTO
    skip_dead: bool = False
    hosts_skipped: tuple[HostName, ...] = ()
    variables: dict[VariableSet, Argument] = {}
    mpi_options: tuple[Argument, ...] = ()
    ranks: tuple[AskedRanks, ...] = (2,)
    all_ranks: bool = False
    launches_min: Positive = ENOUGH_LAUNCHES
    launches_max: Positive = 30
    precision: Annotated[float, Meta(gt=0, lt=1)] = 0.03
    patience_s: Seconds = 60.0
    budget_s: Seconds | None = 45.0
    over_s: Seconds | None = None
    visits: Visits = 8
    rounds_min: Rounds = MIN_ROUNDS
    rounds_max: Rounds = 1000
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    lab: Lab | None = None
    vary: dict[VariableName, tuple[VariableValue, ...]] = {}
    abi: bool = False
    until: Until = "precise"
    control: Control = AUTO

    @property
    def settings(self) -> list[str]:
        """All combinations of varied values, as in cells; each is a launch of its own."""
        ways = [[f"{name}={value}" for value in values] for name, values in self.vary.items()]
        return [" ".join(way) for way in product(*ways)]


class JobKey(Struct, frozen=True, order=True, cache_hash=True):
    """The identity of a launch, without its number: library, transport, placement, ranks and more.

    A further field is a line here and one in Cell, with its usual value as the default. Names do not
    mention a usual value, and results that are older than the field resume in their order.

    Attributes:
        mpi: The kind of library.
        mpi_version: Its version.
        transport: Transport of messages: auto (the library's choice), shm or tcp.
        placement: How ranks are placed: same-host, different-hosts, or the host of each.
        ranks: Number of ranks.
        label: The user's name for the library, which tells it from others of its kind and version; or "".
        setting: A varied variable and its value: NAME=VALUE; "" if none is.
        arm: "control" for the control arm of a comparison, the base measured a second time; else "".
    """

    mpi: Word
    mpi_version: ShortText
    transport: Word
    placement: Places
    ranks: Ranks
    label: Label = ""
    setting: Setting = ""
    arm: Arm = ""

    @property
    def name(self) -> str:
        """The job in words, without usual values."""
        words = self._unusual(placement=SAME_HOST, transport=AUTO)
        mpi, version, ranks = (words.pop(field) for field in ("mpi", "mpi_version", "ranks"))
        library = library_name(str(mpi), str(version), str(words.pop("label", "")))
        return ", ".join([library, *map(str, words.values()), f"{ranks} ranks"])

    @property
    def seed_words(self) -> tuple[object, ...]:
        """Words that seed the order of visits; fields added later are among them with unusual values only."""
        return tuple(self._unusual(placement=SAME_HOST).values())

    def _unusual(self, **usual: str) -> dict[str, object]:
        """Yield the fields with unusual values, or without a usual value."""
        defaults: dict[str, object] = {field.name: field.default for field in fields(self)}
        has_default = defaults | usual
        return {field: word for field, word in asdict(self).items() if word != has_default[field]}


def variables_of(setting: str) -> dict[str, str]:
    """Return the variables of a setting, by name."""
    assignments = (word.partition("=") for word in setting.split(" ") if word)
    return {name: value for name, _, value in assignments}


_job_of = attrgetter(*JobKey.__struct_fields__)


class Cell(Struct, frozen=True, order=True, cache_hash=True):
    """The subject of one estimate: samples belong to the same estimate if and only if their cells are equal.

    Attributes:
        pattern: The kernel's name of the pattern.
        mode: The mode of the pattern.
        bytes: Size of one message; for a collective, what the call's count describes: the block of one rank.
        ranks: Number of ranks of the job.
        mpi: The kind of library.
        mpi_version: Its version.
        transport: Transport of messages: auto (the library's choice), shm or tcp.
        placement: How ranks are placed: same-host, different-hosts, or the host of each.
        buffers: warm, or cold: walking through memory that no cache holds.
        window: Messages in flight at once; 0 where there is no window.
        sync: How the ranks start together: common, barrier or mpi_barrier; "" if they do not.
        rma_window: How the window of a one-sided operation is made: allocate, create, dynamic or shared; ""
            if it has none.
        datatype: Datatype of a reduction, else "".
        op: Operation of a reduction, else "".
        root: A rank or "rotating"; "" if there is none.
        in_place: Whether a collective is called with MPI_IN_PLACE.
        pair: The two ranks that take part, the lower first: "0-3"; "" where the pattern decides.
        pairing: Whether other pairs are measured at the same time (tournament) or none (serial).
        label: The user's name for the library, such as "main"; "" if there is none.
        setting: A varied variable and its value: NAME=VALUE; "" if none is.
        arm: "control" for the control arm of a comparison, the base measured a second time; else "".
        depth: How many receives or messages wait in front of the one that is timed; 0 also where none can.
        block_bytes: Size of the blocks that a message lies in; 0 where it is one block, or of another layout.
        stride_bytes: Distance from one block to the next, likewise.
        partitions: Number of partitions of a message; 0 where it has none.
        tests: Number of calls of MPI_Test during a computation; 0 where there are none.
        group: The ranks that take part, in their order: "0-3", "0,4,1,5"; "" for the first ones.
        groups: How groups of ranks that do the same at once were made, of which this is one: "host", "4",
            "mod:8"; "" if the group is alone.
        senders: How many ranks send, where that can be chosen; 0 for as many as there can be.
        order: The order of the ranks: interleaved or random:SEED; "" for their own.
    """

    pattern: Word
    mode: Word
    bytes: Int64
    ranks: Ranks
    mpi: Word
    mpi_version: ShortText
    transport: Word = AUTO
    placement: Places = SAME_HOST
    buffers: Buffers = "warm"
    window: Int64 = 0
    sync: Sync | Literal[""] = ""
    rma_window: RmaWindow | Literal[""] = ""
    datatype: Identifier = ""
    op: Identifier = ""
    root: RootWord = ""
    in_place: bool = False
    pair: Annotated[str, Meta(pattern=r"^([0-9]{1,9}-[0-9]{1,9})?$(?!\n)")] = ""
    pairing: Pairing | Literal[""] = ""
    label: Label = ""
    setting: Setting = ""
    arm: Arm = ""
    depth: Int64 = 0
    block_bytes: Int64 = 0
    stride_bytes: Int64 = 0
    partitions: Int64 = 0
    tests: Int64 = 0
    group: Group = ""
    groups: GroupsRule = ""
    senders: Ranks = 0
    order: Order = ""

    @property
    def library(self) -> str:
        """The library's name for people: `MPICH 5.0.2`."""
        return library_name(self.mpi, self.mpi_version, self.label)

    def __post_init__(self) -> None:
        """Check that a pair is of ranks of the job.

        Raises:
            ValueError: It is not; the line of the result file then counts as damaged.
        """
        if self.pair:
            first, second = map(int, self.pair.split("-"))
            if not first < second < self.ranks:
                raise ValueError(f"{self.pair} is not a pair of {self.ranks} ranks")
        if self.group and max(members_of(self.group)) >= self.ranks:
            raise ValueError(f"{self.group} is not a group of {self.ranks} ranks")

    @property
    def job(self) -> JobKey:
        """The job of the cell; cells of one job are measured by the same launches."""
        return JobKey(*_job_of(self))


def _patterns_of(kind: type[Struct]) -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile(str(meta.extra_json_schema["pattern"]))
        for name, field in kind.__annotations__.items()
        for meta in getattr(field, "__metadata__", ())
        if meta.extra_json_schema
    }


_PATTERNS = {kind: _patterns_of(kind) for kind in (Cell, JobKey)}


def check_words(of: Cell | JobKey) -> None:
    """Check the words of a cell or job against the schema.

    Raises:
        ValidationError: A word is not allowed; names it.
    """
    for name, pattern in _PATTERNS[type(of)].items():
        if not pattern.search(getattr(of, name)):
            raise ValidationError(f"Expected `str` matching regex {pattern.pattern!r} - at `$.{name}`")


def by_job(cells: Iterable[Cell]) -> dict[JobKey, list[Cell]]:
    """Cells by the job that measures them, both in the order given."""
    return group_by(cells, lambda cell: cell.job)
