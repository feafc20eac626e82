"""What MPI libraries need of the system: shared and locked memory, connections, each other's memory."""

import os
import resource

from mpigauge.result.system_files import read

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - looked at, never written
PTRACE_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"


def shared_memory_bytes() -> int | None:
    """Size of the file system that segments of libraries lie in; None if we cannot write there."""
    if not os.access(SHARED_MEMORY, os.W_OK):
        return None
    there = os.statvfs(SHARED_MEMORY)
    return there.f_blocks * there.f_frsize


def room_in(folder: str) -> tuple[int, int]:
    """Return how many bytes and files a folder has room for; many files where none are counted."""
    there = os.statvfs(folder)
    return there.f_bavail * there.f_frsize, there.f_favail if there.f_files else 2**31


def locked_memory_bytes() -> int | None:
    """Memory that a process may keep from being swapped, as cards need it; None if there is no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return None if soft == resource.RLIM_INFINITY else soft


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
