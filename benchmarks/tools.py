"""The measuring programs that the benchmarks compare: mpigauge, the bare loop, IMB-MPI1; and what all need.

Each `run_` function is one launch, or for mpigauge one campaign. Times are seconds of one way, by size in
bytes. To compare another program, add a `run_` function here, and to `fidelity` its name and when it can run.
"""

import os
import re
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, geometric_mean, median
from time import monotonic
from typing import TypeVar

import numpy as np

from mpigauge import units
from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.launchers import command_of
from mpigauge.campaign.launch.process import RunningJob
from mpigauge.errors import EnvironmentLacksError, JobError, MpigaugeError
from mpigauge.mpi import find, wrapper
from mpigauge.mpi.library import Library
from mpigauge.plan.model import Cell
from mpigauge.result import environment
from mpigauge.result.reader import Result, load
from mpigauge.rows.estimate import Estimate
from mpigauge.rows.rows import rows
from mpigauge.stats.interval import interval_of

Times = Mapping[int, float]
Repetitions = Mapping[int, Sequence[float]]
Anything = TypeVar("Anything")

SIZES = (8, 1024, 65536, 1 << 20)
SOURCE = Path(__file__).with_name("bare_pingpong.c")
PREFIXES = Path(__file__).parents[1] / ".mpi"
"""Folder of libraries that cannot share an environment with others; `make bench` fills it."""

BUILD_TIMEOUT_S = 120
CAMPAIGN_TIMEOUT_S = 300
SILENCE_MOST_S = 120.0
END_PATIENCE_S = 10.0
MAX_ROUNDS = 20_000
VOLUME_MIB = 100
REPETITIONS = 20


# ---- Libraries -----------------------------------------------------------------------------------


def libraries(names: Sequence[str]) -> list[Library]:
    """Return the libraries that the user names; without names one of each kind.

    Those that `make bench` prepared come before those of the machine.

    Raises:
        MpigaugeError: One that is named does not work, or none is found.
    """
    if names:
        return [find.find(name) for name in names]
    kinds: dict[str, Library] = {}
    for library in [*_prepared(), *find.find_all()[0]]:
        kinds.setdefault(library.name, library)
    if not kinds:
        raise EnvironmentLacksError("no MPI library was found", find.INSTALL_HINT)
    return list(kinds.values())


def _prepared() -> list[Library]:
    return [
        find.find(str(folder)) for folder in sorted(PREFIXES.glob("*")) if (folder / "bin/mpicc").exists()
    ]


def find_imb(found: Sequence[Library]) -> Path | None:
    """Return IMB-MPI1, which comes with the wheel of Intel MPI; None if that is not among the libraries."""
    programs = [library.prefix / "bin" / "IMB-MPI1" for library in found if library.name == "intelmpi"]
    return next((program for program in programs if program.is_file()), None)


def can_run_imb(library: Library) -> bool:
    """Return whether a library can run IMB: the binary needs MPICH's binary interface."""
    return library.name in {"intelmpi", "mpich"}


# ---- Launches ------------------------------------------------------------------------------------


def launch(library: Library, program: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """Run a program on two ranks; return the lines that they print.

    Raises:
        JobError: It said nothing for so long that it hangs.
        EnvironmentLacksError: It cannot be started.
    """
    job = Job(
        mpiexec=library.mpiexec,
        ranks=2,
        program=tuple(program),
        cores=environment.cores_allowed(),
        as_root=environment.user_is_root(),
        environment={**library.environment, **variables},
    )
    with RunningJob(command_of(job, library.kind.launcher).words, job.environment) as running:
        try:
            lines = [line.decode("utf-8", "replace") for line in running.lines(lambda: SILENCE_MOST_S)]
        except TimeoutError:
            raise JobError(f"{Path(program[0]).name}: hangs under {library.label}") from None
        running.wait(END_PATIENCE_S)
    if not lines:
        raise JobError(f"{Path(program[0]).name}: failed under {library.label}: {running.last_words}")
    return lines


def rounds_of(size: int) -> int:
    """Return the round trips of one loop: some ten milliseconds, so that an interruption spoils few.

    IMB's `-iter MAX_ROUNDS,VOLUME_MIB` gives the same numbers.
    """
    return min(MAX_ROUNDS, (VOLUME_MIB << 20) // max(1, size))


def _by_size(samples: Sequence[tuple[int, float]], sizes: Sequence[int], name: str) -> Repetitions:
    """Return the repetitions of each size; a size without any is an error."""
    repetitions = defaultdict(list)
    for size, seconds in samples:
        repetitions[size].append(seconds)
    if set(repetitions) != set(sizes):
        raise JobError(f"{name}: did not report every size")
    return repetitions


def medians(repetitions: Repetitions) -> Times:
    """Return the median of each size's repetitions."""
    return {size: median(values) for size, values in repetitions.items()}


# ---- The bare loop -------------------------------------------------------------------------------


def build(library: Library, source: Path, folder: Path) -> Path:
    """Compile a program of ours with a library's mpicc, with the optimisation that mpigauge's kernel gets.

    Raises:
        EnvironmentLacksError: It does not compile.
    """
    program = folder / f"{source.stem}-{library.name}"
    words = [str(library.mpicc), "-std=c11", "-D_GNU_SOURCE", "-O2", "-o", str(program), str(source)]
    done = _run(words, BUILD_TIMEOUT_S, library.environ)
    if done.returncode != 0:
        raise EnvironmentLacksError(*wrapper.explain_failure(library.mpicc, done.returncode, done.stderr))
    return program


def build_bare(library: Library, folder: Path) -> Path:
    """Compile the bare loop.

    Raises:
        EnvironmentLacksError: It does not compile.
    """
    return build(library, SOURCE, folder)


def medians_of_loops(
    library: Library, program: Path, words: Sequence[str], expected: int
) -> dict[tuple[str, int], float]:
    """Run one launch of a program that prints `loop size nanoseconds`; return medians in seconds.

    Args:
        expected: Number of loops and sizes that it has to report.

    Raises:
        JobError: It failed, or did not report all of them.
    """
    found: dict[tuple[str, int], list[float]] = defaultdict(list)
    for line in launch(library, [str(program), *words], {}):
        if match := re.fullmatch(r"(\w+) (\d+) ([\d.]+)", line.strip()):
            found[match[1], int(match[2])].append(float(match[3]) * 1e-9)
    if len(found) != expected:
        raise JobError(f"{program.name} under {library.label}: did not report every size")
    return {key: median(times) for key, times in found.items()}


def run_bare(library: Library, program: Path, sizes: Sequence[int] = SIZES) -> Times:
    """Run one launch of the bare loop.

    Raises:
        JobError: It failed.
    """
    return medians(_looped(library, program, REPETITIONS, {size: rounds_of(size) for size in sizes}))


def run_loops(library: Library, program: Path, rounds: Mapping[int, int]) -> Times:
    """Run one launch of the bare loop in which each size has one turn of so many round trips.

    Raises:
        JobError: It failed.
    """
    return medians(_looped(library, program, 1, rounds))


def _looped(library: Library, program: Path, repetitions: int, rounds: Mapping[int, int]) -> Repetitions:
    loops = [f"{size}:{count}" for size, count in rounds.items()]
    lines = launch(library, [str(program), str(repetitions), *loops], {})
    found = [re.fullmatch(r"(\d+) ([\d.]+)", line.strip()) for line in lines]
    samples = [(int(match[1]), float(match[2]) * 1e-9) for match in found if match]
    return _by_size(samples, list(rounds), f"{SOURCE.stem} under {library.label}")


# ---- IMB-MPI1 ------------------------------------------------------------------------------------


def run_imb(library: Library, program: Path, sizes: Sequence[int], repetitions: int) -> Repetitions:
    """Run one launch of IMB-MPI1 PingPong with so many lines per size; the sizes take turns.

    Longer loops would not do instead: IMB then takes fewer rounds than it is told, and its `-time` gives
    nearly all to the first size.

    Raises:
        JobError: It failed.
    """
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        lengths = Path(folder) / "lengths"
        lengths.write_text("\n".join(map(str, [*sizes] * repetitions)) + "\n", encoding="ascii")
        options = ["-msglen", str(lengths), "-iter", f"{MAX_ROUNDS},{VOLUME_MIB}", "-time", "1000"]
        words = [str(program), *options, "PingPong"]
        lines = launch(library, words, {"LD_LIBRARY_PATH": str(library.prefix / "lib")})
    samples = [sample for line in lines if (sample := _imb_sample(line))]
    return _by_size(samples, sizes, f"IMB-MPI1 under {library.label}")


def _imb_sample(line: str) -> tuple[int, float] | None:
    """Return size and seconds of a line of IMB's table.

    Its times have two decimals of a microsecond, 7 % of a fast one; its rates, in 10^6 B/s, are finer.
    """
    found = re.fullmatch(r"\s*(\d+)\s+\d+\s+([\d.]+)\s+([\d.]+)\s*", line)
    if found is None:
        return None
    size, microseconds, rate = int(found[1]), float(found[2]), float(found[3])
    return size, size / rate * 1e-6 if size and rate else microseconds * 1e-6


# ---- mpigauge ------------------------------------------------------------------------------------


def means_of_visits(path: Path) -> dict[Cell, float]:
    """Return each cell's median over the means of its visits, per operation in seconds, over all states.

    As `medians_of_loops`, whose repetitions are means too: the tail of slow messages is in both.
    """
    means: dict[Cell, list[float]] = defaultdict(list)
    for visit in load(path).visits:
        if len(visit.samples_ns):
            means[visit.cell].append(fmean(visit.samples_ns) * 1e-9 / visit.ops)
    return {cell: median(times) for cell, times in means.items()}


def run_mpigauge(library: Library, sizes: Sequence[int], options: Sequence[str]) -> dict[int, Estimate]:
    """Run one campaign as a user would; return its estimate of every size.

    Raises:
        JobError: It failed.
    """
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        found = rows(campaign(library, sizes, options, Path(folder) / "result.jsonl"))
    return {
        row.cell.bytes: row.time
        for row in found
        if row.cell.pattern == "pingpong" and isinstance(row.time, Estimate)
    }


def campaign(library: Library, sizes: Sequence[int], options: Sequence[str], path: Path) -> Result:
    """Run one campaign of ping-pongs as a user would; return its result.

    Raises:
        JobError: It failed.
    """
    mpigauge(library, ["pingpong", "--sizes", ",".join(map(str, sizes)), *options], path)
    return load(path)


def mpigauge(library: Library, words: Sequence[str], path: Path) -> None:
    """Run one campaign as a user would, into a file.

    Raises:
        JobError: It failed.
    """
    command = [sys.executable, "-m", "mpigauge", "run", *words, "--mpi", str(library.mpicc)]
    done = _run([*command, "-q", "-o", str(path)], CAMPAIGN_TIMEOUT_S, os.environ)
    if done.returncode != 0:
        raise JobError(f"mpigauge failed under {library.label}: {done.stderr.strip()}")


def run(words: list[str], variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run one program to its end, whatever its status.

    Raises:
        EnvironmentLacksError: It cannot be started.
        JobError: It takes too long.
    """
    return _run(words, CAMPAIGN_TIMEOUT_S, variables)


def _run(
    words: list[str], timeout_s: float, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    name = Path(words[0]).name
    try:
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
        )
    except OSError as error:
        raise EnvironmentLacksError(f"{name}: cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise JobError(f"{name}: took longer than {timeout_s:.0f} s") from None


# ---- Theirs and ours in turns ----------------------------------------------------------------------

Timed = tuple[str, int]
"""What is timed: the name of a loop and a size in bytes."""

HELD = 0.15
FEWEST = 3
RATIO_HEADINGS = ("loop, ns", "mpigauge, ns", "mpigauge / loop", "rounds")
RATIO_IS = (
    "Loops run before and after each campaign; a round counts for those whose two times differ by less than "
    f"{100 * HELD:.0f} %, since then the machine kept its state. In a round, a loop has the median of its "
    "repetitions' means, mpigauge that of its visits' means. The ratio is the median over rounds with its "
    "95 % interval, and the times are those of the round in the middle."
)


def turns(
    theirs: Callable[[], Mapping[Timed, float]], ours: Callable[[], Mapping[Timed, float]], rounds: int
) -> dict[Timed, list[tuple[float, float]]]:
    """Return times of a loop and ours in seconds, of the rounds in which the machine kept its state.

    A virtual machine moves its cores between near and far within minutes, which doubles times of shared
    memory: in rounds where it did, a ratio says nothing of the programs.
    """
    kept: dict[Timed, list[tuple[float, float]]] = defaultdict(list)
    before = theirs()
    for _ in range(rounds):
        own, after = ours(), theirs()
        for timed, first_s in before.items():
            if abs(after[timed] / first_s - 1) < HELD:
                kept[timed].append((geometric_mean([first_s, after[timed]]), own[timed]))
        before = after
    return {timed: kept[timed] for timed in before}


def ratio_cells(times: Sequence[tuple[float, float]], rounds: int) -> list[str]:
    """Return the cells below `RATIO_HEADINGS`, of times of a loop and ours in seconds."""
    counted = f"{len(times)} of {rounds}"
    if not times:
        return [units.MISSING] * 3 + [counted]
    loop_s, own_s = sorted(times, key=lambda both: both[1] / both[0])[len(times) // 2]
    ratio = interval_of(np.array([own / other for other, own in times]))
    words = f"{ratio.estimate:.3f}"
    if len(times) >= FEWEST and ratio.low is not None and ratio.high is not None:
        words += f" ({ratio.low:.2f} \N{EN DASH} {ratio.high:.2f})"
    return [f"{1e9 * loop_s:.4g}", f"{1e9 * own_s:.4g}", words, counted]


# ---- What every benchmark needs ------------------------------------------------------------------


def attempt(run: Callable[[], Anything]) -> Anything | None:
    """Run, and return the outcome; None and a sentence if it fails, to keep the other launches."""
    try:
        return run()
    except MpigaugeError as error:
        say(error.sentence)
        return None


def timed(run: Callable[[], Anything]) -> tuple[Anything, float]:
    """Run, and return the outcome and the seconds it took."""
    start = monotonic()
    return run(), monotonic() - start


def say(sentence: str) -> None:
    """Print progress, which is no part of the result."""
    print(sentence, file=sys.stderr, flush=True)


def markdown(headings: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a table whose first column is words and whose others are numbers."""
    rule = ["---", *["---:"] * (len(headings) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [headings, rule, *body])


def options(about: str) -> ArgumentParser:
    """Return a parser of the options that all benchmarks share."""
    parser = ArgumentParser(description=about)
    parser.add_argument(
        "--mpi", action="append", default=[], metavar="NAME", help="a prefix or an mpicc; repeatable"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of all random choices")
    parser.add_argument("--quick", action="store_true", help="a first look")
    return parser


def ending(main: Callable[[], None]) -> int:
    """Return the exit status of a benchmark: 0 if it has measured, whatever that shows."""
    try:
        main()
    except MpigaugeError as error:
        say(f"{Path(sys.argv[0]).name}: {error.sentence}")
        if error.hint:
            say(f"  hint: {error.hint}")
        return error.exit_code
    return 0
