"""Many ranks at once: content by source on every library, one pair as `stream` is, and a slow pair."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.mpi import find, kernel
from mpigauge.plan.patterns import known
from mpigauge.result.reader import load
from tests.real.mpi.conftest import delays_of, prefix, usually
from tests.truth import check, truth

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.mpi.library import Library
    from tests.real.mpi.conftest import Run

pytestmark = pytest.mark.mpi

Rows = Callable[..., list[dict[str, Any]]]
Shim = Callable[["Library"], dict[str, str]]

AT_ONCE = [one.name for one in known().values() if one.family == "message" and one.starts_together]
LONG_S = 15e-3
DELAY_S = 100e-6


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_rank_gets_what_was_sent_to_it(
    library: Library, rows: Rows, tmp_path: Path, ranks: int
) -> None:
    """By source and by place in the window; each rank says how long it took, one that rests hardly at all."""
    words = ["--mode", "all", "--sizes", "0,1000,64KiB", "--window", "4", "--launches", "1"]
    words += ["--samples", "4", "--budget", "20min"]
    found = rows(*AT_ONCE, *words, "--np", str(ranks), "--mpi", str(library.mpicc), "-o", "r.jsonl")
    patterns = {one.name: one for one in kernel.describe(library).patterns}
    expected = {(name, mode.name) for name in AT_ONCE for mode in patterns[name].modes}
    measured = [row for row in found if row["pattern"] in AT_ONCE]
    assert {(row["pattern"], row["mode"]) for row in measured} == expected
    assert {row["status"] for row in measured} == {"ok"}
    for visit in load(tmp_path / "r.jsonl").visits:
        pattern = patterns[visit.cell.pattern]
        assert len(visit.rank_ns) == (ranks if pattern.rank_times else 0)
        if pattern.in_halves and ranks % 2:
            assert visit.rank_ns[-1] < min(visit.rank_ns[:-1])


@pytest.mark.parametrize("pattern", ["multi-stream", "neighbours", "incast", "outcast"])
def test_a_message_that_is_sent_twice_is_found(mpigauge: Run, shim: Shim, pattern: str) -> None:
    """Instead of another, which all messages of a call differ from."""
    library = find.find(prefix("mpich"))
    orders = {"SHIM_ACTION": "repeat", "SHIM_CALL": "MPI_Isend", "SHIM_BYTES": "512"}
    words = (pattern, "--sizes", "256,512", "--np", "2", "--launches", "1", "--samples", "4")
    done = mpigauge(
        "run", *words, "--mpi", str(library.mpicc), "--format", "json", environment=shim(library) | orders
    )
    states = {
        row["bytes"]: row["status"] for row in json.loads(done.stdout)["rows"] if row["pattern"] == pattern
    }
    assert states == {256: "ok", 512: "corrupt"}


def test_a_pair_that_is_delayed_is_the_slowest(rows: Rows, shim: Shim, tmp_path: Path) -> None:
    """By more than any scheduler takes a core away from the others, in each of its calls."""
    library = find.find(prefix("openmpi"))
    orders = {"SHIM_ACTION": "delay", "SHIM_BYTES": "1024", "SHIM_DELAY_NS": str(round(LONG_S * 1e9))}
    words = ("--sizes", "1KiB", "--np", "4", "--launches", "1", "--samples", "4", "-o", "r.jsonl")
    environment = shim(library) | orders | {"SHIM_PAIR": "1-3"}
    rows("multi-pingpong", *words, "--mpi", str(library.mpicc), environment=environment)
    for visit in load(tmp_path / "r.jsonl").visits:
        if visit.cell.pattern == "multi-pingpong":
            first, slow, other, partner = visit.rank_ns
            assert min(slow, partner) > visit.batch * LONG_S * 1e9
            assert max(first, other) < min(slow, partner)


@pytest.mark.parametrize("mode", ["stream", "posted"])
def test_a_sender_that_is_served_does_not_wait_for_one_that_is_delayed(
    rows: Rows, shim: Shim, tmp_path: Path, mode: str
) -> None:
    """In the last call of a sample; where it has several, all wait for the slowest in the others."""
    library = find.find(prefix("openmpi"))
    orders = {"SHIM_ACTION": "delay", "SHIM_CALL": "MPI_Isend", "SHIM_RANK": "2"}
    orders |= {"SHIM_BYTES": "1024", "SHIM_DELAY_NS": str(round(LONG_S * 1e9))}
    words = (
        "--mode",
        mode,
        "--window",
        "4",
        "--sizes",
        "1KiB",
        "--np",
        "3",
        "--launches",
        "1",
        "-o",
        "r.jsonl",
    )
    environment = shim(library) | orders
    rows("incast", *words, "--samples", "4", "--mpi", str(library.mpicc), environment=environment)
    visits = [visit for visit in load(tmp_path / "r.jsonl").visits if visit.cell.pattern == "incast"]
    assert visits
    for visit in visits:
        _, served, delayed = visit.rank_ns
        assert delayed > visit.batch * 4 * LONG_S * 1e9
        assert served < delayed - 2 * LONG_S * 1e9


ONE_PAIR = """
launches = 10
budget = "1min"
sizes = "8,64KiB"
[[measure]]
pattern = "stream"
[[measure]]
pattern = "multi-stream"
[[measure]]
pattern = "pingpong"
[[measure]]
pattern = "multi-pingpong"
[[measure]]
pattern = "exchange"
modes = ["sendrecv"]
[[measure]]
pattern = "neighbours"
modes = ["sendrecv"]
"""


def times_of_launches(path: Path) -> dict[tuple[str, int], dict[int, float]]:
    """By pattern and size, of each launch the median of its samples per operation, in ns."""
    samples: dict[tuple[str, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for visit in load(path).visits:
        of_launch = samples[visit.cell.pattern, visit.cell.bytes][visit.launch]
        of_launch += [sample / visit.ops for sample in visit.samples_ns]
    return {of: {launch: median(all_) for launch, all_ in found.items()} for of, found in samples.items()}


def in_pairs(many: dict[int, float], one: dict[int, float]) -> list[float]:
    """The ratios of all launches, rising: neighbours in time share the luck of their launch."""
    return sorted(many[launch] / one[launch] for launch in many)


def holds_within(what: str, ratios: list[float], share: float) -> None:
    """That the interval of their median, the second of ten to the last but one, is of ratios near 1.

    It holds the median in 97.9 % of cases. An interval that is itself wide would show nothing.
    """
    low, high = ratios[1], ratios[-2]
    check(f"{what}, lower end", low, above=1 - 10 * share, below=1 + share)
    check(f"{what}, upper end", high, above=1 - share, below=1 + 10 * share)


@usually("openmpi")
@truth
def test_one_pair_is_what_stream_and_pingpong_measure(
    library: Library, mpigauge: Run, tmp_path: Path
) -> None:
    """The loops are the same; that all ranks start together is once in a block."""
    (tmp_path / "plan.toml").write_text(ONE_PAIR, encoding="utf-8")
    done = mpigauge("run", "--plan", "plan.toml", "--mpi", str(library.mpicc), "-q", "-o", "r.jsonl")
    assert done.returncode == 0, done.stderr
    times = times_of_launches(tmp_path / "r.jsonl")
    (tmp_path / "r.jsonl").unlink()
    for size in (8, 65536):
        for many, one in (("multi-stream", "stream"), ("multi-pingpong", "pingpong")):
            what = f"{library.name}, {many} of one pair / {one}, {size} B"
            holds_within(what, in_pairs(times[many, size], times[one, size]), 0.02)
        both = [ratio / 2 for ratio in in_pairs(times["neighbours", size], times["exchange", size])]
        what = f"{library.name}, neighbours sendrecv of two ranks / 2 exchange sendrecv, {size} B"
        holds_within(what, both, 0.05)


@truth
def test_a_delay_of_one_sender_is_found_whole(library: Library, rows: Rows, shim: Shim) -> None:
    """In the time until all have arrived, however many do not wait."""
    environment = shim(library) | delays_of(DELAY_S)
    words = ("--mode", "one", "--sizes", "1024,1048", "--launches", "3", "--stat", "min")
    found = rows("incast", *words, "--mpi", str(library.mpicc), environment=environment)
    times = {row["bytes"]: row["time_s"]["estimate"] for row in found if row["pattern"] == "incast"}
    what = f"{library.name}, delay found in incast / planted at its sender"
    check(what, (times[1048] - times[1024]) / DELAY_S, above=0.95, below=1.05)
