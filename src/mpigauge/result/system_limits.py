"""Limits of the system that MPI libraries may reach: shared and locked memory, open files, ptrace."""

import os
import resource
from collections.abc import Iterator

from mpigauge.result.system_files import read
from mpigauge.units import format_size

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - looked at, never written
PTRACE_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"

LIMITS = (
    ("size of a file", "f", resource.RLIMIT_FSIZE, 1 << 30),
    ("address space", "v", resource.RLIMIT_AS, 8 << 30),
    ("processes", "u", resource.RLIMIT_NPROC, 1024),
)
"""Resource, option of ulimit, limit, and the value below which it is low: bytes, or processes."""


def shared_memory_bytes() -> int | None:
    """Return the size of the file system of shared memory segments; None if we cannot write there."""
    statistics = _shared_memory()
    return None if statistics is None else statistics.f_blocks * statistics.f_frsize


def shared_memory_free_bytes() -> int | None:
    """Return the free space of the file system of shared memory segments; None if we cannot write there."""
    statistics = _shared_memory()
    return None if statistics is None else statistics.f_bavail * statistics.f_frsize


def _shared_memory() -> os.statvfs_result | None:
    return os.statvfs(SHARED_MEMORY) if os.access(SHARED_MEMORY, os.W_OK) else None


def locked_memory_bytes() -> int | None:
    """Return the bytes that a process may lock, as network cards require; None if there is no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return None if soft == resource.RLIM_INFINITY else soft


def low_limits() -> Iterator[tuple[str, str, int]]:
    """Yield limits too low for jobs of a few ranks: resource, option of ulimit, and limit."""
    for what, option, number, needed in LIMITS:
        soft, _ = resource.getrlimit(number)
        if soft not in (resource.RLIM_INFINITY, -1) and soft < needed:
            yield what, option, soft


def limit_of(option: str) -> str:
    """Return the limit of an option of ulimit, with what it limits: of files, or a low one; empty if none."""
    if option == "n":
        files = open_files()
        return "" if files is None else f"open files: {files} at most per process"
    for what, one, most in low_limits():
        if one == option:
            return f"{what}: {most if one == 'u' else format_size(most)} at most"
    return ""


def open_files() -> int | None:
    """Return how many files and connections a process may have open; None if there is no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def processes() -> int | None:
    """Return how many processes and threads this user may have; None if there is no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return None if soft == resource.RLIM_INFINITY else soft


def ptrace_scope() -> int | None:
    """Return who may read a process's memory: 0 its user, 1 its parent or whom it permits, 2 root, 3 nobody.

    None if not known. Source: Documentation/admin-guide/LSM/Yama.rst of Linux.
    """
    text = read(PTRACE_SCOPE)
    return int(text) if text.isdecimal() else None
