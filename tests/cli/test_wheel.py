"""What a user installs: the wheel carries the C sources, and works from where it is put."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.places import ROOT

LAB = ROOT / "src" / "mpigauge" / "launch" / "lab"
KERNEL = ROOT / "src" / "mpigauge" / "kernel"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_carries_all_sources_of_the_kernel_and_the_lab(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = [path for pattern in ("*.[ch]", "*.def", "patterns/*.c") for path in KERNEL.glob(pattern)]
    assert len(sources) > 15
    assert {f"mpigauge/launch/lab/{path.name}" for path in LAB.glob("*.[ch]")} <= names
    assert {f"mpigauge/kernel/{path.relative_to(KERNEL)}" for path in sources} <= names
    assert wheel.name.endswith("-py3-none-any.whl")


@pytest.mark.mpi
def test_the_kernel_builds_from_an_installed_wheel(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path / "site"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    words = [sys.executable, "-m", "mpigauge", "kernel", "describe"]
    done = subprocess.run(words, env=environment, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["patterns"]
    assert list((tmp_path / "cache").rglob("mpigauge-kernel"))
