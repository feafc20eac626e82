"""What goes wrong in a job and around it costs no more than it must."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import mpigauge
from mpigauge import errors
from mpigauge.result.reader import Result, load
from mpigauge.rows.rows import rows as rows_in
from tests.cli.journey import (
    EVERY_VISIT,
    MEASURE,
    measured_visits,
    rows_of,
    states,
)
from tests.fakes.kernel import EAGER_LIMIT_BYTES
from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from tests.conftest import Cli, Install
    from tests.fakes.mpi import FakeMpi


# ---- What goes wrong in the job ------------------------------------------------------------------


@pytest.mark.thorough
def test_a_crash_costs_one_cell(cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CRASH", "pingpong:64")
    rows = rows_of(cli("run", *MEASURE, "--format", "json", "-o", "r.jsonl"), 1)
    assert states(rows) == {8: "ok", 64: "failed"}
    assert rows["pingpong", "standard", 8, 2, "openmpi"]["launches"] == 3
    assert rows["null", "standard", 0, 2, "openmpi"]["launches"] == 3
    result = load(Path("r.jsonl"))
    # Given up after its second launch; each crash is followed by another part of the same launch.
    assert [(failure.launch, failure.kind) for failure in result.failures] == [(1, "crash"), (2, "crash")]
    assert [(one.number, one.part) for one in result.launches] == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]
    assert all("these are my last words" in failure.words for failure in result.failures)


@pytest.mark.parametrize("works", [True, False], ids=["later it works", "its visits crash, too"])
def test_a_warm_up_that_ends_the_job_costs_its_size_and_not_the_campaign(
    works: bool, cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the first launch is started again: the others know."""
    monkeypatch.setenv("FAKE_WARM_UP", "64")
    if not works:
        monkeypatch.setenv("FAKE_CRASH", "pingpong:64")
    done = cli("run", *MEASURE, "--format", "json", "-o", "r.jsonl")
    assert states(rows_of(done, int(not works))) == {8: "ok", 64: "ok" if works else "failed"}
    assert "warm-up" in done.err
    result = load(Path("r.jsonl"))
    assert [failure.launch for failure in result.failures if failure.cell is None] == [1]
    assert [one.warmup_bytes for one in result.launches[:2]] == [0, 1]
    assert {one.warmup_bytes for one in result.launches[1:]} == {1}
    assert "warm-up with at most 1 B in " in cli("show", "--all", "r.jsonl").out
    lines = Path("r.jsonl").read_bytes().splitlines(keepends=True)
    second = next(number for number, line in enumerate(lines) if b'"warmup_bytes":1' in line)
    Path("cut.jsonl").write_bytes(b"".join(lines[: second + 1]))
    assert cli("resume", "cut.jsonl", "-q").status == int(not works)
    assert [failure.launch for failure in load(Path("cut.jsonl")).failures if failure.cell is None] == [1]


@pytest.mark.thorough
def test_the_reason_of_a_crash_is_what_the_job_said(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CRASH", "pingpong:64")
    rows = rows_of(cli("run", *MEASURE, "--format", "json"), 1)
    assert rows["pingpong", "standard", 64, 2, "openmpi"]["reason"].endswith("these are my last words")


@pytest.mark.thorough
def test_a_crash_of_any_visit_leaves_the_rest_of_the_launch(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**EVERY_VISIT, "FAKE_CRASH_AT": "5"}.items():
        monkeypatch.setenv(name, value)
    words = ("--sizes", "8,64", "--launches", "1", "--seed", "7", "-o", "r.jsonl")
    assert cli("run", "pingpong", *words).status in {0, 1}
    result = load(Path("r.jsonl"))
    (failure,) = result.failures
    assert failure.id == 5
    others = [visit.id for visit in result.visits if visit.cell != failure.cell]
    assert len(others) == len(set(others)) == 16
    assert {visit.id for visit in result.visits if visit.cell == failure.cell} <= set(range(5))


@pytest.mark.thorough
def test_a_hang_costs_one_cell(cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpigauge.campaign.silence.MIN_SILENCE_S", 1.5)
    monkeypatch.setenv("FAKE_HANG", "pingpong:64")
    words = ("--sizes", "8,64", "--launches", "1", "-o", "r.jsonl", "--format", "json")
    rows = rows_of(cli("run", "pingpong", *words), 1)
    assert states(rows) == {8: "ok", 64: "timeout"}
    (failure,) = load(Path("r.jsonl")).failures
    assert failure.kind == "timeout"
    assert re.fullmatch("mpigauge: the job has said nothing for [0-9.]+ s", failure.words)


def test_corrupt_payload_is_never_averaged(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CORRUPT", "pingpong:64")
    rows = rows_of(cli("run", *MEASURE, "--format", "json", "-o", "r.jsonl"), 1)
    row = rows["pingpong", "standard", 64, 2, "openmpi"]
    assert (row["status"], row["time_s"], row["samples"]) == ("corrupt", None, 0)
    assert "0xa5" in row["reason"]
    assert states(rows)[8] == "ok"
    assert any(visit.corrupt and visit.samples_ns for visit in load(Path("r.jsonl")).visits)


@pytest.mark.thorough
def test_an_exit_with_0_before_the_end_is_a_failure(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_QUIT", "pingpong:64")
    rows = rows_of(cli("run", *MEASURE, "--format", "json", "-o", "r.jsonl"), 1)
    assert states(rows) == {8: "ok", 64: "failed"}
    assert {(failure.kind, failure.status) for failure in load(Path("r.jsonl")).failures} == {("crash", 0)}


def test_what_the_kernel_refuses_is_not_tried_again(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_REFUSE", "pingpong:64")
    rows = rows_of(cli("run", *MEASURE, "--format", "json", "-o", "r.jsonl"), 1)
    assert states(rows) == {8: "ok", 64: "failed"}
    assert "no memory" in rows["pingpong", "standard", 64, 2, "openmpi"]["reason"]
    assert [failure.kind for failure in load(Path("r.jsonl")).failures] == ["refused"]


def test_a_blocking_exchange_above_the_eager_limit_is_blocked(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("--mode", "blocking", "--sizes", "8,8KiB", "--launches", "2", "--format", "json")
    rows = rows_of(cli("run", "exchange", *words))
    assert states(rows, "exchange") == {8: "ok", 8192: "blocked"}
    assert f"{EAGER_LIMIT_BYTES} B" in rows["exchange", "blocking", 8192, 2, "openmpi"]["reason"]


@pytest.mark.parametrize(("seed", "floor"), [("1", "ok"), ("2", "skipped")])
def test_a_deadlock_foreseen_is_no_measurement(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, seed: str, floor: str
) -> None:
    """Where looking for the limit takes all the time that there is, the cells after it have none.

    With some seeds the floor of the instrument comes before it, which nobody asks for.
    """
    monkeypatch.setattr("mpigauge.campaign.budget.Budget.deadline_s", lambda *_: 1e-3)
    monkeypatch.setenv("FAKE_PROBE_NS", "1000000000")
    sizes = ",".join(f"{size}KiB" for size in range(8, 40))
    done = cli("run", "exchange", "--mode", "blocking", "--sizes", sizes, "--seed", seed, "-o", "r.jsonl")
    rows = rows_in(load(Path("r.jsonl")))
    assert {row.status for row in rows if row.cell.pattern == "exchange"} == {"skipped", "blocked"}
    assert {row.status for row in rows if row.cell.pattern == "null"} == {floor}
    assert done.status == 4
    assert "r.jsonl: nothing was measured: there was no time for it within the budget" in done.err


# ---- What fails before its first number ----------------------------------------------------------


def test_a_start_that_fails_says_why_and_what_helps(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_DEAD", "sh: 1: srun: not found")
    monkeypatch.setenv("OMPI_MCA_btl", "openib,self")
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert done.status == 4
    assert (
        "r.jsonl: no launch came as far as its first number: mpigauge-kernel: rank 0: sh: 1: srun: not found"
        in done.err
    )
    assert "unset what begins with SLURM_" in done.err
    # What doctor knows and may be why:
    assert "OMPI_MCA_btl=openib,self" in done.err
    # Each start failed alike, which is said once, with a count.
    assert done.err.count("failed (crash)") == 1
    assert "2 more times" in done.err


def test_a_script_is_told_why_a_start_failed(
    openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FAKE_DEAD", "prterun has detected an attempt to run as root.")
    with pytest.raises(errors.JobError, match="attempt to run as root") as caught:
        mpigauge.run("pingpong", sizes="8", budget="1s", output=tmp_path / "r.jsonl")
    assert "OMPI_ALLOW_RUN_AS_ROOT" in caught.value.hint


def test_a_file_that_looks_like_an_option_is_named_with_its_folder(cli: Cli) -> None:
    Path("-x.jsonl").touch()
    done = cli("resume", "-x.jsonl")
    assert done.status == 2
    assert "write ./-x.jsonl" in done.err


def test_what_ended_as_failed_is_no_success_though_some_of_it_is_measured(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that worked and then begins no more: fewer launches than were asked for."""
    monkeypatch.setattr("mpigauge.campaign.loop.SILENT_STARTS_OF_WORKING", 2)
    monkeypatch.setattr(
        "mpigauge.cli.screen.progress.ProgressLines.launch_ends",
        lambda *_: monkeypatch.setenv("FAKE_DEAD", "gone"),
    )
    done = cli("run", "pingpong", "--sizes", "8", "--launches", "4", "-o", "r.jsonl")
    assert load(Path("r.jsonl")).ends[-1].reason == "failed"
    assert done.status == 1
    assert "only 1 of 4 launches" in done.err


def test_a_job_that_does_not_begin_is_no_success_beside_one_that_does(
    cli: Cli, openmpi: FakeMpi, fake_mpi: Install
) -> None:
    broken = fake_mpi("mpich", "5.0.2")
    write_program(broken.bin / "mpiexec", "import sys; sys.exit('there is no launcher today')")
    words = ("--mpi", str(openmpi.prefix), "--mpi", str(broken.prefix), "--budget", "3s", "-o", "r.jsonl")
    done = cli("run", "pingpong", "--sizes", "8", *words, "--format", "json")
    rows = rows_of(done, 1)
    assert rows["pingpong", "standard", 8, 2, "openmpi"]["status"] == "ok"
    assert "there is no launcher today" in rows["pingpong", "standard", 8, 2, "mpich"]["reason"]


def test_deadlocks_alone_are_an_answer(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", "exchange", "--mode", "blocking", "--sizes", "8KiB", "--format", "json")
    assert states(rows_of(done), "exchange") == {8192: "blocked"}


@pytest.mark.parametrize(
    ("name", "value", "sentence", "remedy"),
    [
        ("FAKE_SINGLETONS", "1", "2 programs of 1 rank", "--mpi"),
        ("FAKE_LIBRARY", "MPICH Version:      4.0.2\nMPICH", "ran on MPICH 4.0.2", "LD_LIBRARY_PATH"),
        ("FAKE_LIBRARY", "Open MPI v4.1.4, package: Debian", "ran on Open MPI 4.1.4", "LD_LIBRARY_PATH"),
    ],
)
def test_a_launcher_of_another_library_is_refused_with_the_remedy(
    cli: Cli,
    openmpi: FakeMpi,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    sentence: str,
    remedy: str,
) -> None:
    monkeypatch.setenv(name, value)
    done = cli("run", *MEASURE)
    assert (done.status, done.out) == (3, "")
    assert sentence in done.err
    assert remedy in done.err.partition("hint: ")[2]


def test_launches_that_never_begin_end_the_campaign(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_DEAD", "cannot open shared object file")
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert (done.status, done.out) == (4, "")
    assert "r.jsonl" in done.err
    result = load(Path("r.jsonl"))
    assert result.ends[-1].reason == "failed"
    assert all("cannot open shared object file" in failure.words for failure in result.failures)
    shown = cli("show", "r.jsonl", "--format", "json")
    assert all("cannot open shared" in row["reason"] for row in rows_of(shown).values())


def test_a_library_that_does_not_begin_does_not_end_the_other(
    cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_mpi("openmpi", "5.0.11")
    broken = fake_mpi("mpich", "5.0.2")
    (broken.bin / "mpiexec").write_text("#!/nonexistent/python\n", encoding="ascii")
    done = cli("run", *MEASURE, "--mpi", "mpich", "--mpi", "openmpi")
    assert done.status == 3
    assert "mpiexec: cannot be started" in done.err


# ---- What goes wrong around it -------------------------------------------------------------------


def test_an_existing_file_is_refused_untouched(cli: Cli, openmpi: FakeMpi) -> None:
    Path("r.jsonl").write_text("mine\n", encoding="utf-8")
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert done.status == 2
    assert "exists already" in done.err
    assert Path("r.jsonl").read_text(encoding="utf-8") == "mine\n"


@pytest.mark.parametrize("output", ["file/r.jsonl"])
def test_an_output_that_cannot_be_written_is_told_before_measuring(
    cli: Cli, openmpi: FakeMpi, output: str
) -> None:
    Path("file").touch()
    done = cli("run", *MEASURE, "-o", output)
    assert (done.status, done.out) == (3, "")
    assert "cannot be written" in done.err
    assert "launch 1" not in done.err


def test_a_full_disk_keeps_every_whole_line(
    cli: Cli, openmpi: FakeMpi, uninterrupted: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, limits[1]))
    try:
        done = cli("run", *MEASURE, "-o", "r.jsonl")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.status == 3
    assert "no file may grow so large here" in done.err
    assert "mpigauge resume r.jsonl" in done.err
    result = load(Path("r.jsonl"))
    assert result.visits
    assert not result.torn
    assert cli("resume", "r.jsonl").status == 0
    assert measured_visits(load(Path("r.jsonl"))) == measured_visits(uninterrupted)


@pytest.mark.thorough
def test_a_reader_who_has_had_enough_is_no_error(measured: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "mpigauge", "show", str(measured)],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, b"")


# ---- Nobody listens any more ---------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("gone", ["stdout", "stderr", "both"])
def test_a_campaign_outlives_who_reads_it(openmpi: FakeMpi, machine: Path, gone: str) -> None:
    """As behind `| head -1`, or when a terminal is closed; the status is that of the campaign."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        out, err = (closed if gone in (name, "both") else subprocess.PIPE for name in ("stdout", "stderr"))
        command = [sys.executable, "-m", "mpigauge", "run", *MEASURE, "-o", "r.jsonl"]
        done = subprocess.run(command, check=False, timeout=60, stdout=out, stderr=err)
    assert done.returncode == 0
    assert load(Path("r.jsonl")).ends[-1].reason == "launches"
    if gone == "stdout":
        assert b"result: r.jsonl" in done.stderr
    if gone == "stderr":
        assert done.stdout.count(b"\n") > 5


@pytest.mark.thorough
def test_what_failed_is_said_by_the_status_although_nobody_reads(
    openmpi: FakeMpi, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CORRUPT", "pingpong:64")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        command = [sys.executable, "-m", "mpigauge", "run", *MEASURE, "-o", "r.jsonl"]
        done = subprocess.run(command, check=False, timeout=60, stdout=closed, stderr=closed)
    assert done.returncode == errors.EXIT_CHECK_FAILED


@pytest.mark.parametrize("words", [("doctor",), ("run", *MEASURE), ("show",)])
def test_a_current_folder_that_is_gone_is_told(
    cli: Cli, openmpi: FakeMpi, machine: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "gone").mkdir()
    monkeypatch.chdir(machine / "gone")
    (machine / "gone").rmdir()
    done = cli(*words)
    assert done.status != errors.EXIT_FAULT
    assert "Traceback" not in done.err
    if words != ("show",):
        assert done.status == errors.EXIT_ENVIRONMENT
        assert "the current folder has been removed" in done.err
    monkeypatch.chdir(machine)


def test_a_module_that_wants_out_is_heard(machine: Path) -> None:
    text = "import sys\nfrom mpigauge.cli import main\nimport click\n"
    text += "click.Group.main = lambda *a, **k: sys.exit('mine')\nmain(['show', 'r'])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "mine\n")


@pytest.mark.thorough
@pytest.mark.parametrize("words", [("show",), ("show", "--all"), ("list", "patterns")])
def test_output_that_has_no_space_is_said_in_words(measured: Path, words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "mpigauge", *words, *([str(measured)] if words[0] == "show" else [])]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == errors.EXIT_ENVIRONMENT
    assert done.stderr.startswith("mpigauge: standard output: cannot be written: No space left on device")
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
def test_a_table_that_has_no_space_is_no_success(openmpi: FakeMpi, machine: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "mpigauge", "run", *MEASURE, "-o", "r.jsonl"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == errors.EXIT_ENVIRONMENT
    assert load(Path("r.jsonl")).ends[-1].reason == "launches"
    assert "result: r.jsonl, which has all that was measured\n" in done.stderr


def test_a_start_is_waited_for_as_long_as_patience_says(
    cli: Cli, openmpi: FakeMpi, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = write_program(machine / "sleepy", "exec /bin/sleep 60", "#!/bin/sh\n")
    done = cli(*MEASURE_ONCE, "--patience", "1s", "--mpiexec", launcher, "-o", "r.jsonl")
    assert done.status == errors.EXIT_NOTHING_MEASURED
    assert "--patience gives a start more time" in done.err
    result = load(Path("r.jsonl"))
    assert result.campaign.plan.patience_s == 1
    assert {failure.kind for failure in result.failures} == {"timeout"}


def test_a_job_that_asks_for_its_plan_without_end_has_not_begun(
    cli: Cli, openmpi: FakeMpi, machine: Path
) -> None:
    asking = "while echo '{\"ready\":1}'; do /bin/sleep 0.1; done"
    launcher = write_program(machine / "asking", asking, "#!/bin/sh\n")
    done = cli(*MEASURE_ONCE, "--patience", "1s", "--mpiexec", launcher, "-o", "r.jsonl")
    assert done.status == errors.EXIT_NOTHING_MEASURED
    assert {failure.kind for failure in load(Path("r.jsonl")).failures} == {"timeout"}


@pytest.mark.parametrize("word", ["0s", "2 days", "nonsense"])
def test_a_patience_that_cannot_be_is_refused(cli: Cli, openmpi: FakeMpi, word: str) -> None:
    assert cli(*MEASURE_ONCE, "--patience", word).status == errors.EXIT_USAGE


MEASURE_ONCE = ("run", "pingpong", "--sizes", "8", "--launches", "1", "-q")


def test_what_no_launch_has_measured_is_told_with_why_and_not_as_a_lack_of_time(
    cli: Cli, openmpi: FakeMpi, tmp_path: Path
) -> None:
    lies = write_program(tmp_path / "lies", "print('mpiexec: error: there is nothing')")
    done = cli("run", *MEASURE, "--mpiexec", lies, "-o", "r.jsonl")
    assert done.status == errors.EXIT_NOTHING_MEASURED
    why = "the launch failed: mpiexec: error: there is nothing"
    doubts = [line for line in cli("show", "r.jsonl").out.splitlines() if line.startswith("! ")]
    assert doubts[0] == f"! 2 of 2 cells not started: {why}"
    assert not [line for line in doubts if "--budget" in line]
    assert "raise --budget" not in cli("show", "--all", "r.jsonl").out
    assert f"nothing follows, since nothing was measured: {why}" in cli("explain", "r.jsonl").out


@pytest.mark.parametrize("package", ["scipy.special", "scipy.cluster.hierarchy"])
def test_what_could_not_be_shown_is_not_measured(
    cli: Cli, openmpi: FakeMpi, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError):
        cli("run", *MEASURE, "-o", "r.jsonl")
    assert not Path("r.jsonl").exists()
