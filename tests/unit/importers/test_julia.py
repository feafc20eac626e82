"""Output of MPIBenchmarks.jl: which unit its numbers have is not always what their heading says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.importers import read
from mpigauge.result.records import Imported
from tests.printed import records_of, said_of, times_of

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.plan.model import Cell

LINE = "-" * 40
ONE_SIDED = "size (bytes),iterations,time (seconds)\n"
LOCKED = " with window synchronization: lock"
PAIR = "size (bytes),iterations,time (seconds),throughput (MB/s)"
OF_RANKS = "size (bytes),iterations,min_time (seconds),max_time (seconds),avg_time (seconds)\n"


def titled(name: str, ranks: int = 2, more: str = "") -> str:
    return f"{LINE}\nRunning benchmark {name} with type Float32 on {ranks} MPI ranks{more}\n\n"


def only(folder: Path, text: str, name: str = "julia.txt") -> tuple[Cell, float]:
    ((cell, time_s),) = times_of(records_of(folder / name, text)).items()
    return cell, time_s


@pytest.mark.parametrize("ending", ["", ",alloc (B)"])
def test_half_a_round_trip_is_our_pingpong(tmp_path: Path, ending: str) -> None:
    row = "8,4194304,1.0331758e-6,7.7431169" + (",0.0" if ending else "")
    cell, time_s = only(tmp_path, titled("IMB Pingpong") + f"{PAIR}{ending}\n{row}\n{LINE}\n")
    assert (cell.pattern, cell.mode, cell.bytes, cell.ranks) == ("pingpong", "standard", 8, 2)
    assert time_s == pytest.approx(1.0331758e-6)


@pytest.mark.parametrize(
    ("title", "heading", "row"),
    [
        ("# OSU Latency with type UInt8 on 2 MPI ranks\n", "latency (us)", "8,10000,0.52"),
        (titled("OSU Latency"), "latency (seconds)", "8,10000,5.2e-7"),
    ],
)
def test_latencies_are_in_the_unit_of_their_version(
    tmp_path: Path, title: str, heading: str, row: str
) -> None:
    cell, time_s = only(tmp_path, f"{title}size (bytes),iterations,{heading}\n{row}\n")
    assert (cell.pattern, cell.bytes) == ("pingpong", 8)
    assert time_s == pytest.approx(0.52e-6)


@pytest.mark.parametrize(
    ("name", "pattern", "time_s", "datatype"),
    [
        ("IMB Allreduce", "allreduce", 3e-6, "float"),
        ("OSU Allreduce", "allreduce", 2e-6, "float"),
        ("IMB Alltoall", "alltoall", 3e-6, ""),
        ("OSU Broadcast", "bcast", 2e-6, ""),
        ("OSU All Gather", "allgather", 2e-6, ""),
        ("OSU Alltoallv", "alltoallv", 2e-6, ""),
    ],
)
def test_collectives_are_taken_as_from_the_suites_they_follow(
    tmp_path: Path, name: str, pattern: str, time_s: float, datatype: str
) -> None:
    """Of IMB that of the slowest rank, of OSU the mean over ranks; one heading has a mistyped column."""
    heading = OF_RANKS if name.startswith("IMB") else OF_RANKS.replace("iterations", "iteratons")
    cell, found_s = only(tmp_path, titled(name, 48) + heading + "8,1000,1.0e-6,3.0e-6,2.0e-6\n")
    assert (cell.pattern, cell.mode, cell.ranks, cell.datatype) == (pattern, "blocking", 48, datatype)
    assert found_s == pytest.approx(time_s)


@pytest.mark.parametrize(
    ("printed", "time_s"),
    [("3.2311257896423164", 3.2311257896e-6), ("4.2557439883239567e-7", 4.2557439883e-7)],
)
@pytest.mark.parametrize("sync", ["fence", "lock"])
def test_one_sided_tests_print_microseconds_below_seconds(
    tmp_path: Path, printed: str, time_s: float, sync: str
) -> None:
    """What would be less than 1 ns as microseconds is seconds: so it was before they were released."""
    title = titled("OSU Get Latency", more=f" with window synchronization: {sync}")
    cell, found_s = only(tmp_path, f"{title}{ONE_SIDED}4,262144,{printed}\n")
    assert (cell.pattern, cell.mode, cell.bytes, cell.ranks) == ("julia_osu_get_latency", sync, 4, 2)
    assert found_s == pytest.approx(time_s)


def test_a_bandwidth_is_of_two_to_the_twenty_bytes(tmp_path: Path) -> None:
    title = "# OSU Bandwidth with type Float32 on 2 MPI ranks\nsize (bytes),iterations,bandwidth (MB/s)\n"
    cell, time_s = only(tmp_path, f"{title}0,100,0.00\n1048576,20,1000.00\n")
    assert (cell.pattern, cell.mode, cell.bytes) == ("stream", "unidirectional", 2**20)
    assert time_s == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (
            (
                "# OSU Bandwidth with type Float32 on 2 MPI ranks\n"
                "size (bytes),iterations,bandwidth (MB/s)\n8,1,20.00\n"
            ),
            0.01 / 20,
        ),
        (titled("OSU Get Latency", more=LOCKED) + ONE_SIDED + "4,9,0.25\n", 0.01 / 0.25),
        (titled("IMB Allreduce", 4) + OF_RANKS + "8,9,1.0e-6,2.0e-6,1.5e-6\n", 0.1 / 2),
    ],
)
def test_the_last_digit_is_kept(tmp_path: Path, text: str, step: float) -> None:
    (one,) = (one for one in records_of(tmp_path / "julia.txt", text) if isinstance(one, Imported))
    assert one.step == pytest.approx(step)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            titled("OSU Bandwidth")
            + "size (bytes),iterations,bandwidth (MB/s)\n4,262144,2.6990956834002654e6\n",
            "printed the bandwidth times the number of iterations",
        ),
        (
            titled("IMB Pingpong") + f"{PAIR}\n8,100,1.0e-3,7.74\n",
            "its time and its throughput contradict each other",
        ),
        (titled("IMB Pingpong") + f"{PAIR}\n8,100,1.0e-6\n", "has 3 words below 4 columns"),
        (titled("IMB Pingpong") + f"{PAIR}\n8,100,NaN,NaN\n", "time (seconds): 'NaN' is not a number"),
        ("size (bytes),iterations,time (seconds),lag (s)\n8,1,1.0,2.0\n", "is called 'lag (s)'"),
    ],
)
def test_what_could_be_wrong_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert said in said_of(tmp_path / "julia.txt", text)


def test_a_file_without_a_title_says_by_its_name_what_it_is(tmp_path: Path) -> None:
    text = f"{OF_RANKS}8,1000,1.0e-6,3.0e-6,2.0e-6\n"
    cell, time_s = only(tmp_path, text, "julia_imb_allreduce.csv")
    assert (cell.pattern, cell.ranks) == ("allreduce", 0)
    assert time_s == pytest.approx(3e-6)
    cell, time_s = only(tmp_path, text, "times.csv")
    assert (cell.pattern, cell.ranks) == ("julia_unnamed", 0)
    assert time_s == pytest.approx(2e-6)


def test_other_values_with_such_a_size_are_a_table_of_somebody(tmp_path: Path) -> None:
    cell, time_s = only(tmp_path, "size (bytes),main (us)\n8,0.5\n")
    assert (cell.pattern, cell.label) == ("table_latency", "main")
    assert time_s == pytest.approx(0.5e-6)


@given(
    times_us=st.lists(st.floats(0.01, 1e6), min_size=1, max_size=6),
    name=st.sampled_from(["IMB Pingpong", "OSU Latency"]),
)
def test_every_row_is_read_as_it_is_printed(
    tmp_path_factory: pytest.TempPathFactory, times_us: list[float], name: str
) -> None:
    path = tmp_path_factory.mktemp("julia") / "julia.txt"
    rows = "".join(f"{2**at},100,{time_us * 1e-6!r}\n" for at, time_us in enumerate(times_us))
    path.write_text(f"{titled(name)}size (bytes),iterations,latency (seconds)\n{rows}", encoding="ascii")
    found = times_of(read("julia", [path]))
    assert [cell.bytes for cell in found] == [2**at for at in range(len(times_us))]
    assert [*found.values()] == pytest.approx([time_us * 1e-6 for time_us in times_us])
