"""The program that tidies up after a job or a lab, also if whoever started it was killed.

A process of its own, started with `janitor.py FOLDER FILE...`. It waits for the end of its standard
input, which comes when its parent closes the pipe or dies. Then it removes the temporary folder, if one
is named, and the files that MPI libraries left behind: who is killed cannot remove its own. A file is
left behind if it is named as theirs are, was not there before (FILE...), belongs to us, and is needed
by nobody.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

SEGMENTS = tuple(
    f"/dev/shm/{prefix}"  # noqa: S108 - where libraries put their segments
    for prefix in ("sm_segment.", "vader_segment.", "mpich_shm_", "Intel_MPI_", "ucx_shm_posix_")
)
"""Needed while a process has them open or mapped."""

TOPOLOGY = "/tmp/hydra_hwloc_xmlfile_"  # noqa: S108 - Hydra asks no TMPDIR
"""Needed as long as any Hydra runs: it is open only while somebody reads it."""

HYDRA = "hydra_pmi_proxy"

DYING_S = 5.0
"""How long the ranks of a parent that was killed may take to die."""

PAUSE_S = 0.1


def files() -> set[str]:
    """All that are named as those of MPI libraries; in a lab not /tmp, whose users we cannot see."""
    prefixes = SEGMENTS if "MPIGAUGE_LAB" in os.environ else (*SEGMENTS, TOPOLOGY)
    return {str(path) for prefix in prefixes for path in Path(prefix).parent.glob(f"{Path(prefix).name}*")}


def left_behind(before: set[str]) -> set[str]:
    """New files that are ours and needed by nobody."""
    ours = {path for path in files() - before if _is_ours(path)}
    return ours - set(_needed(ours)) if ours else ours


def _is_ours(path: str) -> bool:
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except OSError:
        return False


def _needed(paths: set[str]) -> Iterator[str]:
    """Those of the files that living processes use, as far as we may see."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "exe").readlink().name == HYDRA:  # which the dead have no more
                yield from (path for path in paths if path.startswith(TOPOLOGY))
        yield from _held_by(entry)


def _held_by(entry: Path) -> Iterator[str]:
    # A segment is mapped before it is closed: in this order it is seen at least once.
    with contextlib.suppress(OSError):
        for link in (entry / "fd").iterdir():
            with contextlib.suppress(OSError):
                yield str(link.readlink())
    with contextlib.suppress(OSError):
        for line in (entry / "maps").read_text(errors="replace").splitlines():
            yield line[line.find("/") :]


def tidy(folder: str, before: set[str]) -> bool:
    """Removes what nobody needs any more; whether nothing is left."""
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
    for path in left_behind(before):
        with contextlib.suppress(OSError):
            Path(path).unlink()
    return not (folder and Path(folder).exists()) and files() <= before


@contextlib.contextmanager
def janitor(folder: str = "") -> Iterator[None]:
    """Has one wait while something runs that is dead in the end; goes on without where none can be."""
    process = None
    with contextlib.suppress(OSError):
        process = subprocess.Popen(
            [sys.executable, "-IS", __file__, folder, *sorted(files())],
            stdin=subprocess.PIPE,
            start_new_session=True,  # so that what ends us does not end it
        )
    try:
        yield
    finally:
        if process is not None:
            with contextlib.suppress(BrokenPipeError):
                process.communicate(b"dead")


def main() -> None:
    """Waits, and tidies up: once if the parent says that all are dead, else until they are."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    folder, *before = sys.argv[1:]
    said = sys.stdin.buffer.read()
    deadline = time.monotonic() + (0.0 if said else DYING_S)
    while not tidy(folder, set(before)) and time.monotonic() < deadline:
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
