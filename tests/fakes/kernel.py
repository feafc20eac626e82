"""A kernel of known truth: reads a plan and writes a journal whose every number follows from a law (law.py).

Before and after every visit a cache line needs 60 ns to the next rank of the host, an empty message the
latency to another host, give or take 1 %, and a chain of arithmetic 2000 ns; nothing disturbs a visit.

Time does not pass; the journal says that it did. Environment variables change what happens:

    FAKE_SPREAD=0.1      launches differ by up to so much, each by what follows from its plan
    FAKE_LEVELS=FILE     a launch takes its first line with it: 1.05 0.2 is 5 % longer, and in a fifth of
                         its visits the cores are slower
    FAKE_JITTER=0.1      samples differ by up to so much, each by what follows from its visit
    FAKE_NAP_S=0.01      a visit really takes so long
    FAKE_LATE=bcast:64   in every fourth round of this cell a rank comes 1000 ns late, where it can
    FAKE_FAST=memcpy:64  an operation of this cell takes 1 ns, as if it had been left out
    FAKE_SKEW_NS=50      how far apart ranks start that start at a common moment
    FAKE_CLOCKS=70       every rank has a clock of its own, found to be 70 ns off, give or take 50
    FAKE_CRASH=pingpong:64    dies in the middle of a line of this cell, or pingpong:64:0-3 of one pair of it;
                         FAKE_CRASH_AT=K: of visit K
    FAKE_HANG, FAKE_QUIT, FAKE_CORRUPT, FAKE_REFUSE    likewise: sleeps, ends with 0, and so on
    FAKE_TRACED=n        says that a debugger was attached to so many ranks
    FAKE_REPORT=words    says words before its first line, as a library does that tells of itself
    FAKE_SLEEP=1         MPI_Init takes a second more, unless OMPI_MCA_btl chooses transports
    FAKE_DEAD=words      says words and dies before its first line
    FAKE_WARM_UP=64      dies in a warm-up with messages of 64 B or more
    FAKE_SLOW="0-3:10 2:3"  takes 10 times as long between ranks 0 and 3, 3 times in all pairs of rank 2,
                         also where several pairs are at work at once;
                         0-3:10:0.6 does in about 6 of 10 launches
    FAKE_AT_ONCE=1.9     groups that are measured at once take 1.9 times as long as alone
    FAKE_SLOW_GROUP=2,3:1.5  the group of these ranks 1.5 times as long, where others are at once
    FAKE_SLOWER=1.5      whatever several ranks do takes 1.5 times as long
    FAKE_MODE=allreduce:reduce-bcast:0.5  this mode takes half as long
    FAKE_STATES=near:40:0.3:2,far:245:1:5  is in these states in turn: handing over a cache line takes 40 ns
                         one way, messages up to 4 KiB 0.3 times as long, and after 2 s the next one comes
    FAKE_PROBE_NS=1000000  to find out that a cell would deadlock takes so long
    FAKE_CROSSING_NS=500 a message above the eager limit takes so much longer where the probe times it
    FAKE_NEIGHBOUR=pingpong:64  another hardware thread uses their cores during this cell
    FAKE_DISTURB=pingpong:64  ranks wait for a core in a tenth of the time of this cell
    FAKE_HOSTS=h1,h2,h2  on which hosts the ranks are
    FAKE_CPUS="1 1"      where ranks may run (FAKE_CORES: on which cores); FAKE_THREADS=2: progress threads
    FAKE_RELEASES="h3=6.2 h4=6.0"  what release of the operating system's kernel hosts have, but for 6.1
    FAKE_CARDS="mlx5_0/1 h2=efa_0/1!"  network cards beside eth0, the second only on host h2, not counted
    FAKE_RDMA=1          messages go through these cards, past IP, and not through shared memory
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

from tests.fakes.cards import traffic
from tests.fakes.law import (
    PATTERNS,
    SYNCS,
    computes_as_long,
    describe,
    has,
    is_blind,
    knows_cpu_time,
    operation_ns,
    partners,
    parts_ns,
    seen_of_work_ns,
    starts_together,
    target_work_ns,
    trips,
    while_computing_ns,
    work_ns,
)
from tests.fakes.lines import CLOCK_COST_NS, array, say, say_clock, say_launch
from tests.fakes.machine import (
    FOLLOWS_SPEED,
    Course,
    Levels,
    beside,
    chance,
    condition,
    is_meant,
    of_mode,
    slowness,
)
from tests.fakes.plan import PlanError, asked_for, read_plan, steps_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

EAGER_LIMIT_BYTES = 4000
CROSSING_APART = 8
CROSSING_ROUNDS = 20
TICK_NS = 1_000_000_000
TRIALS = 9
WARMUPS = 2
BLOCK_ROUNDS = 16
JOINT_BLOCK_NS = 20_000
SAMPLES_WANTED = SAMPLES_CELL = OVERDRAFT = 8
MIN_SAMPLES = 2
OVERTIME = 16
VERIFIED_EACH = 4
LEAD_NS = 4000
LATE_NS = 1000
LATE_ONE_IN = 4
SMALL_BYTES = 4096
PROVED_BYTES = 4096
EXIT_USAGE = 2


class Died(Exception):  # noqa: N818 - what it did
    """With these last words."""


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
        launch_chance = chance(*(f"{v['id']} {v['pattern']} {v['bytes']}" for v in visits))
        self.levels = Levels(os.environ.get("FAKE_LEVELS", ""))
        self.effect = self.levels.factor * (1 + spread * launch_chance)
        self.luck = (1 + launch_chance) / 2
        self.jitter = float(os.environ.get("FAKE_JITTER", "0"))
        self.nap_s = float(os.environ.get("FAKE_NAP_S", "0"))
        self.chatter = "FAKE_CHATTER" in os.environ
        self.skew_ns = int(os.environ.get("FAKE_SKEW_NS", SYNCS["common"][1]))
        self.course = Course(os.environ.get("FAKE_STATES", ""), self.visits)

    def run(self) -> None:
        """All visits, each ended by its line."""
        needs_clock = any(starts_together(visit) for visit in self.visits)
        if needs_clock:
            say_clock(self.launch["ranks"], self.now_ns, learned=True)
        for step in steps_of(self.visits):
            self.step(step)
            if self.chatter:
                say(f"progress: visit {step[-1]['id']} is over")
                say('{"temperature":42}')
        if needs_clock:
            say_clock(self.launch["ranks"], self.now_ns, learned=False)
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
        if cell.spent_ns >= OVERTIME * launch["cell_ns"] and cell.samples:
            return "share"
        return ""

    def verifies(self, cell: Cell) -> bool:
        """Whether the content of the visit just made is compared: the first, each fourth, the last."""
        last = cell.visits == self.launch["visits_per_cell"] or self.reason_to_skip(cell) != ""
        return cell.visits % VERIFIED_EACH == 1 or last

    def precise(self, cell: Cell) -> bool:
        """Half of its visits, enough samples, and a narrow interval."""
        count = len(cell.samples)
        if 2 * cell.visits < self.launch["visits_per_cell"] or count < self.launch["rounds_min"]:
            return False
        width = half_width(cell.samples)
        return count >= 20 and width is not None and width <= self.launch["precision_ppm"] * 1e-6

    def step(self, visits: list[dict[str, Any]]) -> None:
        """Visits that are made at the same time, or one: all begun, then all ended."""
        jointly = len(visits) > 1 and visits[0]["members"] is not None and starts_together(visits[0])
        reasons = [self.reason_to_skip(self.cells[visit["cell"]]) for visit in visits]
        reasons = skipped_jointly(reasons) if jointly else reasons
        made = [visit for visit, why in zip(visits, reasons, strict=True) if self.begins(visit, why)]
        begun_ns = ended_ns = self.now_ns
        for visit in made:
            self.now_ns = begun_ns
            self.visit(visit, self.cells[visit["cell"]], len(made))
            ended_ns = max(ended_ns, self.now_ns)
        self.now_ns = ended_ns

    def begins(self, visit: dict[str, Any], skip: str) -> bool:
        """Whether it is not left out; the line that says so."""
        cell = self.cells[visit["cell"]]
        if skip:
            say(f'{{"skip":{visit["id"]},"reason":"{skip}"}}')
            return False
        expect_ns = cell.batch * cell.round_ns * (cell.rounds + WARMUPS)
        say(f'{{"begin":{visit["id"]},"at_ns":{self.now_ns},"expect_ns":{expect_ns}}}')
        return True

    def visit(self, visit: dict[str, Any], cell: Cell, at_once: int) -> None:
        """One visit that has begun, of so many of its step."""
        number, pattern = visit["id"], visit["pattern"]
        if self.nap_s:
            time.sleep(self.nap_s)
        self.make_trouble(visit)
        if PATTERNS[pattern]["sampled"]["probes"]:
            say(f'{{"eager":{number},"at_ns":{self.now_ns},{self.limit()},{self.crossing()}}}')
        elif is_meant("FAKE_REFUSE", visit):
            cell.closed = True
            say(f'{{"refused":{number},"reason":"there is no memory for a message of this size"}}')
        elif is_blind(visit) and visit["bytes"] > EAGER_LIMIT_BYTES:
            cell.closed = True
            self.now_ns += int(os.environ.get("FAKE_PROBE_NS", "0"))
            say(f'{{"blocked":{number},{self.limit()}}}')
        else:
            self.measure(visit, cell, at_once)

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
        asked = (v for v in self.visits if PATTERNS[v["pattern"]]["sampled"]["probes"] or is_blind(v))
        return (
            f'"found":true,"control_held":true,"limit_bytes":{EAGER_LIMIT_BYTES},'
            f'"longer_bytes":{EAGER_LIMIT_BYTES},"max_bytes":{max(v["bytes"] for v in asked)},"probes":40'
        )

    def crossing(self) -> str:
        """Round trips around the limit, by the law and with what is planted above it."""
        sizes = {
            "at_limit_ns": EAGER_LIMIT_BYTES,
            "above_ns": EAGER_LIMIT_BYTES + 1,
            "below_ns": EAGER_LIMIT_BYTES - CROSSING_APART,
            "below_odd_ns": EAGER_LIMIT_BYTES - CROSSING_APART + 1,
        }
        planted_ns = int(os.environ.get("FAKE_CROSSING_NS", "0"))
        words = []
        for name, size in sizes.items():
            one_ns = operation_ns("pingpong", "standard", size, 2, self.latency_ns)
            one_ns += planted_ns * (size > EAGER_LIMIT_BYTES)
            words.append(f'"{name}":{array([round(2 * one_ns * self.effect)] * CROSSING_ROUNDS)}')
        return f'"crossing":{{{",".join(words)}}}'

    def one_ns(self, visit: dict[str, Any], ranks: int) -> float:
        """What one operation takes by the law."""
        if is_meant("FAKE_FAST", visit):
            return 1
        pattern, mode, size = (visit[key] for key in ("pattern", "mode", "bytes"))
        how = visit["sync"], visit["rma_window"]
        return operation_ns(pattern, mode, size, ranks, self.latency_ns, *how) + parts_ns(visit)

    def factor_of(self, visit: dict[str, Any], ranks: int) -> float:
        """How many times as long as the law says an operation takes in this launch and state."""
        factor = self.effect * slowness(visit["pair"], self.luck)
        talks = ranks > 1 and visit["bytes"] <= SMALL_BYTES
        factor *= self.course.factor(self.now_ns) if talks else 1
        factor *= float(os.environ.get("FAKE_SLOWER", "1")) if ranks > 1 else 1
        factor *= float(self.levels.slower(visit) ** FOLLOWS_SPEED)
        return factor * of_mode(visit)

    def measure(self, visit: dict[str, Any], cell: Cell, at_once: int) -> None:
        """Samples by the law."""
        pattern, launch, start_ns = visit["pattern"], self.launch, self.now_ns
        ranks = PATTERNS[pattern]["active_ranks"] or len(visit["members"] or ()) or launch["ranks"]
        in_call = trips(visit, ranks)
        one_ns = self.one_ns(visit, ranks)
        slow = [slowness(pair, self.luck) for pair in world_pairs(visit, ranks)]
        factor = self.factor_of(visit, ranks) * max(slow, default=1) * beside(visit, at_once)
        call_ns = max(1, round(in_call * one_ns * factor))
        alone_ns = work_ns(visit, call_ns)
        meanwhile_ns = seen_of_work_ns(visit, call_ns)
        target_ns = target_work_ns(visit, call_ns)
        trial_ns: list[int] = []
        if cell.batch == 0:
            trial_ns = [2 * call_ns, *[call_ns] * (TRIALS - 1)]
            if trial_ns[0] > TICK_NS:
                say(f'{{"tick":{visit["id"]},"round_ns":{trial_ns[0]}}}')
            self.size_up(visit, cell, call_ns + meanwhile_ns, target_ns)
        warmup_ns = [cell.batch * call_ns] * WARMUPS
        pure_ns = self.draw(cell, call_ns, visit["id"], "pure") if alone_ns or target_ns else []
        whole_ns = while_computing_ns(visit, call_ns) if target_ns else call_ns + meanwhile_ns
        times_ns = self.draw(cell, whole_ns, visit["id"])
        late = _late_rounds(visit, cell.rounds)
        samples_ns = [time_ns + LATE_NS * (i in late) for i, time_ns in enumerate(times_ns)]
        cell.samples += [sample for i, sample in enumerate(samples_ns) if i not in late]
        cell.visits += 1
        elapsed_ns = sum(trial_ns) + sum(warmup_ns) + sum(pure_ns) + sum(samples_ns)
        cell.spent_ns += elapsed_ns - sum(trial_ns)
        self.now_ns += elapsed_ns
        verified = self.verifies(cell)
        width = half_width(cell.samples)
        effective = len(cell.samples) if len(cell.samples) >= 6 else 0
        words = [
            f'{{"visit":{visit["id"]},"at_ns":{start_ns},"elapsed_ns":{elapsed_ns}',
            f'"batch":{cell.batch},"ops":{cell.batch * in_call}',
            f'"window":{visit["window"] if PATTERNS[pattern]["windowed"] else 0}',
            f'"pool_bytes":{visit["pool_bytes"]}',
            f'"cpu_ns":{ranks * sum(times_ns) if knows_cpu_time(visit) else -1}',
            f'"correlation_time":{1:.4g},"effective":{effective:.4g}',
        ]
        if width is not None:
            words.append(f'"half_width":{width:.4g}')
        calls = cell.batch * (len(warmup_ns) + len(samples_ns))
        words.append(f'"verified":{"true" if verified and _compares(visit) else "false"}')
        counted = traffic(visit, ranks, in_call * calls, calls)
        words += counted if _is_counted(visit, verified) else ['"net_calls":0']
        if is_meant("FAKE_CORRUPT", visit):
            cell.closed = True
            words.append('"corrupt":"rank 1 received 0xa5 instead of 0x17 from rank 0 at byte 3 of 64"')
        words += self.condition(visit, ranks, start_ns)
        words += [f'"trial_ns":{array(trial_ns)}', f'"warmup_ns":{array(warmup_ns)}']
        if alone_ns or target_ns:
            words += [f'"work_ns":{alone_ns or target_ns}', f'"pure_ns":{array(pure_ns)}']
        if starts_together(visit):
            words += self.together(visit, times_ns, late)
        words += _rank_times(visit, times_ns, slow)
        say(",".join([*words, f'"samples_ns":{array(samples_ns)}}}']))

    def condition(self, visit: dict[str, Any], ranks: int, start_ns: int) -> list[str]:
        """What the machine was like from then until now."""
        lines_ns = [self.course.line_ns(at_ns) for at_ns in (start_ns, self.now_ns)]
        slower, elapsed_ns = self.levels.slower(visit), self.now_ns - start_ns
        return condition(visit, ranks, self.latency_ns, lines_ns, elapsed_ns, slower)

    def draw(self, cell: Cell, call_ns: int, *key: object) -> list[int]:
        """As many samples as the cell has in a visit."""
        sample_ns = cell.batch * call_ns
        if not self.jitter:
            return [sample_ns] * cell.rounds
        return [round(sample_ns * (1 + self.jitter * chance(*key, i))) for i in range(cell.rounds)]

    def together(self, visit: dict[str, Any], times_ns: list[int], late: range) -> list[str]:
        """What only rounds have that all ranks start together."""
        skew_ns = self.skew_ns if visit["sync"] == "common" else SYNCS[visit["sync"]][1]
        skews_ns = [skew_ns + LATE_NS * (i in late) for i in range(len(times_ns))]
        return [
            f'"lead_ns":{LEAD_NS},"late":{array(late)},"behind":[]',
            f'"skew_ns":{array(skews_ns)}',
            f'"root_ns":{array(times_ns)},"local_ns":{array(times_ns)}',
        ]

    def size_up(self, visit: dict[str, Any], cell: Cell, round_ns: int, beside_ns: int = 0) -> None:
        """Calls in a sample and samples in a visit, as batching.c chooses them."""
        launch, pattern = self.launch, PATTERNS[visit["pattern"]]
        share_ns = launch["cell_ns"] // launch["visits_per_cell"] // (2 if computes_as_long(visit) else 1)
        joint = pattern["sampled"]["in_blocks"] and pattern["sampled"]["starts_together"]
        least_ns = max(100 * CLOCK_COST_NS, JOINT_BLOCK_NS if joint else pattern["least_ns"])
        needed = max(1, -(-least_ns // round_ns))
        fits = share_ns // (round_ns * SAMPLES_WANTED)
        block = max(needed, min(BLOCK_ROUNDS, fits), 2)
        cell.round_ns = round_ns
        cell.batch = 1 if pattern["sampled"]["single"] and not has(visit, "in_a_row") else needed
        if pattern["sampled"]["in_blocks"]:
            cell.batch = 1 if has(visit, "alone") else block + block % 2
        samples = share_ns / (round_ns * cell.batch + beside_ns)
        cap = -(-launch["rounds_max"] // launch["visits_per_cell"])
        wanted = max(MIN_SAMPLES, -(-SAMPLES_CELL // launch["visits_per_cell"]))
        cell.rounds = int(min(cap, max(1, samples, min(wanted, OVERDRAFT * samples))))


def skipped_jointly(reasons: list[str]) -> list[str]:
    """Why each of several groups at once is left out: all of them, or none."""
    final = next((why for why in reasons if why in {"closed", "time"}), "")
    if not final and not all(reasons):
        return [""] * len(reasons)
    return [why or final for why in reasons]


def world_pairs(visit: dict[str, Any], ranks: int) -> list[str]:
    """The pair of each rank of a group, by the numbers that they have in the job."""
    members = visit["members"] or range(ranks)
    pairs = [[members[int(rank)] for rank in pair.split("-") if rank] for pair in partners(visit, ranks)]
    return ["-".join(map(str, sorted(pair))) for pair in pairs]


def _rank_times(visit: dict[str, Any], times_ns: list[int], slow: list[float]) -> list[str]:
    """Of patterns that tell them, by how slow the pair of each rank is."""
    usual_ns = sorted(times_ns)[len(times_ns) // 2]
    pairs = partners(visit, len(slow))
    rank_ns = [
        round(usual_ns * one / max(slow)) if pair else 0 for pair, one in zip(pairs, slow, strict=True)
    ]
    return [f'"rank_ns":{array(rank_ns)}'] if slow else []


def _compares(visit: dict[str, Any]) -> bool:
    """Whether anything comes that can be compared."""
    return has(visit, "compares") and bool(visit["bytes"] or not PATTERNS[visit["pattern"]]["moves_bytes"])


def _is_counted(visit: dict[str, Any], verified: bool) -> bool:
    """Of short operations that start together, what is sent where they are verified."""
    talks = PATTERNS[visit["pattern"]]["family"] in {"message", "collective", "one-sided"}
    return talks and (verified or visit["bytes"] >= PROVED_BYTES or not starts_together(visit))


def _late_rounds(visit: dict[str, Any], rounds: int) -> range:
    return range(LATE_ONE_IN - 1, rounds, LATE_ONE_IN) if _comes_late(visit) else range(0)


def _comes_late(visit: dict[str, Any]) -> bool:
    """After a barrier nobody can."""
    return starts_together(visit) and visit["sync"] == "common" and is_meant("FAKE_LATE", visit)


def half_width(samples: list[int]) -> float | None:
    """Relative half-width of the interval of the median, by ranks; None if there are too few."""
    ordered, count = sorted(samples), len(samples)
    low = int((count - 1.959963984540054 * count**0.5) // 2)
    if count < 6 or low < 1:
        return None
    return float((ordered[count - low] / ordered[low - 1]) ** 0.5 - 1)


def main(library: str, standard: str, latency_ns: int) -> None:
    """What the executable does that the fake mpicc writes."""
    if sys.argv[1:] == ["--describe"]:
        import json  # noqa: PLC0415

        print(json.dumps(describe(library), separators=(",", ":")))
        return
    if len(sys.argv) != 3 or sys.argv[2] != "-":
        sys.exit("usage: mpigauge-kernel PLAN JOURNAL")
    if log := os.environ.get("FAKE_LOG"):
        with open(log, "a", encoding="ascii") as file:  # noqa: PTH123 - pathlib is slow to import
            file.write(f"{os.getppid()} {os.getpid()}\n")
    try:
        with open(0 if sys.argv[1] == "-" else sys.argv[1], encoding="ascii") as plan:  # noqa: PTH123
            follow(asked_for(plan) if sys.argv[1] == "-" else plan, library, standard, latency_ns)
    except Died as error:
        sys.stderr.write(f"mpigauge-kernel: rank 0: {error}\n")
        sys.exit(EXIT_USAGE)
    except BrokenPipeError:
        os._exit(1)


def follow(plan: Iterable[str], library: str, standard: str, latency_ns: int) -> None:
    """Everything between the first and the last line.

    Raises:
        Died: The plan is none, or the environment asks for it.
    """
    if words := os.environ.get("FAKE_REPORT"):
        say(words)
    if words := os.environ.get("FAKE_DEAD"):
        raise Died(words)
    try:
        launch, visits = read_plan(plan)
    except PlanError as error:
        raise Died(str(error)) from None
    ranks = 1 if "FAKE_SINGLETONS" in os.environ else int(os.environ["FAKE_RANKS"])
    say_launch(os.environ.get("FAKE_LIBRARY", library), launch["ranks"], ranks, standard)
    if ranks != launch["ranks"]:
        raise Died(f"the plan is for {launch['ranks']} ranks, this job has {ranks}")
    _warm_up(launch, visits)
    Run(launch, visits, latency_ns).run()


def _warm_up(launch: dict[str, int], visits: list[dict[str, Any]]) -> None:
    """Of its messages none may be too large.

    Raises:
        Died: One is.
    """
    largest = max(visit["bytes"] for visit in visits)
    limit = launch.get("warmup_bytes", 0) or largest
    if min(limit, largest) >= int(os.environ.get("FAKE_WARM_UP", largest + 1)):
        raise Died("the warm-up was too much")
