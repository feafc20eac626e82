"""Every pattern and mode on every library; what is measured is what happens."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpigauge.mpi import find, kernel
from mpigauge.mpi.library import Library
from mpigauge.result.reader import load
from tests.real.mpi.conftest import delays_of, prefix, step_ns, usually
from tests.truth import check, truth
from tests.unit.rows.plain_launch import correlation_time

pytestmark = pytest.mark.mpi

Rows = Callable[..., list[dict[str, Any]]]
GIB = 2**30
DELAY_S = 100e-6
COARSE_NS = 100


@usually("openmpi")
def test_every_pattern_and_mode_is_measured_and_its_payload_right(
    library: Library, rows: Rows, tmp_path: Path
) -> None:
    # test_collectives.py has all of those that start together, under everything that they take.
    patterns = [pattern for pattern in kernel.describe(library).patterns if not pattern.starts_together]
    names = [pattern.name for pattern in patterns]
    words = ["--mode", "all", "--sizes", "0,1,1000,64KiB", "--launches", "1", "-o", "result.jsonl"]
    words += ["--samples", "40", "--depth", "0,64", "--partitions", "1,8"]
    found = rows(*names, *words, "--mpi", str(library.mpicc))
    coarse = step_ns(tmp_path / "result.jsonl") > 1
    cpu_known = {
        (pattern.name, mode.name)
        for pattern in patterns
        for mode in pattern.modes
        if pattern.sampled.cpu_known and not mode.target_waits and not mode.sampling
    }
    assert {(row["pattern"], row["mode"]) for row in found} == {
        (p.name, m.name) for p in patterns for m in p.modes
    }
    for row in found:
        blind = row["mode"] == "blocking" or row["pattern"] == "recv-overhead"
        blocked = blind and row["bytes"] == 64 * 1024
        assert row["status"] == "ok" or (blocked and row["status"] == "blocked"), row
        if row["status"] == "ok" and row["pattern"] != "eager":
            # What is batched too little, or not at all, may be shorter than a step of the clock.
            assert row["time_s"]["estimate"] > 0 or coarse, row
            # Preparations and acknowledgements are in no sample, so their CPU time is not told apart; nor is
            # that of a rank which waits until the series of another ends.
            told = (row["pattern"], row["mode"]) in cpu_known
            assert row["cpu_s_per_op"] > 0 if told else row["cpu_s_per_op"] is None


MORE = ("ring", "shift", "pingpong", "--sizes", "8,4KiB", "--launches", "1")


@pytest.mark.parametrize("ranks", ["3", "4"])
def test_more_ranks_than_a_pair_and_than_cores(rows: Rows, ranks: str) -> None:
    assert all(row["status"] == "ok" for row in rows(*MORE, "--np", ranks))


@pytest.mark.parametrize("ranks", ["3", "4"])
@truth
def test_a_lap_of_a_ring_takes_longer_than_a_message(rows: Rows, ranks: str) -> None:
    found = rows(*MORE, "--np", ranks)
    laps = {row["bytes"]: row["time_s"]["estimate"] for row in found if row["pattern"] == "ring"}
    trips = {row["bytes"]: row["time_s"]["estimate"] for row in found if row["pattern"] == "pingpong"}
    check(f"lap of {ranks} ranks / message", laps[8] / trips[8], above=1)


BOTH_BUFFERS = """
launches = 2
sizes = "64KiB,1MiB"
[[measure]]
pattern = "pingpong"
[[measure]]
pattern = "pingpong"
buffers = "cold"
"""


@truth
def test_larger_messages_take_longer_and_a_cold_walk_longer_than_a_warm_one(
    rows: Rows, tmp_path: Path
) -> None:
    """In the same launches, so that nothing but the cells differs."""
    (tmp_path / "plan.toml").write_text(BOTH_BUFFERS, encoding="utf-8")
    found = [row for row in rows("--plan", "plan.toml") if row["pattern"] == "pingpong"]
    times = {(row["buffers"], row["bytes"]): row["time_s"]["estimate"] for row in found}
    check("1 MiB / 64 KiB", times["warm", 2**20] / times["warm", 2**16], above=1)
    check("64 KiB from cold buffers / from warm ones", times["cold", 2**16] / times["warm", 2**16], above=1)


@truth
def test_a_delay_of_known_size_is_found(
    library: Library, rows: Rows, shim: Callable[[Library], dict[str, str]]
) -> None:
    """What a wait does to the caches and to the message after it, the longer wait does, too.

    The fastest of each launch, to which a busy machine adds least.
    """
    environment = shim(library) | delays_of(DELAY_S)
    words = ("--sizes", "1000,1024,1048", "--launches", "3", "--stat", "min", "--mpi", str(library.mpicc))
    found = rows("pingpong", *words, environment=environment)
    times = {row["bytes"]: row["time_s"]["estimate"] for row in found if row["pattern"] == "pingpong"}
    found_s = times[1048] - times[1024]
    check(f"{library.name}, delay found in pingpong / planted", found_s / DELAY_S, above=0.95, below=1.05)
    assert times[1024] - times[1000] > 0.95 * DELAY_S


@truth
def test_a_clock_of_coarse_steps_is_known_and_batched_for(
    rows: Rows, coarse_clock: Callable[[int], dict[str, str]], tmp_path: Path
) -> None:
    """Ten steps at least to a sample, and the times are those of the fine clock."""
    words = ("pingpong", "--sizes", "8", "--launches", "3")
    (fine,) = (row for row in rows(*words) if row["pattern"] == "pingpong")
    environment = coarse_clock(COARSE_NS)
    found = rows(*words, "-o", "coarse.jsonl", environment=environment)
    (coarse,) = (row for row in found if row["pattern"] == "pingpong")
    result = load(tmp_path / "coarse.jsonl")
    assert step_ns(tmp_path / "coarse.jsonl") == COARSE_NS
    samples = [visit.samples_ns for visit in result.visits if visit.cell.pattern == "pingpong"]
    steps = np.median(np.concatenate(samples)) / COARSE_NS
    check("sample / step of its clock", steps, above=8)  # 10 by the trial before them
    ratio = coarse["time_s"]["estimate"] / fine["time_s"]["estimate"]
    check("message by a coarse clock / by a fine one", ratio, above=1 / 3, below=3)


@truth
def test_collectives_in_a_row_are_longer_than_the_steps_of_a_coarse_clock(
    rows: Rows, coarse_clock: Callable[[int], dict[str, str]]
) -> None:
    """One by one they are a few steps of it; a hundred steps of several hide 1 % at most, a third of 3 %."""
    words = ("allreduce", "--mode", "blocking,blocks", "--sizes", "8", "--launches", "2")
    found = {row["mode"]: row for row in rows(*words, environment=coarse_clock(COARSE_NS)) if row["bytes"]}
    assert "clock-step" in found["blocking"]["warnings"]
    assert "clock-step" not in found["blocks"]["warnings"]
    assert found["blocks"]["batch"] > 1


def test_the_eager_limit_is_exact_where_there_is_one(rows: Rows) -> None:
    """Right at the limit both may send first, one byte above it would deadlock."""
    limit = next(row for row in rows("eager", "--launches", "3") if row["pattern"] == "eager")["limit_bytes"]
    assert limit is not None
    found = rows("exchange", "--mode", "blocking", "--sizes", f"{limit},{limit + 1}", "--launches", "3")
    states = {row["bytes"]: row["status"] for row in found if row["pattern"] == "exchange"}
    assert states == {limit: "ok", limit + 1: "blocked"}
    assert str(limit) in next(row["reason"] for row in found if row["bytes"] == limit + 1)


@usually("mpich")
def test_messages_around_the_eager_limit_are_timed_in_every_launch(
    library: Library, rows: Rows, tmp_path: Path
) -> None:
    """Of all four sizes as many round trips; none where a library has no limit in reach."""
    rows("eager", "--launches", "2", "--mpi", str(library.mpicc), "-o", "result.jsonl")
    probes = load(tmp_path / "result.jsonl").eager
    assert probes
    for probe in probes:
        assert (probe.crossing is not None) == (probe.found and probe.limit_bytes >= 8)
        if probe.crossing is not None:
            assert len(probe.crossing.above_ns) >= 5
            assert min(probe.crossing.at_limit_ns) > 0


@pytest.mark.thorough
def test_messages_beyond_2_gib_where_the_library_counts_so_far(rows: Rows) -> None:
    words = ("--sizes", str(2 * GIB + 8), "--samples", "1", "--launches", "1")
    found = rows("pingpong", *words, "--mpi", prefix("mpich"))
    assert [row["status"] for row in found if row["pattern"] == "pingpong"] == ["ok"]


@truth
def test_a_trial_has_as_many_rounds_as_its_time_allows(
    rows: Rows, tmp_path: Path, shim: Callable[[Library], dict[str, str]]
) -> None:
    """Nine of a quick operation; of one that takes longer than the share of its visit, fewer."""
    library = find.find(prefix("mpich"))
    words = ("--sizes", "8,1024", "--launches", "1", "--budget", "10s", "--mpi", str(library.mpicc))
    rows("pingpong", *words, "-o", "result.jsonl", environment=shim(library) | delays_of(0.25))
    visits = load(tmp_path / "result.jsonl").visits
    trials = {visit.cell.bytes: len(visit.trial_ns) for visit in visits if len(visit.trial_ns)}
    assert trials[8] == 9
    assert 1 <= trials[1024] < 9


def test_the_kernel_and_the_analysis_agree_on_the_stop_rule(rows: Rows, tmp_path: Path) -> None:
    rows("pingpong", "--sizes", "8,64KiB", "--launches", "2", "-o", "result.jsonl")
    result = load(tmp_path / "result.jsonl")
    compared = 0
    for launch in (1, 2):
        for size in (8, 65536):
            visits = [v for v in result.visits if v.launch == launch and v.cell.bytes == size]
            samples = [np.asarray(v.samples_ns, dtype=float) / v.batch for v in visits]
            said, tau = visits[-1], correlation_time(samples)
            assert said.correlation_time == pytest.approx(tau, rel=0.01)
            assert said.effective == pytest.approx(sum(one.size for one in samples) / tau, rel=0.01)
            compared += 1
    assert compared == 4


def test_the_result_file_tells_the_whole_surroundings(library: Library, rows: Rows, tmp_path: Path) -> None:
    rows("pingpong", "--sizes", "8", "--launches", "2", "--mpi", str(library.mpicc), "-o", "result.jsonl")
    result = load(tmp_path / "result.jsonl")
    assert [launch.number for launch in result.launches] == [1, 2]
    for launch in result.launches:
        assert re.match(library.kind.version_pattern, launch.library)
        assert launch.clock.startswith("CLOCK_MONOTONIC")
        assert len(launch.ranks_at) == 2
        assert all(place.cpus and place.host and place.clock_cost_ns > 0 for place in launch.ranks_at)
    first = json.loads((tmp_path / "result.jsonl").read_text().splitlines()[0])
    assert next(iter(first)) == "type"
