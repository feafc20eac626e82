"""What the kernel says it can do: the patterns and modes of `mpigauge-kernel --describe`."""

from msgspec import Struct

from mpigauge.errors import UsageError, choose_from
from mpigauge.vocabulary import ALL

KERNEL_VERSION = 2
"""Of the plan and journal texts; the kernel's MG_PLAN_VERSION."""


class Mode(Struct, frozen=True):
    """One way of doing a pattern.

    Attributes:
        directions: Messages under way at once between a pair; 2 doubles the rate.
        needs_eager: Deadlocks above the eager limit, so the kernel does not start it there.
        binds_buffers: Every call works in the same buffers, so cold ones cannot be walked.
        attaches_buffer: Lends MPI four messages of memory.
        overlaps: Computes between the start of the operation and its end.
    """

    name: str
    about: str
    directions: int
    needs_eager: bool
    binds_buffers: bool
    attaches_buffer: bool
    overlaps: bool = False


class Pattern(Struct, frozen=True):
    """What is measured; one file of the kernel.

    Attributes:
        time_of: What one reported time is.
        sampling: How samples are taken: chained, blocks, floor, probe, common, prepared or acked.
        active_ranks: How many ranks take part; 0 means all.
        windowed: Whether it uses a window of messages.
        moves_bytes: Whether sizes and rates make sense.
        spans_bytes: The size is that of the memory worked on; it has no rate.
        unit_bytes: Sizes are multiples of it, and not 0; 0 means any.
        send_each: Sends a block to every rank.
        recv_each: Receives a block from every rank.
        reduces: Takes datatype and operation.
        rooted: Has a root.
        may_in_place: Has a form with MPI_IN_PLACE.
        bus: Which bus bandwidth the field gives: same, others, twice, or "" for none.
        modes: The first is the default.
    """

    name: str
    about: str
    time_of: str
    sampling: str
    min_ranks: int
    active_ranks: int
    windowed: bool
    moves_bytes: bool
    modes: tuple[Mode, ...]
    spans_bytes: bool = False
    unit_bytes: int = 0
    send_each: bool = False
    recv_each: bool = False
    reduces: bool = False
    rooted: bool = False
    may_in_place: bool = False
    bus: str = ""

    @property
    def sized(self) -> bool:
        """Whether its cells differ in size."""
        return self.moves_bytes or self.spans_bytes

    @property
    def starts_together(self) -> bool:
        """Whether all ranks start each of its rounds at one moment."""
        return self.sampling == "common"

    @property
    def probes(self) -> bool:
        """Whether it finds a limit instead of a time."""
        return self.sampling == "probe"

    def mode(self, name: str) -> Mode | None:
        """The mode of this name, if there is one."""
        return next((mode for mode in self.modes if mode.name == name), None)


class Datatype(Struct, frozen=True):
    """A datatype of reductions, and the operations that MPI defines for it."""

    name: str
    bytes: int
    operations: tuple[str, ...]


class Description(Struct, frozen=True):
    """All that a kernel says of itself."""

    kernel: int
    large_counts: bool
    datatypes: tuple[Datatype, ...]
    patterns: tuple[Pattern, ...]

    def datatype(self, name: str, where: str) -> Datatype:
        """The datatype of this name, or a UsageError that begins with `where`."""
        for datatype in self.datatypes:
            if datatype.name == name:
                return datatype
        names = [*(datatype.name for datatype in self.datatypes), ALL]
        raise UsageError(f"{where}: no datatype of reductions is called {name!r}", choose_from(names, name))

    def pattern(self, name: str, where: str) -> Pattern:
        """The pattern of this name, or a UsageError that begins with `where`."""
        for pattern in self.patterns:
            if pattern.name == name:
                return pattern
        names = [pattern.name for pattern in self.patterns]
        raise UsageError(f"{where}: no pattern is called {name!r}", choose_from(names, name))


def modes_of(pattern: Pattern, names: tuple[str, ...], where: str) -> tuple[Mode, ...]:
    """The modes asked for; none asked for means the first, `all` means all.

    Raises:
        UsageError: A name is not a mode of this pattern.
    """
    if not names:
        return pattern.modes[:1]
    if ALL in names:
        return pattern.modes
    return tuple(_mode(pattern, name, where) for name in names)


def _mode(pattern: Pattern, name: str, where: str) -> Mode:
    mode = pattern.mode(name)
    if mode is None:
        raise UsageError(
            f"{where}: {pattern.name} has no mode {name!r}",
            choose_from([*(mode.name for mode in pattern.modes), ALL], name),
        )
    return mode
