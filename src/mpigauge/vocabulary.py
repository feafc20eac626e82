"""Words that files, options and output share: statuses, kinds, reasons, choices. One list of each.

Without imports of our own, so that `--help` may read it. A set or a tuple of such words is derived from its
Literal, never written again. To add a word: in its Literal; mypy then names the tables that lack its words
for people.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

# ---- What is asked for ---------------------------------------------------------------------------

Buffers = Literal["warm", "cold"]
Transport = Literal["auto", "shm", "tcp"]
Binding = Literal["auto", "core", "none"]
CheckHosts = Literal["auto", "ssh", "no"]
"""Check of hosts before a campaign: of hosts that no scheduler has allocated, of all, or of none."""

Sync = Literal["common", "barrier", "mpi_barrier"]
RmaWindow = Literal["allocate", "create", "dynamic", "shared"]
"""How one-sided operations get their memory: the function of MPI that makes their window."""

MADE_BY_MPI: Final[frozenset[RmaWindow]] = frozenset({"allocate", "shared"})
"""Kinds of windows whose memory MPI has made, and can share between ranks of a host."""

Pairing = Literal["tournament", "serial"]
Until = Literal["precise", "decided"]
"""Goal of a campaign: narrow intervals, or a verdict on two sides that it measures in turn."""

Control = Literal["auto", "yes", "no"]
"""Whether the base of a comparison is measured twice, to show the differences that chance makes."""

Arm = Literal["", "control"]
"""Purpose of launches: to be compared, or to be a control that equals the base."""

Rotating = Literal["rotating"]
Statistic = Literal["median", "mean", "min", "p5", "p25", "p75", "p95", "p99", "max"]
"""Statistic of the samples of a launch."""

OF_A_POINT: tuple[Statistic, ...] = ("min", "median", "p95", "p99", "max")
"""Statistics of the samples behind a point of a chart."""


Family = Literal["", "message", "collective", "one-sided", "memory", "probe", "floor", "startup"]
"""Family of a pattern; "" where an older or a foreign kernel does not name it."""

POINT_TO_POINT: Final[frozenset[Family]] = frozenset({"message", "probe"})
"""Families of messages and their probes."""

OF_ALL_RANKS: Final[frozenset[Family]] = frozenset({"collective", "startup"})
"""Families of what all ranks do together."""

SuiteName = Literal["guidelines", "pairs", "one-sided", "overlap"]
"""Built-in plans by name."""

AUTO: Final = "auto"
"""Choice of the library itself."""

ALL: Final = "all"
"""Choice of everything."""

NATURAL: Final = "natural"
"""Order of ranks as they are numbered."""

SAME_HOST: Final = "same-host"
"""Default placement: all ranks on the first host that has slots for them."""

DIFFERENT_HOSTS: Final = "different-hosts"
"""Placement of consecutive ranks on different hosts."""

ROTATING: Final[Rotating] = "rotating"
"""Root of a collective that is another rank in each round."""

CONTROL: Final[Arm] = "control"
"""Launches that repeat those of the base, and so cannot differ from them."""

UNKNOWN: Final = "unknown"
"""Library of published numbers that do not name one."""

IMPORTED: Final = "imported"
"""Origin of a library, and end of a file, that no campaign of mpigauge has measured."""

BUFFERS: tuple[Buffers, ...] = get_args(Buffers)
TRANSPORTS: tuple[Transport, ...] = get_args(Transport)
BINDINGS: tuple[Binding, ...] = get_args(Binding)
CHECK_HOSTS: tuple[CheckHosts, ...] = get_args(CheckHosts)
CONTROL_CHOICES: tuple[Control, ...] = get_args(Control)
SYNCS: tuple[Sync, ...] = get_args(Sync)
RMA_WINDOWS: tuple[RmaWindow, ...] = get_args(RmaWindow)
PAIRINGS: tuple[Pairing, ...] = get_args(Pairing)
UNTILS: tuple[Until, ...] = get_args(Until)
STATS: tuple[Statistic, ...] = get_args(Statistic)
SUITES: tuple[SuiteName, ...] = get_args(SuiteName)

ENDS: frozenset[Statistic] = frozenset({"min", "max"})
"""Statistics that are a single sample."""

TAIL: frozenset[Statistic] = frozenset({"p95", "p99", "max"})
"""Statistics of the slowest samples."""

# ---- What became of it ---------------------------------------------------------------------------

Status = Literal["ok", "blocked", "corrupt", "failed", "timeout", "skipped", "late"]
"""Status of a cell: measured; not started, since it would deadlock; wrong payload; crashed; hung; not
reached; of no use, since packets of an emulated network were late."""

FailureKind = Literal["crash", "timeout", "corrupt", "refused", "undead"]
"""Failure in one launch; `undead` means that processes could not be ended."""

PackedDamage = Literal["cut", "damaged", "altered"]
"""Damage of a compressed result: it ends early; it cannot be unpacked to the end; its checksum is wrong."""

LAUNCHER_ENDED = "its launcher was ended"
ENDED_BY = f"{LAUNCHER_ENDED} by {{}}"
ENDED_FIRST = "its launcher has ended before its ranks"
ORPHANED = f"{LAUNCHER_ENDED} from outside"
"""Reasons of a launcher that ended before its ranks: by a signal, by itself, or unseen."""

GAP = "[...]"
"""Placeholder for output lines of a job that were not kept."""

CUT = " ..."
"""Sign behind words of which the rest is not shown."""

REASON_MOST: Final = 300
"""Characters of the reason why a program failed, in its own words."""

EndReason = Literal["converged", "decided", "launches", "budget", "interrupted", "failed", "imported"]
"""Reason why a campaign stopped."""

SkipReason = Literal["precise", "share", "closed", "time"]
"""Reason why the kernel skipped a visit."""

STATUSES: tuple[Status, ...] = get_args(Status)
END_REASONS: tuple[EndReason, ...] = get_args(EndReason)
SKIP_REASONS: tuple[SkipReason, ...] = get_args(SkipReason)

BROKEN: frozenset[Status] = frozenset({"failed", "timeout", "corrupt"})
"""Statuses that make the exit status 1: the measured program failed."""

UNMEASURED: frozenset[Status] = frozenset({"skipped", "blocked"})
"""Statuses of cells without a time, though nothing has failed."""

RESUMABLE: frozenset[EndReason] = frozenset({"interrupted", "failed"})
"""Ends of campaigns that can be resumed."""

STATUS_OF_FAILURE: dict[FailureKind, Status] = {
    "crash": "failed",
    "refused": "failed",
    "timeout": "timeout",
    "corrupt": "corrupt",
    "undead": "failed",
}
"""Status of a cell that was not measured because of a failure."""

CardKind = Literal["ip", "rdma"]
"""Use of a network card: packets of IP, or memory access past IP."""

ENDS_JOB: frozenset[FailureKind] = frozenset({"crash", "timeout"})
"""Failures that end a job with a cell in it, and would do so again."""

DifferenceKind = Literal["host", "hosts", "processor", "cores", "system", "caches", "mpigauge", "build"]
"""Differences between a resumed campaign and its beginning."""

RefutationKind = Literal["reported", "not-on-network", "on-network", "on-cards", "around-the-lab"]
"""Evidence against a transport label: the library reports another; too few bytes on IP interfaces, or too
many; too many on RDMA cards; bytes past a lab's network."""

Proof = Literal["proven", "refuted", "unknown"]
"""Verdict of the bytes on network cards on a transport label."""

DoubtOfProof = Literal["uncounted", "older", "small", "uneven"]
"""Reason why a proof is unknown: a card could not be counted; an older mpigauge counted IP alone; too few
bytes were sent; cards carried many bytes during a few visits."""

# ---- What it means -------------------------------------------------------------------------------

Verdict = Literal["slower", "faster", "same", "undecided"]
"""Verdict on one side against another, by the rule of `stats.decision`."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

DIFFERENT: frozenset[Verdict] = frozenset({"slower", "faster"})
"""Verdicts of a difference."""

ComparisonVerdict = Literal["slower", "faster", "same", "undecided", "machine"]
"""Verdict of a whole comparison: something is slower, or missing; something is faster and the rest passes;
all passes; unknown; the control differs."""

PASSES: frozenset[ComparisonVerdict] = frozenset({"faster", "same"})
"""Verdicts of comparisons that pass."""

ExpectationVerdict = Literal["fails", "undecided", "holds"]
"""Verdict on a number that a user expects, by its interval; the worst first."""

EXPECTATION_VERDICTS: tuple[ExpectationVerdict, ...] = get_args(ExpectationVerdict)

Quantity = Literal["time", "latency", "bandwidth", "busbw"]
"""Quantity of an operation: its time, under two names; bytes moved over it; its bus bandwidth."""

QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)
TIMES: frozenset[Quantity] = frozenset({"time", "latency"})

ClaimKind = Literal["value", "ratio", "difference", "grows", "from", "peak", "limit"]
"""Kind of a claim: a number; a ratio or a difference of two; growth along sizes or ranks; the size from which
on a ratio holds; the best rate or its size; the largest message that does not block."""

ClaimQuantity = Literal[Quantity, "spread", "first", "cpu", "size"]
"""Quantity of a claim: as of an expectation; the standard deviation over the mean; the first sample over the
typical one; the share of time that ranks were on a core; the best size."""

ClaimAlong = Literal["bytes", "ranks"]
"""Factor along which a time grows."""

Quantifier = Literal["all", "most", "any"]
"""Share of the numbers for which a claim must hold: each, more than half, or at least one."""

ClaimVerdict = Literal["confirmed", "refuted", "undecided", "untestable", "untested"]
"""Verdict on a claim by what was measured here; untestable: it cannot be tested here, untested: it was not.
"""

ClaimGap = Literal["untestable", "planted", "unmeasured"]
"""Reason why a claim has no verdict: it states one; a lab's plan determines the number; nobody has measured
it."""

CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)
CLAIMS_OF_TWO: frozenset[ClaimKind] = frozenset({"ratio", "difference", "from"})
"""Kinds of claims that compare cells."""

CLAIMS_OF_SIZES: frozenset[ClaimKind] = frozenset({"from", "limit"})
"""Kinds of claims whose number is a size."""

SHARES: frozenset[ClaimQuantity] = frozenset({"spread", "cpu"})
"""Quantities that are fractions."""

BEST: frozenset[ClaimQuantity] = frozenset({"bandwidth", "busbw", "size"})
"""Quantities that have a maximum over sizes."""

RATES: frozenset[ClaimQuantity] = BEST - {"size"}
"""Quantities in bytes per second."""

GuidelineKind = Literal["mock-up", "split", "monotony", "ranks"]
"""Limit on the time of an operation: that of other operations with the same effect; of itself with more
bytes; of itself called several times, each with a part of the bytes; of itself with more ranks."""

Contrasted = Literal["mode", "library", "setting"]
"""Factors in which two curves of one place may differ."""

Varied = Literal["library", "setting", "place", "mode", "ranks", "order", "senders", "groups"]
"""Factors that an answer is about where a campaign has varied them."""

TOLD_AT_ONE_SIZE: frozenset[Varied] = frozenset({"place", "ranks"})
"""Factors whose values differ everywhere: of several, each is told at one size."""

_OfMessages = Literal[
    "eager-limit", "handshake", "buffer-copy", "plateau", "copies", "spread", "first-message", "first"
]
_OfParts = Literal["matching", "layout", "datatype", "partitioned", "moving", "hidden-beside"]
_OfRanks = Literal["ranks", "order", "senders", "groups", "pairs"]
_OfWindows = Literal["one-sided", "progress", "synchronisation", "window-kind", "atomics", "own-memory"]
_OfJobs = Literal["start-up", "yielding", "waiting"]
Topic = Literal[Contrasted, _OfMessages, _OfParts, _OfRanks, _OfWindows, _OfJobs, "place", "planted"]
"""Topic of a conclusion, as in `find.explain.topics`."""

TOPICS_IN_ANSWERS: tuple[Topic, ...] = (
    "one-sided",
    "progress",
    "window-kind",
    "synchronisation",
    "atomics",
    "hidden-beside",
    "moving",
    "matching",
    "layout",
    "partitioned",
)
"""Topics of `explain` that an answer has a line of, first when a target has seen data; jobs come before."""

PartFactor = Literal["depth", "block_bytes", "partitions"]
"""Factors that a message has instead of being one block that is matched at once."""

Mover = Literal["itself", "receiver", "sender", "test", "wait", ""]
"""Mover of a message while ranks compute: nothing of theirs; the processor of one side; calls of MPI_Test;
the call that waits; "" if that is not known, or it is hidden in part."""

GrowthLaw = Literal["logarithmic", "linear", "proportional"]
"""Growth of the time of an operation with p ranks: as log2 p, rounds of a tree; as p - 1, messages of one
rank; as p, messages of a lap."""

BreakKind = Literal["eager-limit", "found", "possible"]
"""Evidence for a break between segments of a model: a probe; most replicates; fewer replicates."""

_OfRounds = Literal["linear", "binomial", "recursive-doubling", "recursive-halving", "ring-of-blocks"]
AlgorithmName = Literal[_OfRounds, "rabenseifner", "van-de-geijn", "pairwise", "bruck"]
"""Names of algorithms of collectives."""

OverheadOf = Literal["", "send", "receive"]
"""Side whose call a time is of; "" if it is of a message."""

NoLatency = Literal["overlap", "unsure", "missing", "large"]
"""Reason why there is no L: o_s + o_r are as long as a message; may be; a part was not measured; the size is
large."""

NoBehaviour = Literal["few-ranks", "no-message"]
"""Reason why no algorithm is named: too few numbers of ranks with a core each; no model of messages."""

PredictionBasis = Literal["measured", "interpolated", "at-break", "extrapolated", "no-slope"]
"""Basis of a predicted time: its size was measured; is between sizes of a segment; between two segments;
beyond all sizes; beyond them where the last segment has no slope, so that there is no time."""

NoInterval = Literal["far", "single-launch"]
"""Reason why a predicted time has no interval: its size is beyond twice the measured ones, where the next
break is unknown; there are fewer than two launches."""

MapVerdict = Literal["slow", "failed", "none", "undecided"]
"""Verdict of a link map: something is slow; a link could not be measured; nothing is slow; unknown."""

SettingOf = Literal[
    "transport", "preload", "waiting", "binding", "algorithm", "interface", "protocol", "allocator"
]
"""Subjects of variables and parameter files that change a measurement, the worst first: the transport; a
preloaded library; polling, yielding and progress threads; binding; algorithms of collectives; the network
card; the protocol by size; memory allocation."""

SETTINGS: tuple[SettingOf, ...] = get_args(SettingOf)


LeftOutKind = Literal["counts", "library", "buffer", "memory", "largest", "same-ranks"]
"""Reasons why a cell is not measured: an int cannot count its elements; the library lacks the large counts of
MPI 4; MPI_Buffer_attach cannot take its buffer; its buffers do not fit into memory; its mode has no operand
of its size; another order or rule has the same ranks."""

Distance = Literal["line", "path"]
"""Measures of the distance of ranks: a cache line handed over on a host, an empty message between hosts."""

MachineSign = Literal["line", "arithmetic"]
"""Measures of the machine itself: a cache line handed over, and the time of fixed arithmetic."""

StateName = Literal["near", "mid", "far"]
"""Names of the states of a machine, by the distance of its ranks."""

Nearness = Literal["core", "cache", "apart"]
"""Nearness of ranks on one host: threads of one core; cores that share the last cache; neither."""

CoreBinding = Literal["fixed", "free", "changed", "unknown"]
"""Cores of ranks: the same in all launches; free to move; others from launch to launch."""

StateChoice = Literal["near", "mid", "far", "all"]
"""States to show: one, or a line for each."""

OnlyChoice = Literal["quiet"]
WithoutChoice = Literal["names"]
"""Visits to show: those during which no other program used the cores."""

STATE_NAMES: tuple[StateName, ...] = get_args(StateName)
STATE_CHOICES: tuple[StateChoice, ...] = get_args(StateChoice)
ONLY_CHOICES: tuple[OnlyChoice, ...] = get_args(OnlyChoice)
WITHOUT_CHOICES: tuple[WithoutChoice, ...] = get_args(WithoutChoice)

QuotedAs = Literal[
    "latency",
    "bandwidth",
    "both-directions",
    "message-rate",
    "operation",
    "operation-bandwidth",
    "operation-message-rate",
    "memory-bandwidth",
    "memory-time",
    "eager-limit",
    "copies",
]
"""Roles in which a cell is quoted in the short answer of a result, in their order."""

QUOTED_RATES: frozenset[QuotedAs] = frozenset(
    {"bandwidth", "both-directions", "operation-bandwidth", "memory-bandwidth"}
)
"""Quotes in bytes per second."""

QUOTED_MESSAGES: frozenset[QuotedAs] = frozenset({"message-rate", "operation-message-rate"})
"""Quotes in messages per second."""

QUOTED_BY_MODE: frozenset[QuotedAs] = frozenset({"latency", "bandwidth", "both-directions", "message-rate"})
"""Quotes of messages, which name the mode where a result has several."""

QUOTED_OF_PAIRS: frozenset[QuotedAs] = frozenset({"latency", "bandwidth", "both-directions"})
"""What is quoted of messages between two ranks, but for their rate."""

QUOTED_ALONE: frozenset[QuotedAs] = frozenset({"eager-limit", "copies"})
"""Quotes that occur once, whatever the modes."""

QUOTED_TIMES: frozenset[QuotedAs] = frozenset({"latency", "operation", "memory-time"})
"""Quotes that are times."""

QUOTED_BY_PATTERN: frozenset[QuotedAs] = frozenset(
    {"operation", "operation-bandwidth", "operation-message-rate", "memory-bandwidth", "memory-time"}
)
"""Quotes that occur once per pattern."""

FindingState = Literal["ok", "info", "note", "lacks"]
"""States of a finding of the doctor: in order; information; disturbs a measurement; makes it impossible."""
