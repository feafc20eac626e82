"""What MPI libraries need of the system: shared and locked memory, connections, each other's memory."""

import os
import resource
from collections.abc import Iterator

from mpigauge.result.system_files import read

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - looked at, never written
PTRACE_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"

LIMITS = (
    ("size of a file", "f", resource.RLIMIT_FSIZE, 1 << 30),
    ("address space", "v", resource.RLIMIT_AS, 8 << 30),
    ("processes", "u", resource.RLIMIT_NPROC, 1024),
)
"""What is limited, the option of ulimit, the limit, and below what it is low: in bytes but for processes."""


def shared_memory_bytes() -> int | None:
    """Size of the file system that segments of libraries lie in; None if we cannot write there."""
    there = _shared_memory()
    return None if there is None else there.f_blocks * there.f_frsize


def shared_memory_free_bytes() -> int | None:
    """Free space of that file system; None if we cannot write there."""
    there = _shared_memory()
    return None if there is None else there.f_bavail * there.f_frsize


def _shared_memory() -> os.statvfs_result | None:
    return os.statvfs(SHARED_MEMORY) if os.access(SHARED_MEMORY, os.W_OK) else None


def room_in(folder: str) -> tuple[int, int]:
    """Return how many bytes and files a folder has room for; many files where none are counted."""
    there = os.statvfs(folder)
    return there.f_bavail * there.f_frsize, there.f_favail if there.f_files else 2**31


def locked_memory_bytes() -> int | None:
    """Memory that a process may keep from being swapped, as cards need it; None if there is no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return None if soft == resource.RLIM_INFINITY else soft


def low_limits() -> Iterator[tuple[str, str, int]]:
    """Limits below what jobs with a few ranks need: what of, the option of ulimit, and the limit."""
    for what, option, number, needed in LIMITS:
        soft, _ = resource.getrlimit(number)
        if soft not in (resource.RLIM_INFINITY, -1) and soft < needed:
            yield what, option, soft


def open_files() -> int | None:
    """Files and connections that a process may have open; None if there is no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def processes() -> int | None:
    """Return how many processes and threads this user may have; None if there is no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return None if soft == resource.RLIM_INFINITY else soft


def ptrace_scope() -> int | None:
    """Who may read a process's memory: 0 all of one user, 1 a parent, or whom it lets, 2 root, 3 nobody.

    None where the system does not say. Source: Documentation/admin-guide/LSM/Yama.rst of Linux.
    """
    text = read(PTRACE_SCOPE)
    return int(text) if text.isdecimal() else None
