"""The program that removes what a job or a lab left behind, also if whoever started it was killed.

A process of its own, started with `leftovers.py FOLDER FILE...`. It waits for the end of its standard
input, which comes when its parent closes the pipe or dies. Then it removes the temporary folder, if one
is named, and the files that MPI libraries left behind: who is killed cannot remove its own. A file is
left behind if it is named as theirs are, was not there before (FILE...), belongs to us, and is needed
by nobody.

One is started beside every launch, so it imports only what it cannot do without: a third of the time of
an interpreter with pathlib and subprocess.
"""

import os
import sys
import time
from collections.abc import Iterator

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
    return {
        path for prefix in prefixes for path in _paths(os.path.dirname(prefix)) if path.startswith(prefix)
    }


def _paths(folder: str) -> list[str]:
    """All in a folder; nothing if it is not there or not ours to read."""
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder)]
    except OSError:
        return []


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
    for entry in _paths("/proc"):
        if not os.path.basename(entry).isdigit():
            continue
        if os.path.basename(_target(f"{entry}/exe")) == HYDRA:  # which the dead have no more
            yield from (path for path in paths if path.startswith(TOPOLOGY))
        # A segment is mapped before it is closed: in this order it is seen at least once.
        yield from map(_target, _paths(f"{entry}/fd"))
        yield from (line[line.find("/") :] for line in _lines(f"{entry}/maps"))


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _lines(path: str) -> list[str]:
    try:
        with open(path, errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def tidy(folder: str, before: set[str]) -> bool:
    """Removes what nobody needs any more; whether nothing is left."""
    if folder and os.path.exists(folder):
        import shutil  # only needed if our parent was killed, and slow to import

        shutil.rmtree(folder, ignore_errors=True)
    for path in left_behind(before):
        _remove(path)
    return not (folder and os.path.exists(folder)) and files() <= before


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def main() -> None:
    """Waits, and tidies up: once if the parent says that all are dead, else until they are."""
    folder, *before = sys.argv[1:]
    said = sys.stdin.buffer.read()
    deadline = time.monotonic() + (0.0 if said else DYING_S)
    while not tidy(folder, set(before)) and time.monotonic() < deadline:
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
