"""A campaign that is stopped for a while, by Ctrl-Z or from outside: nothing is lost, nothing charged."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch.process_tree import descendants, process
from mpigauge.result.reader import load
from tests.needs import program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fakes.mpi import FakeMpi

WAIT_S = 120.0
STOP_S = 2.5
"""Longer than a wait that is late by chance."""

VISIT_S = 0.05
LAUNCHES = 2
RESULT = Path("r.jsonl")
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def until(holds: Callable[[], bool]) -> None:
    """Something has come."""
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def words(openmpi: FakeMpi) -> list[str]:
    """A campaign of some seconds."""
    run = [
        "/usr/bin/env",
        f"FAKE_NAP_S={VISIT_S}",
        sys.executable,
        "-m",
        "mpigauge",
        "run",
        "pingpong",
        "--mpi",
        str(openmpi.mpicc),
    ]
    return [*run, "--sizes", "8:256", "--launches", str(LAUNCHES), "--budget", "60s", "-o", str(RESULT)]


def visits() -> int:
    """So many are in the file."""
    return RESULT.read_bytes().count(b'"type":"visit"') if RESULT.exists() else 0


def job_of(pid: int) -> set[int]:
    """Its launcher and its ranks."""
    return {one for one in descendants(pid) if not _is_janitor(one)}


def _is_janitor(pid: int) -> bool:
    try:
        return b"leftovers.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True


def are_stopped(*pids: int) -> bool:
    """All of them, if there are any."""
    return bool(pids) and all((found := process(pid)) is not None and found.state == "T" for pid in pids)


@pytest.fixture
def begun() -> float:
    """A moment before there is a campaign."""
    return time.monotonic()


@pytest.fixture
def campaign(openmpi: FakeMpi, machine: Path, begun: float) -> Iterator[subprocess.Popen[str]]:
    """One in a process group of its own, as a shell makes them, that has begun to measure."""
    assert machine.exists()
    pipe = subprocess.PIPE
    with subprocess.Popen(words(openmpi), stdout=pipe, stderr=pipe, text=True, process_group=0) as started:
        until(lambda: visits() > 2)
        yield started
        if started.poll() is None:
            os.kill(started.pid, signal.SIGCONT)
            started.kill()


def check_nothing_was_lost_or_charged(begun: float, stopped_s: float) -> None:
    """As if there had been no stop."""
    result = load(RESULT)
    (end,) = result.ends
    assert end.reason == "launches"
    assert not result.failures
    assert [launch.part for launch in result.launches] == [1] * LAUNCHES
    assert end.elapsed_s < time.monotonic() - begun - stopped_s


def test_ctrl_z_stops_the_job_too(campaign: subprocess.Popen[str], begun: float) -> None:
    os.killpg(campaign.pid, signal.SIGTSTP)
    until(lambda: are_stopped(campaign.pid))
    until(lambda: are_stopped(*job_of(campaign.pid)))
    before = visits()
    time.sleep(STOP_S)
    assert visits() == before
    os.killpg(campaign.pid, signal.SIGCONT)
    _, said = campaign.communicate(timeout=WAIT_S)
    assert campaign.returncode == 0, said
    assert re.search(r"^was stopped for [\d.]+ s, which the budget does not count$", said, re.MULTILINE)
    check_nothing_was_lost_or_charged(begun, STOP_S)


def test_who_is_stopped_alone_notices_it_afterwards(campaign: subprocess.Popen[str], begun: float) -> None:
    """By SIGSTOP, which nobody can handle: the job goes on as far as it can."""
    os.kill(campaign.pid, signal.SIGSTOP)
    until(lambda: are_stopped(campaign.pid))
    time.sleep(STOP_S)
    os.kill(campaign.pid, signal.SIGCONT)
    _, said = campaign.communicate(timeout=WAIT_S)
    assert campaign.returncode == 0, said
    check_nothing_was_lost_or_charged(begun, STOP_S)


def test_who_is_killed_while_it_is_stopped_takes_its_job_along(campaign: subprocess.Popen[str]) -> None:
    os.killpg(campaign.pid, signal.SIGTSTP)
    until(lambda: are_stopped(campaign.pid))
    job = job_of(campaign.pid)
    assert job
    campaign.kill()
    until(lambda: not any((found := process(pid)) is not None and not found.is_dead for pid in job))


# ---- In a shell ----------------------------------------------------------------------------------


class Shell:
    """One with job control, on a terminal."""

    def __init__(self) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.environ.update({"PS1": "", "TERM": "xterm", "COLUMNS": "80", "LINES": "30"})
            os.execv(program("bash"), ["bash", "--norc", "--noprofile", "-i"])  # noqa: S606
        os.set_blocking(self._terminal, False)
        self.said = ""

    def type(self, text: str) -> None:
        """Keys are pressed."""
        os.write(self._terminal, text.encode())

    def has_said(self, pattern: str) -> bool:
        """Whether it stands on the terminal by now."""
        with contextlib.suppress(OSError):
            self.said += os.read(self._terminal, 1 << 20).decode(errors="replace")
        return re.search(pattern, CODES.sub("", self.said).replace("\r", ""), re.MULTILINE) is not None

    def forget(self) -> None:
        """What has been said until now does not count."""
        self.has_said("")
        self.said = ""

    def end(self) -> None:
        """The terminal is closed."""
        os.close(self._terminal)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


@pytest.fixture
def shell(machine: Path) -> Iterator[Shell]:
    """A shell in the folder of the test."""
    assert machine.exists()
    one = Shell()
    yield one
    one.end()


@pytest.mark.needs("bash")
def test_a_shell_has_it_go_on_in_the_background_and_in_front(shell: Shell, openmpi: FakeMpi) -> None:
    begun = time.monotonic()
    shell.type(" ".join(words(openmpi)) + "; echo status=$?\n")
    until(lambda: shell.has_said("left$") and visits() > 2)
    shell.type("\x1a")
    until(lambda: shell.has_said(r"^\[1\]\+ +Stopped"))
    before = visits()
    time.sleep(STOP_S)
    assert visits() == before
    shell.forget()
    shell.type("bg\n")
    until(lambda: visits() > before + 2)
    assert not shell.has_said("at most")  # the terminal is the shell's
    shell.type("fg\n")
    until(lambda: shell.has_said("at most .* left$"))
    until(lambda: shell.has_said("^result: r.jsonl$"))
    check_nothing_was_lost_or_charged(begun, STOP_S)
