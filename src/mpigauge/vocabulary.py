"""The words that files, options and output share: statuses, kinds, reasons, choices. One list of each.

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
"""Whether hosts are asked before a campaign: all but those that a scheduler has given us, all, or none."""

Sync = Literal["common", "barrier", "mpi_barrier"]
Pairing = Literal["tournament", "serial"]
Until = Literal["precise", "decided"]
"""What a campaign goes on for: narrow intervals, or a verdict on two that it measures in turn."""

Control = Literal["auto", "yes", "no"]
"""Whether what others are held against is measured twice, so that a comparison sees what chance does."""

Arm = Literal["", "control"]
"""What launches are for: themselves, or to be held against others of the very same."""

Rotating = Literal["rotating"]
Statistic = Literal["median", "mean", "min", "p5", "p25", "p75", "p95", "p99", "max"]
"""Of a launch, what stands for it."""


Family = Literal["", "message", "collective", "memory", "probe", "floor"]
"""What a pattern is about; "" where an older or a foreign kernel does not say."""

POINT_TO_POINT: Final[frozenset[Family]] = frozenset({"message", "probe"})
"""Families of messages, and of what probes them."""

SuiteName = Literal["guidelines"]
"""Built-in plans that are asked for by name."""

AUTO: Final = "auto"
"""What a library chooses by itself."""

ALL: Final = "all"
"""Every one that there is."""

SAME_HOST: Final = "same-host"
"""The usual placement: all ranks on the first host that has slots for them."""

DIFFERENT_HOSTS: Final = "different-hosts"
"""Rank after rank on the next host, so that neighbours are never on one."""

ROTATING: Final[Rotating] = "rotating"
"""The root of a collective that is another rank in each round."""

CONTROL: Final[Arm] = "control"
"""Launches of what others are held against, made a second time: they cannot differ from the first."""

UNKNOWN: Final = "unknown"
"""The library of published figures that do not name one."""

IMPORTED: Final = "imported"
"""What no campaign of ours has measured: the origin of its library, the end of its file."""

BUFFERS: tuple[Buffers, ...] = get_args(Buffers)
TRANSPORTS: tuple[Transport, ...] = get_args(Transport)
BINDINGS: tuple[Binding, ...] = get_args(Binding)
CHECK_HOSTS: tuple[CheckHosts, ...] = get_args(CheckHosts)
CONTROL_CHOICES: tuple[Control, ...] = get_args(Control)
SYNCS: tuple[Sync, ...] = get_args(Sync)
PAIRINGS: tuple[Pairing, ...] = get_args(Pairing)
UNTILS: tuple[Until, ...] = get_args(Until)
STATS: tuple[Statistic, ...] = get_args(Statistic)
SUITES: tuple[SuiteName, ...] = get_args(SuiteName)

ENDS: frozenset[Statistic] = frozenset({"min", "max"})
"""Statistics that are a single sample."""

TAIL: frozenset[Statistic] = frozenset({"p95", "p99", "max"})
"""Statistics of the slowest samples."""

# ---- What became of it ---------------------------------------------------------------------------

Status = Literal["ok", "blocked", "corrupt", "failed", "timeout", "skipped"]
"""Of a cell: measured; not started, since it would deadlock; wrong payload; crashed; hung; not reached."""

FailureKind = Literal["crash", "timeout", "corrupt", "refused", "undead"]
"""Of a record: what went wrong in one launch; undead are processes of it that could not be ended."""

PackedDamage = Literal["cut", "damaged", "altered"]
"""What is wrong with a compressed result: it ends in the middle; it cannot be unpacked from somewhere on; it
can, but its checksum is wrong."""

GAP = "[...]"
"""Stands in a job's last words for the lines that were not kept."""

EndReason = Literal["converged", "decided", "launches", "budget", "interrupted", "failed", "imported"]
"""Why measuring stopped."""

SkipReason = Literal["precise", "share", "closed", "time"]
"""Why the kernel left a visit out."""

STATUSES: tuple[Status, ...] = get_args(Status)
END_REASONS: tuple[EndReason, ...] = get_args(EndReason)
SKIP_REASONS: tuple[SkipReason, ...] = get_args(SkipReason)

BROKEN: frozenset[Status] = frozenset({"failed", "timeout", "corrupt"})
"""Statuses that make the exit status 1: the program that was measured did not do its work."""

UNMEASURED: frozenset[Status] = frozenset({"skipped", "blocked"})
"""Statuses of cells without a time that nothing has gone wrong with."""

RESUMABLE: frozenset[EndReason] = frozenset({"interrupted", "failed"})
"""Ends after which something is left to do."""

STATUS_OF_FAILURE: dict[FailureKind, Status] = {
    "crash": "failed",
    "refused": "failed",
    "timeout": "timeout",
    "corrupt": "corrupt",
    "undead": "failed",
}
"""What a cell is that was not measured because of it."""

CardKind = Literal["ip", "rdma"]
"""How messages go through a network card: as packets of IP, or past IP, written to memory by the card."""

ENDS_JOB: frozenset[FailureKind] = frozenset({"crash", "timeout"})
"""What ends a job with a cell in it, which would do so again."""

DifferenceKind = Literal["host", "hosts", "processor", "cores", "system", "caches", "mpigauge", "build"]
"""In what a campaign that goes on may be unlike what it was begun as."""

RefutationKind = Literal["reported", "not-on-network", "on-network", "on-cards", "around-the-lab"]
"""Why a label is not true: the library says so; too few bytes on IP interfaces, or too many; too many on
cards that know RDMA; past a lab's network."""

Proof = Literal["proven", "refuted", "unknown"]
"""What the bytes on network cards say of a label."""

DoubtOfProof = Literal["uncounted", "older", "small", "uneven"]
"""Why it is unknown: a card could not be counted; an older mpigauge counted IP alone; too little was sent;
cards carried much during a few visits."""

# ---- What it means -------------------------------------------------------------------------------

Verdict = Literal["slower", "faster", "same", "undecided"]
"""Of one thing against another, by the one rule of `stats.decision`."""

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

DIFFERENT: frozenset[Verdict] = frozenset({"slower", "faster"})
"""Verdicts that there is a difference."""

ComparisonVerdict = Literal["slower", "faster", "same", "undecided", "machine"]
"""Of a whole comparison: something is slower, or lost; some is faster and the rest passes; all passes; not
known; what cannot differ did."""

PASSES: frozenset[ComparisonVerdict] = frozenset({"faster", "same"})
"""Comparisons after which nothing needs to be done."""

ExpectationVerdict = Literal["fails", "undecided", "holds"]
"""Of a number that somebody expects: by its interval, or for want of one; the worst first."""

EXPECTATION_VERDICTS: tuple[ExpectationVerdict, ...] = get_args(ExpectationVerdict)

Quantity = Literal["time", "latency", "bandwidth", "busbw"]
"""Of an operation: its time, under two names; bytes moved over it; its bus bandwidth."""

QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)
TIMES: frozenset[Quantity] = frozenset({"time", "latency"})

ClaimKind = Literal["value", "ratio", "difference", "grows", "from", "peak", "limit"]
"""Of a conclusion of a report: a number; two of them, divided or subtracted; along sizes or ranks, each above
the one before; the size from which on a ratio is so; the best rate or its size; the largest message that does
not block."""

ClaimQuantity = Literal[Quantity, "spread", "first", "cpu", "size"]
"""What a conclusion is about: as of an expectation; the standard deviation over the mean; the first sample
over the typical one; the share of their time that ranks were on a core; the size that is best."""

ClaimAlong = Literal["bytes", "ranks"]
"""Along what a time grows."""

Quantifier = Literal["all", "most", "any"]
"""Of how many numbers a conclusion is to hold: of every one, of more than half, of one at least."""

ClaimVerdict = Literal["confirmed", "refuted", "undecided", "untestable", "untested"]
"""Of a conclusion, by what was measured here: it cannot be tested here, or was not."""

ClaimGap = Literal["untestable", "planted", "unmeasured"]
"""Why there is no verdict: as the claim itself says; the plan of a lab has put the number in; nobody has
measured it."""

CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)
CLAIM_KINDS: tuple[ClaimKind, ...] = get_args(ClaimKind)

CLAIMS_OF_TWO: frozenset[ClaimKind] = frozenset({"ratio", "difference", "from"})
"""Kinds that hold cells against others."""

CLAIMS_OF_SIZES: frozenset[ClaimKind] = frozenset({"from", "limit"})
"""Kinds whose number is a size."""

SHARES: frozenset[ClaimQuantity] = frozenset({"spread", "cpu"})
"""Quantities that are shares of something."""

BEST: frozenset[ClaimQuantity] = frozenset({"bandwidth", "busbw", "size"})
"""What there is a best of."""

RATES: frozenset[ClaimQuantity] = BEST - {"size"}
"""Quantities in bytes per second."""

GuidelineKind = Literal["mock-up", "split", "monotony", "ranks"]
"""What an operation should not be slower than: other operations that do the same; itself with more bytes;
itself called several times, each with a part of the bytes."""

Contrasted = Literal["mode", "library", "setting"]
"""In what two curves of one place may differ."""

GrowthLaw = Literal["logarithmic", "linear", "proportional"]
"""How the time of an operation of p ranks grows: as log2 p, rounds of a tree; as p - 1, messages of one rank;
as p, messages of a lap."""

BreakKind = Literal["eager-limit", "found", "possible"]
"""Of a break between segments of a model: known from a probe; had by most replicates; by fewer."""

_OfRounds = Literal["linear", "binomial", "recursive-doubling", "recursive-halving", "ring-of-blocks"]
AlgorithmName = Literal[_OfRounds, "rabenseifner", "van-de-geijn", "pairwise", "bruck"]
"""Of collectives."""

OverheadOf = Literal["", "send", "receive"]
"""Whose processor a time is of, where it is that of a call and not of a message."""

NoLatency = Literal["overlap", "unsure", "missing", "large"]
"""Why there is no L: o_s + o_r are as long as a message; may be; a part was not measured; it is large."""

NoBehaviour = Literal["few-ranks", "no-message"]
"""Why nothing is said of a collective: too few numbers of ranks with a core each; no model of messages."""

PredictionBasis = Literal["measured", "interpolated", "at-break", "extrapolated", "no-slope"]
"""What a predicted time rests on: its size was measured; lies between sizes of a segment; between two
segments; beyond all sizes; beyond them, where the last segment has no slope, so that there is no time."""

NoInterval = Literal["far", "single-launch"]
"""Why a predicted time has no interval: its size is beyond twice those that were measured, where nobody knows
the next break; there are fewer than two launches."""

MapVerdict = Literal["slow", "failed", "none", "undecided"]
"""Of a link map: something is slow; some link could not be measured; nothing is slow; not known."""

Disturbance = Literal[
    "network-on-host", "traced", "disturbed", "settings", "small-shared-memory", "another-mpi"
]
"""What changes numbers by factors while nothing fails, the worst first: messages of one host that went over a
network; a debugger or tracer on a rank; other programs on the cores; variables and parameter files that
choose what is measured; a /dev/shm without room; a library from PyPI in place of another one on PATH."""

_Missing = Literal["damaged", "unread", "broken", "cut-short", "not-reached", "left-out"]
_OfAll = Literal[_Missing, "unsteady-machine", "throttled", "portable-library"]
Trouble = Literal[Disturbance, _OfAll]
"""Of a whole result, beside its disturbances: lines of its file that are no records; lines of
an imported text that are no rows; cells without a time; an
end too early; no time left for cells; cells that cannot be and were not tried; a machine whose speed changed;
a limit of processor time that stopped us; a library that runs everywhere and so may lack what is fast
here."""

MISSING: frozenset[Trouble] = frozenset(get_args(_Missing))
"""Troubles that numbers are not there."""

DISTURBANCES: tuple[Disturbance, ...] = get_args(Disturbance)
"""The worst first."""

SettingOf = Literal[
    "transport", "preload", "waiting", "binding", "algorithm", "interface", "protocol", "allocator"
]
"""What a variable or a parameter file chooses that changes what is measured, the worst first: the way of the
messages; a library loaded before all others; whether ranks poll, yield or have progress threads; where they
run; algorithms of collectives; the network card; how messages of a size are sent; how memory is given out."""

SETTINGS: tuple[SettingOf, ...] = get_args(SettingOf)

LeftOutKind = Literal["counts", "library", "buffer", "memory"]
"""What forbids a cell: an int cannot count its elements; the library lacks the large counts of MPI 4;
MPI_Buffer_attach cannot take what it lends; its buffers do not fit into the memory."""

Distance = Literal["line", "path"]
"""What tells how far apart ranks are: a cache line handed over on a host, an empty message between hosts."""

MachineSign = Distance | Literal["arithmetic"]
"""What shows the machine itself, beside cells without any library: how far apart ranks are, and how fast a
fixed piece of arithmetic is."""

StateName = Literal["near", "mid", "far"]
"""Of the states that a machine was in, by how long a line or a path takes in each."""

Nearness = Literal["core", "cache", "apart"]
"""Of ranks on one host: threads of one core; cores that share the last cache; neither."""

Seats = Literal["fixed", "free", "changed", "unknown"]
"""Of ranks: bound to the same cores in all launches; free to move; bound to others from launch to launch."""

StateChoice = Literal["near", "mid", "far", "all"]
"""Which states to show: one, or a line for each."""

OnlyChoice = Literal["quiet"]
"""Which visits to show: those during which nobody else used the cores."""

STATE_NAMES: tuple[StateName, ...] = get_args(StateName)
STATE_CHOICES: tuple[StateChoice, ...] = get_args(StateChoice)
ONLY_CHOICES: tuple[OnlyChoice, ...] = get_args(OnlyChoice)

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
"""As what a cell is quoted among the few numbers that answer for a whole result, in their order."""

QUOTED_RATES: frozenset[QuotedAs] = frozenset(
    {"bandwidth", "both-directions", "operation-bandwidth", "memory-bandwidth"}
)
"""Those that are bytes in a second."""

QUOTED_MESSAGES: frozenset[QuotedAs] = frozenset({"message-rate", "operation-message-rate"})
"""Those that are messages in a second."""

QUOTED_BY_MODE: frozenset[QuotedAs] = frozenset({"latency", "bandwidth", "both-directions", "message-rate"})
"""Those of messages, whose mode is said where a result has several."""

QUOTED_ALONE: frozenset[QuotedAs] = frozenset({"eager-limit", "copies"})
"""Quotes of which there is one, whatever the modes."""

QUOTED_TIMES: frozenset[QuotedAs] = frozenset({"latency", "operation", "memory-time"})
"""Those that are a time."""

QUOTED_BY_PATTERN: frozenset[QuotedAs] = frozenset(
    {"operation", "operation-bandwidth", "operation-message-rate", "memory-bandwidth", "memory-time"}
)
"""Those of which there is one for every pattern."""

FindingState = Literal["ok", "info", "note", "lacks"]
"""Of what the doctor looks at: in order; told, or not known; disturbs a measurement; makes it impossible."""

FINDING_STATES: tuple[FindingState, ...] = get_args(FindingState)
"""From the best to the worst."""
