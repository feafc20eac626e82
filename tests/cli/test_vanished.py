"""A terminal that is gone: who asked to go on without it has a whole result, who did not a clean end."""

from __future__ import annotations

import os
import pty
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.reader import load
from tests.cli.journey import MEASURE
from tests.places import ROOT
from tests.terminal import Terminal

if TYPE_CHECKING:
    from tests.fakes.mpi import FakeMpi

FILE = Path("r.jsonl")


@pytest.fixture(autouse=True)
def _slowly(as_processes: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long enough for a terminal to go in the middle of it."""
    monkeypatch.setenv("FAKE_NAP_S", "0.02")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))


def left_alone(openmpi: FakeMpi, hangup: signal.Handlers) -> int:
    """The exit status of a campaign whose terminal goes in its second launch.

    Args:
        hangup: What becomes of the signal that the system sends then: ignored by nohup and setsid.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, hangup)
        words = ("run", *MEASURE, "--mpi", str(openmpi.prefix), "-o", str(FILE))
        os.execv(sys.executable, [sys.executable, "-P", "-m", "mpigauge", *words])  # noqa: S606
    screen = Terminal()
    while "launch 2" not in screen.text:
        screen.feed(os.read(terminal, 65536).decode(errors="replace").replace("\r\n", "\n"))
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_campaign_that_ignores_it_goes_on_to_its_end(openmpi: FakeMpi) -> None:
    """As under nohup: what it would print is lost, and nothing else is."""
    assert left_alone(openmpi, signal.SIG_IGN) == 0
    result = load(FILE)
    assert {visit.launch for visit in result.visits} == {1, 2, 3}
    assert [end.reason for end in result.ends] == ["launches"]


def test_any_other_ends_as_by_a_signal_and_can_be_continued(openmpi: FakeMpi) -> None:
    assert left_alone(openmpi, signal.SIG_DFL) == 128 + signal.SIGHUP
    result = load(FILE)
    assert result.visits
    assert [end.reason for end in result.ends] == ["interrupted"]
    assert not result.torn
