"""The janitor: the program that removes what a job or a lab leaves behind, even if its parent was killed.

A process of its own, started with `leftovers.py FOLDER`. Its standard input begins with a message of its
parent (`start_message`), continues with a line on the job before its launcher starts and one on the launcher
afterwards, and ends when the parent closes the pipe or dies. If the parent died without a last message, the
launcher is ended. Then the janitor removes the temporary folder, if one is named, and the files that MPI
libraries left behind: a killed process cannot remove its own. A file counts as left behind if it has a name
like theirs, was not there before, belongs to us, and is used by no process. If a job did not end by itself,
the other hosts are cleaned likewise.

If both are killed, the next mpigauge does the same: `campaign.launch.orphans`.

A janitor is started with every launch, so it imports as little as possible: a third of the time of an
interpreter with pathlib and subprocess.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator

TYPE_CHECKING = False  # as in typing, which takes long to import
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
"""Prefixes of shared memory segments, in use while a process has them open or mapped. System V segments need
no removal: libraries mark them as soon as they are attached, so that they go with their last process."""

TOPOLOGY = "/tmp/hydra_hwloc_xmlfile_"  # noqa: S108 - Hydra asks no TMPDIR
"""Prefix of Hydra's topology files, in use as long as any Hydra runs: they are open only while read."""

HYDRA = "hydra_pmi_proxy"

SIGCONT, SIGKILL = 18, 9
"""Numbers of signals on Linux: the module that names them takes long to import."""

FIRST_PIDS = "pid:[4026531836]"
"""The initial process id namespace, which has the same number on every Linux."""

MARK = "MPIGAUGE_JOB"
"""Environment variable that marks all processes of a job, with a value that no other job has."""

NAME = "mpigauge-tidy"
"""Name of this program in lists of processes, so that `killall python3` leaves it alive."""

DYING_S = 5.0
"""How long the ranks may take to die if the parent was killed."""

PAUSE_S = 0.1


ENDED = b"dead"
"""Last message on a job that has ended by itself; KILLED on one that was killed."""

KILLED = b"killed"
ANSWER_S = 20.0
"""How long remote shells may take, and the janitor itself on this machine."""

AT_ONCE = 64
"""Most remote shells at a time."""

REMOTE_TIDY_SCRIPT = """
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
"""Shell script for another host that removes our segments that are no older than the job and not in use.

The entries of /proc that it lists are numbers, so shellcheck's warning on file names does not apply.
"""


def start_message(elsewhere: str, before: set[str]) -> bytes:
    """Return the first message to a janitor; arguments would be too long for thousands of hosts or files.

    Args:
        elsewhere: Remote shells, as tidy_elsewhere takes them.
        before: Files that exist before the job.
    """
    parts = os.fsencode(elsewhere), b"\0".join(map(os.fsencode, sorted(before)))
    return b"%d %d\n" % (len(parts[0]), len(parts[1])) + b"".join(parts)


def read_start_message(stream: "BinaryIO") -> tuple[str, set[str]] | None:
    """Read the first message; return None if the parent died before it was complete."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    sizes = [int(size) for size in line.split()]
    parts = [stream.read(size) for size in sizes]
    if [len(part) for part in parts] != sizes:
        return None
    return os.fsdecode(parts[0]), {os.fsdecode(path) for path in parts[1].split(b"\0") if path}


def patience_s(message: bytes) -> float:
    """Return how long the janitor with this first message may take after the last one, in seconds."""
    import io
    import json

    told = read_start_message(io.BytesIO(message))
    hosts = len(json.loads(told[0])) if told is not None and told[0] else 0
    return ANSWER_S * (1 + -(-hosts // AT_ONCE))


def job_message(signal: int, mark: str) -> bytes:
    """Return the message on a job that is to start: the signal that ends its launcher, and its mark."""
    return f"{signal} {mark}\n".encode()


def parse_job_message(line: bytes) -> tuple[int, str]:
    """Parse the message on a job."""
    signal, mark = line.split()
    return int(signal), mark.decode()


def launcher_message(pid: int) -> bytes:
    """Return the message on a launcher that has started: its process id."""
    return b"%d\n" % pid


def parse_launcher_message(line: bytes) -> tuple[int, bytes]:
    """Parse the message on a launcher; add when it started, as its process id may be reused."""
    return int(line), _start_time(int(line))


def end_launcher(signal: int, pid: int, born: bytes) -> None:
    """End a launcher that still runs."""
    if born and _start_time(pid) == born:
        send(signal, [pid])


def end_starting_job(signal: int, mark: str) -> None:
    """End a job whose parent died while it started its launcher, which has our mark once it is executed."""
    deadline = time.monotonic() + DYING_S
    while not (started := marked_processes(mark)) and time.monotonic() < deadline:
        time.sleep(PAUSE_S)
    send(signal, started)


def send(signal: int, pids: "Iterable[int]") -> None:
    """Send a signal to processes that may be gone, and continue stopped ones so that they receive it."""
    for pid in pids:
        try:
            os.kill(pid, signal)
            os.kill(pid, SIGCONT)
        except OSError:
            continue


def marked_processes(mark: str) -> list[int]:
    """Return the living processes of a job on this machine, as far as we may see them."""
    word = f"{MARK}={mark}".encode()
    return [
        int(pid)
        for pid in map(os.path.basename, _paths("/proc"))
        if pid.isdigit() and word in environment_of(pid)
    ]


def environment_of(pid: str) -> list[bytes]:
    """Return the environment that a process was started with; [] if it is dead or another user's."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def _start_time(pid: int) -> bytes:
    """Return the start time of a process, as /proc writes it; empty if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19]
    except (OSError, IndexError):
        return b""


def library_files() -> set[str]:
    """Return all files named like those of MPI libraries; in a lab not in /tmp, whose users we cannot see."""
    prefixes = SEGMENTS if "MPIGAUGE_LAB" in os.environ else (*SEGMENTS, TOPOLOGY)
    return {
        path for prefix in prefixes for path in _paths(os.path.dirname(prefix)) if path.startswith(prefix)
    }


def _paths(folder: str) -> list[str]:
    """Return the paths in a folder; [] if it cannot be read."""
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder)]
    except OSError:
        return []


def left_behind(before: set[str]) -> set[str]:
    """Return new files that are ours and in use by no process."""
    ours = {path for path in library_files() - before if _is_ours(path)}
    unneeded = ours - set(_files_in_use(ours)) if ours else ours
    return {
        path for path in unneeded if path.startswith(TOPOLOGY) or not _may_be_used_by_hidden_process(path)
    }


def _is_ours(path: str) -> bool:
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except OSError:
        return False


def _files_in_use(paths: set[str]) -> Iterator[str]:
    """Yield files that living processes use, as far as we may see them."""
    for entry in _paths("/proc"):
        if not os.path.basename(entry).isdigit():
            continue
        if os.path.basename(_link_target(f"{entry}/exe")) == HYDRA:  # empty for dead processes
            yield from (path for path in paths if path.startswith(TOPOLOGY))
        # A segment is mapped before it is closed: in this order it is seen at least once.
        yield from map(_link_target, _paths(f"{entry}/fd"))
        yield from (line[line.find("/") :] for line in _lines(f"{entry}/maps"))


def _may_be_used_by_hidden_process(path: str) -> bool:
    """Return whether a process that we cannot see has a file open or mapped, or may have.

    Containers that share /dev/shm do not see each other's processes, but the kernel does: it grants a lease
    on a file only if nobody else has it open. Where there are no leases, all processes must be visible.
    """
    import signal  # rarely needed

    try:
        before = signal.signal(signal.SIGIO, signal.SIG_IGN)  # which would end us if somebody opened it now
    except ValueError:  # not in this thread
        return not _all_processes_visible()
    try:
        return _cannot_be_leased(path)
    finally:
        signal.signal(signal.SIGIO, before if before is not None else signal.SIG_DFL)


def _cannot_be_leased(path: str) -> bool:
    import fcntl

    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return not _all_processes_visible()
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return not _all_processes_visible()
    finally:
        os.close(file)
    return False


def _all_processes_visible() -> bool:
    """Return whether our /proc has all processes of this machine, as in the initial namespace."""
    return _link_target("/proc/self/ns/pid") == FIRST_PIDS


def _link_target(link: str) -> str:
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
    """Remove the folder and files not in use any more; return whether nothing is left."""
    if folder and os.path.exists(folder):
        import shutil  # only needed if our parent was killed, and slow to import

        shutil.rmtree(folder, ignore_errors=True)
    remove_left_behind(before)
    return not (folder and os.path.exists(folder)) and library_files() <= before


def remove_left_behind(before: set[str]) -> int:
    """Remove files that libraries left behind; return how many."""
    return sum(map(_remove, left_behind(before)))


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def tidy_elsewhere(elsewhere: str, seconds: float) -> None:
    """Remove what a killed job left on other hosts.

    Args:
        elsewhere: JSON list with the command of a remote shell on each host; may be empty.
        seconds: How long the job ran.
    """
    if not elsewhere:
        return
    import json  # rarely needed
    import subprocess

    patterns = " ".join(f"{prefix}*" for prefix in SEGMENTS)
    script = REMOTE_TIDY_SCRIPT.format(patterns=patterns, minutes=int(seconds / 60) + 1)
    hosts = json.loads(elsewhere)
    for first in range(0, len(hosts), AT_ONCE):
        asked = []
        for shell in hosts[first : first + AT_ONCE]:
            reading = _pipe_with(script)  # for `sh`, whatever the login shell is
            asked.append(subprocess.Popen([*shell, "sh"], stdin=reading))
            os.close(reading)
        deadline = time.monotonic() + ANSWER_S
        for process in asked:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()


def _pipe_with(text: str) -> int:
    """Return the reading end of a pipe with this text, which fits its buffer."""
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
    """Wait for the parent, and tidy up: once if it says that all ranks are dead, else until they are."""
    _take_name()
    folder = sys.argv[1]
    begun = time.monotonic()
    message = read_start_message(sys.stdin.buffer)
    if message is None:  # no job has begun, and the owner of files is not known
        tidy(folder, library_files())
        return
    elsewhere, before = message
    last_message = sys.stdin.buffer.readline()
    job = launcher = None
    if last_message.endswith(b"\n"):
        job = parse_job_message(last_message)
        last_message = sys.stdin.buffer.readline()
        if last_message.endswith(b"\n"):
            launcher = parse_launcher_message(last_message)
            last_message = sys.stdin.buffer.read()
    if job is not None and not last_message:
        signal, mark = job
        if launcher is None:
            end_starting_job(signal, mark)
        else:
            end_launcher(signal, *launcher)
            # A stopped rank does not notice that its launcher is gone.
            send(SIGCONT, marked_processes(mark))
    ended = time.monotonic()
    while not tidy(folder, before) and time.monotonic() < ended + (0.0 if last_message else DYING_S):
        time.sleep(PAUSE_S)
    if job is not None and not last_message and job[0] == SIGKILL and (survivors := marked_processes(job[1])):
        send(SIGKILL, survivors)  # other launchers may still be ending their ranks elsewhere
        time.sleep(PAUSE_S)
        tidy(folder, before)
    if last_message != ENDED:
        tidy_elsewhere(elsewhere, ended - begun)


if __name__ == "__main__":
    main()
