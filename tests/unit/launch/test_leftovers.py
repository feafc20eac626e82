"""What a job left in shared memory: only that goes, and only when nobody needs it."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from mpigauge.launch import leftovers
from mpigauge.launch.leftovers import SEGMENTS, TOPOLOGY


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of /dev/shm."""
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setattr(leftovers, "SEGMENTS", tuple(str(folder / Path(prefix).name) for prefix in SEGMENTS))
    monkeypatch.setattr(leftovers, "TOPOLOGY", str(folder / Path(TOPOLOGY).name))
    return folder


def made(path: Path) -> Path:
    """A file of a page."""
    path.write_bytes(bytes(mmap.PAGESIZE))
    return path


@pytest.mark.parametrize("prefix", SEGMENTS)
def test_new_segments_that_nobody_holds_go_with_the_folder(shared: Path, tmp_path: Path, prefix: str) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    made(folder / "session")
    segment = made(shared / f"{Path(prefix).name}1")
    assert leftovers.tidy(str(folder), set())
    assert not segment.exists()
    assert not folder.exists()


def test_segments_of_before_and_files_of_other_names_stay(shared: Path) -> None:
    old, data = made(shared / "mpich_shm_old"), made(shared / "my-data")
    assert leftovers.tidy("", {str(old)})
    assert old.exists()
    assert data.exists()


def test_a_segment_that_is_open_or_mapped_stays(shared: Path) -> None:
    open_, mapped = made(shared / "sm_segment.open"), made(shared / "sm_segment.mapped")
    with open_.open("r+b"):
        with mapped.open("r+b") as file:
            view = mmap.mmap(file.fileno(), 0)
        assert not leftovers.tidy("", set())
        assert open_.exists()
        assert mapped.exists()
        view.close()
    assert leftovers.tidy("", set())
    assert not list(shared.iterdir())


def test_a_segment_of_somebody_else_stays(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segment = made(shared / "sm_segment.theirs")
    monkeypatch.setattr(os, "geteuid", lambda: segment.stat().st_uid + 1)
    assert not leftovers.tidy("", set())
    assert segment.exists()


def test_what_hydra_wrote_stays_while_any_hydra_runs(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "HYDRA", "hydra_of_a_test")
    written = made(shared / f"{Path(TOPOLOGY).name}1")
    program = tmp_path / leftovers.HYDRA
    shutil.copy("/bin/sleep", program)
    with subprocess.Popen([program, "60"]) as hydra:
        assert not leftovers.tidy("", set())
        assert written.exists()
        hydra.kill()
    assert leftovers.tidy("", set())
    assert not written.exists()


def test_in_a_lab_nothing_is_said_of_the_folder_of_all(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who needs it may be outside, where we cannot see."""
    written = made(shared / f"{Path(TOPOLOGY).name}1")
    monkeypatch.setenv("MPIGAUGE_LAB", "here")
    assert leftovers.tidy("", set())
    assert written.exists()


def test_a_machine_without_shared_memory_is_tidy(shared: Path) -> None:
    shared.rmdir()
    assert leftovers.tidy("", set())
