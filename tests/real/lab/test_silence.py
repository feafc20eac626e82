"""Hosts that stop answering while they are measured: they are named, and no larger budget is advised."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch.leftovers import environment_of
from tests.real.lab.conftest import TIMEOUT_S, lab_environment, processes
from tests.real.mpi.conftest import prefix

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

RUN = ("run", "pingpong", "--np", "3", "--sizes", "8,64KiB", "--launches", "3", "--budget", "12s", "-q")


def freeze(rank: int) -> None:
    """Stop it for good."""
    os.kill(rank, signal.SIGSTOP)


def cut_off(rank: int) -> None:
    """Take its host from the network."""
    subprocess.run(["nsenter", "-t", str(rank), "-n", "ip", "link", "set", "eth0", "down"], check=True)


@pytest.mark.needs("root")
@pytest.mark.parametrize(
    ("hit", "said"),
    [
        (freeze, "rank 1 on h2, is stopped"),
        (cut_off, "host h2: cannot be reached: mpigauge lab: h2: the network"),
    ],
)
def test_who_does_not_answer_is_named(folder: Path, hit: Callable[[int], None], said: str) -> None:
    mpigauge = (sys.executable, "-m", "mpigauge")
    result = folder / "r.jsonl"
    with subprocess.Popen(
        [
            *mpigauge,
            "lab",
            "--hosts",
            "3",
            "--",
            *mpigauge,
            *RUN,
            "--mpi",
            prefix("openmpi"),
            "-o",
            str(result),
        ],
        cwd=folder,
        env=lab_environment(folder, "root"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        end = time.monotonic() + TIMEOUT_S
        while not (result.exists() and '"visit"' in result.read_text() and (ranks := ranks_1())):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        hit(ranks[0])
        _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    assert said in err
    assert "--budget" not in err


def ranks_1() -> list[int]:
    """The second rank of a job of this test."""
    return [pid for pid in processes() if b"PMIX_RANK=1" in environment_of(str(pid))]
