"""Results that many tests read, measured once on fake libraries; and such a library with some noise."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli import status_of
from mpigauge.result.reader import Result, load
from tests.cli.journey import (
    EVERY_VISIT,
    MEASURE,
    TIMED,
)
from tests.conftest import install_into, isolate

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fakes.mpi import FakeMpi


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with a curve of every pattern."""
    folder = tmp_path_factory.mktemp("measured")
    path = folder / "result.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch)
        install_into(folder, patch)()
        words = ["run", *TIMED, "eager", "--sizes", "0,8,1KiB", "--launches", "2", "-q", "-o", str(path)]
        assert status_of(words) == 0
    return path


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """What MEASURE gives if nothing comes between."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch)
        install_into(folder, patch)()
        for name, value in EVERY_VISIT.items():
            patch.setenv(name, value)
        assert status_of(["run", *MEASURE, "-q", "-o", str(folder / "r.jsonl")]) == 0
    result = load(folder / "r.jsonl")
    assert len(result.visits) == 3 * 8 * 3
    return result


@pytest.fixture
def little_noise(openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake library whose samples differ by up to 5 %."""
    monkeypatch.setenv("FAKE_JITTER", "0.05")


@pytest.fixture
def bash(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a script needs, and no more of the system, on PATH."""
    for name in ("bash", "env"):
        (machine / "shell" / name).parent.mkdir(exist_ok=True)
        (machine / "shell" / name).symlink_to(f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", os.pathsep.join((os.environ["PATH"], str(machine / "shell"))))
