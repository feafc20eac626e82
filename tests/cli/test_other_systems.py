"""Systems other than Linux: one sentence says that nothing is measured there; macOS reads results."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_ENVIRONMENT
from tests.thorough import rest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

LACKING = (
    *("sched_getaffinity", "sched_setaffinity", "sched_setscheduler", "sched_getscheduler", "memfd_create"),
    *("pipe2", "waitid", "pidfd_open", "copy_file_range", "O_PATH", "ST_NOEXEC"),
)
"""What `os` of Linux has and that of macOS lacks."""

WITHOUT_POSIX = """
import sys
sys.platform = "win32"
sys.modules |= dict.fromkeys(["fcntl", "grp", "pwd", "resource", "termios"])
from mpigauge.__main__ import main
main()
"""
"""A Windows, whose Python lacks these modules."""

MEASURING = (
    "run",
    "run pingpong --hosts a,b",
    "run --mpi module:openmpi",
    "run --plan placements",
    "map",
    "doctor --watch 2s",
    "doctor --hosts a",
    "kernel build",
    "kernel describe --mpi openmpi",
    "lab -- true",
    "mpi add mpich",
)
READING = ("show", "show --all", "show --format csv", "explain", "plot --series ring", "report")


@pytest.fixture
def mac(openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is like macOS where mpigauge asks, with an MPI library and a compiler."""
    monkeypatch.setattr(sys, "platform", "darwin")
    for name in LACKING:
        monkeypatch.delattr(os, name, raising=False)


@pytest.mark.usefixtures("mac")
@pytest.mark.parametrize("words", MEASURING)
def test_whatever_would_measure_says_that_it_needs_linux(words: str, cli: Cli) -> None:
    done = cli(*words.split())
    assert done.status == EXIT_ENVIRONMENT
    assert done.out == ""
    assert "mpigauge: measuring needs Linux, and this is macOS\n  hint: measure on" in done.err


@pytest.mark.usefixtures("mac")
def test_doctor_names_the_system_and_no_library(cli: Cli) -> None:
    done = cli("doctor")
    assert done.status == EXIT_ENVIRONMENT
    assert "lacks  Linux  this is macOS" in done.out
    assert "not ready to measure: Linux missing" in done.out
    assert "MPI library" not in done.out


@pytest.mark.usefixtures("mac")
@pytest.mark.parametrize("words", rest(READING, [words for words in READING if words != "report"]))
def test_results_are_read(words: str, measured: Path, cli: Cli) -> None:
    done = cli(*words.split(), measured)
    assert (done.status, done.err.count("fault")) == (0, 0), done.err


def test_windows_is_sent_to_wsl() -> None:
    words = [sys.executable, "-c", WITHOUT_POSIX, "show"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == EXIT_ENVIRONMENT
    assert done.stderr.startswith("mpigauge: it runs on Linux, and this is Windows\n  hint: use it in WSL2")
