"""Texts of OSU's suites as people have them: titles, factors in the mode, lost titles, torn and noted rows.

Titles, headings and their order are those of the sources of 2.1 to 7.4 and of mpi4py; numbers are made up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.importers import reading
from mpigauge.importers.osu.programs import TITLES, program_in
from mpigauge.result.records import Campaign, Imported, Unread
from tests.printed import FOLDER, failures_of, records_of, said_of, times_of

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.result.records import Record

US, MB = 1e-6, 1e6
LATENCY = "# Size          Latency (us)"
AVERAGE = "# Size       Avg Latency(us)"
RATE = "# Size      Bandwidth (MB/s)"


def text(*lines: str) -> str:
    return "\n".join([*lines, ""])


def read(path: Path, *lines: str) -> list[tuple[str, str, int, int, float]]:
    """Pattern, mode, size, ranks and seconds of each number, in their order."""
    return [
        (one.cell.pattern, one.cell.mode, one.cell.bytes, one.cell.ranks, one.time_s)
        for one in records_of(path, text(*lines))
        if isinstance(one, Imported)
    ]


def close(seconds: float) -> Any:
    return pytest.approx(seconds, rel=1e-6)


def names_of(path: Path, *lines: str) -> set[tuple[str, str]]:
    return {(pattern, mode) for pattern, mode, *_ in read(path, *lines)}


def unread_of(records: list[Record]) -> list[str]:
    return [one.why for one in records if isinstance(one, Unread)]


# ---- Titles --------------------------------------------------------------------------------------

TIMES = {
    "# OSU MPI Latency Test (Version 2.1)": ("pingpong", "standard"),
    "# OSU MPI2 MPI_Put Latency Test (Version 2.3)": ("osu_mpi2_mpi_put_latency", "standard"),
    "# OSU One Sided MPI_Put latency Test v3.6": ("osu_one_sided_mpi_put_latency", "standard"),
    "# OSU MPI One Sided MPI_Accumulate Latency Test v3.1": (
        "osu_one_sided_mpi_accumulate_latency",
        "standard",
    ),
    "# OSU Broadcast Latency Test v3.5": ("osu_broadcast_latency", "standard"),
    "# OSU MPI Latency Test v7.0-lrbison3": ("pingpong", "standard"),
    "# OSU MPI Latency Test v8.0b2": ("pingpong", "standard"),
    "# OSU MPI Latency Test": ("pingpong", "standard"),
    "OSU MPI Latency Test v7.2": ("pingpong", "standard"),
    "# OSU MPI-ROCM Allreduce Latency Test v5.9": ("osu_rocm_allreduce_latency", "standard"),
    "# OSU MPI_Put-CUDA Latency Test v7.4": ("osu_mpi_put_cuda_latency", "standard"),
    "# OSU NCCL-CUDA Allreduce Latency Test v7.5": ("osu_nccl_cuda_allreduce_latency", "standard"),
    "# OSU RCCL-ROCM Latency Test v7.4": ("osu_rccl_rocm_latency", "standard"),
    "# OSU OpenSHMEM Put Test v5.6.2": ("osu_oshm_put", "standard"),
    "# OSU OpenSHMEM Broadcast Latency Test v7.4": ("osu_oshm_broadcast_latency", "standard"),
    "# OSU UPC MEMPUT Test v5.3": ("osu_upc_memput", "standard"),
    "# OSU UPC++ Async Copy (Put) Test v5.3": ("osu_upcxx_async_copy_put", "standard"),
    "# OSU Reduce Test": ("osu_java_reduce", "standard"),
    "# OMB Python MPI Allreduce Test": ("omb_python_allreduce", "standard"),
    "# OMB Python MPI Multi Latency Test": ("omb_python_multi_lat", "standard"),
}
RATES = {
    "# OSU MPI Bi-Directional Bandwidth Test v3.0": ("stream", "bidirectional", 2),
    "# OSU MPI Bidirectional Bandwidth Test (Version 2.1)": ("stream", "bidirectional", 2),
    "# OSU MPI2 MPI_Put Bidirectional-Bandwidth Test (Version 2.1)": (
        "osu_mpi2_mpi_put_bi_directional_bandwidth",
        "standard",
        2,
    ),
    "# OSU MPI Bi-Directional Bandwidth Persistent Test v7.4": (
        "osu_bi_directional_bandwidth_persistent",
        "standard",
        2,
    ),
    "# OSU NCCL-CUDA Bi-Directional Bandwidth Test v7.5": (
        "osu_nccl_cuda_bi_directional_bandwidth",
        "standard",
        2,
    ),
    "# OSU Bi-Bandwidth Test": ("osu_java_bi_bandwidth", "standard", 2),
    "# OMB-Py MPI Bandwidth Test": ("omb_python_bandwidth", "standard", 1),
    "# OMB-Py MPI Bi-Directional Bandwidth Test": ("omb_python_bi_directional_bandwidth", "standard", 2),
}


@pytest.mark.parametrize(("title", "name"), TIMES.items())
def test_every_suite_and_version_has_a_name_and_only_mpi_on_hosts_ours(
    tmp_path: Path, title: str, name: tuple[str, str]
) -> None:
    (found,) = read(tmp_path / "t", title, LATENCY, "8                 2.50")
    assert (*found[:2], found[4]) == (*name, close(2.5 * US))


@pytest.mark.parametrize(("title", "name"), RATES.items())
def test_a_rate_of_both_directions_is_of_two_messages(
    tmp_path: Path, title: str, name: tuple[str, str, int]
) -> None:
    (found,) = read(tmp_path / "t", title, RATE, "8                 2.500000")
    assert (*found[:2], found[4]) == (*name[:2], close(name[2] * 8 / (2.5 * MB)))


def test_a_title_without_its_sign_is_one_only_if_a_version_ends_it(tmp_path: Path) -> None:
    lines = ["We took the OSU MPI Bandwidth Test", "", "# OSU MPI Latency Test v5.9", LATENCY, "8   2.50"]
    assert names_of(tmp_path / "t", *lines) == {("pingpong", "standard")}
    assert title_of(tmp_path / "t") == "OSU MPI Latency Test v5.9"


def title_of(path: Path) -> str:
    return next(one.plan.title for one in records_of(path) if isinstance(one, Campaign))


def test_the_greeting_of_osu_hello_is_no_measurement(tmp_path: Path) -> None:
    lines = [
        "# OSU MPI Hello World Test v5.6.3",
        "This is a test with 2 processes",
        "# OSU MPI Latency Test v5.6.3",
    ]
    read(tmp_path / "t", *lines, LATENCY, "8   2.50")
    assert title_of(tmp_path / "t") == "OSU MPI Latency Test v5.6.3"


@pytest.mark.parametrize("remark", ["(2 nodes)", "- intra-node", ": run 3", "# second"])
def test_a_remark_behind_a_title_is_no_part_of_it(tmp_path: Path, remark: str) -> None:
    assert names_of(tmp_path / "t", f"# OSU MPI Latency Test v7.4 {remark}", LATENCY, "8   2.50") == {
        ("pingpong", "standard")
    }
    assert title_of(tmp_path / "t") == "OSU MPI Latency Test v7.4"


def test_comments_without_their_sign_say_the_same(tmp_path: Path) -> None:
    lines = [
        *("# OSU MPI_Put-CUDA Latency Test v7.4", "# Window creation: MPI_Win_create"),
        *("# Synchronization: MPI_Win_flush", "# Rank 0 Memory on DEVICE (D) and Rank 1 Memory on HOST (H)"),
        *(
            LATENCY,
            "8    2.50",
            "# OSU MPI Allreduce Latency Test v7.4",
            "# Datatype: MPI_FLOAT.",
            AVERAGE,
            "8   3.50",
        ),
        *("# OSU MPI Multiple Bandwidth / Message Rate Test v7.4", "# [ pairs: 3 ] [ window size: 16 ]"),
        *("# Size    MB/s    Messages/s", "8    8.00   1000000.00"),
    ]
    without = [line.removeprefix("# ") for line in lines]
    assert times_of(records_of(tmp_path / "t", text(*without))) == times_of(
        records_of(tmp_path / "u", text(*lines))
    )


def test_version_2_calls_a_unit_otherwise(tmp_path: Path) -> None:
    lines = [
        "# OSU MPI2 MPI_Get Bandwidth Test (Version 2.1)",
        "# Size\t\tBandwidth (MillionBytes/s) ",
        "8\t\t4.000000",
    ]
    assert [time_s for *_, time_s in read(tmp_path / "t", *lines)] == [close(2 * US)]


def test_a_title_that_is_printed_twice_keeps_the_command_above_it(tmp_path: Path) -> None:
    title = "# OSU MPI Multiple Bandwidth / Message Rate Test v7.4"
    lines = ["$ mpirun -np 6 osu_mbw_mr -R 0", "", title, title, "# Size                  MB/s", "8     6.00"]
    assert read(tmp_path / "t", *lines) == [("multi-stream", "unidirectional", 8, 6, close(8 / (6 * MB)))]


@pytest.mark.parametrize(
    ("program", "title", "heading", "name"),
    [
        ("osu_bw_fan_in", "# OSU MPI Bandwidth Test v7.4", RATE, "osu_bw_fan_in"),
        (
            "osu_ialltoallw",
            "# OSU MPI Non-blocking All-to-Allv Personalized Exchange Latency Test v5.3",
            AVERAGE,
            "osu_ialltoallw",
        ),
    ],
)
def test_programs_that_print_the_title_of_another_are_told_by_their_command(
    tmp_path: Path, program: str, title: str, heading: str, name: str
) -> None:
    lines = [f"$ mpirun -np 4 ./{program}", title, heading, "8    2.50"]
    assert names_of(tmp_path / "t", *lines) == {(name, "standard")}


def test_below_a_damaged_title_nothing_is_read(tmp_path: Path) -> None:
    lines = [
        *("# OSU MPI Latency Test v5.9", LATENCY, "8    2.50"),
        *("# OSU MPI: Bandw Test v5.9", RATE, "8    2.50"),
        *("# OSU MPI Bandwidth Test v5.9", RATE, "8    4.00"),
    ]
    assert names_of(tmp_path / "t", *lines) == {("pingpong", "standard"), ("stream", "unidirectional")}
    assert unread_of(records_of(tmp_path / "t")) == ["the title of the table is not understood"]


# ---- Headings and columns ------------------------------------------------------------------------


def test_java_prints_its_rate_in_two_units(tmp_path: Path) -> None:
    lines = [
        "# OSU Bandwidth Test",
        "# Size [B]\t\tBandwidth [MB/s]\tBandwidth [Gb/s]",
        "1000\t\t8.00\t\t0.06",
    ]
    assert read(tmp_path / "t", *lines) == [("osu_java_bandwidth", "standard", 1000, 2, close(125 * US))]


def test_java_prints_tabs_and_the_mean_over_ranks_first(tmp_path: Path) -> None:
    lines = [
        "# OSU Reduce Test",
        "# Size\t\tLat Avg[us]\t\tLat Min[us]\t\tLat Max[us]",
        "8\t\t2.50\t\t1.00\t\t4.00",
    ]
    assert read(tmp_path / "t", *lines) == [("osu_java_reduce", "standard", 8, 0, close(2.5 * US))]


@pytest.mark.parametrize("quoted", ["", "> ", ">> ", "&gt;   ", '<span class="quotelev1">&gt;   '])
def test_headings_with_tabs_are_quoted_in_mails(tmp_path: Path, quoted: str) -> None:
    """As version 2 printed them: no table of somebody's own."""
    lines = [
        "# OSU MPI Bi-Directional Bandwidth Test (Version 2.1)",
        "# Size\t\tBi-Bandwidth (MB/s) ",
        "8\t\t4.000000",
    ]
    found = read(tmp_path / "t", *(f"{quoted}{line}" for line in lines))
    assert found == [("stream", "bidirectional", 8, 2, close(4 * US))]


def test_the_ports_of_mpi4py_count_one_direction(tmp_path: Path) -> None:
    lines = ["# MPI Bi-Directional Bandwidth Test", "# Size [B]      Bandwidth [MB/s]", "1000     8.00"]
    assert read(tmp_path / "t", *lines) == [
        ("mpi4py_bi_directional_bandwidth", "standard", 1000, 2, close(125 * US))
    ]


def test_a_chapter_of_a_report_is_no_title_of_mpi4py(tmp_path: Path) -> None:
    lines = ["# MPI Latency Test", "$ mpirun -np 2 osu_latency", LATENCY, "8    2.50"]
    assert names_of(tmp_path / "t", *lines) == {("pingpong", "standard")}


def test_python_prints_more_columns_of_an_overlap(tmp_path: Path) -> None:
    heading = "# Size   Overall(us)  Compute(us)  Pure Comm.(us)  Overlap(%)  Wait avg(us)  Init avg(us)"
    lines = ["# OMB Python MPI Iallgather Test", heading, "8   9.00   4.00   5.00   0.00   1.00   1.00"]
    assert [(mode, time_s) for _, mode, _, _, time_s in read(tmp_path / "t", *lines)] == [
        ("overall", close(9 * US)),
        ("pure", close(5 * US)),
    ]


def test_openshmem_prints_messages_alone_and_operations(tmp_path: Path) -> None:
    lines = ["# OSU OpenSHMEM Put Message Rate Test v7.4", "# Size        Messages/s", "8     2000000.00"]
    assert read(tmp_path / "t", *lines) == [("osu_oshm_put_message_rate", "standard", 8, 0, close(0.5 * US))]
    lines = [
        "# OSU OpenSHMEM Atomic Operation Rate Test v7.4",
        "# Operation              Million ops/s      Latency (us)",
        "shmem_int_fadd                    2.00              1.50",
        "shmem_longlong_add                4.00              0.75",
    ]
    assert read(tmp_path / "t", *lines) == [
        ("osu_oshm_atomic_operation_rate", "shmem_int_fadd", 0, 0, close(1.5 * US)),
        ("osu_oshm_atomic_operation_rate", "shmem_longlong_add", 0, 0, close(0.75 * US)),
    ]


def test_openshmem_prints_an_overlap_without_what_it_is_of(tmp_path: Path) -> None:
    lines = [
        "# OSU OpenSHMEM Put_nbi Overlap Test v7.4",
        "# Size   Compute(us)    Coll. Init(us)    MPI_Wait(us)    Pure Comm.(us)    Overlap(%)",
        "8        1.00    0.50   0.25   2.00   50.00",
    ]
    assert read(tmp_path / "t", *lines) == [("osu_oshm_put_nbi_overlap", "pure", 8, 0, close(2 * US))]


def test_a_derived_datatype_moves_what_it_transmits(tmp_path: Path) -> None:
    """As -D has it: rates of OSU are of these bytes, not of those that the datatype spans."""
    heading = "# Size      Bandwidth (MB/s)     Transmit Size"
    lines = ["# OSU MPI Bandwidth Test v7.4", "# Datatype: MPI_CHAR.", heading, "1024     2.00      256"]
    assert read(tmp_path / "t", *lines) == [("osu_bandwidth", "derived datatype", 256, 2, close(128 * US))]


def test_collectives_of_rank_0_are_no_mean_over_ranks(tmp_path: Path) -> None:
    title = "# OSU MPI All-to-All Personalized Exchange Latency Test v3.1"
    for heading, statistic in ((LATENCY, "mean"), (AVERAGE, "mean over ranks")):
        records = records_of(tmp_path / "t", text(title, heading, "8     2.50"))
        assert {one.statistic for one in records if isinstance(one, Imported)} == {statistic}


VARIED = (
    "# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2",
    "# [ pairs: 2 ] [ window size: varied ]",
    "",
    "# Uni-directional Bandwidth (MB/sec)",
    "#              8       16",
    "1           1.60     3.20",
    "1024     1024.00  2048.00",
)
PROFILE = (
    "",
    "# Message Rate Profile",
    "#              8       16",
    "1     1600000.00  3200000.00",
    "1024  1000000.00  2000000.00",
)


def test_varied_windows_are_windows_of_cells(tmp_path: Path) -> None:
    expected = {(1, 8): 1 / 1.6e6, (1, 16): 1 / 3.2e6, (1024, 8): 1 / 1e6, (1024, 16): 1 / 2e6}
    rest = VARIED[:3]
    for lines in (VARIED, (*VARIED, *PROFILE), (*rest, *PROFILE)):
        records = records_of(tmp_path / "t", text(*lines))
        times = {(of.bytes, of.window): time_s for of, time_s in times_of(records).items()}
        assert times == {key: close(time_s) for key, time_s in expected.items()}
        assert {(of.pattern, of.ranks) for of in times_of(records)} == {("multi-stream", 4)}
        assert unread_of(records) == []


def test_columns_of_windows_that_nothing_says_more_of_are_not_read(tmp_path: Path) -> None:
    assert "says what its numbers are" in said_of(tmp_path / "t", text(*VARIED[:3], "# Uni-dir", *VARIED[4:]))
    read = times_of(records_of(tmp_path / "t", text(*VARIED, *PROFILE).replace("Message Rate Pro", "Mess")))
    assert read == times_of(records_of(tmp_path / "t", text(*VARIED)))


@pytest.mark.parametrize("heading", ["Size # Avg Latency(us)", "node1: # Size            Messages/s"])
def test_a_heading_that_is_damaged_ends_the_table_above_it(tmp_path: Path, heading: str) -> None:
    """Rows below it are of something else."""
    above = ("# OSU MPI Bandwidth Test v7.5", "# Size      Bandwidth (MB/s)", "256     1394.81")
    records = records_of(tmp_path / "t", text(*above, heading, "1024     26.01"))
    assert {of.bytes for of in times_of(records)} == {256}
    assert len(unread_of(records)) == 1


def test_times_of_another_program_are_no_rates_of_a_version_that_misnames_them(tmp_path: Path) -> None:
    above = ("# OSU MPI Bandwidth Test v7.2", "# Size      Bandwidth (MB/s)", "256     1394.81")
    lines = (*above, "--- osu_latency ---", "# Size       Avg Latency(us)", "1      1.04")
    times = times_of(records_of(tmp_path / "t", text(*lines)))
    assert {of.bytes: time_s for of, time_s in times.items()}[1] == close(1.04e-6)


def test_commas_part_thousands_of_sizes_and_rates(tmp_path: Path) -> None:
    lines = ("# OSU MPI Bandwidth Test v5.9", "# Size      Bandwidth (MB/s)", "1,024  1,985.02")
    times = times_of(records_of(tmp_path / "t", text(*lines, "1,048,576   11,992.28")))
    assert {of.bytes: time_s for of, time_s in times.items()} == {
        1024: close(1024 / 1985.02e6),
        2**20: close(2**20 / 11992.28e6),
    }


def test_a_heading_of_sizes_alone_is_of_no_rates(tmp_path: Path) -> None:
    above = ("# OSU MPI Bandwidth Test v7.3", "# Size      Bandwidth (MB/s)", "1       2.26")
    records = records_of(tmp_path / "t", text(*above, "# Size", "2       5.77"))
    assert {of.bytes for of in times_of(records)} == {1}


def test_a_row_that_may_be_torn_is_not_of_the_profile_below(tmp_path: Path) -> None:
    torn = text(*VARIED[:-1], "1024     1024.00  2048.0", *PROFILE[:-1])
    assert {of.bytes for of in times_of(records_of(tmp_path / "t", torn))} == {1}


def test_rates_of_varied_windows_must_agree(tmp_path: Path) -> None:
    wrong = text(*VARIED, *PROFILE).replace("3200000.00", "9200000.00")
    assert "contradict each other" in said_of(tmp_path / "t", wrong)


# ---- Factors -------------------------------------------------------------------------------------

MANY = "# OSU MPI Multi-threaded Latency Test v7.4"
FORKED = "# OSU MPI Multi-process Latency Test v5.6.3"
SENDERS, RECEIVERS = "# Number of Sender threads: 1 ", "# Number of Receiver threads: 16"
DEVICES = "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)"
FORKS = ("# Number of forked processes in sender: 2", "# Number of forked processes in receiver: 2")


def test_threads_and_processes_are_told_above_the_title_or_below_it(tmp_path: Path) -> None:
    rows = (LATENCY, "8    2.50")
    for lines in ((SENDERS, RECEIVERS, "", MANY, *rows), (MANY, SENDERS, RECEIVERS, *rows)):
        assert names_of(tmp_path / "t", *lines) == {("osu_multi_threaded_latency", "1 to 16 threads")}
    later = ("# OSU MPI Latency Test v5.6.3", *rows)
    for above in ((*FORKS, FORKED), (FORKED, *FORKS)):
        assert names_of(tmp_path / "t", *above, *rows, *later) == {
            ("osu_multi_process_latency", "2 processes"),
            ("pingpong", "standard"),
        }


def test_threads_of_the_next_table_are_none_of_the_one_above(tmp_path: Path) -> None:
    rows = (LATENCY, "8    2.50")
    more = RECEIVERS.replace("16", "4")
    lines = (SENDERS, RECEIVERS, MANY, *rows, SENDERS, more, MANY, *rows)
    assert [mode for _, mode, *_ in read(tmp_path / "t", *lines)] == ["1 to 16 threads", "1 to 4 threads"]


@pytest.mark.parametrize(
    ("line", "mode"),
    [
        ("# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)", "device-host"),
        ("# Send Buffer on MANAGED (MD) and Receive Buffer on MANAGED (MH)", "managed_device-managed_host"),
        ("# Send Buffer on HOST (H) and Receive Buffer on MANAGED (M)", "host-managed"),
    ],
)
def test_where_buffers_lie_is_of_the_mode(tmp_path: Path, line: str, mode: str) -> None:
    for title, name in (("MPI-CUDA", "osu_cuda_latency"), ("MPI-ROCM", "osu_rocm_latency")):
        lines = [f"# OSU {title} Latency Test v5.7", line, LATENCY, "8    2.50"]
        assert names_of(tmp_path / "t", *lines) == {(name, mode)}


def test_where_memory_of_windows_lies_is_of_the_mode(tmp_path: Path) -> None:
    lines = [
        "# OSU MPI_Put-CUDA Latency Test v7.4",
        "# Window creation: MPI_Win_create",
        "# Synchronization: MPI_Win_flush",
        "# Rank 0 Memory on DEVICE (D) and Rank 1 Memory on HOST (H)",
        LATENCY,
        "8    2.50",
    ]
    assert names_of(tmp_path / "t", *lines) == {
        ("osu_mpi_put_cuda_latency", "MPI_Win_create MPI_Win_flush device-host")
    }


def test_where_the_text_does_not_say_where_buffers_lie_the_command_does(tmp_path: Path) -> None:
    """As from 7.4 on."""
    table = ("# OSU MPI-CUDA Latency Test v7.5", AVERAGE, "8    2.50")
    for above, mode in (
        ("$ srun -n 2 ./osu_latency -d cuda D H", "device-host"),
        ("--- osu_latency (D D) ---", "device-device"),
        ("", "standard"),
    ):
        assert names_of(tmp_path / "t", above, *table) == {("osu_cuda_latency", mode)}


def test_partitions_are_of_the_mode(tmp_path: Path) -> None:
    lines = ["# OSU MPI Partitioned Latency Test v8.0b2", "# Partitions: 4\t", AVERAGE, "8    2.50"]
    assert names_of(tmp_path / "t", *lines) == {("osu_partitioned_latency", "4 partitions")}


def test_ranks_of_a_command_are_those_of_its_table_alone(tmp_path: Path) -> None:
    table = ("# OSU MPI Allgather Latency Test v7.4", AVERAGE, "8    2.50")
    assert [ranks for *_, ranks, _ in read(tmp_path / "t", "$ mpirun -np 16 osu_allgather", *table)] == [16]
    other = ("# OSU MPI Bcast Test v7.4", *table)
    assert [ranks for *_, ranks, _ in read(tmp_path / "t", *other)] == [0]


# ---- Tables without a title ----------------------------------------------------------------------

EATEN = ("Size Latency (us)", "0 0.52", "1 0.60")


@pytest.mark.parametrize(
    ("above", "name"),
    [
        ("mpirun -np 2 --bind-to core osu_latency", ("pingpong", "standard")),
        ("srun -n 4 ./osu_allreduce -m 8:8", ("allreduce", "blocking")),
        ("mpirun -np 2 ./osu_latency -d cuda D D", ("osu_cuda_latency", "device-device")),
        ("mpirun -np 2 ./osu_latency D H", ("osu_gpu_latency", "device-host")),
        ("mpirun -np 2 ./osu_bw", ("osu_untitled_latency", "standard")),
        ("mpirun -np 2 python3 osu_latency.py", ("osu_untitled_latency", "standard")),
        ("Results of osu_put_latency on two nodes", ("osu_mpi_put_latency", "standard")),
        ("", ("osu_untitled_latency", "standard")),
    ],
)
def test_a_table_without_a_title_is_what_the_command_above_it_says(
    tmp_path: Path, above: str, name: tuple[str, str]
) -> None:
    path = tmp_path / "t"
    assert names_of(path, above, *EATEN) == {name}
    assert [time_s for *_, time_s in read(path, above, *EATEN)] == [close(0.52 * US), close(0.6 * US)]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("osu_latency.txt", "pingpong"),
        ("2_osu_latency_node1.log", "pingpong"),
        ("osu_multi_lat.out", "multi-pingpong"),
        ("osu_latency_gpu.txt", "osu_gpu_latency"),
        ("osu_latency_dd.txt", "osu_gpu_latency"),
        ("osu_bw.txt", "osu_untitled_latency"),
        ("latency.txt", "osu_untitled_latency"),
    ],
)
def test_a_file_without_titles_is_what_its_name_says(tmp_path: Path, file: str, name: str) -> None:
    assert {pattern for pattern, *_ in read(tmp_path / file, *EATEN)} == {name}


def test_a_second_table_without_a_title_is_what_stands_above_it(tmp_path: Path) -> None:
    first = ("--- osu_latency (D D) ---", "# OSU MPI-ROCM Latency Test v7.5", AVERAGE, "8    2.50")
    second = (AVERAGE, "8    3.50")
    named = read(tmp_path / "t", *first, "--- osu_latency (D D) ---", *second)
    assert [one[:2] for one in named] == [("osu_rocm_latency", "device-device")] * 2
    nameless = read(tmp_path / "osu_latency.txt", *first, "and again:", *second)
    assert [one[0] for one in nameless] == ["osu_rocm_latency", "osu_untitled_latency"]
    assert [one[4] for one in nameless] == [close(2.5 * US), close(3.5 * US)]


def test_what_is_said_of_a_table_without_a_title_is_of_its_mode(tmp_path: Path) -> None:
    host = ("# OSU MPI Latency Test v5.7", LATENCY, "8    2.50")
    lines = (*host, DEVICES, LATENCY, "8    3.50", SENDERS, RECEIVERS, LATENCY, "8    4.50")
    assert [one[:2] for one in read(tmp_path / "t", *lines)] == [
        ("pingpong", "standard"),
        ("osu_gpu_untitled_latency", "device-device"),
        ("osu_multi_threaded_latency", "1 to 16 threads"),
    ]


def test_a_program_that_ran_on_hosts_and_devices_is_not_guessed(tmp_path: Path) -> None:
    lines = (
        *("# OSU MPI-CUDA Latency Test v5.7", LATENCY, "8    2.50"),
        *("# OSU MPI Latency Test v5.7", LATENCY, "8    1.50"),
        *("osu_latency D D again", LATENCY, "8    3.50"),
    )
    assert [name for name, *_ in read(tmp_path / "t", *lines)] == [
        "osu_cuda_latency",
        "pingpong",
        "osu_gpu_latency",
    ]


def test_rates_and_times_without_titles_are_two_things(tmp_path: Path) -> None:
    lines = [
        LATENCY,
        "8    2.50",
        RATE,
        "8    4.00",
        "# Size    MB/s    Messages/s",
        "8    8.00   1000000.00",
    ]
    assert [name for name, *_ in read(tmp_path / "t", *lines)] == [
        "osu_untitled_latency",
        "osu_untitled_bandwidth",
        "multi-stream",
    ]


def test_the_heading_of_another_program_is_none_of_osu() -> None:
    assert "osu" not in reading.recognised(b"Message Size   Latency (us)\n8   1.50\n")
    assert "osu" not in reading.recognised(b"| Size | Latency (us) |\n| 8 | 1.50 |\n")


@given(st.sampled_from(sorted(TITLES)), st.sampled_from(["", "_2", "_node1", ".txt", "-amd", "_run_3"]))
def test_what_users_put_behind_the_name_of_a_program_is_no_part_of_it(program: str, behind: str) -> None:
    assert program_in(f"./{program}{behind}") == program


# ---- Rows ----------------------------------------------------------------------------------------

HOST = "# OSU MPI Latency Test v5.9"


@pytest.mark.parametrize(
    "line",
    [
        *("real 12.34", "user 10.02", "Elapsed: 12.34", "2 nodes", "10:05:04 done", "4 times faster"),
        "3 total processes killed (some possibly by mpiexec during cleanup)",
        "[node1:1234] *** Process received signal ***",
        "#0  0x00007f in foo () from /lib/libc.so",
        "#1 0x0 in bar (us)",
        "0x0000000000054db0 __GI___sigaction()",
    ],
)
def test_lines_of_words_between_rows_are_ignored(tmp_path: Path, line: str) -> None:
    records = records_of(tmp_path / "t", text(HOST, LATENCY, line, "0   1.84", line, "8   1.85", line))
    assert {of.bytes for of in times_of(records)} == {0, 8}
    assert unread_of(records) == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (" 0 0x0000000000054db0 __GI___sigaction()  :0", "has 4 words below 2 columns"),
        ("16   12.4slurmstepd: error: *** JOB 12 CANCELLED", "has 7 words below 2 columns"),
        ("163", "has 1 word below 2 columns"),
        ("16   12.40  13.00", "has 3 words below 2 columns"),
        ("16   inf", "Latency: 'inf' is not a number"),
        ("16   --------", "Latency: '--------' is not a number"),
        ("16   -nan", "Latency: '-nan' is not a number"),
        ("1.6   12.40", "'1.6' is no size"),
        ("3srun: error", "'3srun:' is no size"),
        ("4    12.40", "the size 4 comes after 8"),
    ],
)
def test_a_line_that_is_no_row_ends_its_table_and_is_named(tmp_path: Path, line: str, why: str) -> None:
    records = records_of(tmp_path / "t", text(HOST, LATENCY, "0   1.84", "8   1.85", line, "32   9.99"))
    assert {of.bytes for of in times_of(records)} == {0, 8}
    assert unread_of(records) == [why]


@pytest.mark.parametrize(
    "note", ["← UCX protocol switch (eager → rendezvous)", "# warm", "★", "<- here 12.5"]
)
def test_a_note_behind_a_row_is_none_of_its_numbers(tmp_path: Path, note: str) -> None:
    assert read(tmp_path / "t", HOST, LATENCY, f"8   8.43   {note}", "16   8.55") == [
        ("pingpong", "standard", 8, 2, close(8.43 * US)),
        ("pingpong", "standard", 16, 2, close(8.55 * US)),
    ]


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("1.8", "1.9"), 2),
        (("2", "3"), 2),
        (("2.31", "1985", "4001.50"), 3),
        (("2.31", "11,992.28"), 2),
        (("2.31", "1985"), 1),
        (("2.31", "4.1", "5.00", "6.2"), 3),
    ],
)
def test_a_rounded_number_is_read_where_a_row_follows_that_shows_it_is_not_torn(
    tmp_path: Path, words: tuple[str, ...], count: int
) -> None:
    rows = [f"{8 << at}   {word}" for at, word in enumerate(words)]
    records = records_of(tmp_path / "t", text(HOST, LATENCY, *rows))
    expected = [float(word.replace(",", "")) * US for word in words[:count]]
    assert list(times_of(records).values()) == [close(time_s) for time_s in expected]
    assert len(unread_of(records)) == len(words) - count


@pytest.mark.parametrize("rest", [("",), ("slurmstepd: error",), (".84",), ("84",), ("killed", "16  1.85")])
def test_a_number_that_may_go_on_elsewhere_is_not_read(tmp_path: Path, rest: tuple[str, ...]) -> None:
    records = records_of(tmp_path / "t", text(HOST, LATENCY, "4   1.75", "8   1", *rest))
    assert {of.bytes for of in times_of(records)} <= {4, 16}
    assert "may be torn" in unread_of(records)[0]


def test_a_size_with_parted_thousands_is_one(tmp_path: Path) -> None:
    assert [size for _, _, size, *_ in read(tmp_path / "t", HOST, LATENCY, "1,048,576    53.10")] == [1 << 20]


CUT = [
    FOLDER / name
    for name in (
        "osu_latency_7.4.txt",
        "osu_allreduce_7.4_f.txt",
        "osu_mbw_mr_made.txt",
        "osu_iallreduce_7.4.txt",
    )
]


@given(path=st.sampled_from(CUT), data=st.data())
def test_a_text_that_is_truncated_or_interrupted_anywhere_gives_no_number_that_is_not_printed(
    tmp_path_factory: pytest.TempPathFactory, path: Path, data: st.DataObject
) -> None:
    whole = path.read_text(encoding="utf-8")
    times = times_of(records_of(path))
    at = data.draw(st.integers(whole.index("# Size"), len(whole)))
    said = data.draw(st.sampled_from(["", "\n", "srun: error\n", "\nkilled\n", " 12 done\n", "\n1.5 GB\n"]))
    rest = whole[at:] if data.draw(st.booleans()) else ""
    path = tmp_path_factory.getbasetemp() / "cut"
    path.write_text(whole[:at] + said + rest, encoding="utf-8")
    try:
        records = reading.read_any(path)
    except UsageError:
        return
    found = times_of(records or [])
    own = {of: time_s for of, time_s in found.items() if of in times}
    assert own == {of: times[of] for of in own}
    assert {of.bytes for of in found} <= {of.bytes for of in times}


def test_a_failed_row_of_any_title_is_no_number(tmp_path: Path) -> None:
    heading = "# Size       Avg Latency(us)        Validation"
    records = records_of(
        tmp_path / "t",
        text("# OSU MPI-CUDA Reduce Latency Test v7.4", heading, "4   1.50   Fail", "8  1.60  Pass"),
    )
    assert failures_of(records) == [("osu_cuda_reduce_latency", 4, "corrupt")]


# ---- Runs side by side ---------------------------------------------------------------------------


def labelled(path: Path, *lines: str) -> dict[tuple[str, int], float]:
    """Seconds by label and size."""
    times = times_of(records_of(path, text(*lines)))
    return {(cell.label, cell.bytes): time_s for cell, time_s in times.items()}


@pytest.mark.parametrize(
    ("above", "labels"),
    [
        ("#               with HCOLL      without HCOLL", ("with-HCOLL", "without-HCOLL")),
        ("                ompi mpich", ("ompi", "mpich")),
        ("                three words here", ("run-1", "run-2")),
        ("                same   same", ("run-1", "run-2")),
        ("", ("run-1", "run-2")),
    ],
)
def test_columns_of_several_runs_below_one_title_are_runs(
    tmp_path: Path, above: str, labels: tuple[str, str]
) -> None:
    title, heading = "# OSU MPI Latency Test v6.1", f"{LATENCY}      Latency (us)"
    found = labelled(tmp_path / "a.txt", title, above, heading, "8  1.05  1.15", "16  1.06  -")
    first, second = labels
    assert found == {
        (first, 8): pytest.approx(1.05 * US),
        (second, 8): pytest.approx(1.15 * US),
        (first, 16): pytest.approx(1.06 * US),
    }


def test_each_of_several_runs_may_have_several_columns(tmp_path: Path) -> None:
    heading = f"{AVERAGE}   Min Latency(us)   Avg Latency(us)   Min Latency(us)"
    found = labelled(
        tmp_path / "a.txt", "# OSU MPI Allreduce Latency Test v7.3", heading, "8 2.05 1.05 2.15 1.15"
    )
    assert found == {("run-1", 8): pytest.approx(2.05 * US), ("run-2", 8): pytest.approx(2.15 * US)}


@pytest.mark.parametrize("last", ["16  1.06", "16  1.06  1.1", "16  1.06  1.16  1.26"])
def test_a_torn_row_of_several_runs_gives_nothing_of_the_torn_one(tmp_path: Path, last: str) -> None:
    lines = ("# OSU MPI Latency Test v6.1", f"{LATENCY}  Latency (us)", "8  1.05  1.15", last)
    assert "line 4" in said_of(tmp_path / "a.txt", text(*lines))
    assert ("run-2", 16) not in labelled(tmp_path / "a.txt", *lines)


def test_columns_that_do_not_repeat_are_refused(tmp_path: Path) -> None:
    heading = f"{LATENCY}  Bandwidth (MB/s)  Latency (us)"
    said = said_of(tmp_path / "a.txt", text("# OSU MPI Latency Test v6.1", heading, "8 1.05 7.62 1.15"))
    assert said.endswith("two columns have one name")


# ---- Exponents -----------------------------------------------------------------------------------


def test_a_number_may_have_an_exponent_which_is_whole(tmp_path: Path) -> None:
    lines = ("# OSU MPI Bandwidth Test v7.3", RATE, "1  7.59", "4194304  1.2e+04")
    assert read(tmp_path / "a.txt", *lines)[-1][-1] == pytest.approx(4194304 / 12000e6)
    said = said_of(tmp_path / "a.txt", text(*lines[:-1], "4194304  1.2e+0"))
    assert "'1.2e+0' is not a number" in said
