"""Messages behind a queue, in blocks and in partitions on the real libraries; what a shim plants is found."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from mpigauge.mpi import find
from mpigauge.mpi.library import Library
from mpigauge.result.reader import load
from tests.real.mpi.conftest import Run, delays_of, prefix, usually
from tests.truth import check, truth

pytestmark = pytest.mark.mpi

Rows = Callable[..., list[dict[str, Any]]]
Shim = Callable[[Library], dict[str, str]]
FEW = ("--launches", "1", "--samples", "20", "--budget", "10min")
MEASURED = ("--launches", "6", "--stat", "median")
ENTRY_NS, BLOCK_NS = 100, 100
DELAY_S = 100e-6
ALL_PAIRS = """
sizes = "64"
ranks = [3]
[[measure]]
pattern = "partitioned"
partitions = [4]
pairs = "serial"
"""


def times_ns(found: list[dict[str, Any]], *names: str) -> dict[tuple[Any, ...], float]:
    """The times of rows by the values of these fields."""
    return {
        tuple(row[name] for name in names): 1e9 * row["time_s"]["estimate"]
        for row in found
        if row["pattern"] != "null"
    }


@pytest.mark.parametrize("ranks", ["3", "4"])
def test_two_of_several_ranks_take_part_and_what_they_receive_is_right(
    library: Library, rows: Rows, ranks: str
) -> None:
    """Also where the first partitioned message needs all ranks of the world."""
    words = (
        "--np",
        ranks,
        "--sizes",
        "64",
        "--depth",
        "0,16",
        "--partitions",
        "8",
        "--mpi",
        str(library.mpicc),
    )
    patterns = ("matching", "layout", "partitioned", "early-bird")
    found = rows(*patterns, *FEW, *words)
    assert {row["pattern"] for row in found} == {"null", *patterns}
    assert {row["status"] for row in found} == {"ok"}


def test_partitioned_messages_go_between_all_pairs(library: Library, mpigauge: Run, tmp_path: Path) -> None:
    """A rank need not know the visits of others' pairs, but all have a part in the first message."""
    (tmp_path / "plan.toml").write_text(ALL_PAIRS, encoding="ascii")
    words = ("--plan", "plan.toml", *FEW, "-q", "-o", "r.jsonl", "--mpi", str(library.mpicc))
    done = mpigauge("run", *words)
    assert done.returncode == 0, done.stderr
    pairs = {visit.cell.pair for visit in load(tmp_path / "r.jsonl").visits if visit.cell.partitions}
    assert pairs == {"0-1", "0-2", "1-2"}


@pytest.mark.parametrize(
    ("mode", "depth", "reason"),
    [
        ("unexpected", 4097, "more than 4096 messages that nobody receives may not fit"),
        ("reversed", 1025, "more than 1024 receives matched from their end"),
    ],
)
def test_a_depth_that_cannot_be_is_refused_with_the_reason(
    mpigauge: Run, tmp_path: Path, mode: str, depth: int, reason: str
) -> None:
    words = ("--mode", mode, "--depth", f"16,{depth}", "--sizes", "8", *FEW, "-q", "-o", "r.jsonl")
    done = mpigauge("run", "matching", *words)
    assert done.returncode == 1, done.stderr
    result = load(tmp_path / "r.jsonl")
    (failure,) = result.failures
    assert (failure.kind, failure.cell and failure.cell.depth) == ("refused", depth)
    assert reason in failure.words
    assert {visit.cell.depth for visit in result.visits if visit.cell.pattern == "matching"} == {16}


@pytest.mark.parametrize("name", ["openmpi", "mpich", "intelmpi"])
@pytest.mark.parametrize(("at", "where"), [(8, "between two blocks"), (2040, "behind the last block")])
def test_a_library_that_writes_between_blocks_is_corrupt(
    mpigauge: Run, shim: Shim, tmp_path: Path, name: str, at: int, where: str
) -> None:
    """Of one size, in the mode that receives a datatype alone: the others write where a block lies."""
    library = find.find(prefix(name))
    environment = shim(library) | {"SHIM_CALL": "MPI_Recv", "SHIM_ACTION": "gap", "SHIM_BYTES": "1024"}
    environment |= {"SHIM_AT": str(at)}
    words = ("--mode", "derived", "--sizes", "512,1024", *FEW, "--mpi", str(library.mpicc), "-o", "r.jsonl")
    done = mpigauge("run", "layout", *words, "--format", "json", environment=environment)
    assert done.returncode == 1, done.stderr
    states = {row["bytes"]: row["status"] for row in json.loads(done.stdout)["rows"] if row["bytes"]}
    assert states == {512: "ok", 1024: "corrupt"}
    (failure,) = load(tmp_path / "r.jsonl").failures
    assert f"at byte {at}, which lies {where}" in failure.words


@pytest.mark.parametrize("name", ["openmpi", "mpich", "intelmpi"])
def test_a_datatype_of_another_layout_is_corrupt_where_it_is_made_alone(
    mpigauge: Run, shim: Shim, name: str
) -> None:
    """It has the size and the extent of the right one."""
    library = find.find(prefix(name))
    words = ("--mode", "derived,subarray-x,subarray-z", "--sizes", "1024", *FEW, "--mpi", str(library.mpicc))
    environment = shim(library) | {"SHIM_ORDER": "fortran"}
    done = mpigauge("run", "type_commit", *words, "--format", "json", environment=environment)
    states = {row["mode"]: row["status"] for row in json.loads(done.stdout)["rows"] if row["bytes"]}
    assert states == {"derived": "ok", "subarray-x": "corrupt", "subarray-z": "corrupt"}


def test_every_message_that_is_matched_in_reverse_is_compared(mpigauge: Run, shim: Shim) -> None:
    """Also one that is not the first, whose tags begin at 64."""
    library = find.find(prefix("mpich"))
    orders = {"SHIM_ACTION": "corrupt", "SHIM_BYTES": "512", "SHIM_TAG": "66"}
    words = ("--mode", "reversed", "--depth", "8", "--sizes", "256,512", *FEW, "--mpi", str(library.mpicc))
    environment = shim(library) | orders
    done = mpigauge("run", "matching", *words, "--format", "json", environment=environment)
    states = {row["bytes"]: row["status"] for row in json.loads(done.stdout)["rows"] if row["bytes"]}
    assert states == {256: "ok", 512: "corrupt"}


# ---- Identities ----------------------------------------------------------------------------------


@truth
def test_a_message_behind_no_queue_is_that_of_a_ping_pong(library: Library, rows: Rows) -> None:
    words = ("--sizes", "8,4KiB", "--depth", "0", *MEASURED, "--mpi", str(library.mpicc))
    times = times_ns(rows("pingpong", "matching", *words), "pattern", "bytes")
    for size in (8, 4096):
        ratio = times["matching", size] / times["pingpong", size]
        check(f"{library.name}, {size} B, behind no queue / ping-pong", ratio, above=0.98, below=1.02)


@usually("mpich")
@truth
def test_a_payload_in_one_block_is_that_of_a_ping_pong(library: Library, rows: Rows) -> None:
    words = ("--sizes", "8,64KiB", *MEASURED, "--mpi", str(library.mpicc))
    times = times_ns(rows("pingpong", "layout", *words), "pattern", "mode", "bytes")
    for size in (8, 64 * 1024):
        ratio = times["layout", "contiguous", size] / times["pingpong", "standard", size]
        check(f"{library.name}, {size} B, one block / ping-pong", ratio, above=0.97, below=1.03)


@usually("openmpi")
@truth
def test_blocks_without_gaps_take_as_long_as_one_block(library: Library, rows: Rows) -> None:
    words = ("--mode", "contiguous,derived", "--block", "64", "--stride", "64", "--sizes", "64KiB")
    times = times_ns(rows("layout", *words, *MEASURED, "--mpi", str(library.mpicc)), "mode")
    ratio = times["derived",] / times["contiguous",]
    check(f"{library.name}, blocks without gaps / one block", ratio, above=0.95, below=1.05)


@usually("mpich")
@truth
def test_one_partition_is_not_faster_than_a_persistent_message(library: Library, rows: Rows) -> None:
    words = ("--mode", "whole,persistent", "--partitions", "1", "--sizes", "8", *MEASURED)
    times = times_ns(rows("partitioned", *words, "--mpi", str(library.mpicc)), "mode")
    check(f"{library.name}, one partition / none", times["whole",] / times["persistent",], above=0.9)


@truth
def test_what_is_computed_before_is_no_part_of_a_message(
    library: Library, mpigauge: Run, tmp_path: Path
) -> None:
    """It is as long as the message: in its time that would be twice as long."""
    words = ("--mode", "send", "--sizes", "64KiB", *MEASURED, "--mpi", str(library.mpicc), "-q")
    (tmp_path / "r.jsonl").unlink(missing_ok=True)
    done = mpigauge("run", "early-bird", *words, "-o", "r.jsonl")
    assert done.returncode == 0, done.stderr
    visits = [visit for visit in load(tmp_path / "r.jsonl").visits if visit.work_ns > 0]
    ratio = median(median(visit.samples_ns) / median(visit.pure_ns) for visit in visits)
    check(f"{library.name}, message after a computation / without", ratio, above=0.8, below=1.4)


# ---- Planted -------------------------------------------------------------------------------------


@usually("openmpi")
@truth
def test_a_queue_costs_more_the_deeper_it_is(library: Library, rows: Rows) -> None:
    words = ("--sizes", "8", "--depth", "0,4096", *MEASURED, "--mpi", str(library.mpicc))
    times = times_ns(rows("matching", *words), "depth")
    check(f"{library.name}, behind 4096 receives / none", times[4096,] / times[0,], above=1.5)


@truth
def test_a_search_among_messages_takes_about_what_one_among_receives_does(
    library: Library, rows: Rows
) -> None:
    """But for Intel MPI, which finds a message among those of other tags at once."""
    words = ("--mode", "posted,unexpected", "--sizes", "8", "--depth", "4096", *MEASURED)
    times = times_ns(rows("matching", *words, "--mpi", str(library.mpicc)), "mode")
    ratio = times["unexpected",] / times["posted",]
    least = 0.0 if library.name == "intelmpi" else 0.7
    check(f"{library.name}, behind 4096 messages / 4096 receives", ratio, above=least, below=1.3)


@pytest.mark.parametrize("mode", ["unexpected", "probe"])
@truth
def test_a_wait_in_the_call_that_receives_is_found_whole(
    library: Library, rows: Rows, shim: Shim, mode: str
) -> None:
    """And not half of it, as in a ping-pong."""
    environment = shim(library) | delays_of(DELAY_S, "MPI_Recv", rank=0)
    words = ("--mode", mode, "--depth", "16", "--sizes", "1024,1048", "--launches", "2", "--stat", "min")
    found = rows("matching", *words, "--mpi", str(library.mpicc), environment=environment)
    times = times_ns(found, "bytes")
    found_s = 1e-9 * (times[1048,] - times[1024,])
    check(f"{library.name}, {mode} with a delay / planted", found_s / DELAY_S, above=0.95, below=1.05)


@truth
def test_the_planted_cost_of_an_entry_is_found(rows: Rows, shim: Shim) -> None:
    """At depths at which the library's own search is short."""
    library = find.find(prefix("openmpi"))
    environment = shim(library) | {"SHIM_ENTRY_NS": str(ENTRY_NS)}
    words = ("--sizes", "8", "--depth", "0,32,64", *MEASURED, "--mpi", str(library.mpicc))
    plain = times_ns(rows("matching", *words), "depth")
    times = times_ns(rows("matching", *words, environment=environment), "depth")
    for depth in (32, 64):
        own_ns = plain[depth,] - plain[0,]
        found_ns = (times[depth,] - times[0,] - own_ns) / depth
        check(
            f"cost of an entry at depth {depth}, found / planted", found_ns / ENTRY_NS, above=0.95, below=1.05
        )


@truth
def test_the_planted_cost_of_a_block_is_found(rows: Rows, shim: Shim) -> None:
    library = find.find(prefix("openmpi"))
    environment = shim(library) | {"SHIM_BLOCK_NS": str(BLOCK_NS)}
    words = ("--mode", "contiguous,derived", "--sizes", "8KiB,16KiB", *MEASURED, "--mpi", str(library.mpicc))
    plain = times_ns(rows("layout", *words), "mode", "bytes")
    times = times_ns(rows("layout", *words, environment=environment), "mode", "bytes")
    for size in (8192, 16384):
        extra_ns = times["derived", size] - plain["derived", size]
        found = extra_ns / (size // 8 * BLOCK_NS)
        check(f"cost of a block of {size} B, found / planted", found, above=0.95, below=1.05)
        same = times["contiguous", size] / plain["contiguous", size]
        check(f"one block of {size} B with the cost / without", same, above=0.8, below=1.25)
