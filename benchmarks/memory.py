"""Is mpigauge's memory baseline right? Its memcpy beside an independent loop, in turns; and the caches."""

import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

import tools

from mpigauge import units
from mpigauge.errors import EnvironmentLacksError
from mpigauge.find.memory_costs import caches_seen, memory_finding
from mpigauge.mpi.library import Library
from mpigauge.result.reader import Result, load
from mpigauge.rows.rows import rows

SIZES = (64, 4096, 65536, 1 << 20, 4 << 20, 16 << 20)
CHASE = "4KiB:64MiB*1.19"
ROUNDS = 7
ROUNDS_QUICK = 3
LOOP_NS = 2e7
COPY_BYTES_PER_NS = 10
REPETITIONS = 5
SOURCE = Path(__file__).with_name("bare_memory.c")
WHAT = (
    "{} launches of mpigauge and of a bare loop around memcpy, in turns; rates by the median time, bytes "
    "counted once; ratios pair by pair."
)
HEADINGS = ("size", "mpigauge", "bare loop", "mpigauge / bare loop", "lowest", "highest")


def main() -> None:
    """Print the section."""
    arguments = tools.options("memcpy of mpigauge and of a bare loop").parse_args()
    print(
        section(tools.libraries(arguments.mpi), ROUNDS_QUICK if arguments.quick else ROUNDS, arguments.seed)
    )


def section(libraries: Sequence[Library], rounds: int, seed: int) -> str:
    """Measure, and return the section in Markdown.

    Raises:
        EnvironmentLacksError: The loop does not compile.
    """
    library = libraries[0]
    rates: dict[int, list[tuple[float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        program = build(Path(folder))
        for number in range(rounds):
            tools.say(f"memory {number + 1}/{rounds}: mpigauge, bare loop")
            ours = tools.attempt(
                partial(_mpigauge, library, ["memcpy"], ",".join(map(str, SIZES)), seed + number)
            )
            theirs = bare_rates(program, SIZES)
            for size, rate in (memcpy_rates(ours) if ours else {}).items():
                rates[size].append((rate, theirs[size]))
        chase = tools.attempt(partial(_mpigauge, library, ["chase"], CHASE, seed))
    caches = list(caches_seen(rows(chase), chase.campaign.environment.caches)) if chase else []
    return "\n\n".join(
        [
            "## Memory: memcpy and the caches",
            WHAT.format(rounds),
            tools.markdown(HEADINGS, [_row(size, rates[size]) for size in SIZES]),
            f"The caches by `mpigauge run chase --sizes {CHASE}`:",
            "\n".join(f"- {memory_finding(seen).text}" for seen in caches),
        ]
    )


def build(folder: Path) -> Path:
    """Compile the bare loop.

    Raises:
        EnvironmentLacksError: It does not compile.
    """
    program = folder / SOURCE.stem
    words = ["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-o", str(program), str(SOURCE)]
    done = tools.run(words, os.environ)
    if done.returncode != 0:
        raise EnvironmentLacksError(f"{SOURCE.name}: does not compile: {done.stderr.strip()}")
    return program


def bare_rates(program: Path, sizes: Sequence[int]) -> dict[int, float]:
    """Run one launch of the bare loop; return bytes per second by size."""
    loops = [f"{size}:{max(3, round(LOOP_NS * COPY_BYTES_PER_NS / size))}" for size in sizes]
    done = subprocess.run([program, str(REPETITIONS), *loops], capture_output=True, text=True, check=True)
    times: dict[int, list[float]] = defaultdict(list)
    for match in re.finditer(r"(\d+) ([\d.]+)", done.stdout):
        times[int(match[1])].append(float(match[2]) * 1e-9)
    return {size: size / median(values) for size, values in times.items()}


def memcpy_rates(result: Result) -> dict[int, float]:
    """Return bytes per second as mpigauge reports them."""
    return {
        row.cell.bytes: row.rate_bytes_per_s
        for row in rows(result)
        if row.cell.pattern == "memcpy" and row.rate_bytes_per_s is not None
    }


def _mpigauge(library: Library, patterns: Sequence[str], sizes: str, seed: int) -> Result:
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        path = Path(folder) / "result.jsonl"
        options = ["--np", "1", "--sizes", sizes, "--launches", "1", "--seed", str(seed)]
        tools.mpigauge(library, [*patterns, *options], path)
        return load(path)


def _row(size: int, pairs: Sequence[tuple[float, float]]) -> list[str]:
    if not pairs:
        return [units.format_size(size), *[units.MISSING] * 5]
    ratios = [ours / theirs for ours, theirs in pairs]
    return [
        units.format_size(size),
        units.format_rate(median(ours for ours, _ in pairs), units.AUTO),
        units.format_rate(median(theirs for _, theirs in pairs), units.AUTO),
        *(f"{value:.3f}" for value in (median(ratios), min(ratios), max(ratios))),
    ]


if __name__ == "__main__":
    sys.exit(tools.ending(main))
