"""Cleaning up after an earlier mpigauge that was killed together with its janitor.

Only what is certainly unused is removed: folders of this user whose owner, a process of this machine, is
dead; processes with the mark of such a job; and files of MPI libraries that are newer than the job and in
use by no process.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.campaign.launch import leftovers
from mpigauge.campaign.launch.job import PREFIX
from mpigauge.campaign.launch.owner import RECORD, owner_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK_FILE = "job"
MESSAGE_FILE = "before"
END_S = 5.0
"""How long processes may take to end after SIGTERM, and again after SIGKILL."""


@dataclass(slots=True)
class Swept:
    """The result of a clean-up.

    Attributes:
        processes: Number of processes ended.
        files: Number of files of MPI libraries removed.
        folders: Number of temporary folders removed.
    """

    processes: int = 0
    files: int = 0
    folders: int = 0

    @property
    def sentence(self) -> str:
        """Sentence on what was cleaned up; empty if nothing was."""
        if not self.folders:
            return ""
        processes = "1 process" if self.processes == 1 else f"{self.processes} processes"
        files, folders = units.counted(self.files, "file"), units.counted(self.folders, "folder")
        counted = [(self.processes, processes), (self.files, files), (self.folders, folders)]
        return f"removed what a killed mpigauge left: {', '.join(words for count, words in counted if count)}"


def note_job(folder: Path, mark: str, message: bytes) -> None:
    """Write into a job's folder what `sweep` needs; without it, only the folder is removed.

    Args:
        mark: Value of the variable that marks the job's processes.
        message: The first message to its janitor.
    """
    with contextlib.suppress(OSError):
        (folder / MESSAGE_FILE).write_bytes(message)
        (folder / MARK_FILE).write_text(mark, encoding="ascii")


def sweep() -> Swept:
    """End the processes and remove the files of jobs whose owners are dead."""
    swept = Swept()
    for folder in _folders_of_dead_owners():
        since_s = _age_s(folder)
        swept.processes += _end(_mark_of(folder))
        elsewhere, before = _message_of(folder)
        swept.files += leftovers.remove_left_behind(before)
        shutil.rmtree(folder, ignore_errors=True)
        leftovers.tidy_elsewhere(elsewhere, since_s)
        swept.folders += not folder.exists()
    return swept


def _folders_of_dead_owners() -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for folder in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
            owner = owner_of(folder)
            if owner is not None and owner.is_dead:
                yield folder


def _age_s(folder: Path) -> float:
    """Return the age of a folder in seconds; 0 if another process has just removed it."""
    try:
        return max(0.0, time.time() - (folder / RECORD).stat().st_mtime)
    except OSError:
        return 0.0


def _mark_of(folder: Path) -> str:
    try:
        return (folder / MARK_FILE).read_text(encoding="ascii")
    except OSError:
        return ""


def _message_of(folder: Path) -> tuple[str, set[str]]:
    """Return the remote shells and the files from before the job; all current files if that is not known."""
    try:
        with (folder / MESSAGE_FILE).open("rb") as file:
            parsed = leftovers.read_start_message(file)
    except (OSError, ValueError):
        parsed = None
    return parsed or ("", leftovers.library_files())


def _end(mark: str) -> int:
    """End all processes of a job; return how many."""
    if not mark:
        return 0
    ended = set(leftovers.marked_processes(mark))
    for number in (SIGTERM, SIGKILL):
        deadline = time.monotonic() + END_S
        leftovers.send(number, leftovers.marked_processes(mark))
        while (left := leftovers.marked_processes(mark)) and time.monotonic() < deadline:
            ended.update(left)
            time.sleep(leftovers.PAUSE_S)
        if not left:
            break
    return len(ended)
