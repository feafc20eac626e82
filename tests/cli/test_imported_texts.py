"""What others have printed: launches, runs, lines that were no rows, ranks that nobody says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_UNDECIDED

if TYPE_CHECKING:
    from tests.conftest import Cli

WRAPPED = "mpiexec -mca btl self,openib -hostfile /home/user/hosts.txt -bynode"
HEADING = "# OSU MPI Allreduce Latency Test v7.5\n# Size   Avg Latency(us)\n"


def tables(*times: str, command: str = "") -> str:
    return "".join(f"{command}{HEADING}8    {time}\n" for time in times)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_launches_of_one_command_have_an_interval(cli: Cli) -> None:
    Path("a.txt").write_text(tables("3.50", "3.60", "3.55", command="$ mpirun -n 16 osu_allreduce\n"))
    (row,) = json.loads(cli("show", "a.txt", "--all", "--format", "json").out)["rows"]
    time = row["time_s"]
    assert row["launches"] == 3
    assert time["low"] < time["estimate"] < time["high"]
    said = cli("show", "a.txt").out
    assert "intervals over 3 launches of one command" in said
    assert "no intervals" not in said


@pytest.mark.usefixtures("here")
def test_equal_launches_are_no_nearer_than_the_last_digit(cli: Cli) -> None:
    Path("a.txt").write_text(tables(*["3.50"] * 4, command="$ mpirun -n 16 osu_allreduce\n"))
    (row,) = json.loads(cli("show", "a.txt", "--all", "--format", "json").out)["rows"]
    least = 0.01 / 3.5 / 2
    assert least <= row["time_s"]["half_width"] < 1.2 * least


@pytest.mark.usefixtures("here")
def test_two_logs_of_launches_are_compared_and_said_to_be_of_other_times(cli: Cli) -> None:
    command = "$ mpirun -n 16 osu_allreduce\n"
    Path("a.txt").write_text(tables("3.50", "3.60", "3.55", "3.52", "3.58", "3.56", command=command))
    Path("b.txt").write_text(tables("4.50", "4.60", "4.55", "4.52", "4.58", "4.56", command=command))
    done = cli("compare", "a.txt", "b.txt", "--format", "json")
    (cell,) = json.loads(done.out)["cells"]
    assert done.status == EXIT_UNDECIDED
    assert cell["low"] < cell["ratio"] < cell["high"]
    assert cli("compare", "a.txt", "b.txt").out.startswith("undecided: not measured in turn")


@pytest.mark.usefixtures("here")
def test_runs_of_one_log_stand_beside_each_other(cli: Cli) -> None:
    text = tables("3.50", command="before:\n") + tables("4.50", command="after:\n")
    Path("a.txt").write_text(text)
    lines = cli("show", "a.txt").out.splitlines()
    assert ["before", "after"] in [line.split() for line in lines]
    assert any(line.split()[-4:] == ["3.50", "µs", "4.50", "µs"] for line in lines)
    done = cli("compare", "a.txt", "--by", "label")
    assert "1.29 (no interval)" in done.out
    joined = cli("import", "osu", "a.txt", "--same", "-o", "joined.jsonl")
    assert "2 launches of one command" in joined.out


@pytest.mark.usefixtures("here")
def test_a_line_that_is_no_row_is_named_everywhere(cli: Cli) -> None:
    Path("a.txt").write_text(f"{tables('3.50')}16   4.5slurmstepd: error: *** JOB 7 CANCELLED ***\n")
    done = cli("show", "a.txt")
    assert (done.status, done.err) == (0, "")
    assert "! line 4 ends its table: has 8 words below 2 columns" in done.out
    assert (
        "a.txt line 4 ends its table: has 8 words below 2 columns: '16 4.5slurm"
        in cli("show", "a.txt", "--all").out
    )
    (found,) = (
        one
        for one in json.loads(cli("show", "a.txt", "--format", "json").out)["findings"]
        if one["kind"] == "unread"
    )
    assert found["value"]["source"] == "a.txt: line 4"
    cli("import", "osu", "a.txt", "-o", "a.jsonl")
    assert "! line 4 ends its table" in cli("show", "a.jsonl").out


@pytest.mark.usefixtures("here")
def test_unknown_ranks_are_said_where_two_results_meet(cli: Cli) -> None:
    Path("a.txt").write_text(tables("3.50"))
    Path("b.txt").write_text(tables("4.50", command="$ mpirun -n 16 osu_allreduce\n"))
    assert "ranks unknown" not in cli("show", "a.txt").out
    assert "! ranks unknown: a.txt does not say" in cli("show", "a.txt", "b.txt").out
    assert "ranks unknown: 1" in cli("compare", "a.txt", "a.txt").out
    done = cli("compare", "a.txt", "b.txt")
    assert done.status == 2
    assert "mpigauge import --np N" in done.err
    cli("import", "osu", "a.txt", "--np", "16", "-o", "known.jsonl")
    done = cli("compare", "known.jsonl", "b.txt")
    assert (done.status, "ranks unknown" in done.out) == (EXIT_UNDECIDED, False)


@pytest.mark.usefixtures("here")
def test_ranks_make_a_bus_bandwidth(cli: Cli) -> None:
    Path("a.txt").write_text(tables("4.00"))
    for ranks, bus in (((), None), (("--np", "4"), 2 * 3 / 4 * 8 / 4e-6)):
        done = cli(
            "import", "osu", "a.txt", *ranks, "--columns", "bus", "--format", "json", "-o", f"{bus}.jsonl"
        )
        (row,) = json.loads(done.out)["rows"]
        assert row["bus_bytes_per_s"] == (None if bus is None else pytest.approx(bus))


@pytest.mark.usefixtures("here")
def test_tables_of_another_program_are_not_left_out_silently(cli: Cli) -> None:
    heading = "# Benchmarking PingPong\n# #processes = 2\n#bytes #repetitions t[usec] Mbytes/sec\n"
    imb = f"{heading}8 1000 1.60 5.00\n"
    Path("both.txt").write_text(f"{tables('3.50')}\n{imb}")
    done = cli("import", "osu", "both.txt", "-o", "osu.jsonl")
    assert done.status == 0
    assert "both.txt: has tables of imb, too: mpigauge import imb both.txt" in done.err
    assert "latency" in cli("show", "both.txt").out


@pytest.mark.usefixtures("here")
def test_what_a_text_says_beside_its_columns_is_in_the_answer(cli: Cli) -> None:
    """Buffers on a device stand on a line of their own, in one log and beside another file."""
    for name, letter, where in (("host.txt", "H", "HOST"), ("device.txt", "D", "DEVICE")):
        buffers = f"# Send Buffer on {where} ({letter}) and Receive Buffer on {where} ({letter})\n"
        text = f"# OSU MPI-CUDA Latency Test v5.7\n{buffers}# Size   Latency (us)\n8    4.10\n"
        Path(name).write_text(text)
    both = Path("host.txt").read_text() + Path("device.txt").read_text()
    Path("both.txt").write_text(both)
    for files in (["both.txt"], ["host.txt", "device.txt"]):
        said = cli("show", *files).out
        assert "osu_cuda_latency host-host, 8 B" in said
        assert "osu_cuda_latency device-device, 8 B" in said
    done = cli("compare", "host.txt", "device.txt")
    assert done.status == 2
    assert "osu_cuda_latency host-host, the other osu_cuda_latency device-device" in done.err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("row", "below", "said"),
    [
        ("16  3.60[node1:12345] a", "32  3.7\n", "has 3 words below 2 columns; 1 line below not read"),
        (
            "16  3.60[node1:123456:warning]",
            "32  3.70\n",
            "Latency: '3.60[node1:12345...' is not a number; 1 line",
        ),
        ("16  3.6", "", "Latency: '3.6' may be torn: fewer digits than others, no row below"),
    ],
)
def test_the_reason_why_a_line_is_no_row_is_on_the_screen(cli: Cli, row: str, below: str, said: str) -> None:
    Path("a.txt").write_text(f"{HEADING}8  3.50\n{row}\n{below}")
    shown = cli("show", "a.txt").out
    (line,) = (line for line in shown.splitlines() if line.startswith("! "))
    assert said in line
    assert len(line) <= 80
    assert "correct the text" not in shown


@pytest.mark.usefixtures("here")
def test_what_to_do_about_a_line_is_said_where_rows_below_it_are_lost(cli: Cli) -> None:
    remedies = {}
    for name, below in (("a.txt", "32  3.70\n"), ("b.txt", "")):
        Path(name).write_text(f"{HEADING}8  3.50\n16  3.60  9  9\n{below}")
        (found,) = json.loads(cli("show", name, "--format", "json").out)["findings"]
        remedies[name] = found["remedy"]
    assert remedies == {"a.txt": "delete the line, or repair it, and those below it are read", "b.txt": ""}


@pytest.mark.usefixtures("here")
def test_failed_validation_is_called_wrong_results(cli: Cli) -> None:
    heading = "# OSU MPI Allreduce Latency Test v7.5\n# Size   Avg Latency(us)   Validation\n"
    Path("a.txt").write_text(f"{heading}8  3.50  Fail\n16  3.60  Fail\n")
    assert "! wrong results: 2 of 2 cells" in cli("show", "a.txt").out
    Path("a.txt").write_text(f"{heading}8  3.50  Pass\n16  3.60  Fail\n")
    assert "! wrong results: 1 of 2 cells" in cli("show", "a.txt").out


@pytest.mark.usefixtures("here")
def test_of_one_rank_it_is_said_that_nothing_was_sent(cli: Cli) -> None:
    Path("a.txt").write_text(tables("3.50", command="mpirun -np 1 ./osu_allreduce\n"))
    assert "1 rank: nothing was sent" in cli("show", "a.txt").out


@pytest.mark.usefixtures("here")
def test_an_unknown_library_of_several_jobs_is_not_named(cli: Cli) -> None:
    Path("a.csv").write_text("ranks,size,time (us)\n2,8,1.5\n4,8,1.6\n")
    assert cli("show", "a.csv").out.splitlines()[2] == "2 jobs · imported: no samples, so no intervals"


@pytest.mark.usefixtures("here")
def test_columns_of_one_table_are_not_advised_to_become_launches(cli: Cli) -> None:
    heading = "# OSU MPI Latency Test v6.1\n# Size  Latency (us)  Latency (us)\n"
    Path("a.txt").write_text(f"{heading}8  3.50  3.60\n")
    assert "2 runs, no samples\n" in cli("show", "a.txt").out


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("above", "ranks"),
    [
        ("flux run -N2 --tasks-per-node=96 ./osu_allreduce\n", 192),
        ("lrun -N2 -T4 ./osu_allreduce\n", 8),
        ("mpirun -N 2 -ppn 4 ./osu_allreduce\n", 8),
        ("mpirun -N 4 ./osu_allreduce\n", 0),
        ("mpirun.mpich -np 16 ./osu_allreduce\n", 16),
        ("mpirun -np 16 ./osu_allreduce\n\nBefore:\n", 16),
        ("number of process: 2048\n", 2048),
        ("Total number of MPI ranks = 48\n", 48),
        ("64 processes:\n", 64),
        ("ranks per node: 4\n", 0),
        (
            "mpiexec -mca btl self,openib -hostfile /home/user/hosts.txt -bynode\n-n 128 ./osu_allreduce\n",
            128,
        ),
        (f"{WRAPPED}\nmpirun -n 8 ./a.out\n./b.out\n", 8),
    ],
)
def test_ranks_are_taken_wherever_a_text_says_them(cli: Cli, above: str, ranks: int) -> None:
    Path("a.txt").write_text(tables("3.50", command=above))
    (row,) = json.loads(cli("show", "a.txt", "--format", "json", "--all").out)["rows"]
    assert row["ranks"] == ranks


@pytest.mark.usefixtures("here")
def test_a_command_above_captions_holds_for_all_their_tables(cli: Cli) -> None:
    command = "mpirun -np 16 ./osu_allreduce\n"
    Path("a.txt").write_text(f"{command}\nBefore:\n{tables('3.50')}\nAfter:\n{tables('2.50')}")
    rows = json.loads(cli("show", "a.txt", "--format", "json", "--all").out)["rows"]
    assert [(row["label"], row["ranks"]) for row in rows] == [("Before", 16), ("After", 16)]
