"""Starting the janitor, the program that removes what a job or a lab leaves behind."""

import contextlib
import io
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mpigauge.campaign.launch import leftovers, owner
from mpigauge.programs import with_program_path

BLOCKED_SIGNALS = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP})
KILL_WAIT_S = 5.0


@dataclass
class Janitor:
    """A running janitor, from its parent's side.

    Attributes:
        last_message: The last message to it: leftovers.ENDED, or leftovers.KILLED if the job was killed.
    """

    process: subprocess.Popen[bytes] | None
    last_message: bytes = leftovers.ENDED

    def expect(self, orphaned: signal.Signals, mark: str) -> None:
        """Have a job that is about to start ended by this signal if we die before the last message."""
        self._tell(leftovers.job_message(orphaned, mark))

    def watch(self, launcher: int) -> None:
        """Name the launcher of the expected job, which has started: it alone is to have the signal."""
        self._tell(leftovers.launcher_message(launcher))

    def _tell(self, message: bytes) -> None:
        if self.process is not None and self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(self.process.stdin.fileno(), message)


@dataclass(frozen=True)
class DismissedJanitor:
    """A janitor that has had its last message, and may still be tidying up."""

    process: subprocess.Popen[bytes]
    message: bytes
    folder: str
    dismissed_s: float = field(default_factory=time.monotonic)

    def wait(self) -> None:
        """Wait until it has ended; kill one that does not, as it was stopped, or a file system hangs.

        What such a one has not done is done here.
        """
        left_s = self.dismissed_s + leftovers.patience_s(self.message) - time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, left_s))
        if self.process.returncode is None:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(KILL_WAIT_S)
        if self.process.returncode != 0:
            _tidy_instead(self.message, self.folder)


def first_message(elsewhere: Sequence[Sequence[str]] = ()) -> bytes:
    """Return the first message to a janitor, made before a job begins.

    Args:
        elsewhere: Command of a remote shell on each other host.
    """
    return leftovers.start_message(
        json.dumps(_startable(elsewhere)) if elsewhere else "", leftovers.library_files()
    )


@contextlib.contextmanager
def janitor(
    folder: str = "", message: bytes = b"", dismissed: list[DismissedJanitor] | None = None
) -> Iterator[Janitor]:
    """Keep a janitor waiting during the context; without one if none can be started.

    Args:
        folder: A temporary folder to remove, too.
        message: The first message, as `first_message` returns it; empty for its default.
        dismissed: Takes the janitor of a job that has ended by itself, for somebody else to wait for: the
            next job need not. Where it is None, or the job was killed, the janitor has ended after the
            context.
    """
    message = message or first_message()
    running = Janitor(_started(folder, message))
    try:
        yield running
    finally:
        if running.process is None:
            _tidy_instead(message, folder)
        else:
            _dismiss(running.process, running.last_message)
            leaving = DismissedJanitor(running.process, message, folder)
            if dismissed is not None and running.last_message == leftovers.ENDED:
                wait_for_all(dismissed)  # that of the job before has had a whole launch to end in
                dismissed.append(leaving)
            else:
                leaving.wait()


def wait_for_all(dismissed: list[DismissedJanitor]) -> None:
    """Wait for janitors, and forget them."""
    while dismissed:
        dismissed.pop().wait()


def _dismiss(process: subprocess.Popen[bytes], last_message: bytes) -> None:
    """Send a janitor its last message."""
    if process.stdin is not None:
        owner.unregister(process.stdin.fileno())
        with contextlib.suppress(BrokenPipeError):
            os.write(process.stdin.fileno(), last_message)
        process.stdin.close()


def _tidy_instead(message: bytes, folder: str) -> None:
    """Tidy up in place of a janitor that could not be started, or was killed."""
    if (parsed := leftovers.read_start_message(io.BytesIO(message))) is not None:
        leftovers.tidy(folder, parsed[1])


def _started(folder: str, message: bytes) -> subprocess.Popen[bytes] | None:
    command = [sys.executable, "-IS", leftovers.__file__, folder]
    process = None
    with contextlib.suppress(OSError), _signals_blocked():
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            # It may outlive us: a reader of our output would wait for it, too.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # so that a signal to our group does not end it
        )
    if process is not None and process.stdin is not None:
        owner.register(process.stdin.fileno())
        with contextlib.suppress(BrokenPipeError):
            if not _write(process.stdin.fileno(), message):
                process.kill()  # it would take the end of this message for the next one
    return process


def _startable(commands: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the commands whose programs are there, with their paths."""
    found = []
    for command in commands:
        with contextlib.suppress(FileNotFoundError):
            found.append(with_program_path(command))
    return found


def _write(pipe: int, data: bytes) -> bool:
    """Write all data, waiting for the reader if the pipe is full; return whether it has taken all in time."""
    until = time.monotonic() + leftovers.ANSWER_S
    while data and select.select([], [pipe], [], max(0.0, until - time.monotonic()))[1]:
        data = data[os.write(pipe, data[: select.PIPE_BUF]) :]  # so much has room, and does not wait
    return not data


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block BLOCKED_SIGNALS during the context, for a program started in it from its first instruction on.

    It inherits the mask of this thread. No code of ours runs between fork and exec, where a lock held by
    another thread (of numpy's libraries, of a notebook) would never be released.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
