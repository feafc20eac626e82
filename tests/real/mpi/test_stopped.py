"""Real jobs that are stopped for a while: no sample of them was, and no launch is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch.process_tree import descendants, process
from mpigauge.result.reader import load
from tests.real.mpi.conftest import kernels, prefix, wait_until
from tests.thorough import rest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.mpi

WAIT_S = 300
STOP_S = 2.0
LAUNCHES = 2
SIZES = "8:4KiB"


@pytest.fixture(params=rest(["openmpi", "mpich"], ["openmpi"]))
def campaign(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One that has begun to measure, in a process group of its own."""
    words = ["run", "pingpong", "--sizes", SIZES, "--launches", str(LAUNCHES), "--mpi", prefix(request.param)]
    command = [sys.executable, "-m", "mpigauge", *words, "--budget", "120s", "-o", "r.jsonl"]
    out = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=tmp_path, stdout=out, stderr=out, process_group=0) as started:
        assert wait_until(lambda: visits(tmp_path) > 2)
        yield started
        if started.poll() is None:
            started.kill()


def visits(folder: Path) -> int:
    """So many are in the file."""
    result = folder / "r.jsonl"
    return result.read_bytes().count(b'"type":"visit"') if result.exists() else 0


def ranks(pid: int) -> list[int]:
    """The ranks of a campaign."""
    found = ((one, process(one)) for one in descendants(pid))
    return [one for one, is_ in found if is_ is not None and is_.name == "mpigauge-kernel"[:15]]


def are_stopped(pids: list[int]) -> bool:
    """All of them, if there are any."""
    return bool(pids) and all((found := process(pid)) is not None and found.state == "T" for pid in pids)


def check(folder: Path) -> None:
    """No failure, no launch in parts, and no sample that holds the stop."""
    result = load(folder / "r.jsonl")
    assert result.ends[-1].reason == "launches"
    assert not result.failures
    assert [launch.part for launch in result.launches] == [1] * LAUNCHES
    assert not [done for done in result.done if done.skipped]
    assert max(max(visit.samples_ns) for visit in result.visits) < STOP_S * 1e9


def test_ctrl_z_stops_all_ranks_and_loses_nothing(campaign: subprocess.Popen[bytes], tmp_path: Path) -> None:
    os.killpg(campaign.pid, signal.SIGTSTP)
    assert wait_until(lambda: are_stopped([campaign.pid]))
    if ranks(campaign.pid):  # else between two launches
        assert wait_until(lambda: are_stopped(ranks(campaign.pid)))
    before = visits(tmp_path)
    time.sleep(STOP_S)
    assert visits(tmp_path) == before
    os.killpg(campaign.pid, signal.SIGCONT)
    assert campaign.wait(WAIT_S) == 0
    assert not kernels()
    check(tmp_path)


def test_a_visit_in_which_ranks_were_stopped_is_made_again(
    campaign: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """By whoever did it, and whatever mpigauge knows of it."""
    stopped: list[int] = []
    for _ in range(2):
        assert wait_until(lambda: bool(ranks(campaign.pid)))
        stopped += (pids := ranks(campaign.pid))
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(STOP_S)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert stopped
    assert campaign.wait(WAIT_S) == 0
    check(tmp_path)
