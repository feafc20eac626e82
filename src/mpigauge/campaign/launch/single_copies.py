"""Trying whether a process may read another's memory, which saves a copy of each large message (CMA)."""

import ctypes
import os
import select
import subprocess
import sys
from typing import Any

WORD = b"single copy"
OTHER_PROGRAM = f"""
import ctypes
word = ctypes.create_string_buffer({WORD!r})
print(ctypes.addressof(word), flush=True)
input()
"""
"""Program that prints the address of its word, and waits."""

ANSWER_S = 20.0


class _Iovec(ctypes.Structure):
    """The struct iovec of C."""

    _fields_ = (("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


def refusal() -> str | None:
    """Try to read a child's memory, as libraries do (CMA); return the system's error message.

    With ptrace_scope 1, a child's memory can be read, but not that of other processes.

    Returns:
        "" if it works; None if the system has no such call, or the child did not start in time.
    """
    call = getattr(ctypes.CDLL(None, use_errno=True), "process_vm_readv", None)
    if call is None:
        return None
    command = [sys.executable, "-ISc", OTHER_PROGRAM]
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError:  # as where a limit of processes is reached
        return None
    with child as other:
        try:
            assert other.stdout is not None  # noqa: S101 - for the types
            ready, _, _ = select.select([other.stdout], [], [], ANSWER_S)
            address = other.stdout.readline() if ready else b""
            return _reading(call, other.pid, int(address)) if address.strip().isdigit() else None
        finally:
            other.kill()


def _reading(call: Any, pid: int, address: int) -> str:
    """Return what is wrong with reading the word of another process; "" if nothing is."""
    buffer = ctypes.create_string_buffer(len(WORD))
    local, remote = _Iovec(ctypes.addressof(buffer), len(WORD)), _Iovec(address, len(WORD))
    call.restype = ctypes.c_ssize_t
    call.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_void_p, *(ctypes.c_ulong,) * 2)
    if call(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) < 0:
        return os.strerror(ctypes.get_errno())
    return "" if buffer.raw == WORD else "it gives other bytes"
