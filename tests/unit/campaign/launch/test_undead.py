"""Processes that no signal ends, as those that wait for a disk or a card: a job names them and goes on."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from typing import TYPE_CHECKING

from mpigauge.campaign.launch import process
from mpigauge.campaign.launch.launchers import Ending
from mpigauge.campaign.launch.process import RunningJob

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

WAIT_S = 0.2
DEAF = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("here", flush=True)
time.sleep(60)
"""


def test_a_job_whose_processes_cannot_be_ended_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "KILL_WAIT_S", WAIT_S)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kill, asked = os.kill, list[tuple[int, int]]()
    job = RunningJob([sys.executable, "-ISc", DEAF], {}, ending=Ending(patience_s=0.05))
    with job:
        assert next(job.lines(lambda: 20.0)) == b"here"
        with monkeypatch.context() as patch:
            patch.setattr(os, "kill", lambda pid, number: asked.append((pid, number)))
            job.stop()
        (pid,) = {pid for pid, number in asked if number == signal.SIGKILL}
        (named,) = job.undead
        assert named.startswith(f"{pid} (python")
        assert ", state S)" in named
        kill(pid, 0)  # it lives
    # Once a signal ends it again, nobody is left to be named.
    assert job.undead == ()


def test_a_job_that_ends_names_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with RunningJob([sys.executable, "-ISc", DEAF], {}, ending=Ending(patience_s=0.05)) as job:
        assert next(job.lines(lambda: 20.0)) == b"here"
    assert job.undead == ()
