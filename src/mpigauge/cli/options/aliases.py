"""Names of patterns, options and verbs from MPI and other benchmarks, and what they mean here.

To add one: a row in ALIASES or OPTIONS; of a value of an option, in `cli.options.foreign_values.VALUES`.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.cli.options.unmeasured import why_unmeasured
from mpigauge.errors import nearest
from mpigauge.plan import names
from mpigauge.plan.benchmarks import DATATYPES
from mpigauge.plan.names import normalised
from mpigauge.result.files import ENDINGS, as_argument, quoted
from mpigauge.show.formats import FOREIGN, GENERAL, TIMED
from mpigauge.vocabulary import RMA_WINDOWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class AliasMeaning(NamedTuple):
    """Meaning of an alias of a pattern.

    Attributes:
        pattern: Name of the pattern in the kernel.
        mode: Mode that the alias implies; empty if it implies none.
        note: How the two differ; empty if they are the same measurement.
    """

    pattern: str
    mode: str = ""
    note: str = ""


_INIT = "MPI_Init is timed in every launch, whatever it measures: mpigauge explain"
_CALL_ALONE = "one message there and back; send-overhead times the call alone"
_RECEIVE_ALONE = "one message there and back; recv-overhead times the call alone"

_BEHIND_NONE = "behind queues of several depths; with --depth 0 what IMB measures"
_WITH_ITS_RECEIVE = "timed with the message that it finds"
_IN_A_MESSAGE = "timed with the message that is sent so"
_OF_A_PARTITION = "timed with the message whose partitions it is for"
_ONE_WAY = "from rank 0 to rank 1 only"
_WITH_ITS_WINDOW = "timed with the window that memory is attached to"
_A_WHOLE_EPOCH = "timed with the call that begins the epoch"
_SEEN = "nobody has seen the data then; put-notify is until the target has"
_AGGREGATED = "one operation, then a flush; several before one flush are"

ALIASES = {
    "latency": AliasMeaning("pingpong"),
    "latencypersistent": AliasMeaning("pingpong", "persistent"),
    "bw": AliasMeaning("stream", "unidirectional"),
    "bandwidth": AliasMeaning("stream", "unidirectional"),
    "throughput": AliasMeaning("stream", "unidirectional"),
    "messagerate": AliasMeaning("stream", "unidirectional"),
    "bibw": AliasMeaning("stream", "bidirectional"),
    "bibandwidth": AliasMeaning("stream", "bidirectional"),
    "mbwmr": AliasMeaning("multi-stream", "unidirectional"),
    "uniband": AliasMeaning("multi-stream", "unidirectional"),
    "biband": AliasMeaning("multi-stream", "bidirectional"),
    "multilat": AliasMeaning("multi-pingpong"),
    "bwfanin": AliasMeaning("incast", "stream"),
    "bwfanout": AliasMeaning("outcast", "stream"),
    "fanin": AliasMeaning("incast", "stream"),
    "fanout": AliasMeaning("outcast", "stream"),
    "ping": AliasMeaning("pingpong"),
    "rtt": AliasMeaning("pingpong", note="its times are one way, half a round trip"),
    "roundtrip": AliasMeaning("pingpong", note="its times are one way, half a round trip"),
    "pingpongspecificsource": AliasMeaning("pingpong"),
    "pingping": AliasMeaning("exchange", "nonblocking"),
    "pingpingspecificsource": AliasMeaning("exchange", "nonblocking"),
    "send": AliasMeaning("pingpong", "standard", _CALL_ALONE),
    "isend": AliasMeaning("pingpong", "nonblocking", _CALL_ALONE),
    "bsend": AliasMeaning("pingpong", "buffered"),
    "ssend": AliasMeaning("pingpong", "synchronous"),
    "rsend": AliasMeaning("pingpong", "ready"),
    "recv": AliasMeaning("pingpong", "standard", _RECEIVE_ALONE),
    "irecv": AliasMeaning("pingpong", "nonblocking", _RECEIVE_ALONE),
    "sendinit": AliasMeaning("pingpong", "persistent"),
    "recvinit": AliasMeaning("pingpong", "persistent"),
    "sendrecv": AliasMeaning("shift", "sendrecv", "of all ranks; between two it is exchange --mode sendrecv"),
    "sendrecvreplace": AliasMeaning("exchange", "sendrecv-replace"),
    "broadcast": AliasMeaning("bcast"),
    **dict.fromkeys(("neighbor", "neighbour", "neighbors"), AliasMeaning("neighbours")),
    **dict.fromkeys(
        ("halo", "haloexchange", "ghost", "ghostexchange", "ghostcells", "stencil"),
        AliasMeaning("neighbours", "nonblocking", "of a line: both neighbours at once, one message to each"),
    ),
    "commidup": AliasMeaning("comm_dup", "nonblocking"),
    "commcreate": AliasMeaning("comm_create_group", "parent"),
    "commsplittype": AliasMeaning("comm_split", "hosts"),
    "sessioninit": AliasMeaning("session"),
    "sessionfinalize": AliasMeaning("session"),
    "init": AliasMeaning("session", note=_INIT),
    "initthread": AliasMeaning("session", note=_INIT),
    "startup": AliasMeaning("session", note=_INIT),
    "putlatency": AliasMeaning("put", "flush", _SEEN),
    "getlatency": AliasMeaning("get", "flush"),
    "acclatency": AliasMeaning("accumulate", "flush"),
    "acc": AliasMeaning("accumulate", "flush"),
    "getacclatency": AliasMeaning("get_accumulate", "flush"),
    "foplatency": AliasMeaning("fetch_and_op", "flush"),
    "fop": AliasMeaning("fetch_and_op", "flush"),
    "caslatency": AliasMeaning("compare_and_swap", "flush"),
    "cas": AliasMeaning("compare_and_swap", "flush"),
    "putbw": AliasMeaning("put-window", "flush"),
    "getbw": AliasMeaning("get-window", "flush"),
    "putbibw": AliasMeaning("put-window", "fence", _ONE_WAY),
    "rput": AliasMeaning("put", "request"),
    "rget": AliasMeaning("get", "request"),
    "unidirput": AliasMeaning("put", "flush", f"{_AGGREGATED} put-window"),
    "unidirget": AliasMeaning("get", "flush", f"{_AGGREGATED} get-window"),
    "bidirput": AliasMeaning("put", "flush", _ONE_WAY),
    "bidirget": AliasMeaning("get", "flush", _ONE_WAY),
    "oneputall": AliasMeaning("put", "flush", _ONE_WAY),
    "onegetall": AliasMeaning("get", "flush", _ONE_WAY),
    "allputall": AliasMeaning("put", "flush", _ONE_WAY),
    "allgetall": AliasMeaning("get", "flush", _ONE_WAY),
    "exchangeput": AliasMeaning("put", "flush", _ONE_WAY),
    "exchangeget": AliasMeaning("get", "flush", _ONE_WAY),
    "putlocal": AliasMeaning("put", "flush_local"),
    "getlocal": AliasMeaning("get", "flush_local"),
    "putalllocal": AliasMeaning("put", "flush_local", _ONE_WAY),
    "getalllocal": AliasMeaning("get", "flush_local", _ONE_WAY),
    "trulypassiveput": AliasMeaning("progress", "put"),
    "window": AliasMeaning("win_create", "create"),
    "winallocate": AliasMeaning("win_create", "allocate"),
    "winallocateshared": AliasMeaning("win_create", "shared"),
    "wincreatedynamic": AliasMeaning("win_create", "dynamic"),
    "winfree": AliasMeaning("win_create"),
    "winattach": AliasMeaning("win_create", "dynamic", _WITH_ITS_WINDOW),
    "windetach": AliasMeaning("win_create", "dynamic", _WITH_ITS_WINDOW),
    "winflush": AliasMeaning("put", "flush"),
    "winflushlocal": AliasMeaning("put", "flush_local"),
    "winlock": AliasMeaning("empty-epoch", "lock"),
    "winunlock": AliasMeaning("empty-epoch", "lock", _A_WHOLE_EPOCH),
    "winlockall": AliasMeaning("empty-epoch", "lock_all"),
    "winunlockall": AliasMeaning("empty-epoch", "lock_all", _A_WHOLE_EPOCH),
    "winfence": AliasMeaning("empty-epoch", "fence"),
    "winstart": AliasMeaning("empty-epoch", "pscw"),
    "wincomplete": AliasMeaning("empty-epoch", "pscw", _A_WHOLE_EPOCH),
    "winpost": AliasMeaning("empty-epoch", "pscw"),
    "winwait": AliasMeaning("empty-epoch", "pscw", _A_WHOLE_EPOCH),
    "pscw": AliasMeaning("empty-epoch", "pscw"),
    "fence": AliasMeaning("empty-epoch", "fence"),
    "eagerlimit": AliasMeaning("eager"),
    "pingponganysource": AliasMeaning("matching", "any-source", _BEHIND_NONE),
    "pingponganytag": AliasMeaning("matching", "any-tag", _BEHIND_NONE),
    "pingpinganysource": AliasMeaning(
        "matching", "any-source", "a ping-pong; IMB's PingPing sends both ways at once"
    ),
    "anysource": AliasMeaning("matching", "any-source"),
    "anytag": AliasMeaning("matching", "any-tag"),
    "probe": AliasMeaning("matching", "probe", _WITH_ITS_RECEIVE),
    "iprobe": AliasMeaning("matching", "probe", "MPI_Probe and not MPI_Iprobe"),
    "mprobe": AliasMeaning("matching", "mprobe", _WITH_ITS_RECEIVE),
    "improbe": AliasMeaning("matching", "mprobe", "MPI_Mprobe and not MPI_Improbe"),
    "mrecv": AliasMeaning("matching", "mprobe", "MPI_Mprobe and MPI_Mrecv"),
    "tagmatching": AliasMeaning("matching"),
    "unexpected": AliasMeaning("matching", "unexpected"),
    "derived": AliasMeaning("layout", "derived"),
    "datatype": AliasMeaning("layout", "derived"),
    "ddt": AliasMeaning("layout", "derived"),
    "ddtbench": AliasMeaning("layout", "derived"),
    "pack": AliasMeaning("layout", "pack", _IN_A_MESSAGE),
    "unpack": AliasMeaning("layout", "pack", _IN_A_MESSAGE),
    "typecontiguous": AliasMeaning("layout", "contiguous", "the bytes of one block"),
    "typevector": AliasMeaning("layout", "derived", _IN_A_MESSAGE),
    "typecreatehvector": AliasMeaning("layout", "derived", _IN_A_MESSAGE),
    "typeindexed": AliasMeaning("layout", "indexed", _IN_A_MESSAGE),
    "typecreatestruct": AliasMeaning("layout", "struct", _IN_A_MESSAGE),
    "typecreatesubarray": AliasMeaning("layout", "subarray-x", _IN_A_MESSAGE),
    "typecreateresized": AliasMeaning("layout", "elements", _IN_A_MESSAGE),
    "partitionedlatency": AliasMeaning("partitioned", "whole"),
    "perceivedbandwidth": AliasMeaning("early-bird", "partitioned"),
    "psend": AliasMeaning("partitioned", "whole"),
    "precv": AliasMeaning("partitioned", "whole"),
    "psendinit": AliasMeaning("partitioned", "whole", _OF_A_PARTITION),
    "precvinit": AliasMeaning("partitioned", "whole", _OF_A_PARTITION),
    "pready": AliasMeaning("partitioned", "whole", _OF_A_PARTITION),
    "preadyrange": AliasMeaning("partitioned", "range", _OF_A_PARTITION),
    "parrived": AliasMeaning("partitioned", "parrived", _OF_A_PARTITION),
    "rendezvous": AliasMeaning("eager"),
}
"""Meanings by alias, as `normalised` spells it."""

DIFFERENT = {
    **dict.fromkeys(("Exchange", "imb_exchange", "IMB_Exchange"), AliasMeaning("neighbours", "nonblocking")),
    **dict.fromkeys(
        ("MPI_Win_create", "mpi_win_create", "MPI_WIN_CREATE"), AliasMeaning("win_create", "create")
    ),
}
"""Words that equal a name of ours but for their case or prefix, and mean something else in this spelling."""

_WAITING = "MPI_Wait is timed with what it waits for: pingpong --mode nonblocking"
_ONE_SIDED = "one-sided operations are put, get and others, or measure all: --suite one-sided"
_ALL_PAIRS = "all pairs are measured by mpigauge map; for Slurm, mpigauge sbatch map, followed by its options"
_BOTH_WAYS = "one message each way at once is exchange, many are stream --mode bidirectional"
_SUITE = "mpigauge run without a pattern measures the usual ones"
CALLED_OTHERWISE = {
    "hello": "any pattern starts a job as osu_hello does, and mpigauge explain tells what MPI_Init takes",
    **dict.fromkeys(("rma", "ext", "onesided"), _ONE_SIDED),
    "start": "MPI_Start is timed with the persistent call that it starts: pingpong --mode persistent",
    **dict.fromkeys(("bidirectional", "duplex"), _BOTH_WAYS),
    "unidirectional": "that is a mode: stream --mode unidirectional",
    "h": "buffers are in the memory of the host in any case: leave H out",
    "nonblocking": "that is a mode: pingpong --mode nonblocking",
    "blocking": "that is a mode: MPI_Send is pingpong, MPI_Send beside MPI_Recv is exchange --mode blocking",
    "persistent": "that is a mode: pingpong --mode persistent",
    "synchronous": "that is a mode: pingpong --mode synchronous",
    "buffered": "that is a mode: pingpong --mode buffered",
    "overlap": "of a message it is message-overlap; of collectives a mode: allreduce --mode overlap",
    "p2p": f"{_SUITE}; ping-pong alone is pingpong",
    "pt2pt": f"{_SUITE}; ping-pong alone is pingpong",
    "pointtopoint": f"{_SUITE}; ping-pong alone is pingpong",
    "osu": f"{_SUITE}; osu_latency and its like are understood",
    "imb": f"{_SUITE}; PingPong and its like are understood",
    "all": f"{_SUITE}; name others one by one",
    "suite": _SUITE,
    "help": "mpigauge run --help shows the options, mpigauge list the patterns",
    "collective": "name them (barrier bcast allreduce), or measure all: --suite guidelines",
    "collectives": "name them (barrier bcast allreduce), or measure all: --suite guidelines",
    **dict.fromkeys(("map", "linkmap", "allpairs"), _ALL_PAIRS),
    "memory": "it is measured by memcpy, copy, read, write and chase",
    "overhead": "that of a call is send-overhead or recv-overhead; that of the instrument is in every result",
    "loggp": "mpigauge model fits such parameters to a result of pingpong",
    "logp": "mpigauge model fits such parameters to a result of pingpong",
}
"""Words of users, other programs and MPI for what is measured under other names, as `normalised` spells them;
what is not measured is in `unmeasured.UNMEASURED`.
"""

_COMMUNICATORS = (
    "of communicators the making is measured: comm_dup, comm_split, comm_create_group and cart_create"
)
_FAMILIES = {
    "wait": _WAITING,
    "psend": "messages in partitions are measured by partitioned",
    "precv": "messages in partitions are measured by partitioned",
    "partitioned": "messages in partitions are measured by partitioned",
    "mpi_test": _WAITING,
    "mpi_comm": _COMMUNICATORS,
    "mpi_cart": _COMMUNICATORS,
    "mpi_type": "derived datatypes are measured by layout, in messages, and their making by type_commit",
    "mpi_win": _ONE_SIDED,
    "mpi_pack": "packing is measured by layout --mode pack, in the messages that are packed",
}
"""Beginnings of words that name nothing else; some count only where MPI is mentioned."""

_PROGRAM_OF_IMB = re.compile(r"imb-(mpi1|p2p|nbc)")

_OVERLAP = "osu_i"
"""Prefix of OSU's nonblocking collectives, which measure overlap with a computation."""

_PERSISTENT = re.compile(r"(.+?)(init|persistent|persistpure|persist)")
"""Names of persistent collectives: MPI_Bcast_init, osu_bcast_persistent, and IMB's Bcast_persist_pure."""

_OVERLAP_OF_IMB = "persist"
"""Ending of IMB's persistent collectives that measure overlap with a computation."""


def meaning_of(word: str, patterns: Sequence[str]) -> AliasMeaning | None:
    """Return the meaning of a word; None if it is unknown.

    Args:
        patterns: Names that the kernel knows.
    """
    exact = word.removesuffix("()")
    if word in patterns or exact in DIFFERENT:
        return DIFFERENT.get(exact) or AliasMeaning(word)
    short, names = normalised(word), {normalised(name): name for name in patterns}
    if short in names:
        return AliasMeaning(names[short])
    if short in ALIASES:
        return ALIASES[short]
    if short.startswith("i") and short[1:] in names:
        overlaps = word.lower().startswith(_OVERLAP)
        return AliasMeaning(names[short[1:]], "overlap" if overlaps else "nonblocking")
    if (persistent := _PERSISTENT.fullmatch(short)) and persistent[1] in names:
        overlaps = persistent[2] == _OVERLAP_OF_IMB
        return AliasMeaning(names[persistent[1]], "persistent-overlap" if overlaps else "persistent")
    return None


def remark(word: str, meaning: AliasMeaning) -> str:
    """Return a note for an alias that means more or less than its pattern; empty if they are the same."""
    if not meaning.mode and not meaning.note:
        return ""
    return f"{word}: {', '.join(filter(None, (f'{meaning.pattern} {meaning.mode}'.strip(), meaning.note)))}"


def hint_for(word: str, patterns: Iterable[str]) -> str:
    """Return a hint for a word that does not name a pattern."""
    if other := plan_or_result_hint(word):
        return other
    names = list(patterns)
    if why := _why_not(word):
        return f"{why}: mpigauge list shows what is" if why.endswith("not measured") else why
    near = nearest(normalised(word), [*map(normalised, names), *ALIASES])
    found = meaning_of(near, names) if near else None
    if found is None:
        return "mpigauge list shows all patterns"
    called = f"{found.pattern} {found.mode}".strip()
    meant = found.pattern if near == normalised(found.pattern) else f"{near}, which is {called}"
    return f"did you mean {meant}? mpigauge list shows all patterns"


def plan_or_result_hint(word: str) -> str:
    """Return the hint for a word that is a plan or a result; empty if it is neither."""
    from mpigauge.plan import shipped

    path = Path(word)
    if path.suffix == shipped.SUFFIX:
        name = word if os.path.lexists(path) or path.stem not in shipped.plans() else path.stem
        return f"that is a plan file: mpigauge run --plan {as_argument(Path(name))}"
    if word in shipped.plans():
        return f"that is a plan: mpigauge run --plan {word}"
    if path.suffix == ".sh":
        return f"that is a script: sbatch {as_argument(path)}"
    if word.endswith(ENDINGS):
        return f"that is a result: mpigauge show {as_argument(path)}"
    return ""


def names_suite(word: str) -> bool:
    """Return whether a word is a program of IMB, which patterns follow."""
    return _PROGRAM_OF_IMB.fullmatch(word.lower()) is not None


def _why_not(word: str) -> str:
    """Return why a word does not name a pattern here; empty if the word is unknown."""
    if why := why_unmeasured(word):
        return why
    if names_suite(word):
        return CALLED_OTHERWISE["imb"]
    short = normalised(word)
    if short in CALLED_OTHERWISE:
        return CALLED_OTHERWISE[short]
    words = (short, word.lower())
    return next(
        (why for begin, why in _FAMILIES.items() if any(word_.startswith(begin) for word_ in words)), ""
    )


class OptionHint(NamedTuple):
    """Hint for an option of another program.

    Attributes:
        instead: Our option to use instead; the hint applies to verbs that have it.
        hint: The hint, with {} for the user's value.
        example: Value to show where the user gave none that fits.
        fits: Converts the user's value to one of ours; empty if that is impossible.
        several: Whether that is several words.
        takes: How many values follow theirs.
        lost: Whether there is nothing to type instead.
    """

    instead: str
    hint: str
    example: str = ""
    fits: Callable[[str], str] = str
    several: bool = False
    takes: int = 1
    lost: bool = False

    def filled(self, values: Sequence[str]) -> str:
        """Return the hint with the user's value.

        Args:
            values: Words after the option; possibly none is its value.
        """
        pair = self.takes > 1 and _are_a_pair(values)
        own = self.fits("=".join(values[:2]) if pair else values[0]) if values else ""
        value = own or self.example
        return self.hint.format(value if self.several else quoted(value))

    def invents(self, values: Sequence[str]) -> bool:
        """Return whether a value that is said is an example, for want of one that fits."""
        pair = self.takes > 1 and _are_a_pair(values)
        return bool(self.example) and not (values and self.fits("=".join(values[:2]) if pair else values[0]))

    def ours(self, values: Sequence[str]) -> list[str]:
        """Return the words of ours that do the same; none where it happens by itself."""
        _, *typed = _BEFORE_TYPED.split(self.filled(values).removesuffix("?"))
        return shlex.split(typed[-1]) if typed and _TYPED.fullmatch(typed[-1]) else []

    def taken(self, values: Sequence[str]) -> int:
        """Return how many of the words behind it are its values."""
        if not self.takes or not values or values[0].startswith("-"):
            return 0
        return self.takes if _are_a_pair(values) else 1


_BEFORE_TYPED = re.compile(r"(?:: |did you mean )(?=--)")
_TYPED = re.compile(r"--[a-z-]+(?: [^-\s]\S*(?: --\S+ [^-\s]\S*)*)?")
"""Options that a hint says to type, at its end."""


def _range(text: str) -> str:
    """Return the sizes of OSU's `MIN:MAX` or `MAX`."""
    return (
        text
        if re.fullmatch(r"\d+[KMG]?(:\d+[KMG]?|(,\d+[KMG]?)+)", text)
        else f"1:{text}"
        if text.isdigit()
        else ""
    )


def _powers(text: str) -> str:
    """Return the sizes of IMB's `MIN:MAX`, which are exponents of 2."""
    match = re.fullmatch(r"(\d{1,2})(?::(\d{1,2}))?", text)
    if match is None:
        return ""
    low, high = (match[1], match[2]) if match[2] else ("0", match[1])
    return f"{2 ** int(low)}:{2 ** int(high)}"


def _count(text: str) -> str:
    return text if re.fullmatch(r"[1-9]\d{0,8}", text) else ""


def _nodes(text: str) -> str:
    """Return names for as many hosts as a number of nodes says."""
    return f"node[1-{text}]" if _count(text) else ""


def _layout(text: str) -> str:
    """Return the options for OSU's `vect:STRIDE:BLOCK`."""
    match = re.fullmatch(r"vect:(\d{1,9}):(\d{1,9})", text)
    return f"--stride {match[1]} --block {match[2]}" if match else ""


def _slots(text: str) -> str:
    return f"node1:{text},node2:{text}" if _count(text) else ""


def _word(text: str) -> str:
    """Return the word unless it is another option."""
    return "" if text.startswith("-") else text


def _minutes(text: str) -> str:
    """Return a limit of a job; for Slurm a number alone is of minutes."""
    return f"{text}min" if _count(text) else ""


def _seconds(text: str) -> str:
    """Return a time to spend; a number alone is of seconds."""
    return f"{text}s" if _count(text) else _word(text)


def _doubled(text: str) -> str:
    """Return the numbers of ranks that IMB goes through from its least one."""
    return ",".join(str(int(text) * times) for times in (1, 2, 4)) if _count(text) else ""


def _datatype(text: str) -> str:
    """Return our name of a datatype that another program names as MPI or C does; empty if we lack it."""
    own, name = names.datatypes(), text.lower()
    theirs = {mpi.lower(): ours for ours, mpi in DATATYPES.items()}
    found = name if name in own else theirs.get(name) or theirs.get(f"mpi_{name}", "")
    return found if found in own else ""


def _root(text: str) -> str:
    """Return the root of OSU's `rotate` or `fixed:R`."""
    match = re.fullmatch(r"(?:fixed:)?([0-9]{1,9})", text)
    return match[1] if match else "rotating" if text == "rotate" else ""


def _rma_window(text: str) -> str:
    return text if text in RMA_WINDOWS else ""


def _assignment(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z_]\w*=.*", text) else ""


def _exported(text: str) -> str:
    """Return the variable of mpirun's -x as assigned here; empty for a number, which is OSU's warm-up."""
    return _assignment(text) or (f"{text}=VALUE" if re.fullmatch(r"[A-Z_][A-Z0-9_]*", text) else "")


_SIZES = OptionHint("--sizes", "message sizes are --sizes here: --sizes {}", "8:1024", _range)
_SAMPLES = OptionHint("--precision", "the number of samples follows from --precision and --budget")
_REPEATED = OptionHint("--launches", "what is repeated is the launch: --launches {}", "10", _count)
_WARM_UP = OptionHint("--precision", "warm-up is automatic")
_RANKS = OptionHint("--np", "the number of ranks is --np here: --np {}", "2", _count)
_NODES = OptionHint(
    "--hosts",
    "name the hosts: --hosts {}; inside a job of a scheduler they are known",
    "node1,node2",
    _nodes,
    lost=True,
)
_SLOTS = OptionHint(
    "--hosts", "say how many ranks a host takes: --hosts {}", "node1:2,node2:2", _slots, lost=True
)
_HOSTS = OptionHint("--hosts", "hosts, or a file of them, are --hosts here: --hosts {}", "node1,node2", _word)
_PLACED = OptionHint(
    "--placement",
    "--placement chooses hosts; the launcher is told of the rest: --mpi-option --map-by --mpi-option {}",
    "core",
    _word,
)
_VARIABLE = OptionHint("--env", "variables are --env here: --env {}", "NAME=VALUE", _assignment, takes=2)
_MCA = OptionHint(
    "--env", "parameters of Open MPI are variables: --env OMPI_MCA_{}", "btl=VALUE", _assignment, takes=2
)
_PATTERN = OptionHint("--sizes", "a pattern needs no option: mpigauge run {}", "pingpong", _word)
_BUDGET = OptionHint("--budget", "the time to spend is --budget here: --budget {}", "60s", _seconds)
_WINDOW = OptionHint("--window", "the window is --window here: --window {}", "64", _count)
_CHECKED = OptionHint("--precision", "payloads are always checked", takes=0)
_COLD = OptionHint("--buffers", "what comes nearest: --buffers cold")
_OF_REDUCTIONS = OptionHint(
    "--datatype", "datatypes of reductions are --datatype here: --datatype {}", "int32", _datatype
)
_NAMED = OptionHint(
    "--sizes", "patterns that are named are measured, no others: mpigauge run bcast allreduce"
)
_DEVICE = OptionHint("--sizes", why_unmeasured("gpu"), lost=True)
_EXPORTED = OptionHint(
    "--columns", "every run is kept; of its result: mpigauge show RESULT -o {}", "FILE", _word
)
_INTERFACE = OptionHint(
    "--env",
    "the library chooses it: --env UCX_NET_DEVICES={0}, or --env OMPI_MCA_btl_tcp_if_include={0}",
    "eth0",
    _word,
)
OPTIONS: Mapping[str, OptionHint] = {
    **dict.fromkeys(
        ("-m", "--message-size", "--msg-size", "--msgsize", "--bytes", "--length", "--len"), _SIZES
    ),
    "-msglog": OptionHint(_SIZES.instead, _SIZES.hint, _SIZES.example, _powers),
    "-msglen": _SIZES,
    **dict.fromkeys(
        ("-i", "-iter", "-iter_policy", "--iterations", "--iters", "--niter", "--repetitions", "--loops"),
        _SAMPLES,
    ),
    **dict.fromkeys(("--runs", "--repeat", "--repeats", "--reps", "--trials"), _REPEATED),
    **dict.fromkeys(("-x", "--warmup", "--warm-up", "--skip"), _WARM_UP),
    **dict.fromkeys(("-W", "-window_size"), _WINDOW),
    **dict.fromkeys(("-c", "-DCHECK", "--validation", "--validate", "--check"), _CHECKED),
    "-f": OptionHint(
        "--hosts",
        "a file of hosts is --hosts {} here; more statistics are --columns min,p5,p95,max",
        "FILE",
        _word,
    ),
    "-z": OptionHint("--columns", "percentiles are columns here: --columns p5,p25,p75,p95,p99"),
    "-k": OptionHint("--root", "roots are --root here: --root {}", "rotating", _root),
    "-l": OptionHint("--in-place", "did you mean --in-place?", takes=0),
    **dict.fromkeys(("-T", "-data_type", "-red_data_type"), _OF_REDUCTIONS),
    **dict.fromkeys(("-b", "-off_cache"), _COLD),
    "-npmin": OptionHint("--np", "several numbers of ranks are a list here: --np {}", "2,4,8", _doubled),
    "-root_shift": OptionHint("--root", "roots are --root here: --root rotating"),
    "-sync": OptionHint("--sync", "a barrier before each call: --sync mpi_barrier"),
    "-mem": OptionHint("--sizes", "a size that does not fit the memory is left out, and the result says why"),
    "-map": OptionHint("--hosts", "where ranks are is --hosts here, or placements of a plan"),
    **dict.fromkeys(("-exclude", "-include"), _NAMED),
    **{f"--{form}": OptionHint("--format", f"did you mean --format {form}?", takes=0) for form in GENERAL},
    **{
        f"--{form}": OptionHint("--columns", f"did you mean --format {form}?", takes=0)
        for form in (*TIMED, *FOREIGN)
    },
    **dict.fromkeys(("--tex",), OptionHint("--format", "did you mean --format latex?", takes=0)),
    "--md": OptionHint("--format", "did you mean --format markdown?", takes=0),
    **dict.fromkeys(
        ("--html", "--pdf"), OptionHint("--into", "a page is written by mpigauge report RESULT", takes=0)
    ),
    **dict.fromkeys(("--export-json", "--export-csv", "--export-markdown"), _EXPORTED),
    "--overwrite": OptionHint(
        "--output", "what is there is never replaced: remove it first, or name another file by -o", takes=0
    ),
    "-D": OptionHint(
        "--stride",
        "derived datatypes are a pattern here: mpigauge run layout --mode all {}",
        "--block 8",
        _layout,
        several=True,
        lost=True,
    ),
    **dict.fromkeys(("--ntasks", "--tasks", "--nprocs", "--nproc", "--procs", "--processes"), _RANKS),
    **dict.fromkeys(("--nodes", "-N"), _NODES),
    **dict.fromkeys(("--ppn", "-ppn", "--npernode", "-npernode", "--perhost", "-perhost"), _SLOTS),
    **dict.fromkeys(("--ntasks-per-node", "--tasks-per-node", "--ranks-per-node", "--slots"), _SLOTS),
    **dict.fromkeys(("--host", "-H", "-host", "-hosts", "--nodelist", "-w"), _HOSTS),
    **dict.fromkeys(("--hostfile", "-hostfile", "--machinefile", "-machinefile", "--machines"), _HOSTS),
    **dict.fromkeys(("--map-by", "-map-by", "--rank-by"), _PLACED),
    **dict.fromkeys(
        ("--bind-to", "-bind-to", "--cpu-bind", "--binding"),
        OptionHint(
            "--bind", "binding is --bind here: --bind core, or --bind none and the launcher's own option"
        ),
    ),
    **dict.fromkeys(("--genv", "-genv", "-env", "--export", "--setenv"), _VARIABLE),
    **dict.fromkeys(("--mca", "-mca"), _MCA),
    **dict.fromkeys(
        ("--oversubscribe", "--overcommit"),
        OptionHint("--np", "leave it out: launchers are told where there are more ranks than cores", takes=0),
    ),
    **dict.fromkeys(("--pattern", "--benchmark", "--bench", "--test"), _PATTERN),
    **dict.fromkeys(("--time", "--timeout", "--duration", "--time-limit", "-time"), _BUDGET),
    **dict.fromkeys(
        ("--type", "--dtype"), OptionHint("--datatype", "did you mean --datatype {}?", "double", _datatype)
    ),
    **dict.fromkeys(("-d", "--device", "--gpu", "--cuda", "--accelerator"), _DEVICE),
    **dict.fromkeys(
        ("-t", "--threads", "--num_threads"),
        OptionHint("--np", f"{why_unmeasured('threads')}; --np is ranks", lost=True),
    ),
    **dict.fromkeys(("--interface", "--iface", "--device-name", "--nic"), _INTERFACE),
    **dict.fromkeys(
        ("--pairs", "-p"),
        OptionHint(
            "--senders",
            "all pairs at once are multi-stream, fewer --senders 4; each pair is map, "
            'or in a plan pairs = "tournament"',
            lost=True,
        ),
    ),
    "-multi": OptionHint(
        "--groups", "groups of equal size are --groups 4 here, those of hosts --groups host"
    ),
    **dict.fromkeys(
        ("-v", "--verbose"), OptionHint("--sizes", "mpigauge show --all has all that was measured", takes=0)
    ),
}
"""Options of OSU, IMB, launchers and schedulers that no verb here has."""

OF_LAB: Mapping[str, OptionHint] = {
    **dict.fromkeys(
        ("--latency", "--lat", "--rtt"),
        OptionHint("--delay", "the delay of one way is --delay here: --delay {}", "20us", _word),
    ),
    **dict.fromkeys(
        ("--bandwidth", "--bw", "--speed"),
        OptionHint("--rate", "the rate of ports is --rate here: --rate {}", "1gbit", _word),
    ),
    **dict.fromkeys(
        ("--loss", "--drop", "--packet-loss", "--corrupt", "--duplicate", "--reorder", "--jitter"),
        OptionHint(
            "--rate", "a lab emulates rates and delays alone: no packet is lost, and each takes as long"
        ),
    ),
    **dict.fromkeys(
        ("--slow", "--slow-host", "--slow-node"),
        OptionHint("--host", "a host of its own: --host {}:delay=1ms", "h3", _word),
    ),
    "--slow-link": OptionHint("--link", "a link of its own: --link {}:delay=1ms", "h1-h3", _word),
    **dict.fromkeys(
        ("--nodes", "-N", "-n", "-np", "--np", "--ranks"),
        OptionHint("--hosts", "the number of hosts is --hosts here: --hosts {}", "4", _count),
    ),
}
"""Options that people type for `mpigauge lab`."""

OF_FIGURES: Mapping[str, OptionHint] = {
    "--overwrite": OptionHint("--kind", "leave it out: a figure is replaced, and nothing else is"),
    "--format": OptionHint("--kind", "the format is that of the name: -o figure.svg"),
    **dict.fromkeys(
        ("--log", "--logx", "--logy"), OptionHint("--kind", "axes are logarithmic unless --linear")
    ),
    **dict.fromkeys(("--size", "--figsize", "--dpi"), OptionHint("--kind", "the width is --width 84mm")),
    **dict.fromkeys(
        ("--table", "--type", "--plot"),
        OptionHint("--kind", "what is drawn is --kind here: --kind {}", "rate", _word),
    ),
}
"""Options that people type for `mpigauge plot`."""

OF_JOBS: Mapping[str, OptionHint] = {
    "-N": OptionHint("", "nodes are --nodes here: --nodes {}", "2", _count),
    "--ntasks-per-node": OptionHint("", "ranks on a node: --tasks-per-node {}", "1", _count),
    **dict.fromkeys(
        ("-t", "--time-limit"),
        OptionHint("", "the limit of the job is --time here: --time {}", "30min", _minutes),
    ),
    "-p": OptionHint("", "the partition is --partition here: --partition {}", "NAME", _word),
    **dict.fromkeys(
        (
            "--account",
            "-A",
            "--qos",
            "--constraint",
            "-C",
            "--mem",
            "--gres",
            "--reservation",
            "--mail-user",
            "-J",
        ),
        OptionHint("", "give it to Slurm's own sbatch, whose options go before those of the script"),
    ),
}
"""Options of Slurm's sbatch."""

BY_VERB: Mapping[str, Mapping[str, OptionHint]] = {
    "lab": OF_LAB,
    "plot": OF_FIGURES,
    "sbatch": OF_JOBS,
    "map": {"--prometheus": OptionHint("", "did you mean --format prometheus?")},
}
"""Options that mean something else for one verb."""

LAUNCHERS = ("srun", "aprun", "prun", "jsrun")
"""Programs besides mpirun and mpiexec that a command line may begin with."""

OF_OSU: Mapping[str, OptionHint] = {
    "-t": OptionHint(
        "--tests",
        "calls of MPI_Test during the computation are --tests here: --tests {}",
        "8",
        _count,
    ),
    "-f": OptionHint("--columns", "least and largest are columns here: --columns min,p5,p95,max", takes=0),
    "-r": OptionHint("--mode", "what computes in --mode overlap is a processor, never a GPU", lost=True),
    "-M": OptionHint("--sizes", "a size that does not fit the memory is left out, and the result says why"),
    "-G": OptionHint("--columns", "figures are drawn by mpigauge plot, afterwards", lost=True),
    "-P": OptionHint("--columns", "counters of MPI_T are not read", lost=True),
    "-V": OptionHint("--window", "several windows are several runs, such as --window 16", takes=0, lost=True),
}
"""Options that mean something else after the name of an OSU program, or that it alone has."""

ONE_SIDED_OPTIONS: Mapping[str, OptionHint] = {
    "-w": OptionHint("--rma-window", "windows are --rma-window here: --rma-window {}", "create", _rma_window),
    "-s": OptionHint("--mode", "how operations are synchronised is their mode: --mode {}", "flush", _word),
}
"""Options of OSU's one-sided programs."""

EXPORT = "-x"


def option_hint(option: str, typed: Sequence[str], options: Sequence[str]) -> str:
    """Return the hint for an option of another program; empty if there is none.

    Args:
        option: The option as it was parsed: one letter of `-msglog`.
        typed: Words of the command line.
        options: Options of the verb.
    """
    word = next((argument for argument in typed if argument.startswith(option)), option)
    word = option_before(word, typed, options) or word
    name, sign, value = word.partition("=")
    of_verb = BY_VERB.get(typed[0] if typed else "", {})
    own = of_verb.get(name) or of_verb.get(option)
    other = own
    other = other or (OPTIONS.get(name) if name != option else None)
    other = other or _of_programs(typed).get(option) or OPTIONS.get(option)
    if other is None or (own is None and other.instead not in options):
        return ""
    behind = [*typed[typed.index(word) + 1 :]] if word in typed else []
    glued = value if sign else "" if name in OPTIONS else name.removeprefix(option)
    values = [glued] if glued else behind
    if option == EXPORT and values and (exported := _exported(values[0])):
        return _VARIABLE.filled([exported])
    return other.filled(values)


def option_of(word: str, typed: Sequence[str]) -> tuple[OptionHint, str] | None:
    """Return the meaning of an option of another program, and a value that is glued to it; None if unknown.

    Args:
        typed: Words of the command line, whose programs say what an option is.
    """
    name = word.partition("=")[0]
    short, known = word[:2], {**OPTIONS, **_of_programs(typed)}
    if word.startswith(EXPORT) and name == EXPORT and any(map(_exported, typed)):
        return _VARIABLE, ""
    if name in known:
        return known[name], ""
    return (known[short], word[2:]) if short in known and not word.startswith("--") else None


def _of_programs(typed: Sequence[str]) -> Mapping[str, OptionHint]:
    """Return the options of the programs that a command line names, where they differ from others."""
    of_osu = OF_OSU if any(PurePath(word).name.lower().startswith("osu_") for word in typed) else {}
    return {**of_osu, **(ONE_SIDED_OPTIONS if _asks_for_one_sided(typed) else {})}


def option_before(word: str, typed: Sequence[str], options: Sequence[str]) -> str:
    """Return the option of another program that a word follows and no error names; empty if there is none.

    Such a one begins with a letter of ours: `-npmin 4` is `-n pmin`, and a pattern 4.
    """
    before = typed[typed.index(word) - 1] if word in typed[1:] else ""
    return before if before in OPTIONS and before[:2] in options else ""


def _asks_for_one_sided(typed: Iterable[str]) -> bool:
    """Return whether any word of a command line names a one-sided pattern."""
    from mpigauge.plan.patterns import known

    patterns = names.patterns()
    meanings = (meaning_of(word, patterns) for word in typed if not word.startswith("-"))
    return any(known()[meaning.pattern].one_sided for meaning in meanings if meaning is not None)


def _are_a_pair(values: Sequence[str]) -> bool:
    """Return whether an option is followed by a name and a value, as for mpiexec."""
    return len(values) > 1 and not any(value.startswith("-") or "=" in value for value in values[:2])


VERBS = {"help": "--help", "version": "--version"}
"""Verbs of other programs that are options here."""

SAME_AS_VERBS = {
    **dict.fromkeys(("measure", "bench", "benchmark", "start", "test", "mpirun", "mpiexec", "exec"), "run"),
    **dict.fromkeys(("continue", "restart"), "resume"),
    **dict.fromkeys(("table", "print", "view", "cat", "summary", "stats"), "show"),
    **dict.fromkeys(("figure", "graph", "draw"), "plot"),
    **dict.fromkeys(("html", "page"), "report"),
    **dict.fromkeys(("diff", "cmp"), "compare"),
    **dict.fromkeys(("fit", "predict"), "model"),
    **dict.fromkeys(("trend", "log"), "history"),
    **dict.fromkeys(("patterns", "ls"), "list"),
    **dict.fromkeys(("info", "env", "diagnose"), "doctor"),
    **dict.fromkeys(("slurm", "srun", "submit"), "sbatch"),
    **dict.fromkeys(("convert", "load"), "import"),
    **dict.fromkeys(("install", "libraries"), "mpi"),
}
"""Common names for our verbs."""
