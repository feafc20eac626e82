"""How time and memory grow with the size of a campaign, without MPI: three decades, and the exponent.

    python benchmarks/growth.py [--most] [STEP ...]

Each point is a process of its own, which measures the step as often as fits into a second and at most ten
times, and gives the least time and the most memory beyond what it had before. Time is that of the process,
user and system, which other programs of the machine change little; waiting for the disk is not in it. The
exponent is that of the power of the size that fits best, by least squares of logarithms, of points of a
millisecond, or a mebibyte, and more; 1 is linear. A step ends where a point takes more than a minute or 4
GiB.
"""

from __future__ import annotations

import json
import math
import re
import resource
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tools
from growing import STEPS, Run, Step

from mpigauge.units import format_time

RESET = Path("/proc/self/clear_refs")
STATUS = Path("/proc/self/status")
REPEATED_S = 1.0
MAX_REPEATED = 10
POINT_MOST_S = 60.0
PREPARING_MOST_S = 300.0
MEMORY_MOST_BYTES = 4 << 30
TELLING_S = 1e-3
TELLING_BYTES = 1 << 20
"""Less is hidden by what every process does."""


@dataclass(frozen=True)
class Point:
    """Cost of a step at one size.

    Attributes:
        memory_bytes: The most at any time, beyond what there was before.
    """

    size: int
    seconds: float
    memory_bytes: int


def measured(step: Step, size: int) -> Point:
    """Measure one point in this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MOST_BYTES, MEMORY_MOST_BYTES))
    with tempfile.TemporaryDirectory(prefix="mpigauge-growth-") as folder:
        run = step.prepare(Path(folder), size)
        RESET.write_text("5", encoding="ascii")  # the peak is that of what follows, not of preparing
        before = _memory_bytes("VmRSS")
        least_s = _timed(run)
        memory = max(0, _memory_bytes("VmHWM") - before)
        spent_s, times = least_s, 1
        while spent_s < REPEATED_S and times < MAX_REPEATED:
            again_s = _timed(run)
            least_s, spent_s, times = min(least_s, again_s), spent_s + again_s, times + 1
    return Point(size, least_s, memory)


def _timed(run: Run) -> float:
    started_s = time.process_time()
    run()
    return time.process_time() - started_s


def _memory_bytes(name: str) -> int:
    """Return the memory of this process in bytes, now (VmRSS) or at most (VmHWM)."""
    found = re.search(rf"^{name}:\s+(\d+) kB$", STATUS.read_text(encoding="ascii"), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def point_of(name: str, size: int) -> Point | str:
    """Return one point, measured by a process of its own; or a sentence if it takes too much."""
    words = [sys.executable, __file__, "--point", str(size), name]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PREPARING_MOST_S)
    except subprocess.TimeoutExpired:
        return f"more than {PREPARING_MOST_S:.0f} s"
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return "more than 4 GiB" if "MemoryError" in done.stderr else (lines or ["failed"])[-1]
    return Point(**json.loads(done.stdout))


def curve_of(name: str, sizes: list[int]) -> tuple[list[Point], str]:
    """Return the points of a step, and why it ended before the last; empty if it did not."""
    points: list[Point] = []
    for size in sizes:
        found = point_of(name, size)
        if isinstance(found, str):
            return points, f"{size:,}: {found}"
        points.append(found)
        tools.say(f"{name} {size:,}: {found.seconds:.4f} s, {found.memory_bytes / 2**20:.0f} MiB")
        if found.seconds > POINT_MOST_S:
            return points, f"{size:,} took more than {POINT_MOST_S:.0f} s"
    return points, ""


def exponent(points: list[Point], what: str, least: float) -> float:
    """Return the exponent of the power of the size that fits best; NaN for fewer than two points."""
    costs = [(point.size, getattr(point, what)) for point in points if getattr(point, what) >= least]
    if len(costs) < 2:
        return math.nan
    sizes, values = np.log(np.array(costs, dtype=float)).T
    return float(np.polyfit(sizes, values, 1)[0])


def row_of(name: str, points: list[Point], ended: str) -> list[str]:
    """Return a row of the table."""
    step, last = STEPS[name], points[-1]
    sizes = f"{points[0].size:,} to {last.size:,} {step.of}"
    times = " / ".join(format_time(point.seconds) for point in points)
    powers = [
        exponent(points, "seconds", TELLING_S),
        exponent(points, "memory_bytes", TELLING_BYTES),
    ]
    time_power, memory_power = ("" if math.isnan(power) else f"{power:.2f}" for power in powers)
    mebibytes = last.memory_bytes / 2**20
    memory = f"{mebibytes:.0f} MiB" if mebibytes >= 1 else "under 1 MiB"
    return [
        f"{step.about}{f'; ended: {ended}' if ended else ''}",
        sizes,
        times,
        time_power,
        memory,
        memory_power,
    ]


def section(names: list[str], *, most: bool) -> str:
    """Measure, and return the section in Markdown."""
    found = []
    for name in names:
        step = STEPS[name]
        points, ended = curve_of(name, [*step.sizes, *(step.most if most else ())])
        if points:
            found.append(row_of(name, points, ended))
        else:
            tools.say(f"{name}: {ended}")
    headings = ["step", "of", "time at each", "exponent", "memory at the last", "exponent"]
    return f"## Growth\n\n{tools.markdown(headings, found)}"


def main() -> None:
    """Print the table, or one point for the process that asked for it."""
    parser = ArgumentParser(description="how time and memory grow")
    parser.add_argument("--most", action="store_true", help="the largest sizes too, which take minutes")
    parser.add_argument("--point", type=int, metavar="SIZE", help="one point alone, as JSON")
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"of {', '.join(STEPS)}; none: all of them")
    arguments = parser.parse_args()
    if unknown := set(arguments.steps) - set(STEPS):
        parser.error(f"there is no step {' or '.join(sorted(unknown))}")
    if arguments.point is not None:
        print(json.dumps(measured(STEPS[arguments.steps[0]], arguments.point).__dict__))
    else:
        print(section(arguments.steps or list(STEPS), most=arguments.most))


if __name__ == "__main__":
    sys.exit(tools.ending(main))
