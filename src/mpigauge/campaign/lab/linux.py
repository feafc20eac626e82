"""System calls of Linux that Python 3.11 lacks."""

import array
import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

NEW_MOUNTS = 0x00020000
NEW_NAME = 0x04000000
NEW_IPC = 0x08000000
NEW_USERS = 0x10000000
NEW_PROCESSES = 0x20000000
NEW_NETWORK = 0x40000000

BIND = 4096
RECURSIVE_PRIVATE = 16384 | 1 << 18
UNTRUSTED = 2 | 4 | 8
"""Mount options without set-user-ID, devices and programs, as usual for /proc and /sys."""

_DIE_WITH_PARENT = 1
_ETHTOOL = 0x8946
_OFFLOADS = (0x15, 0x17, 0x19, 0x1F, 0x24, 0x2C)
"""Offloads of checksums in and out, scatter-gather, and three kinds of segmentation or coalescing."""


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _check(status: int, what: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def fork(work: Callable[[], int]) -> int:
    """Fork a child that does the work and exits with its status; return the child's process id."""
    pid = os.fork()
    if pid != 0:
        return pid
    status = 1
    try:
        status = work()
    except BaseException:  # noqa: BLE001 - a fault of ours: its traceback must not end in the parent's code
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def unshare(namespaces: int) -> None:
    """Move this process into new namespaces; a new process id namespace is for its children."""
    _check(_libc().unshare(namespaces), "unshare")


def enter(pid: int, kinds: tuple[str, ...]) -> None:
    """Move this process into namespaces of another process: net, uts, ipc, mnt."""
    fds = [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in kinds]
    for fd, kind in zip(fds, kinds, strict=True):
        _check(_libc().setns(fd, 0), kind)
        os.close(fd)


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    """Mount a file system, or with BIND a file or folder, on a target."""
    arguments = [word.encode() if word is not None else None for word in (source, target, kind, data)]
    _check(
        _libc().mount(arguments[0], arguments[1], arguments[2], ctypes.c_ulong(flags), arguments[3]), target
    )


def die_with_parent() -> None:
    """Have this process killed when its parent ends."""
    _check(_libc().prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0), "prctl")


def offloads_off(interface: str) -> None:
    """Turn offloads off, so that packets have the link's size and checksums when they leave."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for offload in _OFFLOADS:
            value = array.array("I", (offload, 0))
            request = struct.pack("16sP16x", interface.encode(), value.buffer_info()[0])
            fcntl.ioctl(any_socket, _ETHTOOL, request)
