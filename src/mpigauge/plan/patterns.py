"""The patterns and modes of the kernel, as `mpigauge-kernel --describe` prints them.

`kernel/describe.json` has the description of this mpigauge's kernel, for use without a built kernel.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from mpigauge.errors import UsageError, choose_from
from mpigauge.plan.names import DESCRIPTION, normalised
from mpigauge.plan.sizes import USUAL_SIZES
from mpigauge.plan.strings import LongText, ShortText
from mpigauge.vocabulary import ALL, Family, OverheadOf

KERNEL_VERSION = 2
"""Version of the texts of plans and journals; the kernel's MG_PLAN_VERSION."""

MAX_TERM = 2**20
Term = Annotated[int, Meta(ge=-MAX_TERM, le=MAX_TERM)] | Annotated[float, Meta(ge=-MAX_TERM, le=MAX_TERM)]
Terms = tuple[Term, Term, Term, Term]
"""Coefficients of 1/p, 1, p and p², for p ranks."""

ONE: Terms = (0, 1, 0, 0)
NONE: Terms = (0, 0, 0, 0)
EACH_RANK: Terms = (0, 0, 1, 0)
EVERY_PAIR: Terms = (0, 0, 0.5, 0)
"""One per pair of ranks, if no rank is in two pairs."""


def blocks_of(terms: Terms, ranks: int) -> float:
    """Return the messages or blocks of a volume with so many ranks; 0 ranks for figures without ranks."""
    inverse, one, each, squared = terms
    ranks = max(ranks, 1)
    return (inverse + one * ranks + each * ranks**2 + squared * ranks**3) / ranks


Few = Annotated[int, Meta(ge=1, le=1024)]
FewOrNone = Annotated[int, Meta(ge=0, le=1024)]
"""Small numbers in the code of a pattern: its ranks, directions and parts."""

_MPI_FUNCTION = re.compile(r"\bMPI_[A-Z][a-z]\w*")


class Volumes(Struct, frozen=True):
    """Data volumes as multiples of the bytes of one rank's message or block, by the number of ranks.

    Attributes:
        operation: Bytes that a rate counts, per direction.
        bus: Bytes that a link carries; all 0 where no bus bandwidth is in use in the field.
        wire: Bytes that must cross between ranks with any algorithm, per direction.
        sent: Send buffer of one rank; for a rooted operation, of its root.
        received: Receive buffer of one rank, likewise.
    """

    operation: Terms = ONE
    bus: Terms = NONE
    wire: Terms = NONE
    sent: Terms = ONE
    received: Terms = ONE


class Sampling(Struct, frozen=True):
    """Properties of the way in which samples are taken.

    Attributes:
        single: Whether a sample is one call, however short it is.
        in_blocks: Whether a sample is a block of calls.
        cpu_known: Whether the on-core time of the samples alone is known.
        starts_together: Whether all ranks start each round at one moment.
        probes: Whether it finds a limit instead of a time.
        floor: Whether it measures the cost of the instrument itself.
    """

    single: bool = False
    in_blocks: bool = False
    cpu_known: bool = False
    starts_together: bool = False
    probes: bool = False
    floor: bool = False


class Mode(Struct, frozen=True):
    """A mode: one way of doing a pattern. `KernelDescription.traits` explains its fields."""

    name: ShortText
    about: LongText
    directions: Few
    needs_eager: bool
    binds_buffers: bool
    attaches_buffer: bool
    overlaps: bool = False
    in_a_row: bool = False
    needs_mpi: FewOrNone = 0
    never_eager: bool = False
    baseline: ShortText = ""
    beside_first: bool = False
    instead_of: ShortText = ""
    parts: FewOrNone = 0
    scratch: Terms = NONE
    counts_all: bool = False
    room_everywhere: bool = False
    strided: bool = False
    partitioned: bool = False
    by_hand: bool = False
    message_each: bool = False
    depth_most: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    unit_bytes: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    needs_unified: bool = False
    alone: bool = False
    one_message: bool = False
    target_waits: bool = False
    target_computes: bool = False
    work_times: FewOrNone = 1
    may_test: bool = False
    computing: OverheadOf = ""
    tests_usual: FewOrNone = 0
    computes_first: bool = False
    time_of: ShortText = ""
    sampling: ShortText = ""
    no_rate: bool = False
    compares: bool = True
    most_bytes: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0

    @property
    def calls(self) -> tuple[str, ...]:
        """The MPI functions in its description, normalised by `names.normalised`."""
        return tuple(normalised(name) for name in _MPI_FUNCTION.findall(self.about))

    @property
    def call(self) -> str:
        """The first MPI function in its description; empty if there is none."""
        return next(iter(_MPI_FUNCTION.findall(self.about)), "")


class Pattern(Struct, frozen=True):
    """A communication pattern, implemented in one file of the kernel.

    `KernelDescription.traits` explains the fields that are not explained here.

    Attributes:
        modes: The first mode is the default, beside those that it is compared with (`beside_first`).
        sampled: How samples are taken, by properties.
        volumes: Data volumes of one operation.
    """

    name: ShortText
    about: LongText
    time_of: ShortText
    sampling: ShortText
    min_ranks: FewOrNone
    active_ranks: FewOrNone
    windowed: bool
    moves_bytes: bool
    modes: tuple[Mode, ...]
    spans_bytes: bool = False
    unit_bytes: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 0
    sizes_usual: ShortText = ""
    send_each: bool = False
    recv_each: bool = False
    reduces: bool = False
    rooted: bool = False
    may_in_place: bool = False
    queues: bool = False
    counts_int: bool = False
    one_sided: bool = False
    exposes_send: bool = False
    bus: ShortText = ""
    family: Family = ""
    one_way: bool = False
    sampled: Sampling = Sampling()
    volumes: Volumes = Volumes()
    senders: Literal["", "pairs", "others"] = ""
    overhead: OverheadOf = ""
    rank_times: bool = False
    one_pair: ShortText = ""

    @property
    def in_halves(self) -> bool:
        """Whether rank i works with rank i + p / 2, so that of an odd number of ranks the last one rests."""
        return bool(self.one_pair) and not self.rooted

    @property
    def sized(self) -> bool:
        """Whether its cells differ in size."""
        return self.moves_bytes or self.spans_bytes

    @property
    def starts_together(self) -> bool:
        """Whether all ranks start each round at one moment."""
        return self.sampled.starts_together

    @property
    def probes(self) -> bool:
        """Whether it finds a limit instead of a time."""
        return self.sampled.probes

    @property
    def is_floor(self) -> bool:
        """Whether it measures the cost of the instrument itself."""
        return self.family == "floor"

    @property
    def in_memory(self) -> bool:
        """Whether it measures memory, without messages."""
        return self.family == "memory"

    @property
    def sends(self) -> bool:
        """Whether its ranks send messages by MPI; one alone has nobody to send to."""
        return not self.is_floor and not self.in_memory and self.active_ranks != 1

    @property
    def talks(self) -> bool:
        """Whether it measures messages of its ranks; a probe only uses some."""
        return self.sends and not self.probes

    @property
    def of_all(self) -> bool:
        """Whether messages go between all ranks of a job or group, whose order then matters."""
        return self.talks and not self.active_ranks and not self.one_sided

    @property
    def in_groups(self) -> bool:
        """Whether groups of ranks can do it at once; windows are of all ranks of a job."""
        return self.starts_together and not self.one_sided

    @property
    def counted(self) -> bool:
        """Whether its calls count elements in an int, even with the large counts of MPI 4."""
        together = self.starts_together and self.family != "message"
        return together or self.reduces or self.counts_int or any(self.volumes.bus)

    @property
    def strided(self) -> bool:
        """Whether it has modes whose message lies in blocks at a distance."""
        return any(mode.strided for mode in self.modes)

    @property
    def partitioned(self) -> bool:
        """Whether it has modes whose message has partitions."""
        return any(mode.partitioned for mode in self.modes)

    @property
    def may_test(self) -> bool:
        """Whether it has modes that can call MPI_Test during their computation."""
        return any(mode.may_test for mode in self.modes)

    @property
    def mode_in_a_row(self) -> str:
        """The mode that times several operations from one start, for coarse clocks; "" for none."""
        return next((mode.name for mode in self.modes if mode.in_a_row), "")

    @property
    def guided(self) -> tuple[str, ...]:
        """Names of modes that should not be slower than another mode, and of these other modes."""
        names = [name for mode in self.modes if mode.instead_of for name in (mode.instead_of, mode.name)]
        return tuple(dict.fromkeys(names))

    def mode(self, name: str) -> Mode | None:
        """Return the mode of this name; None if there is none."""
        return next((mode for mode in self.modes if mode.name == name), None)

    def time_of_mode(self, name: str) -> str:
        """Return what one time of the mode of this name is."""
        mode = self.mode(name)
        return (mode and mode.time_of) or self.time_of

    def mode_meant(self, word: str) -> Mode | None:
        """Return the mode of this name in any spelling, or the first that calls this MPI function."""
        short = normalised(word)
        named = (mode for mode in self.modes if normalised(mode.name) == short)
        return next(named, None) or next((mode for mode in self.modes if short in mode.calls), None)


class Datatype(Struct, frozen=True):
    """A datatype of reductions, and the operations that MPI defines for it."""

    name: ShortText
    bytes: int
    operations: tuple[ShortText, ...]


class Lacking(Struct, frozen=True):
    """A mode that cannot be measured, and the calls that the library lacks for it."""

    pattern: ShortText
    mode: ShortText
    calls: LongText


class KernelDescription(Struct, frozen=True):
    """The description that a kernel prints of itself.

    Attributes:
        library: The result of MPI_Get_library_version; empty if no kernel was run.
        lacking: Modes that need what the library lacks that the kernel was built with.
        traits: Explanations of the fields of `modes` and of `patterns`, by name.
    """

    kernel: int
    large_counts: bool
    datatypes: tuple[Datatype, ...]
    patterns: tuple[Pattern, ...]
    library: LongText = ""
    lacking: tuple[Lacking, ...] = ()
    traits: dict[ShortText, dict[ShortText, LongText]] = {}

    def lacks(self, pattern: str, mode: str) -> str:
        """Return the calls that a mode needs and the library lacks; empty if it has all."""
        return next((one.calls for one in self.lacking if (one.pattern, one.mode) == (pattern, mode)), "")

    def datatype(self, name: str, where: str) -> Datatype:
        """Return the datatype of this name, or raise a UsageError that begins with `where`."""
        for datatype in self.datatypes:
            if datatype.name == name:
                return datatype
        names = [*(datatype.name for datatype in self.datatypes), ALL]
        raise UsageError(f"{where}: no datatype of reductions is called {name!r}", choose_from(names, name))

    def pattern(self, name: str, where: str) -> Pattern:
        """Return the pattern of this name, or raise a UsageError that begins with `where`."""
        for pattern in self.patterns:
            if pattern.name == name:
                return pattern
        names = [pattern.name for pattern in self.patterns]
        hint = choose_from(names, name, listed_by="mpigauge list")
        raise UsageError(f"{where}: no pattern is called {name!r}", hint)

    @property
    def floor(self) -> Pattern:
        """The pattern that measures the cost of the instrument itself."""
        return next(pattern for pattern in self.patterns if pattern.is_floor)


class _Known(Struct, frozen=True):
    """The content of `describe.json`: the part of a description that depends on no MPI library."""

    datatypes: tuple[Datatype, ...]
    patterns: tuple[Pattern, ...]


@cache
def known() -> Mapping[str, Pattern]:
    """Return the patterns of this mpigauge's own kernel, by name, with all modes of MPI 4."""
    description = msgspec.json.decode(DESCRIPTION.read_bytes(), type=_Known)
    return {pattern.name: pattern for pattern in description.patterns}


def usual_sizes(pattern: str) -> str:
    """Return the sizes of a pattern where nobody names any: its own, or those of most patterns."""
    own = known().get(pattern)
    return (own and own.sizes_usual) or USUAL_SIZES


def halves(ranks: int) -> list[tuple[int, int]]:
    """Return the pairs across the halves of so many ranks; of an odd number the last is in none."""
    half = ranks // 2
    return [(rank, rank + half) for rank in range(half)]


PAIR_OF_RANKS = 2


def is_point_to_point(pattern: Pattern) -> bool:
    """Return whether a pattern sends messages between two ranks."""
    return pattern.talks and pattern.active_ranks == PAIR_OF_RANKS


def has_rates(pattern: Pattern) -> bool:
    """Return whether a pattern is shown as bandwidth: point to point, or with a window of messages."""
    return pattern.moves_bytes and (is_point_to_point(pattern) or (pattern.talks and pattern.windowed))


IMPORTED_DEFAULT_MODES = ("standard", "out-of-place")
"""Usual modes of imported patterns; the second is NCCL's."""


def default_mode(pattern: Pattern) -> str:
    """Return the default mode of a pattern: the kernel's first, or for an imported pattern a plain one.

    A mode from a remark on an imported table, such as buffers on a device, is never the default.
    """
    if own := known().get(pattern.name):
        return own.modes[0].name if own.modes else ""
    return next((mode.name for mode in pattern.modes if mode.name in IMPORTED_DEFAULT_MODES), "")


def times_alone(pattern: Pattern, mode: str) -> bool:
    """Return whether a mode's time is of the operation alone, without overlapping computation."""
    own = known().get(pattern.name)
    described = (own and own.mode(mode)) or pattern.mode(mode)
    return described is None or not described.overlaps


def sampled_alike(pattern: Pattern | None, one: str, other: str) -> bool:
    """Return whether samples of two modes are taken alike, so that their times are of one thing."""
    modes = [] if pattern is None else [pattern.mode(name) for name in (one, other)]
    return len({mode.sampling if mode is not None else "" for mode in modes}) <= 1


def representative_mode(pattern: Pattern, measured: Sequence[str]) -> str:
    """Return the mode to show for a pattern: the default, else the first of the operation alone, else any.

    Args:
        measured: Modes that were measured, at least one.
    """
    alone = [mode for mode in measured if times_alone(pattern, mode)]
    usual = default_mode(pattern)
    return usual if usual in measured else [*alone, *measured][0]


def patterns_with(keep: Callable[[Pattern], bool]) -> frozenset[str]:
    """Return the names of the known patterns for which `keep` is true."""
    return frozenset(name for name, pattern in known().items() if keep(pattern))


FLOORS = patterns_with(lambda pattern: pattern.is_floor)
"""Patterns that time nothing: what they take is the floor of the instrument, and no number of a table."""


def baselines() -> dict[str, tuple[str, str]]:
    """Return what times of messages are divided by: name of the ratio to pattern and mode, cores first."""
    both = sorted(known().values(), key=lambda pattern: -pattern.active_ranks)
    return {
        mode.baseline: (pattern.name, mode.name)
        for pattern in both
        for mode in pattern.modes
        if mode.baseline
    }


def completed(pattern: Pattern) -> Pattern:
    """Return a pattern of a result or plan file with the fields that kernels of older versions lacked.

    For imported patterns, sampled by another benchmark, only the family is added.
    """
    own = known().get(pattern.name)
    if pattern.family or own is None:
        return pattern
    modes = {mode.name: mode for mode in own.modes}
    pattern = replace(
        pattern,
        family=own.family,
        one_way=own.one_way,
        overhead=own.overhead,
        modes=tuple(_completed_mode(mode, modes.get(mode.name)) for mode in pattern.modes),
    )
    if pattern.sampling != own.sampling:
        return pattern
    return replace(pattern, sampled=own.sampled, volumes=own.volumes)


def _completed_mode(mode: Mode, own: Mode | None) -> Mode:
    if own is None:
        return mode
    return replace(
        mode,
        needs_mpi=own.needs_mpi,
        never_eager=own.never_eager,
        baseline=own.baseline,
        instead_of=own.instead_of,
        parts=own.parts,
        scratch=own.scratch,
        counts_all=own.counts_all,
        room_everywhere=own.room_everywhere,
    )


def modes_of(
    pattern: Pattern, names: tuple[str, ...], where: str, traits: Iterable[str] = ()
) -> tuple[Mode, ...]:
    """Return the modes asked for; none asked for means the first with those beside it, `all` means all.

    Args:
        traits: Traits of modes that have options, of options that are set: where no mode is asked for, the
            first that has one is beside the first of all.

    Raises:
        UsageError: A name is not a mode of this pattern.
    """
    if not names:
        beside = [mode for mode in pattern.modes if mode.beside_first]
        having = [mode for trait in traits for mode in pattern.modes if getattr(mode, trait)]
        return tuple(dict.fromkeys([*pattern.modes[:1], *beside, *having[:1]]))
    if ALL in names:
        return pattern.modes
    return tuple(_mode(pattern, name, where) for name in names)


def _mode(pattern: Pattern, name: str, where: str) -> Mode:
    mode = pattern.mode(name)
    if mode is None:
        raise UsageError(f"{where}: {pattern.name} has no mode {name!r}", _mode_hint(pattern, name))
    return mode


MODE_SYNONYMS = {
    "block": ("blocking", "standard"),
    "blocking": ("blocking", "standard"),
    "standard": ("standard", "blocking"),
    "sync": ("synchronous",),
    "synch": ("synchronous",),
    "async": ("nonblocking",),
    "asynchronous": ("nonblocking",),
    "immediate": ("nonblocking",),
    "bw": ("unidirectional",),
    "uni": ("unidirectional",),
    "bi": ("bidirectional",),
    "bibw": ("bidirectional",),
    "both": ("bidirectional",),
}
"""Other names of modes, each with the modes that may be meant; the first that the pattern has is."""


def _mode_hint(pattern: Pattern, name: str) -> str:
    """Return the hint for a mode that a pattern lacks: the mode meant, else those that there are."""
    synonyms = (pattern.mode(other) for other in MODE_SYNONYMS.get(normalised(name), ()))
    meant = pattern.mode_meant(name) or next(filter(None, synonyms), None)
    if meant is not None:
        functions = f" ({', '.join(_MPI_FUNCTION.findall(meant.about))})".replace(" ()", "")
        return f"did you mean {meant.name}{functions}?"
    return choose_from([*(mode.name for mode in pattern.modes), ALL], name, listed_by="mpigauge list")
