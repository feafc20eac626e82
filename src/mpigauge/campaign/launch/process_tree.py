"""Descendants of processes, read from /proc: which there are, their states and their names."""

import contextlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """The state of a process at one moment.

    Attributes:
        name: Name of its program, cut to NAME_BYTES by the system.
        started: Its start, in ticks since boot, which tells it from others with the same id.
        status: Its status as of wait(); 0 while it lives, or where we may not read it.
    """

    name: str
    state: str
    parent: int
    started: int
    status: int

    @property
    def is_dead(self) -> bool:
        """Whether it is dead, a zombie at most."""
        return self.state in ("Z", "X")

    @property
    def is_stopped(self) -> bool:
        """Whether it is stopped, by a signal or a debugger."""
        return self.state in ("T", "t")


NAME_BYTES = 15


def process(pid: int) -> Process | None:
    """Return the state of a process; None if there is none of this id."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    name, fields = text.partition(b"(")[2].rpartition(b")")[0], _fields(text)
    state, parent = fields[0].decode(), int(fields[1])
    status = int(fields[49]) if state == "Z" and len(fields) > 49 else 0  # noqa: PLR2004 - its place
    return Process(name.decode(errors="replace"), state, parent, int(fields[19]), status)


def descendants(root: int) -> list[int]:
    """Return all descendants of a process; [] where there is no /proc."""
    return descendants_of(root)[0]


def descendants_of(*roots: int) -> list[list[int]]:
    """Return the descendants of each of several processes, as of one moment.

    This reads a file per process of the machine, of which a large node has thousands: so it is done once for
    all roots, and without what makes reading a small file slow.
    """
    children: dict[int, list[int]] = {}
    for pid in map(int, filter(str.isdigit, _in_proc())):
        with contextlib.suppress(OSError, ValueError, IndexError):
            children.setdefault(int(_status(pid)[1]), []).append(pid)
    return [_below(root, children) for root in roots]


def _below(root: int, children: Mapping[int, Sequence[int]]) -> list[int]:
    below: list[int] = []
    front = [root]
    while front:
        direct = children.get(front.pop(), ())
        below += direct
        front += direct
    return below


def _in_proc() -> list[str]:
    try:
        return os.listdir("/proc")  # noqa: PTH208 - a path for each takes longer than to read its file
    except OSError:
        return []


def _status(pid: int) -> list[bytes]:
    """Return the fields of /proc/PID/stat after the name, which is in parentheses and may be anything."""
    with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - likewise
        return _fields(file.read())


def _fields(text: bytes) -> list[bytes]:
    return text.rpartition(b")")[2].split()


def is_zombie(pid: int) -> bool:
    """Return whether a process is dead, reaped or not."""
    try:
        return _status(pid)[0] == b"Z"
    except OSError:
        return True


def is_marked(pid: int, name: str, value: str) -> bool:
    """Return whether a process was started with this variable in its environment."""
    try:
        return f"{name}={value}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def describe(pid: int) -> str:
    """Return a process as words for a sentence: id, name and state."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
        return f"{pid} ({name}, state {_status(pid)[0].decode()})"
    except OSError:
        return str(pid)


def reap_adopted(launcher: int, known: Collection[int]) -> None:
    """Reap orphans of a launcher that became our children.

    Not the launcher itself, and no children that other code in this process has started, such as a notebook
    or a thread: it would be told that they succeeded.

    Args:
        known: Processes of the job seen alive earlier; they may be in sessions of their own.
    """
    for pid in descendants(os.getpid()):
        if pid != launcher and (pid in known or _session(pid) == launcher) and is_zombie(pid):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _session(pid: int) -> int:
    try:
        return int(_status(pid)[3])
    except (OSError, ValueError, IndexError):
        return 0
