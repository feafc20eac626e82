"""What a mpigauge left that was killed with its janitor: the next one ends and removes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from mpigauge.campaign.launch import leftovers, orphans, owner
from mpigauge.campaign.launch.job import temporary_folder
from mpigauge.campaign.launch.owner import Owner
from mpigauge.campaign.launch.process_tree import is_zombie

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KILLED_WITH_ITS_JANITOR = """
import os, signal, sys, time
from mpigauge.campaign.launch.process import RunningJob
with RunningJob([sys.executable, "-ISc", sys.argv[1]], {}) as job:
    pid = next(job.lines(lambda: 60.0)).decode()
    print(pid, flush=True)
    job._running_janitor.process.kill()
    os.kill(os.getpid(), signal.SIGKILL)
"""
DEAF_JOB = """
import os, signal, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
held = open({segment!r}, "w")
print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of its own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def of_owner(place: Path) -> Callable[[Owner], Path]:
    """Makes a folder that belongs to whoever is named."""

    def make(who: Owner) -> Path:
        folder = temporary_folder("a test")
        assert folder.parent == place
        (folder / owner.RECORD).write_bytes(msgspec.json.encode(who))
        return folder

    return make


@pytest.fixture
def dead() -> Owner:
    """A process that has been one of ours."""
    us = Owner.current()
    assert us is not None
    return msgspec.structs.replace(us, started=us.started - 1)


@pytest.fixture
def left(place: Path) -> Iterator[tuple[int, Path]]:
    """A process and a segment of a job whose mpigauge was killed with its janitor."""
    segment = Path(f"{leftovers.SEGMENTS[0]}{uuid.uuid4().hex}")
    words = [sys.executable, "-c", KILLED_WITH_ITS_JANITOR, DEAF_JOB.format(segment=str(segment))]
    killed = subprocess.run(
        words, env={**os.environ, "TMPDIR": str(place)}, stdout=subprocess.PIPE, check=False, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    pid = int(killed.stdout)
    yield pid, segment
    segment.unlink(missing_ok=True)
    if not is_zombie(pid):
        os.kill(pid, signal.SIGKILL)


def test_the_next_start_ends_the_job_and_removes_all_of_it(
    left: tuple[int, Path], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orphans, "END_S", 0.5)
    pid, segment = left
    assert not is_zombie(pid)
    assert segment.exists()
    assert list(place.glob("mpigauge-*"))
    swept = orphans.sweep()
    assert is_zombie(pid)
    assert not segment.exists()
    assert not list(place.glob("mpigauge-*"))
    assert (swept.processes, swept.folders) == (1, 1)
    assert swept.files >= 1  # other tests may leave some at the same time
    assert not orphans.sweep().sentence


def test_what_was_removed_is_reported_in_one_line() -> None:
    said = orphans.Swept(processes=3, files=1, folders=2).sentence
    assert said == "removed what a killed mpigauge left: 3 processes, 1 file, 2 folders"
    assert orphans.Swept(folders=1).sentence == "removed what a killed mpigauge left: 1 folder"


def test_folders_of_living_owners_stay(of_owner: Callable[[Owner], Path]) -> None:
    us = Owner.current()
    assert us is not None
    folder = of_owner(us)
    assert not orphans.sweep().sentence
    assert folder.exists()


def test_folders_of_dead_owners_are_removed(of_owner: Callable[[Owner], Path], dead: Owner) -> None:
    folder = of_owner(dead)
    orphans.sweep()
    assert not folder.exists()


@pytest.mark.parametrize(
    "other", [{"boot": "5b1d0d2e-0000-4000-8000-000000000000"}, {"pids": "pid:[4026539999]"}]
)
def test_a_process_of_another_machine_counts_as_alive(
    of_owner: Callable[[Owner], Path], dead: Owner, other: dict[str, str]
) -> None:
    """On another machine that shares the folder, before this one was started, in a container."""
    folder = of_owner(msgspec.structs.replace(dead, **other))
    orphans.sweep()
    assert folder.exists()


def test_folders_of_other_users_and_without_an_owner_stay(
    of_owner: Callable[[Owner], Path], dead: Owner, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, strange = of_owner(dead), place / "mpigauge-by-hand"
    strange.mkdir()
    (place / "mpigauge-link").symlink_to(folder)
    orphans.sweep()
    assert strange.exists()
    assert not folder.exists()
    theirs = of_owner(dead)
    monkeypatch.setattr(os, "geteuid", lambda: theirs.stat().st_uid + 1)
    orphans.sweep()
    assert theirs.exists()


def test_a_damaged_owner_record_counts_as_alive(of_owner: Callable[[Owner], Path], dead: Owner) -> None:
    folder = of_owner(dead)
    (folder / owner.RECORD).write_text('{"pid": 1, "sta', encoding="ascii")
    orphans.sweep()
    assert folder.exists()


def test_processes_of_other_jobs_are_left_alone(of_owner: Callable[[Owner], Path], dead: Owner) -> None:
    folder = of_owner(dead)
    orphans.note_job(folder, "one", leftovers.start_message("", leftovers.library_files()))
    with subprocess.Popen(["sleep", "60"], env={**os.environ, leftovers.MARK: "another"}) as other:
        orphans.sweep()
        time.sleep(0.05)
        assert other.poll() is None
        other.kill()
    assert not folder.exists()
