"""Messages and short collectives beside bare loops, and intervals beside what other invocations find."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.launchers import command_of
from mpigauge.result.environment import cores_allowed
from mpigauge.result.reader import load
from tests.places import ROOT
from tests.truth import check, truth

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.mpi.library import Library

pytestmark = pytest.mark.mpi

sys.path.insert(0, str(ROOT / "benchmarks"))
from tools import Timed, turns  # noqa: E402 - of a script beside the others

Rows = Callable[..., list[dict[str, Any]]]
Times = dict[Timed, float]
"""Seconds, by what is timed and its size."""

ROUND_TRIPS = {8: 20_000, 65536: 2_000}
REPETITIONS = 15
ROUNDS_OF_TURNS, FEWEST = 5, 2
MARGIN = 0.05
"""The instrument promises 1 %; the rest is what two programs that run one after the other may differ by."""

COLLECTIVES = ("barrier", "bcast", "allreduce")
BEFORE = ("meet", "word")
ROUNDS = 2_000
MARGIN_OF_COLLECTIVES = 0.2
"""An operation of 200 ns is a tenth longer by one cache miss (docs/method-collectives.md#a-round)."""

OPERATIONS = 2_000
MARGIN_OF_OPERATIONS = 0.15
"""The instrument promises 10 % of an operation of 50 ns (docs/method-one-sided.md#an-operation)."""

LAUNCHES = 10
INVOCATIONS = 8
MIN_HOLD = 0.74
"""Of intervals that are to hold in 95 %: fewer of sixteen is less than 1 % likely."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bare")


def bare_output(library: Library, folder: Path, name: str, *arguments: str) -> str:
    """Return what a program of benchmarks/ prints that does nothing but what it times."""
    program = folder / f"{name}-{library.name}"
    environment = library.environ
    if not program.exists():
        source = ROOT / "benchmarks" / f"{name}.c"
        words = [str(library.mpicc), "-std=c11", "-D_GNU_SOURCE", "-O2", "-o", str(program), str(source)]
        subprocess.run(words, env=environment, check=True)
    job = Job(
        library.mpiexec, 2, (str(program), str(REPETITIONS), *arguments), cores_allowed(), os.geteuid() == 0
    )
    words = [*command_of(job, library.kind.launcher).words]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout


def bare_times(library: Library, folder: Path) -> Times:
    """Return the median time of a message in seconds, by size."""
    loops = (f"{size}:{rounds}" for size, rounds in ROUND_TRIPS.items())
    times = defaultdict(list)
    printed = bare_output(library, folder, "bare_pingpong", *loops)
    for size, nanoseconds in re.findall(r"^(\d+) ([\d.]+)$", printed, re.MULTILINE):
        times[int(size)].append(float(nanoseconds) * 1e-9)
    return {("pingpong", size): median(values) for size, values in times.items()}


def bare_collectives(library: Library, folder: Path) -> Times:
    """Return the median time of a collective of 8 B in seconds, by its name and what comes before a round."""
    times = defaultdict(list)
    printed = bare_output(library, folder, "bare_collectives", str(ROUNDS))
    for name, before, nanoseconds in re.findall(r"^(\w+) (\w+) ([\d.]+)$", printed, re.MULTILINE):
        times[f"{name} {before}", 8].append(float(nanoseconds) * 1e-9)
    return {timed: median(values) for timed, values in times.items()}


def bare_operations(library: Library, folder: Path, window: str) -> Times:
    """Return the median time of one-sided operations on 8 B in seconds, into a window of a kind."""
    times = defaultdict(list)
    printed = bare_output(library, folder, "bare_rma", window, str(OPERATIONS))
    for name, nanoseconds in re.findall(r"^(\w+) ([\d.]+)$", printed, re.MULTILINE):
        times[name, 8].append(float(nanoseconds) * 1e-9)
    return {timed: median(values) for timed, values in times.items()}


def ratios(theirs: Callable[[], Times], ours: Callable[[], Times]) -> dict[Timed, float]:
    """Return the median ratio of ours to a bare loop, of the rounds in which the machine kept its state."""
    kept = turns(theirs, ours, ROUNDS_OF_TURNS)
    few = [timed for timed, times in kept.items() if len(times) < FEWEST]
    assert not few, f"the loop differs from itself in most rounds: {few}"
    return {timed: median(own / other for other, own in times) for timed, times in kept.items()}


@truth
def test_a_message_takes_what_a_bare_loop_says(library: Library, rows: Rows, folder: Path) -> None:
    words = ("--sizes", ",".join(map(str, ROUND_TRIPS)), "--launches", "1", "--mpi", str(library.mpicc))

    def ours() -> Times:
        found = [row for row in rows("pingpong", *words) if row["pattern"] == "pingpong"]
        return {("pingpong", row["bytes"]): row["time_s"]["estimate"] for row in found}

    for (_, size), ratio in ratios(lambda: bare_times(library, folder), ours).items():
        what = f"{library.name}, message of {size} B / bare loop"
        check(what, ratio, above=1 - MARGIN, below=1 + MARGIN)


@truth
def test_a_short_collective_takes_what_a_bare_common_start_says(
    library: Library, rows: Rows, folder: Path
) -> None:
    """Of a loop that has empty messages before each round, too; one without them finds warmer code."""
    words = (*COLLECTIVES, "--sizes", "8", "--launches", "1", "--mpi", str(library.mpicc))

    def ours() -> Times:
        times = {row["pattern"]: row["time_s"]["estimate"] for row in rows(*words) if row["time_s"]}
        return {(f"{name} {before}", 8): times[name] for name in COLLECTIVES for before in BEFORE}

    for (called, _), ratio in ratios(lambda: bare_collectives(library, folder), ours).items():
        name, _, before = called.partition(" ")
        what = f"{library.name}, {name} of 8 B / bare common start, {before} before it"
        apart = MARGIN_OF_COLLECTIVES if before == "meet" else 2 * MARGIN_OF_COLLECTIVES
        check(what, ratio, above=1 - apart, below=1 + apart)


@truth
def test_a_one_sided_operation_takes_what_a_bare_loop_says(
    library: Library, rows: Rows, folder: Path, tmp_path: Path
) -> None:
    """In the fastest of their launches: one and the same loop takes twice as long in some as in others."""
    operations = ("put", "get", "fetch_and_op")
    words = (*operations, "--mode", "flush", "--sizes", "8", "--launches", str(LAUNCHES))
    rows(*words, "--mpi", str(library.mpicc), "-o", "r.jsonl")
    ours = defaultdict(list)
    for visit in load(tmp_path / "r.jsonl").visits:
        ours[visit.cell.pattern, visit.launch].append(median(visit.samples_ns) / visit.ops * 1e-9)
    theirs = [bare_operations(library, folder, "allocate") for _ in range(LAUNCHES)]
    for name in operations:
        of_launches = [median(times) for (pattern, _), times in ours.items() if pattern == name]
        ratio = min(of_launches) / min(times[name, 8] for times in theirs)
        what = f"{library.name}, {name} of 8 B / bare loop, fastest launches"
        check(what, ratio, above=1 - MARGIN_OF_OPERATIONS, below=1 + MARGIN_OF_OPERATIONS)


@pytest.mark.parametrize("window", ["create", "dynamic"])
@truth
def test_a_flag_that_needs_its_target_is_not_polled_for_in_vain(
    library: Library, rows: Rows, folder: Path, window: str
) -> None:
    """Beside a loop whose target enters MPI in every poll."""
    words = ("put-notify", "--sizes", "8", "--rma-window", window, "--launches", "1")

    def ours() -> Times:
        found = rows(*words, "--mode", "flag", "--mpi", str(library.mpicc))
        (time_s,) = (row["time_s"]["estimate"] for row in found if row["bytes"])
        return {("notify", 8): time_s}

    def theirs() -> Times:
        return {("notify", 8): bare_operations(library, folder, window)["notify", 8]}

    for ratio in ratios(theirs, ours).values():
        what = f"{library.name}, window of {window}, notified by a flag / bare loop"
        check(what, ratio, above=1 - MARGIN_OF_OPERATIONS, below=1 + MARGIN_OF_OPERATIONS)


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
    check("intervals that hold the median of other invocations / intervals", sum(held) / len(held), MIN_HOLD)
