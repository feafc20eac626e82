"""Data that the kernel's journal lines and the records of a result share.

To add a field of a visit: a row of MG_VISIT_FIELDS in the kernel's text/visit_line.h, what fills it in
rounds/visit.c, and a line in VisitCore, with a default and its meaning.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated

from msgspec import Meta, Struct

from mpigauge.plan.model import Int64, Positive, Rank
from mpigauge.plan.strings import LongText, ShortText
from mpigauge.result.constraints import NotNegative, Number
from mpigauge.vocabulary import CardKind

Nanoseconds = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Reading = NotNegative
"""A reading of the machine's condition, in nanoseconds."""

Threads = Annotated[int, Meta(ge=-1, le=2**16)]

CardName = Annotated[str, Meta(pattern=r"^[!-~]{1,63}$(?!\n)")]
"""The name of a network card; the kernel writes ? for characters that are not printable."""

Carried = Annotated[int, Meta(ge=-1, le=2**63 - 1)]

MAX_CARDS_REPORTED = 64
"""Most cards reported per visit, all hosts together."""

READINGS = ("line_ns", "line_worst_ns", "path_ns", "alu_ns", "issue_ns")
"""Fields with a reading before the samples of a visit and one after them, or with none."""

_readings_of = attrgetter(*READINGS)
_NONE_OR_BOTH = frozenset((0, 2))


class RankPlace(Struct, frozen=True):
    """The place where a rank ran, and the cost of its clock.

    Attributes:
        host: The name of its host.
        cpus: The processors it might run on: "0-3".
        cpu: The processor it ran on when asked.
        clock_step_ns: The smallest step of its clock.
        clock_cost_ns: The median cost of reading its clock.
        clock_cost_p999_ns: The cost exceeded by one in a thousand readings of its clock.
        clock_zero_share: The share of consecutive readings that are equal.
        cores: The physical cores of these processors, each by the first of its hardware threads: "0-1"; empty
            if its system does not list them.
        threads: Threads of it that poll for messages: 2 with asynchronous progress.
    """

    host: ShortText
    cpus: LongText
    cpu: Int64
    clock_step_ns: Int64
    clock_cost_ns: Int64
    clock_cost_p999_ns: Int64
    clock_zero_share: Number
    cores: LongText = ""
    threads: Threads = 1


class Card(Struct, frozen=True):
    """A port of a network card, or an IP interface.

    Attributes:
        name: As the system calls it: "eth0", "mlx5_0/1", "cxi0".
        kind: Whether messages go through it by IP, or past it.
        counted: Whether both of its counters could be read.
        speed: "10000 Mbit/s", "100 Gb/sec (4X EDR)"; empty, like all below, if the system does not say, and
            for a port that is down.
        mtu: The largest packet, in bytes, of an IP interface.
        driver: The name of its driver; only virtual cards have none.
        firmware: Its version.
    """

    name: ShortText
    kind: CardKind
    counted: bool
    speed: ShortText = ""
    mtu: ShortText = ""
    driver: ShortText = ""
    firmware: ShortText = ""


class HostCards(Struct, frozen=True):
    """The network cards of hosts that have the same ones.

    Attributes:
        hosts: The names of the hosts.
        cards: The first 256 cards of each host; the traffic of all is counted.
    """

    hosts: tuple[ShortText, ...]
    cards: tuple[Card, ...]


class CardTraffic(Struct, frozen=True, gc=False):
    """The traffic of one network card of one host during a visit.

    Attributes:
        rank: A rank of the visit on that host, an index of `ranks_at` of the launch.
        card: The name of the card in `cards` of the launch.
        kind: The kind of the card there.
        received_bytes: Bytes received; -1 if the counter could not be read any more.
        sent_bytes: Bytes sent; likewise.
    """

    rank: Rank
    card: CardName
    kind: CardKind
    received_bytes: Carried
    sent_bytes: Carried

    @property
    def is_lost(self) -> bool:
        """Whether its counters could not be read any more."""
        return self.received_bytes < 0 or self.sent_bytes < 0

    @property
    def both_bytes(self) -> int:
        """Bytes received and sent."""
        return self.received_bytes + self.sent_bytes


class Machine(Struct, frozen=True):
    """A host that ranks ran on, as its first rank saw it.

    Attributes:
        host: Its name.
        cpu: Model of the processor; empty if its system does not say.
        kernel: Release of the operating system's kernel.
        cache_bytes: The largest cache of its first processor, as the system claims it; 0 if not known.
        memory_bytes: Its memory; 0 if not known.
        microcode: Version of the processor's microcode; empty, like all below, if its system does not say.
        online: The processors that are there: "0-31".
        governor: What sets the frequency of its first processor.
        clock_source: What the system reads the time from.
    """

    host: ShortText
    cpu: ShortText
    kernel: ShortText
    cache_bytes: Int64
    memory_bytes: Int64 = 0
    microcode: ShortText = ""
    online: LongText = ""
    governor: ShortText = ""
    clock_source: ShortText = ""


class ClockCheck(Struct, frozen=True):
    """Guaranteed bounds of how far a rank's global clock is ahead of rank 0's.

    Attributes:
        rank: The rank.
        low_ns: The lower bound.
        high_ns: The upper bound.
    """

    rank: Int64
    low_ns: Int64
    high_ns: Int64


class ClockModel(Struct, frozen=True):
    """The model that converts a rank's clock to the global one: t - offset_ns - slope * (t - base_ns).

    Attributes:
        base_ns: When it was fitted, by the rank's own clock.
        offset_ns: How far the rank's clock was ahead then.
        slope: The drift of the rank's clock against the global one.
        bound_ns: The bound of the error at base_ns.
        bound_slope: The growth of the bound per nanosecond after that.
    """

    base_ns: Int64
    offset_ns: Number
    slope: Number
    bound_ns: Number
    bound_slope: Number


class VisitCore(Struct, frozen=True, kw_only=True):
    """The part of a visit that the kernel reports.

    Attributes:
        batch: Calls in one sample.
        ops: Reported operations in one sample; sample / ops is the time of one.
        pool_bytes: The memory that a cold visit walks through on each side; 0 if warm.
        trial_ns: Single calls in the first visit of the cell in the launch; the very first message first.
        warmup_ns: The first samples of the warm-up, which are in no estimate.
        samples_ns: The samples.
        correlation_time: Correlation time of the cell's samples in this launch up to now, in samples.
        effective: Number of independent samples that the cell's samples in this launch up to now are worth.
        half_width: Relative half-width of the interval of the median within the launch; null if not known.
        backwards: Number of times below 0, which are recorded as 0: clocks differ between cores. Times from
            which a round trip was subtracted may be below 0 without, and are not counted.
        corrupt: What was wrong with the payload; empty if it was right, or not compared.
        verified: Whether it was compared: in the first visit of a cell and launch, in every fourth after it,
            and in the last; never where nothing comes that can be compared, as of an empty message, a barrier
            or an empty epoch. Older versions did so in all.
        net_bytes: What the IP interfaces of rank 0's host received during net_calls calls, or sent if that is
            more: with the five fields behind net_calls the proof of the transport.
        net_calls: The calls during which traffic was counted; 0 where it was not, and these fields are void.
        ip_received_bytes: Bytes received during these calls by the IP interfaces of all hosts of the visit.
        ip_sent_bytes: Bytes sent by them.
        rdma_received_bytes: Bytes received by all other network cards of these hosts. IP may go through them,
            too, so these bytes and those of IP must not be added.
        rdma_sent_bytes: Bytes sent by them.
        uncounted_cards: Cards of these hosts, of both kinds, that could not be counted; -1 in a file of an
            older mpigauge, which counted the IP interfaces of rank 0's host alone.
        by_card: Traffic of each card of these hosts during these calls, at most 64 cards: first those whose
            counters could not be read any more, then those with the most traffic. If there are fewer than 64,
            all others had none. Of a host with more than 256 cards, 256 are listed, and the rest is in the
            sums alone. Empty in a file of an older mpigauge.
        lead_ns: For ranks that start together: how long before the start it was announced.
        late: Indices of samples, from 0, whose start was not announced to every rank in time; in no estimate.
            They include those of behind if these are at most a tenth.
        behind: Indices of samples whose start was announced to a rank in time but missed, as something else
            had its core.
        skew_ns: One per sample: last start - first start.
        root_ns: One per sample: end - start at the root.
        local_ns: One per sample: the median over ranks of end - start.
        rank_ns: One per rank, of patterns whose ranks work apart: the median over samples of end - start.
        pure_ns: Samples of the same operation without the computation of its mode; without late ones.
        work_ns: Time of that computation alone.
        line_ns: Time to hand over one cache line between ranks of the visit that share a host, one way,
            before and after its samples: the median over pairs of neighbours; empty if not known.
        line_worst_ns: Time of the slowest pair, likewise.
        path_ns: Half of the fastest empty round trip between two ranks on different hosts, likewise.
        alu_ns: Time of a dependent chain of arithmetic of fixed length on the slowest rank, likewise.
        issue_ns: Time of arithmetic of fixed length that keeps all units of a core busy, likewise.
        switches: Involuntary context switches of all ranks; -1 if not known.
        wait_ns: How long the worst rank was ready to run but had no core; -1 if not known.
        steal_ns: Steal time of all cores of the first rank's host; -1 if not known.
        moves: Ranks that ended on another core than they began on; -1 if not known.
        retransmits: TCP segments that were retransmitted; -1 if not known.
    """

    batch: Positive
    ops: Positive
    pool_bytes: Int64
    trial_ns: Sequence[Nanoseconds]
    warmup_ns: Sequence[Nanoseconds]
    samples_ns: Annotated[Sequence[Nanoseconds], Meta(min_length=1)]
    correlation_time: Number = 1.0
    effective: Number = 0.0
    half_width: Number | None = None
    backwards: Int64 = 0
    corrupt: ShortText = ""
    verified: bool = True
    net_bytes: Int64 = 0
    net_calls: Int64 = 0
    ip_received_bytes: Int64 = 0
    ip_sent_bytes: Int64 = 0
    rdma_received_bytes: Int64 = 0
    rdma_sent_bytes: Int64 = 0
    uncounted_cards: Int64 = -1
    by_card: Annotated[tuple[CardTraffic, ...], Meta(max_length=MAX_CARDS_REPORTED)] = ()
    lead_ns: Int64 = 0
    late: Sequence[Int64] = []
    behind: Sequence[Int64] = []
    skew_ns: Sequence[Nanoseconds] = []
    root_ns: Sequence[Int64] = []
    local_ns: Sequence[Int64] = []
    rank_ns: Sequence[Int64] = []
    pure_ns: Sequence[Nanoseconds] = []
    work_ns: Int64 = 0
    line_ns: list[Reading] = []
    line_worst_ns: list[Reading] = []
    path_ns: list[Reading] = []
    alu_ns: list[Reading] = []
    issue_ns: list[Reading] = []
    switches: Int64 = -1
    wait_ns: Int64 = -1
    steal_ns: Int64 = -1
    moves: Int64 = -1
    retransmits: Int64 = -1

    def __post_init__(self) -> None:
        """Check that lists match the samples.

        Raises:
            ValueError: They do not; a line of the journal is then ignored, one of a result file damaged.
        """
        rounds = len(self.samples_ns)
        if not len(self.skew_ns) == len(self.root_ns) == len(self.local_ns) in (0, rounds):
            raise ValueError(f"skew_ns, root_ns and local_ns do not all have {rounds} entries")
        named = (*self.late, *self.behind)
        if named and not 0 <= min(named) <= max(named) < rounds:
            raise ValueError(f"late or behind names a sample that is none of {rounds}")
        if not _NONE_OR_BOTH.issuperset(map(len, _readings_of(self))):
            torn = (name for name in READINGS if len(getattr(self, name)) not in _NONE_OR_BOTH)
            raise ValueError(f"{next(torn)} is not one reading before and one after the samples")


class EagerCore(Struct, frozen=True, kw_only=True):
    """The part of an eager limit that the kernel reports.

    Attributes:
        found: False if there is none up to max_bytes, or if it moved with the polling time.
        control_held: Whether the same probe with MPI_Issend never completed, as it must not.
        limit_bytes: Largest message that completed before it was received.
        longer_bytes: Largest message that did with longer polling.
        max_bytes: Largest message that was tried.
        probes: Number of probes.
    """

    found: bool
    control_held: bool
    limit_bytes: Int64
    longer_bytes: Int64
    max_bytes: Int64
    probes: Int64


class CrossingSamples(Struct, frozen=True):
    """Round trips of a ping-pong around the eager limit, of four sizes in turn.

    Attributes:
        at_limit_ns: Of messages of the eager limit.
        above_ns: One byte more.
        below_ns: 8 B less than the limit.
        below_odd_ns: 7 B less.
    """

    at_limit_ns: tuple[Int64, ...]
    above_ns: tuple[Int64, ...]
    below_ns: tuple[Int64, ...]
    below_odd_ns: tuple[Int64, ...]

    def __post_init__(self) -> None:
        """Check that each size was timed as often as the others, at least once.

        Raises:
            ValueError: It was not.
        """
        rounds = {len(self.at_limit_ns), len(self.above_ns), len(self.below_ns), len(self.below_odd_ns)}
        if len(rounds) > 1 or 0 in rounds:
            raise ValueError("the samples around the eager limit are not equally many of each size")
