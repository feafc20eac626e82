"""Libraries whose adding is killed or fails: nothing half is left, and one sentence says why."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.mpi.install import prefixes
from mpigauge.mpi.install.installers import explain, telling_line
from tests.unit.mpi.kept import there

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cli

GUARD_S = 120.0


# ---- Killed --------------------------------------------------------------------------------------


@pytest.fixture
def half(index: Path, machine: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """An add that waits in the middle of its work until a file is gone."""
    mark = machine / "half"
    words = [sys.executable, "-m", "mpigauge", "mpi", "add", "mpich==5.0.2"]
    environment = {**os.environ, "FAKE_HALF": str(mark), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + GUARD_S
    while not mark.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert mark.exists()
    yield process, mark
    mark.unlink(missing_ok=True)
    process.kill()
    process.wait()


def test_an_add_that_is_killed_leaves_nothing_half(
    cli: Cli, half: tuple[subprocess.Popen[bytes], Path]
) -> None:
    process, mark = half
    assert prefixes.managed() == []
    process.send_signal(signal.SIGKILL)
    process.wait()
    # Its installer is still there, and holds the lock until it ends.
    refused = cli("mpi", "add", "openmpi")
    assert refused.status == 3
    assert "another mpigauge" in refused.err
    mark.unlink()
    deadline = time.monotonic() + GUARD_S
    while (done := cli("mpi", "add", "openmpi")).status != 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert done.status == 0
    assert there() == ["openmpi-5.0.8"]


# ---- What a failed installer means ---------------------------------------------------------------

FAILURES = {
    "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device": (
        3,
        "no space left",
        "XDG_DATA_HOME",
    ),
    "error: Failed to install: mpich\n  cause: No space left on device (os error 28)": (
        3,
        "no space left in",
        "XDG_DATA_HOME",
    ),
    "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...: [Errno 111] "
    "Connection refused')': /simple/mpich/\nERROR: Could not find a version that satisfies the requirement "
    "mpich==5.0.2 (from versions: none)\nERROR: No matching distribution found for mpich==5.0.2": (
        3,
        "the package index cannot be reached: Connection refused",
        "mpigauge mpi add --wheels",
    ),
    "error: Request failed after 3 retries in 5.4s\n  cause: error sending request\n  cause: dns error": (
        3,
        "the package index cannot be reached: dns error",
        "mpigauge mpi add --wheels",
    ),
    "error: Failed to fetch: `x`\n  cause: invalid peer certificate: UnknownIssuer": (
        3,
        "is not trusted: Failed to fetch",
        "UV_SYSTEM_CERTS=1",
    ),
    "ERROR: Could not find a version that satisfies the requirement mpich==5.0.2 (from versions: "
    "0.0.0, 4.3.2)": (
        2,
        "has no mpich==5.0.2",
        "choose from 4.3.2",
    ),
    "ERROR: Could not find a version that satisfies the requirement mpich==5.0.2 (from versions: none)": (
        2,
        "has no mpich==5.0.2",
        "newest",
    ),
    "error: No solution found when resolving dependencies\n  cause: Because there is no version of "
    "mpich==5.0.2 and you require mpich==5.0.2, we can conclude that your requirements are unsatisfiable.": (
        2,
        "has no mpich==5.0.2",
        "newest",
    ),
    "error: No solution found when resolving dependencies\n  cause: Because libfabric was not found in the "
    "package registry and mpich==5.0.2 depends on libfabric>=2.6, ...\n         And because more": (
        3,
        "Because libfabric was not found in the package registry",
        "another version",
    ),
    "ERROR: Could not find a version that satisfies the requirement libfabric>=2.6 (from impi-rt) (from "
    "versions: none)\nERROR: No matching distribution found for libfabric>=2.6": (
        3,
        "Could not find a version that satisfies the requirement libfabric>=2.6",
        "another version",
    ),
    " ": (3, "it does not say why", "another version"),
}


@pytest.mark.parametrize("says", FAILURES, ids=range(len(FAILURES)))
def test_a_failed_installer_is_one_sentence_and_leaves_nothing(
    cli: Cli, index: Path, monkeypatch: pytest.MonkeyPatch, says: str
) -> None:
    status, sentence, hint = FAILURES[says]
    monkeypatch.setenv("FAKE_SAYS", says)
    done = cli("mpi", "add", "mpich==5.0.2")
    assert done.status == status
    said, hinted = done.err.splitlines()[1:]
    assert sentence in said
    assert hint in hinted
    assert there() == []


@settings(derandomize=True, deadline=None)
@given(st.text(), st.sampled_from([None, Path("wheels")]))
def test_no_words_of_an_installer_make_it_crash(words: str, wheels: Path | None) -> None:
    error = explain("mpich==5.0.2", wheels, words)
    assert "\n" not in telling_line(words)
    assert "mpich==5.0.2" in error.sentence
    assert error.hint
