"""Processes below one, by /proc: which there are, whose they are, what they are called."""

import contextlib
import os
from pathlib import Path


def descendants(root: int) -> list[int]:
    """All processes below one; empty where there is no /proc."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents.setdefault(int(_status(int(entry.name))[1]), []).append(int(entry.name))
    below: list[int] = []
    front = [root]
    while front:
        children = parents.get(front.pop(), [])
        below += children
        front += children
    return below


def _status(pid: int) -> list[str]:
    """State, parent and more of a process; the name before them, in parentheses, may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()


def is_zombie(pid: int) -> bool:
    """Whether it is dead, whoever may still want to know how it ended."""
    try:
        return _status(pid)[0] == "Z"
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
        return f"{pid} ({name}, state {_status(pid)[0]})"
    except OSError:
        return str(pid)


def reap_adopted(launcher: int) -> None:
    """Takes the exit status of orphans that became our children, but not the launcher's own."""
    for pid in descendants(os.getpid()):
        if pid != launcher and is_zombie(pid):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
