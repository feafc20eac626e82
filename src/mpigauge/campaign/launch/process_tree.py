"""Processes below one, by /proc: which there are, whose they are, what they are called."""

import contextlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """A process as the system knows it at one moment.

    Attributes:
        name: Of its program, as far as the system keeps it (NAME_BYTES).
        started: When, in ticks since the machine was started: no other of its number has the same.
        status: How it ended, as wait() says it; 0 while it lives, or where we may not know.
    """

    name: str
    state: str
    parent: int
    started: int
    status: int

    @property
    def is_dead(self) -> bool:
        """Whether it is a zombie."""
        return self.state in ("Z", "X")


NAME_BYTES = 15


def process(pid: int) -> Process | None:
    """Return what the system knows of a process; None if there is none of this number."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    name, fields = text.partition(b"(")[2].rpartition(b")")[0], _fields(text)
    state, parent = fields[0].decode(), int(fields[1])
    status = int(fields[49]) if state == "Z" and len(fields) > 49 else 0  # noqa: PLR2004 - its place
    return Process(name.decode(errors="replace"), state, parent, int(fields[19]), status)


def descendants(root: int) -> list[int]:
    """All processes below one; none where there is no /proc."""
    return descendants_of(root)[0]


def descendants_of(*roots: int) -> list[list[int]]:
    """All processes below each of some, as they are at one moment.

    One look at all processes of the machine, of which a large node has thousands: so it is looked at once for
    all that is asked, and without what makes reading a small file slow.
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
        found = children.get(front.pop(), ())
        below += found
        front += found
    return below


def _in_proc() -> list[str]:
    try:
        return os.listdir("/proc")  # noqa: PTH208 - a path for each takes longer than to read its file
    except OSError:
        return []


def _status(pid: int) -> list[bytes]:
    """State, parent and more of a process; the name before them, in parentheses, may hold anything."""
    with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123 - likewise
        return _fields(file.read())


def _fields(text: bytes) -> list[bytes]:
    return text.rpartition(b")")[2].split()


def is_zombie(pid: int) -> bool:
    """Whether it is dead, whoever may still want to know how it ended."""
    try:
        return _status(pid)[0] == b"Z"
    except OSError:
        return True


def is_marked(pid: int, name: str, value: str) -> bool:
    """Whether a process was started with this variable in its environment."""
    try:
        return f"{name}={value}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def in_words(pid: int) -> str:
    """A process for a sentence: number, name and state."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
        return f"{pid} ({name}, state {_status(pid)[0].decode()})"
    except OSError:
        return str(pid)


def reap_adopted(launcher: int, known: Collection[int]) -> None:
    """Takes the exit status of orphans of a launcher that became our children.

    Not the launcher's own, and not that of children which others in this process have started, a notebook
    or a thread: they would be told that all went well.

    Args:
        known: Processes of the job that were seen alive; they may be in sessions of their own.
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
