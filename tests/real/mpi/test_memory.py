"""The yardsticks of memory on this machine: what an independent loop says, and what caches do."""

import re
import subprocess
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from mpigauge.result import environment
from mpigauge.units import parse_size
from tests.places import ROOT
from tests.real.mpi.conftest import Run
from tests.truth import check, truth

pytestmark = pytest.mark.mpi

Rows = Callable[..., list[dict[str, Any]]]
SIZES = (65536, 262144)
LOOPS, LOOP_BYTES = 250, 2**24
"""Long enough for the first copies of fresh buffers, which are in no near cache yet, to be few among them."""

PAIRS_OF_RUNS = 5


@pytest.fixture(scope="module")
def bare_loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An independent program that times memcpy."""
    program = tmp_path_factory.mktemp("bare") / "bare_memory"
    source = ROOT / "benchmarks" / "bare_memory.c"
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-o", program, source], check=True)
    return program


def _bare_rates(program: Path) -> dict[int, float]:
    """Medians of many short loops, as ours are of many samples: means of long ones have every stall."""
    loops = [f"{size}:{LOOP_BYTES // size}" for size in SIZES]
    done = subprocess.run([program, str(LOOPS), *loops], capture_output=True, text=True, check=True)
    times = defaultdict(list)
    for size, nanoseconds in re.findall(r"(\d+) ([\d.]+)", done.stdout):
        times[int(size)].append(float(nanoseconds) * 1e-9)
    return {size: size / median(values) for size, values in times.items()}


@truth
def test_memcpy_is_as_fast_as_an_independent_loop_says(rows: Rows, bare_loop: Path) -> None:
    ratios: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(PAIRS_OF_RUNS):
        theirs = _bare_rates(bare_loop)
        found = rows("memcpy", "--sizes", ",".join(map(str, SIZES)), "--np", "1", "--launches", "2")
        for row in found:
            if row["pattern"] == "memcpy":
                ratios[row["bytes"]].append(row["rate_bytes_per_s"] / theirs[row["bytes"]])
    for size, values in ratios.items():
        check(f"memcpy of {size} B / bare loop", median(values), above=0.9, below=1.1)


@truth
def test_an_unoptimised_loop_is_slower_and_memory_slower_than_cache(rows: Rows) -> None:
    """A loop may be what limits both, so only loads that wait for each other must be slower from memory."""
    words = ("--mode", "all", "--sizes", "16KiB,32MiB", "--launches", "1")
    found = rows("copy", "read", "write", "chase", *words)
    times = {(row["pattern"], row["mode"], row["bytes"]): row["time_s"]["estimate"] for row in found}
    check("copy O0 / O3", times["copy", "O0", 2**14] / times["copy", "O3", 2**14], above=1.5)
    loads = times["chase", "standard", 2**25] / times["chase", "standard", 2**14]
    check("chase in 32 MiB / in 16 KiB", loads, above=2)
    for pattern, mode in (("copy", "O3"), ("read", "standard"), ("write", "standard")):
        per_byte = times[pattern, mode, 2**25] / times[pattern, mode, 2**14] * 2**14 / 2**25
        check(f"{pattern} {mode} of 32 MiB / of 16 KiB, per byte", per_byte, above=0.7)


@truth
def test_chasing_pointers_finds_the_first_cache(rows: Rows, mpigauge: Run) -> None:
    """Loads take the same up to it and longer beyond; where the system claims a size, it is that."""
    found = rows("chase", "--sizes", "4KiB:4MiB*1.3", "--np", "1", "--launches", "2", "-o", "r.jsonl")
    loads = {row["bytes"]: row["time_s"]["estimate"] for row in found if row["pattern"] == "chase"}
    text = mpigauge("show", "--all", "r.jsonl").stdout
    level = re.search(r"([\d.]+) ns up to ([\d.]+ [KM]?i?B)", text.partition("cache levels seen")[2])
    assert level, text
    seen, fastest = parse_size(level[2]), min(loads.values())
    near = max(seconds for size, seconds in loads.items() if size <= seen)
    far = min(seconds for size, seconds in loads.items() if size >= 4 * seen)
    check("slowest load up to the first cache level seen / fastest", near / fastest, below=1.5)
    check("fastest load of four times that size / fastest", far / fastest, above=1.5)
    for name, claimed in environment.caches().items():
        if name.startswith("L1") and "I" not in name:
            check(f"cache level seen / {name} of the system", seen / claimed, above=0.49, below=2.01)


@truth
def test_a_message_is_measured_by_copies(rows: Rows) -> None:
    found = rows("pingpong", "crosscopy", "memcpy", "cacheline", "--sizes", "64KiB", "--launches", "5")
    message = next(row for row in found if row["pattern"] == "pingpong")
    line = next(row for row in found if row["pattern"] == "cacheline")
    copies = message["kappa"]
    assert copies["estimate"] > 0
    if copies["low"] is not None:  # in a state that one launch alone has met there is no interval
        assert copies["low"] <= copies["estimate"] <= copies["high"]
    check("64 KiB message / memcpy", message["memcpy_ratio"]["estimate"], above=1)
    check("cache line / message", line["time_s"]["estimate"] / message["time_s"]["estimate"], below=1)
