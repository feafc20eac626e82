"""Programs are searched for in the absolute folders of PATH, and none outlives its time or us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mpigauge.campaign.launch.process import RunningJob
from mpigauge.errors import EnvironmentLacksError
from mpigauge.programs import OUTPUT_MOST, Ended, at_once, end_of, run, which, with_program_path
from mpigauge.vocabulary import GAP
from tests.fakes.mpi import write_program

RELATIVE = ("", ".", "./", "bin", "bin/..", "~/bin")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program in it and below it, which is where we are."""
    folder = tmp_path / "here"
    (folder / "bin").mkdir(parents=True)
    for place in (folder, folder / "bin"):
        write_program(place / "tool", "exit 0\n", "#!/bin/sh\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("word", RELATIVE)
def test_a_word_of_path_that_is_not_absolute_does_not_count(
    monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setenv("PATH", word)
    assert which("tool") is None
    assert which("tool", f"{word}{os.pathsep}/nonsense") is None
    with pytest.raises(FileNotFoundError, match="tool"):
        with_program_path(["tool", "--version"], {"PATH": word})


def test_an_absolute_folder_counts_also_behind_others(here: Path) -> None:
    path = os.pathsep.join((*RELATIVE, str(here / "bin")))
    assert which("tool", path) == str(here / "bin" / "tool")
    assert with_program_path(["tool", "-v"], {"PATH": path}) == [str(here / "bin" / "tool"), "-v"]


def test_a_path_that_somebody_has_written_is_taken_as_it_is() -> None:
    assert which("./tool", "/nonsense") == "./tool"
    assert with_program_path(["bin/tool", "-v"], {}) == ["bin/tool", "-v"]
    assert with_program_path(["./absent"], {}) == ["./absent"]


def test_a_launcher_is_not_taken_from_the_folder_that_we_are_in() -> None:
    with (
        pytest.raises(EnvironmentLacksError, match="tool: cannot be started"),
        RunningJob(["tool"], {"PATH": "."}),
    ):
        pass


# ---- Running them --------------------------------------------------------------------------------


def shell(script: str, timeout_s: float | None = 60) -> Ended:
    """What a script of the shell ends with."""
    return run(["/bin/sh", "-c", script], {"PATH": "/usr/bin:/bin"}, timeout_s)


def test_status_and_both_outputs_are_told_apart() -> None:
    assert shell("echo out; echo err >&2; exit 3") == Ended(3, "out\n", "err\n")
    assert shell("kill -9 $$").status == -9
    assert shell(r"printf '\377'").out == "\N{REPLACEMENT CHARACTER}"
    with pytest.raises(FileNotFoundError):
        run(["/nonsense"], {})


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "status 0"),
        (-9, "SIGKILL: Killed"),
        (-signal.SIGRTMIN - 2, f"signal {signal.SIGRTMIN + 2}: Real-time signal 2"),
        (-32, "signal 32"),  # of the C library, without a description
        (-(2**40), f"status {-(2**40)}"),  # of a result that anybody has written
    ],
)
def test_a_signal_is_told_by_its_name(status: int, words: str) -> None:
    assert end_of(status) == words


def test_of_endless_output_the_begin_and_the_end_are_kept() -> None:
    done = shell(f"printf begin; head -c {3 * OUTPUT_MOST} /dev/zero; printf end")
    assert OUTPUT_MOST // 2 < len(done.out) <= OUTPUT_MOST * 1.5 + len(GAP) + 2
    assert (done.out[:5], done.out[-3:]) == ("begin", "end")
    assert f"\n{GAP}\n" in done.out


LEAVES = "sleep 1000 & echo $! > pid; wait"
"""A wrapper that waits for its compiler."""

RUNS = """
import os, sys
from mpigauge.programs import at_once, run
command = ["/bin/sh", "-c", sys.argv[1]]
{0}
"""
ALONE = "run(command, os.environ)"
IN_THREADS = "at_once(lambda _: run(command, os.environ), range(1))"


def gone(pid: int) -> bool:
    """Whether a process ends within a minute."""
    for _ in range(600):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.1)
    return False


def test_what_does_not_end_in_time_ends_with_all_that_it_has_started(here: Path) -> None:
    with pytest.raises(TimeoutError):
        shell(LEAVES, 0.5)
    assert gone(int((here / "pid").read_text()))


def test_what_keeps_the_output_of_another_open_ends_with_the_time(here: Path) -> None:
    with pytest.raises(TimeoutError):
        shell("sleep 1000 & echo $! > pid", 0.5)
    assert gone(int((here / "pid").read_text()))


def test_what_closes_its_output_and_goes_on_ends_with_the_time(here: Path) -> None:
    with pytest.raises(TimeoutError, match="has not ended after 1 s"):
        shell("echo $$ > pid; exec sleep 1000 > /dev/null 2>&1", 1.0)
    assert gone(int((here / "pid").read_text()))


@pytest.mark.parametrize("how", [ALONE, IN_THREADS])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_what_is_run_and_then_us(here: Path, how: str, number: signal.Signals) -> None:
    pid = here / "pid"
    command = [sys.executable, "-c", RUNS.format(how), LEAVES]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as ours:
        while not (pid.exists() and pid.read_text().strip()):
            assert ours.poll() is None
            time.sleep(0.01)
        ours.send_signal(number)
        assert ours.wait(60) == -number
    assert gone(int(pid.read_text()))


WHILE_IT_STARTS = """
import os, sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from mpigauge.programs import at_once, run
submit = ThreadPoolExecutor.submit
def interrupted(*words):
    made = submit(*words)
    while not (Path("pid").exists() and Path("pid").read_text().strip()):
        time.sleep(0.01)
    os.kill(os.getpid(), 1)
    return made
ThreadPoolExecutor.submit = interrupted
at_once(lambda _: run(["/bin/sh", "-c", sys.argv[1]], os.environ), range(1))
"""


def test_a_signal_also_ends_what_a_thread_is_just_being_started_for(here: Path) -> None:
    command = [sys.executable, "-c", WHILE_IT_STARTS, LEAVES]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as ours:
        try:
            assert ours.wait(60) == -signal.SIGHUP
        finally:
            ours.kill()
    assert gone(int((here / "pid").read_text()))


def test_what_fails_in_one_thread_ends_the_others(here: Path) -> None:
    def fail(script: str) -> None:
        if shell(script).status:
            raise EnvironmentLacksError("it failed", "")

    with pytest.raises(EnvironmentLacksError, match="it failed"):
        at_once(fail, ["while [ ! -s pid ]; do sleep 0.01; done; exit 1", LEAVES])
    assert gone(int((here / "pid").read_text()))
    assert at_once(len, ["a", "bc"]) == [1, 2]
