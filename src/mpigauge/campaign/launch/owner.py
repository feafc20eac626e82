"""Who a temporary folder belongs to: whether that process lives can be told by others, and by its ranks."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct

from mpigauge.campaign.launch.process_tree import process

RECORD = "owner.json"
"""The file of a temporary folder that names its owner."""

VARIABLE = "MPIGAUGE_OWNER"
"""Tells ranks on this machine how to notice that their owner has died: src/mpigauge/kernel/ranks/leave.h."""

PIPE = "alive"
"""The named pipe of a job's folder that its owner reads from, though nobody writes."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PIDS = Path("/proc/self/ns/pid")

_OUR_ENDS: set[int] = set()
"""Of pipes whose other end takes us for alive as long as one process holds ours."""


def _let_go() -> None:
    """In a copy of us, such as a worker of a pool that a user's program forks while we measure."""
    while _OUR_ENDS:
        with contextlib.suppress(OSError):
            os.close(_OUR_ENDS.pop())


os.register_at_fork(after_in_child=_let_go)


def hold(fd: int) -> None:
    """Remember a descriptor that copies of us must not keep open."""
    _OUR_ENDS.add(fd)


def release(fd: int) -> None:
    """Forget it again, before it is closed."""
    _OUR_ENDS.discard(fd)


class Owner(Struct, frozen=True):
    """A process, told from all others that there were or will be.

    Attributes:
        pid: Its number.
        started: When, in ticks since the machine was started: no other of its number has the same.
        boot: Which start of which machine that was.
        pids: The namespace that its number is of.
    """

    pid: int
    started: int
    boot: str
    pids: str

    @classmethod
    def us(cls) -> Self | None:
        """Return this process; None where the system does not tell."""
        pid = os.getpid()
        found = process(pid)
        with contextlib.suppress(OSError):
            return None if found is None else cls(pid, found.started, boot(), str(_PIDS.readlink()))
        return None

    @property
    def is_dead(self) -> bool:
        """Whether it is gone for certain: of another machine or another namespace we cannot tell."""
        try:
            seen = (boot(), str(_PIDS.readlink())) == (self.boot, self.pids)
        except OSError:
            return False
        found = process(self.pid)
        return seen and (found is None or found.started != self.started or found.is_dead)


def boot() -> str:
    """Return what tells this start of this machine from any other.

    Raises:
        OSError: The system does not say.
    """
    return _BOOT.read_text(encoding="ascii").strip()


def claim(folder: Path) -> None:
    """Write into a new folder that it is ours.

    Raises:
        OSError: It cannot be written.
    """
    if (us := Owner.us()) is not None:
        (folder / RECORD).write_bytes(msgspec.json.encode(us))


def owner_of(folder: Path) -> Owner | None:
    """Return whom one of our folders belongs to; None if that is not known, or if it is another user's."""
    try:
        status = folder.lstat()
        if status.st_uid != os.geteuid() or folder.is_symlink():
            return None
        return msgspec.json.decode((folder / RECORD).read_bytes(), type=Owner)
    except (OSError, msgspec.DecodeError):
        return None


@contextlib.contextmanager
def noticed(folder: Path) -> Iterator[dict[str, str]]:
    """Let ranks on this machine notice our death; the variable that tells them how, if that is possible."""
    pipe = folder / PIPE
    try:
        word = f"{boot()}:{pipe}"
        os.mkfifo(pipe, 0o600)
        fd = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield {}
        return
    hold(fd)
    try:
        yield {VARIABLE: word}
    finally:
        release(fd)
        os.close(fd)
