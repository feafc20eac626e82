"""A machine whose shell finds our `mpigauge`, a fake MPI library, stand-ins that note what they are told."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fakes.mpi import SHELL, write_program
from tests.places import EXAMPLES, ROOT

if TYPE_CHECKING:
    from tests.conftest import Install

INTEGRATIONS = EXAMPLES / "integrations"
SYSTEM = "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
OURS = '[ "$1" != run ] || set -- "$@" --samples 40\nexec env PYTHONPATH={source} {python} -m mpigauge "$@"\n'
NOTES = 'printf "%s\\n" "{name}" "$@" >>{log}; echo >>{log}; exit {status}\n'

Shell = Callable[..., subprocess.CompletedProcess[str]]


@dataclass(frozen=True, slots=True)
class Programs:
    """Programs that scripts start.

    Attributes:
        folder: Where they are, before all others on PATH.
        log: What the stand-ins were told.
    """

    folder: Path
    log: Path

    def stand_in(self, name: str, status: int = 0) -> Path:
        """A program that notes its words and ends with a status."""
        text = NOTES.format(name=name, log=shlex.quote(str(self.log)), status=status)
        return write_program(self.folder / name, text, SHELL)

    def told(self, name: str) -> list[list[str]]:
        """The words of each call of a stand-in."""
        if not self.log.exists():
            return []
        calls = [call.split("\n") for call in self.log.read_text(encoding="utf-8").split("\n\n") if call]
        return [call[1:] for call in calls if call[0] == name]


@pytest.fixture
def programs(machine: Path, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """A machine with one MPI library, a little noise, and our command on PATH."""
    found = Programs(machine / "bin", machine / "told")
    ours = OURS.format(source=ROOT / "src", python=shlex.quote(sys.executable))
    write_program(found.folder / "mpigauge", ours, SHELL)
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    library = fake_mpi("openmpi", latency_ns=10_000)
    monkeypatch.setenv("PATH", f"{found.folder}{os.pathsep}{library.bin}{os.pathsep}{SYSTEM}")
    return found


@pytest.fixture
def shell(programs: Programs) -> Shell:
    """Runs a text by bash, in the folder that we are in."""

    def run(text: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", text, "bash", *words],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def copied(programs: Programs) -> Callable[..., Path]:
    """An example as its user has copied it, with lines of its head changed."""

    def copy(name: str, **lines: object) -> Path:
        text = (INTEGRATIONS / name).read_text(encoding="utf-8").splitlines()
        for variable, value in lines.items():
            (at,) = [number for number, line in enumerate(text) if line.startswith(f"{variable}=")]
            text[at] = f"{variable}={value}"
        path = programs.folder / Path(name).name
        path.write_text("\n".join([*text, ""]), encoding="utf-8")
        path.chmod(0o755)
        return path

    return copy
