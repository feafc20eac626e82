"""Messages beside a bare loop, and intervals beside what other invocations find."""

from __future__ import annotations

import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.launch.job import Job
from mpigauge.launch.launchers import command_of
from mpigauge.result.environment import cores_allowed
from tests.places import ROOT
from tests.truth import check, truth

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.mpi.library import Library

pytestmark = pytest.mark.mpi

Rows = Callable[..., list[dict[str, Any]]]
ROUND_TRIPS = {8: 20_000, 65536: 2_000}
REPETITIONS = 15
PAIRS_OF_RUNS = 5
MARGIN = 0.05
"""The instrument promises 1 %; the rest is what two programs that run one after the other may differ by."""

INVOCATIONS = 8
HOLD_LEAST = 0.74
"""Of intervals that are to hold in 95 %: fewer of sixteen is less than 1 % likely."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bare")


def bare_times(library: Library, folder: Path) -> dict[int, float]:
    """Return the median time of a message in seconds by size, of a loop that does nothing else."""
    program = folder / f"bare-{library.name}"
    environment = {**os.environ, **library.environment}
    if not program.exists():
        source = ROOT / "benchmarks" / "bare_pingpong.c"
        words = [str(library.mpicc), "-std=c11", "-D_GNU_SOURCE", "-O2", "-o", str(program), str(source)]
        subprocess.run(words, env=environment, check=True)
    loops = tuple(f"{size}:{rounds}" for size, rounds in ROUND_TRIPS.items())
    job = Job(
        library.mpiexec, 2, (str(program), str(REPETITIONS), *loops), cores_allowed(), os.geteuid() == 0
    )
    words = [*command_of(job, library.kind.launcher).words]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    times = defaultdict(list)
    for size, nanoseconds in re.findall(r"^(\d+) ([\d.]+)$", done.stdout, re.MULTILINE):
        times[int(size)].append(float(nanoseconds) * 1e-9)
    return {size: median(values) for size, values in times.items()}


@truth
def test_a_message_takes_what_a_bare_loop_says(library: Library, rows: Rows, folder: Path) -> None:
    """Run directly after each other, and compared pair by pair: a machine may change its speed."""
    ratios: dict[int, list[float]] = {size: [] for size in ROUND_TRIPS}
    sizes = ",".join(map(str, ROUND_TRIPS))
    for _ in range(PAIRS_OF_RUNS):
        bare = bare_times(library, folder)
        found = rows("pingpong", "--sizes", sizes, "--launches", "1", "--mpi", str(library.mpicc))
        for row in found:
            if row["pattern"] == "pingpong":
                ratios[row["bytes"]].append(row["time_s"]["estimate"] / bare[row["bytes"]])
    for size, values in ratios.items():
        what = f"{library.name}, message of {size} B / bare loop"
        check(what, median(values), above=1 - MARGIN, below=1 + MARGIN)


@truth
def test_intervals_hold_what_other_invocations_find(rows: Rows) -> None:
    """The median of all other invocations, in the interval that each invocation gives."""
    found: dict[int, list[dict[str, float]]] = defaultdict(list)
    for _ in range(INVOCATIONS):
        for row in rows("pingpong", "--sizes", "8,65536", "--budget", "4s"):
            if row["pattern"] == "pingpong" and row["time_s"]["low"] is not None:
                found[row["bytes"]].append(row["time_s"])
    held = []
    for times in found.values():
        for number, time in enumerate(times):
            others = median(one["estimate"] for one in times[:number] + times[number + 1 :])
            held.append(time["low"] <= others <= time["high"])
    check(
        "intervals that hold the median of other invocations / intervals", sum(held) / len(held), HOLD_LEAST
    )
