"""The owner of a temporary folder, recorded so that other processes and ranks can tell whether it lives."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct

from mpigauge.campaign.launch.process_tree import process

RECORD = "owner.json"
"""Name of the file in a temporary folder that identifies its owner."""

VARIABLE = "MPIGAUGE_OWNER"
"""Tells ranks on this machine how to notice that their owner has died: src/mpigauge/kernel/ranks/orphan.h."""

PIPE = "alive"
"""Name of the pipe in a job's folder that its owner holds open for reading; nobody writes to it."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PIDS = Path("/proc/self/ns/pid")

_OWN_DESCRIPTORS: set[int] = set()
"""Descriptors of pipes whose other ends take us for alive as long as any process holds ours."""


def _close_in_fork() -> None:
    """Close them in a fork of this process, such as a worker of a user's process pool."""
    while _OWN_DESCRIPTORS:
        with contextlib.suppress(OSError):
            os.close(_OWN_DESCRIPTORS.pop())


os.register_at_fork(after_in_child=_close_in_fork)


def register(fd: int) -> None:
    """Register a descriptor that forks of this process must not keep open."""
    _OWN_DESCRIPTORS.add(fd)


def unregister(fd: int) -> None:
    """Unregister a descriptor before it is closed."""
    _OWN_DESCRIPTORS.discard(fd)


class Owner(Struct, frozen=True):
    """The identity of a process, unique over time and machines.

    Attributes:
        pid: Its process id.
        started: Its start, in ticks since boot, which tells it from others with the same id.
        boot: The boot id of the machine.
        pids: The namespace of its process id.
    """

    pid: int
    started: int
    boot: str
    pids: str

    @classmethod
    def current(cls) -> Self | None:
        """Return the identity of this process; None where the system does not say."""
        pid = os.getpid()
        our_process = process(pid)
        with contextlib.suppress(OSError):
            return (
                None if our_process is None else cls(pid, our_process.started, boot(), str(_PIDS.readlink()))
            )
        return None

    @property
    def is_dead(self) -> bool:
        """Whether it is certainly dead; False for a process of another machine or namespace."""
        try:
            seen = (boot(), str(_PIDS.readlink())) == (self.boot, self.pids)
        except OSError:
            return False
        its_process = process(self.pid)
        return seen and (its_process is None or its_process.started != self.started or its_process.is_dead)


def boot() -> str:
    """Return the boot id of this machine.

    Raises:
        OSError: The system does not say.
    """
    return _BOOT.read_text(encoding="ascii").strip()


def claim(folder: Path) -> None:
    """Record in a new folder that it is ours.

    Raises:
        OSError: It cannot be written.
    """
    if (us := Owner.current()) is not None:
        (folder / RECORD).write_bytes(msgspec.json.encode(us))


def owner_of(folder: Path) -> Owner | None:
    """Return the owner of a folder; None if it is not known, or if it is another user's."""
    try:
        status = folder.lstat()
        if status.st_uid != os.geteuid() or folder.is_symlink():
            return None
        return msgspec.json.decode((folder / RECORD).read_bytes(), type=Owner)
    except (OSError, msgspec.DecodeError):
        return None


@contextlib.contextmanager
def death_notice(folder: Path) -> Iterator[dict[str, str]]:
    """Let ranks on this machine notice our death during the context; yield the variable for that."""
    pipe = folder / PIPE
    try:
        word = f"{boot()}:{pipe}"
        os.mkfifo(pipe, 0o600)
        fd = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield {}
        return
    register(fd)
    try:
        yield {VARIABLE: word}
    finally:
        unregister(fd)
        os.close(fd)
