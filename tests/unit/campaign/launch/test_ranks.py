"""Ranks below us: which there are, and whether one of them is dead, by real processes of a job."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch.leftovers import environment_of
from mpigauge.campaign.launch.process import RunningJob
from mpigauge.campaign.launch.process_tree import process
from mpigauge.campaign.launch.ranks import LocalRanks
from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEADLINE_S = 30.0
"""For any machine; no test waits for it unless it fails."""

RANK = """
echo here
{then}
"""
WAITS = 'read never <> "${0%/*}/never"'
"""What a rank does that starts no process, which would have its name for a moment."""

LAUNCHER = """
{program} &
{more}
wait
sleep 60
"""


def job_of(folder: Path, then: str, more: str = "") -> tuple[RunningJob, str]:
    """A job whose launcher stays, whatever its rank does after its first line; and the rank's program."""
    os.mkfifo(folder / "never")
    program = write_program(folder / "mpigauge-kernel", RANK.format(then=then), "#!/bin/sh\n")
    launcher = LAUNCHER.format(program=program, more=more.format(program=program))
    return RunningJob([str(write_program(folder / "launcher", launcher, "#!/bin/sh\n"))], {}), str(program)


def soon(question: Callable[[], str]) -> str:
    """The first answer that is not empty; that is asked for until the deadline."""
    until = time.monotonic() + DEADLINE_S
    while not (answer := question()) and time.monotonic() < until:
        time.sleep(0.02)
    return answer


def test_a_killed_rank_is_noticed_while_its_launcher_stays(tmp_path: Path) -> None:
    job, program = job_of(tmp_path, WAITS)
    with job as running:
        ranks = LocalRanks(program, running.processes)
        next(running.lines(lambda: DEADLINE_S))
        assert ranks.death() == ""
        (pid,) = (int(pid) for pid in running.processes() if name_of(pid) == "mpigauge-kernel")
        os.kill(pid, signal.SIGKILL)
        assert str(pid) in soon(ranks.death)


@pytest.mark.parametrize(
    ("then", "word"),
    [("kill -9 $$", "was ended by SIGKILL"), ("exit 3", "status 3")],
    ids=["killed", "ended"],
)
def test_how_a_rank_ended_is_known_until_its_launcher_reaps_it(tmp_path: Path, then: str, word: str) -> None:
    text = "import subprocess, time; child = subprocess.Popen([{0!r}]); time.sleep(60)"
    program = write_program(tmp_path / "mpigauge-kernel", RANK.format(then=then), "#!/bin/sh\n")
    with RunningJob([sys.executable, "-ISc", text.format(str(program))], {}) as running:
        assert word in soon(LocalRanks(str(program), running.processes).death)


def test_a_rank_that_is_stopped_is_told_with_its_number_and_host(tmp_path: Path) -> None:
    """As by a debugger; one of a launcher that nobody knows has no number."""
    job, program = job_of(tmp_path, WAITS, more="PMI_RANK=1 {program} &")
    with job as running:
        ranks, lines = LocalRanks(program, running.processes), running.lines(lambda: DEADLINE_S)
        assert [next(lines), next(lines)] == [b"here", b"here"]
        assert ranks.stopped(["h1", "h2"]) == ""
        pids = {rank_of(pid): pid for pid in running.processes() if name_of(pid) == "mpigauge-kernel"}
        os.kill(pids["1"], signal.SIGSTOP)
        assert soon(lambda: ranks.stopped(["h1", "h2"])) == f"process {pids['1']}, rank 1 on h2, is stopped"
        assert ranks.stopped() == f"process {pids['1']}, rank 1, is stopped"
        os.kill(pids[""], signal.SIGSTOP)
        assert soon(lambda: (told := ranks.stopped()) * ("1 other" in told)).endswith(", and 1 other")


def test_a_child_of_a_rank_may_end(tmp_path: Path) -> None:
    """A copy of itself, as of a library that starts a helper; and another program."""
    job, program = job_of(tmp_path, "(exit 0) & wait; true; echo then; sleep 60")
    with job as running:
        ranks = LocalRanks(program, running.processes)
        lines = running.lines(lambda: DEADLINE_S)
        assert [next(lines), next(lines)] == [b"here", b"then"]
        assert ranks.death() == ""


def test_foreign_ranks_and_other_programs_are_not_watched(tmp_path: Path) -> None:
    job, _ = job_of(tmp_path, "exit 3")
    with job as running:
        next(running.lines(lambda: DEADLINE_S))
        assert LocalRanks("/elsewhere/other-program", running.processes).death() == ""


def name_of(pid: int) -> str:
    """Of a process; empty if it is gone."""
    found = process(pid)
    return found.name if found is not None and not found.is_dead else ""


def rank_of(pid: int) -> str:
    """The number that a process was told; empty if none."""
    words = environment_of(str(pid))
    return next((word[9:].decode() for word in words if word.startswith(b"PMI_RANK=")), "")
