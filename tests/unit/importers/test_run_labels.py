"""The same table several times: launches where one command has printed it, and else runs with names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge import importers
from mpigauge.errors import UsageError
from mpigauge.importers.command_lines import command_in, is_repeating_loop, ranks_of
from mpigauge.importers.run_labels import MAX_LABEL, join_labels
from mpigauge.result.records import Imported
from tests.printed import records_of, times_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.result.records import Record

HEADING = "# OSU MPI Allreduce Latency Test v7.5\n# Size   Avg Latency(us)\n"


def table(time: str) -> str:
    return f"{HEADING}8    {time}\n"


def told(records: Sequence[Record]) -> list[tuple[str, int, int, float]]:
    """Label, launch, ranks and microseconds of all times."""
    times = [one for one in records if isinstance(one, Imported)]
    return [(one.cell.label, one.launch, one.cell.ranks, round(one.time_s * 1e6, 2)) for one in times]


def test_the_same_command_again_is_another_launch(tmp_path: Path) -> None:
    command = "$ mpirun -np 16 ./osu_allreduce\n"
    text = "".join(command + table(time) for time in ("3.50", "3.60", "3.40"))
    assert told(records_of(tmp_path / "t", text)) == [("", 1, 16, 3.5), ("", 2, 16, 3.6), ("", 3, 16, 3.4)]


@pytest.mark.parametrize(
    ("setting", "labels"),
    [
        ("export HIP_VISIBLE_DEVICES=0,{}", ["HIP_VISIBLE_DEVICES-0-1", "HIP_VISIBLE_DEVICES-0-2"]),
        ("[user@node dir]$ setenv UCX_TLS rc{}", ["rc1", "rc2"]),
        ("module swap openmpi/4.{}.0", ["openmpi-4.1.0", "openmpi-4.2.0"]),
    ],
)
def test_what_was_set_before_the_same_command_tells_runs_apart(
    tmp_path: Path, setting: str, labels: list[str]
) -> None:
    command = "mpirun -n 2 ./osu_allreduce -m 8:8\n"
    text = "".join(f"{setting.format(number)}\n{command}{table(f'{number}.50')}\n" for number in (1, 2))
    assert told(records_of(tmp_path / "t", text)) == [(labels[0], 1, 2, 1.5), (labels[1], 1, 2, 2.5)]
    again = "".join(f"{setting.format(1)}\n{command}{table(time)}\n" for time in ("1.50", "1.60"))
    assert [(label, launch) for label, launch, *_ in told(records_of(tmp_path / "t", again))] == [
        ("", 1),
        ("", 2),
    ]


def test_a_loop_that_does_the_same_makes_launches(tmp_path: Path) -> None:
    text = "$ for i in 1 2; do mpirun -n 4 ./osu_allreduce; done\n" + table("3.50") + table("3.60")
    assert told(records_of(tmp_path / "t", text)) == [("", 1, 4, 3.5), ("", 2, 4, 3.6)]


def test_a_command_seen_once_makes_no_launches_of_what_stands_further_below(tmp_path: Path) -> None:
    once = table("3.50").replace("Allreduce Latency", "Latency").replace("Avg Latency", "Latency")
    text = f"$ mpirun -n 2 ./osu_latency\n{once}after the upgrade:\n{once}"
    assert [label for label, *_ in told(records_of(tmp_path / "t", text))] == ["run-1", "after-the-upgrade"]


def test_commands_that_differ_name_runs_by_what_differs(tmp_path: Path) -> None:
    text = "".join(
        f"$ mpirun -n 16 --mca pml {pml} ./osu_allreduce\n{table(time)}"
        for pml, time in (("ucx", "3.50"), ("ob1", "5.50"), ("ucx", "3.60"))
    )
    assert told(records_of(tmp_path / "t", text)) == [
        ("ucx", 1, 16, 3.5),
        ("ob1", 1, 16, 5.5),
        ("ucx", 2, 16, 3.6),
    ]


def test_ranks_of_a_command_are_no_runs(tmp_path: Path) -> None:
    text = "".join(f"$ srun -n {ranks} osu_allreduce\n{table('3.50')}" for ranks in (16, 512))
    assert told(records_of(tmp_path / "t", text)) == [("", 1, 16, 3.5), ("", 1, 512, 3.5)]


def test_text_between_names_runs(tmp_path: Path) -> None:
    text = f"Using Open MPI 3.0.0\n{table('3.50')}\nUsing Open MPI 4.0.0\n{table('3.60')}"
    labels = [label for label, *_ in told(records_of(tmp_path / "t", text))]
    assert labels == ["MPI-3.0.0", "MPI-4.0.0"]


def test_files_name_runs_and_same_joins_them(tmp_path: Path) -> None:
    files = [tmp_path / "before.txt", tmp_path / "after.txt"]
    for file, time in zip(files, ("3.50", "3.60"), strict=True):
        file.write_text(table(time), encoding="ascii")
    assert [told(importers.read("osu", files))[at][0] for at in (0, 1)] == ["before", "after"]
    join_labels = told(importers.read("osu", files, same=True, ranks=16))
    assert join_labels == [("", 1, 16, 3.5), ("", 2, 16, 3.6)]


def test_a_table_in_two_pieces_is_one(tmp_path: Path) -> None:
    text = table("3.50") + "\n" + table("4.50").replace("8 ", "16 ")
    assert {label for label, *_ in told(records_of(tmp_path / "t", text))} == {""}


def test_two_suites_in_one_log_are_told_apart(tmp_path: Path) -> None:
    osu = "# OSU MPI Latency Test v7.4\n# Size   Latency (us)\n8    1.50\n"
    heading = "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"
    imb = f"{heading}8 1000 1.60 5.00\n"
    for text, labels in ((osu + "\n" + imb, ["osu", "imb"]), (imb + "\n" + osu, ["imb", "osu"])):
        assert [label for label, *_ in told(records_of(tmp_path / "t", text))] == labels


def test_a_file_that_gives_nothing_is_named_with_its_own_format(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(table("3.50"), encoding="ascii")
    (tmp_path / "b").write_text(
        "# Benchmarking Barrier\n# #processes = 2\n#repetitions t_min[usec] t_max[usec] t_avg[usec]\n"
        "1000 1.00 1.20 1.10\n",
        encoding="ascii",
    )
    with pytest.raises(UsageError, match="b: is of the format imb, not osu") as refusal:
        importers.read("osu", [tmp_path / "a", tmp_path / "b"])
    assert refusal.value.hint == f"mpigauge import imb {tmp_path / 'b'}"


COMMANDS = {
    "$ mpirun -np 16 ./osu_allreduce": 16,
    "[user@node ~]$ mpiexec -n 4 IMB-MPI1 Allreduce": 4,
    "+ mpirun --np 8 --map-by node ./osu_bcast -m 8": 8,
    "srun -N 4 --ntasks-per-node=16 ./osu_alltoall": 64,
    "srun --ntasks=128 -c 4 ./osu_alltoall": 128,
    "mpiexec.hydra -n 32 -ppn 16 /opt/osu/osu_gather": 32,
    "flux run -n 6 -c 2 ./osu_scan": 6,
    "mpirun -n $n ./osu_allreduce": 0,
    "./build/all_reduce_perf -b 8 -g 4": 0,
    "mpirun -n 2 ./a : -n 4 ./b": 0,
    "[user@node dir]$ ucx_perftest node2 -t tag_bw -s 8": 0,
    "[root@node bin]# ./ucx_perftest node2 -t tag_bw -s 8": 0,
    "NCCL_ALGO=TREE ./all_reduce_perf -g 8 -b 8": 0,
    "#  ./all_reduce_perf -b 8 -e 128M -f 2 -g 2": 0,
    "- `all_reduce_perf -b 8 -g 1` gets stuck": 0,
}


@pytest.mark.parametrize(("text", "ranks"), COMMANDS.items())
def test_a_command_line_says_how_many_ranks_it_starts(text: str, ranks: int) -> None:
    command = command_in([text], 0)
    assert command
    assert ranks_of(command) == ranks


@pytest.mark.parametrize(
    "text",
    [
        "mpirun noticed that process rank 0 with PID 123 exited on signal 9",
        "srun: error: node01: task 3: Killed",
        "# OSU MPI Latency Test v7.4",
        "# Collective test starting: all_reduce_perf",
        "`osu_bw` runs through. However, the bandwidth is low:",
        "--- osu_latency (D D) ---",
        "We used mpirun for all of this.",
        "8          1.84",
    ],
)
def test_prose_is_no_command(text: str) -> None:
    assert command_in([text], 0) == ""


def test_a_command_goes_on_in_the_next_line() -> None:
    assert ranks_of(command_in(["$ mpirun --bind-to core \\", "    -np 64 ./osu_allreduce"], 0)) == 64


def test_a_loop_over_what_it_uses_does_not_repeat() -> None:
    assert is_repeating_loop("for i in 1 2; do mpirun -n 2 ./osu_bw; done")
    assert not is_repeating_loop("for i in 1 2; do mpirun -n $i ./osu_bw; done")
    assert not is_repeating_loop("mpirun -n 2 ./osu_bw")


def test_columns_of_tables_that_come_again_stay_apart(tmp_path: Path) -> None:
    """Each column is a run, and so is each table."""
    one = "| Size | before (us) | after (us) |\n|---|---|---|\n| 8 | 1.50 | 2.50 |\n"
    records = records_of(tmp_path / "t.md", f"first\n\n{one}\nsecond\n\n{one}")
    assert {(label, time) for label, _, _, time in told(records)} == {
        ("before-first", 1.5),
        ("after-first", 2.5),
        ("before-second", 1.5),
        ("after-second", 2.5),
    }


@given(st.sets(st.tuples(st.text("ab-", min_size=1, max_size=32), st.text("ab-", max_size=32)), max_size=8))
def test_labels_of_runs_and_columns_are_never_alike(pairs: set[tuple[str, str]]) -> None:
    labels = join_labels(pairs)
    assert set(labels) == pairs
    assert all(len(label) <= MAX_LABEL for label in labels.values())
    if all(column and run for column, run in pairs):
        assert len(set(labels.values())) == len(pairs)


def test_a_list_of_devices_above_a_table_is_a_caption(tmp_path: Path) -> None:
    table = "# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)\n8  {}\n"
    text = "".join(
        f"DEVICES=0,1,{ids}\n{table.format(time)}" for ids, time in (("4,6", "1.25"), ("2,3", "2.25"))
    )
    labels = {cell.label for cell in times_of(records_of(tmp_path / "a.txt", text))}
    assert not labels & {"run-1", "run-2"}
