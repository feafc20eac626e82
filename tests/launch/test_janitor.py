"""What a job left in shared memory: only that goes, and only when nobody needs it."""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING

import pytest

from mpigauge.launch import janitor

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of /dev/shm."""
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setattr(janitor, "SHARED_MEMORY", folder)
    return folder


def made(path: Path) -> Path:
    """A file of a page."""
    path.write_bytes(bytes(mmap.PAGESIZE))
    return path


@pytest.mark.parametrize("prefix", janitor.SEGMENTS)
def test_new_segments_that_nobody_holds_go_with_the_folder(shared: Path, tmp_path: Path, prefix: str) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    made(folder / "session")
    segment = made(shared / f"{prefix}1")
    assert janitor.tidy(folder, set())
    assert not segment.exists()
    assert not folder.exists()


def test_segments_of_before_and_files_of_other_names_stay(shared: Path, tmp_path: Path) -> None:
    old, data = made(shared / "mpich_shm_old"), made(shared / "my-data")
    assert janitor.tidy(tmp_path / "none", {old.name})
    assert old.exists()
    assert data.exists()


def test_a_segment_that_is_open_or_mapped_stays(shared: Path, tmp_path: Path) -> None:
    open_, mapped = made(shared / "sm_segment.open"), made(shared / "sm_segment.mapped")
    with open_.open("r+b"):
        with mapped.open("r+b") as file:
            view = mmap.mmap(file.fileno(), 0)
        assert not janitor.tidy(tmp_path / "none", set())
        assert open_.exists()
        assert mapped.exists()
        view.close()
    assert janitor.tidy(tmp_path / "none", set())
    assert not list(shared.iterdir())


def test_a_segment_of_somebody_else_stays(
    shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment = made(shared / "sm_segment.theirs")
    monkeypatch.setattr(os, "geteuid", lambda: segment.stat().st_uid + 1)
    assert not janitor.tidy(tmp_path / "none", set())
    assert segment.exists()


def test_a_machine_without_shared_memory_is_tidy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(janitor, "SHARED_MEMORY", tmp_path / "none")
    assert janitor.tidy(tmp_path / "none", set())
