"""Text of the Intel MPI Benchmarks of every part and version: what it is of, and numbers that fit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge import importers
from mpigauge.importers.imb.meaning import PARTS_NAMED
from mpigauge.plan.patterns import known
from mpigauge.result.reader import result_of
from mpigauge.result.records import Campaign, Imported
from mpigauge.rows.rows import rows
from tests.places import ROOT
from tests.printed import failures_of, records_of, said_of, times_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

US = 1e-6
SUITE = "#    Intel(R) MPI Benchmarks 2021.11, {} part"
ONE_TIME = "#bytes #repetitions t[usec] Mbytes/sec"
TIMES = "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]"
OVERLAP = "#bytes #repetitions t_ovrl[usec] t_pure[usec] t_CPU[usec] overlap[%]"
MESSAGES = "#bytes #repetitions t[usec] Mbytes/sec Msg/sec"


def table(name: str, processes: int | str, heading: str, *lines: str) -> str:
    """A table as IMB prints it; the lines above its heading are those that begin with a `#`."""
    ranks = processes if isinstance(processes, str) else f"# #processes = {processes} "
    above = [line for line in lines if line.startswith("#")]
    below = [line for line in lines if not line.startswith("#")]
    rule = f"#{'-' * 40}"
    return "\n".join(["", rule, f"# Benchmarking {name} ", ranks, rule, *above, heading, *below, ""])


def found(folder: Path, text: str) -> dict[tuple[str, str, int, int], float]:
    """Microseconds by pattern, mode, size and ranks."""
    times = times_of(records_of(folder / "imb.txt", text))
    return {(of.pattern, of.mode, of.bytes, of.ranks): time_s / US for of, time_s in times.items()}


def rates(folder: Path, text: str) -> dict[int, float | None]:
    """MB/s by size."""
    path = folder / "rates.txt"
    made = result_of(path, records_of(path, text))
    return {row.cell.bytes: row.rate_bytes_per_s and row.rate_bytes_per_s / 1e6 for row in rows(made)}


# ---- P2P -------------------------------------------------------------------------------------------

POSTED = table(
    "PingPong",
    4,
    MESSAGES,
    "    1       100000        24.50         0.08        81627",
    " 4096       100000       224.05        36.43         8894",
    "65536        12800       741.47       176.58         2694",
)
"""Of a storage system's guide for administrators, which has the table without the title of its program."""


def test_pairs_of_p2p_are_no_ping_pong_of_ours_with_or_without_the_title(tmp_path: Path) -> None:
    expected = {
        ("imb_p2p_pingpong", "standard", size, 4): pytest.approx(time_us)
        for size, time_us in ((1, 24.50), (4096, 224.05), (65536, 741.47))
    }
    for title in ("", SUITE.format("IMB-P2P"), SUITE.format("MPI-1")):
        assert found(tmp_path, title + POSTED) == expected


def test_the_rate_of_p2p_is_that_of_all_pairs(tmp_path: Path) -> None:
    assert rates(tmp_path, POSTED) == {
        1: pytest.approx(0.0816, rel=0.01),
        4096: pytest.approx(36.43, rel=0.01),
        65536: pytest.approx(176.58, rel=0.01),
    }


def test_times_of_p2p_that_differ_between_ranks_say_no_rate(tmp_path: Path) -> None:
    """It prints a mean over ranks, and the rate of the slowest."""
    text = table("PingPong", 4, MESSAGES, "1024 1000 10.00 102.40 100000")
    assert found(tmp_path, text) == {("imb_p2p_pingpong", "standard", 1024, 4): pytest.approx(10.0)}
    assert rates(tmp_path, text) == {1024: None}


@pytest.mark.parametrize(
    ("name", "processes", "row"),
    [
        ("PingPong", 2, "1024 1000 10.00 102.40 100000"),
        ("PingPing", 2, "1024 1000 10.00 204.80 200000"),
        ("SendRecv_Replace", 3, "1024 1000 10.00 307.20 300000"),
        ("Unirandom", 5, "1024 1000 10.00 512.00 500000"),
        ("Stencil2D (2 x 3)", 6, "1024 1000 10.00 614.40 600000"),
    ],
)
def test_each_benchmark_of_p2p_counts_its_messages(
    tmp_path: Path, name: str, processes: int, row: str
) -> None:
    text = SUITE.format("IMB-P2P") + table(name, processes, MESSAGES, row)
    ((key, time_us),) = found(tmp_path, text).items()
    pattern = f"imb_p2p_{name.partition(' ')[0].lower()}"
    assert key == (pattern, "2x3" if "(" in name else "standard", 1024, processes)
    assert time_us == pytest.approx(10.0)
    assert rates(tmp_path, text) == {1024: pytest.approx(float(row.split()[3]))}
    (shown,) = rows(result_of(tmp_path / "imb.txt", records_of(tmp_path / "imb.txt", text)))
    assert shown.messages_per_s == pytest.approx(float(row.split()[4]))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("1024 1000 10.00 102.40 10000", "its rate and its messages contradict each other"),
        ("1024 1000 100.00 102.40 100000", "its time and its messages contradict each other"),
        ("1024 1000 1.00 102.40 100000", "its time and its messages contradict each other"),
        ("1024 1000 10.00 102.40 1e5", "'1e5' is not a count"),
    ],
)
def test_a_damaged_number_of_p2p_contradicts_the_others(tmp_path: Path, row: str, said: str) -> None:
    text = table("PingPong", 2, MESSAGES, "512 1000 10.00 51.20 100000", row)
    assert said in said_of(tmp_path / "imb.txt", text)
    assert [size for _, _, size, _ in found(tmp_path, text)] == [512]


# ---- One-sided, files, GPUs ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "suite",
    [
        "#    Intel(R) MPI Benchmarks 2021.8, MPI-IO partn#--------",
        "#    Intel(R) MPI Benchmarks 2021.8, MPI-IO\npartn#--------",
        "",
    ],
)
@pytest.mark.parametrize("kind", ["AGGREGATE", "NON-AGGREGATE"])
def test_overlap_and_mode_form_one_mode(tmp_path: Path, suite: str, kind: str) -> None:
    text = table("S_IWrite_Indv", 1, OVERLAP, f"#    MODE: {kind} ", "1 2 62446331.28 2787.53 9989.50 0.00")
    assert found(tmp_path, suite + text) == {
        ("imb_io_s_iwrite_indv", f"{kind.lower()} overlap", 1, 1): pytest.approx(62446331.28),
        ("imb_io_s_iwrite_indv", f"{kind.lower()} pure", 1, 1): pytest.approx(2787.53),
    }


def test_passive_targets_have_two_times(tmp_path: Path) -> None:
    heading = "#bytes #repetitions t_pure[usec] t_ovrl[usec]"
    text = SUITE.format("MPI-RMA") + table("Truly_passive_put", 2, heading, "8 100 1.50 42.00")
    assert found(tmp_path, text) == {
        ("imb_rma_truly_passive_put", "overlap", 8, 2): pytest.approx(42.0),
        ("imb_rma_truly_passive_put", "pure", 8, 2): pytest.approx(1.5),
    }


def test_one_sided_parts_are_told_apart_also_without_a_title(tmp_path: Path) -> None:
    old = table("Unidir_Put", 2, ONE_TIME, "#    MODE: AGGREGATE ", "1024 1000 10.00 102.40")
    new = table("Unidir_put", 2, ONE_TIME, "#    MODE: NON-AGGREGATE ", "1024 100 20.00 51.20")
    expected = {
        ("imb_ext_unidir_put", "aggregate", 1024, 2): pytest.approx(10.0),
        ("put", "flush", 1024, 2): pytest.approx(20.0),
    }
    assert found(tmp_path, old + new) == expected
    titles = SUITE.format("MPI-2"), SUITE.format("MPI-RMA")
    assert found(tmp_path, titles[0] + old + titles[1] + new) == expected


def test_a_rate_of_one_sided_transfers_is_held_to_its_time(tmp_path: Path) -> None:
    text = SUITE.format("MPI-2") + table("Bidir_Get", 2, ONE_TIME, "1024 1000 10.00 102.40")
    assert rates(tmp_path, text) == {1024: pytest.approx(102.4)}
    said = said_of(tmp_path / "imb.txt", text.replace("102.40", "10.24"))
    assert "its time and its rate contradict each other" in said


def test_no_rate_follows_from_an_unknown_number_of_messages(tmp_path: Path) -> None:
    """`One_put_all` counts all targets, `All_put_all` prints none."""
    text = SUITE.format("MPI-RMA") + table("One_put_all", 4, ONE_TIME, "1024 1000 10.00 307.20")
    assert found(tmp_path, text) == {("imb_rma_one_put_all", "standard", 1024, 4): pytest.approx(10.0)}
    assert rates(tmp_path, text) == {1024: None}


GPU_TITLES = (
    "#    Intel(R) MPI Benchmarks 2021.8, MPI-1 part (GPU)",
    "#    Intel(R) MPI Benchmarks 2021.3 Technical Preview, MPI-1 part (GPU)",
    "$ mpirun -np 2 ./IMB-MPI1-GPU PingPong",
)


@pytest.mark.parametrize("title", GPU_TITLES)
@pytest.mark.parametrize("buffers", ["", "device", "host", "shared", "cpu"])
def test_buffers_of_a_gpu_are_no_memory_of_the_host(tmp_path: Path, title: str, buffers: str) -> None:
    called = f"# IMB-MPI1-GPU PingPong -mem_alloc_type {buffers} " if buffers else "# IMB-MPI1-GPU PingPong "
    text = f"{title}\n\n# Calling sequence was: \n\n{called}\n"
    text += table("PingPong", 2, ONE_TIME, "8 1000 12.80 0.63")
    assert found(tmp_path, text) == {("imb_gpu_pingpong", buffers or "standard", 8, 2): pytest.approx(12.8)}


def test_the_part_with_gpus_and_one_sided_transfers(tmp_path: Path) -> None:
    title = "#    Intel(R) MPI Benchmarks 2021.11, RMA part (GPU), Technical preview\n"
    text = title + table("Unidir_put", 2, ONE_TIME, "#    MODE: AGGREGATE ", "1024 1000 10.00 102.40")
    assert list(found(tmp_path, text)) == [("imb_rma_gpu_unidir_put", "aggregate", 1024, 2)]


# ---- Old versions ----------------------------------------------------------------------------------

OLD = """#---------------------------------------------------\r
#    {}, MPI-1 part    \r
#---------------------------------------------------\r
# Date       : Tue May  9 00:33:10 2006\r
# Machine    : i686# System     : Linux\r
# Release    : 2.4.21\r
# Version    : #1 SMP Thu Feb 2 22:14:10 EST 2006\r
\r
#----------------------------------------------------------------\r
# Benchmarking Sendrecv \r
# ( #processes = 2 ) \r
# ( 2 additional processes waiting in MPI_Barrier)\r
#----------------------------------------------------------------\r
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec\r
            0         1000         9.31         9.35         9.33         0.00\r
      1048576           40      1000.00      2000.00      1500.00      1000.00\r
"""


@pytest.mark.parametrize(
    "suite",
    [
        "PALLAS MPI Benchmark Suite V2.2",
        "Intel (R) MPI Benchmark Suite V2.3",
        "Intel (R) MPI Benchmark Suite V3.2.3",
        "Intel (R) MPI Benchmarks 4.1",
        "Intel(R) MPI Benchmarks 2019 Update 6",
    ],
)
def test_old_titles_are_kept_with_what_they_say_of_the_machine(tmp_path: Path, suite: str) -> None:
    campaign, *others = records_of(tmp_path / "old.txt", OLD.format(suite))
    assert isinstance(campaign, Campaign)
    assert campaign.plan.title == f"{suite}, MPI-1 part"
    assert (campaign.environment.system, campaign.environment.kernel) == ("Linux i686", "2.4.21")
    assert {(of.pattern, of.bytes, of.ranks): time_s / US for of, time_s in times_of(others).items()} == {
        ("shift", 0, 2): pytest.approx(9.35),
        ("shift", 1048576, 2): pytest.approx(2000.0),
    }


def test_a_table_without_the_title_of_its_program_is_still_of_imb(tmp_path: Path) -> None:
    campaign, *_ = records_of(tmp_path / "old.txt", table("PingPong", 2, ONE_TIME, "8 1000 1.00 8.00"))
    assert isinstance(campaign, Campaign)
    assert campaign.plan.title == "Intel MPI Benchmarks"


# ---- Groups and threads ----------------------------------------------------------------------------

GROUPS = """# ( {} groups of {} processes each running simultaneous )
# Group  0:     0    1    2    3    4    5    6    7    8    9   10   11   12   13   14   15
#    16   17
#
# Group  1:    18   19   20   21   22   23   24   25   26   27   28   29   30   31   32   33
#    34   35
#"""
PAIRS = "# ( 2 groups of 2 processes each running simultaneous )\n# Group  0:  0  1\n#\n# Group  1:  2  3\n#"


def test_the_number_of_groups_is_part_of_what_they_measure(tmp_path: Path) -> None:
    two = table("Multi-Allgather", GROUPS.format(2, 18), TIMES, "512 1000 30.48 37.96 33.80")
    many = two.replace("( 2 groups", "( 30 groups")
    assert found(tmp_path, two + many) == {
        ("imb_multi_allgather", "2 groups", 512, 18): pytest.approx(37.96),
        ("imb_multi_allgather", "30 groups", 512, 18): pytest.approx(37.96),
    }


def test_the_slowest_of_all_groups_is_no_ping_pong_of_ours(tmp_path: Path) -> None:
    text = table("Multi-PingPong", PAIRS, f"{TIMES} Mbytes/sec", "1024 100000 56.92 61.39 59.15 16.68")
    assert found(tmp_path, text) == {
        ("imb_multi_pingpong", "2 groups", 1024, 2): pytest.approx(61.39),
    }
    assert rates(tmp_path, text) == {1024: pytest.approx(16.68, rel=1e-3)}


def test_collectives_of_two_ranks_each_are_no_pairs(tmp_path: Path) -> None:
    text = table(
        "Multi-Bcast", PAIRS, f"Group {TIMES}", "0 8 1000 1.00 2.00 1.50", "", "1 8 1000 1.00 3.00 1.50"
    )
    assert found(tmp_path, text) == {
        ("imb_multi_bcast", "2 groups group 0", 8, 2): pytest.approx(2.0),
        ("imb_multi_bcast", "2 groups group 1", 8, 2): pytest.approx(3.0),
    }


def test_one_group_alone_is_the_whole(tmp_path: Path) -> None:
    text = table("PingPong", 2, f"Group {ONE_TIME}", "0 8 1000 1.00 8.00")
    assert found(tmp_path, text) == {("pingpong", "standard", 8, 2): pytest.approx(1.0)}


def test_threads_and_windows_are_part_of_what_is_measured(tmp_path: Path) -> None:
    heading = f"{TIMES} Mbytes/sec"
    row = "4096 1000 9.00 10.00 9.50 409.60"
    text = SUITE.format("MT")
    text += table("PingPongMT", "# #processes = 2 (threads: 1)", heading, row)
    text += table("PingPongMT", "# #processes = 2 (threads: 4)", heading, row)
    bands = "#bytes #repetitions t_avg[usec] Mbytes/sec Msg/sec"
    both = "# #processes = 4 (threads: 3)\n# window_size = 64"
    text += table("UniBandMT", both, bands, "3072 1000 10.00 614.40 600000")
    assert found(tmp_path, text) == {
        ("imb_mt_pingpongmt", "1 thread", 4096, 2): pytest.approx(10.0),
        ("imb_mt_pingpongmt", "4 threads", 4096, 2): pytest.approx(10.0),
        ("imb_mt_unibandmt", "window 64 3 threads", 3072, 4): pytest.approx(10.0),
    }
    assert rates(tmp_path, text)[3072] is None, "a message has a third of that size"
    band = next(
        row for row in rows(result_of(tmp_path, records_of(tmp_path / "imb.txt"))) if row.cell.bytes == 3072
    )
    assert band.messages_per_s == pytest.approx(600000)
    alone = text.replace("(threads: 3)", "(threads: 1)").replace("600000", "200000")
    assert rates(tmp_path, alone)[3072] == pytest.approx(614.4)
    said = said_of(tmp_path / "imb.txt", text.replace("600000", "60000"))
    assert "its time and its messages contradict each other" in said


def test_halos_have_rows_that_name_their_units(tmp_path: Path) -> None:
    text = (
        "\n# Benchmarking simple_halo (processes: 8; threads: 2; dimensions: 3)\n"
        "4(x12)(bytes) 2.5(usec) 19.2(Mb/s)\n4194304(x12)(bytes) 1.25e+04(usec) 4026.53(Mb/s)\n"
    )
    assert found(tmp_path, text) == {
        ("imb_halo_simple_halo", "3 dimensions 2 threads", 4, 8): pytest.approx(2.5),
        ("imb_halo_simple_halo", "3 dimensions 2 threads", 4194304, 8): pytest.approx(1.25e4),
    }
    assert rates(tmp_path, text)[4] == pytest.approx(19.2)
    assert "contradict" in said_of(tmp_path / "imb.txt", text.replace("2.5(", "25("))


# ---- Tables without their title --------------------------------------------------------------------

SENDRECV = f"{TIMES} Mbytes/sec\n~~~~~~~~~~~~~\n262144 160 30.48 33.48 32.24 15660.37\n"
EXCHANGE = f"{TIMES} Mbytes/sec\n~~~~~~~~~~~~~\n262144 160 82.66 92.93 87.85 11283.53\n"


@pytest.mark.parametrize("colon", [":", "\N{FULLWIDTH COLON}", "", " (2 nodes)"])
def test_a_table_without_title_has_the_name_that_stands_above_it(tmp_path: Path, colon: str) -> None:
    text = f"Some words.\n\nSendrecv{colon}\n{SENDRECV}\nExchange{colon}\n{EXCHANGE}"
    assert found(tmp_path, text) == {
        ("shift", "sendrecv", 262144, 0): pytest.approx(33.48),
        ("neighbours", "nonblocking", 262144, 0): pytest.approx(92.93),
    }


@pytest.mark.parametrize(
    ("above", "pattern", "ranks"),
    [
        ("$ mpirun -np 2 ./IMB-MPI1 pingpong -iter 100", "pingpong", 2),
        (
            "Test Type: Pallas MPI Benchmark / PingPong \nTest Performances : \n# ( #processes = 2 ) ",
            "pingpong",
            2,
        ),
        ("# List of Benchmarks to run:\n\n# PingPong", "pingpong", 2),
        ("# List of Benchmarks to run:\n\n# Sendrecv\n# PingPong", "imb_unnamed", 0),
        ("$ mpirun -np 2 ./IMB-MPI1 Bcast PingPong", "imb_unnamed", 2),
        ("We measured it with the benchmark PingPong of the suite that everybody knows.", "imb_unnamed", 0),
        ("Our cluster:", "imb_unnamed", 0),
    ],
)
def test_a_table_that_nothing_or_several_lines_name_is_unnamed(
    tmp_path: Path, above: str, pattern: str, ranks: int
) -> None:
    text = f"{above}\n{ONE_TIME}\n1024 1000 10.00 102.40\n"
    assert {(of, size, of_ranks) for of, _, size, of_ranks in found(tmp_path, text)} == {
        (pattern, 1024, ranks)
    }


def test_a_second_table_without_title_does_not_inherit_the_first_name(tmp_path: Path) -> None:
    text = table("PingPong", 2, ONE_TIME, "1024 1000 10.00 102.40")
    text += f"\nand without tuning\n{ONE_TIME}\n1024 1000 20.00 51.20\n"
    assert found(tmp_path, text) == {
        ("pingpong", "standard", 1024, 2): pytest.approx(10.0),
        ("imb_unnamed", "standard", 1024, 0): pytest.approx(20.0),
    }


def test_a_name_above_a_table_that_its_rates_contradict_gives_no_number(tmp_path: Path) -> None:
    assert "contradict" in said_of(tmp_path / "imb.txt", f"Exchange:\n{SENDRECV}")


@pytest.mark.parametrize(
    ("command", "ranks"),
    [
        ("mpirun -np 16 ./IMB-MPI1 Allreduce", 0),
        ("mpirun -np 16 ./IMB-MPI1 Allreduce -npmin 16", 16),
        ("mpirun -np 2 ./IMB-MPI1 Allreduce", 2),
        ("srun -n 8 IMB-NBC -npmin 16 Iallreduce", 8),
    ],
)
def test_a_command_that_starts_many_ranks_leaves_open_how_many_took_part(
    tmp_path: Path, command: str, ranks: int
) -> None:
    """IMB measures with 2, 4, 8 ... of them, down from the number of -npmin."""
    text = f"$ {command}\n# Benchmarking Allreduce\n{TIMES}\n8 1000 1.00 3.00 2.00\n"
    assert found(tmp_path, text) == {("allreduce", "blocking", 8, ranks): pytest.approx(3.0)}


def test_a_count_of_messages_may_have_one_comma(tmp_path: Path) -> None:
    """It is a whole number, and the rate beside it proves it."""
    heading = "# Benchmarking Uniband\n# #processes = 2\n#bytes #repetitions Mbytes/sec Msg/sec\n"
    times = found(tmp_path, f"{heading}4194304 10 11,992.28 2,859\n")
    assert times == {("stream", "unidirectional", 4194304, 2): pytest.approx(1e6 / 2859)}


def test_who_imports_may_say_what_a_command_leaves_open(tmp_path: Path) -> None:
    text = f"$ mpirun -np 16 ./IMB-MPI1 Allreduce\n# Benchmarking Allreduce\n{TIMES}\n8 1000 1.00 3.00 2.00\n"
    (tmp_path / "imb.txt").write_text(text, encoding="utf-8")
    records = importers.read("imb", [tmp_path / "imb.txt"], ranks=4)
    assert [of.ranks for of in times_of(records)] == [4]


def runs(folder: Path, text: str) -> dict[tuple[str, int, str], list[object]]:
    """Microseconds of all launches, by pattern, ranks and label."""
    times: dict[tuple[str, int, str], list[object]] = {}
    for one in records_of(folder / "imb.txt", text):
        if isinstance(one, Imported):
            key = one.cell.pattern, one.cell.ranks, one.cell.label
            times.setdefault(key, []).append(pytest.approx(one.time_s / US))
    return times


def printed(factor: int, title: str = "") -> str:
    """What one command of IMB prints: several benchmarks, each of several numbers of ranks."""
    tables = [
        table(name, ranks, TIMES, f"8 1000 0.50 {factor * ranks}.00 0.70")
        for name in ("Bcast", "Reduce")
        for ranks in (2, 4)
    ]
    return "".join([title, *tables])


TITLE = f"{SUITE.format('MPI-1')}\n"
COMMAND = "$ mpirun -np 4 IMB-MPI1 Bcast Reduce\n"


@pytest.mark.parametrize("title", ["", TITLE])
def test_all_tables_of_a_command_that_is_visible_again_are_launches(tmp_path: Path, title: str) -> None:
    text = "".join(f"{COMMAND}{printed(factor, title)}" for factor in (1, 2, 3))
    assert runs(tmp_path, text) == {
        (pattern, ranks, ""): [ranks, 2 * ranks, 3 * ranks]
        for pattern in ("bcast", "reduce")
        for ranks in (2, 4)
    }


@pytest.mark.parametrize("title", ["", TITLE])
def test_tables_that_come_again_without_a_command_are_runs(tmp_path: Path, title: str) -> None:
    text = f"{COMMAND}{printed(1, title)}\nwith another algorithm\n{printed(2, title)}"
    found_runs = runs(tmp_path, text)
    assert all(len(times) == 1 for times in found_runs.values())
    assert len(found_runs) == 8


# ---- What people, mails and crashes do to rows -----------------------------------------------------


def test_a_heading_that_a_mail_has_wrapped_is_put_together(tmp_path: Path) -> None:
    text = table("PingPong", 2, "#bytes #repetitions t[usec]\n   Mbytes/sec", "1024 1000 10.00 102.40")
    assert found(tmp_path, text) == {("pingpong", "standard", 1024, 2): pytest.approx(10.0)}


ROWS = ("0 9 4.05 4.06 4.05", "0.00", "8 9 4.34 4.35 4.34", "3.50")
WRAPPED = table("Sendrecv", 2, f"{TIMES}\nMbytes/sec", *ROWS)


def test_a_table_that_a_mail_has_wrapped_row_by_row_is_put_together(tmp_path: Path) -> None:
    assert found(tmp_path, WRAPPED) == {
        ("shift", "sendrecv", 0, 2): pytest.approx(4.06),
        ("shift", "sendrecv", 8, 2): pytest.approx(4.35),
    }


@pytest.mark.parametrize("rest", ["[xsec]", "Xbytes/sec", "(us/s)", "[XB/sec]"])
def test_the_rest_of_a_heading_names_what_imb_has_or_ends_the_table(tmp_path: Path, rest: str) -> None:
    said = said_of(tmp_path / "imb.txt", WRAPPED.replace("Mbytes/sec", rest))
    assert f"the column {rest!r} is not understood" in said


@pytest.mark.parametrize("last", ["", "# All processes entering MPI_Finalize", "16 9 5.00 6.00 5.50"])
def test_half_a_row_of_a_wrapped_table_is_none(tmp_path: Path, last: str) -> None:
    text = WRAPPED.replace("\n3.50", f"\n{last}") + table("Bcast", 2, TIMES, "4 1000 1.00 2.00 1.50")
    assert {(pattern, size) for pattern, _, size, _ in found(tmp_path, text)} == {("shift", 0), ("bcast", 4)}
    assert "has 5 words below 6 columns" in said_of(tmp_path / "imb.txt", text)


def test_a_heading_that_is_broken_before_its_times_is_none(tmp_path: Path) -> None:
    text = table("PingPong", 2, ONE_TIME.replace(" t[", "\nt["), "1024 1000", "10.00 102.40")
    assert "the heading is broken before its times" in said_of(tmp_path / "imb.txt", text)


@pytest.mark.parametrize("wrapped", ["1024 1000 10.00\n102.40", "1024 1000\n10.00 102.40"])
def test_rows_that_a_mail_has_wrapped_are_named_as_too_short(tmp_path: Path, wrapped: str) -> None:
    said = said_of(tmp_path / "imb.txt", table("PingPong", 2, ONE_TIME, "8 1000 1.00 8.00", wrapped))
    assert re.search(r"line \d+: has [23] words below 4 columns", said)


@pytest.mark.parametrize(
    "row",
    [
        "1048576 40 164.35 258.68 217.49 8107.16 \N{BLACK STAR}\N{LEFTWARDS ARROW}drops from here",
        "1048576 40 164.35 258.68 217.49 8,107.16",
        "1,048,576 40 164.35 258.68 217.49 8107.16",
        "1048576 40 164.4 258.7 217.5 8107.2",
        "1048576 40 164 258.68 217 8107",
        "1048576 40 164.35 258.68 217.49 8107.16   # with 1 thread",
    ],
)
def test_rows_with_notes_and_numbers_as_people_type_them(tmp_path: Path, row: str) -> None:
    text = table("Sendrecv", 2, f"{TIMES} Mbytes/sec", row)
    assert found(tmp_path, text) == {
        ("shift", "sendrecv", 1048576, 2): pytest.approx(258.7 if "258.7 " in row else 258.68)
    }


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("163", "has 1 word below 5 columns"),
        ("16 1000 12.4slurmstepd: error: *** JOB 1 CANCELLED DUE TO TIME LIMIT ***", "words below 5 columns"),
        ("16 1000 3.00", "has 3 words below 5 columns"),
        (" 0 0x0000000000054db0 __GI___sigaction()  :0", "words below 5 columns"),
        ("16 1000 3.00 4.00 3.50 5.00", "has 6 words below 5 columns"),
        ("16 10.00 3.00 4.00 3.50", "sizes, repetitions and groups are whole numbers"),
    ],
)
def test_what_stands_above_a_torn_row_is_kept(tmp_path: Path, last: str, said: str) -> None:
    first = table("Allreduce", 4, TIMES, "4 1000 3.10 5.80 4.20", "8 1000 3.11 5.90 4.25", last)
    text = first + table("Bcast", 4, TIMES, "4 1000 1.00 2.00 1.50")
    assert found(tmp_path, text) == {
        ("allreduce", "blocking", 4, 4): pytest.approx(5.8),
        ("allreduce", "blocking", 8, 4): pytest.approx(5.9),
        ("bcast", "blocking", 4, 4): pytest.approx(2.0),
    }
    assert said in said_of(tmp_path / "imb.txt", text)


@pytest.mark.parametrize("row", ["8 1000 3.00 2.00 2.50", "8 1000 1.00 2.00 2.50", "8 1000 1.00 2.00 0.50"])
def test_times_whose_order_their_columns_contradict_are_none(tmp_path: Path, row: str) -> None:
    text = table("Bcast", 4, TIMES, "4 1000 1.00 2.00 1.50", row)
    assert "its least, mean and largest time are in no such order" in said_of(tmp_path / "imb.txt", text)
    assert [size for _, _, size, _ in found(tmp_path, text)] == [4]


@pytest.mark.parametrize("column", ["t_amx[usec]", "t_max[xsec]", "t_max(usec)", "t_mean[usec]"])
def test_a_column_that_imb_does_not_have_ends_the_table(tmp_path: Path, column: str) -> None:
    text = table("Bcast", 4, TIMES.replace("t_max[usec]", column), "4 1000 1.00 2.00 1.50")
    assert f"the column {column!r} is not understood" in said_of(tmp_path / "imb.txt", text)


def test_percentiles_of_a_changed_imb_are_no_rows(tmp_path: Path) -> None:
    tail = "[ 0.83, 0.97, 0.98, 1.00, 1.02, 1.72, 1.75, 2.28, 3.12, 6.73, 50.00, 65.19 ]"
    text = table(
        "PingPong", 2, f"{TIMES} Mbytes/sec", "0 100 1.17 1.18 1.17 0.00", tail, "8 100 1.80 1.80 1.80 4.44"
    )
    assert found(tmp_path, text) == {
        ("pingpong", "standard", 0, 2): pytest.approx(1.18),
        ("pingpong", "standard", 8, 2): pytest.approx(1.8),
    }
    assert not said_of(tmp_path / "imb.txt", text)


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("1 8 time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; use ...", "timeout"),
        ("1 8 int-overflow.; The production rank*size caused int overflow for given sample", "refused"),
        ('1 8 out-of-mem.; needed X=   0.003 GB; use flag "-mem X"', "refused"),
    ],
)
def test_groups_without_numbers_say_why(tmp_path: Path, row: str, kind: str) -> None:
    groups = "# ( 2 groups of 4 processes each running simultaneous ) "
    text = table("Multi-Bcast", groups, f"Group {TIMES}", "0 8 1000 1.00 2.00 1.50", row)
    assert failures_of(records_of(tmp_path / "imb.txt", text)) == [("imb_multi_bcast", 8, kind)]


# ---- What the documentation shows ------------------------------------------------------------------

PAGE = (ROOT / "docs" / "coming-from-imb.md").read_text(encoding="utf-8")
PASTES = re.findall(r"```text\n((?:[^`].*\n)+)```\n\nis (.*?)\n\n", PAGE)
READ_AS = [
    {("imb_p2p_pingpong", "standard", 1, 4): 24.50, ("imb_p2p_pingpong", "standard", 4096, 4): 224.05},
    {("shift", "sendrecv", 262144, 0): 33.48, ("shift", "sendrecv", 1048576, 0): 258.68},
    {
        ("imb_io_s_iwrite_indv", "aggregate overlap", 1, 1): 62446331.28,
        ("imb_io_s_iwrite_indv", "aggregate pure", 1, 1): 2787.53,
    },
]


@pytest.mark.parametrize(("paste", "expected"), [*zip(PASTES, READ_AS, strict=True)])
def test_examples_of_the_documentation_are_read_as_it_says(
    tmp_path: Path, paste: tuple[str, str], expected: dict[tuple[str, str, int, int], float]
) -> None:
    text, said = paste
    assert found(tmp_path, text) == {key: pytest.approx(time_us) for key, time_us in expected.items()}
    assert {f"`{pattern}`" for pattern, *_ in expected} == {said.partition(" ")[0].rstrip(",:")}


# ---- Every benchmark of every part -----------------------------------------------------------------

TITLED = {"mpi1": "MPI-1", "ext": "MPI-2", "mpi4": "MPI-4", "nbc": "MPI-NBC", "rma": "MPI-RMA"}
TITLED |= {"io": "MPI-IO", "p2p": "IMB-P2P", "mt": "MT"}
SAME = frozenset({"mpi1", "nbc"})


def headings(part: str, name: str) -> list[str]:
    """The columns of a benchmark by IMB's own code, with and without those of a build that checks."""
    if part == "p2p":
        return [MESSAGES]
    if name.endswith(("barrier", "Barrier", "Barrier_persist", "Open_Close", "BarrierMT")):
        return [f"#repetitions {columns}" for columns in _synchronising(part, name)]
    if name == "Truly_passive_put":
        return ["#bytes #repetitions t_pure[usec] t_ovrl[usec]"]
    if name.upper().startswith(("UNIBAND", "BIBAND")):
        return [f"#bytes #repetitions {'t_avg[usec] ' if part == 'mt' else ''}Mbytes/sec Msg/sec"]
    if part in {"nbc", "mpi4"} and not name.endswith("_pure"):
        return [OVERLAP, f"{OVERLAP} defects"]
    return [TIMES, f"{TIMES} defects"]


def _synchronising(part: str, name: str) -> Sequence[str]:
    nonblocking = part in {"nbc", "mpi4"} and not name.endswith("_pure")
    return [
        "t_ovrl[usec] t_pure[usec] t_CPU[usec] overlap[%]"
        if nonblocking
        else "t_min[usec] t_max[usec] t_avg[usec]"
    ]


ALL = [(part, name) for part, names in PARTS_NAMED.items() for name in names]


@pytest.mark.parametrize("titled", [True, False], ids=["titled", "untitled"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_benchmark_is_read_as_its_own_part(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, titled: bool
) -> None:
    part, name = data.draw(st.sampled_from(ALL))
    heading = data.draw(st.sampled_from(headings(part, name)))
    time_us = data.draw(st.integers(1, 10**8)) / 100
    row = _row_of(part, name, heading, time_us)
    text = (SUITE.format(TITLED[part]) if titled else "") + table(name, 2, heading, row)
    keys = found(tmp_path_factory.mktemp("all"), text)
    assert keys, row
    for pattern, _, _, ranks in keys:
        assert ranks == 2
        assert (pattern in known() and part in SAME) or pattern.startswith(
            "imb_" if part == "mpi1" else f"imb_{part}_"
        )


def _row_of(part: str, name: str, heading: str, time_us: float) -> str:
    """A row in which everything takes that long, and everything follows from it."""
    count = {"PingPing": 2}.get(name, 1) if part == "p2p" and name in {"PingPong", "PingPing"} else 2
    per_s = 1e6 * (count if part == "p2p" else 1) / time_us
    values = {
        "#bytes": "1000",
        "#repetitions": "100",
        "Mbytes/sec": f"{1000 * per_s / 1e6:.2f}",
        "Msg/sec": f"{per_s:.0f}",
        "overlap[%]": "50.00",
        "defects": "0.00",
    }
    return " ".join(values.get(column, f"{time_us:.2f}") for column in heading.split())
