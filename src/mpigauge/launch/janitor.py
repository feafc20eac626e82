"""The program that tidies up after a job, also if whoever started the job was killed.

A process of its own, started with `janitor.py FOLDER NAME...`. It waits for the end of its standard
input, which comes when its parent closes the pipe or dies. Then it removes the job's temporary folder
and the segments of shared memory that the job left behind: a rank that is killed cannot unlink its own.
A file counts as left behind if it is named as MPI libraries name theirs, was not there before the job
(NAME...), belongs to us, and no process has it open or mapped.
"""

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where libraries put their segments
SEGMENTS = ("sm_segment.", "vader_segment.", "mpich_shm_", "Intel_MPI_", "ucx_shm_posix_")

DYING_S = 5.0
"""How long the ranks of a parent that was killed may take to die."""

PAUSE_S = 0.1


def segments() -> set[str]:
    """Names of files of shared memory that look like those of an MPI library."""
    try:
        return {path.name for path in SHARED_MEMORY.iterdir() if path.name.startswith(SEGMENTS)}
    except OSError:
        return set()


def left_behind(before: set[str]) -> set[str]:
    """New segments that are ours and held by nobody."""
    new = {str(SHARED_MEMORY / name) for name in segments() - before}
    ours = {path for path in new if _is_ours(path)}
    return ours - _held() if ours else ours


def _is_ours(path: str) -> bool:
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except OSError:
        return False


def _held() -> set[str]:
    """Files of shared memory that living processes have open or mapped, as far as we may see."""
    return {path for entry in Path("/proc").glob("[0-9]*") for path in _held_by(entry)}


def _held_by(entry: Path) -> Iterator[str]:
    # A segment is mapped before it is closed: in this order it is seen at least once.
    with contextlib.suppress(OSError):
        for link in (entry / "fd").iterdir():
            with contextlib.suppress(OSError):
                yield str(link.readlink())
    with contextlib.suppress(OSError):
        for line in (entry / "maps").read_text(errors="replace").splitlines():
            yield line[line.find("/") :]


def tidy(folder: Path, before: set[str]) -> bool:
    """Removes what nobody needs any more; whether nothing is left."""
    shutil.rmtree(folder, ignore_errors=True)
    for path in left_behind(before):
        with contextlib.suppress(OSError):
            Path(path).unlink()
    return not folder.exists() and segments() <= before


def main() -> None:
    """Waits, and tidies up: once if the parent says that all ranks are dead, else until they are."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    folder, *before = sys.argv[1:]
    said = sys.stdin.buffer.read()
    deadline = time.monotonic() + (0.0 if said else DYING_S)
    while not tidy(Path(folder), set(before)) and time.monotonic() < deadline:
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
