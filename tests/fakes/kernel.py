"""A kernel of known truth: reads a plan and writes a journal whose every number follows from a law.

The law: one operation takes the library's latency, 10 ns for each mode that `--describe` lists before
its own, and 1 ns for every 10 B. An empty round takes 20 ns, a lap of the ring one operation a rank. A
collective, also one of the other broadcasts, takes the latency ceil(log2(ranks)) times, one rank alone
10 ns instead; its ranks start 5 ns apart, and each is as long in it as the whole. After our barrier it
takes 100 ns more and the ranks start 150 ns apart, after MPI_Barrier 200 ns and 250 ns. Half of it hides
behind a computation that takes as long (`overlap`). Memory:

    memcpy, read, write    5 ns and 1 ns for every 100 B; copy twice that with O3, four times with O0
    reduce_local           5 ns and 1 ns for every 50 B
    crosscopy              50 ns and 1 ns for every 50 B
    cacheline              60 ns one way
    chase                  a load takes 1 ns up to 32 KiB, 4 ns up to 1 MiB, 30 ns up to 16 MiB, then 100 ns

Before and after every visit a cache line needs 60 ns to the next rank of the host, an empty message the
latency to another host, give or take 1 %, and a chain of arithmetic 2000 ns; nothing disturbs a visit.

Time does not pass; the journal says that it did. Environment variables change what happens:

    FAKE_SPREAD=0.1      launches differ by up to so much, each by what follows from its plan
    FAKE_JITTER=0.1      samples differ by up to so much, each by what follows from its visit
    FAKE_NAP_S=0.01      a visit really takes so long
    FAKE_LATE=bcast:64   in every fourth round of this cell a rank comes 1000 ns late, where it can
    FAKE_FAST=memcpy:64  an operation of this cell takes 1 ns, as if it had been left out
    FAKE_SKEW_NS=50      how far apart ranks start that start at a common moment
    FAKE_CLOCKS=70       every rank has a clock of its own, found to be 70 ns off, give or take 50
    FAKE_CRASH=pingpong:64    dies in the middle of a line of this cell, or pingpong:64:0-3 of one pair of it;
                         FAKE_CRASH_AT=K: of visit K
    FAKE_HANG, FAKE_QUIT, FAKE_CORRUPT, FAKE_REFUSE    likewise: sleeps, ends with 0, and so on
    FAKE_REPORT=words    says words before its first line, as a library does that tells of itself
    FAKE_DEAD=words      says words and dies before its first line
    FAKE_SLOW="0-3:10 2:3"  takes 10 times as long between ranks 0 and 3, 3 times in all pairs of rank 2;
                         0-3:10:0.6 does in about 6 of 10 launches
    FAKE_STATES=near:40:0.3:2,far:245:1:5  is in these states in turn: handing over a cache line takes 40 ns
                         one way, messages up to 4 KiB 0.3 times as long, and after 2 s the next one comes
    FAKE_DISTURB=pingpong:64  ranks wait for a core in a tenth of the time of this cell
    FAKE_HOSTS=h1,h2,h2  on which hosts the ranks are
    FAKE_LIBRARY=text    claims to run on another library
    FAKE_SINGLETONS=1    the launcher did not make one job of the ranks
    FAKE_CHATTER=1       prints what is no journal between its lines
    FAKE_LOG=FILE        notes the process numbers of launcher and kernel

It runs without site-packages and imports little, so that a launch takes a few hundredths of a second.
"""

from __future__ import annotations

import marshal
import os
import sys
import time
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, NoReturn

VERSION = 2
MPI_STANDARD = 3
EAGER_LIMIT_BYTES = 4000
FLOOR_NS = 20
ALONE_NS = 10
CLOCK_COST_NS = 25
TICK_NS = 1_000_000_000
TRIALS = 9
WARMUPS = 2
BLOCK_ROUNDS = 16
SAMPLES_LEAST = OVERDRAFT = 8
LEAD_NS = 4000
LATE_NS = 1000
LATE_ONE_IN = 4
CLOCK_BOUND_NS = 50
LINE_NS, CHAIN_NS = 60.0, 2000.0
READING_SPREAD = 0.01
SMALL_BYTES = 4096
INT_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1
BSEND_OVERHEAD_BYTES = 128
EXIT_USAGE = 2

SYNCS = {"common": (0, 5), "barrier": (100, 150), "mpi_barrier": (200, 250)}
"""How much longer a collective takes than after a common start, and how far apart the ranks start."""

DESCRIPTION = os.path.join(os.path.dirname(__file__), "../../src/mpigauge/kernel/describe.json")  # noqa: PTH118, PTH120
"""What the real kernel says of itself; the fake has its patterns, datatypes and operations."""


def _read() -> dict[str, Any]:
    """As JSON, once; later from a compiled copy, since to import json alone takes as long as a launch."""
    copy = os.path.join(os.path.dirname(__file__), "__pycache__", "describe.marshal")  # noqa: PTH118, PTH120
    known = os.stat(DESCRIPTION).st_mtime_ns  # noqa: PTH116
    try:
        with open(copy, "rb") as file:  # noqa: PTH123
            of, kept = marshal.load(file)  # noqa: S302 - our own
        if of == known:
            return dict(kept)
    except (OSError, EOFError, ValueError, TypeError):
        pass
    import json  # noqa: PLC0415

    with open(DESCRIPTION, encoding="ascii") as file_:  # noqa: PTH123 - pathlib is slow to import
        kept = json.load(file_)
    _write(copy, marshal.dumps((known, kept)))
    return dict(kept)


def _write(path: str, data: bytes) -> None:
    """In one piece, since several kernels may do it at once."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        with open(f"{path}.{os.getpid()}", "wb") as file:  # noqa: PTH123
            file.write(data)
        os.replace(f"{path}.{os.getpid()}", path)  # noqa: PTH105
    except OSError:
        return


def _kept() -> dict[str, Any]:
    kept = _read()
    for pattern in kept["patterns"]:
        pattern["modes"] = [mode for mode in pattern["modes"] if mode["needs_mpi"] <= MPI_STANDARD]
    return kept


KEPT = _kept()
DATATYPES: dict[str, int] = {datatype["name"]: datatype["bytes"] for datatype in KEPT["datatypes"]}
OPERATIONS: tuple[str, ...] = tuple(dict.fromkeys(op for of in KEPT["datatypes"] for op in of["operations"]))
PATTERNS: dict[str, dict[str, Any]] = {pattern["name"]: pattern for pattern in KEPT["patterns"]}
COLLECTIVES = [name for name, pattern in PATTERNS.items() if pattern["sampled"]["starts_together"]]

MEMORY = {"memcpy": (5, 100), "copy": (5, 100), "read": (5, 100), "write": (5, 100), "reduce_local": (5, 50)}
"""What an operation takes in one rank's memory, in ns, and how many bytes take one more."""

CACHES = ((32 * 2**10, 1), (2**20, 4), (16 * 2**20, 30))
"""Up to how many bytes a load takes how long, in ns."""

MAIN_MEMORY_NS = 100


def modes_of(pattern: str) -> list[str]:
    """The names of its modes."""
    return [mode["name"] for mode in PATTERNS[pattern]["modes"]]


def has(visit: dict[str, Any], property_: str) -> bool:
    """Whether the mode of a visit has a property."""
    modes = PATTERNS[visit["pattern"]]["modes"]
    return next(bool(mode[property_]) for mode in modes if mode["name"] == visit["mode"])


def operations_of(datatype: str) -> tuple[str, ...]:
    """What MPI defines for a datatype."""
    found = [of["operations"] for of in KEPT["datatypes"] if of["name"] == datatype]
    return tuple(found[0]) if found else ()


def describe() -> dict[str, Any]:
    """What `--describe` prints."""
    return {**KEPT, "large_counts": False}


def operation_ns(
    pattern: str, mode: str, size: int, ranks: int, latency_ns: int, sync: str = "common"
) -> int:
    """The law: what one operation takes, without the computation of `overlap`."""
    place = modes_of(pattern).index(mode)
    if PATTERNS[pattern]["family"] == "collective":
        later_ns = SYNCS[sync][0] if pattern in COLLECTIVES else 0
        steps_ns = (ranks - 1).bit_length() * latency_ns or ALONE_NS
        return steps_ns + 10 * place + size // 10 + later_ns
    if pattern in MEMORY:
        empty_ns, bytes_per_ns = MEMORY[pattern]
        return (empty_ns + size // bytes_per_ns) * (2 << place if pattern == "copy" else 1)
    one_ns = latency_ns + 10 * place + size // 10
    return {
        "null": FLOOR_NS,
        "ring": one_ns * ranks,
        "chase": next((load_ns for most, load_ns in CACHES if size <= most), MAIN_MEMORY_NS),
        "crosscopy": 50 + size // 50,
        "cacheline": 60,
    }.get(pattern, one_ns)


# ---- The plan ------------------------------------------------------------------------------------

LAUNCH_KEYS = {
    # name: least, most
    "version": (VERSION, VERSION),
    "ranks": (1, INT_MAX),
    "cores": (1, INT_MAX),
    "visits_per_cell": (1, 10**6),
    "rounds_min": (1, 10**8),
    "rounds_max": (1, 10**8),
    "precision_ppm": (1, 10**6),
    "cell_ns": (1, INT64_MAX),
    "deadline_ns": (1, INT64_MAX),
    "warmup_ns": (0, INT64_MAX),
    "hang_ns": (0, INT64_MAX),
}
LAUNCH_OPTIONAL = {"hang_ns"}
VISIT_KEYS = {key["name"]: (key["least"], key["most"]) for key in KEPT["visit_keys"] if "least" in key}
REQUIRED = {"pattern", "mode", "id", "cell", "bytes", "window", "pool_bytes"}
"""What mpigauge always writes; the kernel could do without some of them."""

OPTIONAL = {key["name"]: str(key["usual"]) for key in KEPT["visit_keys"] if key["name"] not in REQUIRED}


class PlanError(Exception):
    """A plan that the kernel would not follow."""


def asked_for(plan: Iterable[str]) -> Iterator[str]:
    """The lines of a plan that comes in parts: more only if we ask."""
    print('{"ready":0}', flush=True)
    for line in plan:
        if line == "more\n":
            print('{"ready":1}', flush=True)
        else:
            yield line


def read_plan(lines: Iterable[str]) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """The limits of the launch and its visits, with all words; as strict as the kernel's plan.c.

    Raises:
        PlanError: The sentence of plan.c, more or less.
    """
    launch: dict[str, int] = {}
    visits: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        if line == "end\n":
            if not launch:
                raise PlanError("the plan is empty")
            _check_steps(visits)
            return launch, visits
        first, *words = line.split() or [""]
        values = dict(word.partition("=")[::2] for word in words)
        if first != ("visit" if launch else "launch"):
            raise PlanError(f"plan line {number}: expected 'launch' first, then only 'visit': {line!r}")
        try:
            if launch:
                visits.append(_read_visit(values, launch["ranks"]))
            else:
                launch = _read_launch(values)
        except PlanError as error:
            raise PlanError(f"plan line {number}: {error}: {line!r}") from error
    raise PlanError("the plan - has no line 'end': it is torn or empty")


def _check_steps(visits: list[dict[str, Any]]) -> None:
    for step in steps_of(visits):
        members = [rank for visit in step if visit["pair"] for rank in visit["pair"].split("-")]
        if len(members) != len(set(members)):
            raise PlanError(f"the plan has a rank twice in a step, at visit {step[-1]['id']}")


def steps_of(visits: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Visits that are made at the same time; one that is no pair's is alone."""
    steps: list[list[dict[str, Any]]] = []
    for visit in visits:
        if steps and visit["step"] >= 0 and steps[-1][-1]["step"] == visit["step"]:
            steps[-1].append(visit)
        else:
            steps.append([visit])
    return steps


def _read_launch(values: dict[str, str]) -> dict[str, int]:
    _check_keys(values, LAUNCH_KEYS.keys() - LAUNCH_OPTIONAL, LAUNCH_KEYS.keys())
    return {name: _number(name, text, *LAUNCH_KEYS[name]) for name, text in values.items()}


def _read_visit(values: dict[str, str], ranks: int) -> dict[str, Any]:
    _check_keys(values, REQUIRED, REQUIRED | OPTIONAL.keys())
    visit: dict[str, Any] = {
        name: int(text) if name in VISIT_KEYS else text for name, text in OPTIONAL.items()
    }
    visit |= {
        name: _number(name, text, *VISIT_KEYS[name]) if name in VISIT_KEYS else text
        for name, text in values.items()
    }
    if trouble := _unknown_word(visit) or _impossible(visit, ranks):
        raise PlanError(trouble)
    return visit


def _check_keys(values: dict[str, str], required: Iterable[str], known: Iterable[str]) -> None:
    if unknown := values.keys() - set(known):
        raise PlanError(f"there is no key {unknown.pop()!r}")
    if missing := set(required) - values.keys():
        raise PlanError(f"it lacks {missing.pop()!r}")


def _number(name: str, text: str, least: int, most: int) -> int:
    if not text.removeprefix("-").isdigit() or not least <= int(text) <= most:
        raise PlanError(f"{name} is {text!r}, not a whole number from {least} to {most}")
    return int(text)


def _unknown_word(visit: dict[str, Any]) -> str:
    """Which word of a visit is none, or nothing."""
    pattern, mode, sync, datatype, op = (visit[k] for k in ("pattern", "mode", "sync", "datatype", "op"))
    if pattern not in PATTERNS:
        return "a visit needs a pattern of --describe"
    if mode not in modes_of(pattern):
        return f"{pattern} has no mode {mode!r}"
    if sync not in SYNCS:
        return f"sync is {sync!r}, not common, barrier or mpi_barrier"
    if datatype not in {"", *DATATYPES}:
        return f"no datatype is called {datatype!r}"
    return "" if op in {"", *OPERATIONS} else f"no operation is called {op!r}"


def _impossible(visit: dict[str, Any], ranks: int) -> str:
    """Why a visit cannot be, or nothing."""
    name, size, datatype, root = (visit[k] for k in ("pattern", "bytes", "datatype", "root"))
    traits, binds = PATTERNS[name], has(visit, "binds_buffers")
    least, active = traits["min_ranks"], traits["active_ranks"]
    sends = traits["family"] not in {"memory", "floor"}
    counts = traits["sampled"]["starts_together"] or traits["reduces"] or traits["bus"]
    pair = [int(rank) for rank in visit["pair"].split("-") if rank.isdigit()]
    troubles = {
        "a pair needs a step, and a step a pair": bool(visit["pair"]) != (visit["step"] >= 0),
        f"pair is {visit['pair']!r}, not two ranks like 0-3": bool(visit["pair"])
        and not (len(pair) == 2 and pair[0] < pair[1]),
        f"{name} is not between two ranks": bool(visit["pair"]) and active != 2,
        f"this job has no rank {pair[-1:]}": bool(pair) and pair[-1] >= ranks,
    }
    active, reduces, unit = active or ranks, traits["reduces"], traits["unit_bytes"]
    troubles |= {
        f"{name} needs {least} ranks, this job has {ranks}": least > ranks,
        f"{size} B need the large counts of MPI 4, which this library lacks": sends and size > INT_MAX,
        f"four messages of {size} B are more than MPI_Buffer_attach can take": has(visit, "attaches_buffer")
        and size > INT_MAX // 4 - BSEND_OVERHEAD_BYTES,
        f"{name} works in the same buffers at each call and cannot use cold ones": binds
        and visit["pool_bytes"] > 0,
        f"{name} works on multiples of {unit} B, not on {size} B": unit > 0
        and (size == 0 or size % unit > 0),
        f"{name} needs datatype and op": reduces and not (datatype and visit["op"]),
        f"MPI defines no {visit['op']} of {datatype}": reduces and visit["op"] not in operations_of(datatype),
        f"{size} B are no whole number of {datatype}": reduces and size % DATATYPES.get(datatype, 1) > 0,
        f"{name} has no form with MPI_IN_PLACE": visit["in_place"] == 1 and not traits["may_in_place"],
        f"rank {root} cannot be root of {active} ranks": root >= active,
        f"a persistent {name} has one root, it cannot move on": root < 0 and binds,
        f"{size} B a rank are more than the counts of {name} can take": counts and size > INT_MAX // active,
    }
    return next((words for words, wrong in troubles.items() if wrong), "")


def die(sentence: str) -> NoReturn:
    """As the kernel does."""
    sys.stderr.write(f"mpigauge-kernel: rank 0: {sentence}\n")
    sys.stderr.flush()
    sys.stdout.flush()
    os._exit(EXIT_USAGE)


def slowness(pair: str, luck: float) -> float:
    """How many times longer a pair takes than the law says, in a launch whose luck is between 0 and 1."""
    factor = 1.0
    for word in os.environ.get("FAKE_SLOW", "").split():
        who, times, share = [*word.split(":"), "1"][:3]
        struck = pair and who in {pair, *pair.split("-")} and luck <= float(share)
        factor *= float(times) if struck else 1.0
    return factor


def is_meant(name: str, visit: dict[str, Any]) -> bool:
    """Whether a trouble is set for this visit's cell."""
    cell = f"{visit['pattern']}:{visit['bytes']}"
    return os.environ.get(name) in {cell, f"{cell}:{visit['pair']}"}


# ---- The run -------------------------------------------------------------------------------------


class Cell:
    """What is known of a cell in this launch."""

    def __init__(self) -> None:
        self.samples: list[int] = []
        self.visits = self.batch = self.rounds = self.round_ns = self.spent_ns = 0
        self.closed = False


class Course:
    """The states that the machine is in, one after the other; it begins somewhere among them.

    Args:
        text: As FAKE_STATES has it; nothing for one state.
        visits: Of the launch, which decide where it begins.
    """

    def __init__(self, text: str, visits: list[dict[str, Any]]) -> None:
        parts = [word.split(":")[1:] for word in text.split(",") if word]
        self.states = [(float(line), float(factor), float(dwell)) for line, factor, dwell in parts]
        self.whole_s = sum(dwell for _, _, dwell in self.states)
        begin = _chance("begin", *(f"{v['id']} {v['pattern']} {v['bytes']}" for v in visits))
        self.begin_s = (begin + 1) / 2 * self.whole_s

    def line_ns(self, now_ns: int) -> float:
        """What handing over a line takes."""
        return self._at(now_ns)[0]

    def factor(self, now_ns: int) -> float:
        """How many times as long small messages take."""
        return self._at(now_ns)[1]

    def _at(self, now_ns: int) -> tuple[float, float]:
        left_s = (self.begin_s + now_ns * 1e-9) % self.whole_s if self.states else 0.0
        for line, factor, dwell in self.states:
            if left_s < dwell:
                return line, factor
            left_s -= dwell
        return LINE_NS, 1.0


class Run:
    """One launch."""

    def __init__(self, launch: dict[str, int], visits: list[dict[str, Any]], latency_ns: int) -> None:
        self.launch = launch
        self.visits = visits
        self.latency_ns = latency_ns
        self.cells = {visit["cell"]: Cell() for visit in visits}
        self.now_ns = 1000
        spread = float(os.environ.get("FAKE_SPREAD", "0"))
        chance = _chance(*(f"{v['id']} {v['pattern']} {v['bytes']}" for v in visits))
        self.effect = 1 + spread * chance
        self.luck = (1 + chance) / 2
        self.jitter = float(os.environ.get("FAKE_JITTER", "0"))
        self.nap_s = float(os.environ.get("FAKE_NAP_S", "0"))
        self.chatter = "FAKE_CHATTER" in os.environ
        self.skew_ns = int(os.environ.get("FAKE_SKEW_NS", SYNCS["common"][1]))
        self.course = Course(os.environ.get("FAKE_STATES", ""), self.visits)

    def run(self) -> None:
        """All visits, each ended by its line."""
        needs_clock = any(_starts_together(visit) for visit in self.visits)
        if needs_clock:
            self.say_clock(learned=True)
        for step in steps_of(self.visits):
            self.step(step)
            if self.chatter:
                say(f"progress: visit {step[-1]['id']} is over")
                say('{"temperature":42}')
        if needs_clock:
            self.say_clock(learned=False)
        say(f'{{"end":{self.now_ns}}}')

    def say_clock(self, *, learned: bool) -> None:
        """How far the clocks of some ranks are ahead of that of rank 0; what they are, where they differ."""
        off, ranks = os.environ.get("FAKE_CLOCKS"), self.launch["ranks"]
        low_ns, high_ns = (int(off or 0) + bound for bound in (-CLOCK_BOUND_NS, CLOCK_BOUND_NS))
        full = 2 ** (ranks.bit_length() - 1)
        checks = [
            f'{{"rank":{rank},"low_ns":{low_ns},"high_ns":{high_ns}}}'
            for rank in sorted({full - 1, ranks - 1} - {0})
        ]
        models = [
            f'{{"base_ns":{self.now_ns},"offset_ns":{1000 * rank:.3f},"slope":{1e-6 * rank:.6e},'
            f'"bound_ns":{CLOCK_BOUND_NS * (rank > 0):.3f},"bound_slope":{1e-9 * (rank > 0):.6e}}}'
            for rank in range(ranks if learned and off is not None else 0)
        ]
        say(
            f'{{"clock":{self.now_ns},"shared":{"true" if off is None else "false"},'
            f'"checks":[{",".join(checks)}],"models":[{",".join(models)}]}}'
        )

    def reason_to_skip(self, cell: Cell) -> str:
        """In the order of the kernel's questions."""
        launch = self.launch
        if cell.closed:
            return "closed"
        if self.now_ns >= launch["deadline_ns"]:
            return "time"
        if len(cell.samples) >= launch["rounds_max"] or self.precise(cell):
            return "precise"
        if cell.spent_ns >= launch["cell_ns"] and cell.samples:
            return "share"
        return ""

    def precise(self, cell: Cell) -> bool:
        """Half of its visits, enough samples, and a narrow interval."""
        count = len(cell.samples)
        if 2 * cell.visits < self.launch["visits_per_cell"] or count < self.launch["rounds_min"]:
            return False
        width = half_width(cell.samples)
        return count >= 20 and width is not None and width <= self.launch["precision_ppm"] * 1e-6

    def step(self, visits: list[dict[str, Any]]) -> None:
        """Visits that are made at the same time, or one: all begun, then all ended."""
        made = [visit for visit in visits if self.begins(visit, self.cells[visit["cell"]])]
        begun_ns = ended_ns = self.now_ns
        for visit in made:
            self.now_ns = begun_ns
            self.visit(visit, self.cells[visit["cell"]])
            ended_ns = max(ended_ns, self.now_ns)
        self.now_ns = ended_ns

    def begins(self, visit: dict[str, Any], cell: Cell) -> bool:
        """Whether it is not left out; the line that says so."""
        if skip := self.reason_to_skip(cell):
            say(f'{{"skip":{visit["id"]},"reason":"{skip}"}}')
            return False
        expect_ns = cell.batch * cell.round_ns * (cell.rounds + WARMUPS)
        say(f'{{"begin":{visit["id"]},"at_ns":{self.now_ns},"expect_ns":{expect_ns}}}')
        return True

    def visit(self, visit: dict[str, Any], cell: Cell) -> None:
        """One visit that has begun."""
        number, pattern = visit["id"], visit["pattern"]
        time.sleep(self.nap_s)
        self.make_trouble(visit)
        if PATTERNS[pattern]["sampled"]["probes"]:
            say(f'{{"eager":{number},"at_ns":{self.now_ns},{self.limit()}}}')
        elif is_meant("FAKE_REFUSE", visit):
            cell.closed = True
            say(f'{{"refused":{number},"reason":"there is no memory for a message of this size"}}')
        elif _is_blind(visit) and visit["bytes"] > EAGER_LIMIT_BYTES:
            cell.closed = True
            say(f'{{"blocked":{number},{self.limit()}}}')
        else:
            self.measure(visit, cell)

    def make_trouble(self, visit: dict[str, Any]) -> None:
        """Whatever the environment asks for, in the middle of a visit."""
        if is_meant("FAKE_CRASH", visit) or os.environ.get("FAKE_CRASH_AT") == str(visit["id"]):
            os.write(1, f'{{"visit":{visit["id"]},"at_ns":{self.now_ns},"elaps'.encode())
            sys.stderr.write("Segmentation fault\nthese are my last words\n")
            sys.stderr.flush()
            os.abort()
        if is_meant("FAKE_QUIT", visit):
            os._exit(0)
        if is_meant("FAKE_HANG", visit):
            time.sleep(3600)

    def limit(self) -> str:
        """What the probe for the eager limit has found."""
        blind = [
            v["bytes"] for v in self.visits if PATTERNS[v["pattern"]]["sampled"]["probes"] or _is_blind(v)
        ]
        return (
            f'"found":true,"control_held":true,"limit_bytes":{EAGER_LIMIT_BYTES},'
            f'"longer_bytes":{EAGER_LIMIT_BYTES},"max_bytes":{max(blind)},"probes":40'
        )

    def measure(self, visit: dict[str, Any], cell: Cell) -> None:
        """Samples by the law."""
        pattern, launch, start_ns = visit["pattern"], self.launch, self.now_ns
        ranks = PATTERNS[pattern]["active_ranks"] or launch["ranks"]
        trips = _trips(visit, ranks)
        one_ns = operation_ns(pattern, visit["mode"], visit["bytes"], ranks, self.latency_ns, visit["sync"])
        one_ns = 1 if is_meant("FAKE_FAST", visit) else one_ns
        talks = ranks > 1 and visit["bytes"] <= SMALL_BYTES
        factor = self.effect * slowness(visit["pair"], self.luck)
        factor *= self.course.factor(start_ns) if talks else 1
        call_ns = max(1, round(trips * one_ns * factor))
        work_ns = call_ns if _overlaps(visit) else 0
        trial_ns: list[int] = []
        if cell.batch == 0:
            trial_ns = [2 * call_ns, *[call_ns] * (TRIALS - 1)]
            if trial_ns[0] > TICK_NS:
                say(f'{{"tick":{visit["id"]},"round_ns":{trial_ns[0]}}}')
            self.size_up(visit, cell, call_ns + work_ns // 2)
        warmup_ns = [cell.batch * call_ns] * WARMUPS
        pure_ns = self.draw(cell, call_ns, visit["id"], "pure") if work_ns else []
        times_ns = self.draw(cell, call_ns + work_ns // 2, visit["id"])
        late = range(LATE_ONE_IN - 1, cell.rounds, LATE_ONE_IN) if _comes_late(visit) else range(0)
        samples_ns = [time_ns + LATE_NS * (i in late) for i, time_ns in enumerate(times_ns)]
        cell.samples += [sample for i, sample in enumerate(samples_ns) if i not in late]
        cell.visits += 1
        elapsed_ns = sum(trial_ns) + sum(warmup_ns) + sum(pure_ns) + sum(samples_ns)
        cell.spent_ns += elapsed_ns
        self.now_ns += elapsed_ns
        width = half_width(cell.samples)
        effective = len(cell.samples) if len(cell.samples) >= 6 else 0
        words = [
            f'{{"visit":{visit["id"]},"at_ns":{start_ns},"elapsed_ns":{elapsed_ns}',
            f'"batch":{cell.batch},"ops":{cell.batch * trips}',
            f'"window":{visit["window"] if PATTERNS[pattern]["windowed"] else 0}',
            f'"pool_bytes":{visit["pool_bytes"]}',
            f'"cpu_ns":{ranks * sum(times_ns) if _knows_cpu_time(visit) else -1}',
            f'"correlation_time":{1:.4g},"effective":{effective:.4g}',
        ]
        if width is not None:
            words.append(f'"half_width":{width:.4g}')
        # Over a network with as much again for headers; over shared memory, as Open MPI is told, nothing.
        calls = cell.batch * (len(warmup_ns) + len(samples_ns))
        carried = 0 if os.environ.get("OMPI_MCA_btl", "").startswith("vader") else 2 * ranks * trips  # noqa: SIM112
        words.append(f'"net_bytes":{carried * calls * max(20, visit["bytes"])},"net_calls":{calls}')
        if is_meant("FAKE_CORRUPT", visit):
            cell.closed = True
            words.append('"corrupt":"rank 1 received 0xa5 instead of 0x17 from rank 0 at byte 3 of 64"')
        lines_ns = [self.course.line_ns(at_ns) for at_ns in (start_ns, self.now_ns)]
        words += _condition(visit, ranks, self.latency_ns, lines_ns, elapsed_ns)
        words += [f'"trial_ns":{_array(trial_ns)}', f'"warmup_ns":{_array(warmup_ns)}']
        if work_ns:
            words += [f'"work_ns":{work_ns}', f'"pure_ns":{_array(pure_ns)}']
        if _starts_together(visit):
            words += self.together(visit, times_ns, late)
        say(",".join([*words, f'"samples_ns":{_array(samples_ns)}}}']))

    def draw(self, cell: Cell, call_ns: int, *key: object) -> list[int]:
        """As many samples as the cell has in a visit."""
        sample_ns = cell.batch * call_ns
        if not self.jitter:
            return [sample_ns] * cell.rounds
        return [round(sample_ns * (1 + self.jitter * _chance(*key, i))) for i in range(cell.rounds)]

    def together(self, visit: dict[str, Any], times_ns: list[int], late: range) -> list[str]:
        """What only rounds have that all ranks start together."""
        skew_ns = self.skew_ns if visit["sync"] == "common" else SYNCS[visit["sync"]][1]
        skews_ns = [skew_ns + LATE_NS * (i in late) for i in range(len(times_ns))]
        return [
            f'"lead_ns":{LEAD_NS},"late":{_array(late)},"behind":[]',
            f'"skew_ns":{_array(skews_ns)}',
            f'"root_ns":{_array(times_ns)},"local_ns":{_array(times_ns)}',
        ]

    def size_up(self, visit: dict[str, Any], cell: Cell, round_ns: int) -> None:
        """Calls in a sample and samples in a visit, as batching.c chooses them."""
        launch, pattern = self.launch, PATTERNS[visit["pattern"]]
        share_ns = launch["cell_ns"] // launch["visits_per_cell"] // (2 if _overlaps(visit) else 1)
        least_ns = max(100 * CLOCK_COST_NS, pattern["least_ns"])
        needed = max(1, -(-least_ns // round_ns))
        fits = share_ns // (round_ns * SAMPLES_LEAST)
        block = max(needed, min(BLOCK_ROUNDS, fits), 2)
        cell.round_ns = round_ns
        cell.batch = 1 if pattern["sampled"]["single"] and not has(visit, "in_a_row") else needed
        if pattern["sampled"]["in_blocks"]:
            cell.batch = block + block % 2
        samples = share_ns / (round_ns * cell.batch)
        cap = -(-launch["rounds_max"] // launch["visits_per_cell"])
        cell.rounds = int(min(cap, max(1, samples, min(SAMPLES_LEAST, OVERDRAFT * samples))))


def _trips(visit: dict[str, Any], ranks: int) -> int:
    """Reported operations in a call."""
    trips = PATTERNS[visit["pattern"]]["trips"]
    return int({"window": visit["window"], "ranks": ranks, "repeats": 1}.get(trips, trips))


def _condition(
    visit: dict[str, Any], ranks: int, latency_ns: int, lines_ns: list[float], elapsed_ns: int
) -> list[str]:
    """The machine before and after the samples; nobody disturbs them, unless that is asked for."""
    members = [int(rank) for rank in visit["pair"].split("-")] if visit["pair"] else range(ranks)
    on = [_host_of(rank) for rank in members]
    words = []
    if len(set(on)) < len(on):
        lines = _readings(visit, lines_ns)
        words += [f'"line_ns":{lines},"line_worst_ns":{lines}']
    if len(set(on)) > 1:
        words += [f'"path_ns":{_readings(visit, [latency_ns, latency_ns])}']
    wait_ns = elapsed_ns // 10 if is_meant("FAKE_DISTURB", visit) else 0
    words += [f'"alu_ns":[{CHAIN_NS},{CHAIN_NS}],"switches":{int(wait_ns > 0)},"wait_ns":{wait_ns}']
    words += ['"steal_ns":0,"moves":0']
    return [*words, '"retransmits":0'] if len(set(on)) > 1 else words


def _readings(visit: dict[str, Any], values_ns: list[float]) -> str:
    """Before and after a visit, never quite the same."""
    spread = [1 + READING_SPREAD * _chance("reading", visit["id"], place) for place in range(2)]
    return "[" + ",".join(f"{ns * by:.1f}" for ns, by in zip(values_ns, spread, strict=True)) + "]"


def _host_of(rank: int) -> str:
    hosts = os.environ.get("FAKE_HOSTS", os.uname().nodename).split(",")
    return hosts[rank % len(hosts)]


def _starts_together(visit: dict[str, Any]) -> bool:
    return bool(PATTERNS[visit["pattern"]]["sampled"]["starts_together"])


def _overlaps(visit: dict[str, Any]) -> bool:
    return has(visit, "overlaps")


def _is_blind(visit: dict[str, Any]) -> bool:
    """Whether it deadlocks above the eager limit."""
    return has(visit, "needs_eager")


def _comes_late(visit: dict[str, Any]) -> bool:
    """After a barrier nobody can."""
    return _starts_together(visit) and visit["sync"] == "common" and is_meant("FAKE_LATE", visit)


def _knows_cpu_time(visit: dict[str, Any]) -> bool:
    """Not where preparations, acknowledgements or barriers lie between the samples."""
    if _starts_together(visit):
        return bool(visit["sync"] == "common")
    return bool(PATTERNS[visit["pattern"]]["sampled"]["cpu_known"])


def half_width(samples: list[int]) -> float | None:
    """Relative half-width of the interval of the median, by ranks; None if there are too few."""
    ordered, count = sorted(samples), len(samples)
    low = int((count - 1.959963984540054 * count**0.5) // 2)
    if count < 6 or low < 1:
        return None
    return float((ordered[count - low] / ordered[low - 1]) ** 0.5 - 1)


def _chance(*key: object) -> float:
    """Between -1 and 1, the same for the same key."""
    text = "/".join(map(str, key))
    return float(zlib.crc32(f"{zlib.crc32(text.encode())}".encode()) / 2**31 - 1)


def _array(values: Iterable[int]) -> str:
    return f"[{','.join(map(str, values))}]"


def say(line: str) -> None:
    """One line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def say_launch(library: str, asked: int, ranks: int, standard: str) -> None:
    """The facts of the launch, as launch_line.c writes them."""
    escaped = "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\u{ord(c):04x}" for c in library)
    places = ",".join(
        f'{{"host":"{_host_of(rank)}","cpus":"0-1","cpu":{rank},"clock_step_ns":1,'
        f'"clock_cost_ns":{CLOCK_COST_NS},"clock_cost_p999_ns":40,"clock_zero_share":{0:.6f}}}'
        for rank in range(ranks)
    )
    say(
        f'{{"launch":{{"kernel":{VERSION},"ranks":{ranks},"ranks_asked":{asked},"library":"{escaped}",'
        f'"mpi_standard":"{standard}","clock":"CLOCK_MONOTONIC_RAW","placement":[{places}]}}}}'
    )


def main(library: str, standard: str, latency_ns: int) -> None:
    """What the executable does that the fake mpicc writes."""
    if sys.argv[1:] == ["--describe"]:
        import json  # noqa: PLC0415

        print(json.dumps(describe(), separators=(",", ":")))
        return
    if len(sys.argv) != 3 or sys.argv[2] != "-":
        sys.exit("usage: mpigauge-kernel PLAN JOURNAL")
    if log := os.environ.get("FAKE_LOG"):
        with open(log, "a", encoding="ascii") as file:  # noqa: PTH123 - pathlib is slow to import
            file.write(f"{os.getppid()} {os.getpid()}\n")
    if words := os.environ.get("FAKE_REPORT"):
        say(words)
    if words := os.environ.get("FAKE_DEAD"):
        die(words)
    try:
        with open(0 if sys.argv[1] == "-" else sys.argv[1], encoding="ascii") as plan:  # noqa: PTH123
            launch, visits = read_plan(asked_for(plan) if sys.argv[1] == "-" else plan)
    except PlanError as error:
        die(str(error))
    ranks = 1 if "FAKE_SINGLETONS" in os.environ else int(os.environ["FAKE_RANKS"])
    say_launch(os.environ.get("FAKE_LIBRARY", library), launch["ranks"], ranks, standard)
    if ranks != launch["ranks"]:
        die(f"the plan is for {launch['ranks']} ranks, this job has {ranks}")
    try:
        Run(launch, visits, latency_ns).run()
    except BrokenPipeError:
        os._exit(1)
