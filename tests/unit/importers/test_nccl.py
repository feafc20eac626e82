"""nccl-tests and rccl-tests: every number as what it is of, of how many ranks, or why it is not read."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge import importers
from mpigauge.errors import UsageError
from mpigauge.importers.nccl.job import Proof, collective_of, named_by_command, named_by_file
from mpigauge.result.records import Campaign, Imported, Unread
from tests.printed import FOLDER, failures_of, found, records_of, said_of, times_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


SAMPLE = FOLDER / "nccl_all_reduce_made.txt"
WHOLE = FOLDER / "nccl_all_reduce_made.json"
US = 1e-6

PREAMBLE = (
    "# nThread 1 nGpus {each} minBytes 8 maxBytes 128 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1"
)
PLACES = "#                                                     out-of-place                       in-place"
HALF = "time algbw busbw #wrong"
HEADING = f"# size count type redop root {HALF} {HALF}"
UNITS = "# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)"
BLOCK = 4
"""Bytes of a float."""


def devices(*ranks: int) -> list[str]:
    return [f"#  Rank {rank:2d} Group  0 Pid {6899 + at} on a device 0 GPU" for at, rank in enumerate(ranks)]


def row(size: int, time_us: float = 10.0, *, factor: float = 1.0, blocks: int = 1, **other: str) -> str:
    """A row whose rates are those of its size and time."""
    words = {"type": "float", "op": "sum", "root": "-1", "wrong": "0", **other}
    rate = size / time_us / 1e3
    half = f"{time_us:.2f} {rate:.2f} {rate * factor:.2f} {words['wrong']}"
    return f"{size} {size // blocks // BLOCK} {words['type']} {words['op']} {words['root']} {half} {half}"


def table(*rows: str, above: Iterable[str] = (), heading: str = HEADING, units: str = UNITS) -> str:
    return "\n".join([*above, PLACES, heading, units, *rows, ""])


def read(tmp_path: Path, text: str, name: str = "t.txt") -> list[tuple[str, str, int, int]]:
    """Pattern, mode, size and ranks of all times."""
    times = times_of(records_of(tmp_path / name, text))
    return [(of.pattern, of.mode, of.bytes, of.ranks) for of in times]


def ranks_in(tmp_path: Path, text: str) -> set[int]:
    return {of[3] for of in read(tmp_path, text)}


def names_in(tmp_path: Path, text: str, name: str = "t.txt") -> set[str]:
    return {of[0] for of in read(tmp_path, text, name)}


# ---- Which collective ------------------------------------------------------------------------------


def test_a_table_is_of_what_its_title_names_or_the_command_or_the_file_or_of_nothing(tmp_path: Path) -> None:
    rows = [row(64), row(1 << 20)]
    title = "# Collective test starting: sendrecv_perf"
    command = "$ mpirun -np 2 ./build/all_reduce_perf -b 8 -g 1"
    for above, name, expected in [
        ([command, title], "nccl_all_gather.txt", "nccl_sendrecv"),
        ([command], "nccl_sendrecv.txt", "nccl_all_reduce"),
        ([], "nccl_sendrecv_h100.txt", "nccl_sendrecv"),
        ([], "t.txt", "nccl_unnamed"),
    ]:
        assert names_in(tmp_path, table(*rows, above=above), name) == {expected}


def test_a_table_is_of_what_the_line_below_it_names(tmp_path: Path) -> None:
    assert names_in(tmp_path, table(row(64)) + "# Collective test concluded: reduce_perf\n") == {
        "nccl_reduce"
    }


def test_only_an_all_reduce_moves_more_than_its_size(tmp_path: Path) -> None:
    text = table(row(1 << 20, factor=1.75))
    assert read(tmp_path, text)[0] == ("nccl_all_reduce", "out-of-place", 1 << 20, 8)
    assert names_in(tmp_path, text, "all_gather.txt") == {"nccl_all_reduce"}, "the file has a wrong name"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"op": "sum", "root": "0"}, "nccl_reduce"),
        ({"op": "sum", "blocks": 4, "factor": 0.75}, "nccl_reduce_scatter"),
        ({"op": "sum"}, "nccl_unnamed"),
        ({"op": "none", "blocks": 4, "factor": 0.75}, "nccl_unnamed"),
        ({"op": "none", "root": "0"}, "nccl_unnamed"),
    ],
)
def test_reductions_to_a_root_and_to_blocks_are_recognised(
    tmp_path: Path, more: dict[str, Any], expected: str
) -> None:
    assert names_in(tmp_path, table(row(1 << 20, **more))) == {expected}


@pytest.mark.parametrize(
    ("name", "op", "blocks"),
    [("reduce.txt", "none", 1), ("alltoall.txt", "sum", 1), ("all_reduce.txt", "none", 4)],
)
def test_the_name_of_a_file_that_rows_contradict_is_not_believed(
    tmp_path: Path, name: str, op: str, blocks: int
) -> None:
    text = table(row(1 << 20, op=op, blocks=blocks, factor=1 - 1 / blocks if blocks > 1 else 1.0))
    assert names_in(tmp_path, text, name) == {"nccl_unnamed"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("66_nccl_allreduce_2gpus.txt", "all_reduce"),
        ("all-gather.log", "all_gather"),
        ("nccl_alltoallv.out", "alltoallv"),
        ("a2a_all2all.txt", "alltoall"),
        ("bcast-h100.txt", "broadcast"),
        ("reduce_scatter_perf.txt", "reduce_scatter"),
        ("node_reduce.log", "reduce"),
        ("reduced.txt", ""),
        ("all_reduce_and_all_gather.txt", ""),
        ("nccl.txt", ""),
    ],
)
def test_a_file_names_a_collective_if_it_names_one(name: str, expected: str) -> None:
    assert named_by_file(name) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("mpirun -np 16 ./build/all_reduce_perf -b 8 -e 8G", "all_reduce"),
        ("srun nccl-tests/build/alltoall_perf", "alltoall"),
        ("for t in all_reduce all_gather; do ./build/${t}_perf; done", ""),
        ("./all_reduce_perf -g 8 && ./all_gather_perf -g 8", ""),
        ("mpirun -np 2 build-mpi/broadcast_perf_mpi -b 8", "broadcast"),
        ("mpirun -np 2 ./osu_bw", ""),
    ],
)
def test_a_command_names_a_collective_if_it_runs_one(command: str, expected: str) -> None:
    assert named_by_command(command) == expected


def test_a_program_that_nobody_knows_keeps_its_name() -> None:
    programs = ("./build/all_reduce_perf", "alltoall_perf_mpi", "AllReduce", "my-ring_perf", "_")
    assert [*map(collective_of, programs)] == ["all_reduce", "alltoall", "all_reduce", "my_ring", "test"]


# ---- How many ranks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("ranks", "expected"), [((0, 1), 2), ((71,), 72), ((3, 0), 4), ((), 0)])
def test_ranks_are_counted_by_the_largest_where_lines_were_cut(
    tmp_path: Path, ranks: tuple[int, ...], expected: int
) -> None:
    assert ranks_in(tmp_path, table(row(8), above=devices(*ranks))) == {expected}


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        (["$ ./build/all_reduce_perf -b 8 -g 8"], 8),
        (["$ ./build/all_reduce_perf -b 8 -t 2 -g 4"], 8),
        (["$ mpirun -np 4 ./build/all_reduce_perf -b 8 -g 2"], 8),
        (["$ srun -N 2 --ntasks-per-node=8 ./build/all_reduce_perf -b 8"], 16),
        (["$ srun ./build/all_reduce_perf -b 8 -g 1"], 0),
        (["$ ./build/all_reduce_perf -b 8 -g 1"], 0),
        (["".join(devices(0, 1))], 2),
        (['$ srun -n 2 bash -c "hostname; ./build/all_reduce_perf -b 8 -t 1 -g 8"'], 16),
        (["$ mpirun -np 4 ./build/all_reduce_perf -b 8", PREAMBLE.format(each=2)], 8),
        ([PREAMBLE.format(each=8), *devices(0, 1)], 8),
        ([PREAMBLE.format(each=8)], 0),
        (["# nThreads: 1 nGpus: 2 nRanks: 2 minBytes: 8 maxBytes: 128 step: 2(factor)", *devices(0)], 4),
        (["a:1:1 [0] NCCL INFO comm 0x7f rank 6 nranks 32 cudaDev 6 - Init COMPLETE"], 32),
        (["$ mpirun -np 2 ./build/all_reduce_perf", PREAMBLE.format(each=1), *devices(0)], 0),
    ],
)
def test_ranks_are_processes_times_threads_times_devices(
    tmp_path: Path, above: list[str], expected: int
) -> None:
    """Where a line of devices is all that there is of a job of several, it may have run alone."""
    assert ranks_in(tmp_path, table(row(8, 50.0), above=above)) == {expected}


def test_what_a_user_says_counts_where_no_text_says_it(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(table(row(8)), encoding="ascii")
    records = importers.read("nccl", [tmp_path / "t"], ranks=16)
    assert {of.ranks for of in times_of(records)} == {16}


@pytest.mark.parametrize("ranks", [1, 3, 8, 16, 72])
def test_bus_bandwidth_proves_the_ranks_of_an_all_reduce(tmp_path: Path, ranks: int) -> None:
    rows = [row(1 << size, 100.0, factor=2 * (ranks - 1) / ranks) for size in (3, 28)]
    assert ranks_in(tmp_path, table(*rows)) == {ranks}
    assert ranks_in(tmp_path, table(*rows, above=[PREAMBLE.format(each=1), *devices(0)])) == {ranks}


def test_bus_bandwidth_like_algbw_is_of_two_ranks_where_an_all_reduce_is_named(tmp_path: Path) -> None:
    command = ["$ ./build/all_reduce_perf -b 8 -g 1"]
    assert ranks_in(tmp_path, table(row(1 << 28, 500.0, factor=1.0), above=command)) == {2}


def test_sizes_that_rates_contradict_prove_nothing(tmp_path: Path) -> None:
    """As of a text in which somebody has changed the type."""
    text = table(row(1 << 20, type="half", factor=1.75), row(1 << 21, type="half", factor=1.75))
    assert {of[0::3] for of in read(tmp_path, text)} == {("nccl_all_reduce", 8)}


@pytest.mark.parametrize("ranks", [2, 8])
def test_sizes_prove_the_ranks_of_which_each_has_a_block(tmp_path: Path, ranks: int) -> None:
    text = table(row(64 * ranks, op="none", blocks=ranks, factor=1 - 1 / ranks))
    assert ranks_in(tmp_path, text) == {ranks}


def test_ranks_that_rows_contradict_are_unknown(tmp_path: Path) -> None:
    rows = [row(1 << 28, 500.0, factor=2 * 499 / 500), row(1 << 29, 500.0, factor=2 * 499 / 500)]
    assert ranks_in(tmp_path, table(*rows, above=devices(*range(4)))) == {0}


@given(st.integers(2, 2000), st.floats(0.01, 900.0), st.floats(0.01, 900.0))
def test_the_ranks_that_there_were_are_never_excluded(ranks: int, first: float, second: float) -> None:
    for factor in (2 * (ranks - 1) / ranks, (ranks - 1) / ranks):
        proof = Proof()
        for rate in (first, second):
            size = 1 << 24
            proof.add(size, f"{size / rate / 1e3:.2f}", f"{rate:.2f}", f"{rate * factor:.2f}")
        assert ranks in proof.ranks()


def test_of_groups_that_do_the_same_at_once_the_ranks_of_one_are_counted(tmp_path: Path) -> None:
    lines = [f"#  Rank {rank:2d} Group {rank % 2:2d} Pid 1 on a device 0 GPU" for rank in range(8)]
    assert read(tmp_path, table(row(8), above=lines))[0] == ("nccl_unnamed", "out-of-place, 2 groups", 8, 4)


# ---- Processes that ran alone ------------------------------------------------------------------------

ALONE = "each process ran alone"


def test_processes_that_print_into_each_other_ran_alone(tmp_path: Path) -> None:
    preamble = [PREAMBLE.format(each=1), "#", "# Using devices"]
    text = table(row(8), row(16), row(8), row(16), above=[*preamble, *preamble, *devices(0, 0)])
    with pytest.raises(UsageError, match=f"line 8: rank 0 a second time: {ALONE}") as refusal:
        records_of(tmp_path / "t", text)
    assert "MPI=1" in refusal.value.hint


def test_tables_below_those_of_processes_that_ran_alone_are_read(tmp_path: Path) -> None:
    alone = table(row(8), above=[PREAMBLE.format(each=1), *devices(0, 0)]) + "# Avg bus bandwidth : 0\n"
    text = alone + table(row(16), above=[PREAMBLE.format(each=1), *devices(0, 1)])
    assert {(of[2], of[3]) for of in read(tmp_path, text)} == {(16, 2)}
    assert ALONE in said_of(tmp_path / "t.txt")


def test_devices_below_a_table_are_those_of_the_next(tmp_path: Path) -> None:
    """Of NCCL 1, which prints nothing above them, or of a run whose preamble was cut."""
    text = table(row(8), above=devices(0, 1)) + table(row(8), above=devices(0, 1, 2))
    assert {of[3] for of in read(tmp_path, text)} == {2, 3}
    assert said_of(tmp_path / "t.txt") == ""


def test_headings_one_above_the_other_are_of_processes_that_ran_alone(tmp_path: Path) -> None:
    first, second = ([PREAMBLE.format(each=1), *devices(0)] for _ in range(2))
    text = table(above=[*first, *second]) + table(row(8), row(8))
    assert f"a second heading above one table: {ALONE}" in said_of(tmp_path / "t", text)


def test_one_behind_the_other_they_ran_alone_if_the_command_started_several(tmp_path: Path) -> None:
    one = (
        table(row(1 << 20, factor=0), above=[PREAMBLE.format(each=1), *devices(0)])
        + "# Avg bus bandwidth : 0\n"
    )
    said = said_of(tmp_path / "t", f"$ mpirun -np 2 ./build/all_reduce_perf -b 1M\n{one}{one}")
    assert "of one process, of several that were started: each ran alone" in said
    assert ranks_in(tmp_path, f"$ mpirun -np 1 ./build/all_reduce_perf -b 1M\n{one}") == {1}


def test_a_size_twice_in_a_table_of_one_rank_is_of_another_process(tmp_path: Path) -> None:
    text = table(row(8), row(16), row(8), row(32), above=devices(0))
    assert f"the size 8 after 16: {ALONE}" in said_of(tmp_path / "t", text)


# ---- Rows and columns --------------------------------------------------------------------------------


def test_both_places_of_each_row_are_read() -> None:
    times = found(SAMPLE.name)
    assert times == {
        ("nccl_all_reduce", "out-of-place", 8, 2): pytest.approx(12.5 * US),
        ("nccl_all_reduce", "in-place", 8, 2): pytest.approx(12.4 * US),
        ("nccl_all_reduce", "out-of-place", 1 << 20, 2): pytest.approx(40 * US),
        ("nccl_all_reduce", "in-place", 1 << 20, 2): pytest.approx(41 * US),
    }


def test_rows_of_size_0_did_nothing(tmp_path: Path) -> None:
    nothing = "0 0 float none -1 0.33 0.00 0.00 0 0.36 0.00 0.00 0"
    skipped = "0 0 float none -1 SKIP 0.00 0.00 N/A"
    text = table(nothing, nothing, skipped, row(32, op="none", blocks=4))
    assert [(of[2], of[3]) for of in read(tmp_path, text)] == [(32, 4), (32, 4)]
    assert said_of(tmp_path / "t.txt") == ""


@pytest.mark.parametrize(
    ("names", "words", "op", "root"),
    [
        ("redop root", "sum -1", "sum", ""),
        ("redop root", "none -1", "", ""),
        ("redop root", "sum 3", "sum", "3"),
        ("redop root", "0", "", "0"),
        ("redop", "sum", "sum", ""),
        ("redop", "", "", ""),
        ("root", "0", "", "0"),
        ("", "", "", ""),
    ],
)
@pytest.mark.parametrize("last", ["#wrong", "error"])
def test_older_versions_leave_out_what_an_operation_has_not(
    tmp_path: Path, names: str, words: str, op: str, root: str, last: str
) -> None:
    text = SAMPLE.read_text(encoding="utf-8").replace("#wrong", last)
    text = re.sub(r"redop +root", names, text).replace("sum      -1", words)
    times = times_of(records_of(tmp_path / SAMPLE.name, text))
    assert {(of.op, of.root) for of in times} == {(op, root)}
    assert {(of.mode, of.bytes, of.ranks): time_s for of, time_s in times.items()} == {
        of[1:]: time_s for of, time_s in found(SAMPLE.name).items()
    }


def test_types_operations_and_roots_are_told_apart(tmp_path: Path) -> None:
    rows = [
        row(8, type=kind, op=op, root=root)
        for kind, op, root in [
            ("float", "sum", "0"),
            ("float", "sum", "1"),
            ("float", "prod", "0"),
            ("half", "sum", "0"),
        ]
    ]
    times = times_of(records_of(tmp_path / "t", table(*rows)))
    assert [(of.datatype, of.op, of.root) for of in times if of.mode == "in-place"] == [
        *(("float", "sum", "0"), ("float", "sum", "1"), ("float", "prod", "0"), ("half", "sum", "0")),
    ]


MORE_COLUMNS = {
    "per iteration": ("i_min i_max i_p99 i_cv%", "9.5 11.2 11.1 3.2", "", ""),
    "bitwise": ("#bitdiff", "0", "", ""),
    "algorithm": ("", "", "algo proto nchannels", "Direct SIMPLE 32"),
    "time of day": ("", "", "timestamp", "2026-07-09 16:03:21"),
    "all of it": ("i_min i_max i_p99 i_cv%", "9.5 11.2 11.1 3.2", "timestamp", "2026-07-09 16:03:21"),
}


@pytest.mark.parametrize(("columns", "words", "behind", "last"), MORE_COLUMNS.values(), ids=MORE_COLUMNS)
def test_columns_that_newer_versions_add_are_passed_over(
    tmp_path: Path, columns: str, words: str, behind: str, last: str
) -> None:
    heading = f"# size count type redop root {HALF} {columns} {HALF} {columns} {behind}"
    per_call = " (us) (us) (us) (%)" if "i_min" in columns else ""
    units = f"# (B) (elements) (us) (GB/s) (GB/s){per_call} (us) (GB/s) (GB/s){per_call}"
    line = f"1048576 262144 float sum -1 40.00 26.21 26.21 0 {words} 41.00 25.58 25.58 0 {words} {last}"
    times = times_of(records_of(tmp_path / "t", table(line, heading=heading, units=units)))
    assert [*times.values()] == pytest.approx([40 * US, 41 * US])


@pytest.mark.parametrize("place", ["out-of-place", "in-place"])
def test_rccl_tests_may_have_measured_one_place_alone(tmp_path: Path, place: str) -> None:
    text = table(
        row(1 << 20)[: -len("10.00 104.86 104.86 0") - 1], heading=f"# size count type redop root {HALF}"
    )
    text = text.replace(PLACES, f"#            {place}").replace(UNITS, "# (B) (elements) (us) (GB/s) (GB/s)")
    assert [of[1] for of in read(tmp_path, text)] == [place]
    assert [of[1] for of in read(tmp_path, text.replace(f"#            {place}\n", ""))] == ["place unknown"]


def test_the_tests_of_nccl_1_print_milliseconds(tmp_path: Path) -> None:
    """From the README of NCCL 1."""
    half = "time algbw busbw res"
    text = "\n".join(
        [
            "# Using devices",
            *(f"#   Device  {rank} ->  {rank} [0x0a] GeForce GTX TITAN X" for rank in range(4)),
            f"#      bytes             N    type      op     {half}     {half}",
            "  10000000  10000000    char     sum    1.628   6.14   9.21  0e+00   1.932   5.18   7.77  0e+00",
            "  10000000   2500000     int     sum    1.611   6.20   9.31  0e+00   1.626   6.15   9.23  0e+00",
            "",
        ]
    )
    times = times_of(records_of(tmp_path / "t", text))
    assert {(of.pattern, of.ranks) for of in times} == {("nccl_all_reduce", 4)}
    assert [*times.values()] == pytest.approx([1.628e-3, 1.932e-3, 1.611e-3, 1.626e-3])


@pytest.mark.parametrize("ranks", [2, 8])
def test_rates_before_2020_count_the_blocks_of_others_alone(tmp_path: Path, ranks: int) -> None:
    """Of all_gather and reduce_scatter: GetBw in src/all_gather.cu of nccl-tests 2.0."""
    size = 1 << 20
    rate = size * (ranks - 1) / ranks / 10 / 1e3
    half = f"10.00 {rate:.2f} {rate:.2f} 0e+00"
    line = f"{size} {size // ranks // BLOCK} float {half} {half}"
    heading = f"# size count type {HALF} {HALF}".replace("#wrong", "error")
    assert ranks_in(tmp_path, table(line, heading=heading)) == {ranks}


def test_a_count_may_have_an_exponent_and_no_column_say_what_was_wrong(tmp_path: Path) -> None:
    heading = f"# size count type redop root {HALF}".replace(" #wrong", "")
    lines = ["64 16 float sum -1 10.00 0.01 0.01", "1073741824 2.68e+8 float sum -1 59530.2 18.04 33.82"]
    text = table(*lines, heading=heading, units="# (B) (elements) (us) (GB/s) (GB/s)")
    text = text.replace(PLACES, "# out-of-place")
    assert [of[2:] for of in read(tmp_path, text)] == [(64, 16), (1 << 30, 16)]


def test_the_longest_times_are_printed_with_an_exponent(tmp_path: Path) -> None:
    line = "8589934592 2147483648 float sum -1 1.2e+08 0.07 0.07 0 1.2e+08 0.07 0.07 0"
    times = times_of(records_of(tmp_path / "t", table(line)))
    assert [*times.values()] == pytest.approx([120.0, 120.0])


def test_commas_of_thousands_are_read(tmp_path: Path) -> None:
    line = "65,536 16,384 float sum -1 1,234.50 0.05 0.05 0 1,234.50 0.05 0.05 0"
    times = times_of(records_of(tmp_path / "t", table(line)))
    assert {of.bytes for of in times} == {65536}
    assert [*times.values()] == pytest.approx([1234.5 * US] * 2)


def test_rows_of_which_all_lines_are_comments_are_read(tmp_path: Path) -> None:
    text = "\n".join(f"    # {line.lstrip('# ')}" for line in table(row(8), row(16)).split("\n")[1:3])
    lines = [f"    #  {row(8)}", "    # ...", f"    #  {row(16)}", "    # 8 GPUs of 2 nodes", ""]
    assert [of[2] for of in read(tmp_path, text + "\n" + "\n".join(lines))] == [8, 8, 16, 16]


def test_what_is_lost_of_titles_in_markdown_is_not_missed(tmp_path: Path) -> None:
    text = table(row(8), above=[PREAMBLE.format(each=1), "# Using devices", *devices(0, 1)])
    assert ranks_in(tmp_path, text.replace("\n#", "\n").removeprefix("#")) == {2}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["# Blocking Enabled: wait for completion and barrier after each collective"], "blocking"),
        (["# Blocking Enabled: wait after each inner iteration (-m), no barrier"], "blocking, no barrier"),
        (["# nThread 1 nGpus 1 minBytes 8 agg iters: 8 validation: 1 graph: 0"], "8 aggregated"),
        (
            ["# nThread 1 nGpus 1 minBytes 8 agg iters: 1 validation: 1 graph: 20 unalign: 1"],
            "graph, unaligned",
        ),
    ],
)
def test_how_it_was_measured_is_part_of_the_mode(tmp_path: Path, lines: list[str], words: str) -> None:
    above = lines if lines[0].startswith("# nThread") else [PREAMBLE.format(each=1), *lines]
    assert read(tmp_path, table(row(8), above=above))[0][1] == f"out-of-place, {words}"


# ---- What was wrong with data ------------------------------------------------------------------------


def test_wrong_elements_are_no_time(tmp_path: Path) -> None:
    records = records_of(tmp_path / "t", table(row(8), row(16, wrong="3"), row(32, wrong="N/A")))
    assert {of.bytes for of in times_of(records)} == {8, 32}
    assert set(failures_of(records)) == {("nccl_unnamed", 16, "corrupt")}


DEVIATION = f"# size count type redop root {HALF} {HALF}".replace("#wrong", "error")


@pytest.mark.parametrize(
    ("datatype", "deviation", "ranks", "right"),
    [
        ("float", "0e+00", 2, True),
        ("float", "2e-07", 2, True),
        ("float", "N/A", 2, True),
        ("half", "5e-03", 2, True),
        ("float", "6e-05", 2, False),
        ("float", "6e-05", 8, True),
        ("float", "5e-03*", 2, False),
        ("double", "2e-07", 2, False),
        ("int32", "0e+00", 2, True),
        ("int32", "1e+00", 2, False),
        ("float", "nan", 2, False),
    ],
)
def test_older_versions_print_the_largest_deviation(
    tmp_path: Path, datatype: str, deviation: str, ranks: int, right: bool
) -> None:
    """It is out of bounds where they say so of that datatype, and for each rank but one."""
    text = table(row(64, type=datatype, wrong=deviation), above=devices(*range(ranks)), heading=DEVIATION)
    records = records_of(tmp_path / "t", text)
    assert [len(times_of(records)), len(failures_of(records))] == ([2, 0] if right else [0, 2])
    in_bounds = records_of(tmp_path / "t", f"{text}# Out of bounds values : 0 OK\n")
    assert len(times_of(in_bounds)) == 2, "the program itself says that none is"


def test_deviations_of_collectives_without_an_in_place_form_are_ignored(tmp_path: Path) -> None:
    text = table(row(64, wrong="1e+00", op="none", blocks=2), heading=DEVIATION)
    records = records_of(tmp_path / "alltoall.txt", text)
    assert [of.mode for of in times_of(records)] == ["in-place"]
    assert failures_of(records) == [("nccl_alltoall", 64, "corrupt")]


# ---- Several tables ----------------------------------------------------------------------------------


def test_tables_of_one_log_are_each_of_their_own(tmp_path: Path) -> None:
    reduced = table(row(8), above=["$ ./all_reduce_perf -g 8", PREAMBLE.format(each=8), *devices(*range(8))])
    gathered = table(
        row(64, op="none", blocks=4),
        above=["$ ./all_gather_perf -g 4", PREAMBLE.format(each=4), *devices(*range(4))],
    )
    assert [(of[0], of[3]) for of in read(tmp_path, reduced + "# Avg bus bandwidth : 1\n" + gathered)][
        ::2
    ] == [
        *(("nccl_all_reduce", 8), ("nccl_all_gather", 4)),
    ]


def test_the_same_command_twice_is_two_launches(tmp_path: Path) -> None:
    one = table(
        row(8), above=["$ mpirun -np 2 ./all_reduce_perf -b 8", PREAMBLE.format(each=1), *devices(0, 1)]
    )
    records = [one for one in records_of(tmp_path / "t", one + one) if isinstance(one, Imported)]
    assert [(one.launch, one.cell.label, one.cell.ranks) for one in records[::2]] == [(1, "", 2), (2, "", 2)]


@pytest.mark.parametrize("between", [[], ["# Testing 2 cycle."]])
def test_cycles_are_runs(tmp_path: Path, between: list[str]) -> None:
    """Of option -N of nccl-tests and -s of rccl-tests."""
    text = table(row(8), row(16), *between, row(8), row(16), above=devices(0, 1))
    records = [one for one in records_of(tmp_path / "t", text) if isinstance(one, Imported)]
    assert {(one.cell.label, one.cell.bytes) for one in records} == {
        (run, size) for run in ("run-1", "run-2") for size in (8, 16)
    }


def test_a_size_that_steps_of_less_than_a_block_give_twice_is_read_once(tmp_path: Path) -> None:
    rows = [row(32, time_us, op="none", blocks=4) for time_us in (10.0, 11.0)]
    times = times_of(records_of(tmp_path / "t", table(*rows, row(64, op="none", blocks=4))))
    assert [of.bytes for of in times] == [32, 32, 64, 64]
    assert [*times.values()] == pytest.approx([10 * US] * 4)


def test_the_title_names_the_program_and_its_version(tmp_path: Path) -> None:
    nccl = ["# nccl-tests version 2.18.3 nccl-headers=23005 nccl-library=23005", PREAMBLE.format(each=1)]
    rccl = [PREAMBLE.format(each=1), "rccl-tests: Version develop:83d38d9"]
    text = table(row(8), above=nccl) + table(row(16), above=rccl)
    campaign = next(one for one in records_of(tmp_path / "t", text) if isinstance(one, Campaign))
    assert campaign.plan.title == "nccl-tests 2.18.3, rccl-tests develop:83d38d9"


# ---- What is not read --------------------------------------------------------------------------------

REFUSED = {
    "another unit": (table(row(8), units=UNITS.replace("(us)", "(ms)")), "the units are not understood"),
    "other columns": (
        table(row(8), heading=HEADING.replace("algbw", "speed", 1)),
        "the columns are not understood",
    ),
    "cpu time": (
        table(row(8), heading=HEADING.replace("time", "cputime")),
        "its times are those of starting an operation (option -C), not of doing it",
    ),
    "no operation": (table(row(8, op="s/m")), "'s/m' is no operation"),
    "no root": (table(row(8, root="x")), "'x' is no root"),
    "no datatype": (table(row(8, type="4")), "'4' is no datatype"),
    "no time": (table(row(8).replace("10.00", "xx.xx")), "out-of-place: 'xx.xx' is not a time"),
    "no count of wrong elements": (
        table(row(8, wrong="ok")),
        "out-of-place: 'ok' is not a number of wrong elements",
    ),
    "a wrong rate": (table(row(1 << 20).replace("10.00", "20.00")), "its rate is not its size over its time"),
    "a torn size": (table(row(1 << 20)[1:]), "its size is not that of its count of elements"),
    "two rows in a line": (table(f"{row(8)} {row(16)}"), "has 26 words below 13 columns"),
    "a torn row": (table("1048576 262144 float sum -1 40.00 26.2"), "has 7 words below 13 columns"),
}


@pytest.mark.parametrize(("text", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_a_row_says_why(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=rf"line \d+: .*{re.escape(said)}"):
        records_of(tmp_path / "t", text)


def test_what_is_above_a_torn_row_is_kept_and_its_whole_half(tmp_path: Path) -> None:
    text = table(row(8), row(1 << 20)[:-12], row(1 << 21))
    assert [(of[1], of[2]) for of in read(tmp_path, text)] == [
        *(("out-of-place", 8), ("in-place", 8), ("out-of-place", 1 << 20)),
    ]
    (unread,) = (one for one in records_of(tmp_path / "t.txt") if isinstance(one, Unread))
    assert (unread.source, unread.below) == (f"{tmp_path / 't.txt'}: line 5", 1)


def test_what_launchers_say_in_brackets_is_no_line_of_units(tmp_path: Path) -> None:
    text = table(row(8)).replace(UNITS, f"{UNITS}\n(worker1, rank=1) (retrying)\n(head, rank=0) All nodes: 2")
    assert len(read(tmp_path, text)) == 2


def test_a_note_behind_a_row_is_no_part_of_it(tmp_path: Path) -> None:
    assert [of[2] for of in read(tmp_path, table(f"{row(8)}  <-- slow", row(16)))] == [8, 8, 16, 16]


@pytest.mark.parametrize("width", range(87, 120))
def test_a_heading_that_was_cut_says_what_its_rows_are(tmp_path: Path, width: int) -> None:
    lines = SAMPLE.read_text(encoding="utf-8").split("\n")
    cut = "\n".join(line[:width] if line.startswith("#") else line for line in lines)
    assert len(read(tmp_path, cut)) == 4
    narrow = "\n".join(line[:width] for line in lines)
    assert {of[1] for of in read(tmp_path, narrow)} >= {"out-of-place"}


# ---- JSON --------------------------------------------------------------------------------------------


def changed(**more: Any) -> dict[str, Any]:
    return {**json.loads(WHOLE.read_text(encoding="utf-8")), **more}


def written(path: Path, whole: dict[str, Any], *, indent: int | None = None) -> Path:
    separators = (",", ":") if indent is None else (",", ": ")
    path.write_text(json.dumps(whole, indent=indent, separators=separators), encoding="utf-8")
    return path


@pytest.mark.parametrize("version", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("indent", [None, 2])
def test_json_is_read_as_the_table_is(tmp_path: Path, version: int, indent: int | None) -> None:
    environment = ["PS1=\\[\\e[0m\\]", "X=" + "x" * 10_000]
    path = written(tmp_path / "n.json", changed(version=version, env=environment), indent=indent)
    times = times_of(records_of(path))
    assert {(of.pattern, of.mode, of.bytes, of.ranks): time_s for of, time_s in times.items()} == {
        ("nccl_all_reduce", "out-of-place", 1 << 20, 2): pytest.approx(40 * US),
        ("nccl_all_reduce", "in-place", 1 << 20, 2): pytest.approx(41 * US),
    }


def test_json_lists_the_first_device_of_each_process_alone(tmp_path: Path) -> None:
    config = {"nthreads": 1, "ngpus": 8, "devices": [{"rank": 0, "group": 0}, {"rank": 8, "group": 0}]}
    whole = changed(config=config)
    for numbers in (whole["results"][0][place] for place in ("out_of_place", "in_place")):
        numbers["bus_bw"] = numbers["alg_bw"] * 2 * 15 / 16
    assert {of.ranks for of in times_of(records_of(written(tmp_path / "n.json", whole)))} == {16}


def test_json_says_how_it_was_measured(tmp_path: Path) -> None:
    whole = changed(config={"graph": 10, "blocking_collectives": "true", "aggregated_iterations": 4})
    times = times_of(records_of(written(tmp_path / "n.json", whole)))
    assert {of.mode for of in times} == {
        f"{place}, 4 aggregated, graph, blocking" for place in ("out-of-place", "in-place")
    }


def test_cycles_of_json_are_runs_and_sizes_of_small_steps_are_read_once(tmp_path: Path) -> None:
    whole = changed()
    first = whole["results"][0]
    rate = {"alg_bw": 52.4288, "bus_bw": 52.4288}
    more = {**first, "size": 1 << 21, "count": 1 << 19, "out_of_place": {**first["out_of_place"], **rate}}
    more["in_place"] = None
    cycles = [first, first, more, first, more]
    config = {"ngpus": 2, "devices": [{"rank": 0}], "minimum_bytes": 8, "maximum_bytes": 1 << 21}
    path = written(tmp_path / "n.json", {**whole, "config": config, "results": cycles})
    records = [one for one in records_of(path) if isinstance(one, Imported)]
    assert [(one.cell.label, one.cell.bytes) for one in records if one.cell.mode == "out-of-place"] == [
        *(("run-1", 1 << 20), ("run-1", 1 << 21), ("run-2", 1 << 20), ("run-2", 1 << 21)),
    ]
    assert said_of(path) == ""


def test_a_result_that_proves_nothing_is_named_and_others_are_read(tmp_path: Path) -> None:
    whole = changed()
    whole["results"] += [{**whole["results"][0], "size": 3 << 20}, {**whole["results"][0], "size": None}]
    path = written(tmp_path / "n.json", whole)
    assert {of.bytes for of in times_of(records_of(path))} == {1 << 20}
    assert said_of(path).split("\n") == [
        f"{path}: result 2: its rate is not its size over its time",
        f"{path}: result 3: has no size",
    ]
    with pytest.raises(UsageError, match="result 1: has no time, or no rate that proves it"):
        records_of(written(path, changed(results=[{"size": 8, "out_of_place": {"time": 4.0}}])))


@pytest.mark.parametrize(
    ("whole", "said"),
    [
        ({"version": 0}, "is not JSON of nccl-tests: it has no version"),
        ({"version": "2"}, "is not JSON of nccl-tests: it has no version"),
        ({"results": []}, "has no number in it"),
        (
            {"results": [{"size": 8, "out_of_place": {"cpu_time": 4.0, "alg_bw": 1.0}}]},
            "result 1: its times are those of starting an operation (option -C)",
        ),
    ],
)
def test_json_that_is_not_understood_says_why(tmp_path: Path, whole: dict[str, Any], said: str) -> None:
    path = written(tmp_path / "n.json", changed(**whole))
    with pytest.raises(UsageError, match=re.escape(said)):
        importers.read("nccl", [path])


def test_json_that_is_cut_is_refused(tmp_path: Path) -> None:
    (tmp_path / "n.json").write_bytes(WHOLE.read_bytes()[:-40])
    with pytest.raises(UsageError, match=r"n\.json: is not JSON"):
        records_of(tmp_path / "n.json")


def test_json_files_of_the_same_command_are_runs_or_launches_as_asked(tmp_path: Path) -> None:
    args = ["./build/all_reduce_perf", "-b", "1M", "-J"]
    paths = [
        written(tmp_path / f"{number}.json", changed(args=[*args, f"{number}.json"])) for number in (1, 2, 3)
    ]
    for same, told in (
        (False, [(1, "run-1"), (1, "run-2"), (1, "run-3")]),
        (True, [(1, ""), (2, ""), (3, "")]),
    ):
        records = [one for one in importers.read("nccl", paths, same=same) if isinstance(one, Imported)]
        assert [(one.launch, one.cell.label) for one in records][::2] == told


# ---- What rccl-tests -Z writes -----------------------------------------------------------------------

REPORTED = [
    (
        "0",
        "AllReduce",
        "1",
        "8",
        "8",
        "1",
        "1048576",
        "float",
        "sum",
        "0",
        "40.000000",
        "26.214400",
        "45.875200",
        "0",
    ),
    (
        "0",
        "AllReduce",
        "1",
        "8",
        "8",
        "1",
        "1048576",
        "float",
        "sum",
        "1",
        "41.000000",
        "25.575024",
        "44.756292",
        "N/A",
    ),
    (
        "0",
        "AllReduce",
        "1",
        "8",
        "8",
        "1",
        "2097152",
        "float",
        "sum",
        "0",
        "50.000000",
        "41.943040",
        "73.400320",
        "7",
    ),
]
CSV_HEADING = (
    "numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,busbw,#wrong"
)
_OTHERWISE = {
    "collective": "name",
    "inplace": "inPlace",
    "algbw": "algBw",
    "busbw": "busBw",
    "#wrong": "wrong",
}
KEYS = [_OTHERWISE.get(name, name) for name in CSV_HEADING.split(",")]


def as_csv(rows: Iterable[tuple[str, ...]]) -> str:
    lines = (
        ",".join(f'"{word}"' if at in {1, 7, 8, 13} else word for at, word in enumerate(one)) for one in rows
    )
    return "\n".join([CSV_HEADING, *lines, ""])


def as_json(rows: Iterable[tuple[str, ...]]) -> str:
    lines = [
        ", ".join(
            f'"{key}":"{word}"' if at in {1, 7, 8, 13} else f'"{key}":{word}'
            for at, (key, word) in enumerate(zip(KEYS, one, strict=True))
        )
        for one in rows
    ]
    return "[\n" + ",\n".join(f"{{{line}}}" for line in lines) + "\n]\n"


@pytest.mark.parametrize("form", [as_csv, as_json])
def test_files_of_rccl_tests_are_read_as_its_tables_are(
    tmp_path: Path, form: Callable[[Iterable[tuple[str, ...]]], str]
) -> None:
    records = records_of(tmp_path / "t", form(REPORTED))
    times = times_of(records)
    assert {(of.pattern, of.bytes, of.ranks, of.datatype, of.op) for of in times} == {
        ("nccl_all_reduce", 1 << 20, 8, "float", "sum")
    }
    assert {of.mode: time_s for of, time_s in times.items()} == {
        "out-of-place": pytest.approx(40 * US),
        "in-place": pytest.approx(41 * US),
    }
    assert failures_of(records) == [("nccl_all_reduce", 1 << 21, "corrupt")]


@pytest.mark.parametrize("form", [as_csv, as_json])
def test_cycles_of_such_a_file_are_runs(
    tmp_path: Path, form: Callable[[Iterable[tuple[str, ...]]], str]
) -> None:
    second = [("1", *one[1:]) for one in REPORTED]
    times = times_of(records_of(tmp_path / "t", form([*REPORTED, *second])))
    assert {of.label for of in times} == {"run-1", "run-2"}


@pytest.mark.parametrize(
    ("form", "old", "new", "said"),
    [
        (as_csv, "40.000000", "4.000000", "line 2: its rate"),
        (as_csv, '"float","sum",0,40', '"float",0,40', "line 2: has 13 values below 14 columns"),
        (as_csv, "26.214400", "-nan", "line 2: algbw: '-nan' is no number"),
        (as_json, "40.000000", "4.000000", "line 2: its rate"),
        (as_json, '"size":1048576', '"size":', "line 2: is not JSON"),
    ],
)
def test_a_line_of_such_a_file_that_is_damaged_is_named(
    tmp_path: Path, form: Callable[[Iterable[tuple[str, ...]]], str], old: str, new: str, said: str
) -> None:
    text = form([REPORTED[0]])
    assert old in text
    with pytest.raises(UsageError, match=re.escape(said)):
        records_of(tmp_path / "t", text.replace(old, new, 1))
