"""The end of a job: nobody of it stays, nobody else is touched, and who is killed leaves nothing."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from mpigauge.campaign.launch import leftovers, process
from mpigauge.campaign.launch.process import RunningJob
from mpigauge.campaign.launch.process_tree import is_zombie
from tests.unit.campaign.launch.test_process import (
    PATIENCE_S,
    everything,
    forever,
    living,
    nobody_stays,
    program,
)

__all__ = ["nobody_stays"]

STUBBORN = "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
FAMILY = f"""
{STUBBORN}
for depth in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        break
os.write(1, f"{{{{os.getpid()}}}}\\n".encode())
{{}}
"""


@pytest.mark.parametrize(
    "then",
    [
        "time.sleep(60)",
        "time.sleep(60 if os.getsid(0) == os.getpid() else 0.1)",
        r"while True: os.write(1, b'x' * 1000 + b'\n')",
    ],
)
def test_children_in_sessions_of_their_own_that_ignore_signals_are_gone(then: str) -> None:
    before = living()
    with RunningJob(program(FAMILY.format(then)), {}, "") as job:
        lines = job.lines(forever)
        pids: set[int] = set()
        for line in itertools.islice(lines, 100_000):
            pids |= {int(line)} if line.isdigit() else set()
            if len(pids) == 4:
                break
        assert pids & living()  # some of one family end by themselves
    assert living() <= before
    assert all(is_zombie(pid) for pid in pids)


KILLS_ITS_CHILD = """
child = os.fork()
if child == 0:
    os.setsid(); os.write(1, f"{os.getpid()}\\n".encode()); time.sleep(60)
def end(*_):
    os.kill(child, signal.SIGKILL)
    os._exit(1)
signal.signal(signal.SIGINT, end); signal.signal(signal.SIGTERM, end)
time.sleep(60)
"""


def test_a_rank_in_a_session_of_its_own_that_its_launcher_kills_is_reaped() -> None:
    """Dead before anybody has looked for those that are left, it would be a zombie of ours for ever."""
    with RunningJob(program(KILLS_ITS_CHILD), {}) as job:
        pid = int(next(job.lines(forever)))
    assert not Path(f"/proc/{pid}").exists()


def test_what_a_launcher_leaves_behind_is_gone() -> None:
    child = "os.setsid(); print(os.getpid()); time.sleep(60)"
    text = f"{STUBBORN}\nif os.fork() == 0:\n    {child}\ntime.sleep(0.1)"
    with RunningJob(program(text), {}) as job:
        pid = int(next(job.lines(forever)))
        assert job.wait(PATIENCE_S) == 0
        assert not is_zombie(pid)
    assert is_zombie(pid)


def test_our_other_child_processes_are_left_alone() -> None:
    with subprocess.Popen(program("time.sleep(60)")) as other:
        everything("print('hello')")
        assert other.poll() is None
        other.kill()


def test_exit_statuses_of_other_children_are_not_reaped() -> None:
    """A child of a notebook that imports mpigauge."""
    with subprocess.Popen(program("sys.exit(7)")) as other:
        while not is_zombie(other.pid):
            time.sleep(0.01)
        everything("print('hello')")
        assert other.wait() == 7


SCRIPT_THAT_BECAME_US = """
if os.fork() == 0:
    time.sleep(0.2)
    if os.fork() == 0:
        os.setsid(); time.sleep(60)
    os._exit(0)
time.sleep(60)
"""


@pytest.mark.thorough
def test_only_processes_of_the_job_are_ended() -> None:
    """Not what others below us start meanwhile, even if its parent is gone, so that it becomes our child."""
    before = living()  # such as the browser of another test in this process
    with subprocess.Popen(program(SCRIPT_THAT_BECAME_US)):
        everything("time.sleep(0.5)")
        left = living() - before
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    assert len(left) == 2
    deadline = time.monotonic() + PATIENCE_S
    while living() & left and time.monotonic() < deadline:
        time.sleep(0.01)  # one of them is nobody's that we wait for: a killed process takes its time to die


def test_nothing_of_ours_runs_between_fork_and_exec() -> None:
    """Numpy has threads, and so has a notebook: a lock that one of them holds would never be opened."""
    for path in sorted(Path(process.__file__).parents[1].rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert "preexec_fn" not in text, path
        assert "os.fork" not in text or path.parent.name == "lab", path


HANGS_IN_A_FORK = """
import os, sys
from mpigauge.campaign.launch.process import *
os.register_at_fork(after_in_child=lambda: os.abort())
with RunningJob([sys.executable, "-ISc", "print('started')"], {}) as job:
    print(next(job.lines(lambda: 60)))
"""


def test_a_job_is_started_without_fork_hooks() -> None:
    """Libraries register what is to happen in a child, whatever their threads were at when it was forked."""
    done = subprocess.run(
        [sys.executable, "-c", HANGS_IN_A_FORK], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == "b'started'\n", done.stderr


UNSEEN = "Janitor.watch = lambda *_: time.sleep(60)"
"""As on a busy machine, where the launcher works before its parent has seen it start."""


@pytest.mark.parametrize("busy", ["", UNSEEN])
def test_a_job_dies_with_us_and_leaves_nothing(tmp_path: Path, busy: str) -> None:
    """Killed without warning, we cannot tidy up: the launcher dies with us, the janitor outlives us."""
    before = living()
    ready, segment = tmp_path / "ready", Path(f"{leftovers.SEGMENTS[0]}{uuid.uuid4().hex}")
    hold = f"held = open({str(segment)!r}, 'w')"
    launcher = f"{hold}; open({str(ready)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    words = ", ".join(map(repr, program(launcher)))
    start = f"with RunningJob([{words}], {{}}) as job: job.wait(60)"
    text = (
        "from mpigauge.campaign.launch.process import *\n"
        f"from mpigauge.campaign.launch.janitor import Janitor\n{busy}\n{start}"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", text], env=environment) as us:
        while not (ready.exists() and ready.read_text(encoding="ascii")):
            time.sleep(0.01)
        assert segment.exists()
        assert list(tmp_path.glob("mpigauge-*"))
        us.kill()
    pid = int(ready.read_text(encoding="ascii"))
    deadline = time.monotonic() + PATIENCE_S
    while (living() - before or not is_zombie(pid)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert is_zombie(pid)
    assert not segment.exists()
    assert not list(tmp_path.glob("mpigauge-*"))
