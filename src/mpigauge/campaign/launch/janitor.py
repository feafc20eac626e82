"""Starts the program that removes what a job or a lab left behind, for as long as they run."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mpigauge.campaign.launch import leftovers, owner
from mpigauge.programs import with_program_path

DEAF_TO = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


@dataclass
class Janitor:
    """The program at work, as its parent talks with it.

    Attributes:
        said: What it is told in the end: leftovers.ENDED, unless that is replaced by leftovers.KILLED.
    """

    process: subprocess.Popen[bytes] | None
    said: bytes = leftovers.ENDED

    def watch(self, launcher: int, orphaned: signal.Signals, mark: str) -> None:
        """Has a process ended by this signal if we die before we say anything else, and those of its job."""
        if self.process is not None and self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(self.process.stdin.fileno(), leftovers.told_of(launcher, orphaned, mark))


def known(elsewhere: Sequence[Sequence[str]] = ()) -> bytes:
    """Return what a janitor has to know before a job begins.

    Args:
        elsewhere: For each other host the words that start a shell there.
    """
    return leftovers.told(json.dumps(_startable(elsewhere)) if elsewhere else "", leftovers.files())


@contextlib.contextmanager
def janitor(folder: str = "", told: bytes = b"") -> Iterator[Janitor]:
    """Has one wait while something runs that is dead in the end; goes on without where none can be.

    Args:
        folder: A temporary folder to remove, too.
        told: What was `known` before; empty: what is known now, and of this machine alone.
    """
    told = told or known()
    one = Janitor(_started(folder, told))
    try:
        yield one
    finally:
        if one.process is not None and one.process.stdin is not None:
            owner.release(one.process.stdin.fileno())
            with contextlib.suppress(BrokenPipeError):
                one.process.communicate(one.said)
        if one.process is None or one.process.returncode != 0:
            _do_its_work(told, folder)


def _do_its_work(told: bytes, folder: str) -> None:
    """Tidy up for a janitor that could not be, or that somebody has killed."""
    if (found := leftovers.heard(io.BytesIO(told))) is not None:
        leftovers.tidy(folder, found[1])


def _started(folder: str, told: bytes) -> subprocess.Popen[bytes] | None:
    words = [sys.executable, "-IS", leftovers.__file__, folder]
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
        owner.hold(process.stdin.fileno())
        with contextlib.suppress(BrokenPipeError):
            _write(process.stdin.fileno(), told)
    return process


def _startable(commands: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the commands whose programs are there, with their paths."""
    found = []
    for command in commands:
        with contextlib.suppress(FileNotFoundError):
            found.append(with_program_path(command))
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
