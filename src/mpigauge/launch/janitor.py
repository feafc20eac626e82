"""Starts the program that removes what a job or a lab left behind, for as long as they run."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mpigauge.launch import leftovers
from mpigauge.programs import located

DEAF_TO = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})

_OUR_ENDS: set[int] = set()
"""Of the pipes to janitors at work: as long as one process holds an end, its janitor takes us for alive."""


def _let_go() -> None:
    """In a copy of us, such as a worker of a pool that a user's program forks while we measure."""
    while _OUR_ENDS:
        with contextlib.suppress(OSError):
            os.close(_OUR_ENDS.pop())


os.register_at_fork(after_in_child=_let_go)


@dataclass
class Janitor:
    """The program at work, as its parent talks with it.

    Attributes:
        said: What it is told in the end: leftovers.ENDED, unless that is replaced by leftovers.KILLED.
    """

    process: subprocess.Popen[bytes] | None
    said: bytes = leftovers.ENDED

    def watch(self, launcher: int, orphaned: signal.Signals) -> None:
        """Has a process ended by this signal if we die before we say anything else."""
        if self.process is not None and self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(self.process.stdin.fileno(), b"%d %d\n" % (launcher, orphaned))


@contextlib.contextmanager
def janitor(folder: str = "", elsewhere: Sequence[Sequence[str]] = ()) -> Iterator[Janitor]:
    """Has one wait while something runs that is dead in the end; goes on without where none can be.

    Args:
        folder: A temporary folder to remove, too.
        elsewhere: For each other host the words that start a shell there.
    """
    one = Janitor(_started(folder, elsewhere))
    try:
        yield one
    finally:
        if one.process is not None and one.process.stdin is not None:
            _OUR_ENDS.discard(one.process.stdin.fileno())
            with contextlib.suppress(BrokenPipeError):
                one.process.communicate(one.said)


def _started(folder: str, elsewhere: Sequence[Sequence[str]]) -> subprocess.Popen[bytes] | None:
    words = [sys.executable, "-IS", leftovers.__file__, folder]
    known = leftovers.told(json.dumps(_startable(elsewhere)) if elsewhere else "", leftovers.files())
    process = None
    with contextlib.suppress(OSError), _deaf():
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            # It may outlive us: whoever reads what we print would wait for it, too.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # so that what ends us does not end it
        )
    if process is not None and process.stdin is not None:
        _OUR_ENDS.add(process.stdin.fileno())
        with contextlib.suppress(BrokenPipeError):
            _write(process.stdin.fileno(), known)
    return process


def _startable(commands: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the commands whose programs are there, with their paths."""
    found = []
    for command in commands:
        with contextlib.suppress(FileNotFoundError):
            found.append(located(command))
    return found


def _write(pipe: int, data: bytes) -> None:
    """All of it: what is more than a pipe takes waits for the reader."""
    while data:
        data = data[os.write(pipe, data) :]


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """A program that is started meanwhile does not hear these signals, from its first instruction on.

    It inherits what this thread has blocked. Nothing of ours runs between fork and exec: there, another
    thread (of numpy's libraries, of a notebook) may be gone in the middle of something that all need.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, DEAF_TO)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
