"""The program that removes what a job or a lab left behind, also if whoever started it was killed.

A process of its own, started with `leftovers.py FOLDER`. Its standard input begins with what its parent knows
(`told`), goes on with a line on the job's launcher, and ends when its parent closes the pipe or dies. If it
died without a word, the launcher is ended. Then it removes the temporary folder, if one is named, and the
files that MPI libraries left behind: who is killed cannot remove its own. A file is left behind if it is
named as theirs are, was not there before, belongs to us, and is needed by nobody. Of a job that did not end
by itself, the other hosts are asked to do likewise.

If both are killed, the next mpigauge does the same: `campaign.launch.orphans`.

One is started beside every launch, so it imports only what it cannot do without: a third of the time of
an interpreter with pathlib and subprocess.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator

TYPE_CHECKING = False  # as typing has it, which takes long to import
if TYPE_CHECKING:
    from typing import BinaryIO

SEGMENTS = tuple(
    f"/dev/shm/{prefix}"  # noqa: S108 - where libraries put their segments
    for prefix in (
        "sm_segment.",
        "vader_segment.",
        "mpich_shm_",
        "Intel_MPI_",
        "ucx_shm_posix_",
        "psm2_shm.",
        "psm3_shm.",
        "cray-shared-mem-",
        "shared_memory.PMI.",
    )
)
"""Needed while a process has them open or mapped. Segments of System V are not looked for: the libraries that
have some remove them as soon as they are attached, so that they go with their last process."""

TOPOLOGY = "/tmp/hydra_hwloc_xmlfile_"  # noqa: S108 - Hydra asks no TMPDIR
"""Needed as long as any Hydra runs: it is open only while somebody reads it."""

HYDRA = "hydra_pmi_proxy"

SIGCONT, SIGKILL = 18, 9
"""Numbers of signals on Linux: the module that names them takes long to import."""

FIRST_PIDS = "pid:[4026531836]"
"""The namespace of processes that a machine begins with; its number is the same on every Linux."""

MARK = "MPIGAUGE_JOB"
"""A variable of all processes of a job, with a value that no other job has."""

NAME = "mpigauge-tidy"
"""Name of this program in lists of processes, so that `killall python3` leaves it alive."""

DYING_S = 5.0
"""How long the ranks of a parent that was killed may take to die."""

PAUSE_S = 0.1


ENDED = b"dead"
"""What a parent says whose job has ended by itself; of a job that was killed, KILLED."""

KILLED = b"killed"
ANSWER_S = 20.0
AT_ONCE = 64
"""Other hosts that are asked at the same time."""

TIDY_THERE = """
for _ in 1 2 3 4 5 6; do
    left=
    for file in {patterns}; do
        if [ ! -f "$file" ] || [ ! -O "$file" ] || [ -z "$(find "$file" -mmin -{minutes})" ]; then
            continue
        fi
        # shellcheck disable=SC2010
        if grep -qsF "$file" /proc/[0-9]*/maps || ls -l /proc/[0-9]*/fd 2>/dev/null | grep -qF "$file"; then
            left=1
        else
            rm -f "$file"
        fi
    done
    [ "$left" ] || exit 0
    sleep 1
done
"""
"""For the shell of another host: segments of ours that are no older than the job, and that nobody has.

What it lists of /proc are numbers, whatever shellcheck fears of names.
"""


def told(elsewhere: str, before: set[str]) -> bytes:
    """What a parent says first: words of a program may be too many for thousands of hosts or files.

    Args:
        elsewhere: As tidy_elsewhere takes it.
        before: Files that are there before the job.
    """
    parts = os.fsencode(elsewhere), b"\0".join(map(os.fsencode, sorted(before)))
    return b"%d %d\n" % (len(parts[0]), len(parts[1])) + b"".join(parts)


def heard(stream: "BinaryIO") -> tuple[str, set[str]] | None:
    """Return what a parent has said, as it arrives; None if it died before it had said it."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    sizes = [int(size) for size in line.split()]
    parts = [stream.read(size) for size in sizes]
    if [len(part) for part in parts] != sizes:
        return None
    return os.fsdecode(parts[0]), {os.fsdecode(path) for path in parts[1].split(b"\0") if path}


def told_of(launcher: int, signal: int, mark: str) -> bytes:
    """Return what a parent says of its job: the launcher, the signal that ends it, and the mark."""
    return f"{launcher} {signal} {mark}\n".encode()


def watched(line: bytes) -> tuple[int, int, bytes, str]:
    """Return the same as it arrives, behind when the launcher started: its number may be reused later."""
    pid, signal, mark = line.split()
    return int(pid), int(signal), _born(int(pid)), mark.decode()


def end(pid: int, signal: int, born: bytes) -> None:
    """Ends a launcher that is still there."""
    if born and _born(pid) == born:
        send(signal, [pid])


def send(signal: int, pids: "Iterable[int]") -> None:
    """Sends a signal to processes that may be gone; who is stopped hears it, too."""
    for pid in pids:
        try:
            os.kill(pid, signal)
            os.kill(pid, SIGCONT)
        except OSError:
            continue


def marked(mark: str) -> list[int]:
    """Living processes of a job, wherever they are on this machine, as far as we may see."""
    word = f"{MARK}={mark}".encode()
    return [
        int(pid) for pid in map(os.path.basename, _paths("/proc")) if pid.isdigit() and word in around(pid)
    ]


def around(pid: str) -> list[bytes]:
    """The variables that a process was started with; nothing of one that is dead or another user's."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def _born(pid: int) -> bytes:
    """When a process was started, in the system's own numbers; empty if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19]
    except (OSError, IndexError):
        return b""


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
    unneeded = ours - set(_needed(ours)) if ours else ours
    return {path for path in unneeded if path.startswith(TOPOLOGY) or not _is_held_unseen(path)}


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


def _is_held_unseen(path: str) -> bool:
    """Whether a process that we cannot see has a file open or mapped, or may have.

    Containers that share /dev/shm do not see each other's processes, but the kernel does: it leases a file
    only to who alone has it open. Where it leases none, only who sees all processes knows.
    """
    import signal  # for the few who get here

    try:
        before = signal.signal(signal.SIGIO, signal.SIG_IGN)  # which would end us if somebody opened it now
    except ValueError:  # not in this thread
        return not _sees_all()
    try:
        return _cannot_be_leased(path)
    finally:
        signal.signal(signal.SIGIO, before if before is not None else signal.SIG_DFL)


def _cannot_be_leased(path: str) -> bool:
    import fcntl

    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return not _sees_all()
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return not _sees_all()
    finally:
        os.close(file)
    return False


def _sees_all() -> bool:
    """Whether our /proc has every process of this machine: that of the first namespace has."""
    return _target("/proc/self/ns/pid") == FIRST_PIDS


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
    remove_left_behind(before)
    return not (folder and os.path.exists(folder)) and files() <= before


def remove_left_behind(before: set[str]) -> int:
    """Removes what libraries left behind; how many files."""
    return sum(map(_remove, left_behind(before)))


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def tidy_elsewhere(elsewhere: str, seconds: float) -> None:
    """Has other hosts remove what a job that was killed left there.

    Args:
        elsewhere: JSON of a list for each host: the words that start a shell there; may be empty.
        seconds: For how long the job ran.
    """
    if not elsewhere:
        return
    import json  # for the few who get here
    import subprocess

    patterns = " ".join(f"{prefix}*" for prefix in SEGMENTS)
    script = TIDY_THERE.format(patterns=patterns, minutes=int(seconds / 60) + 1)
    hosts = json.loads(elsewhere)
    for first in range(0, len(hosts), AT_ONCE):
        asked = []
        for words in hosts[first : first + AT_ONCE]:
            reading = _pipe_with(script)  # for `sh`, whichever the login shell there is
            asked.append(subprocess.Popen([*words, "sh"], stdin=reading))
            os.close(reading)
        deadline = time.monotonic() + ANSWER_S
        for process in asked:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


def _pipe_with(text: str) -> int:
    """A pipe to read this text from, which is short enough for any."""
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    return reading


def _take_name() -> None:
    try:
        with open("/proc/self/comm", "w") as file:
            file.write(NAME)
    except OSError:
        return


def main() -> None:
    """Waits, and tidies up: once if the parent says that all are dead, else until they are."""
    _take_name()
    folder = sys.argv[1]
    begun = time.monotonic()
    known = heard(sys.stdin.buffer)
    if known is None:  # there is no job yet, and whose the files are is not known
        tidy(folder, files())
        return
    elsewhere, before = known
    said = sys.stdin.buffer.readline()
    job = watched(said) if said.endswith(b"\n") else None
    if job is not None:
        said = sys.stdin.buffer.read()
        if not said:
            end(*job[:3])
            send(SIGCONT, marked(job[3]))  # who is stopped does not notice that its launcher is gone
    ended = time.monotonic()
    while not tidy(folder, before) and time.monotonic() < ended + (0.0 if said else DYING_S):
        time.sleep(PAUSE_S)
    if job is not None and not said and job[1] == SIGKILL and (left := marked(job[3])):
        send(SIGKILL, left)  # other launchers may still be ending their ranks elsewhere
        time.sleep(PAUSE_S)
        tidy(folder, before)
    if said != ENDED:
        tidy_elsewhere(elsewhere, ended - begun)


if __name__ == "__main__":
    main()
