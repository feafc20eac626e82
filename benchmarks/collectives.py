"""How should a collective start? Three ways of mpigauge side by side, and IMB-MPI1 beside them."""

import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import tools

from mpigauge import units
from mpigauge.errors import JobError
from mpigauge.mpi.library import Library
from mpigauge.result.reader import load
from mpigauge.rows.rows import Row, rows

SYNCS = ("common", "barrier", "mpi_barrier")
SIZES = (8, 1024, 16384, 131072, 1 << 20)
OPERATIONS = {"bcast": "Bcast", "allreduce": "Allreduce", "alltoall": "Alltoall"}
ROUNDS = 7
ROUNDS_QUICK = 2
IMB_VOLUME_MIB = 400
IMB_ROUNDS = 5000

Key = tuple[str, int, str]  # operation, bytes, what
SKEW_HEADINGS = ("library", "start", "skew p50", "skew p99", "late rounds", "8 B broadcast")
SKEW_IS = (
    "Skew is last start - first start of a round, over the rounds that count: the median over launches of a "
    "launch's percentile. Under a barrier it is what the barrier leaves behind. Both ranks read one clock."
)
HEADINGS = (
    "operation",
    "size",
    "common: T",
    "barrier: T",
    "MPI_Barrier: T",
    "MPI_Barrier: skew",
    "MPI_Barrier: median rank",
    "IMB t_avg",
    "IMB t_max",
    "IMB t_avg / common T",
)
DIFFERENCES = """Why they differ:

- *common: T* is the time from the moment at which all ranks start, within some nanoseconds, to the last
  end.
- *barrier: T* and *MPI_Barrier: T* also run from the first start to the last end, but the first rank starts
  while the last is still in the barrier: the skew is part of T. A rank that starts early may have done its
  share before the other begins, so T is not simply common T plus skew.
- *Median rank* is what a program sees that reads its own clock around the call. The root of a broadcast is
  gone once it has handed its message over, so the median over two ranks lies between that and the arrival.
- *IMB* reads each rank's own clock around a call, sums over all iterations with a barrier between them, and
  reports mean and maximum over ranks of that mean. Who leaves the barrier late finds the message waiting
  and measures too little; who leaves early waits for the others and measures the barrier, too. It is a
  mean, so interruptions of milliseconds are in it, and its allreduce adds floats where ours adds doubles.
- In large messages the skew is a small part of all of them. IMB needs a few hundred iterations there: with
  forty, its mean of a 1 MiB broadcast was almost twice as large, since the first ones are slow and count.
- What these reasons do not cover is unexplained: IMB's broadcast of 128 KiB has come out faster than ours by
  a quarter, while its other operations of that size agree."""


def main() -> None:
    """Print the section."""
    arguments = tools.options("ways of starting a collective, and IMB-MPI1").parse_args()
    print(
        section(tools.libraries(arguments.mpi), ROUNDS_QUICK if arguments.quick else ROUNDS, arguments.seed)
    )


def section(libraries: Sequence[Library], rounds: int, seed: int) -> str:
    """Measure, and return the section in Markdown.

    Raises:
        JobError: Nothing could be measured.
    """
    words = ["## Collectives: how the ranks start"]
    words += [f"Start skew on two ranks, {rounds} launches of each library.", _skews(libraries, rounds, seed)]
    words.append(SKEW_IS)
    imb = tools.find_imb(libraries)
    if imb is not None:
        library = next(library for library in libraries if library.name == "intelmpi")
        words.append(
            f"{library.label}, two ranks, medians over {rounds} launches of mpigauge and of IMB-MPI1, in "
            "turns. Times in microseconds, of one operation; sizes are of one rank's block."
        )
        words += [_beside_imb(library, imb, rounds, seed), DIFFERENCES]
    return "\n\n".join(words)


def _mpigauge(library: Library, patterns: Sequence[str], sizes: Sequence[int], seed: int) -> list[Row]:
    """Run one launch of mpigauge with all three ways of starting; return its times."""
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        path = Path(folder) / "result.jsonl"
        options = ["--sizes", ",".join(map(str, sizes)), "--sync", ",".join(SYNCS), "--launches", "1"]
        tools.mpigauge(library, [*patterns, *options, "--seed", str(seed)], path)
        return [row for row in rows(load(path)) if row.start is not None and row.time is not None]


# ---- Skew ----------------------------------------------------------------------------------------


def _skews(libraries: Sequence[Library], rounds: int, seed: int) -> str:
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for number in range(rounds):
        for library in libraries:
            tools.say(f"skew {number + 1}/{rounds}: {library.label}")
            for row in tools.attempt(partial(_mpigauge, library, ["bcast"], (8,), seed + number)) or []:
                found[library.label, row.cell.sync].append(row)
    body = [_skew_row(label, sync, group) for (label, sync), group in sorted(found.items(), key=_skew_order)]
    return tools.markdown(SKEW_HEADINGS, body)


def _skew_order(entry: tuple[tuple[str, str], list[Row]]) -> tuple[str, int]:
    (label, sync), _ = entry
    return label, SYNCS.index(sync)


def _skew_row(label: str, sync: str, group: Sequence[Row]) -> list[str]:
    starts = [row.start for row in group if row.start is not None]
    times = [row.time.estimate for row in group if row.time is not None]
    return [
        label,
        sync,
        units.format_time(median(start.skew_p50_s for start in starts)),
        units.format_time(median(start.skew_p99_s for start in starts)),
        units.format_percent(median(start.late_share for start in starts)),
        units.format_time(median(times)),
    ]


# ---- Beside IMB ----------------------------------------------------------------------------------


def _beside_imb(library: Library, imb: Path, rounds: int, seed: int) -> str:
    found: dict[Key, list[float]] = defaultdict(list)
    for number in range(rounds):
        tools.say(f"collectives {number + 1}/{rounds}: {library.label}: mpigauge, IMB")
        for row in tools.attempt(partial(_mpigauge, library, list(OPERATIONS), SIZES, seed + number)) or []:
            _take(found, row)
        for key, seconds in (tools.attempt(partial(_imb, library, imb)) or {}).items():
            found[key].append(seconds)
    centres = {key: median(values) for key, values in found.items()}
    return tools.markdown(HEADINGS, [_row(name, size, centres) for name in OPERATIONS for size in SIZES])


def _take(found: dict[Key, list[float]], row: Row) -> None:
    cell = row.cell
    if row.time is None or row.start is None:
        return
    found[cell.pattern, cell.bytes, cell.sync].append(row.time.estimate)
    if cell.sync == "mpi_barrier":
        found[cell.pattern, cell.bytes, "skew"].append(row.start.skew_p50_s)
        found[cell.pattern, cell.bytes, "local"].append(row.start.local_s or 0.0)


def _imb(library: Library, program: Path) -> Mapping[Key, float]:
    """Run one launch of IMB-MPI1; return means over ranks and maxima, by operation and size."""
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        lengths = Path(folder) / "lengths"
        lengths.write_text("\n".join(map(str, SIZES)) + "\n", encoding="ascii")
        options = ["-npmin", "2", "-msglen", str(lengths), "-iter", f"{IMB_ROUNDS},{IMB_VOLUME_MIB}"]
        words = [str(program), *options, *OPERATIONS.values()]
        lines = tools.launch(library, words, {"LD_LIBRARY_PATH": str(library.prefix / "lib")})
    names = {title: name for name, title in OPERATIONS.items()}
    found: dict[Key, float] = {}
    name = ""
    for line in lines:
        if title := re.fullmatch(r"# Benchmarking (\w+)\s*", line):
            name = names.get(title[1], "")
        elif name and (numbers := re.fullmatch(r"\s*(\d+)\s+\d+\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*", line)):
            found[name, int(numbers[1]), "t_max"] = float(numbers[3]) * 1e-6
            found[name, int(numbers[1]), "t_avg"] = float(numbers[4]) * 1e-6
    if not found:
        raise JobError(f"IMB-MPI1 under {library.label}: reported nothing")
    return found


def _row(name: str, size: int, centres: Mapping[Key, float]) -> list[str]:
    columns = (*SYNCS, "skew", "local", "t_avg", "t_max")
    values = [centres.get((name, size, column)) for column in columns]
    ours, theirs = values[0], values[5]
    ratio = units.MISSING if not ours or theirs is None else f"{theirs / ours:.2f}"
    return [name, units.format_size(size), *map(_microseconds, values), ratio]


def _microseconds(seconds: float | None) -> str:
    return units.MISSING if seconds is None else f"{seconds * 1e6:.3g}"


if __name__ == "__main__":
    sys.exit(tools.ending(main))
