"""What a scheduler does to a campaign, and what is written for it: on fake libraries, without Slurm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.load import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cli

RUN = ("run", "pingpong", "--sizes", "8,64", "--launches", "2", "--seed", "7", "-q", "-o", "r.jsonl")
HEAD_LINES = 2
VISITS = 1
NAP_S = 0.8
JOB = {
    "SLURM_JOB_ID": "17",
    "SLURM_JOB_NODELIST": "node[0-1]",
    "SLURM_TASKS_PER_NODE": "2(x2)",
    "SLURM_JOB_CPUS_PER_NODE": "2(x2)",
}


@pytest.fixture
def campaign(
    openmpi: object, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[subprocess.Popen[str]]:
    """A campaign in the middle of its second visit, which takes a while longer."""
    monkeypatch.setenv("FAKE_JITTER", "0.5")
    monkeypatch.setenv("FAKE_NAP_S", str(NAP_S))
    monkeypatch.setenv("FAKE_LOG", str(machine / "log"))
    command = [sys.executable, "-m", "mpigauge", *RUN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and lines_of(Path("r.jsonl")) < HEAD_LINES + VISITS:
            time.sleep(0.01)
        time.sleep(NAP_S / 4)  # its begin has been read by now
        yield process
        process.kill()


def lines_of(path: Path) -> int:
    """How many whole lines a file has."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kernel(machine: Path) -> int:
    """The process of the kernel."""
    return int((machine / "log").read_text(encoding="ascii").split()[-1])


@pytest.mark.parametrize(
    ("signals", "finished"),
    [
        ([signal.SIGTERM], VISITS + 1),
        ([signal.SIGTERM, signal.SIGTERM], VISITS + 1),  # the same one, by two ways
        ([signal.SIGINT], VISITS),
        ([signal.SIGTERM, signal.SIGINT], VISITS),
    ],
)
def test_sigterm_lets_the_visit_end_and_nothing_else_does(
    campaign: subprocess.Popen[str], signals: list[int], finished: int
) -> None:
    for number in signals:
        campaign.send_signal(number)
        time.sleep(0.05)
    _, words = campaign.communicate()
    assert campaign.returncode == 128 + signals[-1]
    assert "mpigauge resume r.jsonl" in words
    result = load(Path("r.jsonl"))
    assert len(result.visits) == finished
    assert [end.reason for end in result.ends] == ["interrupted"]
    assert not result.failures


def test_a_signal_to_every_rank_is_an_interruption_and_no_failure(
    campaign: subprocess.Popen[str], machine: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.kill(kernel(machine), signal.SIGTERM)
    time.sleep(0.2)
    campaign.terminate()
    campaign.communicate()
    assert campaign.returncode == 128 + signal.SIGTERM
    before = load(Path("r.jsonl"))
    assert (len(before.visits), before.failures) == (VISITS, [])
    monkeypatch.setenv("FAKE_NAP_S", "0")
    assert cli("resume", "r.jsonl", "-q").status == 0
    after = load(Path("r.jsonl"))
    assert len(after.visits) == 3 * 8 * 2
    assert not after.failures


def test_ranks_that_somebody_ends_without_us_have_failed(
    campaign: subprocess.Popen[str], machine: Path
) -> None:
    os.kill(kernel(machine), signal.SIGTERM)
    while not load(Path("r.jsonl")).failures and campaign.poll() is None:
        time.sleep(0.02)
    campaign.send_signal(signal.SIGINT)
    campaign.communicate()
    assert [failure.kind for failure in load(Path("r.jsonl")).failures] == ["crash"]
