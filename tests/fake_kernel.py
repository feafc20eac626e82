"""A kernel of known truth: reads a plan and writes a journal whose every number follows from a law.

The law: one operation takes the library's latency, 10 ns for each mode that `--describe` lists before
its own, and 1 ns for every 10 B. An empty round takes 20 ns, a lap of the ring one operation a rank.
Time does not pass; the journal says that it did. Environment variables change what happens:

    FAKE_SPREAD=0.1      launches differ by up to so much, each by what follows from its plan
    FAKE_JITTER=0.1      samples differ by up to so much, each by what follows from its visit
    FAKE_NAP_S=0.01      a visit really takes so long
    FAKE_CRASH=pingpong:64    dies in the middle of a line of this cell; FAKE_CRASH_AT=K: of visit K
    FAKE_HANG, FAKE_QUIT, FAKE_CORRUPT, FAKE_REFUSE    likewise: sleeps, ends with 0, and so on
    FAKE_DEAD=words      says words and dies before its first line
    FAKE_LIBRARY=text    claims to run on another library
    FAKE_SINGLETONS=1    the launcher did not make one job of the ranks
    FAKE_CHATTER=1       prints what is no journal between its lines
    FAKE_LOG=FILE        notes the process numbers of launcher and kernel

It runs without site-packages and imports little, so that a launch takes a few hundredths of a second.
"""

from __future__ import annotations

import os
import sys
import time
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn

VERSION = 1
EAGER_LIMIT_BYTES = 4000
FLOOR_NS = 20
CLOCK_COST_NS = 25
TICK_NS = 1_000_000_000
TRIALS = 9
WARMUPS = 2
BLOCK_ROUNDS = 16
SAMPLES_LEAST = OVERDRAFT = 8
EXIT_USAGE = 2

Mode = tuple[str, str, int, str]  # name, about, directions, its one property
PATTERNS: dict[str, tuple[str, str, str, int, int, str, list[Mode]]] = {
    # name: about, time_of, sampling, min_ranks, active_ranks, properties, modes
    "null": (
        "nothing: the floor of the instrument itself",
        "one empty round, the clock reading included",
        "floor",
        1,
        1,
        "",
        [("standard", "an empty call", 1, "")],
    ),
    "pingpong": (
        "one message there and back between ranks 0 and 1",
        "one way: half a round trip",
        "chained",
        2,
        2,
        "moves_bytes",
        [
            ("standard", "MPI_Send, MPI_Recv", 1, ""),
            ("synchronous", "MPI_Ssend, MPI_Recv: returns when the receive has begun", 1, ""),
            (
                "buffered",
                "MPI_Bsend from an attached buffer of four messages, MPI_Recv",
                1,
                "attaches_buffer",
            ),
            ("ready", "MPI_Rsend, the receive always posted before", 1, ""),
            ("nonblocking", "MPI_Isend and MPI_Wait, MPI_Irecv and MPI_Wait", 1, ""),
            (
                "persistent",
                "MPI_Send_init and MPI_Recv_init once, then MPI_Start and MPI_Wait",
                1,
                "binds_buffers",
            ),
            ("sendrecv", "MPI_Sendrecv whose other half is MPI_PROC_NULL", 1, ""),
        ],
    ),
    "exchange": (
        "ranks 0 and 1 send to each other at the same time",
        "one exchange, both messages",
        "blocks",
        2,
        2,
        "moves_bytes",
        [
            ("nonblocking", "MPI_Isend, MPI_Irecv, MPI_Waitall", 2, ""),
            ("sendrecv", "MPI_Sendrecv", 2, ""),
            ("blocking", "both MPI_Send, then MPI_Recv: only below the eager limit", 2, "needs_eager"),
        ],
    ),
    "ring": (
        "a token around all ranks, one after the other",
        "one lap, as many messages as ranks; the rate is the size over the lap",
        "chained",
        2,
        0,
        "moves_bytes",
        [("standard", "MPI_Send, MPI_Recv", 1, "")],
    ),
    "shift": (
        "all ranks send to the right and receive from the left at once",
        "one shift: one message out and one in at every rank",
        "blocks",
        2,
        0,
        "moves_bytes",
        [
            ("sendrecv", "MPI_Sendrecv", 2, ""),
            ("nonblocking", "MPI_Irecv, MPI_Isend, MPI_Waitall", 2, ""),
        ],
    ),
    "stream": (
        "a window of non-blocking sends, then one acknowledgement",
        "one message of the window, the acknowledgement shared out",
        "blocks",
        2,
        2,
        "moves_bytes windowed",
        [
            ("unidirectional", "rank 0 sends, rank 1 receives", 1, ""),
            ("bidirectional", "both ranks send and receive a window", 2, ""),
        ],
    ),
    "eager": (
        "the eager limit: the largest message that completes before it is received",
        "nothing: it finds a limit in bytes",
        "probe",
        2,
        2,
        "",
        [("standard", "MPI_Isend polled on both sides, MPI_Issend as control", 2, "")],
    ),
}
LAUNCH_KEYS = {
    "version",
    "ranks",
    "visits_per_cell",
    "rounds_min",
    "rounds_max",
    "precision_ppm",
    "cell_ns",
    "deadline_ns",
    "warmup_ns",
}
VISIT_WORDS: tuple[str, ...] = ("pattern", "mode")
VISIT_KEYS = {"id", "cell", "pattern", "mode", "bytes", "window", "pool_bytes"}


def describe() -> dict[str, Any]:
    """What `--describe` prints."""
    return {"kernel": VERSION, "large_counts": False, "patterns": [_pattern(name) for name in PATTERNS]}


def _pattern(name: str) -> dict[str, Any]:
    about, time_of, sampling, least, active, properties, modes = PATTERNS[name]
    return {
        "name": name,
        "about": about,
        "time_of": time_of,
        "sampling": sampling,
        "min_ranks": least,
        "active_ranks": active,
        "windowed": "windowed" in properties,
        "moves_bytes": "moves_bytes" in properties,
        "modes": [
            {
                "name": mode,
                "about": words,
                "directions": directions,
                "needs_eager": kind == "needs_eager",
                "binds_buffers": kind == "binds_buffers",
                "attaches_buffer": kind == "attaches_buffer",
            }
            for mode, words, directions, kind in modes
        ],
    }


def operation_ns(pattern: str, mode: str, size: int, ranks: int, latency_ns: int) -> int:
    """The law: what one operation takes."""
    if pattern == "null":
        return FLOOR_NS
    number = [name for name, *_ in PATTERNS[pattern][-1]].index(mode)
    one = latency_ns + 10 * number + size // 10
    return one * ranks if pattern == "ring" else one


# ---- The plan ------------------------------------------------------------------------------------


def read_plan(lines: Iterable[str]) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """The limits of the launch and its visits; as strict as the kernel's plan.c."""
    launch: dict[str, int] = {}
    visits: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        if line == "end\n":
            if not launch:
                die("the plan is empty")
            return launch, visits
        first, *words = line.split()
        values = dict(word.split("=") for word in words)
        keys = {"launch": LAUNCH_KEYS, "visit": VISIT_KEYS}.get(first, set())
        if values.keys() != keys or (first == "launch") == bool(launch):
            die(f"plan line {number}: {line!r}")
        texts = {name: values.pop(name) for name in VISIT_WORDS if name in values}
        numbers = {name: int(value) for name, value in values.items()}
        if first == "launch":
            launch = numbers
            continue
        known = [mode for mode, *_ in PATTERNS.get(texts["pattern"], ([],))[-1]]
        if texts["mode"] not in known or not 1 <= numbers["window"] <= 1 << 20:
            die(f"plan line {number}: {line!r}")
        visits.append({**numbers, **texts})
    return die("the plan - has no line 'end': it is torn or empty")


def die(sentence: str) -> NoReturn:
    """As the kernel does."""
    sys.stderr.write(f"mpigauge-kernel: rank 0: {sentence}\n")
    sys.stderr.flush()
    sys.stdout.flush()
    os._exit(EXIT_USAGE)


def is_meant(name: str, visit: dict[str, Any]) -> bool:
    """Whether a trouble is set for this visit's cell."""
    return os.environ.get(name) == f"{visit['pattern']}:{visit['bytes']}"


# ---- The run -------------------------------------------------------------------------------------


class Cell:
    """What is known of a cell in this launch."""

    def __init__(self) -> None:
        self.samples: list[int] = []
        self.visits = self.batch = self.rounds = self.round_ns = self.spent_ns = 0
        self.closed = False


class Run:
    """One launch."""

    def __init__(self, launch: dict[str, int], visits: list[dict[str, Any]], latency_ns: int) -> None:
        self.launch = launch
        self.visits = visits
        self.latency_ns = latency_ns
        self.cells = {visit["cell"]: Cell() for visit in visits}
        self.now_ns = 1000
        spread = float(os.environ.get("FAKE_SPREAD", "0"))
        self.effect = 1 + spread * _chance(*(f"{v['id']} {v['pattern']} {v['bytes']}" for v in visits))
        self.jitter = float(os.environ.get("FAKE_JITTER", "0"))
        self.nap_s = float(os.environ.get("FAKE_NAP_S", "0"))
        self.chatter = "FAKE_CHATTER" in os.environ

    def run(self) -> None:
        """All visits, each ended by its line."""
        for visit in self.visits:
            self.visit(visit, self.cells[visit["cell"]])
            if self.chatter:
                say(f"progress: visit {visit['id']} is over")
                say('{"temperature":42}')
        say(f'{{"end":{self.now_ns}}}')

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

    def visit(self, visit: dict[str, Any], cell: Cell) -> None:
        """One visit, begun and ended, or left out."""
        number, pattern = visit["id"], visit["pattern"]
        if skip := self.reason_to_skip(cell):
            say(f'{{"skip":{number},"reason":"{skip}"}}')
            return
        expect_ns = cell.batch * cell.round_ns * (cell.rounds + WARMUPS)
        say(f'{{"begin":{number},"at_ns":{self.now_ns},"expect_ns":{expect_ns}}}')
        time.sleep(self.nap_s)
        self.make_trouble(visit)
        if pattern == "eager":
            say(f'{{"eager":{number},"at_ns":{self.now_ns},{self.limit()}}}')
        elif is_meant("FAKE_REFUSE", visit):
            cell.closed = True
            say(f'{{"refused":{number},"reason":"there is no memory for a message of this size"}}')
        elif (pattern, visit["mode"]) == ("exchange", "blocking") and visit["bytes"] > EAGER_LIMIT_BYTES:
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
        blind = [v["bytes"] for v in self.visits if v["pattern"] == "eager" or v["mode"] == "blocking"]
        return (
            f'"found":true,"control_held":true,"limit_bytes":{EAGER_LIMIT_BYTES},'
            f'"longer_bytes":{EAGER_LIMIT_BYTES},"max_bytes":{max(blind)},"probes":40'
        )

    def measure(self, visit: dict[str, Any], cell: Cell) -> None:
        """Samples by the law."""
        pattern, launch, start_ns = visit["pattern"], self.launch, self.now_ns
        ranks = PATTERNS[pattern][4] or launch["ranks"]
        trips = {"pingpong": 2, "stream": visit["window"]}.get(pattern, 1)
        one_ns = operation_ns(pattern, visit["mode"], visit["bytes"], launch["ranks"], self.latency_ns)
        round_ns = round(trips * one_ns * self.effect)
        trial_ns: list[int] = []
        if cell.batch == 0:
            trial_ns = [2 * round_ns, *[round_ns] * (TRIALS - 1)]
            if trial_ns[0] > TICK_NS:
                say(f'{{"tick":{visit["id"]},"round_ns":{trial_ns[0]}}}')
            self.size_up(pattern, cell, round_ns)
        sample_ns = cell.batch * round_ns
        samples = [
            round(sample_ns * (1 + self.jitter * _chance(visit["id"], i))) if self.jitter else sample_ns
            for i in range(cell.rounds)
        ]
        cell.samples += samples
        cell.visits += 1
        elapsed_ns = sum(trial_ns) + WARMUPS * sample_ns + sum(samples)
        cell.spent_ns += elapsed_ns
        self.now_ns += elapsed_ns
        width = half_width(cell.samples)
        effective = len(cell.samples) if len(cell.samples) >= 6 else 0
        words = [
            f'{{"visit":{visit["id"]},"at_ns":{start_ns},"elapsed_ns":{elapsed_ns}',
            f'"batch":{cell.batch},"ops":{cell.batch * trips}',
            f'"window":{visit["window"] if pattern == "stream" else 0}',
            f'"pool_bytes":{visit["pool_bytes"]},"cpu_ns":{ranks * sum(samples)}',
            f'"correlation_time":{1:.4g},"effective":{effective:.4g}',
        ]
        if width is not None:
            words.append(f'"half_width":{width:.4g}')
        if is_meant("FAKE_CORRUPT", visit):
            cell.closed = True
            words.append('"corrupt":"rank 1 received 0xa5 instead of 0x17 from rank 0 at byte 3 of 64"')
        words += [
            f'"trial_ns":{_array(trial_ns)}',
            f'"warmup_ns":{_array([sample_ns] * WARMUPS)}',
            f'"samples_ns":{_array(samples)}}}',
        ]
        say(",".join(words))

    def size_up(self, pattern: str, cell: Cell, round_ns: int) -> None:
        """Calls in a sample and samples in a visit, as measure.c chooses them."""
        launch = self.launch
        share_ns = launch["cell_ns"] // launch["visits_per_cell"]
        needed = max(1, -(-CLOCK_COST_NS * 50 // round_ns))
        fits = share_ns // (round_ns * SAMPLES_LEAST)
        blocks = max(needed, min(BLOCK_ROUNDS, max(2, fits // 2 * 2)))
        cell.round_ns = round_ns
        cell.batch = {"floor": 1, "blocks": blocks}.get(PATTERNS[pattern][2], needed)
        samples = share_ns / (round_ns * cell.batch)
        cap = -(-launch["rounds_max"] // launch["visits_per_cell"])
        cell.rounds = int(min(cap, max(1, samples, min(SAMPLES_LEAST, OVERDRAFT * samples))))


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


def _array(values: list[int]) -> str:
    return f"[{','.join(map(str, values))}]"


def say(line: str) -> None:
    """One line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def say_launch(library: str, asked: int, ranks: int, standard: str) -> None:
    """The facts of the launch, as journal.c writes them."""
    host = os.uname().nodename
    escaped = "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\u{ord(c):04x}" for c in library)
    places = ",".join(
        f'{{"host":"{host}","cpus":"0-1","cpu":{rank},"clock_step_ns":1,"clock_cost_ns":{CLOCK_COST_NS},'
        f'"clock_cost_p999_ns":40,"clock_zero_share":{0:.6f}}}'
        for rank in range(ranks)
    )
    say(
        f'{{"launch":{{"kernel":{VERSION},"ranks":{ranks},"ranks_asked":{asked},"library":"{escaped}",'
        f'"mpi_standard":"{standard}","clock":"CLOCK_MONOTONIC_RAW","placement":[{places}]}}}}'
    )


def main(library: str, standard: str, latency_ns: int) -> None:
    """What the executable does that the fake mpicc writes."""
    if sys.argv[1:] == ["--describe"]:
        import json  # noqa: PLC0415 - a launch has no use for it

        print(json.dumps(describe()))
        return
    if sys.argv[1:] != ["-", "-"]:
        sys.exit("usage: mpigauge-kernel PLAN JOURNAL")
    if log := os.environ.get("FAKE_LOG"):
        with open(log, "a", encoding="ascii") as file:  # noqa: PTH123 - pathlib is slow to import
            file.write(f"{os.getppid()} {os.getpid()}\n")
    if words := os.environ.get("FAKE_DEAD"):
        die(words)
    launch, visits = read_plan(sys.stdin)
    ranks = 1 if "FAKE_SINGLETONS" in os.environ else int(os.environ["FAKE_RANKS"])
    say_launch(os.environ.get("FAKE_LIBRARY", library), launch["ranks"], ranks, standard)
    if ranks != launch["ranks"]:
        die(f"the plan is for {launch['ranks']} ranks, this job has {ranks}")
    try:
        Run(launch, visits, latency_ns).run()
    except BrokenPipeError:
        os._exit(1)
